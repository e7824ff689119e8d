//! What this instance remembers of coupons: their keys, how far each had come, and how far the ledger is with it.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use crate::ids::Id;
use crate::store::Store;
use crate::store::keys::{COUPON_INDEX, CouponKeys};
use crate::stream::{Heard, Mark, ScriptError, TailWish, index, tail};

/// Everything remembered of one coupon.
#[derive(Debug)]
pub struct Known {
    /// Its keys.
    pub keys: CouponKeys,
    heard: Heard,
}

impl Known {
    /// Nothing yet.
    #[must_use]
    pub fn new(id: &Id) -> Self {
        Self {
            keys: CouponKeys::new(id),
            heard: Heard::new("coupon", id),
        }
    }
}

impl std::ops::Deref for Known {
    type Target = Heard;

    fn deref(&self) -> &Heard {
        &self.heard
    }
}

/// The coupons that this instance has used.
#[derive(Debug)]
pub struct Registry {
    store: Store,
    known: RwLock<HashMap<Id, Arc<Known>>>,
}

impl Registry {
    /// None used yet.
    #[must_use]
    pub fn new(store: Store) -> Self {
        Self {
            store,
            known: RwLock::default(),
        }
    }

    /// What is remembered of a coupon; a new, empty one is kept only by [`learn`](Self::learn): a name that a client
    /// sent takes no memory.
    pub fn known(&self, id: &Id) -> Arc<Known> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.get(id).cloned().unwrap_or_else(|| Arc::new(Known::new(id)))
    }

    /// Remembers how far a coupon has come, out of a reply or out of the ledger: a Redis that lacks it, or has less,
    /// lost events.
    pub fn learn(&self, id: &Id, mark: Mark) -> Arc<Known> {
        let known = self.known(id);
        let known = if self.is_used(id) {
            known
        } else {
            let mut all = self.known.write().unwrap_or_else(PoisonError::into_inner);
            all.entry(id.clone()).or_insert(known).clone()
        };
        known.hear(mark);
        known
    }

    /// Whether this coupon is there, as far as this instance has heard.
    pub fn is_used(&self, id: &Id) -> bool {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.contains_key(id)
    }

    /// How many coupons have been used so far; it never falls.
    pub fn count_used(&self) -> usize {
        self.known.read().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// The coupons used so far.
    pub fn used(&self) -> Vec<Id> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.keys().cloned().collect()
    }

    /// Ids of coupons behind `after` in order, at most `limit`; names that have no coupon may be among them.
    pub async fn ids(&self, after: Option<&Id>, limit: usize) -> Result<Vec<Id>, ScriptError> {
        index::ids(&self.store, COUPON_INDEX, after, limit).await
    }

    /// Adds names to the index of coupons.
    pub async fn add_to_index(&self, ids: &[Id]) -> Result<(), ScriptError> {
        index::add(&self.store, COUPON_INDEX, ids).await
    }

    /// Looks whether a coupon that this instance saw behind has been restored since, and if so works with it again.
    /// Whether it does now.
    pub async fn recheck(&self, id: &Id) -> Result<bool, ScriptError> {
        let known = self.known(id);
        let Some(lost_at) = known.lost_at() else {
            return Ok(true);
        };
        // For its mark: the smallest look that there is.
        let wish = TailWish {
            after: None,
            max_events: 1,
            max_bytes: 1,
            trim_before: None,
        };
        match tail(&self.store, known.keys.stream(), Mark::ZERO, &wish).await {
            Ok(tail) => Ok(known.restored(lost_at, tail.mark)),
            Err(ScriptError::Unknown) => Ok(false),
            Err(error) => Err(error),
        }
    }
}
