//! A coupon whose records are gone: the ledger answers for what it issued.

use super::support::{ask, create, definition, look, send, service_and_redis, void};
use crate::support::prelude::*;

#[tokio::test]
async fn a_winner_who_asks_again_after_the_retention_gets_the_same_answer() {
    let (service, redis) = service_and_redis(&[]).await;
    create(&service, "over", 3, &json!({})).await;
    let won = ask(&service, "over", "r1", "u1").await;
    won.is(201);
    ask(&service, "over", "r2", "u2").await;
    let voided = void(&service, "over", "r2").await;
    voided.is(200);
    ask(&service, "over", "r3", "u1").await.is(409);
    let found = look(&service, "over", "r1").await;
    let ends = definition(3, &json!({"ends_at": "2020-01-01T00:00:00Z"}));
    service.put("/v1/coupons/over", ends).await.is(200);
    // The retention passes. Until the worker has looked, it may write a smaller age.
    let state = "cp:{over}:state";
    let mut connection = redis.connection().await;
    eventually(PATIENCE, "its records are gone", async || {
        redis::cmd("HSET")
            .arg(state)
            .arg(&["over_version", "2", "over_age", "999999999", "over_looked", "1"])
            .arg(&["over", "1 2"])
            .exec_async(&mut connection)
            .await
            .expect("HSET");
        let records: u64 = redis::cmd("EXISTS")
            .arg("cp:{over}:requests")
            .query_async(&mut connection)
            .await
            .expect("EXISTS");
        (records == 0).then_some(())
    })
    .await;

    let again = ask(&service, "over", "r1", "u1").await;
    assert_eq!(again.is(200), &won.body);
    assert!(again.is_replay());
    let looked = look(&service, "over", "r1").await;
    assert_eq!(looked.is(200), &found.body);
    assert_eq!(look(&service, "over", "r2").await.body["result"], "voided");
    assert_eq!(void(&service, "over", "r2").await.body, voided.body, "a repeat");
    ask(&service, "over", "r1", "u2")
        .await
        .refused(422, "request-id-reused");
    for (request, user) in [("r3", "u1"), ("r4", "u4")] {
        let refused = ask(&service, "over", request, user).await;
        refused.refused(403, "not-open");
        look(&service, "over", request).await.is(404);
    }
    let changed = service.put("/v1/coupons/over", definition(9, &json!({}))).await;
    changed.refused(409, "coupon-retired");
    assert!(
        changed.body["detail"]
            .as_str()
            .is_some_and(|text| text.contains("another id")),
        "{}",
        changed.text
    );
    let late = void(&service, "over", "r1").await;
    let redriven = service
        .post("/v1/coupons/over/dead-letters/r1/redrive", json!(null))
        .await;
    for refused in [late, redriven] {
        refused.refused(409, "coupon-retired");
    }
    let list = "{\"request_id\":\"r1\",\"user_id\":\"u1\"}\n{\"request_id\":\"r9\",\"user_id\":\"u9\"}\n";
    let headers = [("content-type", "application/x-ndjson")];
    let path = "/v1/coupons/over/bulk-issues";
    let (status, _, text) = send(&service, reqwest::Method::POST, path, &headers, list).await;
    assert_eq!(status, StatusCode::OK, "{text}");
    let lines: Vec<serde_json::Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let results = lines.iter().map(|line| line["result"].as_str().expect("a result"));
    assert_eq!(results.collect::<Vec<_>>(), ["issued", "refused"], "{text}");
}
