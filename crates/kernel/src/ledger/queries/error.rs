//! Errors of queries to the ledger. Only `ledger/problem.rs` turns them into a status.

use thiserror::Error;

/// Why a query was not answered.
#[derive(Debug, Error)]
pub enum LedgerError {
    /// The database refused, or can't be reached.
    #[error("the ledger's database: {0}")]
    Sql(#[from] sqlx::Error),
    /// A row holds something that no projector wrote.
    #[error("the ledger holds an unreadable {what}: {source}")]
    Unreadable {
        /// Which row and column.
        what: String,
        source: serde_json::Error,
    },
    /// A row that another row names is not there.
    #[error("the ledger holds no {0}")]
    Missing(String),
    /// Only the record of an entry is known: the event that took it was skipped.
    #[error("the event that took entry '{0}' could not be read and was skipped: only its outcome is known")]
    Skipped(String),
    /// The ledger has no such jackpot.
    #[error("the ledger knows no jackpot '{0}'")]
    JackpotNotFound(String),
    /// There is no such coupon.
    #[error("there is no coupon '{0}'")]
    CouponNotFound(String),
    /// The ledger has no such payout.
    #[error("the ledger knows no payout with this id")]
    PayoutNotFound,
    /// The cursor does not belong to this list with these filters.
    #[error("the cursor belongs to another list or to other filters")]
    Cursor,
    /// Entries can't be found by player here.
    #[error(
        "this service keeps no index of entries by player (setting ledger.entry_index_days is 0); \
         an entry can be read by its id for as long as it is remembered"
    )]
    EntryIndexOff,
    /// The table of the history lacks events that the ledger has.
    #[error("the history of jackpot '{0}' is being made from the ledger's events")]
    NoHistory(String),
    /// The figures of daily reports lack events that the ledger has.
    #[error("the daily figures of jackpot '{0}' are being made from the ledger's events")]
    NoReport(String),
    /// No further export may run now.
    #[error("this instance serves its maximum number of exports")]
    TooManyExports,
}
