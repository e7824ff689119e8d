//! Turns batches into rows, and moves streams on.

use futures_util::future;
use jackpot_core::ids::Id;
use tracing::debug;

use super::batch::Batch;
use super::write::{self, WriteError};
use super::{Projector, ahead};
use crate::ledger::kind::{Folded, Kind};
use crate::sql::is_unavailable;
use crate::subject::LedgerView;

impl<K: Kind> Projector<K> {
    /// Commits the batches: all at once or, when one is at fault, each separately.
    pub(super) async fn commit(&mut self, batches: Vec<(Batch<K>, i64)>) -> Result<(), sqlx::Error> {
        // A batch may have stopped at its first event.
        let whole = batches.iter().filter(|(batch, _)| has_rows(batch));
        let whole: Vec<(&Batch<K>, i64)> = whole.map(|(batch, token)| (batch, *token)).collect();
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
                let id = whole[0].0.id.clone();
                self.not_committed(&id, error).await
            }
            Err(error) => {
                debug!(%error, "the streams were not written in one commit; trying each by itself");
                for (batch, token) in batches.into_iter().filter(|(batch, _)| has_rows(batch)) {
                    let id = batch.id.clone();
                    match write::commit(&self.ledger.sql, &[(&batch, token)]).await {
                        Ok(()) => self.advance_all(vec![(batch, token)]).await,
                        Err(error) => self.not_committed(&id, error).await?,
                    }
                }
                Ok(())
            }
        }
    }

    pub async fn not_committed(&mut self, id: &Id, error: WriteError) -> Result<(), sqlx::Error> {
        match error {
            WriteError::Moved(_) => {
                debug!(what = K::NAME.as_str(), %id, "another instance projects this stream now");
                self.drop_stream(id);
                Ok(())
            }
            WriteError::Sql(error) if is_unavailable(&error) => Err(error),
            WriteError::Contradicts(reason) => {
                self.stop(id, &reason).await;
                Ok(())
            }
            // Its rows contradict rows that are there: waiting does not help.
            WriteError::Sql(error) => {
                let reason = format!("the database refuses its next events: {error}");
                self.stop(id, &reason).await;
                Ok(())
            }
        }
    }

    async fn advance_all(&mut self, batches: Vec<(Batch<K>, i64)>) {
        for (mut batch, _) in batches {
            let (id, stop, report) = (batch.id.clone(), batch.stop.take(), batch.report.take());
            self.metrics.ledger.committed(batch.events.len() as u64);
            let Some(stream) = self.streams.get_mut(&id) else {
                continue;
            };
            let moved = !batch.events.is_empty();
            stream.advance(batch, self.settings.trim_margin_events);
            let (mark, n, status) = (stream.mark(), stream.cursor.n, stream.books.status());
            let known = self.kind.registry().observe(&id, mark);
            known.set_ledger_n(Some(n));
            if moved {
                self.ledger.news.committed(K::NAME, &id);
                K::show(&self.metrics, &id, Some(&stream.books));
                known.set_ledger_view(LedgerView {
                    status: status.to_owned(),
                    stopped: String::new(),
                });
            }
            if moved && stop.is_none() {
                self.metrics.ledger.stopped(K::NAME.as_str(), &id, false);
            }
            if let Some((n, at_ms, report)) = report {
                self.judge_at(&id, n, at_ms, report).await;
            }
            if let Some(stop) = stop {
                self.stop(&id, &stop.to_string()).await;
            }
        }
    }
}

fn has_rows<K: Kind>(batch: &Batch<K>) -> bool {
    !batch.events.is_empty()
}
