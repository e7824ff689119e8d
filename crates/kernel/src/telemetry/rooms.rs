//! Metrics of rooms.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;

use super::declared::{Named, OfEach, REQUESTS, metrics};

jackpot_core::names! {
    /// The result of a join.
    pub enum JoinResult {
        /// Admitted at once.
        Admitted = "admitted",
        /// In the queue.
        Waiting = "waiting",
        /// The user had a ticket.
        Replayed = "replayed",
        /// Refused: unknown, suspended, or the store does not answer.
        Refused = "refused",
    }
}

/// The state of a room, and its counters since the last call.
#[derive(Debug, Clone, Copy, Default)]
pub struct RoomNews {
    /// Sessions now.
    pub active: u64,
    /// Waiting tickets now.
    pub waiting: u64,
    /// Sessions begun.
    pub admitted: u64,
    /// How many of them reached their end.
    pub expired: u64,
    /// Waiting tickets that were not seen in time.
    pub abandoned: u64,
    /// Tickets whose user left, in or waiting.
    pub left: u64,
    /// Sum of the waits of admitted users, ms.
    pub waited_ms: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct JoinLabels {
    room: String,
    result: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct EventLabels {
    room: String,
    event: &'static str,
}

/// The events of tickets that Redis counts.
const EVENTS: [&str; 4] = ["admitted", "expired", "abandoned", "left"];

/// The counters of one room, looked up once and then without a lock.
#[derive(Debug)]
pub struct OneRoom {
    joins: [Counter; JoinResult::ALL.len()],
    active: Gauge,
    waiting: Gauge,
    events: [Counter; EVENTS.len()],
    waited: Counter<f64, AtomicU64>,
}

impl OneRoom {
    /// Counts a join.
    pub fn join(&self, result: JoinResult) {
        self.joins[result as usize].inc();
    }

    /// Sets the state that this instance last saw, and adds what happened since.
    pub fn see(&self, news: &RoomNews) {
        self.active.set(i64::try_from(news.active).unwrap_or(i64::MAX));
        self.waiting.set(i64::try_from(news.waiting).unwrap_or(i64::MAX));
        let events = [news.admitted, news.expired, news.abandoned, news.left];
        for (counter, count) in self.events.iter().zip(events) {
            counter.inc_by(count);
        }
        #[expect(clippy::cast_precision_loss, reason = "a sum for a graph")]
        self.waited.inc_by(news.waited_ms as f64 / 1_000.0);
    }
}

metrics! {
    /// Counters and gauges of all rooms.
    pub struct RoomMetrics {
        joins: Family<JoinLabels, Counter> = "room_joins", "Joins of rooms by result";
        active: Family<Named, Gauge> = "room_active", "Sessions of a room";
        waiting: Family<Named, Gauge> = "room_waiting", "Tickets of a room that wait";
        events: Family<EventLabels, Counter> = "room_tickets",
            "What happened to tickets of a room, as counted in Redis by all instances";
        waited: Family<Named, Counter<f64, AtomicU64>> = "room_waited_seconds",
            "Time that users waited in the queue of a room before they were admitted, counted in Redis for all instances";
        combined: Histogram = "combined_room_visits",
            "Visits of rooms that went out in one script call", Histogram::new(REQUESTS);
    }
    beside {
        rooms: OfEach<OneRoom>,
    }
}

impl RoomMetrics {
    /// Records how many visits went out in one script call.
    pub fn combined(&self, visits: usize) {
        #[expect(clippy::cast_precision_loss, reason = "at most a thousand, for a graph")]
        self.combined.observe(visits as f64);
    }

    /// The counters of a room. Call it for rooms that exist: a name that a client invented must not become a label.
    pub fn room(&self, id: &str) -> Arc<OneRoom> {
        self.rooms.get(id, |label| self.make(label))
    }

    fn make(&self, id: &str) -> OneRoom {
        let label = [("room", id.to_owned())];
        let joins = |result: JoinResult| {
            self.joins.get_or_create_owned(&JoinLabels {
                room: id.to_owned(),
                result: result.as_str(),
            })
        };
        let events = |event| {
            let room = id.to_owned();
            self.events.get_or_create_owned(&EventLabels { room, event })
        };
        OneRoom {
            joins: JoinResult::ALL.map(joins),
            active: self.active.get_or_create_owned(&label),
            waiting: self.waiting.get_or_create_owned(&label),
            events: EVENTS.map(events),
            waited: self.waited.get_or_create_owned(&label),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_result_has_its_own_counter() {
        for (at, result) in JoinResult::ALL.into_iter().enumerate() {
            assert_eq!(result as usize, at, "{}", result.as_str());
        }
    }
}
