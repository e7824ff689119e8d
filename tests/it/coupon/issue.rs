//! `lua/coupon/issue.lua` on a real Redis.

use std::sync::Arc;

use jackpot::coupon::record::State;
use jackpot::coupon::scripts::{self, Ask, AskReply, Refusal, ScriptError};
use jackpot_api::coupon::Status;
use jackpot_core::mark::Mark;

use crate::coupon::fixture::{CouponFixture, answered, ask, ask_queue, issue_of, letters, record, state_of};
use crate::support::prelude::*;

#[tokio::test]
async fn units_are_issued_in_order_until_the_stock_is_out() {
    let fixture = CouponFixture::with(&json!({"stock": 3})).await;
    let requests: Vec<Ask> = (1..=5).map(|i| ask(&format!("r{i}"), &format!("u{i}"))).collect();
    let answers = fixture.answers(&requests).await;
    assert_eq!(letters(&answers), "iiioo");
    assert!(answers.iter().all(|answer| answer.fresh));
    for (sequence, (answer, request)) in (1..).zip(answers.iter().zip(&requests)).take(3) {
        let issue = issue_of(answer);
        assert_eq!((issue.sequence, issue.code), (sequence, request.code));
        assert_eq!(record(answer).user, request.user);
    }
    let snapshot = fixture.snapshot().await;
    assert_eq!((snapshot.issued, snapshot.remaining(), snapshot.mark.n()), (3, 0, 2));
    let line = |i: usize| format!("r{i} u{i} i {i} {}", requests[i - 1].code);
    let block = [line(1), line(2), line(3), "r4 u4 o".to_owned(), "r5 u5 o".to_owned()];
    assert_eq!(fixture.last_event("issue").await["block"], block.join("\n"));
    let ids: Vec<(String, Vec<String>)> = fixture
        .raw(redis::cmd("XREVRANGE").arg(&fixture.keys.events).arg("+").arg("-"))
        .await;
    assert_eq!(ids[0].0, "3-2", "<sequence>-<event number>");
}

#[tokio::test]
async fn a_request_is_answered_from_its_record_whatever_has_happened_since() {
    let fixture = CouponFixture::with(&json!({"stock": 1})).await;
    let first = fixture.now("a", "u").await;
    fixture.now("b", "u").await;
    fixture.now("c", "v").await;
    fixture.void("a").await;
    fixture.define(&json!({"stock": 9, "per_user": 9})).await;
    let before = fixture.dump().await;
    let answers = fixture
        .answers(&[ask("a", "u"), ask("b", "u"), ask_queue("c", "v")])
        .await;
    assert_eq!(letters(&answers), "vao");
    assert!(answers.iter().all(|answer| !answer.fresh));
    assert_eq!(issue_of(&answers[0]), issue_of(&first), "the first call's code stands");
    let (id, record) = answers[1].first.clone().expect("the first issue");
    assert_eq!(
        (id.as_str(), record),
        ("a", answers[0].record.clone().expect("readable"))
    );
    assert_eq!(fixture.dump().await, before);
}

#[tokio::test]
async fn an_id_of_another_user_is_told_whose_it_is() {
    let fixture = CouponFixture::with(&json!({})).await;
    fixture.now("a", "u").await;
    let before = fixture.dump().await;
    let answer = fixture.now("a", "other").await;
    assert_eq!((record(&answer).user.as_str(), answer.fresh), ("u", false));
    assert_eq!(fixture.dump().await, before);
}

#[tokio::test]
async fn within_a_call_each_sees_what_those_before_it_did() {
    let fixture = CouponFixture::with(&json!({"stock": 3, "per_user": 2})).await;
    let requests = [
        ask("a", "u"),
        ask("a", "u"),
        ask("b", "u"),
        ask("c", "u"),
        ask("a", "other"),
        ask("d", "v"),
        ask("e", "w"),
        ask("c", "u"),
    ];
    let answers = fixture.answers(&requests).await;
    assert_eq!(letters(&answers), "iiiaiioa");
    let fresh = answers.iter().map(|answer| u8::from(answer.fresh));
    assert_eq!(fresh.collect::<Vec<_>>(), [1, 0, 1, 1, 0, 1, 1, 0]);
    assert_eq!(issue_of(&answers[1]), issue_of(&answers[0]));
    assert_eq!(answers[3].first, answers[7].first);
    let (first, of) = answers[3].first.clone().expect("the first issue");
    assert_eq!((first.as_str(), of), ("a", record(&answers[0]).clone()));
    let users = fixture.hash(&fixture.keys.users).await;
    let at = issue_of(&answers[0]).at_ms;
    assert_eq!(users["u"], format!("a {at};b {at};"));
    assert_eq!((users["v"].as_str(), users.len()), (format!("d {at};").as_str(), 2));
}

#[tokio::test]
async fn what_was_issued_counts_for_a_user_while_the_window_lasts() {
    let fixture = CouponFixture::with(&json!({"per_user": 2, "per_user_window_s": 60})).await;
    let at = issue_of(&fixture.now("a", "u").await).at_ms;
    fixture.now("b", "u").await;
    assert_eq!(letters(&[fixture.now("c", "u").await]), "a");
    // As if `a` had been issued a minute ago.
    let aged = format!("a {};b {at};", at - 60_000);
    fixture
        .raw::<()>(redis::cmd("HSET").arg(&fixture.keys.users).arg("u").arg(aged))
        .await;
    let again = fixture.now("d", "u").await;
    let kept = format!("b {at};d {};", issue_of(&again).at_ms);
    assert_eq!(
        fixture.hash(&fixture.keys.users).await["u"],
        kept,
        "what no longer counts is dropped"
    );
    let refused = fixture.now("e", "u").await;
    assert_eq!(refused.first.expect("the first that counts").0, "b");
}

#[tokio::test]
async fn an_issue_stops_to_count_in_the_millisecond_in_which_its_window_ends() {
    let fixture = CouponFixture::with(&json!({"stock": 100_000, "per_user_window_s": 60})).await;
    // Repeats until a call falls into the very millisecond that was read before it.
    for attempt in 0..10_000 {
        let (s, us): (i64, i64) = fixture.raw(&mut redis::cmd("TIME")).await;
        let now = s * 1_000 + us / 1_000;
        let (over, counts) = (now - 60_000, now - 59_999);
        let users = [
            ("over", format!("x {over};")),
            ("counts", format!("x {counts};")),
            ("all-over", format!("x {over};y {over};")),
            ("one-counts", format!("x {over};y {counts};")),
        ];
        fixture
            .raw::<()>(redis::cmd("HSET").arg(&fixture.keys.users).arg(&users))
            .await;
        let requests = users.map(|(user, _)| ask(&format!("{user}-{attempt}"), user));
        let answers = fixture.answers(&requests).await;
        if issue_of(&answers[0]).at_ms == now {
            assert_eq!(letters(&answers), "iaia");
            let State::AlreadyIssued { first, .. } = state_of(&answers[3], "one-counts") else {
                panic!("{answers:?}");
            };
            assert_eq!(first, "y");
            return;
        }
    }
    panic!("no call in the same millisecond");
}

#[tokio::test]
async fn before_the_start_and_from_the_end_on_nothing_is_issued() {
    let closed = [
        json!({"starts_at": "2990-01-01T00:00:00Z"}),
        json!({"ends_at": "2020-01-01T00:00:00Z"}),
    ];
    for change in closed {
        let fixture = CouponFixture::with(&change).await;
        let answer = fixture.now("a", "u").await;
        assert!(matches!(state_of(&answer, "u"), State::NotOpen { .. }), "{answer:?}");
        assert_eq!(fixture.last_event("issue").await["block"], "a u n");
        let open = json!({"starts_at": "2020-01-01T00:00:00Z", "ends_at": "2990-01-01T00:00:00Z"});
        fixture.define(&open).await;
        assert_eq!(
            letters(&[fixture.now("a", "u").await, fixture.now("b", "u").await]),
            "ni"
        );
    }
}

#[tokio::test]
async fn who_comes_while_others_are_in_the_queue_joins_it_at_its_end() {
    let fixture = CouponFixture::with(&json!({"stock": 1})).await;
    let requests = [ask("a", "u"), ask_queue("b", "v"), ask("c", "w"), ask("b", "v")];
    let answers = fixture.answers(&requests).await;
    assert_eq!(letters(&answers), "iqqq");
    let places = answers.iter().map(|answer| answer.place).collect::<Vec<_>>();
    assert_eq!(places, [None, Some(0), Some(1), Some(0)]);
    let Some(State::Queued {
        arrival: 2,
        attempts: 0,
        ..
    }) = answers[2].record.as_ref().map(|r| &r.state).ok()
    else {
        panic!("{answers:?}");
    };
    let code = requests[0].code;
    let block = format!("a u i 1 {code}\nb v q 1\nc w q 2");
    assert_eq!(fixture.last_event("issue").await["block"], block);
    assert_eq!(fixture.now("d", "u").await.place, Some(2));
    let line = fixture.sorted(&fixture.keys.queue).await;
    let line = line.iter().map(|(id, arrival)| (id.as_str(), *arrival));
    assert_eq!(line.collect::<Vec<_>>(), [("b", 1), ("c", 2), ("d", 3)]);
    assert_eq!(fixture.snapshot().await.queued, 3);
}

#[tokio::test]
async fn a_stopped_coupon_answers_repeats_and_takes_nothing_new() {
    let fixture = CouponFixture::with(&json!({})).await;
    fixture.now("a", "u").await;
    fixture.status(Status::Suspended).await;
    let before = fixture.dump().await;
    let asked = fixture
        .issue(&[ask("b", "v"), ask("a", "u"), ask_queue("c", "w")])
        .await;
    assert_eq!(asked.refusal, Some(Refusal::Suspended));
    let mut answers = asked.answers.into_iter();
    assert_eq!(answers.next(), Some(AskReply::NotTaken));
    assert_eq!(letters(&[answered(answers.next().expect("an answer"))]), "i");
    assert_eq!(answers.next(), Some(AskReply::NotTaken));
    let repeats = fixture.issue(&[ask("a", "u")]).await;
    assert_eq!(repeats.refusal, None, "nothing was refused");
    assert_eq!(fixture.dump().await, before);
    fixture.status(Status::Open).await;
    assert_eq!(letters(&[fixture.now("b", "v").await]), "i");

    // The replies while the coupon is rebuilt, and when Redis is older than what the caller has seen.
    let call = async |known| scripts::issue(&fixture.store, &fixture.keys, known, &[ask("a", "u")]).await;
    let behind = call(Mark::new(0, 99).expect("a mark")).await;
    assert!(matches!(behind, Err(ScriptError::Behind { .. })), "{behind:?}");
    fixture
        .raw::<()>(
            redis::cmd("HSET")
                .arg(&fixture.keys.state)
                .arg("status")
                .arg("restoring"),
        )
        .await;
    let restoring = call(Mark::ZERO).await;
    assert!(matches!(restoring, Err(ScriptError::Restoring)), "{restoring:?}");
    fixture.raw::<()>(redis::cmd("DEL").arg(&fixture.keys.state)).await;
    assert!(matches!(call(Mark::ZERO).await, Err(ScriptError::Unknown)));
}

#[tokio::test]
async fn a_record_that_cannot_be_read_concerns_nobody_else() {
    let fixture = CouponFixture::with(&json!({})).await;
    fixture.now("a", "u").await;
    for (key, field) in [(&fixture.keys.requests, "broken"), (&fixture.keys.users, "v")] {
        fixture
            .raw::<()>(redis::cmd("HSET").arg(key).arg(field).arg("no record"))
            .await;
    }
    let answers = fixture
        .answers(&[ask("broken", "w"), ask("b", "v"), ask("b", "v"), ask("c", "x")])
        .await;
    assert!(
        answers[..3]
            .iter()
            .all(|answer| answer.record.is_err() && !answer.fresh)
    );
    assert_eq!(issue_of(&answers[3]).sequence, 2);
    let requests = fixture.hash(&fixture.keys.requests).await;
    assert_eq!(requests.keys().collect::<Vec<_>>(), ["a", "broken", "c"]);
    assert_eq!(fixture.hash(&fixture.keys.users).await["v"], "no record");
    let block = &fixture.last_event("issue").await["block"];
    assert!(block.starts_with("c x i 2 ") && !block.contains('\n'), "{block}");
}

#[tokio::test]
async fn a_first_issue_that_is_lost_leaves_the_refusal() {
    let fixture = CouponFixture::with(&json!({})).await;
    fixture.now("a", "u").await;
    fixture
        .raw::<()>(redis::cmd("HDEL").arg(&fixture.keys.requests).arg("a"))
        .await;
    let answer = fixture.now("b", "u").await;
    assert_eq!(
        (letters(std::slice::from_ref(&answer)), answer.first),
        ("a".to_owned(), None)
    );
}

#[tokio::test]
async fn a_key_of_the_wrong_type_stops_the_call_before_it_writes() {
    let fixture = CouponFixture::with(&json!({})).await;
    let keys = &fixture.keys;
    for wrong in [&keys.requests, &keys.users, &keys.queue, &keys.events] {
        let sound: Option<Vec<u8>> = fixture.raw(redis::cmd("DUMP").arg(wrong)).await;
        fixture.raw::<()>(redis::cmd("SET").arg(wrong).arg("a string")).await;
        let before = fixture.dump().await;
        let requests = [ask("a", "u"), ask_queue("b", "v")];
        let asked = scripts::issue(&fixture.store, keys, Mark::ZERO, &requests).await;
        assert!(matches!(asked, Err(ScriptError::Store(_))), "{asked:?}");
        assert_eq!(fixture.dump().await, before, "{wrong}");
        fixture.raw::<()>(redis::cmd("DEL").arg(wrong)).await;
        if let Some(sound) = sound {
            fixture
                .raw::<()>(redis::cmd("RESTORE").arg(wrong).arg(0).arg(sound))
                .await;
        }
    }
}

#[tokio::test]
async fn the_largest_call_is_one_event() {
    let fixture = CouponFixture::on(Arc::new(TestRedis::start().await), &json!({"stock": 999})).await;
    let requests: Vec<Ask> = (0..1_000).map(|i| ask(&format!("r{i}"), &format!("u{i}"))).collect();
    let answers = fixture.answers(&requests).await;
    assert_eq!(letters(&answers), format!("{}o", "i".repeat(999)));
    assert_eq!(fixture.events().await.len(), 2);
    let before = fixture.dump().await;
    assert_eq!(letters(&fixture.answers(&requests).await), letters(&answers));
    assert_eq!(fixture.dump().await, before);
    let lines: Vec<Ask> = (0..1_000)
        .map(|i| ask_queue(&format!("q{i}"), &format!("u{i}")))
        .collect();
    assert_eq!(fixture.answers(&lines).await[999].place, Some(999));
}
