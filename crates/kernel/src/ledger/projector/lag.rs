//! Reports how far the ledger lags, independently of the rounds: a round that waits for a frozen database reports
//! nothing. Every instance reports all streams, also the streams that other instances read.

use std::sync::Arc;
use std::time::Duration;

use super::Projector;
use crate::ledger::kind::Kind;
use crate::subject::Glance;
use crate::telemetry::Metrics;

/// Pause between two looks.
const EVERY: Duration = Duration::from_secs(1);

/// What is looked at, and where it is reported.
pub(super) struct Lag<K: Kind> {
    kind: K,
    metrics: Arc<Metrics>,
}

/// Reports the lag of the subjects that this instance knows, where it has changed.
pub(super) fn tell<K: Kind>(kind: &K, metrics: &Metrics) {
    for known in kind.registry().each() {
        if let Some(lag) = known.news_of_lag() {
            metrics.ledger.lag(K::NAME.as_str(), known.id(), lag);
        }
    }
}

impl<K: Kind> Lag<K> {
    pub(super) fn of(projector: &Projector<K>) -> Self {
        Self {
            kind: projector.kind.clone(),
            metrics: Arc::clone(&projector.metrics),
        }
    }

    /// Reports for as long as it is polled.
    pub(super) async fn tell(&self) {
        loop {
            tell(&self.kind, &self.metrics);
            tokio::time::sleep(EVERY).await;
        }
    }

    /// Takes the last events in Redis from the shared reading of marks: this instance does not see what others write.
    /// A glance must not decide anything, so it counts only here. Runs for as long as it is polled.
    pub(super) async fn look(&self) {
        let registry = self.kind.registry();
        loop {
            tokio::time::sleep(EVERY).await;
            for (id, glance) in &registry.glances().await.value {
                if let Glance::At(mark) = glance
                    && registry.is_used(id)
                {
                    registry.known(id).set_redis_n(mark.n());
                }
            }
        }
    }
}
