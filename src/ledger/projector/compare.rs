//! Redis beside the ledger, now and then, for every stream that this instance reads.

use std::time::{Duration, Instant};

use tracing::{debug, error};

use super::Projector;
use crate::ids::Id;
use crate::jackpot::view::Status;
use crate::ledger::reconcile::report::{Report, compare};
use crate::ledger::reconcile::{sides, store};

impl Projector {
    /// Compares idle jackpots as they stand, and puts a checkpoint into the stream of busy ones: it is compared when it
    /// is applied. Whether there is one now.
    pub(super) async fn reconcile(&mut self) -> Result<bool, sqlx::Error> {
        let interval = Duration::from_secs(self.settings.reconcile_interval_s);
        if self.reconciled_at.is_some_and(|at| at.elapsed() < interval) {
            return Ok(false);
        }
        self.reconciled_at = Some(Instant::now());
        let ids: Vec<Id> = self.streams.keys().cloned().collect();
        let mut put = false;
        for id in ids {
            put |= self.reconcile_one(&id).await?;
        }
        Ok(put)
    }

    async fn reconcile_one(&mut self, id: &Id) -> Result<bool, sqlx::Error> {
        let Some(stream) = self
            .streams
            .get(id)
            .filter(|stream| !stream.is_stopped() && stream.cursor.n > 0)
        else {
            return Ok(false);
        };
        let redis = match self.operate.views.snapshot(id).await {
            Ok(redis) => redis,
            Err(error) => {
                debug!(jackpot_id = %id, %error, "not reconciled: it can't be read");
                return Ok(false);
            }
        };
        if redis.mark == stream.mark() {
            let report = compare(&sides::of_snapshot(&redis), &sides::joined(&stream.books));
            let at = (stream.cursor.n, redis.now_ms);
            self.ledger.sql.writing(self.save(id, at, &report)).await?;
            self.judge(id, at.0, &report).await;
            return Ok(false);
        }
        let checkpoint = self.operate.checkpoint(id).await;
        if let Err(error) = &checkpoint {
            debug!(jackpot_id = %id, %error, "no checkpoint: the next one will do");
        }
        Ok(checkpoint.is_ok())
    }

    async fn save(&self, id: &Id, at: (u64, i64), report: &Report) -> Result<(), sqlx::Error> {
        let mut tx = self.ledger.sql.begin().await?;
        store::save(&mut tx, id, at, report).await?;
        tx.commit().await
    }

    /// Suspends a jackpot on which Redis and the ledger do not agree.
    pub(super) async fn judge(&self, id: &Id, n: u64, report: &Report) {
        if report.clean {
            return;
        }
        let faults = report.faults().join("; ");
        error!(jackpot_id = %id, event = n, faults, "Redis and the ledger do not agree");
        self.metrics.ledger.mismatch(id.as_str());
        let stopped = self.streams.get(id).and_then(|stream| stream.books.status);
        if !matches!(stopped, Some(Status::Suspended | Status::Closed)) {
            self.suspend(id, format!("Redis and the ledger do not agree at event {n}: {faults}"))
                .await;
        }
    }
}
