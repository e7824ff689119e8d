//! A jackpot's definition as JSON: what operators send and read, and what Redis keeps.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::ids::Id;
use crate::money::{Minor, Ppm};

/// Redraws when a definition does not say.
const DEFAULT_MAX_REDRAWS: u32 = 16;

/// A jackpot's definition. Fields that are not here are refused.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = JackpotDefinition)]
pub struct Document {
    /// The jackpot, as in the path.
    #[schema(value_type = String, pattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$", example = "spring")]
    pub id: Id,
    /// For people: 1 to 200 characters.
    #[schema(example = "Spring wheel", min_length = 1, max_length = 200)]
    pub name: String,
    /// Of all amounts: 3 to 8 capital letters or digits, as in ISO 4217. Fixed once money has been there.
    #[schema(example = "KRW", pattern = "^[A-Z][A-Z0-9]{2,7}$")]
    pub currency: String,
    /// Status of a jackpot that this creates, open unless it says; without effect on one that is there. Answers show
    /// the status as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub status: Option<PutStatus>,
    /// What each entry adds. A contribution that is always 0 is refused.
    pub contribution: Contribution,
    /// The progressive pools, 1 to 8. A tier stays once it is defined.
    #[schema(min_items = 1, max_items = 8)]
    pub tiers: Vec<Tier>,
    /// What an entry may draw.
    pub odds: OddsTable,
    /// Redraws of one entry after refused prizes, 0 to 100.
    #[serde(default = "default_max_redraws")]
    #[schema(default = 16, maximum = 100)]
    pub max_redraws: u32,
    /// Smallest stake of an entry in minor units, at most `max_stake`. Without it 1 where the contribution is a rate, else 0;
    /// 0 with a rate is refused: such an entry would add nothing and have every chance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = u64, nullable = false, example = 0)]
    pub min_stake: Option<Minor>,
    /// Largest stake of an entry in minor units; null: 2^53-1.
    #[serde(default)]
    #[schema(value_type = Option<u64>, example = 1_000_000_000)]
    pub max_stake: Option<Minor>,
    /// Whether anyone may read the meter without a key.
    #[serde(default)]
    #[schema(default = false)]
    pub public_meter: bool,
    /// The waiting room in front of this jackpot: entries need a pass of it, batches are refused. It must exist. null: none.
    #[serde(default)]
    #[schema(value_type = Option<String>, example = json!(null))]
    pub room: Option<Id>,
}

impl Document {
    /// Smallest stake of an entry: what the definition says, or the default.
    #[must_use]
    pub fn min_stake(&self) -> Minor {
        let default = match self.contribution {
            Contribution::Fixed(_) => Minor::ZERO,
            Contribution::RatePpm(_) => Minor::ONE,
        };
        self.min_stake.unwrap_or(default)
    }

    /// Largest stake of an entry.
    #[must_use]
    pub fn max_stake(&self) -> Minor {
        self.max_stake.unwrap_or(Minor::MAX)
    }

    /// The coupons that its ranks name, each with its field.
    pub fn coupons(&self) -> impl Iterator<Item = (String, &Id)> {
        self.odds
            .ranks
            .iter()
            .enumerate()
            .filter_map(|(i, rank)| match &rank.prize {
                Prize::Coupon(prize) => Some((format!("odds.ranks[{i}].prize.coupon.coupon_id"), &prize.coupon_id)),
                Prize::Pool(_) | Prize::Fixed(_) => None,
            })
    }
}

/// A status as a definition may name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum PutStatus {
    /// Takes entries.
    Open,
    /// Takes none until it is resumed.
    Paused,
    /// Taken in a change, where it has no effect; a jackpot is not created suspended.
    Suspended,
    /// Taken in a change, where it has no effect; a jackpot is not created closed.
    Closed,
}

/// What an entry adds to the tiers, before their shares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Contribution {
    /// Minor units per entry.
    #[schema(value_type = u64)]
    Fixed(Minor),
    /// Parts per million of the stake.
    #[schema(value_type = u32)]
    RatePpm(Ppm),
}

/// One progressive pool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Tier {
    /// Its name within the jackpot.
    #[schema(value_type = String, example = "grand")]
    pub tier: Id,
    /// Its share of each contribution, parts per million; all tiers together at most 1,000,000.
    #[schema(value_type = u32, example = 1_000_000, maximum = 1_000_000)]
    pub share_ppm: Ppm,
    /// Smallest amount that a pool prize pays; below it the claim says retry. At most the cap.
    #[schema(value_type = u64, example = 100, maximum = 9_007_199_254_740_991_u64)]
    pub min_payout: Minor,
    /// What the pool restarts at after a take of all, as far as reserve and overflow reach. At most the cap.
    #[serde(default)]
    #[schema(value_type = u64, default = 0, maximum = 9_007_199_254_740_991_u64)]
    pub seed: Minor,
    /// Part of the tier's share that goes to its reserve, parts per million.
    #[serde(default)]
    #[schema(value_type = u32, default = 0, maximum = 1_000_000)]
    pub reserve_ppm: Ppm,
    /// Ceiling of the pool, from 1; contributions beyond it go to the overflow. null: none.
    #[serde(default)]
    #[schema(value_type = Option<u64>, minimum = 1, maximum = 9_007_199_254_740_991_u64)]
    pub cap: Option<Minor>,
    /// Reserved: null.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    pub must_hit_by: Option<serde_json::Value>,
}

/// The odds table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OddsTable {
    /// Tickets are drawn from 0 to this, exclusive: 1 to 2^32.
    #[schema(example = 1_000_000, minimum = 1, maximum = 4_294_967_296_u64)]
    pub total: u64,
    /// 0 to 1,000 ranks; their weights sum to at most `total`, the rest draws nothing.
    #[schema(max_items = 1000)]
    pub ranks: Vec<Rank>,
}

/// One rank and its prize.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Rank {
    /// From 1; each once.
    #[schema(example = 1, minimum = 1)]
    pub rank: u32,
    /// Tickets of `total` that draw it.
    #[schema(example = 1, maximum = 4_294_967_296_u64)]
    pub weight: u64,
    /// What it wins.
    pub prize: Prize,
}

/// What a rank wins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Prize {
    /// All or a share of a tier's pool.
    Pool(PoolPrize),
    /// An amount out of a tier's pool.
    Fixed(FixedPrize),
    /// A unit of a coupon.
    Coupon(CouponPrize),
}

/// All or a share of a tier's pool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PoolPrize {
    /// Of which tier.
    #[schema(value_type = String, example = "grand")]
    pub tier: Id,
    /// How much of it.
    pub take: Take,
}

/// How much of a pool a prize takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Take {
    /// All of it; the pool restarts at its seed.
    All,
    /// Parts per million of it, rounded down, from 1. The whole counts as a take of all.
    #[schema(value_type = u32)]
    SharePpm(Ppm),
}

/// An amount out of a tier's pool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct FixedPrize {
    /// Of which tier.
    #[schema(value_type = String, example = "grand")]
    pub tier: Id,
    /// Minor units, from 1 to the tier's cap.
    #[schema(value_type = u64, example = 10, minimum = 1)]
    pub amount: Minor,
}

/// A unit of a coupon.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CouponPrize {
    /// Which coupon; it must exist.
    #[schema(value_type = String, example = "coffee")]
    pub coupon_id: Id,
}

fn default_max_redraws() -> u32 {
    DEFAULT_MAX_REDRAWS
}
