//! Remembers the ids of entries and batches: to detect ids that repeat too early, and reversals that state another entry
//! than was taken.

use std::collections::HashMap;

use jackpot_core::ids::Id;
use jackpot_core::money::Minor;
use sha2::{Digest, Sha256};

/// Bytes of a SHA-256 that stand for an id.
const ID_BYTES: usize = 16;
/// Bytes of a SHA-256 that stand for the terms of an entry. With its tag a [`Seen`] then has 16 bytes, because an export
/// has many entries.
const TERMS_BYTES: usize = 15;

type IdDigest = [u8; ID_BYTES];

/// The part of a SHA-256 over what decides an entry's contribution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Terms([u8; TERMS_BYTES]);

impl Terms {
    pub(super) fn of(sequence: u64, version: u64, stake: Minor, source: Option<&Id>) -> Self {
        let source = source.map_or("", Id::as_str);
        Self(digest(&format!("{sequence} {version} {stake} {source}")))
    }
}

/// What an id belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Seen {
    /// An entry that has no prize until now.
    Entry(Terms),
    /// An entry with a prize.
    Won,
    /// An entry or a batch that a skipped event took or ended.
    Skipped,
    /// A batch or a reversal.
    Other,
}

/// The ids that the jackpot remembers. It keeps two generations, like the service. An id may repeat after both.
#[derive(Default)]
pub(super) struct SeenIds {
    newer: HashMap<IdDigest, Seen>,
    older: HashMap<IdDigest, Seen>,
}

impl SeenIds {
    /// Adds an id. Returns whether it is new.
    pub(super) fn insert(&mut self, id: &str, seen: Seen) -> bool {
        let key = digest(id);
        self.newer.insert(key, seen).is_none() && !self.older.contains_key(&key)
    }

    /// What a remembered id belongs to.
    pub(super) fn get(&self, id: &str) -> Option<Seen> {
        let key = digest(id);
        self.newer.get(&key).or_else(|| self.older.get(&key)).copied()
    }

    /// Records that a remembered entry has a prize.
    pub(super) fn won(&mut self, entry_id: &str) {
        let key = digest(entry_id);
        if let Some(seen) = self.newer.get_mut(&key).or_else(|| self.older.get_mut(&key)) {
            *seen = Seen::Won;
        }
    }

    pub(super) fn rotate(&mut self) {
        self.older = std::mem::take(&mut self.newer);
    }
}

fn digest<const BYTES: usize>(text: &str) -> [u8; BYTES] {
    let whole: [u8; 32] = Sha256::digest(text).into();
    let mut part = [0; BYTES];
    part.copy_from_slice(&whole[..BYTES]);
    part
}
