//! A jackpot's definition as JSON, as operators put it and Redis keeps it.

use std::collections::BTreeMap;

use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};
use utoipa::ToSchema;

use super::must_hit::MustHitBy;
use super::settlement::{Settlement, Terms};
use crate::currency::Currency;
use crate::ids::Id;
use crate::money::{Minor, Ppm};
use crate::names;

/// Redraws if a definition does not have the field.
const DEFAULT_MAX_REDRAWS: u32 = 16;

/// A jackpot's definition. Unknown fields are refused.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = JackpotDefinition)]
pub struct Document {
    /// The jackpot, as in the path.
    #[schema(value_type = String, pattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$", example = "spring")]
    pub id: Id,
    /// A name for people, 1 to 200 characters.
    #[schema(example = "Spring wheel", min_length = 1, max_length = 200)]
    pub name: String,
    /// Currency of all amounts: 3 to 8 capital letters or digits, as in ISO 4217. It stays once money has been in the
    /// jackpot.
    #[schema(value_type = String, example = "KRW", pattern = "^[A-Z][A-Z0-9]{2,7}$")]
    pub currency: Currency,
    /// Status of a new jackpot; default open. It has no effect on an existing jackpot. Answers show the jackpot's
    /// status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub status: Option<PutStatus>,
    /// What each entry adds. A contribution that is always 0 is refused.
    pub contribution: Contribution,
    /// The progressive pools, 1 to 8. A tier stays once it is defined.
    #[schema(min_items = 1, max_items = 8)]
    pub tiers: Vec<Tier>,
    /// The prizes that an entry can draw.
    pub odds: OddsTable,
    /// Redraws of one entry after refused prizes, 0 to 100.
    #[serde(default = "default_max_redraws")]
    #[schema(default = 16, maximum = 100)]
    pub max_redraws: u32,
    /// Smallest stake of an entry in minor units, at most `max_stake`. Default: 1 if a contribution that an entry can use
    /// is a rate, else 0. With a rate, 0 is refused: such an entry would add nothing and could still win.
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
    /// Web origins whose pages may read what is public (CORS), at most 32, each once: `scheme://host[:port]` as a browser
    /// sends it, with `http` or `https`, small letters, and no port that is the scheme's own.
    // Stored only where it says something: a definition without it has the text that it had before the field was there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(default = json!([]), max_items = 32, example = json!(["https://games.example"]))]
    pub origins: Vec<String>,
    /// How the public list of winners shows players.
    #[serde(default, skip_serializing_if = "is_default")]
    #[schema(default = "masked")]
    pub winners: Winners,
    /// Whether operators settle each payout (`tracked`), or a payout is `paid` at once (`none`).
    #[serde(default, skip_serializing_if = "is_default")]
    #[schema(default = "none")]
    pub settlement: Settlement,
    /// From this amount on, in minor units, a tracked payout waits for an approval; null: none does. A PUT that raises or
    /// removes it, or that stops tracking, waits for an approval too: answers show the limit in force.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<u64>, example = json!(null), maximum = 9_007_199_254_740_991_u64)]
    pub approval_above: Option<Minor>,
    /// For how long after an entry its round can be cancelled (`reverse`), in seconds; at most the retention of ids.
    #[serde(default = "default_reverse_within_s", skip_serializing_if = "is_default_reverse")]
    #[schema(default = 300, minimum = 0, example = 300)]
    pub reverse_within_s: u64,
    /// Which keys may cancel rounds: those that play (with sources, those that may send the entry's source), or only
    /// those that operate.
    #[serde(default, skip_serializing_if = "is_default")]
    #[schema(default = "play")]
    pub reverse_by: ReverseBy,
    /// The waiting room of this jackpot: entries need its pass, and batches are refused. The room must exist. null:
    /// none.
    #[serde(default)]
    #[schema(value_type = Option<String>, example = json!(null))]
    pub room: Option<Id>,
    /// The games, sites or channels that feed the jackpot, by id, at most 100. With any, each entry must name one as its
    /// `source_id`. The public form of the definition leaves them out.
    // Stored only where it says something, as `origins`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schema(value_type = std::collections::HashMap<String, Source>, default = json!({}),
        example = json!({"lobby": {}, "slot-9": {"contribution": {"fixed": 2}, "draw": "external", "keys": ["slot-9"]}}))]
    pub sources: BTreeMap<Id, Source>,
}

impl Document {
    /// Smallest stake of an entry: the definition's, or the default.
    #[must_use]
    pub fn min_stake(&self) -> Minor {
        let default = if self.uses_a_rate() { Minor::ONE } else { Minor::ZERO };
        self.min_stake.unwrap_or(default)
    }

    /// Whether any contribution that an entry can use is a rate.
    pub(super) fn uses_a_rate(&self) -> bool {
        let is_rate = |contribution| matches!(contribution, Contribution::RatePpm(_));
        let of_source = |source: &Source| is_rate(source.contribution.unwrap_or(self.contribution));
        if self.sources.is_empty() {
            is_rate(self.contribution)
        } else {
            self.sources.values().any(of_source)
        }
    }

    /// Largest stake of an entry.
    #[must_use]
    pub fn max_stake(&self) -> Minor {
        self.max_stake.unwrap_or(Minor::MAX)
    }

    /// Under what its payouts are tracked.
    #[must_use]
    pub fn settlement_terms(&self) -> Terms {
        Terms {
            settlement: self.settlement,
            approval_above: self.approval_above,
        }
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

/// A status in a definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum PutStatus {
    /// Takes entries.
    Open,
    /// Takes no entries until an operator resumes it.
    Paused,
    /// Accepted in a change, where it has no effect. A jackpot is not created suspended.
    Suspended,
    /// Accepted in a change, where it has no effect. A jackpot is not created closed.
    Closed,
}

/// What the public list of winners shows of a player.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Winners {
    /// There is no list.
    Off,
    /// The first third of the player's characters, at most 4, and `…`.
    #[default]
    Masked,
    /// The whole id.
    Full,
}

names! {
    /// Which keys may cancel rounds.
    #[derive(Default, ToSchema)]
    pub enum ReverseBy {
        /// Those that may send the entry.
        #[default]
        Play = "play",
        /// Those that operate, whatever the entry's source.
        Operate = "operate",
    }
}

/// A game, site or channel that feeds a jackpot.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// What each of its entries adds. null: what the jackpot says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contribution: Option<Contribution>,
    /// Who draws its entries.
    #[serde(default, skip_serializing_if = "is_default")]
    #[schema(default = "service")]
    pub draw: DrawnBy,
    /// Names of the keys that may send its entries, 1 to 16. null: every key that may play. An external source needs them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_items = 1, max_items = 16, example = json!(["slot-9"]))]
    pub keys: Option<Vec<String>>,
}

names! {
    /// Who draws the entries of a source.
    #[derive(Default, ToSchema)]
    pub enum DrawnBy {
        /// The service.
        #[default]
        Service = "service",
        /// The game itself: its entries bring their `ranks`.
        External = "external",
    }
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
    /// Smallest amount that a pool prize pays. A claim for less is refused (`retry`). At most the cap.
    #[schema(value_type = u64, example = 100, maximum = 9_007_199_254_740_991_u64)]
    pub min_payout: Minor,
    /// Amount with which the pool restarts after a take of all, as far as reserve and overflow reach. At most the cap.
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
    /// By when the pool must be hit; null: it need not be.
    #[serde(default)]
    pub must_hit_by: Option<MustHitBy>,
}

/// The odds table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OddsTable {
    /// Tickets are drawn from 0 to this, exclusive: 1 to 2^32.
    #[schema(example = 1_000_000, minimum = 1, maximum = 4_294_967_296_u64)]
    pub total: u64,
    /// Odds by stake: every weight counts `floor(stake / per_stake)` times. From 1; null: the stake has no effect on the
    /// odds. It needs `max_stake`, and refuses a smaller stake.
    // Stored only where it says something, as `origins`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<u64>, minimum = 1, maximum = 9_007_199_254_740_991_u64)]
    pub per_stake: Option<Minor>,
    /// 0 to 1,000 ranks. Their weights sum to at most `total`; the other tickets draw nothing. By stake the sum is counted
    /// for `max_stake`.
    #[schema(max_items = 1000)]
    pub ranks: Vec<Rank>,
}

impl OddsTable {
    /// Writes it as answers show it: with the fields that its stored text leaves out.
    pub fn serialize_whole<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("OddsTable", 3)?;
        fields.serialize_field("total", &self.total)?;
        fields.serialize_field("per_stake", &self.per_stake)?;
        fields.serialize_field("ranks", &self.ranks)?;
        fields.end()
    }
}

/// One rank and its prize.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Rank {
    /// From 1; each number once.
    #[schema(example = 1, minimum = 1)]
    pub rank: u32,
    /// Tickets of `total` that draw it.
    #[schema(example = 1, maximum = 4_294_967_296_u64)]
    pub weight: u64,
    /// The prize.
    pub prize: Prize,
}

/// The prize of a rank.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Prize {
    /// All or a share of a tier's pool.
    Pool(PoolPrize),
    /// A fixed amount from a tier's pool.
    Fixed(FixedPrize),
    /// A unit of a coupon.
    Coupon(CouponPrize),
}

/// All or a share of a tier's pool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PoolPrize {
    /// The tier.
    #[schema(value_type = String, example = "grand")]
    pub tier: Id,
    /// The part of its pool.
    pub take: Take,
}

/// The part of a pool that a prize takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Take {
    /// All of it; the pool restarts at its seed.
    All,
    /// Parts per million of it, rounded down, from 1. 1,000,000 counts as a take of all.
    #[schema(value_type = u32)]
    SharePpm(Ppm),
}

/// A fixed amount from a tier's pool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct FixedPrize {
    /// The tier.
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
    /// The coupon; it must exist.
    #[schema(value_type = String, example = "coffee")]
    pub coupon_id: Id,
}

/// For the stored text of a definition, which leaves defaults out.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

fn default_max_redraws() -> u32 {
    DEFAULT_MAX_REDRAWS
}

/// Default of `reverse_within_s`.
const REVERSE_WITHIN_S: u64 = 300;

fn default_reverse_within_s() -> u64 {
    REVERSE_WITHIN_S
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes it so")]
fn is_default_reverse(seconds: &u64) -> bool {
    *seconds == REVERSE_WITHIN_S
}
