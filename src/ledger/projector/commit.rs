//! Batches become rows, and streams move on.

use futures_util::future;
use tracing::debug;

use super::batch::Batch;
use super::write::{self, WriteError};
use super::{Projector, ahead};
use crate::ids::Id;
use crate::ledger::sql::is_unavailable;

impl Projector {
    /// Commits the batches, all at once or, when one is at fault, each by itself.
    pub(super) async fn commit(&mut self, batches: Vec<(Batch, i64)>) -> Result<(), sqlx::Error> {
        // One may have been stopped at its first event.
        let whole = batches.iter().filter(|(batch, _)| has_rows(batch));
        let whole: Vec<(&Batch, i64)> = whole.map(|(batch, token)| (batch, *token)).collect();
        if whole.is_empty() {
            self.advance_all(batches).await;
            return Ok(());
        }
        let looks = whole.iter().filter_map(|(batch, _)| self.look_ahead(batch)).collect();
        let written = write::commit(&self.ledger.sql, &whole);
        let (written, ahead) = future::join(written, ahead::read(&self.store, looks)).await;
        match written {
            Ok(()) => {
                self.advance_all(batches).await;
                self.keep_ahead(ahead);
                Ok(())
            }
            Err(WriteError::Sql(error)) if is_unavailable(&error) => Err(error),
            Err(error) if whole.len() == 1 => {
                let jackpot = whole[0].0.jackpot.clone();
                self.not_committed(&jackpot, error).await
            }
            Err(error) => {
                debug!(%error, "not committed together; trying each by itself");
                for (batch, token) in batches.into_iter().filter(|(batch, _)| has_rows(batch)) {
                    let jackpot = batch.jackpot.clone();
                    match write::commit(&self.ledger.sql, &[(&batch, token)]).await {
                        Ok(()) => self.advance_all(vec![(batch, token)]).await,
                        Err(error) => self.not_committed(&jackpot, error).await?,
                    }
                }
                Ok(())
            }
        }
    }

    pub(super) async fn not_committed(&mut self, jackpot: &Id, error: WriteError) -> Result<(), sqlx::Error> {
        match error {
            WriteError::Moved(_) => {
                debug!(jackpot_id = %jackpot, "another instance reads this jackpot's events now");
                self.drop_stream(jackpot);
                Ok(())
            }
            WriteError::Sql(error) if is_unavailable(&error) => Err(error),
            // Its rows contradict rows that are there: that is no passing state.
            WriteError::Sql(error) => {
                let reason = format!("the database refuses its next events: {error}");
                self.stop(jackpot, &reason).await;
                Ok(())
            }
        }
    }

    async fn advance_all(&mut self, batches: Vec<(Batch, i64)>) {
        for (mut batch, _) in batches {
            let (id, stop, report) = (batch.jackpot.clone(), batch.stop.take(), batch.rows.report.take());
            self.metrics.ledger.committed(batch.rows.events.len() as u64);
            let Some(stream) = self.streams.get_mut(&id) else {
                continue;
            };
            let moved = !batch.rows.events.is_empty();
            stream.advance(batch, self.settings.trim_margin_events);
            self.operate
                .views
                .learn(&id, stream.mark())
                .set_ledger_n(Some(stream.cursor.n));
            if moved && stop.is_none() {
                self.metrics.ledger.stopped(id.as_str(), false);
            }
            if let Some((n, _, report)) = report {
                self.judge(&id, n, &report).await;
            }
            if let Some(stop) = stop {
                self.stop(&id, &stop.to_string()).await;
            }
        }
    }
}

fn has_rows(batch: &Batch) -> bool {
    !batch.rows.events.is_empty()
}
