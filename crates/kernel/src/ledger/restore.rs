//! Rebuilds a jackpot, a coupon or a room in Redis from the ledger.
//!
//! States of Redis: what is there (nothing, less than the ledger has, or something else) → `restoring`, in which
//! every other script refuses → the whole state as of the ledger's last event, followed by the event `restore`. If a
//! restore dies midway, the next one starts over: its begin first deletes everything. The stream's lease allows one
//! restore at a time. The token of each restore keeps a stalled one from writing into the next.

pub mod writer;

use jackpot_core::ids::Id;
use jackpot_core::mark::Mark;
use thiserror::Error;

use super::emergency;
use super::events::{FoldError, Unreadable};
use super::projector::load::LoadError;
use super::projector::stream::is_damage;
use crate::random::{self, RandomError};
use crate::sql::Sql;
use crate::store::Store;
use crate::subject::ScriptError;
use crate::subject::restore::{RestoreBegun, RestoreEnded, restore_begin};

/// Why a subject was not rebuilt.
#[derive(Debug, Error)]
pub enum RestoreError {
    /// The database failed.
    #[error("the ledger: {0}")]
    Sql(#[from] sqlx::Error),
    /// The ledger's rows do not fit together.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// An event can't be read.
    #[error(transparent)]
    Event(#[from] Unreadable),
    /// An event does not follow.
    #[error(transparent)]
    Fold(#[from] FoldError),
    /// A definition can't be read.
    #[error(transparent)]
    Definition(Box<dyn std::error::Error + Send + Sync>),
    /// A script failed.
    #[error("Redis: {0}")]
    Script(#[from] ScriptError),
    /// The system has no randomness.
    #[error(transparent)]
    Random(#[from] RandomError),
    /// The ledger has no events of it.
    #[error("the ledger has no event of {0} '{1}'")]
    Unknown(&'static str, Id),
    /// Redis has events that the ledger lacks.
    #[error(
        "Redis is at {redis}, ahead of the ledger's {ledger}: let the ledger catch up first, or discard those events \
         with --discard"
    )]
    Ahead {
        /// Redis' mark.
        redis: Mark,
        /// The ledger's.
        ledger: Mark,
    },
    /// The subject is open, and nothing is lost.
    #[error(
        "Redis has all its events and it is open: what Redis has is replaced only of a jackpot that is paused, or of a \
         coupon or room that is suspended"
    )]
    NotLost,
    /// Another restore or another change intervened.
    #[error("Redis changed meanwhile; try again")]
    Changed,
}

/// The result of a restore.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Restored {
    /// The subject's mark now, including the event `restore`.
    pub mark: Mark,
    /// Records that the restore wrote.
    pub records: u64,
}

/// What a restore may replace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replace {
    /// Only a Redis that has less than the ledger, or nothing.
    Lost,
    /// Also a Redis that has less than this mark, which an instance has seen in it.
    Seen(Mark),
    /// Also a Redis that has everything, when the subject is not open.
    Stopped,
    /// Also a Redis that has events that the ledger lacks: they are given up. The subject is left paused, or
    /// suspended where there is no pause, because it no longer holds what clients were answered.
    Ahead,
}

impl Replace {
    /// Restores before this one; the ledger counts `restores`. Otherwise instances that have seen more would take the
    /// restored state for the state that they know to be lost.
    pub fn restores_before(self, restores: u64) -> u64 {
        match self {
            Self::Seen(seen) => restores.max(seen.restores()),
            _ => restores,
        }
    }
}

/// A restore that has begun.
#[derive(Debug)]
pub struct Begun {
    /// One token for this restore and all its calls.
    pub token: String,
    /// Redis' clock, ms.
    pub at_ms: i64,
}

/// Rebuilds jackpots, coupons and rooms.
#[derive(Debug, Clone)]
pub struct Restorer {
    pub sql: Sql,
    pub store: Store,
}

impl Restorer {
    /// A restorer from this ledger into this Redis.
    pub fn new(sql: Sql, store: Store) -> Self {
        Self { sql, store }
    }

    /// Begins a restore: deletes what Redis holds of a subject, if it may be replaced. `keys`: its state, then every
    /// other key. `held`: Redis' mark, and whether the subject is open. `ledger`: the ledger's mark.
    pub async fn begin<'k>(
        &self,
        keys: impl IntoIterator<Item = &'k str>,
        held: Result<(Mark, bool), ScriptError>,
        ledger: Mark,
        replace: Replace,
    ) -> Result<Begun, RestoreError> {
        let mut keys = keys.into_iter().peekable();
        let state = *keys.peek().expect("a subject has a state");
        let expected = self.replaceable(state, held, ledger, replace).await?;
        let token = hex::encode(random::bytes::<16>()?);
        let emergency = emergency::last(&self.sql, &self.store).await?;
        match restore_begin(&self.store, keys, &token, expected, emergency.as_ref()).await? {
            RestoreBegun::Begun { at_ms } => Ok(Begun { token, at_ms }),
            RestoreBegun::Changed(_) => Err(RestoreError::Changed),
        }
    }

    /// Redis' mark, if what it holds may be replaced.
    async fn replaceable(
        &self,
        state: &str,
        held: Result<(Mark, bool), ScriptError>,
        ledger: Mark,
        replace: Replace,
    ) -> Result<Option<Mark>, RestoreError> {
        let (redis, open) = match held {
            Ok(held) => held,
            // A restore that died midway may be taken over at any mark.
            Err(ScriptError::Unknown | ScriptError::Restoring) => return Ok(None),
            // A subject that no script can read takes no entries.
            Err(error) if is_damage(&error) => (self.damaged_mark(state).await?, false),
            Err(error) => return Err(error.into()),
        };
        if redis > ledger && replace != Replace::Ahead {
            return Err(RestoreError::Ahead { redis, ledger });
        }
        let allowed = match replace {
            Replace::Lost => redis < ledger,
            Replace::Seen(seen) => redis < ledger || redis < seen,
            Replace::Stopped => redis < ledger || !open,
            Replace::Ahead => true,
        };
        if !allowed {
            return Err(RestoreError::NotLost);
        }
        Ok(Some(redis))
    }

    /// The mark of a state whose other parts can't be read, as `lua/subject/restore_begin.lua` sees it.
    async fn damaged_mark(&self, state: &str) -> Result<Mark, RestoreError> {
        let parts = redis::cmd("HMGET").arg(state).arg("n").arg("restores").to_owned();
        let parts = self.store.run(&parts).await.map_err(ScriptError::from)?;
        let parts: [Option<String>; 2] = redis::from_redis_value(parts).unwrap_or_default();
        let [n, restores] = parts.map(|part| part.and_then(|part| part.parse().ok()).unwrap_or_default());
        Ok(Mark::new(restores, n).unwrap_or_default())
    }
}

/// The mark of a restore that has ended.
///
/// # Errors
/// [`RestoreError::Changed`] when it has not.
pub fn ended(end: RestoreEnded) -> Result<Mark, RestoreError> {
    match end {
        RestoreEnded::Done(mark) => Ok(mark),
        // Redis' clock was put back meanwhile, or another restore has taken over.
        RestoreEnded::Other | RestoreEnded::Incomplete | RestoreEnded::Early(_) => Err(RestoreError::Changed),
    }
}

pub fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub fn unsigned(number: i64) -> u64 {
    number.unsigned_abs()
}
