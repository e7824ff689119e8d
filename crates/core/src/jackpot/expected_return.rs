//! What a player gets back on average of each stake, by the odds table and the money rules alone. Exact, in wide integers.
//!
//! Fixed prizes come out of the pools, so the two numbers are not added: over time the pools give out what reaches them.
//! Redraws do not count: they replace a prize that was refused. A play that hits a pool by its must-hit rule is not drawn;
//! `fixed` counts it as drawn, because how many such plays there are depends on what pools hold and on time. What they win
//! comes out of the pools, so it is in `pool`.

use serde::Serialize;
use utoipa::ToSchema;

use super::document::{Contribution, OddsTable, Prize, Tier};
use super::split::split_of;
use crate::money::{MAX_MINOR, Minor, Ppm};

const MILLION: u128 = 1_000_000;

/// What a player gets back on average, in parts per million of the stake, rounded down.
///
/// A number that depends on the stake is of `odds.per_stake`, else of the one stake that the definition allows, above 0.
/// Else it is null. So is a number beyond 2^53-1. Redraws do not count. A play that hits a pool by its must-hit rule counts
/// as drawn, though it is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct ExpectedReturn {
    /// The part of the stake that each play adds to the pools. Reserves are not in it.
    #[schema(example = 15_000)]
    pub pool: Option<u64>,
    /// The fixed prizes, paid from the pools.
    #[schema(example = 220)]
    pub fixed: Option<u64>,
}

impl ExpectedReturn {
    /// By a definition that was checked.
    #[must_use]
    pub fn of(
        contribution: Contribution,
        tiers: &[Tier],
        odds: &OddsTable,
        min_stake: Minor,
        max_stake: Minor,
    ) -> Self {
        let stake = odds.per_stake.or_else(|| only_stake(min_stake, max_stake));
        let pool = match (stake, contribution) {
            (Some(stake), _) => Some(added(contribution, tiers, stake) / u128::from(stake.get())),
            // A rate adds the same part of each stake.
            (None, Contribution::RatePpm(rate)) => Some(part_of_each(rate, tiers)),
            (None, Contribution::Fixed(_)) => None,
        };
        let fixed =
            stake.map(|stake| MILLION * fixed_prizes(odds) / (u128::from(odds.total) * u128::from(stake.get())));
        Self {
            pool: pool.and_then(shown),
            fixed: fixed.and_then(shown),
        }
    }
}

fn shown(ppm: u128) -> Option<u64> {
    u64::try_from(ppm).ok().filter(|ppm| *ppm <= MAX_MINOR)
}

/// The one stake that is allowed.
fn only_stake(min: Minor, max: Minor) -> Option<Minor> {
    (min == max && min > Minor::ZERO).then_some(min)
}

/// What a play with this stake adds to the pools, in millionths, as entries are split.
fn added(contribution: Contribution, tiers: &[Tier], stake: Minor) -> u128 {
    let amounts = split_of(contribution, tiers, stake);
    amounts.iter().map(|amount| amount.pool.in_micro()).sum()
}

fn part_of_each(rate: Ppm, tiers: &[Tier]) -> u128 {
    let to_pool = |tier: &Tier| {
        let kept = u128::from(tier.reserve_ppm.get());
        u128::from(tier.share_ppm.get()) * (MILLION - kept)
    };
    u128::from(rate.get()) * tiers.iter().map(to_pool).sum::<u128>() / (MILLION * MILLION)
}

/// The amounts of fixed prizes, each as often as it has tickets. At most 2^85.
fn fixed_prizes(odds: &OddsTable) -> u128 {
    let of_rank = odds.ranks.iter().map(|rank| match &rank.prize {
        Prize::Fixed(fixed) => u128::from(rank.weight) * u128::from(fixed.amount.get()),
        Prize::Pool(_) | Prize::Coupon(_) => 0,
    });
    of_rank.sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use crate::jackpot::document::Document;

    fn document(change: &Value) -> Document {
        let mut value = json!({"id": "x", "name": "x", "currency": "KRW", "contribution": {"rate_ppm": 15_000},
            "tiers": [{"tier": "grand", "share_ppm": 1_000_000, "min_payout": 1}],
            "odds": {"total": 1_000_000, "ranks": [
                {"rank": 1, "weight": 3, "prize": {"pool": {"tier": "grand", "take": "all"}}},
                {"rank": 2, "weight": 500, "prize": {"fixed": {"tier": "grand", "amount": 10}}},
                {"rank": 3, "weight": 20, "prize": {"fixed": {"tier": "grand", "amount": 300}}},
                {"rank": 4, "weight": 9, "prize": {"coupon": {"coupon_id": "coffee"}}}]}});
        for (field, changed) in change.as_object().expect("an object") {
            value[field] = changed.clone();
        }
        serde_json::from_value(value).expect("well formed")
    }

    fn returned(change: &Value) -> (Option<u64>, Option<u64>) {
        let document = document(change);
        let (min, max) = (document.min_stake(), document.max_stake());
        let found = ExpectedReturn::of(document.contribution, &document.tiers, &document.odds, min, max);
        (found.pool, found.fixed)
    }

    #[test]
    fn one_stake_has_both_numbers() {
        let stake = |stake: u64| json!({"min_stake": stake, "max_stake": stake});
        assert_eq!(returned(&stake(50)), (Some(15_000), Some(220)), "11,000 / 50");
        assert_eq!(returned(&stake(3)), (Some(15_000), Some(3_666)), "rounded down");
        let fixed = json!({"contribution": {"fixed": 7}, "min_stake": 100, "max_stake": 100});
        assert_eq!(returned(&fixed), (Some(70_000), Some(110)));
    }

    #[test]
    fn several_stakes_have_only_what_is_the_same_for_each() {
        assert_eq!(returned(&json!({"max_stake": 10_000})), (Some(15_000), None));
        assert_eq!(returned(&json!({"contribution": {"fixed": 7}})), (None, None));
        let mut by_stake = json!({"contribution": {"fixed": 7}, "min_stake": 100, "max_stake": 10_000});
        by_stake["odds"] = json!(document(&json!({})).odds);
        by_stake["odds"]["per_stake"] = json!(50);
        assert_eq!(returned(&by_stake), (Some(140_000), Some(220)), "of a stake of 50");
        let nothing = json!({"contribution": {"fixed": 7}, "min_stake": 0, "max_stake": 0});
        assert_eq!(returned(&nothing), (None, None), "a stake of nothing has no parts");
    }

    #[test]
    fn reserves_and_shares_that_are_not_complete_stay_out() {
        let tiers = json!([{"tier": "mini", "share_ppm": 250_000, "min_payout": 1, "reserve_ppm": 400_000},
            {"tier": "grand", "share_ppm": 500_000, "min_payout": 1}]);
        for stakes in [json!({}), json!({"min_stake": 1_000, "max_stake": 1_000})] {
            let mut change = stakes;
            change["tiers"] = tiers.clone();
            assert_eq!(returned(&change).0, Some(15_000 * 65 / 100));
        }
    }

    #[test]
    fn a_number_that_no_reader_keeps_is_left_out() {
        let most = json!({"contribution": {"fixed": MAX_MINOR}, "min_stake": 1, "max_stake": 1,
            "odds": {"total": 1, "ranks": [{"rank": 1, "weight": 1, "prize": {"fixed": {"tier": "grand", "amount": MAX_MINOR}}}]}});
        assert_eq!(returned(&most), (None, None));
        let largest = json!({"contribution": {"fixed": MAX_MINOR}, "min_stake": MAX_MINOR, "max_stake": MAX_MINOR});
        assert_eq!(returned(&largest).0, Some(1_000_000));
    }

    proptest! {
        #[test]
        fn the_part_of_a_rate_is_that_of_any_large_stake(rate in 0..=1_000_000_u32, share in 0..=1_000_000_u32, reserve in 0..=1_000_000_u32) {
            let tiers = json!([{"tier": "a", "share_ppm": share, "min_payout": 1, "reserve_ppm": reserve},
                {"tier": "b", "share_ppm": 1_000_000 - share, "min_payout": 1}]);
            let change = |min: u64, max: u64| json!({"contribution": {"rate_ppm": rate}, "tiers": tiers, "min_stake": min, "max_stake": max});
            // Of a million million, each part is whole: nothing is rounded before the end.
            let one = 1_000_000_000_000;
            prop_assert_eq!(returned(&change(one, one)).0, returned(&change(1, one)).0);
        }
    }
}
