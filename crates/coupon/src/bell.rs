//! Wakes this instance's queue worker when a request joins a queue, so that the worker does not have to poll.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use jackpot_core::ids::Id;
use tokio::sync::Notify;

/// Coupons whose queue the worker must look at.
#[derive(Debug, Default)]
pub struct Bell {
    rung: Mutex<BTreeSet<Id>>,
    notify: Notify,
}

impl Bell {
    /// Reports a request in the queue of this coupon. The coupon must exist, because its name is kept until the worker
    /// has looked.
    pub fn ring(&self, id: &Id) {
        let mut rung = self.rung.lock().unwrap_or_else(PoisonError::into_inner);
        if !rung.contains(id) {
            rung.insert(id.clone());
            self.notify.notify_one();
        }
    }

    /// Waits for the next ring. Returns the coupons.
    pub async fn rung(&self) -> BTreeSet<Id> {
        loop {
            let rung = std::mem::take(&mut *self.rung.lock().unwrap_or_else(PoisonError::into_inner));
            if !rung.is_empty() {
                return rung;
            }
            self.notify.notified().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn each_is_told_once_however_often_it_was_rung() {
        let bell = Bell::default();
        let id = |name: &str| Id::parse(name).expect("an id");
        for name in ["b", "a", "b"] {
            bell.ring(&id(name));
        }
        assert_eq!(bell.rung().await, BTreeSet::from([id("a"), id("b")]));
        bell.ring(&id("b"));
        assert_eq!(bell.rung().await, BTreeSet::from([id("b")]));
    }
}
