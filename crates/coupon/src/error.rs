//! Errors of coupons, as values. Only `problem.rs` maps them to statuses.

use jackpot_core::ids::Id;
use jackpot_core::violation::Violation;
use thiserror::Error;

use jackpot_kernel::combiner::CombineError;
use jackpot_kernel::random::RandomError;
use jackpot_kernel::store::StoreError;
use jackpot_kernel::subject::MaybeScript;
use jackpot_kernel::subject::ScriptError;

/// Why a request of a client or operator failed.
#[derive(Debug, Error)]
pub enum CouponError {
    /// The script did nothing, or its result is unknown.
    #[error(transparent)]
    Script(#[from] ScriptError),
    /// An operator paused it.
    #[error("the coupon is paused. Repeat the same id when it was resumed.")]
    Paused,
    /// An operator closed it.
    #[error("the coupon was closed, which is final")]
    Closed,
    /// Suspended: its books do not agree.
    #[error("the coupon is suspended")]
    Suspended,
    /// The emergency stop holds it.
    #[error("everything is stopped: {0}. Repeat the same id when the emergency stop has ended.")]
    Emergency(String),
    /// Retired: one retention has passed after its end, and its records are gone.
    #[error("the coupon ended, and its records are no longer kept")]
    Ended,
    /// The same, for an operator's change.
    #[error(
        "coupon '{0}' was retired: it ended, its records are dropped, and its id is used up. Create a coupon with another id."
    )]
    Retired(Id),
    /// There is no such request, or its record was dropped.
    #[error("no request '{0}' is remembered")]
    RequestNotFound(String),
    /// Another user has used this request id, or the same with other metadata.
    #[error("request id '{0}' was used before for another user or with other metadata")]
    RequestIdReused(String),
    /// There is no issued unit to void or redeem.
    #[error("request '{request_id}' is {state}: it has no unit")]
    NotIssued {
        request_id: String,
        /// Its state, as answers name it.
        state: &'static str,
    },
    /// Its user has used the unit.
    #[error("the unit of request '{0}' was redeemed, which is final")]
    Redeemed(String),
    /// This redemption has redeemed the unit, with another reference.
    #[error("redemption id '{0}' redeemed this unit with another reference")]
    RedemptionIdReused(String),
    /// The coupon was retired, and the ledger lacks its last events.
    #[error("the ledger does not have the last events of coupon '{0}' yet")]
    LedgerBehind(Id),
    /// It joined the queue, and its turn did not come in time. It stays there.
    #[error("request '{0}' is in the queue, and its turn did not come in time")]
    Waiting(String),
    /// Dead letter: taken three times without being served. An operator must handle it.
    #[error("request '{0}' is a dead letter until an operator returns it to the queue")]
    Dead(String),
    /// Fields break rules.
    #[error("{0:?}")]
    Invalid(Vec<Violation>),
    /// `If-Match` or `If-None-Match` does not hold.
    #[error("the definition has another version than If-Match or If-None-Match expects")]
    PreconditionFailed,
    /// Redis is near its memory limit or down: new requests are refused, pending ones are finished.
    #[error("new requests are refused: {0}")]
    Refusing(String),
    /// The largest number of requests for the coupon already waits for Redis.
    #[error("{waiting} requests for the coupon wait for Redis")]
    Crowded { waiting: usize },
    /// The ledger lags too far: new requests are refused until it has caught up.
    #[error("new requests are refused: {waiting} events wait for the ledger")]
    Backlog {
        /// Events of the coupon that the ledger does not have yet.
        waiting: u64,
    },
    /// Redis lacks data that must be there.
    #[error("coupon '{id}' has lost {what}")]
    Lost {
        id: Id,
        /// The missing data.
        what: String,
    },
    /// The ledger's database failed. It has a coupon's issues after its records are gone.
    #[error("the ledger: {0}")]
    Ledger(#[from] sqlx::Error),
    /// The system has no randomness.
    #[error(transparent)]
    Random(#[from] RandomError),
    /// The definition changed more often than the service repeats a call.
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
