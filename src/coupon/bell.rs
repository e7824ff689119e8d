//! Tells the line's worker of this instance that somebody joined a line, so that it does not have to look.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use tokio::sync::Notify;

use crate::ids::Id;

/// Coupons whose line is to be looked at.
#[derive(Debug, Default)]
pub struct Bell {
    rung: Mutex<BTreeSet<Id>>,
    notify: Notify,
}

impl Bell {
    /// Somebody is in the line of this coupon. Its name must be that of one that is there: names are kept until the
    /// worker has looked.
    pub fn ring(&self, id: &Id) {
        let mut rung = self.rung.lock().unwrap_or_else(PoisonError::into_inner);
        if !rung.contains(id) {
            rung.insert(id.clone());
            self.notify.notify_one();
        }
    }

    /// Waits until it is rung; for which coupons.
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
