//! What can go wrong with a question to the ledger. `ledger/problem.rs` alone turns it into a status.

use thiserror::Error;

/// Why a question was not answered.
#[derive(Debug, Error)]
pub enum LedgerError {
    /// The database refused, or can't be reached.
    #[error("the ledger's database: {0}")]
    Sql(#[from] sqlx::Error),
    /// A row holds what no projector wrote.
    #[error("the ledger holds an unreadable {what}: {source}")]
    Unreadable {
        /// Which row and column.
        what: String,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// A row that another speaks of is not there.
    #[error("the ledger holds no {0}")]
    Missing(String),
    /// An entry is known by its record alone: the event that took it was skipped.
    #[error("the event that took entry '{0}' could not be read and was skipped: only its outcome is known")]
    Skipped(String),
    /// The ledger knows no such jackpot.
    #[error("the ledger knows no jackpot '{0}'")]
    JackpotNotFound(String),
    /// There is no such coupon.
    #[error("there is no coupon '{0}'")]
    CouponNotFound(String),
    /// The ledger knows no such payout.
    #[error("the ledger knows no payout with this id")]
    PayoutNotFound,
    /// The cursor is none of this list with these filters.
    #[error("the cursor belongs to another list or to other filters")]
    Cursor,
    /// Entries can't be found by player here.
    #[error(
        "this service keeps no index of entries by player (setting ledger.entry_index_days is 0); \
         an entry can be read by its id for as long as it is remembered"
    )]
    EntryIndexOff,
    /// As many exports run as may.
    #[error("this instance serves as many exports as it may")]
    TooManyExports,
}
