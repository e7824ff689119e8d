//! HEAD never acts: a path whose GET acts does not take it.

use crate::coupon::http;
use crate::room::http::support::{create, joined, path};
use crate::room::page::support::{SHOP, browse, link, room, wait};
use crate::support::given;
use crate::support::prelude::*;

/// A path of the description with its parameters filled in.
fn filled(path: &str, ticket: &Value) -> String {
    [
        ("{id}", "heads"),
        ("{version}", "1"),
        ("{entry_id}", "e1"),
        ("{request_id}", "r1"),
        ("{payout_id}", "none"),
        ("{code}", "not-found"),
        ("{ticket}", ticket["ticket"].as_str().expect("a ticket")),
    ]
    .iter()
    .fold(path.to_owned(), |path, (name, value)| path.replace(name, value))
}

/// Whether the description of a GET says that there is no HEAD of it.
fn has_no_head(operation: &Value) -> bool {
    let streams = operation["responses"].as_object().expect("answers").values();
    operation["x-acts"] == true
        || streams
            .into_iter()
            .any(|answer| answer["content"]["text/event-stream"].is_object())
}

#[tokio::test]
async fn every_get_takes_a_head_or_says_that_it_does_not() {
    let service = Service::start().await;
    let jackpot = given::document("heads", &json!({}));
    service.put("/v1/jackpots/heads", jackpot).await.is(201);
    http::support::create(&service, "heads", 1, &json!({})).await;
    create(&service, "heads", 0, &json!({})).await;
    let ticket = joined(&service, "heads", "ann").await;
    let entry = json!({"entry_id": "e1", "player_id": "p1", "stake": 1});
    service.post("/v1/jackpots/heads/entries", entry).await.is(201);
    let document = service.get("/openapi.json").await.body;
    let (mut without, mut with) = (Vec::new(), 0);
    for (name, item) in document["paths"].as_object().expect("paths") {
        if item["get"].is_null() {
            continue;
        }
        let path = filled(name, &ticket);
        assert!(!path.contains('{'), "{path}");
        let head = service.call(Method::HEAD, &path, None).await;
        assert_eq!(head.text, "", "{path}");
        if has_no_head(&item["get"]) {
            assert_eq!(head.status, StatusCode::METHOD_NOT_ALLOWED, "{path}");
            let allow = head.headers["allow"].to_str().expect("text");
            let methods: Vec<_> = allow.split(", ").collect();
            assert!(
                methods.contains(&"GET") && !methods.contains(&"HEAD"),
                "{path}: {allow}"
            );
            without.push(name.as_str());
        } else {
            // The ledger may change between the two calls.
            eventually(PATIENCE, &format!("HEAD of {path} is as GET"), async || {
                let head = service.call(Method::HEAD, &path, None).await.status;
                (head == service.get(&path).await.status).then_some(())
            })
            .await;
            with += 1;
        }
    }
    for acting in [
        "/v1/rooms/{id}/tickets/{ticket}",
        "/rooms/{id}/wait",
        "/v1/jackpots/{id}/entries/{entry_id}",
    ] {
        assert!(without.contains(&acting), "{acting}: {without:?}");
    }
    assert!(with > 15, "{with}");
}

#[tokio::test]
async fn a_head_joins_nobody_and_keeps_no_place_alive() {
    let service = crate::room::page::support::service().await;
    room(&service, "joined", 1, &json!({})).await;
    let joining = link(&service, "joined", "ann", SHOP).await;
    let counts = async || {
        let room = service.get("/v1/rooms/joined").await.body;
        [&room["active"], &room["waiting"], &room["admitted"]].map(Value::clone)
    };
    let before = counts().await;
    browse(&service, Method::HEAD, &joining).await;
    assert_eq!(counts().await, before, "a HEAD of a join link");
    room(&service, "alive", 0, &json!({"waiting_timeout_s": 2})).await;
    let place = wait(&service, "alive", "ann").await;
    let ticket = joined(&service, "alive", "bob").await;
    let ticket = path("alive", &ticket);
    eventually(PATIENCE, "places that only get HEADs are given up", async || {
        browse(&service, Method::HEAD, &place).await;
        service.call(Method::HEAD, &ticket, None).await;
        (service.get("/v1/rooms/alive").await.body["abandoned"] == 2).then_some(())
    })
    .await;
}
