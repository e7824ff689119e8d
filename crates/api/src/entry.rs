//! Entries: one with its draw, as the game gets it, and one of a list.

use jackpot_core::clock::rfc3339;
use jackpot_core::ids::{Id, PersonId};
use jackpot_core::jackpot::document::DrawnBy;
use jackpot_core::jackpot::record::{Hit, HitBy};
use jackpot_core::jackpot::reversal::ReversalRecord;
use jackpot_core::jackpot::steps::Attempt;
use jackpot_kernel::ledger::api::csv::{Record, or_empty};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// An entry with its outcome.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct Entry {
    #[schema(example = "round-8812-p7")]
    pub entry_id: String,
    #[schema(value_type = String, example = "spring")]
    pub jackpot_id: Id,
    #[schema(value_type = String, example = "p7")]
    pub player_id: PersonId,
    /// Number of the entry within the jackpot, from 1.
    #[schema(example = 8812)]
    pub sequence: u64,
    pub contributions: Vec<ContributionBody>,
    pub outcome: Outcome,
    pub draw: Draw,
    /// Only in the answer of `GET`, for an entry whose round was cancelled.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub reversed: Option<ReversedBody>,
}

/// The contribution of an entry or a batch to a tier, in minor units.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct ContributionBody {
    #[schema(value_type = String, example = "grand")]
    pub tier: Id,
    /// Whole units by which the tier's contributions grew.
    #[schema(example = 1)]
    pub amount: u64,
    /// The meter right after it.
    #[schema(example = 18_811)]
    pub pool: u64,
}

/// What the entry won. With prize `none`, all other fields are null.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Outcome {
    /// 0 for nothing and for a must-hit.
    #[schema(example = 1)]
    pub rank: u32,
    #[schema(example = "pool")]
    pub prize: PrizeName,
    #[schema(value_type = Option<String>, example = "grand")]
    pub tier: Option<Id>,
    /// Minor units.
    #[schema(example = 18_811)]
    pub amount: Option<u64>,
    #[schema(example = "5d0b1c9f7a3e42d6b8a1c07e94f2d358")]
    pub payout_id: Option<String>,
    /// Number of the paid claim within the jackpot, from 1.
    #[schema(example = 4)]
    pub claim_order: Option<u64>,
    /// For a coupon prize: its unit.
    pub coupon: Option<CouponBody>,
}

jackpot_core::names! {
    /// What kind of prize an entry won.
    #[derive(Default, ToSchema)]
    pub enum PrizeName {
        /// Out of a pool, by the odds.
        Pool = "pool",
        /// A fixed amount, by the odds.
        Fixed = "fixed",
        /// A unit of a coupon.
        Coupon = "coupon",
        /// A pool that was due.
        MustHit = "must-hit",
        /// Nothing.
        #[default]
        None = "none",
    }
}

/// A unit of a coupon.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CouponBody {
    #[schema(value_type = String, example = "coffee")]
    pub coupon_id: Id,
    /// Request id of the issue, made by the service.
    #[schema(example = "draw:spring:round-8812-p7")]
    pub request_id: String,
    /// Number of the issue within the coupon, from 1.
    #[schema(example = 17)]
    pub sequence: u64,
    /// Null for a `read` key made without `--codes`.
    #[schema(example = "7Q2M9K-4TZX0B-C8WRH5")]
    pub code: Option<String>,
}

/// How the entry was drawn. With the epoch's seed, once published, anyone can repeat the draw.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct Draw {
    #[schema(example = 1)]
    pub epoch: u64,
    pub commitment: String,
    #[schema(example = 3)]
    pub definition_version: u64,
    /// `external`: the game of its source drew, and no seed of the service explains its ranks.
    #[schema(example = "service")]
    pub by: DrawnBy,
    /// Empty for an entry that hit a pool by its rule.
    pub attempts: Vec<Attempt>,
    /// The hit; null for all other entries.
    pub must_hit: Option<MustHit>,
}

/// A hit by the rule of a tier.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct MustHit {
    #[schema(value_type = String, example = "grand")]
    pub tier: Id,
    /// The cycle that it ended.
    #[schema(example = 0)]
    pub cycle: u64,
    #[schema(example = "amount")]
    pub by: HitBy,
    pub trigger: Trigger,
}

/// What was due: an amount, or a time.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum Trigger {
    /// Minor units.
    Amount(u64),
    /// RFC 3339.
    At(String),
}

impl From<&Hit> for MustHit {
    fn from(hit: &Hit) -> Self {
        Self {
            tier: hit.tier.clone(),
            cycle: hit.cycle,
            by: hit.by,
            trigger: match hit.by {
                HitBy::Amount => Trigger::Amount(hit.trigger),
                HitBy::Time => Trigger::At(rfc3339(
                    i64::try_from(hit.trigger).unwrap_or(i64::MAX).saturating_mul(1_000),
                )),
            },
        }
    }
}

/// That an entry was reversed.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct ReversedBody {
    #[schema(value_type = String, example = "cancel-8812")]
    pub reversal_id: Id,
    /// RFC 3339.
    pub at: String,
}

impl From<ReversalRecord> for ReversedBody {
    fn from(record: ReversalRecord) -> Self {
        Self {
            reversal_id: record.reversal_id,
            at: rfc3339(record.at_ms),
        }
    }
}

/// An entry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct EntryRow {
    /// As it was sent, or `{batch_id}:{i}`.
    #[schema(example = "round-8812-p7")]
    pub entry_id: String,
    /// Of which jackpot.
    #[schema(example = "spring")]
    pub jackpot_id: String,
    /// Of whom.
    #[schema(example = "p7")]
    pub player_id: String,
    /// Number of the entry in its jackpot, from 1.
    #[schema(example = 8812)]
    pub sequence: i64,
    /// Minor units.
    #[schema(example = 100)]
    pub stake: i64,
    /// The player's own part of the draw.
    pub client_seed: Option<String>,
    /// The game, site or channel that it came from; null if it named none.
    #[schema(example = "slot-9")]
    pub source_id: Option<String>,
    /// RFC 3339.
    #[schema(example = "2026-11-21T06:00:00.123Z")]
    pub entered_at: String,
    /// The event of the ledger that took it: `<jackpot_id>:<n>`.
    #[schema(example = "spring:8820")]
    pub event_id: String,
    /// It was drawn in.
    #[schema(example = 1)]
    pub epoch: i64,
    /// It was drawn under.
    #[schema(example = 3)]
    pub definition_version: i64,
    /// Whether its outcome is final.
    pub settled: bool,
    /// Null while it is not final.
    pub outcome: Option<Outcome>,
}

impl Record for EntryRow {
    const HEADER: &'static [&'static str] = &[
        "entry_id",
        "jackpot_id",
        "player_id",
        "sequence",
        "stake",
        "client_seed",
        "source_id",
        "entered_at",
        "event_id",
        "epoch",
        "definition_version",
        "settled",
        "rank",
        "prize",
        "tier",
        "amount",
        "payout_id",
        "claim_order",
    ];

    fn cells(&self) -> Vec<String> {
        let outcome = self.outcome.as_ref();
        vec![
            self.entry_id.clone(),
            self.jackpot_id.clone(),
            self.player_id.clone(),
            self.sequence.to_string(),
            self.stake.to_string(),
            or_empty(self.client_seed.as_ref()),
            or_empty(self.source_id.as_ref()),
            self.entered_at.clone(),
            self.event_id.clone(),
            self.epoch.to_string(),
            self.definition_version.to_string(),
            self.settled.to_string(),
            or_empty(outcome.map(|outcome| outcome.rank)),
            or_empty(outcome.map(|outcome| outcome.prize.as_str())),
            or_empty(outcome.and_then(|outcome| outcome.tier.as_ref())),
            or_empty(outcome.and_then(|outcome| outcome.amount)),
            or_empty(outcome.and_then(|outcome| outcome.payout_id.as_ref())),
            or_empty(outcome.and_then(|outcome| outcome.claim_order)),
        ]
    }
}

impl EntryRow {
    /// Hides the code from keys that may not see codes.
    pub fn hide_code(&mut self) {
        if let Some(coupon) = self.outcome.as_mut().and_then(|outcome| outcome.coupon.as_mut()) {
            coupon.code = None;
        }
    }
}
