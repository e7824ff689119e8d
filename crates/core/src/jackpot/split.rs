//! Splits one contribution among tiers, and within a tier between pool and reserve. Pure, in wide integers.

use crate::money::{MAX_MINOR, MICRO, Minor};

use super::definition::{Definition, contribution_micro};
use super::document::{Contribution, Tier};
use crate::wire::{Field, FieldShape, WordPart, Words};
use crate::words;

words! {
    /// An entry's contribution to one tier.
    #[derive(Copy)]
    pub struct TierAmount as "tier_amount" by ',' list '/' {
        /// To the pool.
        pub pool: Part,
        /// To the reserve.
        pub reserve: Part,
    }
}

/// Whole minor units and millionths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// Whole minor units, at most 2^53 − 1.
    pub units: u64,
    /// Millionths, below 1,000,000.
    pub micro: u32,
}

impl WordPart for Part {
    fn shapes(name: &'static str, doc: &'static str) -> Vec<FieldShape> {
        vec![
            FieldShape::new::<Minor>(name, doc),
            FieldShape::new::<Micro>(
                if name == "pool" { "pool_micro" } else { "reserve_micro" },
                "Its millionths.",
            ),
        ]
    }

    fn take(words: &mut Words<'_>) -> Option<Self> {
        let (units, micro): (Minor, Micro) = (words.take()?, words.take()?);
        Some(Self {
            units: units.get(),
            micro: micro.0,
        })
    }

    fn put(&self, out: &mut String, by: char) {
        WordPart::put(&self.units, out, by);
        WordPart::put(&self.micro, out, by);
    }
}

/// Millionths of a minor unit, below 1,000,000.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Micro(pub u32);

impl Field for Micro {
    const TYPE: &'static str = "millionths";
    const PATTERN: &'static str = "%d+";

    fn read(text: &str) -> Option<Self> {
        u32::read(text).filter(|micro| u128::from(*micro) < MICRO).map(Self)
    }

    fn write(&self, out: &mut String) {
        self.0.write(out);
    }
}

impl TierAmount {
    /// Pool and reserve together, in millionths.
    #[must_use]
    pub fn in_micro(&self) -> u128 {
        self.pool.in_micro() + self.reserve.in_micro()
    }

    /// Whether it is 0, to the millionth.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        self.in_micro() == 0
    }
}

impl Part {
    /// `None` beyond 2^53 − 1 units.
    fn new(micro: u128) -> Option<Self> {
        let units = u64::try_from(micro / MICRO).ok().filter(|units| *units <= MAX_MINOR)?;
        let micro = u32::try_from(micro % MICRO).ok()?;
        Some(Self { units, micro })
    }

    pub(super) fn in_micro(self) -> u128 {
        u128::from(self.units) * MICRO + u128::from(self.micro)
    }
}

/// A sum of entries' contributions to each tier.
#[derive(Debug, Default)]
pub struct Sum(Vec<(u128, u128)>);

impl Sum {
    /// Adds the contribution of one entry.
    pub fn add(&mut self, amounts: &[TierAmount]) {
        self.0.resize(amounts.len(), (0, 0));
        for (sum, amount) in self.0.iter_mut().zip(amounts) {
            sum.0 += amount.pool.in_micro();
            sum.1 += amount.reserve.in_micro();
        }
    }

    /// Takes the sum and resets it. `None` if one of a tier is beyond 2^53 − 1 units: then a meter would pass it too.
    pub fn take(&mut self) -> Option<Vec<TierAmount>> {
        let sums = self.0.drain(..).map(|(pool, reserve)| {
            Some(TierAmount {
                pool: Part::new(pool)?,
                reserve: Part::new(reserve)?,
            })
        });
        sums.collect()
    }
}

/// Splits the contribution of an entry with this stake, one amount for each tier, in the definition's order. The
/// contribution is the jackpot's or that of the entry's source ([`Definition::contribution_of`]).
///
/// Each share is rounded down to a millionth of a minor unit. If the shares are complete, the last tier gets what
/// rounding leaves; otherwise it is not contributed. Within a tier the pool gets it.
#[must_use]
pub fn split(definition: &Definition, contribution: Contribution, stake: Minor) -> Vec<TierAmount> {
    split_of(contribution, &definition.document().tiers, stake)
}

/// [`split`] among tiers with checked shares.
pub(super) fn split_of(contribution: Contribution, tiers: &[Tier], stake: Minor) -> Vec<TierAmount> {
    let whole = contribution_micro(contribution, stake);
    let mut amounts = tiers.iter().map(|tier| tier.share_ppm.of(whole)).collect::<Vec<_>>();
    let complete = tiers.iter().map(|tier| tier.share_ppm.get()).sum::<u32>() == 1_000_000;
    if let (true, Some((last, others))) = (complete, amounts.split_last_mut()) {
        *last = whole - others.iter().sum::<u128>();
    }
    let split_tier = |(amount, reserve_ppm): (u128, crate::money::Ppm)| {
        let reserve = reserve_ppm.of(amount);
        let part = |micro| Part::new(micro).expect("a contribution is at most the stake or a fixed amount");
        TierAmount {
            pool: part(amount - reserve),
            reserve: part(reserve),
        }
    };
    amounts
        .into_iter()
        .zip(tiers.iter().map(|tier| tier.reserve_ppm))
        .map(split_tier)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn definition(contribution: &serde_json::Value, tiers: &[(u32, u32)]) -> Definition {
        let tiers = tiers.iter().enumerate().map(|(i, (share, reserve))| {
            json!({"tier": format!("t{i}"), "share_ppm": share, "min_payout": 1, "seed": 0, "reserve_ppm": reserve})
        });
        let document = json!({"id": "x", "name": "x", "currency": "EUR", "contribution": contribution,
            "tiers": tiers.collect::<Vec<_>>(), "odds": {"total": 1, "ranks": []}});
        Definition::check(serde_json::from_value(document).expect("well formed")).expect("valid")
    }

    fn micro(part: Part) -> u128 {
        u128::from(part.units) * MICRO + u128::from(part.micro)
    }

    #[test]
    fn the_rest_goes_to_the_last_tier_and_to_the_pool() {
        let third = definition(
            &json!({"rate_ppm": 15_001}),
            &[(333_333, 333_333), (333_333, 333_333), (333_334, 333_333)],
        );
        let amounts = split(
            &third,
            third.document().contribution,
            Minor::try_from(37).expect("in range"),
        );
        let total = amounts.iter().map(|a| micro(a.pool) + micro(a.reserve)).sum::<u128>();
        assert_eq!(total, 37 * 15_001);
        assert_eq!(
            micro(amounts[0].pool) + micro(amounts[0].reserve),
            37 * 15_001 * 333_333 / 1_000_000
        );
    }

    proptest! {
        #[test]
        fn complete_shares_lose_nothing(stake in 0..=crate::money::MAX_MINOR, rate in 0..=1_000_000_u32,
                                        first in 0..=1_000_000_u32, reserve in 0..=1_000_000_u32) {
            let d = definition(&json!({"rate_ppm": rate}), &[(first, reserve), (1_000_000 - first, reserve)]);
            let stake = Minor::try_from(stake).expect("in range");
            let total = split(&d, d.document().contribution, stake).iter().map(|a| micro(a.pool) + micro(a.reserve)).sum::<u128>();
            prop_assert_eq!(total, u128::from(stake.get()) * u128::from(rate));
        }

        #[test]
        fn incomplete_shares_give_each_tier_its_share_rounded_down(amount in 0..=crate::money::MAX_MINOR, share in 0..1_000_000_u32) {
            let d = definition(&json!({"fixed": amount}), &[(share, 0)]);
            let got = split(&d, d.document().contribution, Minor::ZERO)[0];
            prop_assert_eq!(micro(got.pool), u128::from(amount) * u128::from(share));
            prop_assert_eq!(micro(got.reserve), 0);
        }
    }
}
