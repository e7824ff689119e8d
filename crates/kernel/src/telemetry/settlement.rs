//! Metrics of payouts that are not settled, as the ledger has them. Every instance shows all of them.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;

use super::declared::{MAX_LABELS, metrics};

/// Payouts of one kind: the jackpot, its currency, the state, and their age: `hour`, `day`, `week` or `older`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct UnsettledLabels {
    pub jackpot: String,
    pub currency: String,
    pub state: String,
    pub age: String,
}

/// How many there are, and their amount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsettled {
    pub labels: UnsettledLabels,
    pub payouts: i64,
    /// Minor units.
    pub amount: i64,
}

metrics! {
    /// Gauges of payouts that are not settled.
    pub struct SettlementMetrics {
        payouts: Family<UnsettledLabels, Gauge> = "unsettled_payouts",
            "Tracked payouts that are neither settled nor void, by state and age, as the ledger has them";
        amount: Family<UnsettledLabels, Gauge> = "unsettled_minor_units",
            "Amount of the tracked payouts that are neither settled nor void, as the ledger has them";
    }
    beside {
        shown: Mutex<HashSet<UnsettledLabels>>,
    }
}

impl SettlementMetrics {
    /// Shows what there is now.
    pub fn show(&self, all: Vec<Unsettled>) {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        let mut now = HashSet::with_capacity(all.len());
        for one in all.into_iter().take(MAX_LABELS) {
            self.payouts.get_or_create_owned(&one.labels).set(one.payouts);
            self.amount.get_or_create_owned(&one.labels).set(one.amount);
            now.insert(one.labels);
        }
        for gone in shown.difference(&now) {
            self.payouts.remove(gone);
            self.amount.remove(gone);
        }
        *shown = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry::Metrics;

    #[test]
    fn what_is_settled_goes() {
        let metrics = Metrics::new();
        let one = |state: &str, payouts| Unsettled {
            labels: UnsettledLabels {
                jackpot: "spring".to_owned(),
                currency: "EUR".to_owned(),
                state: state.to_owned(),
                age: "day".to_owned(),
            },
            payouts,
            amount: 100 * payouts,
        };
        let labels = |state: &str| format!("{{jackpot=\"spring\",currency=\"EUR\",state=\"{state}\",age=\"day\"}}");
        metrics.settlement.show(vec![one("due", 2), one("held", 1)]);
        metrics.settlement.show(vec![one("due", 3)]);
        let text = metrics.encode().expect("text");
        assert!(
            text.contains(&format!("jackpot_unsettled_payouts{} 3", labels("due"))),
            "{text}"
        );
        assert!(text.contains(&format!("jackpot_unsettled_minor_units{} 300", labels("due"))));
        assert!(!text.contains(&labels("held")));
    }
}
