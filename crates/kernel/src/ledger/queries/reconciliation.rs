//! The last reconciliation of every subject.

use jackpot_core::clock::rfc3339;
use serde::{Deserialize, Serialize, Serializer};
use sqlx::Row;
use sqlx::any::AnyRow;

use super::{LedgerError, Queries, json};
use crate::ledger::reconcile::report::{Report, StateRow, TierReport};
use crate::subject::kinds::KindName;

/// Reconciliations read by one statement: their reports are some KB each.
const BATCH: usize = 500;

/// The last reconciliation of a subject. In JSON its id is `jackpot_id`, `coupon_id` and so on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Reconciliation {
    /// Which subject.
    #[serde(flatten)]
    pub subject: SubjectId,
    /// What was found.
    #[serde(flatten)]
    pub last: Last,
}

/// The name of a subject in an answer: `{"jackpot_id": "spring"}`.
#[derive(Debug, Clone, PartialEq)]
pub struct SubjectId {
    /// Of which kind.
    pub kind: KindName,
    /// As the ledger has it.
    pub id: String,
}

impl Serialize for SubjectId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map([(self.kind.id_field(), &self.id)])
    }
}

/// The result of the last reconciliation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Last {
    /// Number of the event at which Redis and the ledger were compared; `None` before the first time.
    pub event: Option<i64>,
    /// RFC 3339; `None` before the first time.
    pub checked_at: Option<String>,
    /// Events in Redis that the ledger does not have yet; `None` while unknown. Lag alone is no mismatch.
    pub lag: Option<u64>,
    /// Whether both agree and the stream is not stopped; `None` before the first time.
    pub clean: Option<bool>,
    /// Why the next event can't be applied; `None` while it can.
    pub stopped: Option<String>,
    /// Each tier, term by term; `None` for a kind without tiers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tiers: Option<Vec<TierReport>>,
    /// All other compared values.
    pub state: Vec<StateRow>,
}

impl Queries {
    /// The last reconciliation of every shown subject of a kind, by id, without its lag.
    pub async fn reconciliations(
        &self,
        kind: KindName,
        shows: impl Fn(&str) -> bool,
    ) -> Result<Vec<Reconciliation>, LedgerError> {
        let text = format!(
            "SELECT j.id AS id, j.stopped AS stopped, COALESCE(r.n, 0) AS n, \
             COALESCE(r.at_ms, 0) AS at_ms, COALESCE(r.clean, 0) AS clean, COALESCE(r.report, '') AS report \
             FROM streams AS j LEFT JOIN reconciliations AS r ON r.kind = j.kind AND r.id = j.id \
             WHERE j.kind = '{}' AND j.id > $1 ORDER BY j.id LIMIT {BATCH}",
            kind.as_str()
        );
        let mut all = Vec::new();
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

fn read(row: &AnyRow, kind: KindName) -> Result<Reconciliation, LedgerError> {
    let id: String = row.try_get("id")?;
    let (report, stopped): (String, String) = (row.try_get("report")?, row.try_get("stopped")?);
    let (n, at_ms, clean): (i64, i64, i64) = (row.try_get("n")?, row.try_get("at_ms")?, row.try_get("clean")?);
    let checked = !report.is_empty();
    let report: Report = if checked {
        json(&report, || format!("reconciliation of {kind} '{id}'"))?
    } else {
        Report::default()
    };
    let clean = if stopped.is_empty() {
        checked.then_some(clean == 1)
    } else {
        Some(false)
    };
    Ok(Reconciliation {
        subject: SubjectId { kind, id },
        last: Last {
            event: checked.then_some(n),
            checked_at: checked.then(|| rfc3339(at_ms)),
            lag: None,
            clean,
            stopped: (!stopped.is_empty()).then_some(stopped),
            tiers: kind.has_tiers.then_some(report.tiers),
            state: report.state,
        },
    })
}
