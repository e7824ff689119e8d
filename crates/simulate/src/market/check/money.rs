//! Conservation, to the millionth.

use crate::jackpot::Meter;
use crate::market::evidence::Evidence;
use crate::market::plan::MILLION;

/// What the entries of a tier contributed, in millionths.
fn contribution(evidence: &Evidence, jackpot: usize, tier: usize) -> i128 {
    let entries = evidence.entries(jackpot);
    let shares = entries.map(|entry| evidence.plan.shares(jackpot, entry.source.as_deref(), entry.stake)[tier].whole());
    shares.sum()
}

fn meter<'e>(evidence: &'e Evidence, jackpot: usize, tier: &str) -> Result<&'e Meter, String> {
    let found = evidence.shown[jackpot].meters.iter().find(|meter| meter.tier == tier);
    found.ok_or_else(|| format!("{}: no meter of {tier}", evidence.id(jackpot)))
}

pub fn contributed(evidence: &Evidence) -> Result<String, String> {
    let mut all = Vec::new();
    for (jackpot, tier, index) in evidence.tiers() {
        let place = format!("{} {tier}", evidence.id(jackpot));
        let meter = meter(evidence, jackpot, tier)?;
        let exact = contribution(evidence, jackpot, index);
        if i128::from(meter.contributed) != exact / MILLION {
            return Err(format!(
                "{place}: the meter counts {}, the entries contributed {exact} millionths",
                meter.contributed
            ));
        }
        let answered: i128 = evidence
            .entries(jackpot)
            .map(|entry| i128::from(entry.contributions[index].0))
            .sum();
        // Pool and reserve carry a remainder each, so the whole units of the answers may lag the exact sum by one.
        if !(exact / MILLION - 1..=exact / MILLION).contains(&answered) {
            return Err(format!(
                "{place}: the answers have {answered}, the entries contributed {exact} millionths"
            ));
        }
        all.push(format!("{place} {}", meter.contributed));
    }
    Ok(all.join("; "))
}

/// Every term is known exactly: contributions by the rules, reversals and transfers by their answers, the rest by the meters.
pub fn conserved(evidence: &Evidence) -> Result<String, String> {
    let mut all = Vec::new();
    for (jackpot, tier, index) in evidence.tiers() {
        let meter = meter(evidence, jackpot, tier)?;
        let reversals = evidence.seen.reversals.iter().filter(|one| one.jackpot == jackpot);
        let parts = reversals.flat_map(|one| &one.parts).filter(|part| part.tier == tier);
        let (reversed, uncovered) = parts.fold((0, 0), |sum, part| (sum.0 + part.amount, sum.1 + part.uncovered));
        let (received, given) = moved(evidence, jackpot, tier);
        let came = contribution(evidence, jackpot, index) + uncovered + received;
        let whole = [meter.pool, meter.reserve, meter.overflow, meter.paid].map(i128::from);
        let there = whole.iter().sum::<i128>() * MILLION + i128::from(meter.remainder_micro) + reversed + given;
        let place = format!("{} {tier}", evidence.id(jackpot));
        if came != there {
            return Err(format!(
                "{place}: {came} millionths came, {there} are accounted for: {} too many; {meter:?}",
                there - came
            ));
        }
        for (name, shown, exact) in [
            ("reversed", meter.reversed, reversed),
            ("funded", meter.funded, uncovered),
            ("transferred_in", meter.transferred_in, received),
            ("transferred_out", meter.transferred_out, given),
        ] {
            if i128::from(shown) != exact / MILLION {
                return Err(format!("{place}: {name} is {shown}, exactly it is {exact} millionths"));
            }
        }
        all.push(format!(
            "{place} {} paid, {} held",
            meter.paid,
            meter.pool + meter.reserve + meter.overflow
        ));
    }
    Ok(all.join("; "))
}

/// What a tier received and gave by transfers, in millionths.
fn moved(evidence: &Evidence, jackpot: usize, tier: &str) -> (i128, i128) {
    let (mut received, mut given) = (0, 0);
    for transfer in &evidence.seen.transfers {
        for part in &transfer.parts {
            let exact = i128::from(part.whole) * MILLION + i128::from(part.remainder_micro);
            if transfer.to == jackpot && part.to_tier == tier {
                received += exact;
            }
            if transfer.from == jackpot && part.tier == tier {
                given += exact;
            }
        }
    }
    (received, given)
}

#[cfg(test)]
mod tests {
    use crate::jackpot::Meter;
    use crate::market::check::fixture::found;

    #[test]
    fn a_unit_lost_or_made_anywhere_is_found() {
        let changes: [fn(&mut Meter); 9] = [
            |meter| meter.pool += 1,
            |meter| meter.reserve += 1,
            |meter| meter.overflow += 1,
            |meter| meter.remainder_micro += 1,
            |meter| meter.paid += 1,
            |meter| meter.funded += 1,
            |meter| meter.reversed += 1,
            |meter| meter.transferred_in += 1,
            |meter| meter.transferred_out += 1,
        ];
        for change in changes {
            found("conservation", "network grand", |evidence| {
                change(&mut evidence.shown[1].meters[0]);
            });
        }
        found("contributions", "mini small", |evidence| {
            evidence.shown[0].meters[1].contributed += 1;
        });
        found("contributions", "the answers have", |evidence| {
            evidence.seen.entries[0].contributions[0].0 += 5;
        });
    }

    #[test]
    fn a_millionth_too_much_in_a_reversal_is_found() {
        found("conservation", "mini grand", |evidence| {
            evidence.seen.reversals[0].parts[0].amount += 1;
        });
    }
}
