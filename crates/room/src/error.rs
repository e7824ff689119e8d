//! Errors of rooms, as values. Only `problem.rs` maps them to statuses.

use std::time::Duration;

use jackpot_core::ids::Id;
use jackpot_core::violation::Violation;
use thiserror::Error;

use jackpot_kernel::combiner::CombineError;
use jackpot_kernel::random::RandomError;
use jackpot_kernel::store::StoreError;
use jackpot_kernel::subject::MaybeScript;
use jackpot_kernel::subject::ScriptError;

/// Why a request of a user or operator failed.
#[derive(Debug, Error)]
pub enum RoomError {
    /// The script did nothing, or its result is unknown.
    #[error(transparent)]
    Script(#[from] ScriptError),
    /// Redis and the ledger do not agree about it.
    #[error("the room is suspended and takes no joins")]
    Suspended,
    #[error("everything is stopped: {0}. Join again when the emergency stop has ended.")]
    Emergency(String),
    /// A join of a user who has left this room so often recently that only a program does so.
    #[error("this user has left the room too often: join again in {} s", wait.as_millis().div_ceil(1_000))]
    TooOften {
        /// Until the user may join.
        wait: Duration,
    },
    /// There is no such ticket, or its record was dropped. The message does not name it, because a ticket's name holds
    /// its place.
    #[error("no such ticket is remembered; join again")]
    TicketNotFound,
    #[error("the ticket is {state}: only an admitted ticket can be renewed")]
    NotAdmitted {
        /// Its state, as answers name it.
        state: &'static str,
    },
    /// The service shows the order once the ledger has the opening.
    #[error("the room has not opened yet, or the ledger does not have it yet")]
    NotOpen,
    /// The room opened at once, or the list was dropped.
    #[error("the room has no list of the users who joined before its opening, or the list has expired")]
    NoPreQueue,
    #[error("{0:?}")]
    Invalid(Vec<Violation>),
    #[error("the definition has another version than If-Match or If-None-Match expects")]
    PreconditionFailed,
    /// Redis is near its memory limit or down: nobody joins, and nobody loses a place.
    #[error("the room takes no joins now: {0}")]
    Refusing(String),
    #[error("{waiting} visits of the room wait for Redis")]
    Crowded { waiting: usize },
    /// Redis lacks data that must be there.
    #[error("room '{id}' has lost {what}")]
    Lost {
        id: Id,
        /// The missing data.
        what: String,
    },
    #[error(transparent)]
    Random(#[from] RandomError),
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
