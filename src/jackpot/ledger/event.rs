//! The events of a jackpot's stream, typed.
//!
//! Every script appends one event in the call in which it has its effect (`append_event` in `lua/jackpot/state.lua`).
//! Fields are text. The number `n` is dense from 1 and is the event's identity. The stream id `<sequence>-<n>` is
//! metadata.

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
    /// When it happened, ms of Redis' clock.
    pub at_ms: i64,
    /// The history that it belongs to; each restore begins another one.
    pub history: String,
    /// Its changes of the meters.
    pub changes: Vec<MeterChange>,
    /// Version of the definition that came into force with it.
    pub applied: Option<u64>,
    pub kind: Kind,
}

/// A change of one meter of one tier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeterChange {
    pub tier: Id,
    /// The meter's name in `lua/jackpot/tiers.lua`.
    pub meter: String,
    /// Minor units, or millionths (`*_micro`).
    pub delta: i64,
}

/// What happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// The jackpot was created, or a definition was put.
    Define(Define),
    /// Entries were taken, in the order of their sequences.
    Enter(Enter),
    /// The claim of a redraw.
    Claim { entry_id: String, claim: Claim },
    /// A pending entry ended without a prize.
    Finish { entry_id: String, sequence: u64 },
    /// An operator paused, resumed or closed the jackpot, or the service suspended it.
    Status { before: Status, after: Status },
    /// An operator put money in, took it out or moved it.
    Adjust {
        adjustment_id: Id,
        /// Digest of the adjustment's content.
        digest: String,
    },
    /// What Redis held right before the event, to be compared with what the events say.
    Checkpoint(Checkpoint),
    /// Redis was rebuilt from the events before this one.
    Restore {
        /// Number of the last event that Redis had; `None` when it had nothing of the jackpot.
        from_n: Option<u64>,
        /// How often the jackpot has been restored, including this time.
        restores: u64,
        /// Records that the restore wrote.
        records: u64,
        /// The status after it.
        status: Status,
        /// The epoch that was open; it is closed now.
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
    pub version: u64,
    /// The definition, JSON.
    pub json: String,
    /// ISO 4217 code of all amounts from here on; it changes only while no money has been there.
    pub currency: String,
    /// The tiers with seeds and caps, as the state in Redis has them.
    pub tiers: String,
    /// Digest of what affects money or odds.
    pub money: String,
    /// Status, and what opened epoch 1, if this event created the jackpot.
    pub created: Option<(Status, Opening)>,
    /// Seconds that ids are remembered, if this event created the jackpot; else 0.
    pub retention_s: u64,
    /// Version of the waiting definition that it replaced.
    pub superseded: Option<u64>,
    /// One for the PUT and all its repeats.
    pub nonce: String,
    /// `created`, `changed` or `waits`.
    pub mode: String,
}

impl Define {
    /// The PUTs that Redis knows after this one, given those before it: `nonce mode version;` each. The oldest are
    /// dropped.
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
    /// Claims of the entries that drew a prize: all attempts of a batch's entries, only the first of a single entry.
    pub claims: Vec<Claim>,
    /// The record of their batch.
    pub batch_record: Option<BatchRecord>,
    /// Whether some of them share a record of their call, which Redis keeps beside the records of entries.
    pub of_call: bool,
}

impl Enter {
    /// The batch of the entries, and its record.
    #[must_use]
    pub fn batch(&self) -> Option<(&Id, &BatchRecord)> {
        self.call.batch.as_ref().zip(self.batch_record.as_ref())
    }

    /// Number of records of entries and batches that the call wrote. A batch has its own record, and one for each
    /// entry that drew a prize.
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
    /// Sequence of the entry.
    pub sequence: u64,
    /// From 0.
    pub attempt: u32,
    /// The rank that it drew.
    pub rank: u32,
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

/// The result of a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClaimResult {
    /// The pool paid money.
    Paid {
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
        tier: Id,
        /// What it held.
        pool_before: u64,
    },
    /// The prize is not money: a later call decides.
    Later,
    /// The coupon gave a unit.
    Issued {
        coupon_id: Id,
        /// Number of the issue within the coupon, from 1.
        sequence: u64,
        code: String,
    },
    /// The coupon gave none.
    Refused { coupon_id: Id, reason: Reason },
    /// The attempt drew nothing, or was the last one: the entry ended without a prize. Only in a batch.
    Ended,
}

impl Event {
    /// Reads the fields of a stream entry.
    pub fn parse(fields: &BTreeMap<String, String>) -> Result<Self, Unreadable> {
        parse::event(fields)
    }
}
