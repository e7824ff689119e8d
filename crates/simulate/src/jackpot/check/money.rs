//! Conservation: no unit is lost or made.

use crate::jackpot::evidence::{Evidence, Meter};

const MICRO: i128 = 1_000_000;

/// Per tier, in millionths: what the entries must have contributed is what the meters still hold and have paid;
/// and what the answers said about contributions is what the meter counted.
pub fn conserved(evidence: &Evidence) -> Result<String, String> {
    let entries = evidence.records.len() as i128;
    let mut held = Vec::new();
    for (index, tier) in evidence.plan.tiers.iter().enumerate() {
        let meter = &evidence.meters[index];
        let contributed = entries * i128::from(tier.pool_micro + tier.reserve_micro);
        let there = in_micro(meter);
        if there != contributed + i128::from(meter.funded) * MICRO {
            return Err(format!(
                "{}: {entries} entries contributed {contributed} millionths, but pool {} + reserve {} + overflow {} + paid {} and a \
                 remainder of {} millionths are {there}: {} too many",
                tier.name,
                meter.pool,
                meter.reserve,
                meter.overflow,
                meter.paid,
                meter.remainder_micro,
                there - contributed
            ));
        }
        if i128::from(meter.contributed) != contributed / MICRO {
            return Err(format!(
                "{}: the meter counts {} contributed, the entries gave {}",
                tier.name,
                meter.contributed,
                contributed / MICRO
            ));
        }
        let answered: i128 = evidence
            .answers()
            .map(|(_, answer)| i128::from(answer.contributions[index].amount))
            .sum();
        // Pool and reserve carry a remainder each, so that the whole units of the answers may lag the exact sum by one.
        if !(contributed / MICRO - 1..=contributed / MICRO).contains(&answered) {
            return Err(format!(
                "{}: the answers have {answered} contributed, the entries gave {}",
                tier.name,
                contributed / MICRO
            ));
        }
        held.push(format!(
            "{} {} in, {} paid, {} held",
            tier.name,
            meter.contributed,
            meter.paid,
            meter.pool + meter.reserve + meter.overflow
        ));
    }
    Ok(held.join("; "))
}

fn in_micro(meter: &Meter) -> i128 {
    let whole = [meter.pool, meter.reserve, meter.overflow, meter.paid].map(i128::from);
    whole.iter().sum::<i128>() * MICRO + i128::from(meter.remainder_micro)
}

#[cfg(test)]
mod tests {
    use super::Meter;
    use crate::jackpot::check::fixture::{self, found};

    #[test]
    fn a_unit_lost_or_made_in_any_meter_is_found() {
        let changes: [fn(&mut Meter); 6] = [
            |meter| meter.pool += 1,
            |meter| meter.reserve -= 1,
            |meter| meter.overflow += 1,
            |meter| meter.remainder_micro += 1,
            |meter| meter.paid -= 1,
            |meter| meter.contributed += 1,
        ];
        for change in changes {
            let line = "--reserve-ppm 300000 --rate-ppm 12345";
            found("conservation", line, "", |evidence| change(&mut evidence.meters[0]));
        }
    }

    #[test]
    fn a_wrong_contribution_in_an_answer_is_found() {
        found("conservation", "", "the answers have", |evidence| {
            fixture::answer(evidence, 3).contributions[0].amount += 1;
        });
    }
}
