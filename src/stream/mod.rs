//! What everything with a stream of events shares, jackpots, coupons and rooms: the mark, how scripts reply, the tail.
//!
//! [`mark`](Mark): how far it has come. [`run`], [`Reply`], [`ScriptError`]: a script called and its reply read.
//! [`tail`]: the events behind one. [`restore`]: all of it rebuilt. [`Heard`]: what this instance remembers of
//! it; [`Registry`]: of all of a kind.
//! [`index`]: the names of all of them. The parts in Lua: `lua/stream/`.

mod heard;
pub mod index;
pub mod kinds;
mod ledger_mark;
mod registry;
mod reply;
pub mod restore;
mod tail;
mod wanted;

pub use heard::{Heard, Reason, Told};
pub use ledger_mark::ledger_mark;
pub use registry::{Marked, Registry, Subject};
pub use reply::Reply;
pub use tail::{BASE64, MAX_EVENTS, Tail, TailWish, tail};
pub use wanted::Wanted;

use jackpot_core::mark::Mark;
use jackpot_core::unreadable::Unreadable;
use redis::Value;
use thiserror::Error;

use crate::random::{self, RandomError};
use crate::store::{Call, Script, Store, StoreError};

/// `lua/stream/events.lua`: in front of every script of something with a stream.
pub const EVENTS: &str = include_str!("../../lua/stream/events.lua");

/// The name of a history: 16 hexadecimal digits, made at creation and at every restore. Events, receipts and payout ids
/// name it, so that what happens after a restore is never taken for what happened in a future that was lost.
///
/// # Errors
/// The system has no randomness.
pub fn new_history() -> Result<String, RandomError> {
    Ok(hex::encode(random::bytes::<8>()?))
}

/// Why a script did nothing, for reasons that any script may have.
#[derive(Debug, Clone, Error)]
pub enum ScriptError {
    /// There is nothing of this name.
    #[error("Redis knows nothing of it")]
    Unknown,
    /// This Redis lost events that this instance has seen.
    #[error("Redis is at {at}, behind {known} that this instance has seen: it lost events")]
    Behind {
        /// Where this Redis is.
        at: Mark,
        /// The highest seen.
        known: Mark,
    },
    /// It is being rebuilt from the ledger; nothing is wrong, and it is over soon.
    #[error("it is being restored")]
    Restoring,
    /// The caller must read again; nothing was written.
    #[error("the definition or the epoch changed")]
    Stale,
    /// The commitment of an epoch or a room is another one than this instance's secret gives.
    #[error("its commitment is not that of the draw secret that it names")]
    Secret,
    /// Redis did not do it, or it is not known whether it did.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The reply has a form that the script does not give.
    #[error("unexpected reply of script {script}: {reply}")]
    Reply {
        /// Which script.
        script: &'static str,
        /// What it said.
        reply: String,
    },
    /// A record cannot be read.
    #[error(transparent)]
    Record(#[from] Unreadable),
}

/// An error that may be a script's.
pub trait MaybeScript {
    /// The script's.
    fn script(&self) -> Option<&ScriptError>;

    /// Whether there is nothing of the name.
    fn is_unknown(&self) -> bool {
        matches!(self.script(), Some(ScriptError::Unknown))
    }

    /// Whether Redis can't be asked now.
    fn is_unavailable(&self) -> bool {
        let unavailable = |error: &ScriptError| {
            matches!(
                error,
                ScriptError::Store(StoreError::Unavailable { .. } | StoreError::Unconfirmed { .. })
            )
        };
        self.script().is_some_and(unavailable)
    }
}

impl MaybeScript for ScriptError {
    fn script(&self) -> Option<&ScriptError> {
        Some(self)
    }
}

/// Calls a script that replies `{code, mark, ...}`. `known`: the highest mark this instance has seen.
pub async fn run(store: &Store, script: &'static Script, call: Call<'_>, known: Mark) -> Result<Reply, ScriptError> {
    let value: Value = store.call(&call).await?;
    Reply::parse(script.name(), value, known)
}

/// [`run`] over the calling thread's own connection: for what entries need.
pub async fn run_here(
    store: &Store,
    script: &'static Script,
    call: Call<'_>,
    known: Mark,
) -> Result<Reply, ScriptError> {
    let value: Value = store.call_here(&call).await?;
    Reply::parse(script.name(), value, known)
}
