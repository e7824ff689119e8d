//! What left a jackpot otherwise than by a payout.

use std::collections::HashMap;

use crate::market::evidence::{Entry, Evidence};
use crate::market::plan::MILLION;

pub fn reversed(evidence: &Evidence) -> Result<String, String> {
    let entries = evidence.seen.entries.iter();
    let by_id: HashMap<(usize, &str), &Entry> = entries
        .map(|entry| ((entry.jackpot, entry.id.as_str()), entry))
        .collect();
    let mut uncovered = 0;
    for reversal in &evidence.seen.reversals {
        let (jackpot, id) = (reversal.jackpot, evidence.id(reversal.jackpot));
        let entry = by_id.get(&(jackpot, reversal.entry_id.as_str()));
        let entry = entry.ok_or_else(|| format!("{id}: {} was reversed, and never taken", reversal.entry_id))?;
        let shares = evidence.plan.shares(jackpot, entry.source.as_deref(), entry.stake);
        let tiers = evidence.plan.tiers(jackpot).into_iter().zip(shares);
        let expected: Vec<(&str, i128)> = tiers.map(|(tier, share)| (tier, share.whole())).collect();
        let given: Vec<(&str, i128)> = reversal
            .parts
            .iter()
            .map(|part| (part.tier.as_str(), part.amount))
            .collect();
        if given != expected {
            return Err(format!(
                "{id}: {} gave back {given:?} millionths, it had contributed {expected:?}",
                entry.id
            ));
        }
        if let Some(part) = reversal
            .parts
            .iter()
            .find(|part| !(0..=part.amount).contains(&part.uncovered))
        {
            return Err(format!("{id}: {} has {part:?}", entry.id));
        }
        uncovered += reversal.parts.iter().map(|part| part.uncovered).sum::<i128>();
    }
    let whole = uncovered / MILLION;
    Ok(format!(
        "{} rounds cancelled, {whole} units of them uncovered",
        evidence.seen.reversals.len()
    ))
}

pub fn transferred(evidence: &Evidence) -> Result<String, String> {
    let mut all = Vec::new();
    for transfer in &evidence.seen.transfers {
        let (from, to) = (evidence.id(transfer.from), evidence.id(transfer.to));
        let mut sum = 0;
        for part in &transfer.parts {
            let meters = &evidence.shown[transfer.from].meters;
            let left = meters.iter().find(|meter| meter.tier == part.tier);
            let left = left.map(|meter| (meter.pool, meter.reserve, meter.overflow, meter.remainder_micro));
            if left != Some((0, 0, 0, 0)) {
                return Err(format!("{from} {}: {left:?} is left after it went to {to}", part.tier));
            }
            sum += part.whole;
        }
        all.push(format!("{from} to {to} {sum}"));
    }
    Ok(if all.is_empty() {
        "none".to_owned()
    } else {
        all.join("; ")
    })
}

#[cfg(test)]
mod tests {
    use crate::market::check::fixture::found;

    #[test]
    fn a_reversal_of_another_amount_or_entry_is_found() {
        found("reversals", "gave back", |evidence| {
            evidence.seen.reversals[0].parts[1].amount -= 1;
        });
        found("reversals", "never taken", |evidence| {
            evidence.seen.reversals[0].entry_id.push('x');
        });
        found("reversals", "uncovered: -1", |evidence| {
            evidence.seen.reversals[0].parts[0].uncovered = -1;
        });
    }

    #[test]
    fn what_is_left_behind_is_found() {
        found("transfers", "mini small", |evidence| {
            evidence.shown[0].meters[1].remainder_micro = 1;
        });
    }
}
