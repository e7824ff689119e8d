//! The common part of jackpots, coupons and rooms, which have a stream of events: the mark, replies of scripts, the
//! tail.
//!
//! [`mark`](Mark): the progress of a stream. [`run`], [`Reply`], [`ScriptError`]: calls a script and reads its reply;
//! [`Values`]: the declared values of one. [`tail`]: reads new events. [`engine`]: the requests of operators, with the
//! scripts of [`operate`]. [`restore`]: rebuilds a subject. [`Observed`]: what this instance remembers of a subject;
//! [`Registry`]: of all subjects of a kind. [`index`]: the names of all of them. [`Glance`]: whether something happened in
//! one. [`emergency`]: how one obeys the emergency stop. The parts in Lua: `lua/subject/`.

mod at_start;
pub mod emergency;
pub mod engine;
mod glance;
pub mod index;
pub mod kinds;
mod ledger_mark;
mod list;
mod listed;
mod named;
mod observed;
pub mod operate;
mod quiet;
mod registry;
mod reply;
pub mod restore;
mod tail;
mod values;
mod wanted;

pub use glance::{Glance, Glances};
pub use ledger_mark::ledger_mark;
pub use list::List;
pub use named::Named;
pub use observed::{LedgerView, Observed, Reason, rises};
pub use operate::Stamp;
pub use quiet::Quiet;
pub use registry::{Marked, Registry, Subject};
pub use reply::Reply;
pub use tail::{EVENT, EventText, MAX_EVENTS, Tail, TailWish, tail};
pub use values::{At, Declared, Packed, Part, Values, made, reply, reply_any, reply_part};
pub use wanted::Wanted;

use std::sync::LazyLock;

use jackpot_core::mark::Mark;
use jackpot_core::unreadable::Unreadable;
use redis::Value;
use thiserror::Error;

use crate::random::{self, RandomError};
use crate::store::{Call, Folder, Made, Script, Store, StoreError};

/// The Lua that the scripts of all kinds share.
pub static LUA: Folder = Folder {
    files: crate::lua_files!("../../lua/subject", "subject/":
        "checkpoint" "emergency" "emergency_decision" "event_fields" "events" "name_store" "named" "packed" "puts"
        "restore_begin" "restore_records" "restored" "sent" "status" "tail"
    ),
    made: &MADE,
    shared: None,
};

static MADE: LazyLock<Made> = LazyLock::new(|| values::of_replies(declared()).collect());

/// The declared replies of the scripts of all capabilities.
pub fn declared() -> [Declared; 2] {
    [
        (
            "subject/put_reply",
            vec![reply_any::<operate::Version>(
                "`define`",
                "put",
                "created, changed, waits, same",
            )],
        ),
        (
            "subject/restore_begin_reply",
            vec![reply::<restore::Begun>("`restore_begin`", "begun", "ok")],
        ),
    ]
}

/// A new history: 16 hexadecimal digits, made at creation and at every restore. Events, receipts and payout ids have
/// it, so that nothing after a restore is taken for something in the lost time.
///
/// # Errors
/// The system has no randomness.
pub fn new_history() -> Result<String, RandomError> {
    Ok(hex::encode(random::bytes::<8>()?))
}

/// Errors that every script may have; it did nothing.
#[derive(Debug, Clone, Error)]
pub enum ScriptError {
    /// There is no subject of this name.
    #[error("Redis has no state of it")]
    Unknown,
    /// This Redis lost events that this instance has seen.
    #[error("Redis is at {at}, behind {known} that this instance has seen: it lost events")]
    Behind {
        /// This Redis' mark.
        at: Mark,
        /// The highest mark seen.
        known: Mark,
    },
    /// A restore is running; it ends soon.
    #[error("it is being restored")]
    Restoring,
    /// The caller must read again; nothing was written.
    #[error("the definition or the epoch changed")]
    Stale,
    /// An epoch does not belong to its secret.
    #[error("its commitment is not that of the draw secret that it names")]
    Secret,
    /// Redis did not run it, or its result is unknown.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The reply has a form that the script does not give.
    #[error("unexpected reply of script {script}: {reply}")]
    Reply { script: &'static str, reply: String },
    /// A record cannot be read.
    #[error(transparent)]
    Record(#[from] Unreadable),
}

/// An error that may come from a script.
pub trait MaybeScript {
    fn script(&self) -> Option<&ScriptError>;

    /// Whether there is no subject of this name.
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

/// [`run`] over the calling thread's own connection, for the frequent calls of entries.
pub async fn run_here(
    store: &Store,
    script: &'static Script,
    call: Call<'_>,
    known: Mark,
) -> Result<Reply, ScriptError> {
    let value: Value = store.call_here(&call).await?;
    Reply::parse(script.name(), value, known)
}
