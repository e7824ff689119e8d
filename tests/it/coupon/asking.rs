//! Requests that arrive together, and the reasons to refuse new ones.

use futures_util::future::join_all;
use jackpot::coupon::coupons::DrawAnswer;
use jackpot::coupon::error::CouponError;
use jackpot::coupon::queue_worker::QueueWorker;
use jackpot::coupon::record::State;
use jackpot::coupon::scripts::Mode;
use jackpot::stopping::Stopping;

use crate::coupon::http::support::{hold, release};
use crate::coupon::instance::{Instance, id};
use crate::support::given::person;
use crate::support::prelude::*;

impl Instance {
    async fn ask(&self, request: &str, user: &str) -> Result<(State, bool), CouponError> {
        let asked = self
            .coupons
            .issue(&self.id, &id(request), &person(user).into(), Mode::Now)
            .await?;
        Ok((asked.record.state, asked.replayed))
    }
}

fn sequence(answer: &Result<(State, bool), CouponError>) -> Option<u64> {
    match answer {
        Ok((State::Issued(issue), _)) => Some(issue.sequence),
        _ => None,
    }
}

#[tokio::test]
async fn requests_that_come_together_are_one_call_and_each_has_its_own_answer() {
    const REQUESTS: usize = 600;
    let instance = Instance::with(400, &json!({}), 100).await;
    let wishes = (0..REQUESTS)
        .map(|i| (format!("r{i}"), format!("u{}", i % 500)))
        .collect::<Vec<_>>();
    let answers = join_all(wishes.iter().map(|(request, user)| instance.ask(request, user))).await;
    let calls = instance.calls("coupon_issue");
    assert!(calls <= 1 + REQUESTS.div_ceil(256), "{calls} calls");
    let mut sequences = answers.iter().filter_map(sequence).collect::<Vec<_>>();
    assert!(sequences.is_sorted(), "in the order in which they came");
    sequences.dedup();
    assert_eq!(sequences, (1..=400).collect::<Vec<_>>());
    let refused = |state: fn(&State) -> bool| {
        answers
            .iter()
            .filter(|a| a.as_ref().is_ok_and(|(s, _)| state(s)))
            .count()
    };
    assert_eq!(refused(|state| matches!(state, State::AlreadyIssued { .. })), 100);
    assert_eq!(refused(|state| matches!(state, State::OutOfStock { .. })), 100);
    let again = join_all(wishes.iter().map(|(request, user)| instance.ask(request, user))).await;
    for (first, again) in answers.iter().zip(&again) {
        let (first, again) = (first.as_ref().expect("answered"), again.as_ref().expect("answered"));
        assert_eq!((&first.0, true), (&again.0, again.1));
    }
}

#[tokio::test]
async fn what_is_damaged_fails_for_its_own_request_alone() {
    let instance = Instance::with(100, &json!({}), 100).await;
    instance
        .raw(&["HSET", "cp:{prize}:requests", "r7", "a broken", "r9", "x"])
        .await;
    instance.raw(&["HSET", "cp:{prize}:users", "u12", "broken"]).await;
    let wishes = (0..40).map(|i| (format!("r{i}"), format!("u{i}"))).collect::<Vec<_>>();
    let answers = join_all(wishes.iter().map(|(request, user)| instance.ask(request, user))).await;
    for (i, answer) in answers.iter().enumerate() {
        assert_eq!(answer.is_err(), [7, 9, 12].contains(&i), "r{i}: {answer:?}");
    }
    let sequences = answers.iter().filter_map(sequence).collect::<Vec<_>>();
    assert_eq!(sequences, (1..=37).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_ledger_far_behind_refuses_new_requests_and_nothing_that_was_begun() {
    let instance = Instance::limited(100, &json!({}), 100, 2).await;
    let known = instance.coupons.registry.known(&instance.id);
    instance.ask("r1", "u1").await.expect("issued");
    known.set_ledger_n(Some(0));
    instance
        .ask("r2", "u2")
        .await
        .expect("issued: two events behind is allowed");
    let refused = instance.ask("r3", "u3").await;
    assert!(
        matches!(refused, Err(CouponError::Backlog { waiting: 3 })),
        "{refused:?}"
    );
    let again = instance.ask("r1", "u1").await.expect("a repeat is answered");
    assert!(matches!(again, (State::Issued(issue), true) if issue.sequence == 1));
    let other_user = instance.ask("r1", "u9").await;
    assert!(
        matches!(other_user, Err(CouponError::RequestIdReused(_))),
        "{other_user:?}"
    );
    let list = instance
        .coupons
        .issue_all(&instance.id, &[(id("b1"), person("u4").into())])
        .await;
    assert!(matches!(list, Err(CouponError::Backlog { .. })), "{list:?}");
    let owed = instance
        .coupons
        .issue_for_draw(&instance.id, "draw:spring:e1", &person("u5"))
        .await;
    assert!(matches!(owed, Ok(DrawAnswer::Issued { sequence: 3, .. })), "{owed:?}");
    known.set_ledger_n(Some(4));
    assert_eq!(sequence(&instance.ask("r3", "u3").await), Some(4), "it has caught up");
}

#[tokio::test]
async fn hundreds_that_wait_for_their_turn_are_all_told() {
    const REQUESTS: usize = 700;
    let instance = Instance::with(500, &json!({}), 100).await;
    hold(&instance.redis, "prize").await;
    let wishes = (0..REQUESTS).map(|i| id(&format!("r{i}"))).collect::<Vec<_>>();
    let (coupons, prize) = (&instance.coupons, &instance.id);
    coupons
        .issue(prize, &id("first"), &person("first").into(), Mode::Line)
        .await
        .expect("in the queue");
    let joined = join_all(wishes.iter().map(async |wish| {
        coupons
            .issue(prize, wish, &person(wish.as_str()).into(), Mode::Now)
            .await
    }))
    .await;
    let waiting = join_all(joined.into_iter().map(|request| {
        let request = request.expect("in the queue");
        coupons.turn_within(prize, request, PATIENCE)
    }));
    let stopping = Stopping::default();
    let line = QueueWorker::new(coupons.clone(), instance.settings.clone()).expect("a worker");
    let working = tokio::spawn(line.run(stopping.clone()));
    release(&instance.redis, "prize").await;
    let told = waiting.await;
    let issued = told.iter().filter(|told| {
        let state = &told.as_ref().expect("told").record.state;
        matches!(state, State::Issued(_))
    });
    assert_eq!(issued.count(), 499);
    stopping.begin();
    working.await.expect("the worker ends");
}
