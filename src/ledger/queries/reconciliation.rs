//! The last reconciliation of every jackpot, coupon and room.

use jackpot_core::clock::rfc3339;
use serde::{Deserialize, Serialize};
use sqlx::Row;
use sqlx::any::AnyRow;
use utoipa::ToSchema;

use super::{LedgerError, Queries, json};
use crate::ledger::reconcile::report::{Report, StateRow, TierReport};
use crate::subject::kinds::{COUPONS, JACKPOTS, ROOMS, Tables};

/// Of them read by one statement: their reports are some KB each.
const BATCH: usize = 500;

/// The last reconciliation of a jackpot.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Reconciliation {
    /// Which jackpot.
    #[schema(example = "spring")]
    pub jackpot_id: String,
    /// Number of the event at which Redis and the ledger were compared; null before the first time.
    #[schema(example = 8820)]
    pub event: Option<i64>,
    /// RFC 3339; null before the first time.
    #[schema(example = "2026-11-21T06:00:00.123Z")]
    pub checked_at: Option<String>,
    /// Events in Redis that the ledger does not have yet; null while it is not known. No mismatch by itself.
    #[schema(example = 0)]
    pub lag: Option<u64>,
    /// Whether both agree, every identity holds, and the stream is not stopped; null before the first time.
    pub clean: Option<bool>,
    /// Why the next event can't be applied; null while it can.
    pub stopped: Option<String>,
    /// Promise 1 of each tier, term by term.
    pub tiers: Vec<TierReport>,
    /// The rest of the state.
    pub state: Vec<StateRow>,
}

/// The last reconciliation of a coupon.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CouponReconciliation {
    /// Which coupon.
    #[schema(example = "coffee")]
    pub coupon_id: String,
    /// Number of the event at which Redis and the ledger were compared; null before the first time.
    #[schema(example = 412)]
    pub event: Option<i64>,
    /// RFC 3339; null before the first time.
    #[schema(example = "2026-11-21T06:00:00.123Z")]
    pub checked_at: Option<String>,
    /// Events in Redis that the ledger does not have yet; null while it is not known. No mismatch by itself.
    #[schema(example = 0)]
    pub lag: Option<u64>,
    /// Whether both agree, the identity of the stock holds, and the stream is not stopped; null before the first time.
    pub clean: Option<bool>,
    /// Why the next event can't be applied; null while it can.
    pub stopped: Option<String>,
    /// `status`, `version`, `stock`, `issued`, `voided`, `arrivals`, `queued`, `dead`, `remaining`; how many rows the
    /// ledger has, `issued rows` and `voided rows`; and `stock = remaining + issued - voided`, Redis' stock beside the sum
    /// of what Redis has left and the ledger's rows. Or only `readable`, when it is not.
    pub state: Vec<StateRow>,
}

/// The last reconciliation of a room.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RoomReconciliation {
    /// Which room.
    #[schema(example = "lobby")]
    pub room_id: String,
    /// Number of the event at which Redis and the ledger were compared; null before the first time.
    #[schema(example = 3)]
    pub event: Option<i64>,
    /// RFC 3339; null before the first time.
    #[schema(example = "2026-11-22T06:00:00.123Z")]
    pub checked_at: Option<String>,
    /// Events in Redis that the ledger does not have yet; null while it is not known. No mismatch by itself.
    #[schema(example = 0)]
    pub lag: Option<u64>,
    /// Whether both agree and the stream is not stopped; null before the first time.
    pub clean: Option<bool>,
    /// Why the next event can't be applied; null while it can.
    pub stopped: Option<String>,
    /// All that decides who may be in: `status`, `version`, `capacity`, `session_ms`, `waiting_timeout_ms`,
    /// `admissions_per_minute`, `opens_ms`, `passes_until_ms` (when the last pass of former definitions or of before a
    /// restore has expired), `commitment` and `pre_queue_sha256`. Or only `readable`, when it is not.
    pub state: Vec<StateRow>,
}

/// A row of a last reconciliation.
struct Last {
    id: String,
    event: Option<i64>,
    checked_at: Option<String>,
    clean: Option<bool>,
    stopped: Option<String>,
    report: Report,
}

impl Queries {
    /// The last reconciliation of every jackpot that is shown, by id, without its lag.
    pub async fn reconciliations(&self, shows: impl Fn(&str) -> bool) -> Result<Vec<Reconciliation>, LedgerError> {
        let all = self.last(JACKPOTS, shows).await?.into_iter();
        Ok(all
            .map(|last| Reconciliation {
                jackpot_id: last.id,
                event: last.event,
                checked_at: last.checked_at,
                lag: None,
                clean: last.clean,
                stopped: last.stopped,
                tiers: last.report.tiers,
                state: last.report.state,
            })
            .collect())
    }

    /// The last reconciliation of every coupon that is shown, by id, without its lag.
    pub async fn coupons(&self, shows: impl Fn(&str) -> bool) -> Result<Vec<CouponReconciliation>, LedgerError> {
        let all = self.last(COUPONS, shows).await?.into_iter();
        Ok(all
            .map(|last| CouponReconciliation {
                coupon_id: last.id,
                event: last.event,
                checked_at: last.checked_at,
                lag: None,
                clean: last.clean,
                stopped: last.stopped,
                state: last.report.state,
            })
            .collect())
    }

    /// The last reconciliation of every room that is shown, by id, without its lag.
    pub async fn rooms(&self, shows: impl Fn(&str) -> bool) -> Result<Vec<RoomReconciliation>, LedgerError> {
        let all = self.last(ROOMS, shows).await?.into_iter();
        Ok(all
            .map(|last| RoomReconciliation {
                room_id: last.id,
                event: last.event,
                checked_at: last.checked_at,
                lag: None,
                clean: last.clean,
                stopped: last.stopped,
                state: last.report.state,
            })
            .collect())
    }

    async fn last(&self, kind: Tables, shows: impl Fn(&str) -> bool) -> Result<Vec<Last>, LedgerError> {
        let text = format!(
            "SELECT j.id AS id, j.stopped AS stopped, COALESCE(r.n, 0) AS n, \
             COALESCE(r.at_ms, 0) AS at_ms, COALESCE(r.clean, 0) AS clean, COALESCE(r.report, '') AS report \
             FROM streams AS j LEFT JOIN reconciliations AS r ON r.kind = j.kind AND r.id = j.id \
             WHERE j.kind = '{}' AND j.id > $1 ORDER BY j.id LIMIT {BATCH}",
            kind.what
        );
        let mut all: Vec<Last> = Vec::new();
        let mut after = String::new();
        loop {
            let batch = sqlx::query(sqlx::AssertSqlSafe(text.clone())).bind(after);
            let rows = self.sql.reading(batch.fetch_all(self.sql.reader())).await?;
            after = rows
                .last()
                .map(|row| row.try_get("id"))
                .transpose()?
                .unwrap_or_default();
            for row in &rows {
                if shows(row.try_get("id")?) {
                    all.push(read(row, kind)?);
                }
            }
            if rows.len() < BATCH {
                return Ok(all);
            }
        }
    }
}

fn read(row: &AnyRow, kind: Tables) -> Result<Last, LedgerError> {
    let id: String = row.try_get("id")?;
    let (report, stopped): (String, String) = (row.try_get("report")?, row.try_get("stopped")?);
    let (n, at_ms, clean): (i64, i64, i64) = (row.try_get("n")?, row.try_get("at_ms")?, row.try_get("clean")?);
    let checked = !report.is_empty();
    let report: Report = if checked {
        json(&report, || format!("reconciliation of {} '{id}'", kind.what))?
    } else {
        Report::default()
    };
    let clean = if stopped.is_empty() {
        checked.then_some(clean == 1)
    } else {
        Some(false)
    };
    Ok(Last {
        event: checked.then_some(n),
        checked_at: checked.then(|| rfc3339(at_ms)),
        clean,
        stopped: (!stopped.is_empty()).then_some(stopped),
        report,
        id,
    })
}
