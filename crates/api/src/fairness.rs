//! Fairness: the epochs of a jackpot and the cycles of its must-hit rules, with their commitments.

use jackpot_core::jackpot::cycle::EndedBy;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The epochs of a jackpot and the cycles of its must-hit rules, oldest first.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
pub struct Fairness {
    #[schema(example = "spring")]
    pub jackpot_id: String,
    pub epochs: Vec<EpochBody>,
    /// Of tiers that have or had `must_hit_by`.
    pub cycles: Vec<CycleBody>,
    /// Cursor of the next page; null on the last. A page has at most 200 epochs and 200 cycles.
    pub next_cursor: Option<String>,
}

/// A period under one secret seed.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct EpochBody {
    #[schema(example = 1)]
    pub epoch: u64,
    /// Public input of the seed: 32 hexadecimal digits, public since the epoch opened.
    #[schema(example = "00112233445566778899aabbccddeeff")]
    pub nonce: String,
    /// Id of the draw secret of the seed: 16 hexadecimal digits.
    #[schema(example = "abc44bcf0634a438")]
    pub secret_id: String,
    /// Hexadecimal SHA-256 of the seed, published when the epoch opened.
    #[schema(example = "7bc62f73fa0713a5e49ed900d4c2453ae26480e8d8267c84e6bb5ac81a10a258")]
    pub commitment: String,
    /// RFC 3339.
    pub opened_at: String,
    /// RFC 3339; null while open.
    pub closed_at: Option<String>,
    /// The seed in hexadecimal, once it is published; null before. The service publishes it when the ledger has the
    /// closing and no pending entry needs the seed.
    pub seed: Option<String>,
}

/// A cycle of a tier: from one take of all to the next, under a seed of its own.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct CycleBody {
    #[schema(example = "grand")]
    pub tier: String,
    /// From 0.
    #[schema(example = 0)]
    pub cycle: u64,
    /// Public input of the seed: 32 hexadecimal digits.
    #[schema(example = "00112233445566778899aabbccddeeff")]
    pub nonce: String,
    /// Id of the draw secret of the seed: 16 hexadecimal digits.
    #[schema(example = "abc44bcf0634a438")]
    pub secret_id: String,
    /// Hexadecimal SHA-256 of the seed, published when the cycle began.
    #[schema(example = "a9e13bb45fafaa915d3bc9373af757636aea08307943a2385b7f32c7c8328e51")]
    pub commitment: String,
    /// Every trigger is above it, minor units; null without an amount.
    pub low: Option<u64>,
    /// The largest trigger, minor units; null without an amount.
    pub high: Option<u64>,
    /// Version of the definition that it began under: its rule, `cap` and `min_payout` count until the cycle ends. Null
    /// for a cycle that an earlier version of the service began.
    #[schema(example = 1)]
    pub version: Option<u64>,
    /// RFC 3339.
    pub began_at: String,
    /// RFC 3339: the trigger is after this second; null without a time.
    pub from_at: Option<String>,
    /// RFC 3339: the trigger is at most this second; null without a time.
    pub deadline_at: Option<String>,
    /// RFC 3339; null while open.
    pub ended_at: Option<String>,
    /// `take`: by the odds. `close`: its jackpot closed. `restart`: a resume, a rotation, a restore, another secret or a
    /// transfer. Null while open.
    pub ended_by: Option<EndedBy>,
    /// The seed in hexadecimal, once the end of the cycle is in the ledger; null before.
    pub seed: Option<String>,
    /// The amount that was to be reached, minor units; null before the seed is published, and without an amount.
    pub trigger_amount: Option<u64>,
    /// RFC 3339; from here on an entry hit. Null before the seed is published, and without a time.
    pub trigger_at: Option<String>,
}
