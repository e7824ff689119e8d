//! The cycles of pools that must be hit: their seeds were fixed when they began, and give their hidden amounts.

use super::Judged;
use crate::jackpot::draw::CycleSeed;
use crate::jackpot::evidence::Evidence;
use crate::jackpot::fairness::Cycle;
use crate::jackpot::triggers::triggers;

/// The cycles of a tier, oldest first.
pub fn of_tier(evidence: &Evidence, index: usize) -> Vec<&Cycle> {
    let name = evidence.plan.tiers[index].name;
    evidence.cycles.iter().filter(|cycle| cycle.tier == name).collect()
}

/// Every cycle follows the one before it, each that ended has its seed, and commitment and trigger are those of the seed.
pub fn seeds_give_the_triggers(evidence: &Evidence) -> Judged {
    let mut seeds = 0;
    for (index, tier) in evidence.plan.tiers.iter().enumerate() {
        let cycles = of_tier(evidence, index);
        let Some((low, high)) = tier.must_hit else {
            if !cycles.is_empty() {
                return Judged::Violated(format!("{} has cycles, and no rule", tier.name));
            }
            continue;
        };
        let ended = evidence.meters[index].wins;
        if cycles.len() as u64 != ended + 1 {
            return Judged::Violated(format!(
                "{}: its pool was taken {ended} times, and it has {} cycles",
                tier.name,
                cycles.len()
            ));
        }
        for (number, cycle) in (0..).zip(&cycles) {
            let is_last = number == ended;
            if let Err(wrong) = fits(cycle, number, is_last, low, high, &cycles[0].nonce) {
                return Judged::Violated(format!("{}: cycle {}: {wrong}", tier.name, cycle.cycle));
            }
            seeds += usize::from(cycle.seed.is_some());
        }
    }
    match evidence.plan.options.must_hit() {
        None => Judged::Held("no pool must be hit".to_owned()),
        Some(_) => Judged::Held(format!("{} cycles, {seeds} seeds", evidence.cycles.len())),
    }
}

fn fits(cycle: &Cycle, number: u64, is_last: bool, low: i64, high: i64, nonce: &str) -> Result<(), String> {
    if cycle.cycle != number || cycle.nonce != nonce {
        return Err(format!("it is there as number {number} under nonce {nonce}"));
    }
    if (cycle.low, cycle.high) != (Some(low), Some(high)) {
        return Err(format!("its rule is {:?} to {:?}", cycle.low, cycle.high));
    }
    let derived = cycle.derived.as_ref().map(CycleSeed::commitment);
    if derived.is_some_and(|derived| derived != cycle.commitment) {
        return Err(format!(
            "its commitment {} is not that of the draw secret",
            cycle.commitment
        ));
    }
    if cycle.seed.is_none() {
        return match &cycle.ended_by {
            None if is_last => Ok(()),
            None => Err("it is open, and another one followed".to_owned()),
            Some(_) => Err("it has ended, and its seed is not published".to_owned()),
        };
    }
    if is_last {
        return Err("its seed is published while it is open".to_owned());
    }
    triggers(cycle)?;
    let by = cycle.ended_by.as_deref();
    if !matches!(by, Some("must-hit" | "take")) {
        return Err(format!("it ended by {by:?}, and the jackpot was never stopped"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::jackpot::check::fixture::found;
    use crate::jackpot::draw::CycleSeed;

    const MUST_HIT: &str = "--must-hit-low 100 --must-hit-high 120";
    const RULE: &str = "must-hit cycles";

    #[test]
    fn a_cycle_that_is_not_that_of_its_seed_is_found() {
        found(RULE, MUST_HIT, "commitment", |evidence| {
            evidence.cycles[0].seed = evidence.cycles[1].seed.clone();
        });
        found(RULE, MUST_HIT, "by its seed", |evidence| {
            evidence.cycles[0].trigger_amount = evidence.cycles[0].trigger_amount.map(|amount| amount + 1);
        });
        found(RULE, MUST_HIT, "draw secret", |evidence| {
            let last = evidence.cycles.last_mut().expect("an open one");
            last.commitment = "00".repeat(32);
        });
    }

    #[test]
    fn a_missing_cycle_or_seed_is_found() {
        found(RULE, MUST_HIT, "times", |evidence| _ = evidence.cycles.remove(1));
        found(RULE, MUST_HIT, "not published", |evidence| {
            evidence.cycles[0].seed = None;
        });
        found(RULE, MUST_HIT, "under nonce", |evidence| {
            evidence.cycles[1].nonce = "0".repeat(32);
        });
    }

    #[test]
    fn a_seed_of_an_open_cycle_is_found() {
        found(RULE, MUST_HIT, "while it is open", |evidence| {
            let last = evidence.cycles.last_mut().expect("an open one");
            last.seed = last.derived.as_ref().map(CycleSeed::reveal);
        });
    }
}
