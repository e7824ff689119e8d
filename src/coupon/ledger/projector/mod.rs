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
use crate::coupon::known::{Known, Registry};
use crate::coupon::scripts::Snapshot;
use crate::ledger::forgotten::Forgotten;
use crate::ledger::kind::{About, Kind, Look};
use crate::ledger::projector::Projector;
use crate::ledger::projector::batch::{Batch, Start, Stop};
use crate::ledger::projector::rows::Raw;
use crate::ledger::projector::stream::Stream;
use crate::ledger::projector::write::{WriteError, int};
use crate::ledger::reconcile::report::Report;
use crate::ledger::restore::{Replace, RestoreError, Restored, Restorer};
use crate::operator::Operator;
use crate::sql::{Sql, Tx};
use crate::store::Store;
use crate::subject::ScriptError;
use crate::subject::kinds::{COUPON, KindName};
pub use batch::{IssueRow, Rows, VoidRow};

/// Counts the issues of a coupon up to an event, and those of them that were voided by then. It reads only two
/// indexes, because in the table each row would be at another place.
pub const COUNT: &str = "SELECT (SELECT COUNT(*) FROM coupon_issues WHERE coupon_id = $1 AND sequence <= \
     (SELECT last_sequence FROM events WHERE kind = 'coupon' AND id = $1 AND n = $2)) AS issued, \
     (SELECT COUNT(*) FROM coupon_issues WHERE coupon_id = $1 AND voided_n > 0 AND voided_n <= $2) AS voided";

/// The coupons that this instance knows.
#[derive(Debug, Clone)]
pub struct Coupons {
    /// What is remembered of each.
    pub registry: Arc<Registry>,
    pub store: Store,
}

impl Kind for Coupons {
    const NAME: KindName = COUPON;
    const ABOUT: About = About {
        limits_backlog: true,
        gates_readiness: false,
        remembers: "requests",
        after_discard: "it is suspended until Redis and the ledger are compared",
        counted: Some(("requests", "issues")),
        counts: true,
    };
    type Known = Known;
    type Books = Books;
    type Along = ();
    type Rows = Rows;
    type With<'a> = ();
    type Side = Side;
    type Error = ScriptError;
    type Engine = Registry;

    fn engine(&self) -> &Registry {
        &self.registry
    }

    fn side(redis: &Snapshot) -> Result<Look<Side>, ScriptError> {
        Ok(Look {
            mark: redis.mark,
            now_ms: redis.now_ms,
            side: Side::from(redis),
        })
    }

    async fn restore(
        &self,
        restorer: &Restorer,
        id: &Id,
        replace: Replace,
        by: &Operator,
        reason: &str,
    ) -> Result<Restored, RestoreError> {
        restorer.restore_coupon(id, replace, by, reason).await
    }

    fn batch(_: &Projector<Self>, stream: &Stream<Self>, events: &[Raw]) -> Batch<Self> {
        Batch::build(&stream.start(()), events)
    }

    fn begin(_: &Start<'_, Self>) -> Rows {
        Rows::default()
    }

    fn take(batch: &mut Batch<Self>, start: &Start<'_, Self>, raw: &Raw) -> Result<(), Stop> {
        batch.take(start, raw)
    }

    async fn write(tx: &mut Tx<'static>, batches: &[&Batch<Self>]) -> Result<(), WriteError> {
        write::write(tx, batches).await
    }

    fn forget(forgotten: &mut Forgotten, _: &Id, raw: &Raw) -> bool {
        Event::parse(&raw.fields).map(|event| forget(forgotten, event)).is_ok()
    }

    fn compare(side: &Side, books: &Books) -> Report {
        report::compare(side, books)
    }

    async fn count(sql: &Sql, id: &Id, n: u64, found: Report) -> Result<Report, sqlx::Error> {
        let counted = sqlx::query(COUNT).bind(id.as_str()).bind(int(n));
        let row = sql.reading(counted.fetch_one(sql.reader())).await?;
        let (issued, voided): (i64, i64) = (row.try_get("issued")?, row.try_get("voided")?);
        Ok(report::with_rows(found, issued.unsigned_abs(), voided.unsigned_abs()))
    }
}
