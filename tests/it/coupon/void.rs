//! `lua/coupon/void.lua` and `redrive.lua` on a real Redis.

use jackpot::coupon::record::State;
use jackpot::coupon::scripts::{self, Redriven, Refusal, ScriptError, Voided};
use jackpot::coupon::status::Status;
use jackpot_core::mark::Mark;
use serde_json::json;

use crate::coupon::fixture::{CouponBench, code, issue_of, letters, record, state_of, with_codes};

#[tokio::test]
async fn a_voided_unit_returns_to_the_stock_and_its_sequence_is_never_used_again() {
    let bench = CouponBench::with(&json!({"stock": 1})).await;
    let issued = issue_of(&bench.now("a", "u").await);
    assert_eq!(letters(&[bench.now("b", "v").await]), "o");
    let Voided::Done(answer) = bench.void("a").await else {
        panic!("not voided");
    };
    let State::Voided(issue, voided_ms) = state_of(&answer, "u") else {
        panic!("{answer:?}");
    };
    assert_eq!((issue, answer.fresh), (&issued, true));
    assert!(*voided_ms >= issued.at_ms);
    let (kind, fields) = bench.events().await.pop().expect("an event");
    let told = ["request", "user", "seq", "who", "request_id"].map(|field| fields[field].as_str());
    assert_eq!((kind.as_str(), told), ("void", ["a", "u", "1", "tester", "r"]));
    let snapshot = bench.snapshot().await;
    assert_eq!((snapshot.issued, snapshot.voided, snapshot.remaining()), (1, 1, 1));
    assert_eq!(bench.hash(&bench.keys.users).await.len(), 0);

    let before = bench.dump().await;
    let Voided::Done(again) = bench.void("a").await else {
        panic!("not voided");
    };
    assert_eq!((again.fresh, &again.record), (false, &answer.record));
    assert_eq!(bench.dump().await, before);
    assert_eq!(issue_of(&bench.now("c", "u").await).sequence, 2, "by a new request");
    assert_eq!(letters(&[bench.now("a", "u").await]), "v", "final for its own");
}

#[tokio::test]
async fn of_several_issues_of_a_user_only_the_voided_one_stops_to_count() {
    let bench = CouponBench::with(&json!({"per_user": 3})).await;
    for id in ["a", "ab", "b"] {
        bench.now(id, "u").await;
    }
    bench.void("ab").await;
    let users = bench.hash(&bench.keys.users).await;
    let kept = users["u"]
        .split_terminator(';')
        .map(|one| one.split(' ').next().expect("an id"));
    assert_eq!(kept.collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(letters(&[bench.now("c", "u").await, bench.now("d", "u").await]), "ia");
}

#[tokio::test]
async fn only_an_issued_unit_is_taken_back() {
    let bench = CouponBench::with(&json!({"stock": 1})).await;
    bench.now("issued", "u").await;
    bench.now("already", "u").await;
    bench.now("out", "v").await;
    bench.join("dead", "w").await;
    bench.wear_out().await;
    bench.join("queued", "w").await;
    let before = bench.dump().await;
    for (id, letter) in [("already", "a"), ("out", "o"), ("queued", "q"), ("dead", "d")] {
        let Voided::NotIssued(answer) = bench.void(id).await else {
            panic!("{id}");
        };
        assert_eq!(
            (letters(std::slice::from_ref(&answer)).as_str(), answer.fresh),
            (letter, false)
        );
        assert_eq!(answer.place, (letter == "q").then_some(0));
        assert_eq!(
            answer.first.map(|(id, _)| id),
            (letter == "a").then(|| "issued".to_owned())
        );
    }
    assert_eq!(bench.void("nobody").await, Voided::Missing);
    bench.status(Status::Suspended).await;
    let suspended = bench.dump().await;
    assert_eq!(bench.void("issued").await, Voided::Stopped(Refusal::Suspended));
    assert_eq!(bench.dump().await, suspended);
    assert_ne!(suspended, before);
}

#[tokio::test]
async fn damage_leaves_an_issue_as_it_is() {
    let bench = CouponBench::with(&json!({})).await;
    bench.now("a", "u").await;
    let keys = &bench.keys;
    let fails = async |what: &str| {
        let before = bench.dump().await;
        let voided = scripts::void(&bench.store, keys, Mark::ZERO, "a", ("tester", "r")).await;
        assert!(matches!(voided, Err(ScriptError::Store(_))), "{what}: {voided:?}");
        assert_eq!(bench.dump().await, before, "{what}");
    };
    let sound = bench.hash(&keys.users).await["u"].clone();
    bench
        .raw::<()>(redis::cmd("HSET").arg(&keys.users).arg("u").arg("no record"))
        .await;
    fails("the user's record").await;
    bench.raw::<()>(redis::cmd("DEL").arg(&keys.users)).await;
    bench
        .raw::<()>(redis::cmd("SET").arg(&keys.users).arg("a string"))
        .await;
    fails("the users").await;
    bench.raw::<()>(redis::cmd("DEL").arg(&keys.users)).await;
    bench
        .raw::<()>(redis::cmd("HSET").arg(&keys.users).arg("u").arg(sound))
        .await;
    bench
        .raw::<()>(redis::cmd("HSET").arg(&keys.requests).arg("a").arg("i 1 broken"))
        .await;
    fails("the record").await;
}

#[tokio::test]
async fn a_dead_letter_returns_to_its_place_in_the_line() {
    let bench = CouponBench::with(&json!({"stock": 2})).await;
    bench.join("a", "u").await;
    let joined = bench.lookup("a").await.expect("a record");
    bench.wear_out().await;
    bench.join("b", "v").await;
    bench.join("c", "w").await;
    let Redriven::Done(answer) = bench.redrive("a").await else {
        panic!("not redriven");
    };
    assert_eq!((answer.place, answer.fresh), (Some(0), true));
    assert_eq!(
        answer.record, joined.record,
        "arrival number and time as before, no tries"
    );
    let (kind, fields) = bench.events().await.pop().expect("an event");
    let told = ["request", "arrival", "who", "request_id"].map(|field| fields[field].as_str());
    assert_eq!((kind.as_str(), told), ("redrive", ["a", "1", "tester", "r"]));
    let snapshot = bench.snapshot().await;
    assert_eq!((snapshot.queued, snapshot.dead, snapshot.arrivals), (3, 0, 3));

    let before = bench.dump().await;
    let Redriven::Done(again) = bench.redrive("a").await else {
        panic!("not redriven");
    };
    assert_eq!(
        (again.place, again.fresh, &again.record),
        (Some(0), false, &answer.record)
    );
    assert_eq!(bench.dump().await, before);
    let (_, taken) = bench.served("one", "t1", &[], 3).await;
    let ids = taken.iter().map(|taken| taken.request_id.as_str());
    let served = with_codes(ids);
    let (answers, _) = bench.served("one", "t2", &served, 0).await;
    let answers = answers.into_iter().map(Option::unwrap).collect::<Vec<_>>();
    assert_eq!(letters(&answers), "iio");
    let Redriven::NotDead(answer) = bench.redrive("a").await else {
        panic!("redriven");
    };
    assert_eq!(record(&answer), record(&answers[0]));
}

#[tokio::test]
async fn only_a_dead_letter_is_redriven() {
    let bench = CouponBench::with(&json!({})).await;
    bench.now("a", "u").await;
    bench.now("b", "u").await;
    bench.join("c", "v").await;
    bench.wear_out().await;
    let before = bench.dump().await;
    for id in ["a", "b"] {
        assert!(matches!(bench.redrive(id).await, Redriven::NotDead(_)));
    }
    assert_eq!(bench.redrive("nobody").await, Redriven::Missing);
    assert_eq!(bench.dump().await, before);
    bench.status(Status::Suspended).await;
    let before = bench.dump().await;
    assert_eq!(bench.redrive("c").await, Redriven::Stopped(Refusal::Suspended));
    assert_eq!(bench.dump().await, before);
    bench.status(Status::Open).await;
    for key in [&bench.keys.queue, &bench.keys.dead] {
        let sound: Option<Vec<u8>> = bench.raw(redis::cmd("DUMP").arg(key)).await;
        bench.raw::<()>(redis::cmd("SET").arg(key).arg("a string")).await;
        let before = bench.dump().await;
        let redriven = scripts::redrive(&bench.store, &bench.keys, Mark::ZERO, "c", ("tester", "r")).await;
        assert!(matches!(redriven, Err(ScriptError::Store(_))), "{redriven:?}");
        assert_eq!(bench.dump().await, before, "{key}");
        bench.raw::<()>(redis::cmd("DEL").arg(key)).await;
        if let Some(sound) = sound {
            bench.raw::<()>(redis::cmd("RESTORE").arg(key).arg(0).arg(sound)).await;
        }
    }
    assert!(matches!(bench.redrive("c").await, Redriven::Done(_)));
    let (answers, _) = bench.served("one", "t", &[("c".to_owned(), code())], 0).await;
    assert_eq!(
        letters(&[answers[0].clone().expect("a record")]),
        "i",
        "also untaken, as the head of the line"
    );
}
