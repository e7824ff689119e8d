//! A ticket as server-sent events.

use super::support::{create, joined, leave, look, path};
use crate::support::prelude::*;

async fn open(service: &Service, id: &str, ticket: &Value) -> reqwest::Response {
    let url = service.url(&format!("{}/stream", path(id, ticket)));
    let key = service.operator_key();
    http_client().get(url).bearer_auth(key).send().await.expect("an answer")
}

/// Data of each whole event of a text; all have one name.
fn events(text: &str) -> Vec<Value> {
    let one = |event: &str| {
        let data = event.strip_prefix("event: ticket\ndata: ")?;
        Some(serde_json::from_str(data).expect("JSON"))
    };
    text.split("\n\n").filter_map(one).collect()
}

/// Reads on until there is an event for which `is` holds.
async fn until(answer: &mut reqwest::Response, text: &mut String, is: impl Fn(&Value) -> bool) -> Value {
    loop {
        if let Some(found) = events(text).into_iter().find(&is) {
            return found;
        }
        let chunk = answer.chunk().await.expect("readable").expect("an event");
        text.push_str(std::str::from_utf8(&chunk).expect("UTF-8"));
    }
}

#[tokio::test]
async fn a_ticket_is_told_as_it_changes_and_then_it_ends() {
    let service = Service::start().await;
    create(&service, "sse", 1, &json!({})).await;
    let (first, second) = (joined(&service, "sse", "a").await, joined(&service, "sse", "b").await);
    let third = joined(&service, "sse", "c").await;
    let mut answer = open(&service, "sse", &third).await;
    assert_eq!(
        (answer.status(), &answer.headers()["content-type"]),
        (StatusCode::OK, &"text/event-stream".parse().expect("a header"))
    );
    let mut text = String::new();
    assert_eq!(
        until(&mut answer, &mut text, |_| true).await,
        third,
        "at once, the last known state"
    );
    leave(&service, "sse", &first).await;
    until(&mut answer, &mut text, |ticket| ticket["position"] == 1).await;
    leave(&service, "sse", &second).await;
    let admitted = until(&mut answer, &mut text, |ticket| ticket["status"] == "admitted").await;
    assert_eq!(admitted["ticket"], third["ticket"]);
    assert!(admitted["pass"].is_string(), "{admitted}");
    // As long as nothing changes there are only comments.
    let shown = events(&text).len();
    while !text.ends_with("\n\n:\n\n:\n\n") {
        let chunk = answer.chunk().await.expect("readable").expect("a comment");
        text.push_str(std::str::from_utf8(&chunk).expect("UTF-8"));
    }
    assert_eq!(events(&text).len(), shown, "{text}");
    leave(&service, "sse", &third).await;
    while let Some(chunk) = answer.chunk().await.expect("readable") {
        text.push_str(std::str::from_utf8(&chunk).expect("UTF-8"));
    }
    assert_eq!(
        events(&text).pop(),
        Some(look(&service, "sse", &third).await),
        "the last word"
    );
}

#[tokio::test]
async fn who_listens_keeps_the_place() {
    let service = Service::start().await;
    create(&service, "sse", 1, &json!({"waiting_timeout_s": 3})).await;
    joined(&service, "sse", "a").await;
    let listens = joined(&service, "sse", "listens").await;
    let mut answer = open(&service, "sse", &listens).await;
    let mut text = String::new();
    until(&mut answer, &mut text, |_| true).await;
    for round in 0..2 {
        // Each silent user is abandoned after the same time.
        joined(&service, "sse", &format!("silent-{round}")).await;
        service
            .until("/v1/rooms/sse", "the silent one is abandoned", |room| {
                room["abandoned"] == round + 1
            })
            .await;
    }
    let room = service.get("/v1/rooms/sse").await.body;
    assert_has!(room, {"waiting": 1, "abandoned": 2});
    // Once nobody listens to its stream, the ticket is abandoned as well.
    drop(answer);
    service
        .until("/v1/rooms/sse", "nobody listens any more", |room| {
            room["abandoned"] == 3
        })
        .await;
}

#[tokio::test]
async fn what_is_over_is_told_at_once_and_what_is_not_there_is_not_found() {
    let service = Service::start_with(&[("JACKPOT__HTTP__MAX_STREAMS", "1")]).await;
    create(&service, "sse", 1, &json!({})).await;
    let first = joined(&service, "sse", "a").await;
    let left = leave(&service, "sse", &first).await.body;
    let text = open(&service, "sse", &first).await.text().await.expect("it ends");
    assert_eq!(events(&text), [left]);
    let nobody = json!({"ticket": "00000000000000000000000000000000"});
    assert_eq!(open(&service, "sse", &nobody).await.status(), StatusCode::NOT_FOUND);
    let (second, third) = (joined(&service, "sse", "b").await, joined(&service, "sse", "c").await);
    let mut held = open(&service, "sse", &second).await;
    held.chunk().await.expect("readable").expect("an event");
    let refused = open(&service, "sse", &third).await;
    assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
    let problem: Value = refused.json().await.expect("JSON");
    assert_eq!(problem["code"], "too-many-streams");
}
