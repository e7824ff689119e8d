//! The rows that the projector makes of a jackpot's events.

use jackpot_core::ids::{Id, PersonId};
use jackpot_core::jackpot::epoch::Opening;
use jackpot_core::jackpot::settlement::State;
use jackpot_core::receipt::{Receipt, VoidReceipt};

use super::{cycles, moves};
use crate::ledger::daily;
use crate::ledger::event::{Entered, Give, PayoutStep};
use crate::ledger::sources::Moved;
use crate::ledger::steps;

/// A unit of a coupon that an entry won.
#[derive(Debug)]
pub struct CouponRow {
    /// Sequence of the entry.
    pub sequence: u64,
    /// Event that recorded it.
    pub n: u64,
    pub entry_id: String,
    pub player_id: PersonId,
    pub rank: u32,
    pub coupon_id: Id,
    /// Number of the issue within the coupon.
    pub coupon_sequence: u64,
    /// Its code.
    pub code: String,
    /// When it was recorded, ms.
    pub issued_at_ms: i64,
}

/// A payout, with the fields that its receipt does not show.
#[derive(Debug)]
pub struct PayoutRow {
    /// The signed receipt.
    pub receipt: Receipt,
    /// Event that paid it.
    pub n: u64,
    /// Its `i` among all that the event tells other systems.
    pub i: u64,
    /// Sequence of the entry.
    pub sequence: u64,
    pub rank: u32,
    pub paid_at_ms: i64,
    /// The source of the entry, if it named one.
    pub source_id: Option<Id>,
    /// Where it begins, if it is tracked.
    pub state: Option<State>,
}

/// A step of a payout.
#[derive(Debug)]
pub struct StepRow {
    /// Event that took it, and when, ms.
    pub n: u64,
    pub at_ms: i64,
    pub step: Box<PayoutStep>,
    /// Whether a skipped event took it. Perhaps it was skipped because the step does not follow.
    pub is_carried: bool,
    /// Of a payout that was taken back.
    pub void_receipt: Option<VoidReceipt>,
}

/// An entry for the index by player.
#[derive(Debug)]
pub struct EntryRow {
    /// The entry as it was taken.
    pub entered: Entered,
    /// When it was taken, ms.
    pub at_ms: i64,
    /// Event that took it.
    pub n: u64,
    pub sequence: u64,
    /// Epoch of its draw.
    pub epoch: u64,
    /// Version of the definition of its draw.
    pub version: u64,
    /// Rank that it won in its first attempt, 0 for nothing.
    pub rank: u32,
    /// Whether that is final.
    pub settled: bool,
}

/// An entry that got its outcome after its first attempt.
#[derive(Debug)]
pub struct SettledRow {
    pub player_id: PersonId,
    /// When it was taken, ms.
    pub entered_ms: i64,
    pub sequence: u64,
    /// Rank that it won, 0 for nothing.
    pub rank: u32,
}

/// What the index of entries by player does not have yet.
#[derive(Debug, Default)]
pub struct IndexRows {
    pub entries: Vec<EntryRow>,
    /// Entries that got their outcome, taken in these events or earlier.
    pub settled: Vec<SettledRow>,
}

impl IndexRows {
    pub fn len(&self) -> usize {
        self.entries.len() + self.settled.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends the rows of later events.
    pub fn append(&mut self, mut later: Self) {
        self.entries.append(&mut later.entries);
        self.settled.append(&mut later.settled);
    }
}

/// What a batch of a jackpot's events writes, beside the rows of all kinds.
#[derive(Debug, Default)]
pub struct Rows {
    /// The last event in the index of entries.
    pub indexed_n: u64,
    /// Whether entries are indexed.
    pub index_entries: bool,
    /// The `i` of the first payout of the event that is being added.
    pub first_payout: u64,
    /// Receipts.
    pub payouts: Vec<PayoutRow>,
    /// Steps of tracked payouts.
    pub payout_steps: Vec<StepRow>,
    /// Units of coupons that entries won.
    pub coupons: Vec<CouponRow>,
    /// Versions that Redis no longer keeps.
    pub dropped_versions: Vec<u64>,
    /// Epochs opened: number, what opened it, time.
    pub epochs: Vec<(u64, Opening, i64)>,
    /// Epochs closed: number, event, time.
    pub closed_epochs: Vec<(u64, u64, i64)>,
    /// Adjustments: id, event, time, digest.
    pub adjustments: Vec<(String, u64, i64, String)>,
    /// Transfers that the jackpot gave: event, place in it, time, what was given.
    pub given: Vec<(u64, u64, i64, Give)>,
    /// Transfers that it received: time, the jackpot that gave, id.
    pub received: Vec<(i64, Id, Id)>,
    /// Adjustments, and what waits for a second owner.
    pub moves: moves::Rows,
    /// Whether the history of the meter has all events before the batch. Otherwise it gets no rows now.
    pub in_step: bool,
    /// What its events moved for sources: number and time of the event, the source, what moved.
    pub sources: Vec<(u64, i64, Id, Moved)>,
    /// Cycles that began and ended.
    pub cycles: cycles::Rows,
    /// Steps of the meter's history that its events ended.
    pub steps: steps::Rows,
    /// Runs of daily reports; `None` while they lack events before the batch.
    pub daily: Option<daily::Runs>,
    /// Rows for the index of entries, which is written later.
    pub index: IndexRows,
}
