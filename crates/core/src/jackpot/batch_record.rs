//! The idempotency record of a batch in Redis, under `<batch_id>:`, as `lua/jackpot/enter_batch.lua` writes it. Pure.
//!
//! `first count fingerprint epoch totals winners`

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use sha2::{Digest, Sha256};

use super::record::Contributed;
use crate::ids::Id;
use crate::wire::Field;

/// A parsed record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchRecord {
    /// Sequence of its first entry; the others follow.
    pub first: u64,
    /// Entries.
    pub count: u64,
    /// Fingerprint of the whole request (`Batch::fingerprint` of the service).
    pub fingerprint: String,
    /// Epoch in which it was drawn.
    pub epoch: u64,
    /// The growth of each tier's contributions, and the pool after the last entry: the tiers of that entry's
    /// definition, in order.
    pub totals: Vec<(Id, Contributed)>,
    /// Indexes, from 1, of the entries whose attempt 0 drew a prize, in order.
    pub winners: Vec<u64>,
}

/// The field of a batch's own record: no client's id has a `:`.
#[must_use]
pub fn field(batch_id: &Id) -> String {
    format!("{batch_id}:")
}

/// The fingerprint of a batch's block in its record: 128 bits of a SHA-256.
#[must_use]
pub fn fingerprint(block: &str) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(&Sha256::digest(block)[..16])
}

impl BatchRecord {
    /// Parses a record; `None` for a text that no script of ours wrote.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let parts = text.split(' ').collect::<Vec<_>>();
        let [first, count, fingerprint, epoch, totals, winners] = parts[..] else {
            return None;
        };
        let total = |text: &str| {
            let (tier, added) = text.split_once('+')?;
            let (amount, pool) = added.split_once('+')?;
            let (amount, pool) = (amount.parse().ok()?, pool.parse().ok()?);
            Some((Id::parse(tier).ok()?, Contributed { pool, amount }))
        };
        let winners = if winners == "-" { "" } else { winners };
        Some(Self {
            first: first.parse().ok()?,
            count: count.parse().ok()?,
            fingerprint: fingerprint.to_owned(),
            epoch: epoch.parse().ok()?,
            totals: totals.split(',').map(total).collect::<Option<_>>()?,
            winners: winners
                .split_terminator(',')
                .map(|index| index.parse().ok())
                .collect::<Option<_>>()?,
        })
    }

    /// The record as the script writes it: the inverse of [`BatchRecord::parse`].
    #[must_use]
    pub fn to_text(&self) -> String {
        let Self {
            first,
            count,
            fingerprint,
            epoch,
            ..
        } = self;
        let totals = self
            .totals
            .iter()
            .map(|(tier, added)| format!("{tier}+{}+{}", added.amount, added.pool));
        let totals = totals.collect::<Vec<_>>().join(",");
        let winners = self.winners.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
        let winners = if winners.is_empty() { "-" } else { &winners };
        format!("{first} {count} {fingerprint} {epoch} {totals} {winners}")
    }
}

impl Field for BatchRecord {
    const TYPE: &'static str = "`first count fingerprint epoch totals winners`";
    const PATTERN: &'static str = ".+";

    fn read(text: &str) -> Option<Self> {
        Self::parse(text)
    }

    fn write(&self, out: &mut String) {
        out.push_str(&self.to_text());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_written_as_it_was_read() {
        for text in ["7 3 f 1 grand+5+100,mini+0+0 1,3", "1 10000 Zk3f-_ 2 grand+5+100 -"] {
            assert_eq!(BatchRecord::parse(text).expect("readable").to_text(), text);
        }
        for bad in [
            "",
            "7 3 f 1 grand+5+100",
            "7 3 f 1 grand+5 -",
            "7 3 f 1 - -",
            "7 3 f 1 grand+5+100 1,x",
            "7 3 f 1 g+5+1 - -",
        ] {
            assert_eq!(BatchRecord::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn the_fingerprint_is_of_the_whole_block() {
        assert_eq!(fingerprint("abc"), "ungWv48Bz-pBQUDeXa4iIw");
        assert_ne!(fingerprint("p1 1 *"), fingerprint("p1 1 s"));
    }
}
