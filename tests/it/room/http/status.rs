//! The state of a room, for everybody.

use super::support::{create, joined, keys};
use crate::support::prelude::*;

async fn status(service: &Service, id: &str) -> (StatusCode, String, Value) {
    let url = service.url(&format!("/v1/rooms/{id}/status"));
    let answer = http_client().get(url).send().await.expect("an answer");
    let cache = answer.headers().get("cache-control");
    let cache = cache.map(|value| value.to_str().expect("text").to_owned());
    (
        answer.status(),
        cache.unwrap_or_default(),
        answer.json().await.expect("JSON"),
    )
}

#[tokio::test]
async fn everybody_may_see_how_full_it_is_and_keep_that_for_a_second() {
    let service = Service::start().await;
    create(&service, "lobby", 1, &json!({})).await;
    let (code, cache, body) = status(&service, "lobby").await;
    assert_eq!((code, cache.as_str()), (StatusCode::OK, "public, max-age=1"));
    assert_eq!(
        keys(&body),
        [
            "active",
            "at",
            "capacity",
            "commitment",
            "eta_s",
            "joined",
            "nonce",
            "opens_at",
            "room_id",
            "seed",
            "sha256",
            "status",
            "stopped",
            "waiting"
        ]
    );
    assert_has!(body, {"room_id": "lobby", "status": "open", "eta_s": 0}, "a newcomer is let in at once");
    for user in ["a", "b", "c"] {
        joined(&service, "lobby", user).await;
    }
    let body = eventually(PATIENCE, "it is never older than a second", async || {
        let (_, _, body) = status(&service, "lobby").await;
        (body["waiting"] == 2).then_some(body)
    })
    .await;
    assert_has!(body, {"active": 1, "capacity": 1});
    assert_eq!(body["eta_s"], Value::Null, "nobody was let in out of the line yet");
    let (code, _, problem) = status(&service, "none").await;
    assert_eq!(
        (code, &problem["code"]),
        (StatusCode::NOT_FOUND, &json!("room-not-found"))
    );
}

#[tokio::test]
async fn metrics_count_joins_and_show_who_is_there() {
    let service = Service::start().await;
    create(&service, "lobby", 1, &json!({})).await;
    for user in ["a", "b", "b"] {
        joined(&service, "lobby", user).await;
    }
    service.post("/v1/rooms/made-up/tickets", json!({"user_id": "a"})).await;
    let text = service.get("/metrics").await.text;
    for line in [
        "jackpot_room_joins_total{room=\"lobby\",result=\"admitted\"} 1",
        "jackpot_room_joins_total{room=\"lobby\",result=\"waiting\"} 1",
        "jackpot_room_joins_total{room=\"lobby\",result=\"replayed\"} 1",
        "jackpot_room_active{room=\"lobby\"} 1",
        "jackpot_room_waiting{room=\"lobby\"} 1",
        "jackpot_room_tickets_total{room=\"lobby\",event=\"admitted\"} 1",
    ] {
        text.says(line);
    }
    text.hides("made-up");
}
