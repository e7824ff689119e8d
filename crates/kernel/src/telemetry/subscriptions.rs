//! Metrics of subscriptions.

use std::sync::{Mutex, PoisonError};

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;

use super::declared::{Named, metrics};

metrics! {
    /// Counters and gauges of subscriptions.
    pub struct SubscriptionMetrics {
        delivered: Family<Named, Counter> = "subscription_delivered",
            "Events that this instance delivered to a subscription";
        failures: Family<Named, Counter> = "subscription_failures", "Tries of this instance that failed";
        lag: Family<Named, Gauge> = "subscription_lag_events",
            "Events of the ledger that a subscription has not passed yet, of any type";
        alarm: Family<Named, Gauge> = "subscription_alarm", "1 when an event of a subscription has failed for 24 hours";
    }
    beside {
        /// The subscriptions with gauges.
        shown: Mutex<Vec<String>>,
    }
}

impl SubscriptionMetrics {
    /// Counts a delivery.
    pub fn delivered(&self, subscription: &str) {
        self.delivered.get_or_create_owned(&label(subscription)).inc();
    }

    /// Counts a failed try.
    pub fn failed(&self, subscription: &str) {
        self.failures.get_or_create_owned(&label(subscription)).inc();
    }

    /// Shows lag and alarm of all subscriptions. Those that are gone are hidden.
    pub fn show(&self, all: Vec<(String, i64, bool)>) {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        for gone in shown.iter().filter(|id| all.iter().all(|(now, ..)| now != *id)) {
            self.delivered.remove(&label(gone));
            self.failures.remove(&label(gone));
            self.lag.remove(&label(gone));
            self.alarm.remove(&label(gone));
        }
        for (id, lag, alarm) in &all {
            self.lag.get_or_create_owned(&label(id)).set(*lag);
            self.alarm.get_or_create_owned(&label(id)).set(i64::from(*alarm));
        }
        *shown = all.into_iter().map(|(id, ..)| id).collect();
    }
}

fn label(subscription: &str) -> Named {
    [("subscription", subscription.to_owned())]
}
