//! Reports how far the ledger lags, independently of the rounds: a round that waits for a frozen database reports
//! nothing. Every instance reports all streams, also the streams that other instances read.

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

/// Pause between two looks.
const EVERY: Duration = Duration::from_secs(1);
/// Streams whose last event is looked up each second: about a millisecond of Redis' time.
const LOOKS: usize = 200;

/// What is looked at, and where it is reported.
pub(super) struct Lag<K: Kind> {
    kind: K,
    store: Store,
    metrics: Arc<Metrics>,
}

/// Reports the lag of all subjects that this instance knows.
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

    /// Reports for as long as it is polled.
    pub(super) async fn tell(&self) {
        loop {
            tell(&self.kind, &self.metrics);
            tokio::time::sleep(EVERY).await;
        }
    }

    /// Asks Redis for the last events, some each second: this instance does not see what others write. Runs for as
    /// long as it is polled.
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

    /// Number of the last event in Redis. This is not a script's answer, so it must not decide anything.
    async fn last_n(&self, known: &K::Known) -> Option<u64> {
        let get = redis::cmd("HGET").arg(known.stream().state).arg("n").to_owned();
        let n = self.store.run(&get).await.ok()?;
        redis::from_redis_value(n).ok()
    }
}
