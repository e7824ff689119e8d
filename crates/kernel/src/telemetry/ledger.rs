//! Metrics of the ledger.

use jackpot_core::ids::Id;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;

use super::declared::{Fixed, Named, metrics};

metrics! {
    /// Gauges and counters of the ledger.
    pub struct LedgerMetrics {
        lag: Family<Named, Gauge> = "ledger_lag_events", "Events that SQL does not have yet";
        stopped: Family<Named, Gauge> = "ledger_stopped", "1 when an event can't be applied";
        mismatches: Family<Named, Counter> = "reconciliation_mismatches",
            "Comparisons in which Redis and the ledger did not agree";
        restores: Family<Named, Counter> = "ledger_restores", "Times Redis was rebuilt";
        events: Counter = "ledger_events", "Events committed by this instance";
        up: Gauge = "ledger_up", "1 when SQL answers";
        refused: Family<Fixed<2>, Gauge> = "refused_subjects",
            "Jackpots, coupons and rooms that this instance refuses";
        emergency: Gauge = "emergency_stopped", "1 while the emergency stop holds everything";
        unreached: Gauge = "emergency_unreached_subjects",
            "Jackpots, coupons and rooms that do not obey the last decision about the emergency stop yet";
        in_transit: Gauge = "transfers_in_transit",
            "Transfers that a jackpot gave and no other has received yet, as the ledger has them";
    }
}

impl LedgerMetrics {
    /// The lag of SQL for one subject; `what`: its kind.
    pub fn lag(&self, what: &'static str, id: &Id, events: u64) {
        self.lag
            .get_or_create_owned(&label(what, id))
            .set(i64::try_from(events).unwrap_or(i64::MAX));
    }

    /// Whether its stream can't go on.
    pub fn stopped(&self, what: &'static str, id: &Id, stopped: bool) {
        self.stopped
            .get_or_create_owned(&label(what, id))
            .set(i64::from(stopped));
    }

    /// Counts a mismatch of Redis and the ledger.
    pub fn mismatch(&self, what: &'static str, id: &Id) {
        self.mismatches.get_or_create_owned(&label(what, id)).inc();
    }

    /// Counts a restore of Redis.
    pub fn restored(&self, what: &'static str, id: &Id) {
        self.restores.get_or_create_owned(&label(what, id)).inc();
    }

    /// Counts committed events.
    pub fn committed(&self, events: u64) {
        self.events.inc_by(events);
    }

    /// Sets how many subjects of a kind are refused for a reason.
    pub fn refused(&self, kind: &'static str, reason: &'static str, count: usize) {
        self.refused
            .get_or_create_owned(&[("kind", kind), ("reason", reason)])
            .set(i64::try_from(count).unwrap_or(i64::MAX));
    }

    /// Whether the emergency stop holds everything.
    pub fn emergency(&self, stopped: bool) {
        self.emergency.set(i64::from(stopped));
    }

    /// Transfers between two jackpots now.
    pub fn in_transit(&self, count: usize) {
        self.in_transit.set(i64::try_from(count).unwrap_or(i64::MAX));
    }

    /// Sets how many subjects do not obey the last decision about it yet.
    pub fn emergency_unreached(&self, count: usize) {
        self.unreached.set(i64::try_from(count).unwrap_or(i64::MAX));
    }

    /// Whether SQL answers.
    pub fn up(&self, up: bool) {
        self.up.set(i64::from(up));
    }
}

fn label(what: &'static str, id: &Id) -> Named {
    [(what, id.to_string())]
}
