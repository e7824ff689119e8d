//! Tells how far the ledger is behind, beside the rounds: one that waits for a frozen database tells nothing. Every
//! instance tells it of all streams, whoever reads them.

use std::ops::Bound;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt, stream as futures};
use jackpot_core::ids::Id;

use super::{AT_ONCE, Projector};
use crate::ledger::kind::Kind;
use crate::store::Store;
use crate::subject::Subject;
use crate::telemetry::Metrics;

/// Between two looks.
const EVERY: Duration = Duration::from_secs(1);
/// Streams whose last event is asked for each second: about a millisecond of Redis' time.
const LOOKS: usize = 200;

/// What is looked at, and who is told.
pub(super) struct Lag<K: Kind> {
    kind: K,
    store: Store,
    metrics: Arc<Metrics>,
}

/// Tells it of all that this instance knows.
pub(super) fn tell<K: Kind>(kind: &K, metrics: &Metrics) {
    for known in kind.registry().each() {
        metrics.ledger.lag(K::NAME.as_str(), known.id(), known.lag());
    }
}

impl<K: Kind> Lag<K> {
    pub(super) fn of(projector: &Projector<K>) -> Self {
        Self {
            kind: projector.kind.clone(),
            store: projector.store.clone(),
            metrics: Arc::clone(&projector.metrics),
        }
    }

    /// For as long as it is polled.
    pub(super) async fn tell(&self) {
        loop {
            tell(&self.kind, &self.metrics);
            tokio::time::sleep(EVERY).await;
        }
    }

    /// Asks Redis for the last events, some each second: what others write, this instance has not heard of. For as long
    /// as it is polled.
    pub(super) async fn look(&self) {
        let mut looked_to: Option<Id> = None;
        loop {
            tokio::time::sleep(EVERY).await;
            let mut all = self.kind.registry().each();
            all.sort_unstable_by(|one, other| one.id().cmp(other.id()));
            let from = looked_to.take().map_or(Bound::Unbounded, Bound::Excluded);
            let first = all.partition_point(|known| match &from {
                Bound::Excluded(to) => known.id() <= to,
                _ => false,
            });
            let turn = &all[first..all.len().min(first + LOOKS)];
            looked_to = turn
                .last()
                .map(|known| known.id().clone())
                .filter(|_| first + LOOKS < all.len());
            futures::iter(turn)
                .for_each_concurrent(AT_ONCE, async |known| {
                    if let Some(n) = self.last_n(known).await {
                        known.set_redis_n(n);
                    }
                })
                .await;
        }
    }

    /// Number of its last event in Redis. Not a script's answer: nothing is decided by it.
    async fn last_n(&self, known: &K::Known) -> Option<u64> {
        let get = redis::cmd("HGET").arg(known.stream().state).arg("n").to_owned();
        let n = self.store.run(&get).await.ok()?;
        redis::from_redis_value(n).ok()
    }
}
