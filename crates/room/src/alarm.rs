//! Wakes this instance's worker when something in a room is due earlier than planned.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use jackpot_core::ids::Id;
use tokio::sync::Notify;
use tokio::time::Instant;

/// Rooms, and when to look at each.
#[derive(Debug, Default)]
pub(super) struct Alarm {
    set: Mutex<BTreeMap<Id, Instant>>,
    notify: Notify,
}

impl Alarm {
    /// Reports that something is due in this room at that time. The room must exist, because its name is kept until the
    /// worker has taken it.
    pub(super) fn set(&self, id: &Id, at: Instant) {
        let mut set = self.set.lock().unwrap_or_else(PoisonError::into_inner);
        let earliest = set.get(id).is_none_or(|before| at < *before);
        if earliest {
            set.insert(id.clone(), at);
            self.notify.notify_one();
        }
    }

    /// Waits until a room is reported. Returns all that were.
    pub(super) async fn taken(&self) -> BTreeMap<Id, Instant> {
        loop {
            let set = std::mem::take(&mut *self.set.lock().unwrap_or_else(PoisonError::into_inner));
            if !set.is_empty() {
                return set;
            }
            self.notify.notified().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn the_earliest_of_each_is_told_once() {
        let (alarm, now) = (Alarm::default(), Instant::now());
        let id = |name: &str| Id::parse(name).expect("an id");
        for (name, ms) in [("b", 20), ("a", 30), ("b", 10), ("b", 40)] {
            alarm.set(&id(name), now + Duration::from_millis(ms));
        }
        let at = |ms| now + Duration::from_millis(ms);
        assert_eq!(
            alarm.taken().await,
            BTreeMap::from([(id("a"), at(30)), (id("b"), at(10))])
        );
        alarm.set(&id("b"), at(50));
        assert_eq!(alarm.taken().await, BTreeMap::from([(id("b"), at(50))]));
    }
}
