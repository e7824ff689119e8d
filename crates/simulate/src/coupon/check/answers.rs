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
            Outcome::InLine => return Err(format!("{id} is not decided")),
            Outcome::Issued(_) if call.status == ACCEPTED || is_fresh != call.replayed => {}
            Outcome::Issued(_) => {
                return Err(format!("{id} was answered {}, which fits no issue", told(call)));
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

fn told(call: &Call) -> String {
    let replayed = if call.replayed {
        ", as a replay"
    } else {
        ", not as a replay"
    };
    format!("{}{replayed}", call.status)
}

/// All calls of a request are told the same, and exactly one of them made it.
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
            return Err(format!("{id} was made {made} times: so many answers are no replays"));
        }
        if made == 0 && !lost {
            return Err(format!("{id} was made by nobody: all its answers are replays"));
        }
        repeats += request.calls.len() - 1;
    }
    Ok(format!("{repeats} repeats"))
}

/// Taking back is answered with the unit, and no other request is told to be voided. Who repeats the request is told what
/// it was told first, its unit; who looks is told that it is voided.
pub fn voids_are_told(evidence: &Evidence) -> Result<String, String> {
    let plan = &evidence.plan;
    let mut taken = BTreeSet::new();
    for void in &evidence.voids {
        let id = plan.request_id(void.ask);
        if !taken.insert(void.ask) {
            return Err(format!("{id} was taken back twice"));
        }
        let calls = evidence.calls.iter().filter(|call| call.ask == void.ask);
        for call in calls {
            let (Ok(told), Ok(taken @ Outcome::Voided(_))) = (&call.outcome, &void.outcome) else {
                return Err(format!("taking back {id} was answered {:?}", void.outcome));
            };
            if !told.is_same(taken) {
                return Err(format!("{id} was told {told:?}, and taken back as {taken:?}"));
            }
        }
    }
    for call in &evidence.calls {
        let asked = evidence.voids.iter().find(|void| void.ask == call.ask);
        let asked = asked.is_some_and(|void| void.sent_us <= call.decided_us);
        if matches!(call.outcome, Ok(Outcome::Voided(_))) && !asked {
            return Err(format!(
                "{} is told to be voided, and nobody had taken it back",
                plan.request_id(call.ask)
            ));
        }
    }
    Ok(format!("{} units taken back", evidence.voids.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coupon::check::fixture;

    fn is_issued(outcome: &Outcome) -> bool {
        matches!(outcome, Outcome::Issued(_))
    }

    #[test]
    fn missing_unreadable_undecided_and_misplaced_answers_are_found() {
        let found = |change: fn(&mut Evidence)| {
            let mut evidence = fixture::honest("");
            change(&mut evidence);
            each_is_its_own(&evidence).unwrap_err()
        };
        assert!(found(|evidence| _ = evidence.calls.pop()).contains("lacks 1"));
        assert!(found(|evidence| evidence.calls[3].outcome = Err("user_id is u9".to_owned())).contains("u9"));
        assert!(found(|evidence| evidence.calls[3].outcome = Ok(Outcome::InLine)).contains("not decided"));
        assert!(found(|evidence| evidence.calls[3].ask.user += 1_000).contains("lacks"));
        let replayed = found(|evidence| {
            let call = fixture::first(evidence, is_issued);
            evidence.calls[call].replayed = true;
        });
        assert!(replayed.contains("as a replay"), "{replayed}");
        let mut refused = fixture::honest("");
        let call = fixture::first(&refused, is_issued);
        refused.calls[call].outcome = Ok(Outcome::OutOfStock);
        assert!(each_is_its_own(&refused).unwrap_err().contains("201"));
    }

    #[test]
    fn another_answer_when_repeated_is_found() {
        for line in ["", "--queued"] {
            let mut evidence = fixture::honest(line);
            let [_, again] = fixture::twice(&evidence, is_issued);
            fixture::unit(&mut evidence, again).code.push('0');
            assert!(repeats_are_the_same(&evidence).unwrap_err().contains("when repeated"));
            let mut evidence = fixture::honest(line);
            let [_, again] = fixture::twice(&evidence, |outcome| *outcome == Outcome::OutOfStock);
            evidence.calls[again].outcome = Ok(Outcome::NotOpen);
            assert!(repeats_are_the_same(&evidence).unwrap_err().contains("when repeated"));
        }
    }

    #[test]
    fn a_request_made_twice_or_by_nobody_is_found() {
        let mut evidence = fixture::honest("");
        let [first, again] = fixture::twice(&evidence, is_issued);
        evidence.calls[again].replayed = false;
        assert!(repeats_are_the_same(&evidence).unwrap_err().contains("2 times"));
        (evidence.calls[first].replayed, evidence.calls[again].replayed) = (true, true);
        assert!(repeats_are_the_same(&evidence).unwrap_err().contains("by nobody"));
        evidence.kills = 1;
        repeats_are_the_same(&evidence).expect("the service may have repeated its call to Redis");
        (evidence.kills, evidence.calls[first].repeats) = (0, 1);
        repeats_are_the_same(&evidence).expect("the call whose answer was lost may have made it");
    }

    #[test]
    fn a_void_of_another_unit_and_one_of_nobody_are_found() {
        let found = |change: fn(&mut Evidence)| {
            let mut evidence = fixture::honest("--voids 30");
            change(&mut evidence);
            voids_are_told(&evidence).unwrap_err()
        };
        let nobodys = found(|evidence| evidence.voids.clear());
        assert!(nobodys.contains("nobody had"), "{nobodys}");
        let other = found(|evidence| {
            if let Ok(Outcome::Voided(unit)) = &mut evidence.voids[0].outcome {
                unit.sequence += 1;
            }
        });
        assert!(other.contains("taken back as"), "{other}");
        let twice = found(|evidence| evidence.voids.push(evidence.voids[0].clone()));
        assert!(twice.contains("twice"), "{twice}");
        assert!(found(|evidence| evidence.voids[0].outcome = Ok(Outcome::OutOfStock)).contains("was answered"));
    }
}
