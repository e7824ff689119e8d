//! Definitions over HTTP: created, changed, conditions, what is wrong, lists.

use super::support::{create, definition, joined, keys, look};
use crate::support::prelude::*;

async fn put(service: &Service, id: &str, condition: (&str, &str), body: &Value) -> (u16, String, Value) {
    let answer = http_client()
        .request(Method::PUT, service.url(&format!("/v1/rooms/{id}")))
        .bearer_auth(service.operator_key())
        .header(condition.0, condition.1)
        .json(body)
        .send()
        .await
        .expect("an answer");
    let tag = answer.headers().get("etag");
    let tag = tag
        .map(|tag| tag.to_str().expect("text").to_owned())
        .unwrap_or_default();
    (answer.status().as_u16(), tag, answer.json().await.expect("JSON"))
}

#[tokio::test]
async fn a_room_is_created_changed_and_kept_as_it_was() {
    let service = Service::start().await;
    let first = definition(
        2,
        &json!({"admissions_per_minute": 30, "name": "Lobby", "back": "https://shop.example",
        "return_origins": ["https://shop.example:443", "http://localhost:3000"]}),
    );
    let (status, tag, mut shown) = put(&service, "tagged", ("if-none-match", "*"), &first).await;
    assert_eq!((status, tag.as_str()), (201, "\"1\""));
    let commitment = shown["commitment"].take();
    assert_eq!(commitment.as_str().map(str::len), Some(64));
    let nonce = shown["nonce"].take();
    assert_eq!(nonce.as_str().map(str::len), Some(32));
    shown["seed"].take(); // once the ledger has the opening
    assert_eq!(
        shown,
        json!({"id": "tagged", "capacity": 2, "session_s": 60, "waiting_timeout_s": 60, "admissions_per_minute": 30,
            "opens_at": null, "name": "Lobby", "back": "https://shop.example/",
            "return_origins": ["https://shop.example", "http://localhost:3000"], "status": "open", "stopped": null, "version": 1, "active": 0, "waiting": 0, "admitted": 0, "expired": 0,
            "abandoned": 0, "left": 0, "mean_wait_s": null, "nonce": null, "commitment": null, "seed": null, "held_until": null})
    );
    let again = put(&service, "tagged", ("if-match", "*"), &first).await;
    assert_eq!((again.0, again.1.as_str()), (200, "\"1\""), "the same changes nothing");
    let (status, _, problem) = put(&service, "tagged", ("if-none-match", "*"), &first).await;
    assert_eq!((status, &problem["code"]), (412, &json!("precondition-failed")));
    let more = definition(3, &json!({}));
    let (status, tag, shown) = put(&service, "tagged", ("if-match", "\"1\""), &more).await;
    assert_eq!((status, tag.as_str(), &shown["capacity"]), (200, "\"2\"", &json!(3)));
    let late = definition(9, &json!({}));
    let (status, _, problem) = put(&service, "tagged", ("if-match", "\"1\""), &late).await;
    assert_eq!((status, &problem["code"]), (412, &json!("precondition-failed")));
    let (status, _, problem) = put(&service, "missing", ("if-match", "*"), &late).await;
    assert_eq!((status, &problem["code"]), (412, &json!("precondition-failed")));
    let read = service.get("/v1/rooms/tagged").await;
    assert_eq!(
        (read.headers["etag"].to_str().expect("text"), &read.body["capacity"]),
        ("\"2\"", &json!(3))
    );
    assert_eq!(service.get("/v1/rooms/missing").await.body["code"], "room-not-found");
}

#[tokio::test]
async fn a_raised_capacity_lets_in_at_once_and_a_lowered_one_throws_nobody_out() {
    let service = Service::start().await;
    create(&service, "resized", 1, &json!({})).await;
    let tickets = [
        joined(&service, "resized", "a").await,
        joined(&service, "resized", "b").await,
        joined(&service, "resized", "c").await,
    ];
    assert_eq!(tickets[1]["status"], "waiting");
    service.put("/v1/rooms/resized", definition(2, &json!({}))).await;
    assert_eq!(look(&service, "resized", &tickets[1]).await["status"], "admitted");
    service.put("/v1/rooms/resized", definition(0, &json!({}))).await;
    let room = service.get("/v1/rooms/resized").await.body;
    assert_has!(room, {"active": 2, "waiting": 1});
    assert_eq!(look(&service, "resized", &tickets[0]).await["status"], "admitted");
    assert_eq!(look(&service, "resized", &tickets[2]).await["status"], "waiting");
}

#[tokio::test]
async fn wrong_fields_are_named() {
    let service = Service::start().await;
    create(&service, "fields", 2, &json!({})).await;
    for (change, field) in [
        (json!({"capacity": -1}), "capacity"),
        (json!({"capacity": 1_000_001}), "capacity"),
        (json!({"session_s": 0}), "session_s"),
        (json!({"waiting_timeout_s": 86_401}), "waiting_timeout_s"),
        (json!({"admissions_per_minute": 0}), "admissions_per_minute"),
        (json!({"opens_at": "soon"}), "opens_at"),
        (json!({"opens_at": "2999-01-01T00:00:00Z"}), "opens_at"),
        (json!({"name": ""}), "name"),
        (json!({"back": "/start"}), "back"),
        (
            json!({"return_origins": ["https://shop.example/"]}),
            "return_origins[0]",
        ),
        (json!({"return_origins": ["http://shop.example"]}), "return_origins[0]"),
        (json!({"return_origins": "https://shop.example"}), "return_origins"),
        (json!({"colour": "red"}), "colour"),
        (json!({"id": "fields"}), "id"),
    ] {
        service
            .put("/v1/rooms/fields", definition(5, &change))
            .await
            .invalid(field);
    }
    let answer = service.put("/v1/rooms/fields", json!({"capacity": -1})).await;
    assert_eq!(
        answer.body["errors"][0],
        json!({"field": "capacity", "message": "must be an integer from 0 to 1000000"}),
        "the rule, not what a parser thinks of it"
    );
    assert_eq!(service.get("/v1/rooms/fields").await.body["version"], 1);
}

#[tokio::test]
async fn rooms_are_listed_in_pages_and_what_operators_do_is_in_the_audit_trail() {
    let service = Service::start().await;
    for id in ["b", "c", "a"] {
        create(&service, id, 1, &json!({})).await;
    }
    let page = service.get("/v1/rooms?limit=2").await.body;
    assert_eq!(
        (&page["items"][0]["id"], &page["items"][1]["id"]),
        (&json!("a"), &json!("b"))
    );
    let cursor = page["next_cursor"].as_str().expect("more");
    let page = service.get(&format!("/v1/rooms?limit=2&cursor={cursor}")).await.body;
    assert_eq!(keys(&page), ["items", "next_cursor"]);
    assert_eq!(
        (&page["items"][0]["id"], &page["next_cursor"]),
        (&json!("c"), &Value::Null)
    );
    for wrong in ["limit=0", "limit=1001", "cursor=x:y", "offset=1"] {
        let answer = service.get(&format!("/v1/rooms?{wrong}")).await;
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{wrong}");
    }
}
