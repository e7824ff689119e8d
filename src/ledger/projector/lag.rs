//! Tells how far the ledger is behind, beside the rounds: one that waits for a frozen database tells nothing.

use std::sync::Arc;
use std::time::Duration;

use super::Projector;
use crate::jackpot::view::Views;
use crate::ledger::progress::Progress;
use crate::telemetry::Metrics;

/// Between two looks.
const EVERY: Duration = Duration::from_secs(1);

/// What is looked at, and who is told.
pub(super) struct Lag {
    views: Arc<Views>,
    progress: Arc<Progress>,
    metrics: Arc<Metrics>,
}

impl Lag {
    pub(super) fn of(projector: &Projector) -> Self {
        Self {
            views: Arc::clone(&projector.operate.views),
            progress: Arc::clone(&projector.ledger.progress),
            metrics: Arc::clone(&projector.metrics),
        }
    }

    /// For as long as it is polled.
    pub(super) async fn tell(self) {
        loop {
            for id in self.progress.ids() {
                let events = self.views.known(&id).backlog();
                self.progress.set_lag(&id, events);
                self.metrics.ledger.lag(id.as_str(), events);
            }
            tokio::time::sleep(EVERY).await;
        }
    }
}
