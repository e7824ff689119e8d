//! Every refusal has its reason.

use std::collections::BTreeMap;

use crate::coupon::answer::{Outcome, Unit};
use crate::coupon::evidence::{Evidence, Issue, Request};
use crate::coupon::plan::user_id;

/// Already-issued names a unit that its user had at some instant between sending and decision; at some such instant all
/// units may have been out where it was out-of-stock; and no other refusal is given.
pub fn are_justified(evidence: &Evidence) -> Result<String, String> {
    let issues = evidence.issues();
    let out = Out::of(evidence, &issues);
    let by_id: BTreeMap<String, &Issue<'_>> = issues
        .iter()
        .map(|issue| (evidence.plan.request_id(issue.request.ask), issue))
        .collect();
    let (mut already, mut empty) = (0, 0);
    for request in evidence.requests() {
        let id = evidence.plan.request_id(request.ask);
        match request.outcome() {
            Some(Outcome::AlreadyIssued {
                request_id,
                user_id,
                unit,
            }) => {
                had_one(&request, user_id, unit, by_id.get(request_id).copied())
                    .map_err(|wrong| format!("{id} is already-issued by {request_id}, {wrong}"))?;
                already += 1;
            }
            Some(Outcome::OutOfStock) => {
                let most = out.most(request.sent_us, request.decided_us);
                if most < evidence.plan.options.stock {
                    return Err(format!(
                        "{id} is out-of-stock, but at most {most} of {} units were out between its sending and its answer",
                        evidence.plan.options.stock
                    ));
                }
                empty += 1;
            }
            Some(Outcome::NotOpen) => return Err(format!("{id} is not-open, but the coupon was")),
            _ => {}
        }
    }
    Ok(format!("{already} already issued, {empty} out of stock"))
}

/// What is wrong with the unit that an already-issued names.
fn had_one(request: &Request<'_>, named_user: &str, unit: &Unit, first: Option<&Issue<'_>>) -> Result<(), String> {
    let first = first.ok_or("which no answer issued")?;
    if named_user != user_id(request.ask.user) || first.request.ask.user != request.ask.user {
        return Err(format!("which is not of its user u{}", request.ask.user));
    }
    if first.unit != unit {
        return Err(format!(
            "which it tells as {unit:?}, and which was issued as {:?}",
            first.unit
        ));
    }
    if first.request.sent_us > request.decided_us {
        return Err("which was sent later".to_owned());
    }
    if first.void.is_some_and(|void| void.answered_us < request.sent_us) {
        return Err("which had been taken back before".to_owned());
    }
    Ok(())
}

/// How many units may have been out, at most: each from the first instant at which it can have been issued to the last
/// at which it can have been taken back.
struct Out {
    /// Ascending: a unit is not issued before all with lower sequences were asked for.
    issued_us: Vec<u64>,
    /// Ascending.
    back_us: Vec<u64>,
}

impl Out {
    fn of(evidence: &Evidence, issues: &[Issue<'_>]) -> Self {
        let mut latest = 0;
        let issued_us = issues.iter().map(|issue| {
            latest = latest.max(issue.request.sent_us);
            latest
        });
        let issued_us = issued_us.collect();
        let mut back_us: Vec<u64> = evidence.voids.iter().map(|void| void.answered_us).collect();
        back_us.sort_unstable();
        Self { issued_us, back_us }
    }

    /// At any instant between these two. It falls only after a unit came back, so that it is highest at one of those
    /// instants, or at the end.
    fn most(&self, from_us: u64, to_us: u64) -> u64 {
        let inside = |at: &&u64| (from_us..=to_us).contains(at);
        let instants = self.back_us.iter().filter(inside).chain([&to_us]);
        instants.map(|at| self.at(*at)).max().unwrap_or(0)
    }

    fn at(&self, at_us: u64) -> u64 {
        let issued = self.issued_us.partition_point(|issued_us| *issued_us <= at_us);
        let back = self.back_us.partition_point(|back_us| *back_us < at_us);
        issued.saturating_sub(back) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coupon::check::fixture;

    fn is_refused(outcome: &Outcome) -> bool {
        matches!(outcome, Outcome::AlreadyIssued { .. })
    }

    #[test]
    fn out_of_stock_while_units_were_left_is_found() {
        for line in ["", "--queued", "--voids 5"] {
            let mut evidence = fixture::honest(line);
            let third = fixture::first(&evidence, |outcome| {
                outcome.unit().is_some_and(|unit| unit.sequence == 3)
            });
            let ask = evidence.calls[third].ask;
            fixture::answer_with(&mut evidence, ask, &Outcome::OutOfStock);
            let detail = are_justified(&evidence).unwrap_err();
            assert!(detail.contains("of 60 units were out"), "{line}: {detail}");
        }
    }

    #[test]
    fn out_of_stock_after_a_void_is_found_unless_another_took_the_unit() {
        let mut evidence = fixture::honest("");
        let last = evidence.calls.len() - 1;
        let at = evidence.calls[last].sent_us;
        let call = fixture::first(&evidence, |outcome| {
            outcome.unit().is_some_and(|unit| unit.sequence == 1)
        });
        let ask = evidence.calls[call].ask;
        let unit = fixture::unit(&mut evidence, call).clone();
        evidence.calls[last].outcome = Ok(Outcome::OutOfStock);
        evidence.calls[last].ask.request = 99;
        are_justified(&evidence).expect("all were out");
        evidence.voids.push(crate::coupon::evidence::Void {
            ask,
            sent_us: at - 9,
            answered_us: at - 1,
            outcome: Ok(Outcome::Voided(unit)),
        });
        let detail = are_justified(&evidence).unwrap_err();
        assert!(detail.contains("at most 59 of 60"), "{detail}");
        evidence.voids[0].answered_us = at + 1;
        are_justified(&evidence).expect("it may have been refused before the unit came back");
    }

    #[test]
    fn already_issued_needs_a_unit_of_this_user_as_it_was_issued_then() {
        let found = |named: &str, change: fn(&mut Evidence, usize)| {
            let mut evidence = fixture::honest("");
            let call = fixture::first(&evidence, is_refused);
            change(&mut evidence, call);
            let ask = evidence.calls[call].ask;
            let outcome = evidence.calls[call].outcome.clone().expect("readable");
            fixture::answer_with(&mut evidence, ask, &outcome);
            let detail = are_justified(&evidence).unwrap_err();
            assert!(detail.contains(named), "{detail}");
        };
        found("which no answer issued", |evidence, call| {
            if let Ok(Outcome::AlreadyIssued { request_id, .. }) = &mut evidence.calls[call].outcome {
                request_id.push('9');
            }
        });
        found("not of its user", |evidence, call| {
            let user = evidence.calls[call].ask.user;
            let issues = evidence.issues();
            let other = issues.iter().find(|issue| issue.request.ask.user != user);
            let other = other
                .map(|issue| evidence.plan.request_id(issue.request.ask))
                .expect("one");
            if let Ok(Outcome::AlreadyIssued { request_id, .. }) = &mut evidence.calls[call].outcome {
                *request_id = other;
            }
        });
        found("was issued as", |evidence, call| {
            fixture::unit(evidence, call).sequence += 1;
        });
        found("sent later", |evidence, call| {
            let ask = evidence.calls[call].ask;
            for call in evidence.calls.iter_mut().filter(|call| call.ask != ask) {
                call.sent_us += 1 << 40;
                call.decided_us += 1 << 40;
            }
        });
    }

    #[test]
    fn already_issued_by_what_had_been_taken_back_and_not_open_are_found() {
        let mut evidence = fixture::honest("");
        let call = fixture::first(&evidence, is_refused);
        evidence.plan.options.stock -= 1;
        let (ask, sent_us) = (evidence.calls[call].ask, evidence.calls[call].sent_us);
        let unit = fixture::unit(&mut evidence, call).clone();
        let first = evidence
            .issues()
            .iter()
            .find(|issue| issue.unit == &unit)
            .map(|issue| issue.request.ask);
        evidence.voids.push(crate::coupon::evidence::Void {
            ask: first.expect("its issue"),
            sent_us: 0,
            answered_us: sent_us - 1,
            outcome: Ok(Outcome::Voided(unit)),
        });
        assert!(are_justified(&evidence).unwrap_err().contains("taken back before"));
        fixture::answer_with(&mut evidence, ask, &Outcome::NotOpen);
        assert!(are_justified(&evidence).unwrap_err().contains("not-open"));
    }
}
