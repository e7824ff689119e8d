//! What a skip carries on from a jackpot's event (`jackpot_kernel::ledger::skipped`). Pure.

use std::collections::BTreeMap;

use jackpot_core::ids::{Id, PersonId};
use jackpot_core::jackpot::epoch::Opening;
use serde::{Deserialize, Serialize};

use super::books::Books;

/// What is carried on from a jackpot's event.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Carried {
    /// The books after it.
    pub books: Books,
    /// Idempotency records that it made or ended, as Redis had them when it was skipped.
    pub records: Vec<CarriedRecord>,
    /// What was sent with the entries that it took, as far as known.
    pub entries: Vec<CarriedEntry>,
    /// Money that it paid.
    pub paid: Vec<CarriedPayout>,
    /// Units of coupons that it recorded.
    pub units: Vec<CarriedUnit>,
    /// Definitions that it put, JSON by version.
    pub definitions: Vec<(u64, String)>,
    /// Versions that Redis no longer keeps after it.
    pub dropped_versions: Vec<u64>,
    /// Epochs that it opened, what opened them, and when, ms.
    pub epochs: Vec<(u64, Opening, i64)>,
    /// Epochs that it closed, and when, ms.
    pub closed_epochs: Vec<(u64, i64)>,
    /// Adjustments that it made: id, digest and time, ms.
    pub adjustments: Vec<(String, String, i64)>,
    /// The step of a payout that it took, if it can be read: its fields.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<BTreeMap<String, String>>,
}

/// An idempotency record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CarriedRecord {
    /// The entry, or the field of a batch's own record.
    pub id: String,
    /// Whether the skipped event took the entry.
    pub first: bool,
    /// The event that took the entry; it decides the generation.
    pub entered_n: u64,
    /// As Redis had it.
    pub text: String,
}

/// What was sent with an entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CarriedEntry {
    /// Number of the entry.
    pub sequence: u64,
    pub entry_id: String,
    /// `player stake client_seed`.
    pub sent: String,
    /// Rank that it had won at the time of the skip, 0 for nothing.
    pub rank: u32,
    /// Whether that is final.
    pub settled: bool,
}

/// Money that was paid.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CarriedPayout {
    /// Number of the entry.
    pub sequence: u64,
    pub entry_id: String,
    /// `None` when it can't be read: then there is no receipt, only the record.
    pub player_id: Option<PersonId>,
    pub rank: u32,
    pub tier: Id,
    /// Minor units.
    pub amount: u64,
    /// Number of the paid claim.
    pub claim_order: u64,
    /// What the pool held before it; `None` when it can't be read: then there is no receipt, only the record.
    pub pool_before: Option<u64>,
}

/// A unit of a coupon.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CarriedUnit {
    /// Number of the entry.
    pub sequence: u64,
    pub entry_id: String,
    pub player_id: PersonId,
    pub rank: u32,
    pub coupon_id: Id,
    /// Number of the issue within the coupon.
    pub coupon_sequence: u64,
    pub code: String,
}
