//! Issue, look-up and void: each status and code, and the same answer when a call is repeated.

use reqwest::StatusCode;
use serde_json::{Value, json};

use super::support::{ask, create, look, void};
use crate::support::service::{Answer, Service};

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
    assert_eq!(first.status, StatusCode::CREATED, "{}", first.text);
    assert_eq!(
        keys(&first.body),
        ["code", "issued_at", "request_id", "result", "sequence", "user_id"]
    );
    assert_eq!(
        (&first.body["result"], &first.body["sequence"]),
        (&json!("issued"), &json!(1))
    );
    assert!(!first.headers.contains_key("idempotency-replayed"));
    let again = ask(&service, "one", "r1", "u1").await;
    assert_eq!((again.status, &again.body), (StatusCode::OK, &first.body));
    assert_eq!(again.headers["idempotency-replayed"], "true");
    assert_eq!(look(&service, "one", "r1").await.body, first.body);
    let other = ask(&service, "one", "r1", "u2").await;
    assert_eq!(problem(&other), (422, "request-id-reused"));
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
        assert_eq!(problem(&refused), (status, code));
        assert_eq!(refused.body.get("issue"), (code == "already-issued").then_some(&first));
        let again = ask(&service, id, request, user).await;
        assert_eq!((problem(&again), &again.body), ((status, code), &refused.body));
        assert_eq!(again.headers["idempotency-replayed"], "true");
        assert_eq!(
            problem(&ask(&service, id, request, "u9").await),
            (422, "request-id-reused")
        );
        let found = look(&service, id, request).await;
        assert_eq!((found.status, &found.body["result"]), (StatusCode::OK, &json!(code)));
        assert_eq!(found.body["user_id"], user);
        assert!(found.body["decided_at"].is_string(), "{}", found.text);
    }
    // The reasons are gone; the refusals stay, word for word.
    let refused = ask(&service, "few", "r2", "u1").await.body;
    assert_eq!(void(&service, "few", "r1").await.status, StatusCode::OK);
    assert_eq!(ask(&service, "few", "r2", "u1").await.body, refused);
    assert_eq!(problem(&ask(&service, "few", "r3", "u3").await), (409, "out-of-stock"));
    let next = ask(&service, "few", "r5", "u1").await;
    assert_eq!((next.status, &next.body["sequence"]), (StatusCode::CREATED, &json!(2)));
}

#[tokio::test]
async fn what_is_not_there_or_malformed_is_named() {
    let service = Service::start().await;
    create(&service, "named", 1, &json!({})).await;
    assert_eq!(
        problem(&ask(&service, "nothing", "r", "u").await),
        (404, "coupon-not-found")
    );
    assert_eq!(
        problem(&look(&service, "nothing", "r").await),
        (404, "coupon-not-found")
    );
    assert_eq!(problem(&look(&service, "named", "r").await), (404, "issue-not-found"));
    assert_eq!(
        problem(&look(&service, "named", "draw:spring:e").await),
        (404, "issue-not-found")
    );
    assert_eq!(problem(&look(&service, "named", "r:1").await), (422, "invalid-request"));
    for (body, field) in [
        (json!({"request_id": "draw:spring:e1", "user_id": "u"}), "request_id"),
        (json!({"request_id": "r"}), "user_id"),
        (json!({"request_id": "r", "user_id": 7}), "user_id"),
        (json!({"request_id": "r", "user_id": "u", "code": "x"}), "code"),
    ] {
        let answer = service.post("/v1/coupons/named/issues", body).await;
        assert_eq!(problem(&answer), (422, "invalid-request"));
        assert_eq!(answer.body["errors"][0]["field"], field, "{}", answer.text);
    }
    let metrics = service.get("/metrics").await.text;
    assert!(!metrics.contains("coupon=\"nothing\""), "a client's name is no label");
}

#[tokio::test]
async fn a_void_is_done_once_and_only_what_was_issued_is_voided() {
    let service = Service::start().await;
    create(&service, "back", 1, &json!({})).await;
    let issued = ask(&service, "back", "r1", "u1").await.body;
    ask(&service, "back", "r2", "u2").await;
    assert_eq!(problem(&void(&service, "back", "r2").await), (409, "not-issued"));
    assert_eq!(problem(&void(&service, "back", "r9").await), (404, "issue-not-found"));
    assert_eq!(
        problem(&void(&service, "nothing", "r1").await),
        (404, "coupon-not-found")
    );
    let voided = void(&service, "back", "r1").await;
    assert_eq!(
        (voided.status, &voided.body["result"]),
        (StatusCode::OK, &json!("voided"))
    );
    assert_eq!(
        (&voided.body["code"], &voided.body["sequence"]),
        (&issued["code"], &issued["sequence"])
    );
    let again = void(&service, "back", "r1").await;
    assert_eq!((again.status, again.body), (StatusCode::OK, voided.body.clone()));
    let asked = ask(&service, "back", "r1", "u1").await;
    assert_eq!(
        (asked.status, asked.body),
        (StatusCode::OK, issued),
        "a repeat is answered as before"
    );
    let found = service.get("/v1/coupons/back/issues/r1").await;
    assert_eq!(
        (found.status, found.body),
        (StatusCode::OK, voided.body),
        "a later read shows it"
    );
    let shown = service.get("/v1/coupons/back").await.body;
    let counts = ["issued", "voided", "remaining"].map(|field| shown[field].as_u64());
    assert_eq!(counts, [Some(1), Some(1), Some(1)]);
}
