//! What can go wrong with a coupon, as values. `problem.rs` alone turns them into statuses.

use thiserror::Error;

use crate::combiner::CombineError;
use crate::ids::Id;
use crate::random::RandomError;
use crate::store::StoreError;
use crate::stream::MaybeScript;
use crate::stream::ScriptError;
use crate::violation::Violation;

/// Why a request or an operator's wish was not done.
#[derive(Debug, Error)]
pub enum CouponError {
    /// The script did nothing, or it is not known whether it did.
    #[error(transparent)]
    Script(#[from] ScriptError),
    /// Its books do not agree.
    #[error("the coupon is suspended")]
    Suspended,
    /// It was retired: its end and the retention have passed, and its records are gone.
    #[error("the coupon ended, and its records are no longer kept")]
    Ended,
    /// The same, to an operator who would change it.
    #[error(
        "coupon '{0}' was retired: it ended, its records are dropped, and its id is used up. Create a coupon with another id."
    )]
    Retired(Id),
    /// There is no such request, or it is no longer remembered.
    #[error("no request '{0}' is remembered")]
    RequestNotFound(String),
    /// The request id was used for another user.
    #[error("request id '{0}' was used before for another user")]
    RequestIdReused(String),
    /// There is nothing to take back.
    #[error("request '{request_id}' is {state}: nothing was issued")]
    NotIssued {
        /// Which request.
        request_id: String,
        /// As answers name it.
        state: &'static str,
    },
    /// It joined the line, and its turn did not come in time. It stays there.
    #[error("request '{0}' is in the line, and its turn did not come in time")]
    Waiting(String),
    /// It was taken three times and could not be served; an operator has to look.
    #[error("request '{0}' is a dead letter until an operator returns it to the line")]
    Dead(String),
    /// Fields break rules.
    #[error("{0:?}")]
    Invalid(Vec<Violation>),
    /// `If-Match` or `If-None-Match` does not hold.
    #[error("the definition is not the one that was expected")]
    PreconditionFailed,
    /// Redis is near its memory limit or down: new requests are refused, what was begun is finished.
    #[error("new requests are refused: {0}")]
    Refusing(String),
    /// As many requests for the coupon wait for Redis as may.
    #[error("{waiting} requests for the coupon wait for Redis")]
    Crowded {
        /// How many.
        waiting: usize,
    },
    /// The ledger is too far behind: new requests are refused until it has caught up.
    #[error("new requests are refused: {waiting} events wait for the ledger")]
    Backlog {
        /// Events of the coupon that it does not have yet.
        waiting: u64,
    },
    /// Something that must be in Redis is not.
    #[error("coupon '{id}' has lost {what}")]
    Lost {
        /// Which coupon.
        id: Id,
        /// What it should have.
        what: String,
    },
    /// The ledger's database, which knows what a coupon issued after its records are gone.
    #[error("the ledger: {0}")]
    Ledger(#[from] sqlx::Error),
    /// The system has no randomness.
    #[error(transparent)]
    Random(#[from] RandomError),
    /// The definition changed more often than a call is repeated.
    #[error("the definition kept changing")]
    Unsettled,
}

impl MaybeScript for CouponError {
    fn script(&self) -> Option<&ScriptError> {
        match self {
            Self::Script(error) => Some(error),
            _ => None,
        }
    }
}

impl From<StoreError> for CouponError {
    fn from(error: StoreError) -> Self {
        Self::Script(error.into())
    }
}

impl From<CombineError> for CouponError {
    fn from(error: CombineError) -> Self {
        match error {
            CombineError::Crowded { waiting } => Self::Crowded { waiting },
            CombineError::Script(error) => Self::Script(error),
        }
    }
}
