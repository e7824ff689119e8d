//! Metrics of messages that come in from a broker.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;

use super::declared::{Fixed, Named, metrics};

/// What came of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageResult {
    /// 2xx, also for a repeat.
    Taken,
    /// 4xx.
    Refused,
    /// No request.
    Unreadable,
}

metrics! {
    /// Counters and gauges of the messages of this instance.
    pub struct IntakeMetrics {
        messages: Family<Fixed<1>, Counter> = "intake_messages",
            "Messages of a broker that this instance is done with, by result";
        /// Tries of a message after the first.
        pub retries: Counter = "intake_retries",
            "Tries of this instance to take a message after the first, and to send its answer";
        /// Positions that the broker did not have any more, and messages to which it took no answer.
        pub gaps: Counter = "intake_gaps",
            "Times that the broker did not have the next message any more, or took no answer to one";
        broker_up: Family<Named, Gauge> = "intake_broker_up",
            "1 while this instance can read the topic and all its lanes that it has";
        /// By lane: a partition of Kafka, `0` for NATS.
        lag: Family<Named, Gauge> = "intake_lag_messages",
            "Messages of a lane that are not done, with those that the broker says it has";
        age: Family<Named, Gauge> = "intake_age_seconds",
            "Age of the oldest message of a lane that its instance works on, or how long the lane stands while the broker has some";
        /// Messages that wait for another try, with all that come after them.
        pub retrying: Gauge = "intake_retrying_messages", "Messages of this instance that wait for another try";
    }
    beside {
        /// What could not be read at the last try: lanes, or [`IntakeMetrics::LANES`].
        unread: Mutex<BTreeSet<String>>,
    }
}

impl IntakeMetrics {
    /// In the place of a lane: the list of a topic's lanes.
    pub const LANES: &str = "";

    /// Counts a message that is done.
    pub fn done(&self, result: MessageResult) {
        let result = match result {
            MessageResult::Taken => "taken",
            MessageResult::Refused => "refused",
            MessageResult::Unreadable => "unreadable",
        };
        self.messages.get_or_create_owned(&[("result", result)]).inc();
    }

    /// Shows whether a lane can be read. Returns whether that is news of the topic.
    pub fn can_read(&self, topic: &str, lane: &str, can: bool) -> bool {
        let mut unread = self.unread.lock().unwrap_or_else(PoisonError::into_inner);
        if can {
            unread.remove(lane);
        } else if !unread.contains(lane) {
            unread.insert(lane.to_owned());
        }
        let up = i64::from(unread.is_empty());
        let gauge = self.broker_up.get_or_create_owned(&[("topic", topic.to_owned())]);
        gauge.set(up) != up
    }

    /// Shows a lane of this instance.
    pub fn show(&self, lane: &str, lag: u64, age_s: i64) {
        let label = [("lane", lane.to_owned())];
        let lag = i64::try_from(lag).unwrap_or(i64::MAX);
        self.lag.get_or_create_owned(&label).set(lag);
        self.age.get_or_create_owned(&label).set(age_s);
    }

    /// Another instance has the lane, or none.
    pub fn hide(&self, topic: &str, lane: &str) {
        self.can_read(topic, lane, true);
        let label = [("lane", lane.to_owned())];
        self.lag.remove(&label);
        self.age.remove(&label);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_topic_can_be_read_while_all_its_lanes_can() {
        let metrics = IntakeMetrics::default();
        let up = || {
            metrics
                .broker_up
                .get_or_create_owned(&[("topic", "t".to_owned())])
                .get()
        };
        assert!(metrics.can_read("t", "0", true), "news: it was not looked at yet");
        assert!(metrics.can_read("t", "1", false));
        for _ in 0..2 {
            assert!(!metrics.can_read("t", "0", true), "another lane says nothing of it");
            assert_eq!(up(), 0);
        }
        metrics.hide("t", "1");
        assert_eq!(up(), 1, "the lane is another instance's");
        metrics.can_read("t", IntakeMetrics::LANES, false);
        assert_eq!(up(), 0);
        assert!(metrics.can_read("t", IntakeMetrics::LANES, true));
    }
}
