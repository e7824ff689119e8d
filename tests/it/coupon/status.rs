//! Coupons that an operator pauses, resumes and closes: their scripts, the ledger, and the API.

use jackpot::coupon::record::State;
use jackpot::coupon::scripts::{self, Acted, AskReply, Refusal, Served, StatusSet};
use jackpot_api::coupon::Status;
use jackpot_core::mark::Mark;

use crate::coupon::fixture::{CouponFixture, ask, letters, with_codes};
use crate::coupon::http::support::{create, look};
use crate::coupon::ledger::fixture::CouponLedger;
use crate::support::prelude::*;

on_both_databases!(
    a_restore_gives_back_what_an_operator_had_set,
    a_suspension_ends_as_the_operator_left_the_coupon,
);

async fn refusal(fixture: &CouponFixture, request: &str, user: &str) -> Option<Refusal> {
    let asked = fixture.issue(&[ask(request, user)]).await;
    assert_eq!(asked.answers, [AskReply::NotTaken]);
    asked.refusal
}

#[tokio::test]
async fn a_paused_coupon_takes_nothing_and_its_queue_waits_without_losing_tries() {
    let fixture = CouponFixture::with(&json!({})).await;
    fixture.now("before", "u").await;
    fixture.join("q1", "v").await;
    fixture.join("q2", "w").await;
    for pause in 0..4 {
        let (_, taken) = fixture.served("one", &format!("t{pause}"), &[], 5).await;
        assert_eq!((taken.len(), taken[0].attempts), (2, 1), "a pause is no try: {pause}");
        assert!(matches!(fixture.operated(Status::Paused).await, StatusSet::Done(_)));
        let event = fixture.last_event("status").await;
        assert_has!(event, {"before": "open", "after": "paused", "reason": "a test"});
        for _ in 0..2 {
            let step = fixture
                .serve("one", &format!("s{pause}"), &with_codes(["q1", "q2"]), 5)
                .await;
            assert!(
                matches!(
                    step,
                    Served::Stopped {
                        refusal: Refusal::Paused,
                        ..
                    }
                ),
                "{step:?}"
            );
        }
        let events = fixture.events().await.len();
        assert_eq!(refusal(&fixture, "new", "x").await, Some(Refusal::Paused));
        assert_eq!(
            letters(&fixture.answers_also_refused(&[ask("before", "u")]).await),
            "i",
            "what is known is answered"
        );
        assert!(
            matches!(fixture.operated(Status::Paused).await, StatusSet::Done(_)),
            "a repeat"
        );
        assert_eq!(fixture.events().await.len(), events, "and nothing happens");
        assert!(matches!(fixture.operated(Status::Open).await, StatusSet::Done(_)));
    }
    let (_, taken) = fixture.served("two", "last", &[], 5).await;
    assert_eq!(taken.len(), 2, "the lease was given back");
    let (answers, _) = fixture.served("two", "end", &with_codes(["q1", "q2"]), 0).await;
    let answers: Vec<_> = answers.into_iter().flatten().collect();
    assert_eq!(letters(&answers), "ii");
    assert_eq!(
        letters(&[fixture.now("new", "x").await]),
        "i",
        "the refusal left no record"
    );
}

#[tokio::test]
async fn a_closed_coupon_refuses_its_queue_and_stays_closed() {
    let fixture = CouponFixture::with(&json!({})).await;
    fixture.now("a", "u").await;
    fixture.join("q1", "v").await;
    fixture.join("q2", "w").await;
    fixture.operated(Status::Paused).await;
    assert!(matches!(fixture.operated(Status::Closed).await, StatusSet::Done(_)));
    for wanted in [Status::Open, Status::Paused] {
        let stays = fixture.operated(wanted).await;
        assert!(matches!(stays, StatusSet::Stays(_, Status::Closed)), "{stays:?}");
    }
    assert!(matches!(fixture.operated(Status::Closed).await, StatusSet::Done(_)));
    assert_eq!(refusal(&fixture, "new", "x").await, Some(Refusal::Closed));
    fixture.served("one", "t1", &[], 5).await;
    let (answers, _) = fixture.served("one", "t2", &with_codes(["q1", "q2"]), 5).await;
    let answers: Vec<_> = answers.into_iter().flatten().collect();
    assert_eq!(letters(&answers), "cc");
    assert_eq!(fixture.last_event("serve").await["block"], "q1 v c\nq2 w c");
    assert_eq!(
        letters(&fixture.answers_also_refused(&[ask("q1", "v")]).await),
        "c",
        "final"
    );
    let snapshot = fixture.snapshot().await;
    assert_eq!(
        (snapshot.status, snapshot.queued, snapshot.issued),
        (Status::Closed, 0, 1)
    );
    assert!(
        matches!(fixture.void("a").await, Acted::Done(_)),
        "units are taken back"
    );
    let n = fixture.snapshot().await.mark.n();
    fixture.drop_at_once().await;
    let retired = scripts::retire(&fixture.store, &fixture.keys, Mark::ZERO, n, 0).await;
    assert_eq!(retired.expect("a reply").1, scripts::Retired::Done, "without an end");
}

#[tokio::test]
async fn a_draw_does_not_wait_for_an_operator() {
    let fixture = CouponFixture::with(&json!({})).await;
    fixture.join("q1", "v").await;
    for (request, status) in [("draw:j:e1", Status::Paused), ("draw:j:e2", Status::Closed)] {
        fixture.operated(status).await;
        let asked = scripts::issue_owed(&fixture.store, &fixture.keys, Mark::ZERO, &[ask(request, "u")]).await;
        let answers = asked.expect("a reply").answers;
        let [AskReply::Answered(answer)] = &answers[..] else {
            panic!("{answers:?}")
        };
        let record = answer.record.as_ref().expect("readable");
        assert!(matches!(record.state, State::NotOpen { .. }), "{record:?}");
    }
    assert_eq!(fixture.snapshot().await.queued, 1, "before those in the queue");
}

async fn a_restore_gives_back_what_an_operator_had_set(db: LedgerDb) {
    let fixture = CouponLedger::with(db, &json!({})).await;
    fixture.now("a", "u").await;
    fixture.join("q1", "v").await;
    for (status, letter) in [(Status::Paused, "q"), (Status::Closed, "c")] {
        fixture.operated(status).await;
        let drawn = [ask(&format!("draw:j:{letter}"), "w")];
        let owed = scripts::issue_owed(&fixture.store, &fixture.keys, Mark::ZERO, &drawn).await;
        owed.expect("a reply");
        if status == Status::Closed {
            fixture.served("one", "t1", &[], 5).await;
            fixture.served("one", "t2", &with_codes(["q1"]), 0).await;
        }
        fixture.project().await;
        fixture.assert_complete().await;
        let before = fixture.contents().await;
        fixture.wipe().await;
        fixture.heal().await;
        assert_eq!(fixture.contents().await, before);
        assert_eq!(fixture.snapshot().await.status, status);
        let known = fixture.answers_also_refused(&[ask("q1", "v"), ask("a", "u")]).await;
        assert_eq!(letters(&known), format!("{letter}i"));
        fixture.project().await;
        assert!(fixture.report().await.clean, "{:?}", fixture.report().await);
    }
    let audit = fixture.own_rows("audit", "action before after reason", "n").await;
    let set: Vec<_> = audit
        .iter()
        .filter(|row| row[3] == "a test" && row[0] != "restore")
        .collect();
    assert_eq!(set.len(), 2, "{audit:?}");
}

async fn a_suspension_ends_as_the_operator_left_the_coupon(db: LedgerDb) {
    let fixture = CouponLedger::with(db, &json!({})).await;
    fixture.operated(Status::Paused).await;
    fixture.status(Status::Suspended).await;
    for wanted in [Status::Open, Status::Closed] {
        let stays = fixture.operated(wanted).await;
        assert!(matches!(stays, StatusSet::Stays(_, Status::Suspended)), "{stays:?}");
    }
    fixture.status(Status::Open).await;
    assert_eq!(fixture.snapshot().await.status, Status::Paused);
    fixture.operated(Status::Open).await;
    fixture.status(Status::Suspended).await;
    fixture.status(Status::Open).await;
    assert_eq!(fixture.snapshot().await.status, Status::Open);
    fixture.operated(Status::Closed).await;
    fixture.status(Status::Suspended).await;
    fixture.status(Status::Open).await;
    assert_eq!(fixture.snapshot().await.status, Status::Closed);
    fixture.project().await;
    fixture.assert_complete().await;
    assert!(fixture.report().await.clean);
}

async fn act(service: &Service, verb: &str) -> Answer {
    service
        .post(&format!("/v1/coupons/coffee/{verb}"), json!({"reason": "wrong codes"}))
        .await
}

#[tokio::test]
async fn the_api_pauses_resumes_and_closes() {
    let service = Service::start().await;
    create(&service, "coffee", 5, &json!({})).await;
    let ask = async |request: &str, user: &str| {
        let body = json!({"request_id": request, "user_id": user});
        service.post("/v1/coupons/coffee/issues", body).await
    };
    ask("r1", "u1").await.is(201);
    for _ in 0..2 {
        let paused = act(&service, "pause").await;
        assert_answer!(paused, 200, {"status": "paused"});
    }
    let refused = ask("r2", "u2").await;
    refused.refused(409, "coupon-paused");
    ask("r1", "u1").await.is(200); // a repeat is answered
    look(&service, "coffee", "r2").await.is(404);
    assert_eq!(act(&service, "resume").await.body["status"], "open");
    ask("r2", "u2").await.is(201);
    assert_eq!(act(&service, "close").await.body["status"], "closed");
    let refused = ask("r3", "u3").await;
    refused.refused(409, "coupon-closed");
    for verb in ["pause", "resume"] {
        let refused = act(&service, verb).await;
        assert_eq!(
            (refused.status, &refused.body["code"]),
            (StatusCode::CONFLICT, &json!("coupon-closed")),
            "{verb}"
        );
    }
    let wrong = service.post("/v1/coupons/coffee/close", json!({})).await;
    wrong.invalid("reason");
    service
        .post("/v1/coupons/tea/pause", json!({"reason": "x"}))
        .await
        .refused(404, "coupon-not-found");
    let actions = eventually(PATIENCE, "the actions are in the ledger", async || {
        let audit = service.get("/v1/audit?coupon_id=coffee").await.body;
        let rows: Vec<Value> = audit["items"]
            .as_array()?
            .iter()
            .filter(|row| row["reason"] == "wrong codes")
            .cloned()
            .collect();
        (rows.len() == 3).then_some(rows)
    })
    .await;
    let actions: Vec<_> = actions
        .iter()
        .map(|row| row["action"].as_str().expect("text"))
        .collect();
    assert_eq!(actions, ["close", "resume", "pause"]);
}
