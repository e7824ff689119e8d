//! Detects ids that repeat too early.

use std::collections::HashSet;

use sha2::{Digest, Sha256};

/// Ids of the remembered entries and batches, as 16 bytes of their SHA-256 each. It keeps two generations, like the
/// service. An id may repeat after both.
#[derive(Default)]
pub(super) struct SeenIds {
    newer: HashSet<[u8; 16]>,
    older: HashSet<[u8; 16]>,
}

impl SeenIds {
    /// Adds an id. Returns whether it is new.
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
