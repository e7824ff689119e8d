//! Errors of jackpots, as values. Only `problem.rs` maps them to statuses.

use jackpot_core::currency::Currency;
use jackpot_core::ids::Id;
use jackpot_core::jackpot::definition::Violation;
use jackpot_core::jackpot::steps::Contradiction;
use thiserror::Error;

use jackpot_coupon::error::CouponError;
use jackpot_kernel::random::RandomError;
use jackpot_kernel::store::StoreError;
use jackpot_kernel::subject::MaybeScript;
use jackpot_room::door::DoorError;

use super::leaving::LeavingError;
use super::scripts::ScriptError;
use super::settlement::SettlementError;
use jackpot_api::jackpot::Status;

/// Why a request of a client or operator failed.
#[derive(Debug, Error)]
pub enum PlayError {
    /// The script did nothing, or its result is unknown.
    #[error(transparent)]
    Script(#[from] ScriptError),
    /// There is no such entry, or its record was dropped.
    #[error("no entry '{0}' is remembered")]
    EntryNotFound(String),
    /// No PUT of the jackpot's definition got this version.
    #[error("jackpot '{id}' has no definition of version {version}")]
    DefinitionNotFound { id: Id, version: u64 },
    /// The jackpot shows no list of winners.
    #[error("jackpot '{0}' shows no winners: field winners of its definition is off")]
    WinnersNotShown(Id),
    /// The jackpot does not take entries.
    #[error("the jackpot is {}", .0.as_str())]
    Stopped(Status),
    /// The emergency stop holds the jackpot.
    #[error("everything is stopped: {0}. Repeat the same id when the emergency stop has ended.")]
    Emergency(String),
    /// The entry id was used with other content.
    #[error("entry id '{0}' was used before with another player, stake, client seed, source or ranks")]
    EntryIdReused(String),
    /// The batch id was used with other content.
    #[error("batch id '{0}' was used before with other entries")]
    BatchIdReused(String),
    /// An adjustment would raise a pool, with what was reversed out of it in an open amount cycle, above the cycle's `low`.
    #[error(
        "a cycle with an amount is open: pool and what was reversed out of it in this cycle are not raised above its low"
    )]
    MustHitOpen,
    /// A batch ends more cycles than one call may.
    #[error("more than 1000 cycles end in this batch: send fewer entries at a time")]
    TooManyTakes,
    /// The adjustment id was used with other content.
    #[error("adjustment id '{0}' was used before with other content")]
    AdjustmentIdReused(Id),
    /// The transfer id was used with other content.
    #[error("transfer id '{0}' was used before with other content")]
    TransferIdReused(Id),
    /// An open jackpot plays with its money.
    #[error("jackpot '{0}' is open: pause or close it before a transfer")]
    TransferOpen(Id),
    /// Entries may still win its money.
    #[error("jackpot '{0}' has entries without an outcome: repeat the transfer in a moment")]
    TransferPending(Id),
    /// The entry has a prize, which a reversal would leave without its round.
    #[error("entry '{0}' has a prize: a round with a prize is not reversed")]
    EntryHasPrize(String),
    /// The entry has no outcome yet.
    #[error("entry '{0}' has no outcome yet: repeat the reversal in a moment")]
    EntryPending(String),
    /// Another reversal has taken the entry back.
    #[error("entry '{entry_id}' was reversed before, by reversal '{reversal_id}'")]
    EntryReversed { entry_id: String, reversal_id: Id },
    /// The reversal id was used for another entry, or with another reason.
    #[error("reversal id '{0}' was used before for another entry, or with another reason")]
    ReversalIdReused(Id),
    /// A key has had too many reversals remembered whose entries are not there.
    #[error(
        "entry '{entry_id}' is not there, and key '{key}' has {limit} such reversals remembered: send it again after the entry"
    )]
    TooManyCancels { entry_id: String, key: String, limit: u64 },
    /// The time for a reversal has passed.
    #[error("entry '{entry_id}' can be reversed for {within_s} seconds after it was taken, which have passed")]
    TooLate { entry_id: String, within_s: u64 },
    /// A step of a payout was not taken.
    #[error(transparent)]
    Settlement(#[from] SettlementError),
    /// A step of money that waits for a second owner was not taken.
    #[error(transparent)]
    Leaving(#[from] LeavingError),
    /// Fields break rules.
    #[error("{0:?}")]
    Invalid(Vec<Violation>),
    /// The stake is in another currency.
    #[error("the jackpot plays in {own}: send currency {own}, or leave the jackpot out")]
    CurrencyMismatch {
        /// The jackpot's.
        own: Currency,
    },
    /// The key may not send entries of this source.
    #[error("source '{source_id}' takes entries only from the keys that its definition names; yours is '{key}'")]
    WrongSource { source_id: String, key: String },
    /// The key may not send entries of any source, so it may not cancel any.
    #[error(
        "rounds are cancelled by the keys that may send their source; '{0}' may send none of the jackpot's sources"
    )]
    NoSource(String),
    /// The definition lets only operators cancel rounds.
    #[error("reverse_by of the definition is operate: this needs a key with the role operate")]
    ReversedByOperators,
    /// A meter would pass 2^53 − 1.
    #[error("a meter would pass 9007199254740991 minor units")]
    AmountTooLarge,
    /// `If-Match` or `If-None-Match` does not hold.
    #[error("the definition has another version than If-Match or If-None-Match expects")]
    PreconditionFailed,
    /// Redis is near its memory limit or down: new entries are refused, pending ones are finished.
    #[error("new entries are refused: {0}")]
    Refusing(String),
    /// The largest number of entries of the jackpot already waits for Redis.
    #[error("{waiting} entries of the jackpot wait for Redis")]
    Crowded { waiting: usize },
    /// The ledger lags too far: new entries are refused until it has caught up.
    #[error("new entries are refused: {waiting} events wait for the ledger")]
    Backlog {
        /// Events of the jackpot that the ledger does not have yet.
        waiting: u64,
    },
    /// The jackpot has a room, and the entry has no valid pass of it.
    #[error(transparent)]
    Door(#[from] DoorError),
    /// Redis lacks data that must be there.
    #[error("jackpot '{id}' has lost {what}")]
    Lost {
        id: Id,
        /// The missing data.
        what: String,
    },
    /// A coupon that an entry drew can't be asked now: the entry stays pending.
    #[error("coupon '{coupon_id}': {source}")]
    Coupon { coupon_id: Id, source: Box<CouponError> },
    /// This instance does not have the secret of an epoch.
    #[error(
        "epoch {epoch} of jackpot '{id}' was opened under the draw secret with the id {secret_id}, which this instance \
         does not have: add that secret to fairness.previous_secrets"
    )]
    NoSecret {
        id: Id,
        epoch: u64,
        /// Id of the secret.
        secret_id: String,
    },
    /// The system has no randomness.
    #[error(transparent)]
    Random(#[from] RandomError),
    /// A record and the draw do not agree.
    #[error(transparent)]
    Contradiction(#[from] Contradiction),
    /// The definition or the epoch changed more often than the service repeats a call.
    #[error("the definition or the epoch kept changing")]
    Unsettled,
}

impl MaybeScript for PlayError {
    fn script(&self) -> Option<&ScriptError> {
        match self {
            Self::Script(error) => Some(error),
            _ => None,
        }
    }
}

impl From<StoreError> for PlayError {
    fn from(error: StoreError) -> Self {
        Self::Script(error.into())
    }
}
