//! Events out: subscriptions of the real service, with receivers of the tests.

mod broken;
mod delivered;
mod failing;
mod guarded;
mod how_to;
mod numbered;
pub mod receiver;
mod topics;

use std::time::Duration;

use crate::support::given;
use crate::support::prelude::*;

/// The tests' receivers are on this machine.
const ALLOWED: (&str, &str) = ("JACKPOT__EVENTS__ALLOW_PRIVATE_TARGETS", "true");

async fn service() -> Service {
    Service::start_with(&[ALLOWED]).await
}

/// A jackpot of which every entry wins a fixed prize.
async fn jackpot(service: &Service, id: &str) {
    let change =
        json!({"odds": {"total": 1, "ranks": [given::rank(1, &json!({"fixed": {"tier": "grand", "amount": 7}}))]}});
    made(service, &format!("/v1/jackpots/{id}"), given::document(id, &change)).await;
    let funds =
        json!({"adjustment_id": "funds", "tier": "grand", "meter": "pool", "amount": 1_000_000, "reason": "a test"});
    posted(service, &format!("/v1/jackpots/{id}/adjustments"), funds).await;
}

async fn made(service: &Service, path: &str, body: Value) {
    service.put(path, body).await.is(201);
}

async fn posted(service: &Service, path: &str, body: Value) -> Value {
    let answer = service.post(path, body).await;
    answer.done();
    answer.body
}

async fn play(service: &Service, jackpot: &str, entry: &str) {
    let body = json!({"entry_id": entry, "player_id": "p1", "stake": 100});
    posted(service, &format!("/v1/jackpots/{jackpot}/entries"), body).await;
}

async fn subscribe(service: &Service, name: &str, url: &str, types: &[&str], subjects: &[&str]) -> Value {
    let body = json!({"target": {"webhook": {"url": url}}, "types": types, "subjects": subjects, "from": "beginning"});
    let answer = service.put(&format!("/v1/subscriptions/{name}"), body).await;
    answer.done();
    answer.body
}

/// Waits until an answer about a subscription is as wanted.
async fn shown(service: &Service, name: &str, what: &str, is_it: impl Fn(&Value) -> bool) -> Value {
    eventually(Duration::from_secs(30), what, async || {
        let answer = service.get(&format!("/v1/subscriptions/{name}")).await;
        Some(answer.body).filter(&is_it)
    })
    .await
}

fn stream<'a>(shown: &'a Value, subject: &str) -> &'a Value {
    let streams = shown["streams"].as_array().expect("streams");
    streams
        .iter()
        .find(|stream| stream["subject"] == subject)
        .unwrap_or(&Value::Null)
}
