//! The door of a room: decides in memory whether a pass lets its holder play.
//!
//! A signature is checked once and remembered. While passes of a room are checked, the door reads the room's
//! revocations from Redis a few times a second. So no pass is valid here a second after its revocation anywhere. While
//! the door can't read them, it accepts no pass. Time is the room's: the time in the last reply, plus what has passed
//! since that call was sent; or the highest time that this instance has seen, if that is later. So a Redis clock that
//! was set back revives nothing.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use jackpot_core::ids::{Id, PersonId};
use thiserror::Error;
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep, timeout};
use tracing::debug;

use super::checked::Checked;
use super::known::Registry;
use super::pass::{Claims, PASS, PassError};
use super::revocations::{Over, Revocations};
use super::scripts;
use super::tokens::{TokenError, Tokens};
use jackpot_kernel::store::{Store, StoreError};
use jackpot_kernel::subject::ScriptError;

/// How often revocations are read while passes are checked.
const READ_EVERY: Duration = Duration::from_millis(300);
/// How often while none are checked, but some revoked passes would still be valid.
const READ_IDLE: Duration = Duration::from_secs(5);
/// An older reading is renewed before a pass is checked.
const MAX_AGE: Duration = Duration::from_secs(1);
/// How long a check waits for Redis.
const WAIT: Duration = Duration::from_secs(1);
/// How long reading continues without a check.
const IDLE: Duration = Duration::from_secs(10);
/// Revocations in one page: some hundred kilobytes.
const PAGE: usize = 5_000;

/// Why a pass is refused.
#[derive(Debug, Error)]
pub enum DoorError {
    #[error("{0}")]
    Required(NoPass),
    /// The pass was valid earlier.
    #[error("{0}")]
    Expired(&'static str),
    #[error("the pass can't be checked now: {0}")]
    Unknown(String),
}

/// What is wrong with a pass.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NoPass {
    #[error("the jackpot has a waiting room: send its pass as X-Room-Pass")]
    None,
    #[error(
        "the jackpot has a waiting room and takes no batches: send single entries, each with the pass of its player"
    )]
    Batch,
    /// This service did not make it, or it was changed.
    #[error("the pass is not valid: {0}")]
    NotOurs(#[from] PassError),
    #[error("the pass is of another issuer")]
    OtherIssuer,
    #[error("the pass is of another waiting room")]
    OtherRoom,
    #[error("the pass belongs to another player")]
    OtherPlayer,
}

impl DoorError {
    /// How near the pass came to being valid.
    fn nearness(&self) -> u8 {
        match self {
            Self::Required(NoPass::None | NoPass::Batch) => 0,
            Self::Required(NoPass::OtherRoom) => 1,
            Self::Required(NoPass::NotOurs(_) | NoPass::OtherIssuer) => 2,
            Self::Required(NoPass::OtherPlayer) => 3,
            Self::Expired(_) => 4,
            Self::Unknown(_) => 5,
        }
    }
}

/// Checks passes.
#[derive(Clone)]
pub struct Door {
    shared: Arc<Shared>,
}

struct Shared {
    store: Store,
    registry: Arc<Registry>,
    tokens: Arc<Tokens>,
    checked: Checked,
    began: Instant,
    rooms: RwLock<HashMap<Id, Arc<Guard>>>,
}

/// The state of one room whose passes are checked.
struct Guard {
    id: Id,
    revocations: RwLock<Revocations>,
    /// Held while reading. When the last failed reading began, and its error.
    reading: Mutex<Option<(Instant, ScriptError)>>,
    /// When a pass was last checked, in ms since the door was made.
    used_ms: AtomicU64,
    /// Whether a task reads.
    followed: AtomicBool,
}

impl std::fmt::Debug for Door {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Door")
    }
}

impl Door {
    pub fn new(store: Store, registry: Arc<Registry>, tokens: Arc<Tokens>) -> Self {
        let shared = Shared {
            store,
            registry,
            tokens,
            checked: Checked::default(),
            began: Instant::now(),
            rooms: RwLock::default(),
        };
        Self {
            shared: Arc::new(shared),
        }
    }

    /// Whether this pass lets this player play in this room's jackpots.
    pub async fn check(&self, room: &Id, player: &PersonId, pass: Option<&str>) -> Result<(), DoorError> {
        let pass = pass.ok_or(DoorError::Required(NoPass::None))?;
        let claims = self.claims(pass).await?;
        let wrong = if claims.iss != self.shared.tokens.issuer() {
            Some(NoPass::OtherIssuer)
        } else if claims.aud != *room {
            Some(NoPass::OtherRoom)
        } else if claims.sub != *player {
            Some(NoPass::OtherPlayer)
        } else {
            None
        };
        if let Some(wrong) = wrong {
            return Err(DoorError::Required(wrong));
        }
        let guard = self.guard(room);
        guard.used(&self.shared);
        if !guard.is_fresh() {
            Box::pin(guard.read(&self.shared))
                .await
                .map_err(|error| DoorError::Unknown(error.to_string()))?;
        }
        if !guard.followed.swap(true, Ordering::Relaxed) {
            tokio::spawn(Arc::clone(&guard).follow(Arc::clone(&self.shared)));
        }
        guard.judge(&claims, self.shared.registry.known(room).shown_ms())
    }

    /// The same with passes of several rooms, of which one is enough. The refusal is that of the pass that came nearest.
    pub async fn check_any(&self, room: &Id, player: &PersonId, passes: &[&str]) -> Result<(), DoorError> {
        let mut nearest = DoorError::Required(NoPass::None);
        for pass in passes {
            match self.check(room, player, Some(pass)).await {
                Ok(()) => return Ok(()),
                Err(refusal) if refusal.nearness() > nearest.nearness() => nearest = refusal,
                Err(_) => {}
            }
        }
        Err(nearest)
    }

    async fn claims(&self, pass: &str) -> Result<Arc<Claims>, DoorError> {
        let checked = &self.shared.checked;
        let digest = Checked::digest(pass);
        if let Some(claims) = checked.get(&digest) {
            return Ok(claims);
        }
        let claims = Box::pin(self.shared.tokens.open::<Claims>(PASS, pass)).await;
        let claims = Arc::new(claims.map_err(|error| match error {
            TokenError::Refused(error) => DoorError::Required(error.into()),
            TokenError::NoKeys(cause) => DoorError::Unknown(cause),
        })?);
        checked.keep(digest, Arc::clone(&claims));
        Ok(claims)
    }

    /// Made only for a pass of the room: a name that a client invented takes no memory.
    fn guard(&self, room: &Id) -> Arc<Guard> {
        let rooms = self.shared.rooms.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(guard) = rooms.get(room) {
            return Arc::clone(guard);
        }
        drop(rooms);
        let mut rooms = self.shared.rooms.write().unwrap_or_else(PoisonError::into_inner);
        let guard = || {
            Arc::new(Guard {
                id: room.clone(),
                revocations: RwLock::default(),
                reading: Mutex::default(),
                used_ms: AtomicU64::default(),
                followed: AtomicBool::default(),
            })
        };
        Arc::clone(rooms.entry(room.clone()).or_insert_with(guard))
    }
}

impl Guard {
    fn used(&self, shared: &Shared) {
        let now_ms = u64::try_from(shared.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.used_ms.store(now_ms, Ordering::Relaxed);
    }

    fn idle(&self, shared: &Shared) -> bool {
        let used = Duration::from_millis(self.used_ms.load(Ordering::Relaxed));
        shared.began.elapsed().saturating_sub(used) > IDLE
    }

    fn is_fresh(&self) -> bool {
        let known = self.revocations.read().unwrap_or_else(PoisonError::into_inner);
        known.age(Instant::now()).is_some_and(|age| age <= MAX_AGE)
    }

    fn judge(&self, claims: &Claims, shown_ms: i64) -> Result<(), DoorError> {
        let known = self.revocations.read().unwrap_or_else(PoisonError::into_inner);
        match known.judge(claims, Instant::now(), shown_ms) {
            Some(Ok(())) => Ok(()),
            Some(Err(Over::Expired)) => Err(DoorError::Expired("the session of the pass has ended: join again")),
            Some(Err(Over::Revoked)) => Err(DoorError::Expired("the user of the pass has left the room: join again")),
            None => Err(DoorError::Unknown("the revocations are not known yet".to_owned())),
        }
    }

    /// Reads the revocations since the last reading. One of the waiting checks reads. If that fails, checks that came
    /// before it began get the same error.
    async fn read(&self, shared: &Shared) -> Result<(), ScriptError> {
        let asked = Instant::now();
        let mut failed = self.reading.lock().await;
        if self.is_fresh() {
            return Ok(());
        }
        if let Some((began, error)) = &*failed
            && *began >= asked
        {
            return Err(error.clone());
        }
        let began = Instant::now();
        let read = self.read_now(shared).await;
        *failed = read.as_ref().err().map(|error| (began, error.clone()));
        read
    }

    async fn read_now(&self, shared: &Shared) -> Result<(), ScriptError> {
        let late = |_| StoreError::Unavailable {
            what: "room_revoked".to_owned(),
            cause: format!("no answer within {} ms", WAIT.as_millis()),
        };
        loop {
            let known = shared.registry.whole(&self.id)?;
            let after = self.revocations().last();
            let sent = Instant::now();
            let reading = scripts::revoked(&shared.store, &known, after, PAGE);
            let reply = timeout(WAIT, reading).await.map_err(late)?;
            let reply = shared.registry.observe_reply(&known, reply)?;
            let mut revocations = self.revocations();
            let goes_on = revocations.take(&reply.items, reply.last, reply.hold_ms, reply.now_ms);
            if goes_on && reply.complete {
                revocations.complete(sent, reply.now_ms);
                return Ok(());
            }
        }
    }

    fn revocations(&self) -> std::sync::RwLockWriteGuard<'_, Revocations> {
        self.revocations.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the guard can be dropped: no pass is checked, and the revoked passes have expired. A Redis that lost
    /// tickets cannot report earlier revocations again.
    fn is_over(&self, shared: &Shared) -> bool {
        let known = self.revocations.read().unwrap_or_else(PoisonError::into_inner);
        self.idle(shared) && known.is_empty(Instant::now())
    }

    /// Continues to read while passes are checked, or revoked ones have not expired.
    async fn follow(self: Arc<Self>, shared: Arc<Shared>) {
        while !self.is_over(&shared) {
            sleep(if self.idle(&shared) { READ_IDLE } else { READ_EVERY }).await;
            let mut failed = self.reading.lock().await;
            let began = Instant::now();
            let read = self.read_now(&shared).await;
            if let Err(error) = &read {
                debug!(room_id = %self.id, %error, "the revocations could not be read");
            }
            *failed = read.err().map(|error| (began, error));
        }
        // The next check starts another one, which reads from the beginning.
        let mut rooms = shared.rooms.write().unwrap_or_else(PoisonError::into_inner);
        rooms.remove(&self.id);
    }
}
