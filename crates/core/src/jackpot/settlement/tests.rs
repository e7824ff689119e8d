use super::*;
use crate::wire::Field;

const ANNA: (&str, &str) = ("key-of-anna", "anna");
const BOB: (&str, &str) = ("key-of-bob", "bob");

fn report(ended: Ended) -> Wish {
    Wish::Report(Attempt {
        ended,
        settlement_id: "s1".to_owned(),
        text: "bank 1".to_owned(),
        at_ms: 0,
    })
}

fn in_state(state: State, approved: bool) -> Standing {
    Standing {
        approved: approved.then(|| (BOB.0.to_owned(), BOB.1.to_owned())),
        asked: matches!(state, State::VoidRequested | State::Void).then(|| "anna".to_owned()),
        ..Standing::new(state)
    }
}

/// The state after, `-` for no change, or why not.
fn told(standing: &Standing, wish: &Wish, by: (&str, &str)) -> String {
    match standing.decide(wish, by.0, by.1) {
        Ok(Decision::Stays) => "-".to_owned(),
        Ok(Decision::Step(_, after)) => after.state.as_str().to_owned(),
        Err(refusal) => format!("{refusal:?}"),
    }
}

#[test]
fn every_state_meets_every_wish() {
    let (settle, fail) = (report(Ended::Settled), report(Ended::Failed));
    // approve, settle, fail, void by an owner who did nothing before
    let table = [
        (State::Held, false, ["due", "Held", "Held", "void-requested"]),
        (State::Due, false, ["-", "settled", "failed", "void-requested"]),
        (State::Due, true, ["-", "settled", "failed", "void-requested"]),
        (State::Failed, true, ["-", "settled", "failed", "void-requested"]),
        (State::Settled, true, ["-", "Settled", "Settled", "Settled"]),
        (
            State::VoidRequested,
            false,
            ["VoidRequested", "VoidRequested", "VoidRequested", "void"],
        ),
        (
            State::VoidRequested,
            true,
            ["-", "VoidRequested", "VoidRequested", "void"],
        ),
        (State::Void, false, ["Void", "Void", "Void", "-"]),
        (State::Void, true, ["-", "Void", "Void", "-"]),
    ];
    for (state, approved, expected) in table {
        let standing = in_state(state, approved);
        let eve = ("key-of-eve", "eve");
        let is = [&Wish::Approve, &settle, &fail, &Wish::Void].map(|wish| told(&standing, wish, eve));
        assert_eq!(is, expected, "{state:?}, approved: {approved}");
    }
}

#[test]
fn two_owners_are_needed() {
    let approved = in_state(State::Due, true);
    assert_eq!(told(&approved, &report(Ended::Settled), BOB), "SameOwner");
    assert_eq!(told(&approved, &report(Ended::Failed), BOB), "failed");
    assert_eq!(told(&approved, &report(Ended::Settled), ANNA), "settled");
    assert_eq!(told(&in_state(State::VoidRequested, false), &Wish::Void, ANNA), "-");
    let other_key = ("second-key-of-anna", "anna");
    assert_eq!(
        told(&in_state(State::VoidRequested, false), &Wish::Void, other_key),
        "-"
    );
}

#[test]
fn a_step_keeps_what_was_before_it() {
    let Ok(Decision::Step(Step::Approve, due)) = Standing::new(State::Held).decide(&Wish::Approve, BOB.0, BOB.1) else {
        panic!("it is approved");
    };
    let Ok(Decision::Step(Step::Fail, failed)) = due.decide(&report(Ended::Failed), ANNA.0, ANNA.1) else {
        panic!("it fails");
    };
    let Ok(Decision::Step(Step::VoidRequest, asked)) = failed.decide(&Wish::Void, ANNA.0, ANNA.1) else {
        panic!("a void is asked for");
    };
    assert_eq!(asked.approved, Some((BOB.0.to_owned(), BOB.1.to_owned())));
    assert_eq!(asked.attempt.as_ref().map(|attempt| attempt.ended), Some(Ended::Failed));
    assert_eq!(asked.asked.as_deref(), Some("anna"));
}

#[test]
fn a_withdrawn_request_leads_back_to_the_state_before_it() {
    let back = |standing: &Standing, first, by: (&str, &str)| {
        let Ok(Decision::Step(Step::VoidRequest, asked)) = standing.decide(&Wish::Void, ANNA.0, ANNA.1) else {
            panic!("a void is asked for");
        };
        match asked.decide(&Wish::Withdraw { first }, by.0, by.1) {
            Ok(Decision::Step(Step::Withdraw, after)) => after,
            other => panic!("{other:?}"),
        }
    };
    let failed = Standing {
        attempt: Some(Attempt {
            ended: Ended::Failed,
            settlement_id: "s1".to_owned(),
            text: "no account".to_owned(),
            at_ms: 0,
        }),
        ..in_state(State::Failed, true)
    };
    for (standing, first) in [
        (Standing::new(State::Held), State::Held),
        (Standing::new(State::Due), State::Due),
        (in_state(State::Due, true), State::Held),
        (failed, State::Held),
    ] {
        for by in [ANNA, BOB] {
            assert_eq!(back(&standing, first, by), standing);
        }
    }
    for state in [State::Held, State::Due, State::Failed, State::Settled, State::Void] {
        let told = told(&in_state(state, false), &Wish::Withdraw { first: State::Due }, ANNA);
        assert_eq!(told, "NotVoidRequested", "{state:?}");
    }
}

#[test]
fn the_limit_itself_is_held() {
    let minor = |amount| Minor::try_from(amount).expect("an amount");
    let at = |settlement, limit: Option<u64>| {
        let terms = Terms {
            settlement,
            approval_above: limit.map(minor),
        };
        [39, 40].map(|amount| State::at_claim(&terms, amount))
    };
    assert_eq!(at(Settlement::None, Some(1)), [None, None]);
    assert_eq!(at(Settlement::Tracked, None), [Some(State::Due); 2]);
    assert_eq!(at(Settlement::Tracked, Some(40)), [Some(State::Due), Some(State::Held)]);
}

/// The row after PUTs: settlement, limit and owner of each.
fn put(puts: &[(&str, Option<u64>, &str)]) -> Option<String> {
    let mut hold = None;
    for (version, (settlement, limit, owner)) in (1..).zip(puts) {
        let wanted = Terms {
            settlement: Settlement::read(settlement).expect("a settlement"),
            approval_above: limit.map(|limit| Minor::try_from(limit).expect("an amount")),
        };
        hold = Hold::put(hold.as_ref(), wanted, owner, version);
    }
    hold.map(|hold| hold.text())
}

#[test]
fn raising_removing_or_leaving_a_limit_waits_and_all_else_counts_at_once() {
    let first = ("tracked", Some(40), "anna");
    let rows = [
        (vec![("none", None, "anna")], None),
        (vec![first], Some("tracked 40 anna - - -")),
        (vec![first, ("tracked", Some(30), "bob")], Some("tracked 30 bob - - -")),
        (
            vec![first, ("tracked", Some(50), "bob")],
            Some("tracked 40 bob 2 tracked 50"),
        ),
        (
            vec![first, ("tracked", None, "bob")],
            Some("tracked 40 bob 2 tracked -"),
        ),
        (
            vec![first, ("none", Some(40), "bob")],
            Some("tracked 40 anna 2 none 40"),
        ),
        // the value as it was sets none
        (vec![first, ("tracked", Some(40), "bob")], Some("tracked 40 anna - - -")),
        (
            vec![first, ("tracked", Some(50), "bob"), ("tracked", Some(50), "eve")],
            Some("tracked 40 bob 2 tracked 50"),
        ),
        // another PUT withdraws what waits, or asks for more
        (
            vec![first, ("tracked", Some(50), "bob"), ("tracked", Some(40), "eve")],
            Some("tracked 40 eve - - -"),
        ),
        (
            vec![first, ("tracked", Some(50), "bob"), ("tracked", Some(60), "eve")],
            Some("tracked 40 eve 3 tracked 60"),
        ),
        // a limit that had no effect yet is a limit
        (
            vec![("none", Some(40), "anna"), ("tracked", Some(50), "bob")],
            Some("tracked 40 bob 2 tracked 50"),
        ),
        (
            vec![("tracked", None, "anna"), ("tracked", Some(9), "bob")],
            Some("tracked 9 bob - - -"),
        ),
        (
            vec![("tracked", None, "anna"), ("none", None, "bob")],
            Some("none - anna - - -"),
        ),
    ];
    for (puts, expected) in rows {
        assert_eq!(put(&puts).as_deref(), expected, "{puts:?}");
    }
}

#[test]
fn an_approval_brings_what_waits_into_force() {
    let hold = Hold::parse("tracked 40 bob 2 none -").expect("a row");
    let approved = hold.approved().expect("it waits");
    assert_eq!(approved.text(), "none - bob - - -");
    assert_eq!(approved.approved(), None);
}
