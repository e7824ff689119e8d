//! The rows that the projector makes of a jackpot's events.

use jackpot_core::ids::Id;
use jackpot_core::jackpot::epoch::Opening;
use jackpot_core::receipt::Receipt;

use crate::jackpot::ledger::event::Entered;
use crate::jackpot::ledger::postings::Posting;

/// A unit of a coupon that an entry won.
#[derive(Debug)]
pub struct CouponRow {
    /// Of the entry.
    pub sequence: u64,
    /// Event that recorded it.
    pub n: u64,
    /// The entry.
    pub entry_id: String,
    /// Who played.
    pub player_id: Id,
    /// By which rank.
    pub rank: u32,
    /// Of which coupon.
    pub coupon_id: Id,
    /// Number of the issue within the coupon.
    pub coupon_sequence: u64,
    /// Its code.
    pub code: String,
    /// When it was recorded, ms.
    pub issued_at_ms: i64,
}

/// A payout with what its receipt does not show.
#[derive(Debug)]
pub struct PayoutRow {
    /// The signed receipt.
    pub receipt: Receipt,
    /// Event that paid it.
    pub n: u64,
    /// Which of the payouts of that event it is, from 0.
    pub i: u64,
    /// Of the entry.
    pub sequence: u64,
    /// By which rank.
    pub rank: u32,
    /// When, ms.
    pub paid_at_ms: i64,
}

/// An entry for the index by player.
#[derive(Debug)]
pub struct EntryRow {
    /// As it was taken.
    pub entered: Entered,
    /// When, ms.
    pub at_ms: i64,
    /// Event that took it.
    pub n: u64,
    /// Its number.
    pub sequence: u64,
    /// Epoch of its draw.
    pub epoch: u64,
    /// Definition of its draw.
    pub version: u64,
    /// What it won in its first attempt, 0 for nothing.
    pub rank: u32,
    /// Whether that is final.
    pub settled: bool,
}

/// An entry that got its outcome after its first attempt.
#[derive(Debug)]
pub struct SettledRow {
    /// Who played.
    pub player_id: Id,
    /// When it was taken, ms.
    pub entered_ms: i64,
    /// Its number.
    pub sequence: u64,
    /// What it won, 0 for nothing.
    pub rank: u32,
}

/// What the index of entries by player does not have yet.
#[derive(Debug, Default)]
pub struct IndexRows {
    /// New entries.
    pub entries: Vec<EntryRow>,
    /// Entries, of these or earlier ones, that got their outcome.
    pub settled: Vec<SettledRow>,
}

impl IndexRows {
    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len() + self.settled.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds those of later events.
    pub fn append(&mut self, mut later: Self) {
        self.entries.append(&mut later.entries);
        self.settled.append(&mut later.settled);
    }
}

/// What a batch of a jackpot's events writes, beside what is written of all kinds.
#[derive(Debug, Default)]
pub struct Rows {
    /// The last event that the index of entries has.
    pub indexed_n: u64,
    /// The same, once the batch is committed.
    pub indexed_to: u64,
    /// Double entry: event, time and line of each.
    pub postings: Vec<(u64, i64, usize, Posting)>,
    /// Receipts.
    pub payouts: Vec<PayoutRow>,
    /// Units of coupons that entries won.
    pub coupons: Vec<CouponRow>,
    /// Versions that Redis does not keep any more.
    pub dropped_versions: Vec<u64>,
    /// Epochs opened: number, what opened it, time.
    pub epochs: Vec<(u64, Opening, i64)>,
    /// Epochs closed: number, event, time.
    pub closed_epochs: Vec<(u64, u64, i64)>,
    /// Adjustments: id, event, time, digest.
    pub adjustments: Vec<(String, u64, i64, String)>,
    /// For the index of entries, which is written later.
    pub index: IndexRows,
}
