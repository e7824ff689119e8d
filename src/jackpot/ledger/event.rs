//! The events of a jackpot's stream, typed.
//!
//! Every script appends one event in the call in which it has its effect (`append_event` in
//! `lua/jackpot/state.lua`). Fields are text; numbers are dense from 1 in `n`, which is the event's identity. The
//! stream id `<sequence>-<n>` is metadata.

use crate::ledger::events::{Unreadable, remember_put};
use std::collections::BTreeMap;

use jackpot_core::ids::Id;
use jackpot_core::jackpot::batch_record::BatchRecord;
use jackpot_core::jackpot::call::Call;
pub use jackpot_core::jackpot::call::Entered;
use jackpot_core::jackpot::epoch::Opening;
use jackpot_core::jackpot::record::Reason;

use super::carried::Carried;
use crate::jackpot::view::Status;
use crate::ledger::skipped::Skipped;

pub(crate) mod parse;

/// One event.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Number, dense from 1 in a jackpot.
    pub n: u64,
    /// When, ms of Redis' clock.
    pub at_ms: i64,
    /// The history that it belongs to: another one from each restore on.
    pub history: String,
    /// What it did to the meters.
    pub changes: Vec<MeterChange>,
    /// The definition that came into force with it.
    pub applied: Option<u64>,
    /// What happened.
    pub kind: Kind,
}

/// A change of one meter of one tier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeterChange {
    /// Which tier.
    pub tier: Id,
    /// Which meter, as `lua/jackpot/tiers.lua` names it.
    pub meter: String,
    /// By how much, minor units or (`*_micro`) millionths.
    pub delta: i64,
}

/// What happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// The jackpot was created, or a definition was put.
    Define(Define),
    /// Entries were taken, in sequence.
    Enter(Enter),
    /// The claim of a redraw.
    Claim {
        /// Which entry.
        entry_id: String,
        /// What became of it.
        claim: Claim,
    },
    /// A pending entry ended with no prize.
    Finish {
        /// Which entry.
        entry_id: String,
        /// Its sequence.
        sequence: u64,
    },
    /// An operator paused, resumed or closed, or the service suspended.
    Status {
        /// What it was.
        before: Status,
        /// What it is.
        after: Status,
    },
    /// An operator put in, took out or moved money.
    Adjust {
        /// Its id.
        adjustment_id: Id,
        /// Of its content.
        digest: String,
    },
    /// What Redis held at this instant, right before the event; to be compared with what the events say.
    Checkpoint(Checkpoint),
    /// Redis was rebuilt from the events before this one.
    Restore {
        /// Number of the last event that Redis had; `None` when it had nothing of the jackpot.
        from_n: Option<u64>,
        /// How often the jackpot has been restored, with this time.
        restores: u64,
        /// Records that were written.
        records: u64,
        /// The status it has now.
        status: Status,
        /// The epoch that was open, and is closed now.
        closed: u64,
        /// The epoch that is open now.
        epoch: u64,
        /// What opened it.
        opening: Opening,
    },
    /// An instance with a longer setting raised how long ids are remembered.
    Retention {
        /// Seconds before.
        before: u64,
        /// Seconds from now on.
        retention_s: u64,
    },
    /// An epoch closed and the next opened.
    Rotate {
        /// The next epoch.
        epoch: u64,
        /// What opened it.
        opening: Opening,
        /// Whether the older generation of records was dropped too.
        dropped: bool,
        /// Versions of definitions that no record needs any more.
        pruned: Vec<u64>,
    },
    /// An operator skipped an event that could not be applied.
    Skipped(Box<Skipped<Carried>>),
}

/// A definition that was put.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Define {
    /// Its version.
    pub version: u64,
    /// JSON.
    pub json: String,
    /// ISO 4217 code of all amounts from here on; it changes only while no money has been there.
    pub currency: String,
    /// Its tiers with seeds and caps, as the state in Redis has them.
    pub tiers: String,
    /// Digest of what touches money or odds.
    pub money: String,
    /// Status, and what opened epoch 1, when it created the jackpot.
    pub created: Option<(Status, Opening)>,
    /// Seconds that ids are remembered, when it created the jackpot; else 0.
    pub retention_s: u64,
    /// The waiting definition that it replaced.
    pub superseded: Option<u64>,
    /// Of the PUT and its repeats.
    pub nonce: String,
    /// `created`, `changed` or `waits`.
    pub mode: String,
}

impl Define {
    /// The PUTs that Redis knows after this one, out of those before: `nonce mode version;` each, the oldest leave.
    #[must_use]
    pub fn remember(&self, puts: &str) -> String {
        remember_put(puts, &self.nonce, &self.mode, self.version)
    }
}

/// What Redis held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// The state and the numbers of records, by their names in `lua/jackpot/state.lua`.
    pub held: BTreeMap<String, String>,
    /// Every meter of the tiers in force by `tier:meter`, with `tier:pool` and `tier:pool_written`.
    pub meters: BTreeMap<String, i64>,
}

/// Entries that one call took.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Enter {
    /// The entries, and what each added.
    pub call: Call,
    /// What became of those that drew a prize: of a batch all their attempts, else only the first.
    pub claims: Vec<Claim>,
    /// The record of the batch in which they came.
    pub batch_record: Option<BatchRecord>,
    /// Whether some of them share a record of their call, which Redis keeps beside those of the entries.
    pub of_call: bool,
}

impl Enter {
    /// The batch in which they came, and its record.
    #[must_use]
    pub fn batch(&self) -> Option<(&Id, &BatchRecord)> {
        self.call.batch.as_ref().zip(self.batch_record.as_ref())
    }

    /// The records of entries and batches that the call wrote. Of a batch those that drew a prize have one, and the
    /// batch.
    #[must_use]
    pub fn records(&self) -> u64 {
        let all = match self.batch() {
            Some(_) => self.claims.chunk_by(|a, b| a.sequence == b.sequence).count() + 1,
            None => self.call.entries.len(),
        };
        all as u64
    }

    /// The claims of the entry with this sequence.
    pub fn claims_of(&self, sequence: u64) -> &[Claim] {
        let from = self.claims.partition_point(|claim| claim.sequence < sequence);
        let own = self.claims[from..].partition_point(|claim| claim.sequence == sequence);
        &self.claims[from..from + own]
    }
}

/// One claim of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// Of which entry.
    pub sequence: u64,
    /// Which attempt, from 0.
    pub attempt: u32,
    /// What it drew.
    pub rank: u32,
    /// What became of it.
    pub result: ClaimResult,
}

impl ClaimResult {
    /// Whether the entry has its prize.
    #[must_use]
    pub fn is_won(&self) -> bool {
        matches!(self, Self::Paid { .. } | Self::Issued { .. })
    }

    /// Why the rank refused the entry, if it did.
    #[must_use]
    pub fn refusal(&self) -> Option<Reason> {
        match self {
            Self::Retry { .. } => Some(Reason::Retry),
            Self::Refused { reason, .. } => Some(*reason),
            Self::Paid { .. } | Self::Issued { .. } | Self::Later | Self::Ended => None,
        }
    }
}

/// What became of a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClaimResult {
    /// Money was taken out of the pool.
    Paid {
        /// Of which tier.
        tier: Id,
        /// Minor units.
        amount: u64,
        /// Number of the paid claim.
        claim_order: u64,
        /// What the pool held before.
        pool_before: u64,
    },
    /// The pool held too little.
    Retry {
        /// Of which tier.
        tier: Id,
        /// What it held.
        pool_before: u64,
    },
    /// Not for money: decided by a later call.
    Later,
    /// The coupon gave a unit.
    Issued {
        /// Which coupon.
        coupon_id: Id,
        /// Number of the issue within the coupon, from 1.
        sequence: u64,
        /// Its code.
        code: String,
    },
    /// The coupon gave none.
    Refused {
        /// Which coupon.
        coupon_id: Id,
        /// Why.
        reason: Reason,
    },
    /// The attempt drew nothing, or was the last one: the entry ended with no prize. Only of a batch.
    Ended,
}

impl Event {
    /// Reads the fields of a stream entry.
    pub fn parse(fields: &BTreeMap<String, String>) -> Result<Self, Unreadable> {
        parse::event(fields)
    }
}
