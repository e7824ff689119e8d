//! The draw: a deterministic function of (epoch seed, jackpot, entry, attempt) onto the odds table.
//!
//! Normative text: "The draw" of the product's contract (docs/explanation/fairness.md). Pure: no clock, no randomness,
//! no store. An independent verifier gets the same result, bit for bit.

use std::io::Write;

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

use crate::ids::{ClientSeed, Id};
use crate::secret::MasterSecret;

use super::odds::{Odds, OddsAt};
use crate::money::Minor;

/// The seed of one epoch of one jackpot: everything needed to draw.
#[derive(Clone)]
pub struct EpochSeed {
    jackpot: Id,
    seed: [u8; 32],
    keyed: Hmac<Sha256>,
}

impl EpochSeed {
    /// `HMAC-SHA256(master_secret, "jackpot-epoch\n{jackpot_id}\n{epoch}\n{nonce}")`.
    #[must_use]
    pub fn derive(secret: &MasterSecret, jackpot: &Id, epoch: u64, nonce: &str) -> Self {
        let mut mac = keyed(secret.bytes());
        mac.update(format!("jackpot-epoch\n{jackpot}\n{epoch}\n{nonce}").as_bytes());
        let seed = mac.finalize().into_bytes().into();
        Self {
            jackpot: jackpot.clone(),
            seed,
            keyed: keyed(&seed),
        }
    }

    /// Parses a published seed from its hexadecimal form.
    #[must_use]
    pub fn published(jackpot: &Id, text: &str) -> Option<Self> {
        let mut seed = [0; 32];
        hex::decode_to_slice(text, &mut seed).ok()?;
        Some(Self {
            jackpot: jackpot.clone(),
            seed,
            keyed: keyed(&seed),
        })
    }

    /// `hex(SHA-256(seed))`: published when the epoch opens.
    #[must_use]
    pub fn commitment(&self) -> String {
        hex::encode(Sha256::digest(self.seed))
    }

    /// The seed in hexadecimal: published after the epoch has closed.
    #[must_use]
    pub fn reveal(&self) -> String {
        hex::encode(self.seed)
    }

    /// The number `t` that an attempt (from 0) draws, below `odds.total()`.
    #[must_use]
    pub fn ticket(&self, entry_id: &str, client_seed: Option<&ClientSeed>, attempt: u32, odds: OddsAt<'_>) -> u64 {
        uniform(&self.keyed, odds.total(), |block| match client_seed {
            None => format!("draw\n{}\n{entry_id}\n{attempt}\n{block}", self.jackpot),
            Some(seed) => format!(
                "draw\n{}\n{entry_id}\n{attempt}\n{block}\n{}",
                self.jackpot,
                seed.as_str()
            ),
        })
    }

    /// The rank that an attempt (from 0) draws; 0 for nothing.
    #[must_use]
    pub fn rank(&self, entry_id: &str, client_seed: Option<&ClientSeed>, attempt: u32, odds: OddsAt<'_>) -> u32 {
        odds.rank_of(self.ticket(entry_id, client_seed, attempt, odds))
    }
}

/// The first accepted word below `total`. It rejects words in the last, incomplete run of `total` values, which would make
/// small results likelier. That happens less than once in 2^32 words of a draw.
pub(super) fn uniform(keyed: &Hmac<Sha256>, total: u64, message: impl Fn(u32) -> String) -> u64 {
    let last_accepted = last_accepted(total);
    for block in 0.. {
        if let Some(word) = accepted(keyed, message(block).as_bytes(), last_accepted) {
            return word % total;
        }
    }
    unreachable!("2^32 blocks of rejected words")
}

/// The words of the block with this message.
pub(super) fn words(keyed: &Hmac<Sha256>, message: &[u8]) -> [u64; 4] {
    let mut mac = keyed.clone();
    mac.update(message);
    let digest = mac.finalize().into_bytes();
    let mut words = digest
        .chunks_exact(8)
        .filter_map(|word| word.try_into().ok().map(u64::from_be_bytes));
    std::array::from_fn(|_| words.next().expect("a digest has four words"))
}

/// The first accepted word of the block with this message.
fn accepted(keyed: &Hmac<Sha256>, message: &[u8], last_accepted: u64) -> Option<u64> {
    words(keyed, message).into_iter().find(|&word| word <= last_accepted)
}

/// `floor(2^64 / total) * total`, minus one: the largest word that is not rejected.
fn last_accepted(total: u64) -> u64 {
    let rejected = (u64::MAX % total + 1) % total; // 2^64 mod total
    u64::MAX - rejected
}

/// Draws the entries of one batch. The result is that of [`EpochSeed::rank`] of `{batch_id}:{index}`, but the message
/// is built in one buffer and the bound of the words is computed once.
#[derive(Debug)]
pub struct BatchDraw<'a> {
    seed: &'a EpochSeed,
    odds: &'a Odds,
    last_accepted: u64,
    message: Vec<u8>,
    prefix: usize,
}

impl<'a> BatchDraw<'a> {
    /// Draws entries of the batch `batch_id` onto `odds`.
    #[must_use]
    pub fn new(seed: &'a EpochSeed, batch_id: &str, odds: &'a Odds) -> Self {
        let message = format!("draw\n{}\n{batch_id}:", seed.jackpot).into_bytes();
        Self {
            seed,
            odds,
            last_accepted: last_accepted(odds.total()),
            prefix: message.len(),
            message,
        }
    }

    /// The rank that an attempt (from 0) of the entry at `index` (from 1) with this stake draws; 0 for nothing.
    pub fn rank(&mut self, index: usize, stake: Minor, client_seed: Option<&str>, attempt: u32) -> u32 {
        for block in 0_u32.. {
            self.message.truncate(self.prefix);
            // Writing to a vector does not fail.
            let _ = write!(self.message, "{index}\n{attempt}\n{block}");
            if let Some(seed) = client_seed {
                self.message.push(b'\n');
                self.message.extend_from_slice(seed.as_bytes());
            }
            if let Some(word) = accepted(&self.seed.keyed, &self.message, self.last_accepted) {
                return self.odds.at(stake).rank_of(word % self.odds.total());
            }
        }
        unreachable!("2^32 blocks of rejected words")
    }
}

impl std::fmt::Debug for EpochSeed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "EpochSeed({}, ..)", self.jackpot)
    }
}

pub(super) fn keyed(key: &[u8; 32]) -> Hmac<Sha256> {
    Hmac::new_from_slice(key).expect("HMAC takes a key of any length")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOTAL: u64 = 1_000_000;
    /// Of entries whose odds do not depend on it.
    const STAKE: Minor = Minor::ZERO;
    const NONCE: &str = "00112233445566778899aabbccddeeff";

    fn seed(jackpot: &str) -> EpochSeed {
        let secret = MasterSecret::new([0x5f; 32]);
        EpochSeed::derive(&secret, &Id::parse(jackpot).expect("an id"), 1, NONCE)
    }

    fn odds(total: u64, weights: &[(u32, u64)]) -> Odds {
        Odds::new(total, weights.iter().copied()).expect("odds")
    }

    #[test]
    fn the_seed_and_its_commitment_are_the_published_vectors() {
        let seed = seed("spring");
        assert_eq!(
            seed.reveal(),
            "4ac47d7baa14f4b8b68b3c4c030c3ad5a41005179359fe6d13f0b924ef1586d3"
        );
        assert_eq!(
            seed.commitment(),
            "7bc62f73fa0713a5e49ed900d4c2453ae26480e8d8267c84e6bb5ac81a10a258"
        );
    }

    #[test]
    fn another_nonce_is_another_seed() {
        let (secret, id) = (MasterSecret::new([0x5f; 32]), Id::parse("spring").expect("an id"));
        let other = EpochSeed::derive(&secret, &id, 1, "00112233445566778899aabbccddeefe");
        assert_ne!(other.commitment(), seed("spring").commitment());
    }

    #[test]
    fn tickets_are_the_published_vectors() {
        let (seed, odds) = (seed("spring"), odds(TOTAL, &[]));
        for (entry, expected) in [
            ("entry-1", [716_135, 277_424, 702_353]),
            ("round-8812-p7", [243_771, 232_156, 657_822]),
            ("b1:17", [34_818, 668_171, 638_355]),
        ] {
            let drawn = [0, 1, 2].map(|attempt| seed.ticket(entry, None, attempt, odds.at(STAKE)));
            assert_eq!(drawn, expected, "{entry}");
        }
    }

    #[test]
    fn a_client_seed_makes_another_draw() {
        let (seed, odds) = (seed("spring"), odds(TOTAL, &[]));
        let mine = ClientSeed::parse("s1").expect("a seed");
        assert_ne!(
            seed.ticket("entry-1", Some(&mine), 0, odds.at(STAKE)),
            seed.ticket("entry-1", None, 0, odds.at(STAKE))
        );
    }

    #[test]
    fn a_batch_draws_each_entry_by_its_derived_id() {
        let mine = ClientSeed::parse("s1").expect("a seed");
        for total in [1, 3, 1000, TOTAL, (1 << 32) - 1, 1 << 32] {
            let (seed, odds) = (seed("spring"), odds(total, &[(1, total / 6), (2, total / 4)]));
            let odds = odds.per_stake(Some(Minor::try_from(20).expect("in range")));
            let mut draw = BatchDraw::new(&seed, "b1", &odds);
            for index in [1, 9, 10, 17, 10_000] {
                for attempt in 0..20 {
                    let id = format!("b1:{index}");
                    for stake in [19, 20, 55].map(|stake| Minor::try_from(stake).expect("in range")) {
                        let at = odds.at(stake);
                        assert_eq!(
                            draw.rank(index, stake, None, attempt),
                            seed.rank(&id, None, attempt, at)
                        );
                        let with_seed = draw.rank(index, stake, Some(mine.as_str()), attempt);
                        assert_eq!(with_seed, seed.rank(&id, Some(&mine), attempt, at));
                    }
                }
            }
        }
    }

    #[test]
    fn words_are_rejected_from_the_last_whole_run_on() {
        for total in [1, 2, 3, 1000, (1 << 32) - 1, 1 << 32] {
            let first_rejected = (1_u128 << 64) / u128::from(total) * u128::from(total);
            assert_eq!(u128::from(last_accepted(total)), first_rejected - 1, "{total}");
        }
    }

    #[test]
    fn every_total_up_to_the_largest_is_drawn_below() {
        let seed = seed("spring");
        for total in [1, 2, 3, (1 << 32) - 1, 1 << 32] {
            let odds = odds(total, &[]);
            assert!((0..200).all(|i| seed.ticket(&format!("e{i}"), None, 0, odds.at(STAKE)) < total));
        }
    }

    /// Pearson's chi-square of 400,000 draws over a fixed seed against the table, at 99 %.
    #[test]
    fn ranks_fall_as_the_table_says() {
        use statrs::distribution::{ChiSquared, ContinuousCDF};
        let table = odds(1000, &[(1, 5), (2, 45), (3, 150), (7, 300)]);
        let seed = seed("statistics");
        let expected = [(0, 500_u32), (1, 5), (2, 45), (3, 150), (7, 300)];
        let mut counts = std::collections::BTreeMap::new();
        let draws = 400_000_u32;
        for i in 0..draws {
            *counts
                .entry(seed.rank(&format!("e{i}"), None, 0, table.at(STAKE)))
                .or_insert(0_u32) += 1;
        }
        let statistic: f64 = expected
            .iter()
            .map(|(rank, weight)| {
                let mean = f64::from(draws) * f64::from(*weight) / 1000.0;
                (f64::from(counts[rank]) - mean).powi(2) / mean
            })
            .sum();
        let critical = ChiSquared::new(4.0).expect("4 degrees of freedom").inverse_cdf(0.99);
        assert!(statistic < critical, "chi-square {statistic} >= {critical}: {counts:?}");
    }

    /// Serial correlation at lags 1 to 5 of 200,000 tickets, entry after entry and attempt after attempt: within the
    /// 99 % band of independent draws, ±2.576/√n.
    #[test]
    fn a_draw_tells_nothing_of_the_next() {
        let (seed, table) = (seed("statistics"), odds(1 << 32, &[]));
        let by_entry = (0..200_000)
            .map(|i| seed.ticket(&format!("e{i}"), None, 0, table.at(STAKE)))
            .collect::<Vec<_>>();
        let by_attempt = (0..200_000)
            .map(|a| seed.ticket("same", None, a, table.at(STAKE)))
            .collect::<Vec<_>>();
        for series in [by_entry, by_attempt] {
            #[expect(clippy::cast_precision_loss, reason = "statistics of draws, no money and no odds")]
            let values = series
                .iter()
                .map(|&t| t as f64 / 4_294_967_296.0 - 0.5)
                .collect::<Vec<_>>();
            let variance: f64 = values.iter().map(|v| v * v).sum();
            for lag in 1..=5 {
                let covariance: f64 = values.iter().zip(&values[lag..]).map(|(a, b)| a * b).sum();
                let correlation = covariance / variance;
                assert!(
                    correlation.abs() < 2.576 / f64::from(200_000).sqrt(),
                    "lag {lag}: {correlation}"
                );
            }
        }
    }
}
