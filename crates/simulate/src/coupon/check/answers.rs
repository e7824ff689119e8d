//! Exactly once, seen from outside: each answer is to its own request, and a repeat says the same.

use std::collections::{BTreeMap, BTreeSet};

use crate::coupon::answer::Outcome;
use crate::coupon::evidence::{Call, Evidence};
use crate::coupon::plan::Ask;

const CREATED: u16 = 201;
const ACCEPTED: u16 = 202;

/// Every call of the plan is there with an outcome that fits its status.
pub fn each_is_its_own(evidence: &Evidence) -> Result<String, String> {
    let plan = &evidence.plan;
    for call in &evidence.calls {
        let id = plan.request_id(call.ask);
        let outcome = call.outcome.as_ref().map_err(|wrong| format!("{id}: {wrong}"))?;
        let is_fresh = call.status == CREATED;
        match outcome {
            Outcome::Queued => return Err(format!("{id} is not decided")),
            Outcome::Issued(_) if call.status == ACCEPTED || is_fresh != call.replayed => {}
            Outcome::Issued(_) => {
                return Err(format!("{id} was answered {}, which fits no issue", described(call)));
            }
            _ if is_fresh => return Err(format!("{id} was answered 201, and then {outcome:?}")),
            _ => {}
        }
    }
    let mut sent = BTreeMap::<Ask, i64>::new();
    for ask in plan.asks() {
        *sent.entry(ask).or_default() += 1;
    }
    for call in &evidence.calls {
        *sent.entry(call.ask).or_default() -= 1;
    }
    match sent.iter().find(|(_, left)| **left != 0) {
        Some((ask, left)) => Err(format!("{} lacks {left} answers", plan.request_id(*ask))),
        None => Ok(format!("{} answers", evidence.calls.len())),
    }
}

fn described(call: &Call) -> String {
    let replayed = if call.replayed {
        ", as a replay"
    } else {
        ", not as a replay"
    };
    format!("{}{replayed}", call.status)
}

/// All calls of a request get the same answer, and exactly one of them made it.
pub fn repeats_are_the_same(evidence: &Evidence) -> Result<String, String> {
    let mut repeats = 0;
    for request in evidence.requests() {
        let id = evidence.plan.request_id(request.ask);
        let outcomes = request.calls.iter().filter_map(|call| call.outcome.as_ref().ok());
        for (one, other) in outcomes.clone().zip(outcomes.skip(1)) {
            if !one.is_same(other) {
                return Err(format!("{id} was answered {one:?}, and when repeated {other:?}"));
            }
        }
        let made = request.calls.iter().filter(|call| !call.replayed).count();
        // A call whose answer was lost may have made it; and a service, which repeats a call to Redis that it has no reply
        // to, may then find its own work. Only without kills is neither to be expected.
        let lost = evidence.kills > 0 || request.calls.iter().any(|call| call.repeats > 0);
        if made > 1 {
            return Err(format!("{id} was made {made} times: as many answers are no replays"));
        }
        if made == 0 && !lost {
            return Err(format!("{id} was never made: all its answers are replays"));
        }
        repeats += request.calls.len() - 1;
    }
    Ok(format!("{repeats} repeats"))
}

/// A void answers with the unit, and no other request is voided. A repeat of the request gets its first answer, the unit; a
/// look says that it is voided.
pub fn voids_are_shown(evidence: &Evidence) -> Result<String, String> {
    let plan = &evidence.plan;
    let mut taken = BTreeSet::new();
    for void in &evidence.voids {
        let id = plan.request_id(void.ask);
        if !taken.insert(void.ask) {
            return Err(format!("{id} was taken back twice"));
        }
        let calls = evidence.calls.iter().filter(|call| call.ask == void.ask);
        for call in calls {
            let (Ok(answered), Ok(taken @ Outcome::Voided(_))) = (&call.outcome, &void.outcome) else {
                return Err(format!("taking back {id} was answered {:?}", void.outcome));
            };
            if !answered.is_same(taken) {
                return Err(format!("{id} was answered {answered:?}, and taken back as {taken:?}"));
            }
        }
    }
    for call in &evidence.calls {
        let asked = evidence.voids.iter().find(|void| void.ask == call.ask);
        let asked = asked.is_some_and(|void| void.sent_us <= call.decided_us);
        if matches!(call.outcome, Ok(Outcome::Voided(_))) && !asked {
            return Err(format!(
                "{} is voided, and nobody had taken it back",
                plan.request_id(call.ask)
            ));
        }
    }
    Ok(format!("{} units taken back", evidence.voids.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coupon::check::fixture::{self, found};

    fn is_issued(outcome: &Outcome) -> bool {
        matches!(outcome, Outcome::Issued(_))
    }

    #[test]
    fn missing_unreadable_undecided_and_misplaced_answers_are_found() {
        let changed = |named: &str, change: fn(&mut Evidence)| found("answers", "", named, change);
        changed("lacks 1", |evidence| _ = evidence.calls.pop());
        changed("u9", |evidence| {
            evidence.calls[3].outcome = Err("user_id is u9".to_owned());
        });
        changed("not decided", |evidence| {
            evidence.calls[3].outcome = Ok(Outcome::Queued);
        });
        changed("lacks", |evidence| evidence.calls[3].ask.user += 1_000);
        changed("as a replay", |evidence| {
            let call = fixture::first(evidence, is_issued);
            evidence.calls[call].replayed = true;
        });
        changed("201", |evidence| {
            let call = fixture::first(evidence, is_issued);
            evidence.calls[call].outcome = Ok(Outcome::OutOfStock);
        });
    }

    #[test]
    fn another_answer_when_repeated_is_found() {
        for line in ["", "--queued"] {
            found("repeats", line, "when repeated", |evidence| {
                let [_, again] = fixture::twice(evidence, is_issued);
                fixture::unit(evidence, again).code.push('0');
            });
            found("repeats", line, "when repeated", |evidence| {
                let [_, again] = fixture::twice(evidence, |outcome| *outcome == Outcome::OutOfStock);
                evidence.calls[again].outcome = Ok(Outcome::NotOpen);
            });
        }
    }

    #[test]
    fn a_request_made_twice_or_never_is_found() {
        found("repeats", "", "2 times", |evidence| {
            let [_, again] = fixture::twice(evidence, is_issued);
            evidence.calls[again].replayed = false;
        });
        let replay_both = |evidence: &mut Evidence| {
            for call in fixture::twice(evidence, is_issued) {
                evidence.calls[call].replayed = true;
            }
        };
        found("repeats", "", "never made", replay_both);
        let mut evidence = fixture::honest("");
        replay_both(&mut evidence);
        evidence.kills = 1;
        repeats_are_the_same(&evidence).expect("the service may have repeated its call to Redis");
        let [first, _] = fixture::twice(&evidence, is_issued);
        (evidence.kills, evidence.calls[first].repeats) = (0, 1);
        repeats_are_the_same(&evidence).expect("the call whose answer was lost may have made it");
    }

    #[test]
    fn a_void_of_another_unit_and_an_unasked_one_are_found() {
        let changed = |named: &str, change: fn(&mut Evidence)| found("voids", "--voids 30", named, change);
        changed("nobody had", |evidence| evidence.voids.clear());
        changed("taken back as", |evidence| {
            if let Ok(Outcome::Voided(unit)) = &mut evidence.voids[0].outcome {
                unit.sequence += 1;
            }
        });
        changed("twice", |evidence| evidence.voids.push(evidence.voids[0].clone()));
        changed("was answered", |evidence| {
            evidence.voids[0].outcome = Ok(Outcome::OutOfStock);
        });
    }
}
