//! The draw once more, written from its published text alone, so that the product is not trusted to check itself.
//!
//! This crate does not depend on `jackpot_core`: a mistake in the product's draw must show as a difference.

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

type HmacSha256 = Hmac<Sha256>;

/// The secret seed of one epoch of one jackpot.
#[derive(Clone)]
pub struct EpochSeed {
    bytes: [u8; 32],
    /// The MAC with its key already taken in: half the hashing of a draw.
    keyed: HmacSha256,
}

/// Without the secret.
impl std::fmt::Debug for EpochSeed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EpochSeed")
            .field("commitment", &self.commitment())
            .finish_non_exhaustive()
    }
}

impl EpochSeed {
    /// `HMAC-SHA256(master_secret, "jackpot-epoch\n{jackpot_id}\n{epoch}\n{nonce}")`.
    pub fn derive(master_secret: &[u8; 32], jackpot_id: &str, epoch: u64, nonce: &str) -> Self {
        let message = format!("jackpot-epoch\n{jackpot_id}\n{epoch}\n{nonce}");
        let bytes = finish(keyed(master_secret), message.as_bytes());
        Self {
            keyed: keyed(&bytes),
            bytes,
        }
    }

    /// What the service publishes when the epoch opens: the SHA-256 of the seed, in hex.
    pub fn commitment(&self) -> String {
        hex::encode(Sha256::digest(self.bytes))
    }

    /// The number below `total` that this attempt of this entry draws.
    pub fn ticket(&self, jackpot_id: &str, entry_id: &str, attempt: u32, client_seed: Option<&str>, total: u64) -> u64 {
        uniform(&self.keyed, total, |block| {
            let mut message = format!("draw\n{jackpot_id}\n{entry_id}\n{attempt}\n{block}");
            if let Some(seed) = client_seed {
                message.push('\n');
                message.push_str(seed);
            }
            message
        })
    }
}

/// The secret seed of one cycle of a pool that must be hit.
#[derive(Clone, PartialEq, Eq)]
pub struct CycleSeed([u8; 32]);

/// Without the secret.
impl std::fmt::Debug for CycleSeed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "CycleSeed of {}", self.commitment())
    }
}

impl CycleSeed {
    /// `HMAC-SHA256(master_secret, "jackpot-cycle\n{jackpot_id}\n{tier}\n{cycle}\n{nonce}")`.
    pub fn derive(master_secret: &[u8; 32], jackpot_id: &str, tier: &str, cycle: u64, nonce: &str) -> Self {
        let message = format!("jackpot-cycle\n{jackpot_id}\n{tier}\n{cycle}\n{nonce}");
        Self(finish(keyed(master_secret), message.as_bytes()))
    }

    /// As the service publishes it.
    pub fn published(text: &str) -> Option<Self> {
        Some(Self(hex::decode(text).ok()?.try_into().ok()?))
    }

    /// In hex.
    #[cfg(test)]
    pub fn reveal(&self) -> String {
        hex::encode(self.0)
    }

    /// What the service publishes when the cycle begins.
    pub fn commitment(&self) -> String {
        hex::encode(Sha256::digest(self.0))
    }

    /// The amount that the pool must reach, for a rule from `low` to `high`.
    pub fn trigger_amount(&self, low: i64, high: i64) -> i64 {
        low + 1 + self.index("amount", high - low)
    }

    /// The second since 1970 from which an entry hits, after `from` and not later than `deadline`.
    pub fn trigger_second(&self, from: i64, deadline: i64) -> i64 {
        from + 1 + self.index("time", deadline - from)
    }

    fn index(&self, kind: &str, range: i64) -> i64 {
        let range = range.unsigned_abs().max(1);
        let index = uniform(&keyed(&self.0), range, |block| format!("{kind}\n{block}"));
        i64::try_from(index).unwrap_or_default()
    }
}

/// A number below `total`, uniform: the first word of the blocks that favours none.
fn uniform(keyed: &HmacSha256, total: u64, message: impl Fn(u32) -> String) -> u64 {
    let limit = (1_u128 << 64) / u128::from(total) * u128::from(total);
    for block in 0_u32.. {
        let digest = finish(keyed.clone(), message(block).as_bytes());
        for word in digest.as_chunks::<8>().0 {
            let word = u64::from_be_bytes(*word);
            if u128::from(word) < limit {
                return word % total;
            }
        }
    }
    unreachable!("2^34 words in a row above the limit")
}

/// The id of a draw secret: the first 16 hex digits of `SHA-256("jackpot-secret\n" || master_secret)`.
pub fn secret_id(master_secret: &[u8; 32]) -> String {
    let digest = Sha256::new_with_prefix("jackpot-secret\n").chain_update(master_secret);
    hex::encode(&digest.finalize()[..8])
}

/// An odds table as this check sees it: weights by rank.
#[derive(Debug, Clone)]
pub struct OddsTable {
    /// What the weights are parts of.
    pub total: u64,
    /// Stake for which each weight counts once; `None`: the stake has no effect.
    pub per_stake: Option<i64>,
    /// `(rank, weight)` in ascending rank.
    pub ranks: Vec<(u32, u64)>,
}

impl OddsTable {
    /// The rank that a ticket of an entry with this stake falls on, 0 for none.
    pub fn rank(&self, ticket: u64, stake: i64) -> u32 {
        let times = self.per_stake.map_or(1, |per_stake| (stake / per_stake).unsigned_abs());
        let mut running = 0;
        for &(rank, weight) in &self.ranks {
            running += weight * times;
            if ticket < running {
                return rank;
            }
        }
        0
    }
}

fn keyed(key: &[u8; 32]) -> HmacSha256 {
    HmacSha256::new_from_slice(key).expect("HMAC takes keys of any length")
}

fn finish(mut mac: HmacSha256, message: &[u8]) -> [u8; 32] {
    mac.update(message);
    mac.finalize().into_bytes().into()
}

#[cfg(test)]
mod tests {
    use super::{CycleSeed, EpochSeed, OddsTable, secret_id};

    fn spring() -> EpochSeed {
        EpochSeed::derive(&[0x5f; 32], "spring", 1, "00112233445566778899aabbccddeeff")
    }

    #[test]
    fn the_published_seed_and_commitment_come_out() {
        let seed = spring();
        assert_eq!(
            hex::encode(seed.bytes),
            "4ac47d7baa14f4b8b68b3c4c030c3ad5a41005179359fe6d13f0b924ef1586d3"
        );
        assert_eq!(
            seed.commitment(),
            "7bc62f73fa0713a5e49ed900d4c2453ae26480e8d8267c84e6bb5ac81a10a258"
        );
        assert_eq!(secret_id(&[0x5f; 32]), "abc44bcf0634a438");
    }

    #[test]
    fn the_published_tickets_come_out() {
        for (entry, tickets) in [
            ("entry-1", [716_135, 277_424, 702_353]),
            ("round-8812-p7", [243_771, 232_156, 657_822]),
            ("b1:17", [34_818, 668_171, 638_355]),
        ] {
            for (attempt, ticket) in (0_u32..).zip(tickets) {
                assert_eq!(
                    spring().ticket("spring", entry, attempt, None, 1_000_000),
                    ticket,
                    "{entry} {attempt}"
                );
            }
        }
    }

    #[test]
    fn a_client_seed_changes_the_draw() {
        let seed = spring();
        assert_ne!(
            seed.ticket("spring", "entry-1", 0, Some("mine"), 1 << 32),
            seed.ticket("spring", "entry-1", 0, None, 1 << 32)
        );
    }

    #[test]
    fn ranks_are_walked_in_order_and_past_the_last_is_none() {
        let odds = OddsTable {
            total: 10,
            per_stake: None,
            ranks: vec![(1, 2), (2, 3)],
        };
        let drawn = |odds: &OddsTable, stake| -> Vec<u32> { (0..10).map(|ticket| odds.rank(ticket, stake)).collect() };
        assert_eq!(drawn(&odds, 100), [1, 1, 2, 2, 2, 0, 0, 0, 0, 0]);
        let by_stake = OddsTable {
            per_stake: Some(50),
            ..odds
        };
        assert_eq!(drawn(&by_stake, 49), [0; 10]);
        assert_eq!(drawn(&by_stake, 99), [1, 1, 2, 2, 2, 0, 0, 0, 0, 0]);
        assert_eq!(drawn(&by_stake, 100), [1, 1, 1, 1, 2, 2, 2, 2, 2, 2]);
    }

    #[test]
    fn a_cycle_has_the_published_seed_and_trigger() {
        let seed = CycleSeed::derive(&[0x5f; 32], "spring", "grand", 0, "00112233445566778899aabbccddeeff");
        assert_eq!(
            (seed.reveal().as_str(), seed.commitment().as_str()),
            (
                "03d61afc10e7ed7d3a0dc0a816886872442510a04a21a190212f9d82c307e6c3",
                "a9e13bb45fafaa915d3bc9373af757636aea08307943a2385b7f32c7c8328e51"
            )
        );
        assert_eq!(seed.trigger_amount(5_000, 10_000), 5_001 + 2_070);
        assert_eq!(CycleSeed::published(&seed.reveal()), Some(seed));
        assert_eq!(CycleSeed::published("00"), None);
    }
}
