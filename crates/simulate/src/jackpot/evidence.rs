//! Everything a run has seen, for the checks to judge.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde::Deserialize;

use super::answer::Answer;
use super::draw::EpochSeed;
use super::fairness::{Cycle, Epoch};
use super::plan::{Entry, Plan};

/// One entry with its answer.
#[derive(Debug, Clone)]
pub struct Record {
    pub entry: Entry,
    /// Sent in a collision, as a chosen winner where the draw secret is known.
    pub collision: Option<u32>,
    /// Since the start of the run, in microseconds; `sent` is the first try.
    pub sent_us: u64,
    pub answered_us: u64,
    /// The error says what is wrong with the answer itself.
    pub answer: Result<Answer, String>,
}

impl Record {
    /// The wait of the player, repeats included, in microseconds.
    pub fn latency_us(&self) -> u64 {
        self.answered_us - self.sent_us
    }
}

/// Two answers to the same entry.
#[derive(Debug, Clone)]
pub struct Repeated {
    pub entry_id: String,
    pub first: Seen,
    pub again: Seen,
    /// Both calls were in flight at the same instant.
    pub at_once: bool,
}

/// One of them.
#[derive(Debug, Clone)]
pub struct Seen {
    /// 201.
    pub created: bool,
    /// `Idempotency-Replayed: true`.
    pub replayed: bool,
    /// Calls without an answer before.
    pub repeats: u32,
    pub body: Bytes,
}

/// The meters of one tier as the service shows them, in minor units unless named.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct Meter {
    pub tier: String,
    pub pool: i64,
    pub reserve: i64,
    pub overflow: i64,
    pub remainder_micro: i64,
    pub contributed: i64,
    pub funded: i64,
    pub paid: i64,
    pub wins: u64,
    pub reversed: i64,
    pub transferred_in: i64,
    pub transferred_out: i64,
}

/// The gauge of pending entries after the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pending {
    /// None were left after these milliseconds.
    None { after_ms: u64 },
    /// Entries that were left at the limit.
    Left(u64),
    /// The gauge could not be read; the reason.
    Unknown(String),
}

/// A receipt of the ledger: the fields that answers have too.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Receipt {
    pub entry_id: String,
    pub tier: String,
    /// Minor units.
    pub amount: i64,
    pub claim_order: u64,
}

/// All receipts that the ledger has of the jackpot, by the payout's id; or why they could not be read.
pub type Receipts = Result<BTreeMap<String, Receipt>, String>;

/// What the rules of the jackpot promise on average, in parts per million of each stake, where they name a number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub struct Expected {
    /// What reaches the pools.
    pub pool: Option<u64>,
    /// What fixed prizes give back.
    pub fixed: Option<u64>,
}

/// Everything a run has seen.
#[derive(Debug, Clone)]
pub struct Evidence {
    pub plan: Plan,
    /// In the order of their sequence, entries without a readable answer last.
    pub records: Vec<Record>,
    pub repeated: Vec<Repeated>,
    /// One per tier of the plan, in its order.
    pub meters: Vec<Meter>,
    pub pending: Pending,
    pub receipts: Receipts,
    pub expected: Expected,
    /// Oldest first; none without a must-hit rule.
    pub cycles: Vec<Cycle>,
    /// The seeds of the epochs that answers name, when the draw secret is known.
    pub seeds: Option<Seeds>,
}

/// The seeds of the epochs that the service publishes.
#[derive(Debug, Clone)]
pub struct Seeds {
    /// Seed and published commitment; of an epoch whose seed does not follow from the draw secret, why.
    pub by_epoch: BTreeMap<u64, Result<(EpochSeed, String), String>>,
}

impl Seeds {
    /// Of all these epochs.
    pub fn of(secret: &[u8; 32], plan: &Plan, epochs: &BTreeMap<u64, Epoch>) -> Self {
        let seed = |epoch: &Epoch| Ok((epoch.seed(secret, &plan.jackpot_id)?, epoch.commitment.clone()));
        Self {
            by_epoch: epochs.iter().map(|(number, epoch)| (*number, seed(epoch))).collect(),
        }
    }
}

impl Evidence {
    /// The wait of each entry's player, in microseconds.
    pub fn latencies_us(&self) -> impl Iterator<Item = u64> {
        self.records.iter().map(Record::latency_us)
    }

    /// Entries with a readable answer, in sequence.
    pub fn answers(&self) -> impl DoubleEndedIterator<Item = (&Record, &Answer)> {
        self.records
            .iter()
            .filter_map(|record| Some((record, record.answer.as_ref().ok()?)))
    }
}
