//! A definition in words, for players.

use jackpot_core::jackpot::document::{Contribution, Prize, Rank, Take, Tier};
use jackpot_core::money::Minor;
use jackpot_ui::Words;
use jackpot_ui::money::{grouped, money, percent};
use maud::{Markup, html};

use super::answer::Definition;

/// The words of one definition.
pub struct Rules<'a> {
    pub words: Words,
    pub definition: &'a Definition,
}

impl Rules<'_> {
    fn amount(&self, amount: Minor) -> String {
        money(self.words.0, i128::from(amount.get()), &self.definition.currency)
    }

    /// Each rule as a sentence.
    pub fn sentences(&self) -> Vec<String> {
        let (words, definition) = (self.words, self.definition);
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
        if let Some(per_stake) = definition.odds().per_stake {
            all.push(words.tv("rules-per-stake", [("amount", self.amount(per_stake).into())]));
        }
        all.push(words.t("rules-order"));
        all.push(words.tv("rules-redraws", [("count", u64::from(definition.max_redraws).into())]));
        all
    }

    /// What holds for one pool.
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
        all
    }

    /// A prize in words.
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
    pub fn table(&self) -> Markup {
        let words = self.words;
        let odds = self.definition.odds();
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
