//! Metrics of pools and payouts, as the ledger's books have them. The instance that projects a jackpot shows them.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use jackpot_core::currency::Currency;
use jackpot_core::ids::Id;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;

use super::declared::{MAX_LABELS, metrics};
use std::sync::atomic::Ordering;

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct TierLabels {
    jackpot: String,
    tier: String,
    currency: String,
}

/// What is shown of a tier, in minor units of its currency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TierShown<'a> {
    pub tier: &'a Id,
    pub currency: Currency,
    pub pool: i64,
    /// Paid so far.
    pub paid: i64,
    /// Payouts so far.
    pub payouts: i64,
    /// Given back so far for cancelled rounds.
    pub reversed: i64,
}

metrics! {
    /// Gauges and counters of all tiers.
    pub struct PoolMetrics {
        pool: Family<TierLabels, Gauge> = "pool_minor_units",
            "Pool of a tier, as the ledger has it, by the instance that projects the jackpot";
        payouts: Family<TierLabels, Counter> = "payouts",
            "Payouts of a tier in the ledger, by the instance that projects the jackpot";
        paid: Family<TierLabels, Counter> = "paid_minor_units",
            "Amount of the payouts of a tier in the ledger, by the instance that projects the jackpot";
        reversed: Family<TierLabels, Counter> = "reversed_minor_units",
            "Contributions that cancelled rounds gave back, in the ledger, by the instance that projects the jackpot";
    }
    beside {
        /// The labels of each jackpot that is shown. Jackpots beyond the bound are not, because a sum over several currencies says
        /// nothing.
        shown: Mutex<HashMap<Id, Vec<TierLabels>>>,
    }
}

impl PoolMetrics {
    /// Shows a jackpot as its books are now.
    pub fn show<'a>(&self, jackpot: &Id, tiers: impl Iterator<Item = TierShown<'a>>) {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        if !shown.contains_key(jackpot) && shown.len() >= MAX_LABELS {
            return;
        }
        let before = shown.entry(jackpot.clone()).or_default();
        let mut now = Vec::with_capacity(before.len());
        for tier in tiers {
            let labels = TierLabels {
                jackpot: jackpot.to_string(),
                tier: tier.tier.to_string(),
                currency: tier.currency.to_string(),
            };
            self.pool.get_or_create_owned(&labels).set(tier.pool);
            let total = |of: &Family<TierLabels, Counter>, value: i64| {
                let counter = of.get_or_create_owned(&labels);
                counter.inner().store(value.unsigned_abs(), Ordering::Relaxed);
            };
            total(&self.paid, tier.paid);
            total(&self.payouts, tier.payouts);
            total(&self.reversed, tier.reversed);
            now.push(labels);
        }
        for gone in before.iter().filter(|labels| !now.contains(labels)) {
            self.remove(gone);
        }
        *before = now;
    }

    /// Another instance shows it from now on.
    pub fn hide(&self, jackpot: &Id) {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        for labels in shown.remove(jackpot).unwrap_or_default() {
            self.remove(&labels);
        }
    }

    fn remove(&self, labels: &TierLabels) {
        self.pool.remove(labels);
        self.paid.remove(labels);
        self.payouts.remove(labels);
        self.reversed.remove(labels);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry::Metrics;

    fn id(text: &str) -> Id {
        Id::parse(text).expect("an id")
    }

    #[test]
    fn only_the_tiers_of_shown_jackpots_are_there() {
        let metrics = Metrics::new();
        let (spring, grand, mini) = (id("spring"), id("grand"), id("mini"));
        let tier = |tier| TierShown {
            tier,
            currency: Currency::parse("EUR").expect("a code"),
            pool: 5,
            paid: 7,
            payouts: 1,
            reversed: 3,
        };
        metrics.pools.show(&spring, [tier(&grand), tier(&mini)].into_iter());
        metrics.pools.show(&spring, [tier(&grand)].into_iter());
        let text = metrics.encode().expect("text");
        let labels = "{jackpot=\"spring\",tier=\"grand\",currency=\"EUR\"}";
        for line in [
            format!("jackpot_pool_minor_units{labels} 5"),
            format!("jackpot_paid_minor_units_total{labels} 7"),
            format!("jackpot_payouts_total{labels} 1"),
            format!("jackpot_reversed_minor_units_total{labels} 3"),
        ] {
            assert!(text.contains(&line), "{line} is missing in\n{text}");
        }
        assert!(!text.contains("mini"), "{text}");
        metrics.pools.hide(&spring);
        assert!(!metrics.encode().expect("text").contains("spring"));
    }
}
