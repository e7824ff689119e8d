//! Streams without a key have a separate budget, and each address has a share of it.

use std::net::IpAddr;

use reqwest::Response;

use crate::fault::support::redrawing;
use crate::room::page::support::{room, service_with, wait};
use crate::support::http_client_at;
use crate::support::prelude::*;

/// As many as the default of `http.max_streams`.
const STRANGERS: usize = 1_000;

async fn open_meter(service: &Service, client: &reqwest::Client) -> Response {
    let url = service.url("/v1/jackpots/shown/meter/stream");
    client.get(url).send().await.expect("an answer")
}

fn public_jackpot() -> Value {
    let mut definition = redrawing("shown");
    definition["public_meter"] = json!(true);
    definition
}

fn client_at(last: u8) -> reqwest::Client {
    http_client_at(IpAddr::from([127, 0, 0, last]))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stranger_with_a_thousand_meter_streams_leaves_all_others_theirs() {
    let service = service_with(&[]).await;
    service.put("/v1/jackpots/shown", public_jackpot()).await.is(201);
    room(&service, "busy", 1, &json!({})).await;
    let ticket = service.post("/v1/rooms/busy/tickets", json!({"user_id": "ann"})).await;
    let page = wait(&service, "busy", "bob").await;

    let stranger = client_at(2);
    let mut open = Vec::new();
    let mut refusals = Vec::new();
    for _ in 0..STRANGERS {
        let answer = open_meter(&service, &stranger).await;
        match answer.status() {
            StatusCode::OK => open.push(answer),
            StatusCode::SERVICE_UNAVAILABLE => refusals.push(answer),
            other => panic!("{other}"),
        }
    }

    let url = format!(
        "/v1/rooms/busy/tickets/{}/stream",
        ticket.body["ticket"].as_str().expect("a ticket")
    );
    let keyed = |path: &str| http_client().get(service.url(path)).bearer_auth(service.operator_key());
    let tickets = keyed(&url).send().await.expect("an answer");
    assert_eq!(tickets.status(), StatusCode::OK, "a stream of a ticket");
    let (address, query) = page.split_once('?').expect("a token");
    let events = http_client().get(format!("{address}/events?{query}")).send().await;
    assert_eq!(events.expect("an answer").status(), StatusCode::OK, "a waiting page");
    let meter = keyed("/v1/jackpots/shown/meter/stream")
        .send()
        .await
        .expect("an answer");
    assert_eq!(meter.status(), StatusCode::OK, "a meter with a key");
    assert_eq!(
        open_meter(&service, &client_at(3)).await.status(),
        StatusCode::OK,
        "another address"
    );

    assert_eq!(open.len(), 100, "the share of an address");
    let refused: Value = refusals.pop().expect("refused ones").json().await.expect("a problem");
    assert_eq!(refused["code"], "too-many-streams");
    let detail = refused["detail"].as_str().expect("a text");
    detail.says("http.max_public_streams_per_address");
    let metrics = service.get("/metrics").await.text;
    metrics.says("jackpot_public_streams 10");
}

#[tokio::test(flavor = "multi_thread")]
async fn all_addresses_together_have_a_budget_that_says_its_name() {
    let limit = [("JACKPOT__HTTP__MAX_PUBLIC_STREAMS", "2")];
    let service = service_with(&limit).await;
    service.put("/v1/jackpots/shown", public_jackpot()).await;
    let mut open = Vec::new();
    for last in [2, 3] {
        open.push(open_meter(&service, &client_at(last)).await);
    }
    assert!(open.iter().all(|answer| answer.status() == StatusCode::OK));
    let refused = open_meter(&service, &client_at(4)).await;
    assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(refused.headers()["retry-after"], "1");
    let text = refused.text().await.expect("a problem");
    text.says("setting http.max_public_streams)");
    drop(open.pop());
    eventually(PATIENCE, "a place is given back", async || {
        let answer = open_meter(&service, &client_at(4)).await;
        (answer.status() == StatusCode::OK).then_some(())
    })
    .await;
}
