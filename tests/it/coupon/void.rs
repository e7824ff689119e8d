//! `lua/coupon/void.lua` and `redrive.lua` on a real Redis.

use jackpot::coupon::record::State;
use jackpot::coupon::scripts::{self, Acted, Refusal, ScriptError};
use jackpot_api::coupon::Status;
use jackpot_core::mark::Mark;

use crate::coupon::fixture::{CouponFixture, code, issue_of, letters, record, state_of, with_codes};
use crate::support::prelude::*;

#[tokio::test]
async fn a_voided_unit_returns_to_the_stock_and_its_sequence_is_never_used_again() {
    let fixture = CouponFixture::with(&json!({"stock": 1})).await;
    let issued = issue_of(&fixture.now("a", "u").await);
    assert_eq!(letters(&[fixture.now("b", "v").await]), "o");
    let Acted::Done(answer) = fixture.void("a").await else {
        panic!("not voided");
    };
    let State::Voided(issue, voided_ms) = state_of(&answer, "u") else {
        panic!("{answer:?}");
    };
    assert_eq!((issue, answer.fresh), (&issued, true));
    assert!(*voided_ms >= issued.at_ms);
    let (kind, fields) = fixture.events().await.pop().expect("an event");
    let told = ["request", "user", "seq", "who", "request_id"].map(|field| fields[field].as_str());
    assert_eq!((kind.as_str(), told), ("void", ["a", "u", "1", "tester", "r"]));
    let snapshot = fixture.snapshot().await;
    assert_eq!((snapshot.issued, snapshot.voided, snapshot.remaining()), (1, 1, 1));
    assert_eq!(fixture.hash(&fixture.keys.users).await.len(), 0);

    let before = fixture.dump().await;
    let Acted::Done(again) = fixture.void("a").await else {
        panic!("not voided");
    };
    assert_eq!((again.fresh, &again.record), (false, &answer.record));
    assert_eq!(fixture.dump().await, before);
    assert_eq!(issue_of(&fixture.now("c", "u").await).sequence, 2, "by a new request");
    assert_eq!(letters(&[fixture.now("a", "u").await]), "v", "final for its own");
}

#[tokio::test]
async fn of_several_issues_of_a_user_only_the_voided_one_stops_to_count() {
    let fixture = CouponFixture::with(&json!({"per_user": 3})).await;
    for id in ["a", "ab", "b"] {
        fixture.now(id, "u").await;
    }
    fixture.void("ab").await;
    let users = fixture.hash(&fixture.keys.users).await;
    let kept = users["u"]
        .split_terminator(';')
        .map(|one| one.split(' ').next().expect("an id"));
    assert_eq!(kept.collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(
        letters(&[fixture.now("c", "u").await, fixture.now("d", "u").await]),
        "ia"
    );
}

#[tokio::test]
async fn only_an_issued_unit_is_taken_back() {
    let fixture = CouponFixture::with(&json!({"stock": 1})).await;
    fixture.now("issued", "u").await;
    fixture.now("already", "u").await;
    fixture.now("out", "v").await;
    fixture.join("dead", "w").await;
    fixture.wear_out().await;
    fixture.join("queued", "w").await;
    let before = fixture.dump().await;
    for (id, letter) in [("already", "a"), ("out", "o"), ("queued", "q"), ("dead", "d")] {
        let Acted::Unfit(answer) = fixture.void(id).await else {
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
    assert_eq!(fixture.void("nobody").await, Acted::Missing);
    fixture.status(Status::Suspended).await;
    let suspended = fixture.dump().await;
    assert_eq!(fixture.void("issued").await, Acted::Stopped(Refusal::Suspended));
    assert_eq!(fixture.dump().await, suspended);
    assert_ne!(suspended, before);
}

#[tokio::test]
async fn damage_leaves_an_issue_as_it_is() {
    let fixture = CouponFixture::with(&json!({})).await;
    fixture.now("a", "u").await;
    let keys = &fixture.keys;
    let fails = async |what: &str| {
        let before = fixture.dump().await;
        let voided = scripts::void(&fixture.store, keys, Mark::ZERO, "a", "tester", "r").await;
        assert!(matches!(voided, Err(ScriptError::Store(_))), "{what}: {voided:?}");
        assert_eq!(fixture.dump().await, before, "{what}");
    };
    let sound = fixture.hash(&keys.users).await["u"].clone();
    fixture
        .raw::<()>(redis::cmd("HSET").arg(&keys.users).arg("u").arg("no record"))
        .await;
    fails("the user's record").await;
    fixture.raw::<()>(redis::cmd("DEL").arg(&keys.users)).await;
    fixture
        .raw::<()>(redis::cmd("SET").arg(&keys.users).arg("a string"))
        .await;
    fails("the users").await;
    fixture.raw::<()>(redis::cmd("DEL").arg(&keys.users)).await;
    fixture
        .raw::<()>(redis::cmd("HSET").arg(&keys.users).arg("u").arg(sound))
        .await;
    fixture
        .raw::<()>(redis::cmd("HSET").arg(&keys.requests).arg("a").arg("i 1 broken"))
        .await;
    fails("the record").await;
}

#[tokio::test]
async fn a_dead_letter_returns_to_its_place_in_the_queue() {
    let fixture = CouponFixture::with(&json!({"stock": 2})).await;
    fixture.join("a", "u").await;
    let joined = fixture.lookup("a").await.expect("a record");
    fixture.wear_out().await;
    fixture.join("b", "v").await;
    fixture.join("c", "w").await;
    let Acted::Done(answer) = fixture.redrive("a").await else {
        panic!("not redriven");
    };
    assert_eq!((answer.place, answer.fresh), (Some(0), true));
    assert_eq!(
        answer.record, joined.record,
        "arrival number and time as before, no tries"
    );
    let (kind, fields) = fixture.events().await.pop().expect("an event");
    let told = ["request", "arrival", "who", "request_id"].map(|field| fields[field].as_str());
    assert_eq!((kind.as_str(), told), ("redrive", ["a", "1", "tester", "r"]));
    let snapshot = fixture.snapshot().await;
    assert_eq!((snapshot.queued, snapshot.dead, snapshot.arrivals), (3, 0, 3));

    let before = fixture.dump().await;
    let Acted::Done(again) = fixture.redrive("a").await else {
        panic!("not redriven");
    };
    assert_eq!(
        (again.place, again.fresh, &again.record),
        (Some(0), false, &answer.record)
    );
    assert_eq!(fixture.dump().await, before);
    let (_, taken) = fixture.served("one", "t1", &[], 3).await;
    let ids = taken.iter().map(|taken| taken.request_id.as_str());
    let served = with_codes(ids);
    let (answers, _) = fixture.served("one", "t2", &served, 0).await;
    let answers = answers.into_iter().map(Option::unwrap).collect::<Vec<_>>();
    assert_eq!(letters(&answers), "iio");
    let Acted::Unfit(answer) = fixture.redrive("a").await else {
        panic!("redriven");
    };
    assert_eq!(record(&answer), record(&answers[0]));
}

#[tokio::test]
async fn only_a_dead_letter_is_redriven() {
    let fixture = CouponFixture::with(&json!({})).await;
    fixture.now("a", "u").await;
    fixture.now("b", "u").await;
    fixture.join("c", "v").await;
    fixture.wear_out().await;
    let before = fixture.dump().await;
    for id in ["a", "b"] {
        assert!(matches!(fixture.redrive(id).await, Acted::Unfit(_)));
    }
    assert_eq!(fixture.redrive("nobody").await, Acted::Missing);
    assert_eq!(fixture.dump().await, before);
    fixture.status(Status::Suspended).await;
    let before = fixture.dump().await;
    assert_eq!(fixture.redrive("c").await, Acted::Stopped(Refusal::Suspended));
    assert_eq!(fixture.dump().await, before);
    fixture.status(Status::Open).await;
    for key in [&fixture.keys.queue, &fixture.keys.dead] {
        let sound: Option<Vec<u8>> = fixture.raw(redis::cmd("DUMP").arg(key)).await;
        fixture.raw::<()>(redis::cmd("SET").arg(key).arg("a string")).await;
        let before = fixture.dump().await;
        let redriven = scripts::redrive(&fixture.store, &fixture.keys, Mark::ZERO, "c", "tester", "r").await;
        assert!(matches!(redriven, Err(ScriptError::Store(_))), "{redriven:?}");
        assert_eq!(fixture.dump().await, before, "{key}");
        fixture.raw::<()>(redis::cmd("DEL").arg(key)).await;
        if let Some(sound) = sound {
            fixture
                .raw::<()>(redis::cmd("RESTORE").arg(key).arg(0).arg(sound))
                .await;
        }
    }
    assert!(matches!(fixture.redrive("c").await, Acted::Done(_)));
    let (answers, _) = fixture.served("one", "t", &[("c".to_owned(), code())], 0).await;
    assert_eq!(
        letters(&[answers[0].clone().expect("a record")]),
        "i",
        "also untaken, as the head of the queue"
    );
}
