//! Must-hit cycles: which entry reached each trigger.

use crate::finding::Judged;
use crate::jackpot::{Cycle, Triggers, triggers};
use crate::market::evidence::{Entry, Evidence, Hit};
use crate::market::plan::MILLION;

pub fn hit(evidence: &Evidence) -> Judged {
    let mut hits = 0;
    let mut cycles = 0;
    for (jackpot, tier, index) in evidence.tiers() {
        let rule = &evidence.plan.jackpots()[jackpot].definition["tiers"][index]["must_hit_by"];
        if rule.is_null() {
            continue;
        }
        match of_tier(evidence, jackpot, tier, index) {
            Ok((ended, hit)) => {
                cycles += ended;
                hits += hit;
            }
            Err(what) => return Judged::Violated(format!("{} {tier}: {what}", evidence.id(jackpot))),
        }
    }
    if cycles == 0 {
        return Judged::NotChecked("no cycle ended".to_owned());
    }
    Judged::Held(format!("{cycles} cycles ended, {hits} of them by a hit"))
}

/// How many cycles ended, and how many of them by a hit.
fn of_tier(evidence: &Evidence, jackpot: usize, tier: &str, index: usize) -> Result<(usize, usize), String> {
    let cycles = evidence.shown[jackpot].cycles.iter().filter(|cycle| cycle.tier == tier);
    let ended: Vec<&Cycle> = cycles.filter(|cycle| cycle.ended_by.is_some()).collect();
    let hits = evidence.entries(jackpot).filter_map(|entry| {
        let hit = entry.hit.as_ref().filter(|hit| hit.tier == tier)?;
        Some((entry, hit))
    });
    let hits: Vec<(&Entry, &Hit)> = hits.collect();
    let mut count = 0;
    for cycle in &ended {
        let named = |what: String| format!("cycle {}: {what}", cycle.cycle);
        let due = triggers(cycle).map_err(named)?;
        let mut of_cycle = hits.iter().filter(|(_, hit)| hit.cycle == cycle.cycle);
        let (first, second) = (of_cycle.next(), of_cycle.next());
        let is_hit = cycle.ended_by.as_deref() == Some("must-hit");
        match (first, second) {
            (Some((entry, hit)), None) if is_hit => {
                explained(evidence, entry, hit, jackpot, index, due).map_err(named)?;
                count += 1;
            }
            (None, None) if !is_hit => {}
            (Some((one, _)), Some((other, _))) => {
                return Err(named(format!("{} and {} hit it", one.id, other.id)));
            }
            (found, _) => {
                let found = found.map(|(entry, _)| &entry.id);
                return Err(named(format!(
                    "it ended by {:?}, entry {found:?} hit it",
                    cycle.ended_by
                )));
            }
        }
    }
    if let Some((entry, hit)) = hits
        .iter()
        .find(|(_, hit)| !ended.iter().any(|cycle| cycle.cycle == hit.cycle))
    {
        return Err(format!("{} hit cycle {}, which has not ended", entry.id, hit.cycle));
    }
    Ok((ended.len(), count))
}

/// The entry's trigger is that of the cycle, and the pool reached it, with what was reversed out of it.
fn explained(
    evidence: &Evidence,
    entry: &Entry,
    hit: &Hit,
    jackpot: usize,
    index: usize,
    triggers: Triggers,
) -> Result<(), String> {
    let due = if hit.by == "amount" {
        triggers.amount
    } else {
        triggers.at
    };
    if due != Some(hit.trigger) {
        return Err(format!("{} hit at {}, the seed says {due:?}", entry.id, hit.trigger));
    }
    let pool = entry.contributions[index].1;
    if entry
        .won
        .as_ref()
        .is_none_or(|won| won.tier != hit.tier || won.amount != pool)
    {
        return Err(format!("{} hit a pool of {pool}, and won {:?}", entry.id, entry.won));
    }
    let Some(amount) = triggers.amount else {
        return Ok(());
    };
    if hit.by == "amount"
        && i128::from(pool) * MILLION + reversed(evidence, jackpot, &hit.tier) < i128::from(amount) * MILLION
    {
        return Err(format!("{} hit at {pool}, below {amount}", entry.id));
    }
    first_at(evidence, entry, hit, jackpot, index, amount)
}

/// No entry of the cycle before this one had reached the amount. Where the cycle began without a hit, nothing says with
/// which entry it began.
fn first_at(
    evidence: &Evidence,
    entry: &Entry,
    hit: &Hit,
    jackpot: usize,
    index: usize,
    amount: i64,
) -> Result<(), String> {
    let begin = match hit.cycle.checked_sub(1) {
        None => 0,
        Some(previous) => {
            let mut hits = evidence
                .entries(jackpot)
                .filter_map(|other| Some((other.sequence, other.hit.as_ref()?)));
            let found = hits.find(|(_, other)| other.tier == hit.tier && other.cycle == previous);
            let Some((sequence, _)) = found else { return Ok(()) };
            sequence
        }
    };
    // An entry hits at most one tier: where several are due, the others wait for the next entry.
    let of_cycle = |other: &&Entry| begin < other.sequence && other.sequence < entry.sequence && other.hit.is_none();
    let missed = evidence
        .entries(jackpot)
        .filter(of_cycle)
        .find(|other| other.contributions[index].1 >= amount);
    match missed {
        Some(other) => Err(format!("{} had reached {amount} before {}", other.id, entry.id)),
        None => Ok(()),
    }
}

/// All that was reversed out of a tier, in millionths: the most that a cycle may have lost before its hit.
fn reversed(evidence: &Evidence, jackpot: usize, tier: &str) -> i128 {
    let reversals = evidence.seen.reversals.iter().filter(|one| one.jackpot == jackpot);
    let parts = reversals.flat_map(|one| &one.parts).filter(|part| part.tier == tier);
    parts.map(|part| part.amount - part.uncovered).sum()
}

#[cfg(test)]
mod tests {
    use crate::finding::Judged;
    use crate::market::check::fixture::{day, found, hit};

    #[test]
    fn a_hit_that_its_cycle_does_not_explain_is_found() {
        found("must-hit", "the seed says", |evidence| {
            hit(evidence).hit.as_mut().unwrap().trigger += 1;
        });
        found("must-hit", "and won", |evidence| {
            hit(evidence).won.as_mut().unwrap().amount += 1;
        });
        found("must-hit", "which has not ended", |evidence| {
            hit(evidence).hit.as_mut().unwrap().cycle = 9;
            evidence.shown[1].cycles[0].ended_by = Some("take".to_owned());
        });
        found("must-hit", "None hit it", |evidence| hit(evidence).hit = None);
        found("must-hit", "hit it", |evidence| {
            evidence.shown[1].cycles[0].ended_by = Some("take".to_owned());
        });
        found("must-hit", "by its seed", |evidence| {
            evidence.shown[1].cycles[0].trigger_amount = Some(1);
        });
    }

    #[test]
    fn a_second_hit_and_a_late_one_are_found() {
        found("must-hit", "hit it", |evidence| {
            let twin = hit(evidence).clone();
            let last = evidence.seen.entries.last_mut().unwrap();
            last.hit = twin.hit;
        });
        found("must-hit", "had reached", |evidence| {
            let sequence = hit(evidence).sequence;
            let before = evidence
                .seen
                .entries
                .iter_mut()
                .find(|entry| entry.jackpot == 1 && entry.sequence == sequence - 1);
            before.unwrap().contributions[0].1 = 50;
        });
        found("must-hit", "below", |evidence| {
            let entry = hit(evidence);
            entry.contributions[0].1 = 1;
            entry.won.as_mut().unwrap().amount = 1;
        });
    }

    #[test]
    fn a_day_without_an_ended_cycle_is_not_judged() {
        let mut evidence = day();
        evidence.shown[1].cycles.clear();
        hit(&mut evidence).hit = None;
        assert!(matches!(super::hit(&evidence), Judged::NotChecked(_)));
    }
}
