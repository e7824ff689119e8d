//! The queue over HTTP: strictly in the order of arrival, also for requests that do not ask for the queue.

use futures_util::future::join_all;
use tokio::time::Instant;

use super::support::{ask, create, hold, join, look, release, service_and_redis, until, void};
use crate::support::prelude::*;

#[tokio::test]
async fn who_joins_is_served_in_the_order_of_arrival() {
    let (service, redis) = service_and_redis(&[]).await;
    create(&service, "queue", 15, &json!({})).await;
    hold(&redis, "queue").await;
    for i in 1..=20 {
        let (status, headers, body) = join(&service, "queue", &format!("q{i}"), &format!("u{i}")).await;
        assert_eq!(status, StatusCode::ACCEPTED, "{body}");
        assert_eq!(headers["location"], format!("/v1/coupons/queue/issues/q{i}"));
        assert_has!(body, {"result": "queued", "position": i});
        assert_has!(body, {"request_id": format!("q{i}"), "user_id": format!("u{i}")});
    }
    let (status, headers, body) = join(&service, "queue", "q7", "u7").await;
    assert_eq!(
        (status, &body["position"]),
        (StatusCode::ACCEPTED, &json!(7)),
        "a repeat keeps its place"
    );
    assert_eq!(headers["idempotency-replayed"], "true");
    let (status, _, body) = join(&service, "queue", "q7", "u8").await;
    assert_eq!((status.as_u16(), &body["code"]), (422, &json!("request-id-reused")));
    void(&service, "queue", "q7").await.refused(409, "not-issued");
    assert_eq!(service.get("/v1/coupons/queue").await.body["queued"], 20);
    release(&redis, "queue").await;
    until(&service, "queue", "q20", "out-of-stock").await;
    for i in 1..=20 {
        let found = look(&service, "queue", &format!("q{i}")).await.body;
        let expected = if i <= 15 { json!(i) } else { json!(null) };
        assert_eq!(found["sequence"], expected, "{found}");
    }
    // Requests that are decided by now answer as if they had been decided at once.
    let (status, _, body) = join(&service, "queue", "q1", "u1").await;
    assert_eq!((status, &body["sequence"]), (StatusCode::OK, &json!(1)));
    let (status, _, body) = join(&service, "queue", "q16", "u16").await;
    assert_eq!((status.as_u16(), &body["code"]), (409, &json!("out-of-stock")));
    assert_eq!(service.get("/v1/coupons/queue").await.body["queued"], 0);
}

#[tokio::test]
async fn a_request_that_does_not_ask_for_the_queue_never_overtakes_it() {
    let (service, redis) = service_and_redis(&[("JACKPOT__COUPONS__TURN_WAIT_MS", "200")]).await;
    create(&service, "fair", 2, &json!({})).await;
    hold(&redis, "fair").await;
    for i in 1..=2 {
        join(&service, "fair", &format!("q{i}"), &format!("u{i}")).await;
    }
    let began_at = Instant::now();
    let late = ask(&service, "fair", "sync", "u3").await;
    late.is(202);
    assert!(began_at.elapsed().as_millis() >= 200, "it waits for its turn");
    assert_eq!(
        (&late.body["position"], &late.headers["location"]),
        (&json!(3), &"/v1/coupons/fair/issues/sync".parse().expect("a header"))
    );
    release(&redis, "fair").await;
    let refused = until(&service, "fair", "sync", "out-of-stock").await;
    assert_eq!(refused["user_id"], "u3");
    for i in 1..=2 {
        assert_eq!(look(&service, "fair", &format!("q{i}")).await.body["sequence"], i);
    }
}

#[tokio::test]
async fn a_request_that_waits_for_its_turn_is_answered_as_usual() {
    let (service, redis) = service_and_redis(&[("JACKPOT__COUPONS__TURN_WAIT_MS", "20000")]).await;
    create(&service, "wait", 2, &json!({})).await;
    hold(&redis, "wait").await;
    join(&service, "wait", "q1", "u1").await;
    let asking = join_all([("s1", "u2"), ("s2", "u3"), ("s3", "u1")].map(|(r, u)| ask(&service, "wait", r, u)));
    let freeing = async {
        service
            .until("/v1/coupons/wait", "all are in the queue", |shown| shown["queued"] == 4)
            .await;
        release(&redis, "wait").await;
    };
    let (answers, ()) = tokio::join!(asking, freeing);
    let mut statuses = answers.iter().map(|answer| answer.status.as_u16()).collect::<Vec<_>>();
    statuses.sort_unstable();
    assert_eq!(statuses, [201, 409, 409], "{answers:?}");
    let of_first = answers.iter().find(|answer| answer.body["code"] == "already-issued");
    if let Some(answer) = of_first {
        assert_eq!(answer.body["issue"]["request_id"], "q1");
    }
    assert_eq!(service.get("/v1/coupons/wait").await.body["remaining"], 0);
}

#[tokio::test]
async fn a_stop_does_not_wait_for_turns_and_gives_the_queue_back() {
    let (mut service, redis) = service_and_redis(&[("JACKPOT__COUPONS__TURN_WAIT_MS", "20000")]).await;
    create(&service, "stop", 2, &json!({})).await;
    hold(&redis, "stop").await;
    join(&service, "stop", "q1", "u1").await;
    let caller = service.caller();
    let body = json!({"request_id": "s1", "user_id": "u2"});
    let waiting = tokio::spawn(async move { caller.post("/v1/coupons/stop/issues", &body).await });
    service
        .until("/v1/coupons/stop", "both are in the queue", |shown| {
            shown["queued"] == 2
        })
        .await;
    let began_at = Instant::now();
    assert!(service.stop().await.success());
    assert!(began_at.elapsed().as_secs() < 10, "{:?}", began_at.elapsed());
    let answer = waiting.await.expect("no panic").expect("an answer");
    assert_answer!(answer, 202, {"position": 2});
    release(&redis, "stop").await;
    service.restart().await;
    assert_eq!(until(&service, "stop", "s1", "issued").await["sequence"], 2);
}

#[tokio::test]
async fn a_repeat_of_a_dead_request_says_that_it_is_dead() {
    let (service, redis) = service_and_redis(&[]).await;
    create(&service, "dead", 2, &json!({})).await;
    hold(&redis, "dead").await;
    join(&service, "dead", "q1", "u1").await;
    // As serve.lua leaves the request after the third try.
    let mut connection = redis.connection().await;
    redis::pipe()
        .cmd("HSET")
        .arg("cp:{dead}:requests")
        .arg("q1")
        .arg("d 1 3 1795243503125 u1")
        .ignore()
        .cmd("ZREM")
        .arg("cp:{dead}:queue")
        .arg("q1")
        .ignore()
        .cmd("ZADD")
        .arg("cp:{dead}:dead")
        .arg(1)
        .arg("q1")
        .ignore()
        .exec_async(&mut connection)
        .await
        .expect("a dead letter");
    let (status, headers, body) = join(&service, "dead", "q1", "u1").await;
    assert_eq!((status, &body["result"]), (StatusCode::OK, &json!("dead")), "{body}");
    assert!(!headers.contains_key("location"), "{headers:?}");
    assert_eq!(headers["idempotency-replayed"], "true");
    let again = ask(&service, "dead", "q1", "u1").await;
    assert_eq!(again.is(200), &body);
    let looked = look(&service, "dead", "q1").await;
    assert_eq!(looked.is(200), &body);
    assert_eq!(body["attempts"], 3);
    ask(&service, "dead", "q1", "u2")
        .await
        .refused(422, "request-id-reused");
}
