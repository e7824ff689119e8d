//! Records on their way to Redis.

use std::collections::BTreeMap;

use super::RestoreError;
use crate::jackpot::scripts::{self, MAX_PAIRS, Part};
use crate::store::Store;
use crate::store::keys::JackpotKeys;

/// Writes pairs in full calls.
pub(super) struct Writer<'a> {
    store: &'a Store,
    keys: &'a JackpotKeys,
    token: &'a str,
    /// Not yet sent.
    waiting: BTreeMap<Part, Vec<(String, String)>>,
    /// How many different names there are of each part.
    pub(super) written: BTreeMap<Part, u64>,
}

impl<'a> Writer<'a> {
    /// Nothing written yet.
    pub(super) fn new(store: &'a Store, keys: &'a JackpotKeys, token: &'a str) -> Self {
        Self {
            store,
            keys,
            token,
            waiting: BTreeMap::new(),
            written: BTreeMap::new(),
        }
    }

    /// Writes what is written once.
    pub(super) async fn add(&mut self, part: Part, name: String, value: String) -> Result<(), RestoreError> {
        *self.written.entry(part).or_default() += 1;
        self.put(part, name, value).await
    }

    /// Writes what may be written again later: it is not counted.
    pub(super) async fn put(&mut self, part: Part, name: String, value: String) -> Result<(), RestoreError> {
        let waiting = self.waiting.entry(part).or_default();
        waiting.push((name, value));
        if waiting.len() >= MAX_PAIRS {
            self.flush(part).await?;
        }
        Ok(())
    }

    async fn flush(&mut self, part: Part) -> Result<(), RestoreError> {
        let pairs = self.waiting.remove(&part).unwrap_or_default();
        if pairs.is_empty() {
            return Ok(());
        }
        if !scripts::restore_records(self.store, self.keys, self.token, part, &pairs).await? {
            return Err(RestoreError::Changed);
        }
        Ok(())
    }

    /// How many there are of a part so far.
    pub(super) fn count(&self, part: Part) -> u64 {
        self.written.get(&part).copied().unwrap_or_default()
    }

    /// Sends the rest; how many there are of each part.
    pub(super) async fn finish(mut self) -> Result<BTreeMap<Part, u64>, RestoreError> {
        for part in self.waiting.keys().copied().collect::<Vec<_>>() {
            self.flush(part).await?;
        }
        Ok(self.written)
    }
}
