//! A reconciliation that a caller waits for: an operator who resumes a suspended jackpot, or `jackpot reconcile`.

use std::time::Duration;

use jackpot_core::ids::Id;
use jackpot_core::mark::Mark;
use sqlx::{AssertSqlSafe, Row};
use tokio::time::Instant;

use super::report::Report;
use crate::ledger::Ledger;
use crate::ledger::kind::Kind;
use crate::ledger::queries::LedgerError;

/// Longest wait for the projector to reach the checkpoint. With a large backlog the projector takes longer.
const LIMIT: Duration = Duration::from_secs(10);
/// Pause between two looks.
const PAUSE: Duration = Duration::from_millis(50);

/// The result of a reconciliation.
#[derive(Debug)]
pub enum Reconciled {
    /// Compared, at this event.
    Report(u64, Report),
    /// The ledger can't go on with this stream.
    Stopped(String),
    /// The ledger did not reach the checkpoint in time.
    Behind,
}

/// Why the reconciliation could not be done.
#[derive(Debug, thiserror::Error)]
pub enum ReconcileError<E> {
    /// Redis did not take a checkpoint.
    #[error("{0}")]
    Redis(E),
    #[error("{0}")]
    Ledger(#[from] LedgerError),
}

/// Why a suspended subject stays so.
#[derive(Debug, thiserror::Error)]
pub enum NotClean {
    /// They do not agree.
    #[error("Redis and the ledger do not agree at event {0}: {1}")]
    Mismatch(u64, String),
    /// The ledger can't go on.
    #[error("the ledger can't go on with it: {0}")]
    Stopped(String),
    /// They were not compared in time.
    #[error("the ledger did not catch up in time for a comparison; try again")]
    Behind,
}

impl Reconciled {
    /// An error unless both sides agree.
    pub fn clean(self) -> Result<(), NotClean> {
        match self {
            Self::Report(_, report) if report.clean => Ok(()),
            Self::Report(n, report) => Err(NotClean::Mismatch(n, report.faults().join("; "))),
            Self::Stopped(why) => Err(NotClean::Stopped(why)),
            Self::Behind => Err(NotClean::Behind),
        }
    }
}

impl Ledger {
    /// Appends a checkpoint to a stream, and waits until the projector of any instance has compared it.
    pub async fn reconcile<K: Kind>(&self, kind: &K, id: &Id) -> Result<Reconciled, ReconcileError<K::Error>> {
        let mark = kind.checkpoint(id).await.map_err(ReconcileError::Redis)?;
        Ok(self.reached::<K>(id, mark).await?)
    }

    /// The result at a checkpoint, once the projector has compared it.
    pub async fn reached<K: Kind>(&self, id: &Id, mark: Mark) -> Result<Reconciled, LedgerError> {
        let until = Instant::now() + LIMIT;
        loop {
            match self.compared::<K>(id, mark.n()).await? {
                Some(done) => return Ok(done),
                None if Instant::now() >= until => return Ok(Reconciled::Behind),
                None => tokio::time::sleep(PAUSE).await,
            }
        }
    }

    async fn compared<K: Kind>(&self, id: &Id, n: u64) -> Result<Option<Reconciled>, LedgerError> {
        let text = format!(
            "SELECT j.stopped AS stopped, COALESCE(r.n, 0) AS n, COALESCE(r.report, '') AS report \
             FROM streams AS j LEFT JOIN reconciliations AS r ON r.kind = j.kind AND r.id = j.id \
             WHERE j.kind = '{}' AND j.id = $1",
            K::NAME.as_str()
        );
        let row = sqlx::query(AssertSqlSafe(text))
            .bind(id.as_str())
            .fetch_optional(self.sql.reader());
        let Some(row) = self.sql.reading(row).await? else {
            return Ok(None);
        };
        let stopped: String = row.try_get("stopped")?;
        if !stopped.is_empty() {
            return Ok(Some(Reconciled::Stopped(stopped)));
        }
        let at = row.try_get::<i64, _>("n")?.unsigned_abs();
        if at < n {
            return Ok(None);
        }
        let report = serde_json::from_str(row.try_get("report")?)
            .map_err(|_| LedgerError::Missing(format!("readable reconciliation of {} '{id}'", K::NAME.as_str())))?;
        Ok(Some(Reconciled::Report(at, report)))
    }
}
