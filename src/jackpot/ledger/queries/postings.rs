//! The postings of a jackpot, oldest first.

use jackpot_core::clock::rfc3339;
use jackpot_core::ids::Id;
use serde::{Deserialize, Serialize};
use sqlx::Row;
use sqlx::any::AnyRow;
use utoipa::ToSchema;

use crate::ledger::queries::scan::{MAX_SCANNED, Order, Page, Scan};
use crate::ledger::queries::{Between, Key, LedgerError, Listing, Queries};

/// One line of double entry. The lines of one event and tier sum to zero, `micro` included.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PostingRow {
    /// Number of the event in its jackpot.
    #[schema(example = 8820)]
    pub n: i64,
    /// The same as an id: `<jackpot_id>:<n>`.
    #[schema(example = "spring:8820")]
    pub event_id: String,
    /// Number of the line in the event.
    #[schema(example = 1)]
    pub line: i64,
    /// RFC 3339.
    #[schema(example = "2026-11-21T06:00:00.123Z")]
    pub at: String,
    /// Of which tier.
    #[schema(example = "grand")]
    pub tier: String,
    /// contributions, pool, reserve, overflow, remainder, payouts or funding
    #[schema(example = "pool")]
    pub account: String,
    /// Minor units, debit positive.
    #[schema(example = 1)]
    pub amount: i64,
    /// Millionths of a minor unit, on top of `amount`.
    #[schema(example = 0)]
    pub micro: i64,
}

/// The filters of a list of postings.
#[derive(Debug, Clone, Serialize)]
pub struct PostingFilters {
    pub jackpot_id: Id,
    /// When the postings were booked.
    pub between: Between,
}

impl PostingFilters {
    /// The list, for its cursors.
    #[must_use]
    pub fn listing(&self) -> Listing {
        Listing::new("ledger", self, Key::before_number(0))
    }

    /// The range that a page reads: the primary key of the table.
    #[must_use]
    pub fn scan(&self) -> Scan {
        Scan {
            table: "postings".to_owned(),
            select: "jackpot_id, at_ms, n, line, tier, account, amount, micro",
            index: &["jackpot_id", "at_ms", "n", "line"],
            fixed: vec![("jackpot_id", (&self.jackpot_id).into())],
            key: ["at_ms", "n", "line"],
            order: Order::OldestFirst,
            low: Key::before_number(self.between.from_ms()),
            high: Key::before_number(self.between.to_ms()),
            filters: Vec::new(),
            within: None,
            scanned: MAX_SCANNED,
        }
    }
}

impl Queries {
    /// A page of a jackpot's postings, oldest first.
    pub async fn postings(
        &self,
        filters: &PostingFilters,
        after: Option<Key>,
        limit: u32,
    ) -> Result<Page<PostingRow>, LedgerError> {
        let mut scan = filters.scan();
        scan.go_on(after);
        self.sql.reading(scan.page(self.sql.reader(), limit, read)).await
    }

    /// Returns an error for a jackpot that the ledger does not know.
    pub async fn expect_jackpot(&self, id: &Id) -> Result<(), LedgerError> {
        let found = sqlx::query_scalar("SELECT n FROM streams WHERE kind = 'jackpot' AND id = $1").bind(id.to_string());
        let found: Option<i64> = self.sql.reading(found.fetch_optional(self.sql.reader())).await?;
        found
            .map(drop)
            .ok_or_else(|| LedgerError::JackpotNotFound(id.to_string()))
    }
}

fn read(row: &AnyRow) -> Result<PostingRow, LedgerError> {
    let (jackpot_id, n): (String, i64) = (row.try_get("jackpot_id")?, row.try_get("n")?);
    Ok(PostingRow {
        n,
        event_id: format!("{jackpot_id}:{n}"),
        line: row.try_get("line")?,
        at: rfc3339(row.try_get("at_ms")?),
        tier: row.try_get("tier")?,
        account: row.try_get("account")?,
        amount: row.try_get("amount")?,
        micro: row.try_get("micro")?,
    })
}
