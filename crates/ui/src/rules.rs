//! A definition in words, for players. The page of a jackpot and the API's rules tell the same sentences.

use jackpot_core::currency::Currency;
use jackpot_core::jackpot::document::{Contribution, OddsTable, Prize, Rank, Take, Tier};
use jackpot_core::jackpot::expected_return::ExpectedReturn;
use jackpot_core::jackpot::must_hit::{ByAmount, ByDay, ByTime, MustHitBy};
use jackpot_core::money::Minor;
use maud::{Markup, html};

use crate::Words;
use crate::money::{grouped, money, percent};

/// The parts of a definition that players read.
#[derive(Debug, Clone, Copy)]
pub struct Terms<'a> {
    pub currency: Currency,
    pub contribution: Contribution,
    pub tiers: &'a [Tier],
    pub odds: &'a OddsTable,
    pub max_redraws: u32,
    pub min_stake: Minor,
    pub max_stake: Option<Minor>,
    /// For how many seconds a game can cancel a round.
    pub reverse_within_s: u64,
}

impl Terms<'_> {
    /// What a player gets back on average of each stake.
    #[must_use]
    pub fn expected_return(&self) -> ExpectedReturn {
        let max_stake = self.max_stake.unwrap_or(Minor::MAX);
        ExpectedReturn::of(self.contribution, self.tiers, self.odds, self.min_stake, max_stake)
    }
}

/// The words of one definition.
#[derive(Debug, Clone, Copy)]
pub struct Rules<'a> {
    pub words: Words,
    pub definition: Terms<'a>,
}

impl Rules<'_> {
    fn amount(&self, amount: Minor) -> String {
        money(self.words.0, self.definition.currency.amount(amount))
    }

    /// How winners of the same moment are paid, and which plays win a pool by its rule.
    #[must_use]
    pub fn simultaneous_wins(&self) -> String {
        let (words, tiers) = (self.words, self.definition.tiers);
        let mut all = vec![words.t("rules-order")];
        for tier in tiers {
            for rule in self.must_hit(tier) {
                let values = [("tier", tier.tier.as_str().into()), ("rule", rule.into())];
                all.push(words.tv("rules-must-of", values));
            }
        }
        all.extend(self.undrawn());
        all.join(" ")
    }

    /// What holds for plays that hit a pool by its rule. `None` without such a rule.
    fn undrawn(&self) -> Option<String> {
        let has_rule = self.definition.tiers.iter().any(|tier| tier.must_hit_by.is_some());
        has_rule.then(|| self.words.t("rules-must-undrawn"))
    }

    /// By when a pool must be hit, and how.
    fn must_hit(&self, tier: &Tier) -> Vec<String> {
        let words = self.words;
        let Some(MustHitBy { amount, time, daily }) = &tier.must_hit_by else {
            return Vec::new();
        };
        let mut all = Vec::new();
        if let Some(ByAmount { low, high }) = *amount {
            let values = [("low", self.amount(low).into()), ("high", self.amount(high).into())];
            all.push(words.tv("rules-must-amount", values));
        }
        if let Some(ByTime { after_s, within_s }) = *time {
            let within = ("within", duration(words, within_s).into());
            all.push(if after_s == 0 {
                words.tv("rules-must-time", [within])
            } else {
                words.tv(
                    "rules-must-time-after",
                    [("after", duration(words, after_s).into()), within],
                )
            });
        }
        if let Some(ByDay { at, zone }) = daily {
            let values = [("at", at.as_str().into()), ("zone", zone.as_str().into())];
            all.push(words.tv("rules-must-daily", values));
        }
        if all.len() > 1 {
            all.push(words.t("rules-must-first"));
        }
        if tier.min_payout.get() > 1 && (time.is_some() || daily.is_some()) {
            all.push(words.tv("rules-must-min", [("amount", self.amount(tier.min_payout).into())]));
        }
        all
    }

    /// What happens with a prize that is refused.
    #[must_use]
    pub fn redraws(&self) -> String {
        let count = u64::from(self.definition.max_redraws);
        self.words.tv("rules-redraws", [("count", count.into())])
    }

    /// Where draws are checked, and that games which draw for themselves can't be checked there.
    #[must_use]
    pub fn fairness_of(&self, jackpot_id: &str, some_external: bool) -> String {
        let checked = self.fairness(jackpot_id);
        if some_external {
            format!("{checked} {}", self.words.t("rules-external"))
        } else {
            checked
        }
    }

    /// Where draws and triggers are checked.
    #[must_use]
    pub fn fairness(&self, jackpot_id: &str) -> String {
        let values = || {
            [
                ("seeds", format!("/v1/jackpots/{jackpot_id}/fairness").into()),
                ("check", format!("/j/{jackpot_id}#check").into()),
            ]
        };
        let draws = self.words.tv("rules-fairness", values());
        if self.undrawn().is_none() {
            return draws;
        }
        format!("{draws} {}", self.words.tv("rules-must-fairness", values()))
    }

    /// What a play gets back on average, as far as it is known.
    fn returned(&self) -> Vec<String> {
        let ExpectedReturn { pool, fixed } = self.definition.expected_return();
        let sentence = |name: &str, ppm: Option<u64>| {
            let share = percent(u32::try_from(ppm?).ok().filter(|ppm| *ppm > 0)?);
            Some(self.words.tv(name, [("share", share.into())]))
        };
        // A rate that goes to the pools whole says it already.
        let is_the_rate = |ppm: &u64| matches!(self.definition.contribution, Contribution::RatePpm(rate) if u64::from(rate.get()) == *ppm);
        let both = [
            sentence("rules-return-pool", pool.filter(|ppm| !is_the_rate(ppm))),
            sentence("rules-return-fixed", fixed),
        ];
        both.into_iter().flatten().collect()
    }

    /// Each rule as a sentence.
    #[must_use]
    pub fn sentences(&self) -> Vec<String> {
        let (words, definition) = (self.words, &self.definition);
        let mut all = vec![match definition.contribution {
            Contribution::Fixed(fixed) => words.tv("rules-fixed", [("amount", self.amount(fixed).into())]),
            Contribution::RatePpm(rate) => words.tv("rules-rate", [("share", percent(rate.get()).into())]),
        }];
        if let Some(most) = definition.max_stake {
            let values = [
                ("least", self.amount(definition.min_stake).into()),
                ("most", self.amount(most).into()),
            ];
            all.push(words.tv("rules-stakes", values));
        } else if definition.min_stake.get() > 0 {
            all.push(words.tv("rules-min-stake", [("least", self.amount(definition.min_stake).into())]));
        }
        if let Some(per_stake) = definition.odds.per_stake {
            all.push(words.tv("rules-per-stake", [("amount", self.amount(per_stake).into())]));
        }
        all.extend(self.returned());
        all.push(words.t("rules-order"));
        all.extend(self.undrawn());
        all.push(self.redraws());
        if definition.reverse_within_s > 0 {
            all.push(words.tv("rules-reverse", [("count", definition.reverse_within_s.into())]));
        }
        all
    }

    /// What holds for one pool.
    #[must_use]
    pub fn of_tier(&self, tier: &Tier) -> Vec<String> {
        let words = self.words;
        let mut all = Vec::new();
        if self.definition.tiers.len() > 1 || tier.share_ppm.get() < 1_000_000 {
            all.push(words.tv("rules-share", [("share", percent(tier.share_ppm.get()).into())]));
        }
        if tier.reserve_ppm.get() > 0 {
            all.push(words.tv("rules-reserve", [("share", percent(tier.reserve_ppm.get()).into())]));
        }
        if tier.min_payout.get() > 1 {
            all.push(words.tv("rules-min-payout", [("amount", self.amount(tier.min_payout).into())]));
        }
        if let Some(cap) = tier.cap {
            all.push(words.tv("rules-cap", [("amount", self.amount(cap).into())]));
        }
        all.push(match tier.seed.get() {
            0 => words.t("rules-restart-empty"),
            _ => words.tv("rules-restart", [("amount", self.amount(tier.seed).into())]),
        });
        all.extend(self.must_hit(tier));
        all
    }

    /// A prize in words.
    #[must_use]
    pub fn prize(&self, prize: &Prize) -> String {
        let words = self.words;
        match prize {
            Prize::Pool(pool) => match pool.take {
                Take::All => words.tv("rules-prize-all", [("tier", pool.tier.as_str().into())]),
                Take::SharePpm(share) => {
                    let values = [
                        ("share", percent(share.get()).into()),
                        ("tier", pool.tier.as_str().into()),
                    ];
                    words.tv("rules-prize-share", values)
                }
            },
            Prize::Fixed(fixed) => {
                let values = [
                    ("amount", self.amount(fixed.amount).into()),
                    ("tier", fixed.tier.as_str().into()),
                ];
                words.tv("rules-prize-fixed", values)
            }
            Prize::Coupon(coupon) => words.tv("rules-prize-coupon", [("coupon", coupon.coupon_id.as_str().into())]),
        }
    }

    /// Ranks with their prizes and chances.
    #[must_use]
    pub fn table(&self) -> Markup {
        let words = self.words;
        let odds = self.definition.odds;
        let mut ranks: Vec<&Rank> = odds.ranks.iter().collect();
        ranks.sort_by_key(|rank| rank.rank);
        if ranks.is_empty() {
            return html! { p { (words.t("rules-no-prizes")) } };
        }
        html! {
            table {
                thead { tr { th scope="col" { (words.t("rules-rank")) } th scope="col" { (words.t("rules-prize")) } th.number scope="col" { (words.t("rules-chance")) } } }
                tbody { @for rank in ranks { tr {
                    td { (rank.rank) }
                    td { (self.prize(&rank.prize)) }
                    td.number { @match one_in(rank.weight, odds.total) {
                        Some(times) => (words.tv("rules-one-in", [("times", times.into())])),
                        None => (words.t("rules-never")),
                    } }
                } } }
            }
        }
    }
}

/// A time in the largest unit that it has whole.
fn duration(words: Words, seconds: u32) -> String {
    let (name, unit) = match seconds {
        _ if seconds.is_multiple_of(86_400) => ("n-days", 86_400),
        _ if seconds.is_multiple_of(3_600) => ("n-hours", 3_600),
        _ if seconds.is_multiple_of(60) => ("n-minutes", 60),
        _ => ("n-seconds", 1),
    };
    words.tv(name, [("count", u64::from(seconds / unit).into())])
}

/// `total / weight`, with one digit after the point where it is small and not whole. `None` for a prize that is never drawn.
fn one_in(weight: u64, total: u64) -> Option<String> {
    /// From here on a tenth says nothing.
    const WHOLE_FROM: u64 = 100;
    if weight == 0 {
        return None;
    }
    let (total, weight) = (u128::from(total), u128::from(weight));
    let tenths = (total * 10 + weight / 2) / weight;
    if tenths % 10 == 0 || tenths >= u128::from(WHOLE_FROM) * 10 {
        return Some(grouped((total + weight / 2) / weight));
    }
    Some(format!("{}.{}", grouped(tenths / 10), tenths % 10))
}

#[cfg(test)]
mod tests {
    use super::one_in;

    #[test]
    fn a_chance_is_one_in_a_number_that_people_read() {
        for (weight, total, shown) in [
            (1, 1_000_000, "1,000,000"),
            (1, 1, "1"),
            (3, 10, "3.3"),
            (2, 3, "1.5"),
            (9, 10, "1.1"),
            (3, 1000, "333"),
            (999, 100_000, "100"),
            (1, 1 << 32, "4,294,967,296"),
            (u64::MAX, 1 << 32, "0"),
        ] {
            assert_eq!(one_in(weight, total).as_deref(), Some(shown), "{weight} of {total}");
        }
        assert_eq!(one_in(0, 10), None);
    }
}
