//! Metrics of the ledger.

use jackpot_core::ids::Id;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

/// `jackpot`, `coupon` or `room`, and its id.
type StreamLabel = [(&'static str, String); 1];

/// Gauges and counters of the ledger.
#[derive(Default)]
pub struct LedgerMetrics {
    lag: Family<StreamLabel, Gauge>,
    stopped: Family<StreamLabel, Gauge>,
    mismatches: Family<StreamLabel, Counter>,
    restores: Family<StreamLabel, Counter>,
    events: Counter,
    up: Gauge,
    refused: Family<RefusedLabels, Gauge>,
    emergency: Gauge,
    unreached: Gauge,
    in_transit: Gauge,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RefusedLabels {
    kind: &'static str,
    reason: &'static str,
}

impl LedgerMetrics {
    pub(super) fn register(&self, registry: &mut Registry) {
        registry.register(
            "ledger_lag_events",
            "Events that SQL does not have yet",
            self.lag.clone(),
        );
        registry.register(
            "ledger_stopped",
            "1 when an event can't be applied",
            self.stopped.clone(),
        );
        registry.register(
            "reconciliation_mismatches",
            "Comparisons in which Redis and the ledger did not agree",
            self.mismatches.clone(),
        );
        registry.register("ledger_restores", "Times Redis was rebuilt", self.restores.clone());
        registry.register(
            "ledger_events",
            "Events committed by this instance",
            self.events.clone(),
        );
        registry.register("ledger_up", "1 when SQL answers", self.up.clone());
        registry.register(
            "refused_subjects",
            "Jackpots, coupons and rooms that this instance refuses",
            self.refused.clone(),
        );
        registry.register(
            "emergency_stopped",
            "1 while the emergency stop holds everything",
            self.emergency.clone(),
        );
        registry.register(
            "emergency_unreached_subjects",
            "Jackpots, coupons and rooms that do not obey the last decision about the emergency stop yet",
            self.unreached.clone(),
        );
        registry.register(
            "transfers_in_transit",
            "Transfers that a jackpot gave and no other has received yet, as the ledger has them",
            self.in_transit.clone(),
        );
    }

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
            .get_or_create_owned(&RefusedLabels { kind, reason })
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

fn label(what: &'static str, id: &Id) -> StreamLabel {
    [(what, id.to_string())]
}
