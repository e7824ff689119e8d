//! What the ledger tells of itself.

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use super::metrics::JackpotLabel;

/// Gauges and counters of the ledger.
#[derive(Default)]
pub struct LedgerMetrics {
    lag: Family<JackpotLabel, Gauge>,
    stopped: Family<JackpotLabel, Gauge>,
    mismatches: Family<JackpotLabel, Counter>,
    restores: Family<JackpotLabel, Counter>,
    events: Counter,
    up: Gauge,
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
    }

    /// How far SQL is behind Redis with a jackpot.
    pub fn lag(&self, jackpot: &str, events: u64) {
        self.lag
            .get_or_create_owned(&JackpotLabel::new(jackpot))
            .set(i64::try_from(events).unwrap_or(i64::MAX));
    }

    /// Whether a jackpot's stream can't go on.
    pub fn stopped(&self, jackpot: &str, stopped: bool) {
        self.stopped
            .get_or_create_owned(&JackpotLabel::new(jackpot))
            .set(i64::from(stopped));
    }

    /// Redis and the ledger did not agree.
    pub fn mismatch(&self, jackpot: &str) {
        self.mismatches.get_or_create_owned(&JackpotLabel::new(jackpot)).inc();
    }

    /// Redis was rebuilt.
    pub fn restored(&self, jackpot: &str) {
        self.restores.get_or_create_owned(&JackpotLabel::new(jackpot)).inc();
    }

    /// Events were committed.
    pub fn committed(&self, events: u64) {
        self.events.inc_by(events);
    }

    /// Whether SQL answers.
    pub fn up(&self, up: bool) {
        self.up.set(i64::from(up));
    }
}
