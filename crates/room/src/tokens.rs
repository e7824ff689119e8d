//! Makes and opens tokens with the keys of the service: this instance's own, and the other instances' keys, from the
//! ledger.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use jackpot_core::ids::{Id, PersonId};
use serde::Serialize;
use serde::de::DeserializeOwned;
use thiserror::Error;
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep, timeout};

use super::pass::{self, Claims, PassError, Timed};
use super::ticket::Ticket;
use jackpot_kernel::signing::{Published, SigningKeys, all_published};
use jackpot_kernel::sql::Sql;

/// Time from the end of one look for unknown keys to the next. So requests with invented key names cost the database
/// one query a second.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How long a key name that the ledger did not have is refused without another look. A key is in the ledger before it
/// signs, so no real key is among them. If one were, its passes would be valid after this time.
const UNKNOWN_FOR: Duration = Duration::from_secs(10);
/// Most such names that are remembered, some 100 kB. A token with another name waits for the next look.
const MAX_UNKNOWN: usize = 1_000;
/// Our key names are shorter. Longer names are not remembered.
const MAX_NAME: usize = 64;
/// How long a token waits for the database. Then it is not decided.
const WAIT: Duration = Duration::from_secs(1);
/// How long it may take until this instance knows that a key was retired.
const REFRESH_EVERY: Duration = Duration::from_secs(30);
/// Grace period after retirement, in ms: clocks differ, and some instances see the retirement later.
const LATE_MS: i64 = 60_000;

#[derive(Debug)]
pub struct Tokens {
    issuer: String,
    signing: Arc<SigningKeys>,
    sql: Sql,
    others: RwLock<Others>,
    asked: Mutex<Option<Asked>>,
    readings: AtomicU64,
}

/// The ledger's keys as last read.
#[derive(Debug, Default)]
struct Others {
    /// By their ids.
    keys: HashMap<String, Published>,
    /// When that reading began; `None` before the first.
    read: Option<Instant>,
    /// Names that the ledger did not have, and the time of the look.
    unknown: HashMap<String, Instant>,
}

impl Others {
    fn is_unknown(&self, name: &str) -> bool {
        self.unknown.get(name).is_some_and(|said| said.elapsed() < UNKNOWN_FOR)
    }

    fn observe_unknown(&mut self, name: String) {
        if self.unknown.len() >= MAX_UNKNOWN {
            self.unknown.retain(|_, said| said.elapsed() < UNKNOWN_FOR);
        }
        if name.len() <= MAX_NAME && self.unknown.len() < MAX_UNKNOWN {
            self.unknown.insert(name, Instant::now());
        }
    }
}

/// The time of the last look into the ledger, and its result.
#[derive(Debug)]
struct Asked {
    began: Instant,
    ended: Instant,
    said: Result<(), String>,
}

/// Why a token was not accepted.
#[derive(Debug, Error)]
pub enum TokenError {
    /// It is not ours.
    #[error(transparent)]
    Refused(#[from] PassError),
    /// It may be a token of another instance, whose keys can't be read now.
    #[error("the keys of the other instances can't be read: {0}")]
    NoKeys(String),
}

impl Tokens {
    /// Tokens of this issuer.
    pub fn new(issuer: String, signing: Arc<SigningKeys>, sql: Sql) -> Self {
        Self {
            issuer,
            signing,
            sql,
            others: RwLock::default(),
            asked: Mutex::default(),
            readings: AtomicU64::default(),
        }
    }

    /// How often the ledger's keys were read.
    pub fn readings(&self) -> u64 {
        self.readings.load(Ordering::Relaxed)
    }

    /// The claim `iss`.
    pub fn issuer(&self) -> &str {
        &self.issuer
    }

    /// The pass of a user who is in until `end_ms`, made at `now_ms`, both in room time.
    pub fn pass(&self, room: &Id, user: &PersonId, ticket: Ticket, now_ms: i64, end_ms: i64) -> String {
        let claims = Claims {
            iss: self.issuer.clone(),
            aud: room.clone(),
            sub: user.clone(),
            jti: ticket,
            iat: now_ms.div_euclid(1_000),
            // Sessions end on whole seconds.
            exp: end_ms.div_euclid(1_000),
        };
        self.sign(pass::PASS, &claims)
    }

    /// A token of this type.
    pub fn sign<C: Serialize>(&self, typ: &str, claims: &C) -> String {
        pass::sign(&self.signing.current(), typ, claims)
    }

    /// Reads the claims of a token of this type. It checks that the token was made in time and is not valid for too
    /// long. It does not check whether the token is valid now, and for whom.
    ///
    /// A token with a key that this instance does not know is decided by one look into the ledger that began after the
    /// token came. It waits for that look, at most `LOOK_EVERY` and `WAIT`.
    pub async fn open<C: DeserializeOwned + Timed>(self: &Arc<Self>, typ: &str, token: &str) -> Result<C, TokenError> {
        let came = Instant::now();
        let opened = self.open_known(typ, token);
        if !matches!(opened, Err(PassError::UnknownKey)) {
            return Ok(opened?);
        }
        let name = pass::key_of(token)?;
        if self
            .others
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .is_unknown(&name)
        {
            return Err(PassError::UnknownKey.into());
        }
        self.ask(came).await.map_err(TokenError::NoKeys)?;
        let opened = self.open_known(typ, token);
        if matches!(opened, Err(PassError::UnknownKey)) {
            let mut others = self.others.write().unwrap_or_else(PoisonError::into_inner);
            others.observe_unknown(name);
        }
        Ok(opened?)
    }

    fn open_known<C: DeserializeOwned + Timed>(self: &Arc<Self>, typ: &str, token: &str) -> Result<C, PassError> {
        let retired = Cell::new(None);
        let find = |id: &str| {
            let Published { key, retired_ms } = self.find(id)?;
            retired.set(retired_ms);
            Some(key)
        };
        let claims: C = pass::open(find, typ, token)?;
        let Some((iat, exp)) = claims.times() else {
            return Ok(claims);
        };
        let is_late = |retired_ms| iat.saturating_mul(1_000) > LATE_MS.saturating_add(retired_ms);
        if retired.get().is_some_and(is_late) {
            return Err(PassError::Retired);
        }
        if exp.saturating_sub(iat) > C::LONGEST_S {
            return Err(PassError::TooLong);
        }
        Ok(claims)
    }

    /// The key that signs here, or one from the ledger. For all keys but the first, only the ledger knows whether they
    /// still sign.
    fn find(self: &Arc<Self>, id: &str) -> Option<Published> {
        let current = self.signing.current();
        if current.public().id() == id {
            let (key, retired_ms) = (current.public().clone(), None);
            return Some(Published { key, retired_ms });
        }
        let others = self.others.read().unwrap_or_else(PoisonError::into_inner);
        let found = others.keys.get(id).cloned()?;
        if others.read.is_none_or(|at| at.elapsed() >= REFRESH_EVERY) {
            drop(others);
            self.refresh();
        }
        Some(found)
    }

    /// Reads the ledger's keys again, in the background.
    fn refresh(self: &Arc<Self>) {
        let mut others = self.others.write().unwrap_or_else(PoisonError::into_inner);
        // Later calls need not start another reading. After a failure, the next try is as late.
        others.read = Some(Instant::now());
        drop(others);
        let tokens = Arc::clone(self);
        tokio::spawn(async move { tokens.ask(Instant::now()).await });
    }

    /// Reads the ledger's keys for all callers that came before the reading began, at the earliest [`LOOK_EVERY`] after
    /// the last one. After a failure there is no new query before that; until then every caller gets the error. The
    /// lock is held while waiting and reading, so one of many callers reads, and the others have its answer.
    async fn ask(&self, came: Instant) -> Result<(), String> {
        let mut asked = self.asked.lock().await;
        if let Some(last) = &*asked {
            let pause = LOOK_EVERY.saturating_sub(last.ended.elapsed());
            if last.began >= came || (last.said.is_err() && !pause.is_zero()) {
                return last.said.clone();
            }
            sleep(pause).await;
        }
        let began = Instant::now();
        self.readings.fetch_add(1, Ordering::Relaxed);
        let said = match timeout(WAIT, all_published(&self.sql)).await {
            Ok(Ok(keys)) => {
                let mut others = self.others.write().unwrap_or_else(PoisonError::into_inner);
                others.keys = keys.into_iter().map(|one| (one.key.id().to_owned(), one)).collect();
                others.read = Some(began);
                let Others { keys, unknown, .. } = &mut *others;
                unknown.retain(|name, _| !keys.contains_key(name));
                Ok(())
            }
            Ok(Err(error)) => Err(error.to_string()),
            Err(_late) => Err("the database did not answer in time".to_owned()),
        };
        *asked = Some(Asked {
            began,
            ended: Instant::now(),
            said: said.clone(),
        });
        said
    }
}
