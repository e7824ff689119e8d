//! Issue, look-up and void: each status and code, and the same answer when a call is repeated.

use super::support::{ask, create, look, void};
use crate::support::prelude::*;

fn problem(answer: &Answer) -> (u16, &str) {
    assert_eq!(
        answer.headers["content-type"], "application/problem+json",
        "{}",
        answer.text
    );
    (answer.status.as_u16(), answer.body["code"].as_str().expect("a code"))
}

fn keys(body: &Value) -> Vec<&str> {
    let fields = body.as_object().expect("an object");
    let mut names = fields.keys().map(String::as_str).collect::<Vec<_>>();
    names.sort_unstable();
    names
}

#[tokio::test]
async fn a_unit_is_issued_once_and_the_answer_stands() {
    let service = Service::start().await;
    create(&service, "one", 5, &json!({})).await;
    let first = ask(&service, "one", "r1", "u1").await;
    first.is(201);
    assert_eq!(
        keys(&first.body),
        ["code", "issued_at", "request_id", "result", "sequence", "user_id"]
    );
    assert_has!(first.body, {"result": "issued", "sequence": 1});
    assert!(!first.headers.contains_key("idempotency-replayed"));
    let again = ask(&service, "one", "r1", "u1").await;
    assert_eq!(again.is(200), &first.body);
    assert!(again.is_replay());
    assert_eq!(look(&service, "one", "r1").await.body, first.body);
    ask(&service, "one", "r1", "u2").await.refused(422, "request-id-reused");
    assert_eq!(service.get("/v1/coupons/one").await.body["issued"], 1);
}

#[tokio::test]
async fn every_refusal_has_its_code_and_is_final_for_its_request() {
    let service = Service::start().await;
    create(&service, "few", 1, &json!({})).await;
    create(&service, "early", 1, &json!({"starts_at": "2999-01-01T00:00:00Z"})).await;
    let first = ask(&service, "few", "r1", "u1").await.body;
    for (id, request, user, status, code) in [
        ("few", "r2", "u1", 409, "already-issued"),
        ("few", "r3", "u3", 409, "out-of-stock"),
        ("early", "r4", "u4", 403, "not-open"),
    ] {
        let refused = ask(&service, id, request, user).await;
        refused.refused(status, code);
        assert_eq!(refused.body.get("issue"), (code == "already-issued").then_some(&first));
        let again = ask(&service, id, request, user).await;
        assert_eq!((problem(&again), &again.body), ((status, code), &refused.body));
        assert!(again.is_replay());
        ask(&service, id, request, "u9").await.refused(422, "request-id-reused");
        let found = look(&service, id, request).await;
        assert_answer!(found, 200, {"result": code});
        assert_eq!(found.body["user_id"], user);
        assert!(found.body["decided_at"].is_string(), "{}", found.text);
    }
    // The reasons are gone; the refusals stay, word for word.
    let refused = ask(&service, "few", "r2", "u1").await.body;
    void(&service, "few", "r1").await.is(200);
    assert_eq!(ask(&service, "few", "r2", "u1").await.body, refused);
    ask(&service, "few", "r3", "u3").await.refused(409, "out-of-stock");
    let next = ask(&service, "few", "r5", "u1").await;
    assert_answer!(next, 201, {"sequence": 2});
}

#[tokio::test]
async fn what_is_not_there_or_malformed_is_named() {
    let service = Service::start().await;
    create(&service, "named", 1, &json!({})).await;
    ask(&service, "nothing", "r", "u")
        .await
        .refused(404, "coupon-not-found");
    look(&service, "nothing", "r").await.refused(404, "coupon-not-found");
    look(&service, "named", "r").await.refused(404, "issue-not-found");
    look(&service, "named", "draw:spring:e")
        .await
        .refused(404, "issue-not-found");
    look(&service, "named", "r:1").await.refused(422, "invalid-request");
    for (body, field) in [
        (json!({"request_id": "draw:spring:e1", "user_id": "u"}), "request_id"),
        (json!({"request_id": "r"}), "user_id"),
        (json!({"request_id": "r", "user_id": 7}), "user_id"),
        (json!({"request_id": "r", "user_id": "u", "code": "x"}), "code"),
    ] {
        let answer = service.post("/v1/coupons/named/issues", body).await;
        answer.refused(422, "invalid-request");
        assert_eq!(answer.body["errors"][0]["field"], field, "{}", answer.text);
    }
    let metrics = service.get("/metrics").await.text;
    metrics.hides("coupon=\"nothing\""); // a client's name is no label
}

#[tokio::test]
async fn a_void_is_done_once_and_only_what_was_issued_is_voided() {
    let service = Service::start().await;
    create(&service, "back", 1, &json!({})).await;
    let issued = ask(&service, "back", "r1", "u1").await.body;
    ask(&service, "back", "r2", "u2").await;
    void(&service, "back", "r2").await.refused(409, "not-issued");
    void(&service, "back", "r9").await.refused(404, "issue-not-found");
    void(&service, "nothing", "r1").await.refused(404, "coupon-not-found");
    let voided = void(&service, "back", "r1").await;
    assert_answer!(voided, 200, {"result": "voided"});
    assert_has!(voided.body, {"code": issued["code"], "sequence": issued["sequence"]});
    let again = void(&service, "back", "r1").await;
    assert_eq!(again.is(200), &voided.body);
    let asked = ask(&service, "back", "r1", "u1").await;
    assert_eq!(asked.is(200), &issued, "a repeat is answered as before");
    let found = service.get("/v1/coupons/back/issues/r1").await;
    assert_eq!(found.is(200), &voided.body, "a later read shows it");
    let shown = service.get("/v1/coupons/back").await.body;
    let counts = ["issued", "voided", "remaining"].map(|field| shown[field].as_u64());
    assert_eq!(counts, [Some(1), Some(1), Some(1)]);
}
