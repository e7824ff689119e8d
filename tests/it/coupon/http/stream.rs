//! The way through the queue as server-sent events.

use super::support::{ask, create, hold, join, release, service_and_redis};
use crate::support::prelude::*;

async fn open(service: &Service, id: &str, request: &str) -> reqwest::Response {
    let url = service.url(&format!("/v1/coupons/{id}/issues/{request}/stream"));
    let key = service.operator_key();
    http_client().get(url).bearer_auth(key).send().await.expect("an answer")
}

/// Name and data of each whole event of a text.
fn events(text: &str) -> Vec<(String, Value)> {
    let one = |event: &str| {
        let (name, data) = event.strip_prefix("event: ")?.split_once("\ndata: ")?;
        Some((name.to_owned(), serde_json::from_str(data).expect("JSON")))
    };
    text.split("\n\n").filter_map(one).collect()
}

#[tokio::test]
async fn the_place_is_told_then_the_result_and_then_it_ends() {
    let (service, redis) = service_and_redis(&[]).await;
    create(&service, "sse", 5, &json!({})).await;
    hold(&redis, "sse").await;
    join(&service, "sse", "q1", "u1").await;
    join(&service, "sse", "q2", "u2").await;
    let mut answer = open(&service, "sse", "q2").await;
    assert_eq!(
        (answer.status(), &answer.headers()["content-type"]),
        (StatusCode::OK, &"text/event-stream".parse().expect("a header"))
    );
    let mut text = String::new();
    while events(&text).is_empty() {
        let chunk = answer.chunk().await.expect("readable").expect("an event");
        text.push_str(std::str::from_utf8(&chunk).expect("UTF-8"));
    }
    let (name, place) = events(&text).remove(0);
    assert_eq!(
        (name.as_str(), &place["result"], &place["position"]),
        ("place", &json!("queued"), &json!(2))
    );
    release(&redis, "sse").await;
    while let Some(chunk) = answer.chunk().await.expect("readable") {
        text.push_str(std::str::from_utf8(&chunk).expect("UTF-8"));
    }
    let (name, result) = events(&text).pop().expect("events");
    assert_eq!(
        (name.as_str(), &result["result"], &result["sequence"]),
        ("result", &json!("issued"), &json!(2))
    );
}

#[tokio::test]
async fn what_is_decided_is_told_at_once() {
    let service = Service::start().await;
    create(&service, "done", 1, &json!({})).await;
    let issued = ask(&service, "done", "r1", "u1").await.body;
    let text = open(&service, "done", "r1").await.text().await.expect("it ends");
    assert_eq!(events(&text), [("result".to_owned(), issued)]);
    assert_eq!(open(&service, "done", "r2").await.status(), StatusCode::NOT_FOUND);
    assert_eq!(open(&service, "none", "r1").await.status(), StatusCode::NOT_FOUND);
}
