//! One payout per win, of the right amount.

use std::collections::HashMap;

use crate::jackpot::answer::Outcome;
use crate::jackpot::evidence::Evidence;
use crate::jackpot::plan::Prize;

/// Payout ids are unique, an entry has at most one paid attempt, and the answers' sums are the meters'.
pub fn one_per_win(evidence: &Evidence) -> Result<String, String> {
    let tiers = evidence.plan.tiers.len();
    let (mut paid, mut wins) = (vec![0_i64; tiers], vec![0_u64; tiers]);
    let mut payout_ids = HashMap::new();
    for (record, answer) in evidence.answers() {
        let id = record.entry.id.as_str();
        let paid_attempts = answer
            .attempts
            .iter()
            .filter(|attempt| attempt.result == Outcome::Paid)
            .count()
            + usize::from(answer.must_hit.is_some());
        if paid_attempts != usize::from(answer.payout.is_some()) {
            return Err(format!(
                "{id} has {paid_attempts} paid attempts and {} payout",
                u8::from(answer.payout.is_some())
            ));
        }
        let Some(payout) = answer.payout.as_deref() else {
            continue;
        };
        if let Some(other) = payout_ids.insert(payout.id.as_str(), id) {
            return Err(format!("payout {} was given to {other} and to {id}", payout.id));
        }
        paid[payout.tier] += payout.amount;
        wins[payout.tier] += u64::from(payout.takes_pool);
    }
    for (index, tier) in evidence.plan.tiers.iter().enumerate() {
        let meter = &evidence.meters[index];
        if paid[index] != meter.paid {
            return Err(format!(
                "{}: the answers paid {} in all, the meter says {} paid",
                tier.name, paid[index], meter.paid
            ));
        }
        if wins[index] != meter.wins {
            return Err(format!(
                "{}: {} winners took the pool, the meter says {}",
                tier.name, wins[index], meter.wins
            ));
        }
    }
    Ok(format!(
        "{} payouts of {} in all",
        payout_ids.len(),
        paid.iter().sum::<i64>()
    ))
}

/// A pool prize is at least the minimum payout of its tier, a fixed prize is the amount of the table.
pub fn amounts_fit(evidence: &Evidence) -> Result<String, String> {
    let mut smallest = None;
    for (record, answer) in evidence.answers() {
        let Some(payout) = answer.payout.as_deref() else {
            continue;
        };
        let id = &record.entry.id;
        let hit = answer.must_hit.map(|hit| Prize::Pool { tier: hit.tier });
        match hit.or_else(|| evidence.plan.prize(payout.rank)) {
            Some(Prize::Pool { tier }) if payout.takes_pool && tier == payout.tier => {
                let minimum = evidence.plan.tiers[tier].min_payout;
                if payout.amount < minimum {
                    return Err(format!(
                        "{id} took {} out of a pool with a minimum payout of {minimum}",
                        payout.amount
                    ));
                }
                smallest = Some(smallest.map_or(payout.amount, |smallest: i64| smallest.min(payout.amount)));
            }
            Some(Prize::Fixed { tier, amount }) if !payout.takes_pool && tier == payout.tier => {
                if payout.amount != amount {
                    return Err(format!("{id} was paid {} for a fixed prize of {amount}", payout.amount));
                }
            }
            _ => {
                return Err(format!("{id} was paid a prize that rank {} does not have", payout.rank));
            }
        }
    }
    Ok(smallest.map_or_else(
        || "no pool was taken".to_owned(),
        |smallest| format!("the smallest pool taken was {smallest}"),
    ))
}

#[cfg(test)]
mod tests {
    use crate::jackpot::answer::Outcome;
    use crate::jackpot::check::fixture::{self, found};

    const ONCE: &str = "one payout per win";

    #[test]
    fn a_payout_id_given_twice_is_found() {
        found(ONCE, "", "was given to", |evidence| {
            let [a, b] = fixture::first_paid(evidence);
            fixture::payout(evidence, b).id = fixture::payout(evidence, a).id.clone();
        });
    }

    #[test]
    fn money_that_the_meter_does_not_know_is_found() {
        found(ONCE, "", "meter says", |evidence| {
            let [a, _] = fixture::first_paid(evidence);
            fixture::payout(evidence, a).amount += 1;
        });
        found(ONCE, "", "took the pool", |evidence| evidence.meters[0].wins += 1);
    }

    #[test]
    fn an_entry_paid_twice_is_found() {
        found(ONCE, "", "2 paid attempts", |evidence| {
            let [a, _] = fixture::first_paid(evidence);
            let attempts = &mut fixture::answer(evidence, a).attempts;
            let mut twice = attempts.to_vec();
            twice.push(twice[0]);
            assert_eq!(twice[0].result, Outcome::Paid);
            *attempts = twice.into();
        });
    }

    #[test]
    fn a_take_below_the_minimum_and_a_wrong_fixed_prize_are_found() {
        found("minimum payout", "", "minimum payout", |evidence| {
            let pool = fixture::paid_where(evidence, |payout| payout.takes_pool);
            fixture::payout(evidence, pool).amount = evidence.plan.tiers[0].min_payout - 1;
        });
        found("minimum payout", "", "fixed prize", |evidence| {
            let fixed = fixture::paid_where(evidence, |payout| !payout.takes_pool);
            fixture::payout(evidence, fixed).amount += 1;
        });
    }
}
