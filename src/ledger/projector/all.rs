//! The projectors of an instance: one for each kind of streams, side by side on one thread. They share the database's
//! writer, which serves whoever came first: none waits for more than one commit of each other.

use std::sync::Arc;

use futures_util::future;

use super::Projector;
use super::coupons::Coupons;
use super::jackpots::Jackpots;
use super::rooms::Rooms;
use crate::jackpot::operate::Operate;
use crate::ledger::Ledger;
use crate::settings;
use crate::stopping::Stopping;
use crate::store::Store;
use crate::telemetry::Metrics;
use crate::{coupon, room};

/// One for jackpots, one for coupons and one for rooms.
pub struct Projectors {
    jackpots: Projector<Jackpots>,
    coupons: Projector<Coupons>,
    rooms: Projector<Rooms>,
}

/// What an instance knows of all that has a stream.
#[derive(Debug, Clone, Copy)]
pub struct Known<'a> {
    /// The jackpots.
    pub operate: &'a Operate,
    /// The coupons.
    pub coupons: &'a Arc<coupon::known::Registry>,
    /// The rooms.
    pub rooms: &'a Arc<room::known::Registry>,
}

impl Projectors {
    /// As [`Projector::of`].
    pub fn new(
        ledger: &Ledger,
        store: &Store,
        known: Known<'_>,
        metrics: &Arc<Metrics>,
        settings: &settings::Ledger,
        start: &(String, bool),
    ) -> Self {
        let (ledger, store, metrics) = (|| ledger.clone(), || store.clone(), || Arc::clone(metrics));
        let jackpots = Jackpots {
            operate: known.operate.clone(),
        };
        let coupons = Coupons {
            registry: Arc::clone(known.coupons),
            store: store(),
        };
        let rooms = Rooms {
            registry: Arc::clone(known.rooms),
            store: store(),
            secret: known.operate.views.secrets.current().clone(),
        };
        Self {
            jackpots: Projector::of(ledger(), store(), jackpots, metrics(), settings.clone(), start.clone()),
            coupons: Projector::of(ledger(), store(), coupons, metrics(), settings.clone(), start.clone()),
            rooms: Projector::of(ledger(), store(), rooms, metrics(), settings.clone(), start.clone()),
        }
    }

    /// [`Projector::run`] of all.
    pub async fn run(self, stopping: Stopping) {
        let jackpots = Box::pin(self.jackpots.run(stopping.clone()));
        let coupons = Box::pin(self.coupons.run(stopping.clone()));
        future::join3(jackpots, coupons, Box::pin(self.rooms.run(stopping))).await;
    }

    /// [`Projector::catch_up`] of all.
    pub async fn catch_up(&mut self) {
        let (jackpots, coupons) = (self.jackpots.catch_up(), self.coupons.catch_up());
        future::join3(Box::pin(jackpots), Box::pin(coupons), Box::pin(self.rooms.catch_up())).await;
    }

    /// [`Projector::finish`] of all.
    pub async fn finish(self) {
        let (jackpots, coupons) = (self.jackpots.finish(), self.coupons.finish());
        future::join3(Box::pin(jackpots), Box::pin(coupons), Box::pin(self.rooms.finish())).await;
    }
}
