//! The order of entries and claims.

use std::collections::BTreeSet;

use crate::jackpot::answer::{Outcome, Payout};
use crate::jackpot::evidence::Evidence;

/// Sequences are 1 to the number of entries, each once.
pub fn sequences_are_dense(evidence: &Evidence) -> Result<String, String> {
    let mut expected = 1;
    for (record, answer) in evidence.answers() {
        match answer.sequence.cmp(&expected) {
            std::cmp::Ordering::Equal => expected += 1,
            std::cmp::Ordering::Less => {
                return Err(format!(
                    "sequence {} was given twice, once to {}",
                    answer.sequence, record.entry.id
                ));
            }
            std::cmp::Ordering::Greater => {
                return Err(format!(
                    "sequence {expected} was given to nobody; {} has {}",
                    record.entry.id, answer.sequence
                ));
            }
        }
    }
    Ok(format!("1 to {}", expected - 1))
}

/// No entry has a lower sequence than one that was answered before it was sent.
pub fn sequences_follow_time(evidence: &Evidence) -> Result<String, String> {
    let mut earliest_answer = u64::MAX;
    let mut earliest_id = "";
    // From the highest sequence down: the earliest answer among those above.
    for (record, answer) in evidence.answers().rev() {
        if earliest_answer < record.sent_us {
            return Err(format!(
                "{} has sequence {} but was sent {} µs after {earliest_id}, which has a higher one, was answered",
                record.entry.id,
                answer.sequence,
                record.sent_us - earliest_answer
            ));
        }
        if record.answered_us < earliest_answer {
            earliest_answer = record.answered_us;
            earliest_id = &record.entry.id;
        }
    }
    Ok(format!("{} entries", evidence.records.len()))
}

/// Claim numbers are dense; first claims are numbered in sequence; a redraw's claim comes after every first claim
/// up to its entry.
pub fn claims_are_in_order(evidence: &Evidence) -> Result<String, String> {
    let mut numbers = BTreeSet::new();
    let mut last_first_claim = (0, "");
    let mut redrawn = 0;
    for (record, answer) in evidence.answers() {
        let Some(Payout { claim_order, .. }) = answer.payout.as_deref() else {
            continue;
        };
        let id = record.entry.id.as_str();
        if !numbers.insert(*claim_order) {
            return Err(format!("claim {claim_order} was given twice, once to {id}"));
        }
        if *claim_order < last_first_claim.0 {
            let (before, other) = last_first_claim;
            return Err(format!(
                "{id} (sequence {}) is claim {claim_order}, but {other}, drawn and paid before it, is claim {before}",
                answer.sequence
            ));
        }
        let first = answer.attempts.first();
        if answer.must_hit.is_some() || first.is_some_and(|attempt| attempt.result == Outcome::Paid) {
            last_first_claim = (*claim_order, id);
        } else {
            redrawn += 1;
        }
    }
    let count = numbers.len() as u64;
    match (1..=count).find(|number| !numbers.contains(number)) {
        Some(missing) => Err(format!("{count} claims were paid, but none is number {missing}")),
        None => Ok(format!("{count} claims, {redrawn} of them after a redraw")),
    }
}

#[cfg(test)]
mod tests {
    use crate::jackpot::check::fixture::{self, found};

    #[test]
    fn a_gap_and_a_double_are_found() {
        found("sequences", "", "nobody", |evidence| _ = evidence.records.remove(10));
        found("sequences", "", "twice", |evidence| {
            fixture::answer(evidence, 10).sequence = 10;
        });
    }

    #[test]
    fn an_entry_that_overtook_is_found() {
        found("real-time order", "", "higher one", |evidence| {
            let late = evidence.records[20].answered_us + 1;
            (evidence.records[15].sent_us, evidence.records[15].answered_us) = (late, late + 9);
        });
    }

    #[test]
    fn swapped_double_and_missing_claims_are_found() {
        let changed = |change: fn(u64, u64) -> (u64, u64)| {
            found("claim order", "", "", |evidence| {
                let [a, b] = fixture::first_paid(evidence);
                let (one, two) = (
                    fixture::payout(evidence, a).claim_order,
                    fixture::payout(evidence, b).claim_order,
                );
                let (one, two) = change(one, two);
                fixture::payout(evidence, a).claim_order = one;
                fixture::payout(evidence, b).claim_order = two;
            })
        };
        assert!(changed(|one, two| (two, one)).contains("before it"));
        assert!(changed(|one, _| (one, one)).contains("twice"));
        let missing = changed(|one, _| (one, 1 << 40));
        assert!(
            missing.contains("before it") || missing.contains("none is number"),
            "{missing}"
        );
    }
}
