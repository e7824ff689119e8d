//! What this instance remembers of rooms: their keys, the highest mark of each, how many passes it had given, and its
//! time.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use jackpot_core::ids::Id;
use jackpot_core::mark::Mark;
use jackpot_core::secret::MasterSecret;
use redis::Cmd;
use serde::{Deserialize, Serialize};

use super::scripts::{self, ScriptError, SetStatus, Snapshot, StatusSet};
use super::ticket::OrderSeed;
use super::visiting::Visiting;
use jackpot_api::room::Status;
use jackpot_kernel::combiner::Queues;
use jackpot_kernel::reply;
use jackpot_kernel::store::keys::{ROOM_INDEX, RoomKeys, StreamKeys};
use jackpot_kernel::store::{Script, Store};
use jackpot_kernel::subject::engine::Operated;
use jackpot_kernel::subject::kinds::ROOM;
use jackpot_kernel::subject::{self, Observed, Subject};

/// Longest time between two replies about an occupied room: this instance looks at it each second, and waits a second
/// for the answer.
const HEARD_AGAIN_MS: i64 = 2_000;

/// Everything remembered of one room.
#[derive(Debug)]
pub struct Known {
    pub keys: RoomKeys,
    /// Visits that wait for a call.
    pub(super) queues: Queues<Visiting>,
    observed: Observed,
    passes: AtomicU64,
    passes_until_ms: AtomicI64,
    shown_ms: AtomicI64,
    order: RwLock<Option<Arc<OrderOf>>>,
    /// This instance's visits that were not confirmed; and how many of them a later, confirmed visit has reported to
    /// Redis.
    doubts: AtomicU64,
    settled: AtomicU64,
}

reply! {
    /// The order before the opening.
    #[derive(Default, Serialize, Deserialize)]
    pub struct OrderOf {
        /// Nonce of the order: 32 hexadecimal digits, another one for each opening.
        pub nonce: String,
        /// Commitment of the order: SHA-256 of the seed.
        pub commitment: String,
    }
}

impl OrderOf {
    /// The commitment of this nonce.
    pub fn new(secret: &MasterSecret, room: &Id, nonce: String) -> Self {
        let commitment = OrderSeed::of(secret, room, &nonce).commitment();
        Self { nonce, commitment }
    }
}

/// A visit in flight, and the doubts when it began.
pub struct Doubt<'k> {
    known: &'k Known,
    before: u64,
    ended: bool,
}

impl Doubt<'_> {
    /// Whether earlier visits were not confirmed. Redis may lack them.
    pub fn is_there(&self) -> bool {
        self.before > self.known.settled.load(Ordering::Relaxed)
    }

    /// This visit is confirmed, so Redis has the count of the earlier ones.
    pub fn settle(mut self) {
        self.known.settled.fetch_max(self.before, Ordering::Relaxed);
        self.ended = true;
    }

    /// This visit was refused. That says nothing about the earlier ones.
    pub fn leave(mut self) {
        self.ended = true;
    }
}

impl Drop for Doubt<'_> {
    /// Its result is unknown, or nobody waited for it.
    fn drop(&mut self) {
        if !self.ended {
            self.known.doubts.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Known {
    /// The highest number of passes that this instance has seen. A Redis with fewer has lost some that may be
    /// outstanding.
    pub fn passes(&self) -> u64 {
        self.passes.load(Ordering::Relaxed)
    }

    /// Remembers the number of passes of a reply.
    pub fn hear_passes(&self, passes: u64) {
        self.passes.fetch_max(passes, Ordering::Relaxed);
    }

    /// The highest time of the room that this instance has seen, ms, 0 for none. The room's time is at least this,
    /// whatever Redis' clock says (`docs/decisions/0020-room-clock.md`).
    pub fn shown_ms(&self) -> i64 {
        self.shown_ms.load(Ordering::Relaxed)
    }

    /// Remembers the room's time of a reply.
    pub fn hear_time(&self, now_ms: i64) {
        self.shown_ms.fetch_max(now_ms, Ordering::Relaxed);
    }

    /// The order's nonce and commitment in the last reply; `None` once the room has opened, and before the first reply.
    pub fn order(&self) -> Option<Arc<OrderOf>> {
        self.order.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Remembers the order's nonce and commitment of a reply.
    pub fn hear_order(&self, heard: Option<OrderOf>) {
        if self.order().as_deref() != heard.as_ref() {
            *self.order.write().unwrap_or_else(PoisonError::into_inner) = heard.map(Arc::new);
        }
    }

    /// Begins a visit.
    pub fn visiting(&self) -> Doubt<'_> {
        Doubt {
            known: self,
            before: self.doubts.load(Ordering::Relaxed),
            ended: false,
        }
    }

    /// When all passes have expired that this instance knows, or that other instances gave before its next reply; ms, 0
    /// for none. The ledger may lack the definition of these passes.
    pub fn passes_until_ms(&self) -> i64 {
        self.passes_until_ms.load(Ordering::Relaxed)
    }

    /// Remembers that a session was open at this time, with sessions of this length.
    pub fn hear_session(&self, now_ms: i64, session_ms: u64) {
        let session_ms = i64::try_from(session_ms).unwrap_or(i64::MAX);
        let until_ms = now_ms.saturating_add(session_ms).saturating_add(HEARD_AGAIN_MS);
        self.passes_until_ms.fetch_max(until_ms, Ordering::Relaxed);
    }
}

impl Subject for Known {
    const INDEX: &'static str = ROOM_INDEX;

    fn new(id: &Id) -> Self {
        Self {
            keys: RoomKeys::new(id),
            queues: Queues::default(),
            observed: Observed::new(ROOM, id),
            passes: AtomicU64::new(0),
            passes_until_ms: AtomicI64::new(0),
            shown_ms: AtomicI64::new(0),
            order: RwLock::default(),
            doubts: AtomicU64::new(0),
            settled: AtomicU64::new(0),
        }
    }

    fn stream(&self) -> StreamKeys<'_> {
        self.keys.stream()
    }
}

impl Operated for Known {
    type Status = Status;
    type Snapshot = Snapshot;
    type Seen = ();

    const OPEN: Status = Status::Open;
    const SUSPENDED: Status = Status::Suspended;

    async fn snapshot(&self, store: &Store) -> Result<Snapshot, ScriptError> {
        scripts::snapshot(store, &self.keys, self.mark()).await
    }

    async fn set_status(&self, store: &Store, (): &(), wish: &SetStatus) -> Result<StatusSet, ScriptError> {
        scripts::set_status(store, &self.keys, self.mark(), wish).await
    }

    fn obey_script() -> &'static Script {
        &scripts::OBEY
    }

    async fn checkpoint(&self, store: &Store, (): &()) -> Result<Mark, ScriptError> {
        scripts::checkpoint(store, &self.keys, self.mark()).await
    }

    fn compared(&self) -> Vec<Cmd> {
        vec![redis::cmd("HGETALL").arg(&self.keys.state).to_owned()]
    }
}

impl std::ops::Deref for Known {
    type Target = Observed;

    fn deref(&self) -> &Observed {
        &self.observed
    }
}

/// The rooms that this instance has used.
pub type Registry = subject::Registry<Known>;
