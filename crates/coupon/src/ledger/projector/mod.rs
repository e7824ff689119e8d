//! Coupons: their books, and the tables that only they have.

mod batch;
mod write;

use std::sync::Arc;

use jackpot_core::ids::Id;
use sqlx::Row;

use super::books::Books;
use super::event::Event;
use super::forgotten::forget;
use super::report::{self, Side};
use super::restore;
use crate::known::{Known, Registry};
use crate::scripts::Snapshot;
pub use batch::{IssueRow, RedemptionRow, Rows, VoidRow};
use jackpot_kernel::ledger::forgotten::Forgotten;
use jackpot_kernel::ledger::kind::{About, Compares, Folds, Kind, Look, Subjects, Tables};
use jackpot_kernel::ledger::projector::batch::{Batch, Start, Stop};
use jackpot_kernel::ledger::projector::rows::Raw;
use jackpot_kernel::ledger::projector::write::WriteError;
use jackpot_kernel::ledger::reconcile::report::Report;
use jackpot_kernel::ledger::restore::{Replace, RestoreError, Restored, Restorer};
use jackpot_kernel::operator::Operator;
use jackpot_kernel::sql::{Sql, Tx, int};
use jackpot_kernel::store::Store;
use jackpot_kernel::subject::ScriptError;
use jackpot_kernel::subject::kinds::{COUPON, KindName};

/// Counts the issues of a coupon up to an event, and those of them that were voided or redeemed by then. It reads only
/// indexes, because in the table each row would be at another place.
pub const COUNT: &str = "SELECT (SELECT COUNT(*) FROM coupon_issues WHERE coupon_id = $1 AND sequence <= \
     (SELECT last_sequence FROM events WHERE kind = 'coupon' AND id = $1 AND n = $2)) AS issued, \
     (SELECT COUNT(*) FROM coupon_issues WHERE coupon_id = $1 AND voided_n > 0 AND voided_n <= $2) AS voided, \
     (SELECT COUNT(*) FROM coupon_redemptions WHERE coupon_id = $1 AND n <= $2) AS redeemed";

/// The coupons that this instance knows.
#[derive(Debug, Clone)]
pub struct Coupons {
    /// What is remembered of each.
    pub registry: Arc<Registry>,
    pub store: Store,
}

/// The tables of issues. A stream keeps nothing in memory for them.
#[derive(Debug, Default)]
pub struct CouponTables;

impl Tables<Coupons> for CouponTables {
    type Rows = Rows;

    async fn write(tx: &mut Tx<'static>, batches: &[&Batch<Coupons>]) -> Result<(), WriteError> {
        write::write(tx, batches).await
    }
}

impl Subjects for Coupons {
    const NAME: KindName = COUPON;
    const ABOUT: About = About {
        limits_backlog: true,
        remembers: "requests",
        counted: Some(("requests", "issues")),
        ..About::PLAIN
    };
    type Known = Known;
    type Error = ScriptError;
    type Engine = Registry;

    fn engine(&self) -> &Registry {
        &self.registry
    }
}

impl Folds for Coupons {
    type Books = Books;
    type Tables = CouponTables;

    fn take(batch: &mut Batch<Self>, start: &Start<'_, Self>, raw: &Raw) -> Result<(), Stop> {
        batch::take(batch, start, raw)
    }

    fn forget(forgotten: &mut Forgotten, _: &Id, raw: &Raw) -> bool {
        Event::parse(&raw.fields).map(|event| forget(forgotten, event)).is_ok()
    }
}

impl Compares for Coupons {
    type Side = Side;
    const COUNTS: bool = true;

    fn side(redis: &Snapshot) -> Result<Look<Side>, ScriptError> {
        Ok(Look {
            mark: redis.mark,
            now_ms: redis.now_ms,
            side: Side::from(redis),
        })
    }

    fn compare(side: &Side, books: &Books) -> Report {
        report::compare(side, books)
    }

    async fn count(sql: &Sql, id: &Id, n: u64, found: Report) -> Result<Report, sqlx::Error> {
        let counted = sqlx::query(COUNT).bind(id.as_str()).bind(int(n));
        let row = sql.reading(counted.fetch_one(sql.reader())).await?;
        let of = |column| row.try_get::<i64, _>(column).map(i64::unsigned_abs);
        let rows = report::Rows {
            issued: of("issued")?,
            voided: of("voided")?,
            redeemed: of("redeemed")?,
        };
        Ok(report::with_rows(found, rows))
    }
}

impl Kind for Coupons {
    type Upkeep = ();

    async fn restore(
        &self,
        restorer: &Restorer,
        id: &Id,
        replace: Replace,
        by: &Operator,
        reason: &str,
    ) -> Result<Restored, RestoreError> {
        restore::restore(restorer, id, replace, by, reason).await
    }
}
