//! Tells how far the ledger is behind, beside the rounds: one that waits for a frozen database tells nothing.

use std::sync::Arc;
use std::time::Duration;

use super::Projector;
use super::kind::Kind;
use crate::ledger::progress::Progress;
use crate::telemetry::Metrics;

/// Between two looks.
const EVERY: Duration = Duration::from_secs(1);

/// What is looked at, and who is told.
pub(super) struct Lag<K: Kind> {
    kind: K,
    progress: Arc<Progress>,
    metrics: Arc<Metrics>,
}

impl<K: Kind> Lag<K> {
    pub(super) fn of(projector: &Projector<K>) -> Self {
        Self {
            kind: projector.kind.clone(),
            progress: Arc::clone(K::progress(&projector.ledger)),
            metrics: Arc::clone(&projector.metrics),
        }
    }

    /// For as long as it is polled.
    pub(super) async fn tell(self) {
        loop {
            for id in self.progress.ids() {
                let events = self.kind.registry().known(&id).backlog();
                self.progress.set_lag(&id, events);
                self.metrics.ledger.lag(K::TABLES.what, &id, events);
            }
            tokio::time::sleep(EVERY).await;
        }
    }
}
