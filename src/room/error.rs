//! What can go wrong with a room, as values. `problem.rs` alone turns them into statuses.

use std::time::Duration;

use thiserror::Error;

use crate::combiner::CombineError;
use crate::ids::Id;
use crate::random::RandomError;
use crate::store::StoreError;
use crate::stream::MaybeScript;
use crate::stream::ScriptError;
use crate::violation::Violation;

/// Why a visit or an operator's wish was not done.
#[derive(Debug, Error)]
pub enum RoomError {
    /// The script did nothing, or it is not known whether it did.
    #[error(transparent)]
    Script(#[from] ScriptError),
    /// Redis and the ledger do not agree about it.
    #[error("the room is suspended: nobody joins it now")]
    Suspended,
    /// A join of a user who has left this room so often of late that it is for programs only.
    #[error("this user has left the room too often: join again in {} s", wait.as_millis().div_ceil(1_000))]
    TooOften {
        /// Until the user may.
        wait: Duration,
    },
    /// There is no such ticket, or it is no longer remembered. It is not named: who knows one holds its place.
    #[error("no such ticket is remembered; join again")]
    TicketNotFound,
    /// Only a session is renewed.
    #[error("the ticket is {state}: only one that is admitted is renewed")]
    NotAdmitted {
        /// As answers name it.
        state: &'static str,
    },
    /// Its order is told once the ledger has its opening.
    #[error("the room has not opened yet, or the ledger does not have it yet")]
    NotOpen,
    /// It opened at once, or the list was dropped.
    #[error("the room has no list of who joined before its opening, or not any more")]
    NoPreQueue,
    /// Fields break rules.
    #[error("{0:?}")]
    Invalid(Vec<Violation>),
    /// `If-Match` or `If-None-Match` does not hold.
    #[error("the definition is not the one that was expected")]
    PreconditionFailed,
    /// Redis is near its memory limit or down: nobody joins, whoever is there stays.
    #[error("nobody joins now: {0}")]
    Refusing(String),
    /// As many visits of the room wait for Redis as may.
    #[error("{waiting} visits of the room wait for Redis")]
    Crowded {
        /// How many.
        waiting: usize,
    },
    /// Something that must be in Redis is not.
    #[error("room '{id}' has lost {what}")]
    Lost {
        /// Which room.
        id: Id,
        /// What it should have.
        what: String,
    },
    /// The system has no randomness.
    #[error(transparent)]
    Random(#[from] RandomError),
    /// The definition changed more often than a call is repeated.
    #[error("the definition kept changing")]
    Unsettled,
}

impl MaybeScript for RoomError {
    fn script(&self) -> Option<&ScriptError> {
        match self {
            Self::Script(error) => Some(error),
            _ => None,
        }
    }
}

impl From<StoreError> for RoomError {
    fn from(error: StoreError) -> Self {
        Self::Script(error.into())
    }
}

impl From<CombineError> for RoomError {
    fn from(error: CombineError) -> Self {
        match error {
            CombineError::Crowded { waiting } => Self::Crowded { waiting },
            CombineError::Script(error) => Self::Script(error),
        }
    }
}
