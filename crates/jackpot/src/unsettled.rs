//! Counts the payouts that are not settled, for metrics. Every instance reads them from the ledger.

use std::time::Duration;

use jiff::Timestamp;
use sqlx::Row;
use tokio::time::timeout;
use tracing::debug;

use super::metrics::PlayMetrics;
use jackpot_kernel::sql::Sql;
use jackpot_kernel::stopping::Stopping;
use jackpot_kernel::telemetry::{Unsettled, UnsettledLabels};

/// Pause between two counts.
const PAUSE: Duration = Duration::from_secs(15);
/// Most kinds of payouts of one count: more than metrics show.
const MOST: i64 = 2_000;
const HOUR_MS: i64 = 3_600_000;

/// The worker of an instance.
#[derive(Debug, Clone)]
pub struct UnsettledPayouts {
    pub sql: Sql,
    pub metrics: PlayMetrics,
}

impl UnsettledPayouts {
    /// Counts until the service stops.
    pub async fn run(self, stopping: Stopping) {
        loop {
            match self.count(Timestamp::now().as_millisecond()).await {
                Ok(all) => self.metrics.unsettled(all),
                Err(error) => debug!(%error, "unsettled payouts could not be counted"),
            }
            if timeout(PAUSE, stopping.wait()).await.is_ok() {
                return;
            }
        }
    }

    /// The payouts that are not settled at `now_ms`, by jackpot, state and age.
    pub async fn count(&self, now_ms: i64) -> Result<Vec<Unsettled>, sqlx::Error> {
        let rows = sqlx::query(
            "SELECT jackpot_id, currency, state, age, COUNT(*) AS payouts, CAST(SUM(amount) AS BIGINT) AS amount FROM \
             (SELECT jackpot_id, currency, state, amount, CASE WHEN paid_at_ms > $1 THEN 'hour' WHEN paid_at_ms > $2 THEN \
             'day' WHEN paid_at_ms > $3 THEN 'week' ELSE 'older' END AS age FROM payout_states WHERE state <> 'settled' AND \
             state <> 'void') AS open GROUP BY jackpot_id, currency, state, age ORDER BY jackpot_id, state, age LIMIT $4",
        )
        .bind(now_ms - HOUR_MS)
        .bind(now_ms - 24 * HOUR_MS)
        .bind(now_ms - 7 * 24 * HOUR_MS)
        .bind(MOST)
        .fetch_all(self.sql.reader());
        let rows = self.sql.reading(rows).await?;
        let one = |row: &sqlx::any::AnyRow| {
            Ok(Unsettled {
                labels: UnsettledLabels {
                    jackpot: row.try_get("jackpot_id")?,
                    currency: row.try_get("currency")?,
                    state: row.try_get("state")?,
                    age: row.try_get("age")?,
                },
                payouts: row.try_get("payouts")?,
                amount: row.try_get("amount")?,
            })
        };
        rows.iter().map(one).collect()
    }
}
