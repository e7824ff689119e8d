//! The issues of a coupon, in their order.

use jackpot_api::coupon::{IssueRow, Redeemed};
use jackpot_core::clock::rfc3339;
use jackpot_core::ids::Id;
use serde::Serialize;
use sqlx::Row;
use sqlx::any::AnyRow;

use super::details::{self, metadata, redeemed};
use jackpot_kernel::ledger::queries::scan::{MAX_SCANNED, Order, Page, Scan};
use jackpot_kernel::ledger::queries::{Key, LedgerError, Listing, Value};
use jackpot_kernel::sql::Sql;

/// The filters of a list of issues.
#[derive(Debug, Clone, Serialize)]
pub struct IssueFilters {
    pub coupon_id: Id,
}

/// One number is the whole position, but keys have three columns.
const KEY: [&str; 3] = ["sequence"; 3];

fn key(sequence: i64) -> Key {
    Key(KEY.map(|_| Value::Int(sequence)))
}

impl IssueFilters {
    /// The list, for its cursors.
    pub fn listing(&self) -> Listing {
        Listing::new("issues", self, key(0))
    }

    /// The range that a page reads: the primary key of the table.
    pub fn scan(&self) -> Scan {
        Scan {
            table: "coupon_issues".to_owned(),
            select: concat!(
                "sequence, request_id, user_id, code, issued_at_ms, voided_at_ms, ",
                redeemed!(),
                ", ",
                metadata!()
            ),
            index: &["coupon_id", "sequence"],
            fixed: vec![("coupon_id", (&self.coupon_id).into())],
            key: KEY,
            order: Order::OldestFirst,
            low: key(0),
            high: key(i64::MAX),
            filters: Vec::new(),
            within: None,
            scanned: MAX_SCANNED,
        }
    }
}

/// A page of a coupon's issues, in their order.
pub async fn issues(
    sql: &Sql,
    filters: &IssueFilters,
    after: Option<Key>,
    limit: u32,
) -> Result<Page<IssueRow>, LedgerError> {
    let mut scan = filters.scan();
    scan.go_on(after);
    sql.reading(scan.page(sql.reader(), limit, read)).await
}

/// Whether the ledger has events of a coupon.
pub async fn knows_coupon(sql: &Sql, id: &Id) -> Result<bool, LedgerError> {
    let found = sqlx::query_scalar("SELECT n FROM streams WHERE kind = 'coupon' AND id = $1").bind(id.to_string());
    let found: Option<i64> = sql.reading(found.fetch_optional(sql.reader())).await?;
    Ok(found.is_some())
}

fn read(row: &AnyRow) -> Result<IssueRow, LedgerError> {
    let voided_ms: i64 = row.try_get("voided_at_ms")?;
    let asker = details::asker(row)?;
    Ok(IssueRow {
        sequence: row.try_get("sequence")?,
        request_id: row.try_get("request_id")?,
        user_id: asker.user.to_string(),
        metadata: asker.metadata.map(Into::into),
        code: Some(row.try_get("code")?),
        issued_at: rfc3339(row.try_get("issued_at_ms")?),
        voided_at: (voided_ms > 0).then(|| rfc3339(voided_ms)),
        redeemed: details::read(row)?.as_ref().map(Redeemed::from),
    })
}
