//! The issues among themselves: their numbers, the stock, their users.

use std::collections::BTreeMap;

use crate::coupon::evidence::{Evidence, Issue};

/// Sequences are 1 to the number of issues, each once.
pub fn sequences_are_dense(evidence: &Evidence) -> Result<String, String> {
    let mut expected = 1;
    for issue in evidence.issues() {
        let (sequence, id) = (issue.unit.sequence, evidence.plan.request_id(issue.request.ask));
        if sequence < expected {
            return Err(format!("sequence {sequence} was given twice, once to {id}"));
        }
        if sequence > expected {
            return Err(format!("sequence {expected} was given to nobody; {id} has {sequence}"));
        }
        expected += 1;
    }
    Ok(match expected {
        1 => "no issue".to_owned(),
        _ => format!("1 to {}", expected - 1),
    })
}

/// The stock is issued, or each user gets one, and beyond that only what was taken back; at no issue are more out.
pub fn stock_is_exact(evidence: &Evidence) -> Result<String, String> {
    let plan = &evidence.plan;
    let (all, voids) = (evidence.issues(), evidence.voids.len() as u64);
    let (issued, expected) = (all.len() as u64, plan.expected());
    let counts = || {
        format!(
            "{issued} units were issued to {} users of a stock of {}, with {voids} taken back",
            plan.crowd.users, plan.options.stock
        )
    };
    if !(expected..=expected + voids).contains(&issued) {
        return Err(counts());
    }
    let mut sent_us: Vec<u64> = evidence.voids.iter().map(|void| void.sent_us).collect();
    sent_us.sort_unstable();
    for (before, issue) in (0_u64..).zip(&all) {
        // Back by then at most; all that were issued before it are out else.
        let back = sent_us.partition_point(|sent_us| *sent_us <= issue.request.decided_us) as u64;
        if before + 1 > plan.options.stock + back {
            return Err(format!(
                "sequence {} was issued while {} of {} units were out",
                issue.unit.sequence,
                before - back,
                plan.options.stock
            ));
        }
    }
    Ok(counts())
}

/// Each unit of a user, except the last, was taken back before the answer with the next one.
pub fn once_per_user(evidence: &Evidence) -> Result<String, String> {
    let mut by_user = BTreeMap::<u32, Issue<'_>>::new();
    let mut again = 0;
    for issue in evidence.issues() {
        let user = issue.request.ask.user;
        let decided_us = issue.request.decided_us;
        let (sequence, earlier) = (issue.unit.sequence, by_user.insert(user, issue));
        let Some(earlier) = earlier else {
            continue;
        };
        if earlier.void.is_none_or(|void| void.sent_us > decided_us) {
            return Err(format!(
                "u{user} was issued sequence {sequence} while it had {}",
                earlier.unit.sequence
            ));
        }
        again += 1;
    }
    Ok(format!("{} users, {again} of them again after a void", by_user.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coupon::answer::{Outcome, Unit};
    use crate::coupon::check::fixture::{self, found};
    use crate::coupon::evidence::Void;
    use crate::coupon::plan::Ask;

    /// The request with one sequence gets another.
    fn renumber(evidence: &mut Evidence, from: u64, sequence: u64) {
        let (ask, outcome) = fixture::issue(evidence, from);
        let unit = outcome.unit().cloned().expect("a unit");
        fixture::answer_with(evidence, ask, &Outcome::Issued(Unit { sequence, ..unit }));
    }

    #[test]
    fn a_gap_and_a_double_are_found() {
        found("sequences", "", "10 was given to nobody", |evidence| {
            renumber(evidence, 10, 61);
        });
        found("sequences", "", "9 was given twice", |evidence| {
            renumber(evidence, 10, 9);
        });
    }

    #[test]
    fn one_unit_too_many_or_too_few_is_found() {
        for line in ["", "--queued", "--voids 4"] {
            found("stock", line, "", |evidence| evidence.plan.options.stock -= 10);
            found("stock", line, "", |evidence| evidence.plan.options.stock += 10);
        }
        found("stock", "", "59 units", |evidence| {
            let (ask, _) = fixture::issue(evidence, 60);
            fixture::answer_with(evidence, ask, &Outcome::OutOfStock);
        });
    }

    #[test]
    fn a_unit_issued_before_another_was_taken_back_is_found() {
        found("stock", "--voids 4", "while 60 of 60 units were out", |evidence| {
            for void in &mut evidence.voids {
                (void.sent_us, void.answered_us) = (u64::MAX - 1, u64::MAX);
            }
        });
    }

    #[test]
    fn a_user_with_two_units_is_found() {
        let give_both = |evidence: &mut Evidence| {
            let [(one, _), (two, _)] = [1, 2].map(|sequence| fixture::issue(evidence, sequence));
            for call in evidence.calls.iter_mut().filter(|call| call.ask == two) {
                call.ask = Ask {
                    user: one.user,
                    request: 99,
                };
            }
        };
        found("once per user", "", "while it had 1", give_both);
        let mut evidence = fixture::honest("");
        give_both(&mut evidence);
        let (one, outcome) = fixture::issue(&evidence, 1);
        evidence.voids.push(Void {
            ask: one,
            sent_us: 0,
            answered_us: 1,
            outcome: Ok(outcome),
        });
        once_per_user(&evidence).expect("it was taken back before");
    }
}
