//! Ids that may not come again.

use std::collections::HashSet;

use sha2::{Digest, Sha256};

/// Ids of the entries and batches that are remembered, as 16 bytes of their SHA-256 each: the two generations that the
/// service keeps. An id may come again after both.
#[derive(Default)]
pub(super) struct SeenIds {
    newer: HashSet<[u8; 16]>,
    older: HashSet<[u8; 16]>,
}

impl SeenIds {
    /// Whether it is new.
    pub(super) fn insert(&mut self, id: &str) -> bool {
        let digest: [u8; 32] = Sha256::digest(id).into();
        let mut key = [0; 16];
        key.copy_from_slice(&digest[..16]);
        self.newer.insert(key) && !self.older.contains(&key)
    }

    pub(super) fn rotate(&mut self) {
        self.older = std::mem::take(&mut self.newer);
    }
}
