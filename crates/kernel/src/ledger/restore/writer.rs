//! Writes records to Redis.

use std::collections::BTreeMap;

use super::RestoreError;
use crate::store::Store;
use crate::subject::restore::{MAX_PAIRS, restore_records};

/// Where records go: a key of the rebuilt subject.
pub trait Part: Copy + Ord {
    type Keys;

    fn state(keys: &Self::Keys) -> &str;
    fn key(self, keys: &Self::Keys) -> &str;
    fn is_sorted(self) -> bool;
}

/// Writes pairs in full calls.
pub struct Writer<'a, P: Part> {
    store: &'a Store,
    keys: &'a P::Keys,
    token: &'a str,
    /// Pairs that are not sent yet.
    waiting: BTreeMap<P, Vec<(String, String)>>,
    /// Number of different names in each part.
    pub written: BTreeMap<P, u64>,
}

impl<'a, P: Part> Writer<'a, P> {
    /// A writer that has written nothing yet.
    pub fn new(store: &'a Store, keys: &'a P::Keys, token: &'a str) -> Self {
        Self {
            store,
            keys,
            token,
            waiting: BTreeMap::new(),
            written: BTreeMap::new(),
        }
    }

    /// Writes a pair that is written only once.
    pub async fn add(&mut self, part: P, name: String, value: String) -> Result<(), RestoreError> {
        *self.written.entry(part).or_default() += 1;
        self.put(part, name, value).await
    }

    /// Writes a pair that may be written again later; it is not counted.
    pub async fn put(&mut self, part: P, name: String, value: String) -> Result<(), RestoreError> {
        let waiting = self.waiting.entry(part).or_default();
        waiting.push((name, value));
        if waiting.len() >= MAX_PAIRS {
            self.flush(part).await?;
        }
        Ok(())
    }

    async fn flush(&mut self, part: P) -> Result<(), RestoreError> {
        let pairs = self.waiting.remove(&part).unwrap_or_default();
        if pairs.is_empty() {
            return Ok(());
        }
        let (state, key) = (P::state(self.keys), part.key(self.keys));
        if !restore_records(self.store, state, key, self.token, part.is_sorted(), &pairs).await? {
            return Err(RestoreError::Changed);
        }
        Ok(())
    }

    /// Number of names in a part so far.
    pub fn count(&self, part: P) -> u64 {
        self.written.get(&part).copied().unwrap_or_default()
    }

    /// Sends the rest. Returns the number of names in each part.
    pub async fn finish(mut self) -> Result<BTreeMap<P, u64>, RestoreError> {
        for part in self.waiting.keys().copied().collect::<Vec<_>>() {
            self.flush(part).await?;
        }
        Ok(self.written)
    }
}
