//! The projectors of an instance: one for each kind of streams, side by side on one thread. They share the database's
//! writer, which serves whoever came first: neither waits for more than one commit of the other.

use std::sync::Arc;

use futures_util::future;

use super::Projector;
use super::coupons::Coupons;
use super::jackpots::Jackpots;
use crate::coupon::known::Registry;
use crate::jackpot::operate::Operate;
use crate::ledger::Ledger;
use crate::settings;
use crate::stopping::Stopping;
use crate::store::Store;
use crate::telemetry::Metrics;

/// One for jackpots and one for coupons.
pub struct Projectors {
    jackpots: Projector<Jackpots>,
    coupons: Projector<Coupons>,
}

impl Projectors {
    /// As [`Projector::of`].
    pub fn new(
        ledger: &Ledger,
        store: &Store,
        (operate, registry): (&Operate, &Arc<Registry>),
        metrics: &Arc<Metrics>,
        settings: &settings::Ledger,
        start: &(String, bool),
    ) -> Self {
        let (ledger, store, metrics) = (|| ledger.clone(), || store.clone(), || Arc::clone(metrics));
        let jackpots = Jackpots {
            operate: operate.clone(),
        };
        let coupons = Coupons {
            registry: Arc::clone(registry),
            store: store(),
        };
        Self {
            jackpots: Projector::of(ledger(), store(), jackpots, metrics(), settings.clone(), start.clone()),
            coupons: Projector::of(ledger(), store(), coupons, metrics(), settings.clone(), start.clone()),
        }
    }

    /// [`Projector::run`] of both.
    pub async fn run(self, stopping: Stopping) {
        let jackpots = Box::pin(self.jackpots.run(stopping.clone()));
        future::join(jackpots, Box::pin(self.coupons.run(stopping))).await;
    }

    /// [`Projector::catch_up`] of both.
    pub async fn catch_up(&mut self) {
        future::join(Box::pin(self.jackpots.catch_up()), Box::pin(self.coupons.catch_up())).await;
    }

    /// [`Projector::finish`] of both.
    pub async fn finish(self) {
        future::join(Box::pin(self.jackpots.finish()), Box::pin(self.coupons.finish())).await;
    }
}
