//! The events of an open page.

use std::collections::BTreeSet;
use std::time::Duration;

use tokio::time::timeout;

use super::support::{room, service, wait};
use crate::support::prelude::*;

/// Name and data of each whole event of a text.
fn events(text: &str) -> Vec<(String, Value)> {
    let one = |event: &str| {
        let (name, data) = event.strip_prefix("event: ")?.split_once("\ndata: ")?;
        Some((name.to_owned(), serde_json::from_str(data).expect("JSON")))
    };
    text.split("\n\n").filter_map(one).collect()
}

/// Reads until `is_so` holds for the last event.
async fn read(answer: &mut reqwest::Response, text: &mut String, is_so: impl Fn(&str, &Value) -> bool) {
    let reading = async {
        loop {
            // The last part may be half an event.
            let whole = text.rfind("\n\n").map_or("", |end| &text[..end]);
            if events(whole).last().is_some_and(|(name, data)| is_so(name, data)) {
                return;
            }
            let chunk = answer.chunk().await.expect("readable").expect("more events");
            text.push_str(std::str::from_utf8(&chunk).expect("UTF-8"));
        }
    };
    timeout(PATIENCE, reading).await.expect("the event comes");
}

#[tokio::test]
async fn a_listener_is_told_of_the_place_keeps_it_and_is_told_to_move() {
    let service = service().await;
    room(&service, "told", 1, &json!({"waiting_timeout_s": 5})).await;
    let ann = service
        .post("/v1/rooms/told/tickets", json!({"user_id": "ann"}))
        .await
        .body;
    let bob = service
        .post("/v1/rooms/told/tickets", json!({"user_id": "bob"}))
        .await
        .body;
    assert_eq!((&ann["status"], &bob["position"]), (&json!("admitted"), &json!(1)));
    let place = wait(&service, "told", "cid").await;
    let (address, query) = place.split_once('?').expect("a token");
    let url = format!("{address}/events?{query}");
    let mut answer = http_client().get(url).send().await.expect("an answer");
    assert_eq!(answer.status(), StatusCode::OK);
    assert_eq!(answer.headers()["content-type"], "text/event-stream");
    assert_eq!(answer.headers()["cache-control"], "no-store, no-transform");
    let mut text = String::new();
    read(&mut answer, &mut text, |name, data| {
        name == "place" && data["place"] == "2"
    })
    .await;
    // Nobody asks for bob, and only the stream asks for cid: bob is abandoned, cid is not.
    read(&mut answer, &mut text, |name, data| {
        name == "place" && data["place"] == "1"
    })
    .await;
    assert_eq!(service.get("/v1/rooms/told").await.body["abandoned"], 1);
    let ticket = ann["ticket"].as_str().expect("a ticket");
    let path = format!("/v1/rooms/told/tickets/{ticket}");
    service.call(reqwest::Method::DELETE, &path, None).await;
    read(&mut answer, &mut text, |name, _| name == "moved").await;
    let rest = timeout(Duration::from_secs(10), answer.chunk()).await.expect("it ends");
    assert_eq!(rest.expect("readable"), None);
    assert!(!text.contains("pass") && !text.contains("cid"), "{text}");
    let texts = &events(&text)[0].1;
    let ids: BTreeSet<_> = texts.as_object().expect("texts").keys().map(String::as_str).collect();
    assert_eq!(ids, BTreeSet::from(["heading", "note", "place", "title", "wait"]));
}

#[tokio::test]
async fn one_place_takes_a_few_streams_and_leaves_the_others() {
    let service = service().await;
    room(&service, "few", 0, &json!({})).await;
    let (one, other) = (wait(&service, "few", "ann").await, wait(&service, "few", "bob").await);
    let listen = async |place: &str| {
        let url = place.replace("/wait?", "/wait/events?");
        http_client().get(url).send().await.expect("an answer")
    };
    let mut open = Vec::new();
    for _ in 0..4 {
        let answer = listen(&one).await;
        assert_eq!(answer.status(), StatusCode::OK);
        open.push(answer);
    }
    let refused = listen(&one).await;
    assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
    let problem = refused.json::<Value>().await.expect("JSON");
    assert_has!(problem, {"code": "too-many-streams", "detail": "this place has as many open streams as it may"});
    assert_eq!(listen(&other).await.status(), StatusCode::OK);
    drop(open);
    eventually(PATIENCE, "streams that were closed make room", async || {
        listen(&one).await.status().is_success().then_some(())
    })
    .await;
}
