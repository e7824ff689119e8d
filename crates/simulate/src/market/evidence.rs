//! Everything a market day has seen, for the checks to judge.

use super::plan::Plan;
use crate::jackpot::{Cycle, Meter, Pending, Receipts, Won};
use crate::subscriber::Delivered;

/// An entry that was taken, as its answer tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Index of the jackpot.
    pub jackpot: usize,
    pub id: String,
    pub stake: i64,
    pub source: Option<String>,
    pub sequence: u64,
    /// Amount and pool after it, for each tier in the order of the definition, in minor units.
    pub contributions: Vec<(i64, i64)>,
    pub won: Option<Won>,
    pub hit: Option<Hit>,
    /// The answer that is kept says that the entry was taken now, not before.
    pub is_new: bool,
    /// When that call was sent, and when it was answered, in microseconds of the run.
    pub sent_us: u64,
    pub answered_us: u64,
}

/// The must-hit that an entry reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    pub tier: String,
    pub cycle: u64,
    /// `amount` or `time`.
    pub by: String,
    /// An amount, or seconds since 1970.
    pub trigger: i64,
}

/// What one tier gave back of a cancelled round, in millionths of a minor unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reversed {
    pub tier: String,
    pub amount: i128,
    pub uncovered: i128,
}

/// A cancelled round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reversal {
    pub jackpot: usize,
    pub entry_id: String,
    pub parts: Vec<Reversed>,
}

/// All that a tier gave to another jackpot, in minor units, and the remainder in millionths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moved {
    pub tier: String,
    pub to_tier: String,
    pub whole: i64,
    pub remainder_micro: i64,
}

/// A transfer that arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transferred {
    pub from: usize,
    pub to: usize,
    pub parts: Vec<Moved>,
}

/// From the answer that everything stopped to the call that began it again, in microseconds of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stopped {
    pub from_us: u64,
    pub to_us: u64,
}

/// What a jackpot shows after the day.
#[derive(Debug, Clone)]
pub struct ShownJackpot {
    pub meters: Vec<Meter>,
    pub receipts: Receipts,
    pub cycles: Vec<Cycle>,
    pub pending: Pending,
}

/// What the players and the operator of the day saw.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    pub entries: Vec<Entry>,
    /// Answers that are not those of the contract.
    pub wrong: Vec<String>,
    /// Entries that a paused jackpot did not take.
    pub refused: u64,
    /// Plays that were sent again.
    pub replayed: u64,
    /// From the first call to the answer of each play, in microseconds.
    pub latencies_us: Vec<u64>,
    pub reversals: Vec<Reversal>,
    pub stops: Vec<Stopped>,
    pub transfers: Vec<Transferred>,
}

impl Seen {
    pub fn join(&mut self, other: Self) {
        self.entries.extend(other.entries);
        self.wrong.extend(other.wrong);
        self.refused += other.refused;
        self.replayed += other.replayed;
        self.latencies_us.extend(other.latencies_us);
        self.reversals.extend(other.reversals);
        self.stops.extend(other.stops);
        self.transfers.extend(other.transfers);
    }
}

#[derive(Debug, Clone)]
pub struct Evidence {
    pub plan: Plan,
    /// Its entries by jackpot and sequence.
    pub seen: Seen,
    /// One per jackpot of the plan.
    pub shown: Vec<ShownJackpot>,
    /// What its subscriber got.
    pub delivered: Delivered,
}

impl Evidence {
    pub fn new(plan: Plan, mut seen: Seen, shown: Vec<ShownJackpot>, delivered: Delivered) -> Self {
        seen.entries
            .sort_unstable_by_key(|entry| (entry.jackpot, entry.sequence));
        Self {
            plan,
            seen,
            shown,
            delivered,
        }
    }

    pub fn id(&self, jackpot: usize) -> &str {
        self.plan.jackpots()[jackpot].id()
    }

    /// Of one jackpot, in sequence.
    pub fn entries(&self, jackpot: usize) -> impl Iterator<Item = &Entry> {
        self.seen.entries.iter().filter(move |entry| entry.jackpot == jackpot)
    }

    /// Jackpots with their tiers: index, name of the tier, and its index in the definition.
    pub fn tiers(&self) -> impl Iterator<Item = (usize, &str, usize)> {
        (0..self.plan.jackpots().len()).flat_map(move |jackpot| {
            let tiers = self.plan.tiers(jackpot).into_iter().enumerate();
            tiers.map(move |(index, tier)| (jackpot, tier, index))
        })
    }
}
