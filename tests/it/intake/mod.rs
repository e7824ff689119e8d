//! Intake: the real service takes messages of real brokers.

mod bus;
mod durable;
mod log;
mod meaning;
mod passes;
mod standing;

use std::collections::BTreeMap;
use std::time::Duration;

use tempfile::TempDir;

use crate::support::brokers::Kept;
use crate::support::given;
use crate::support::prelude::*;

const DEADLINE: Duration = Duration::from_secs(90);

/// Name of the key that messages count as.
const KEY: &str = "games";

/// Settings of intake from a connection `bus`.
fn environment(kind: &str, server: &str) -> Vec<(String, String)> {
    let of = |key: &str, value: &str| (format!("JACKPOT__{key}"), value.to_owned());
    vec![
        of("EVENTS__CONNECTIONS__BUS__KIND", kind),
        of("EVENTS__CONNECTIONS__BUS__TLS", "off"),
        of("EVENTS__CONNECTIONS__BUS__SERVERS", server),
        of("INTAKE__CONNECTION", "bus"),
        of("INTAKE__TOPIC", "requests"),
        of("INTAKE__REPLY_TOPIC", "replies"),
        of("INTAKE__DEAD_LETTER_TOPIC", "dead"),
        of("INTAKE__KEY", KEY),
        // A killed instance's lanes are free soon.
        of("LEDGER__LEASE_MS", "1000"),
        of("LEDGER__RECONCILE_INTERVAL_S", "1"),
    ]
}

/// A service with intake, with a key for the messages and a jackpot `spring`.
async fn service(environment: &[(String, String)], more: &[(&str, &str)]) -> Service {
    let own = environment.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let all: Vec<_> = own.chain(more.iter().copied()).collect();
    let service = Service::start_with(&all).await;
    // Nobody wins, so the pool counts the entries.
    let document = given::document(
        "spring",
        &json!({"odds": {"total": 1000, "ranks": []}, "reverse_within_s": 60}),
    );
    service.put("/v1/jackpots/spring", document).await.is(201);
    make_key(&service, &["--role", "play"]);
    service
}

/// The data directory of a second instance: the same keys and signing key.
fn beside(first: &Service) -> TempDir {
    let directory = Service::directory();
    for file in ["signing.keys", "keys.toml", "operator.key"] {
        std::fs::copy(first.data_dir().join(file), directory.path().join(file)).expect("a copy");
    }
    directory
}

fn make_key(service: &Service, rights: &[&str]) {
    let made = service.command(&[&["key", "new", "--name", KEY], rights].concat());
    made.done();
}

fn entry(target: &str, id: &str, player: &str) -> String {
    let body = json!({"entry_id": id, "player_id": player, "stake": 100});
    json!({"kind": "entry", "target": target, "body": body}).to_string()
}

fn content(kept: &Kept) -> Value {
    serde_json::from_str(&kept.content).expect("JSON")
}

/// Each message's content by its id. A repeat after a kill has the same id.
fn by_id<'a>(kept: impl IntoIterator<Item = &'a Kept>) -> BTreeMap<String, Value> {
    kept.into_iter().map(|one| (one.id.clone(), content(one))).collect()
}

/// Checks that this many entries were taken, each once, and that the ledger agrees.
async fn taken_once(service: &Service, replies: &[Kept], entries: usize) {
    let replies = by_id(replies);
    let mut sequences: Vec<_> = replies
        .values()
        .map(|one| {
            assert!(one["status"] == 201 || one["status"] == 200, "{one}");
            (
                one["id"].as_str().expect("an id"),
                one["body"]["sequence"].as_u64().expect("a number"),
            )
        })
        .collect();
    sequences.sort_by_key(|(_, sequence)| *sequence);
    let numbers: Vec<_> = sequences.iter().map(|(_, sequence)| *sequence).collect();
    assert_eq!(numbers, (1..=entries as u64).collect::<Vec<_>>());
    let mut ids: Vec<_> = sequences.iter().map(|(id, _)| *id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), entries);
    let meter = service.get("/v1/jackpots/spring/meter").await;
    assert_eq!(meter.body["meters"][0]["pool"], entries, "{}", meter.text);
    eventually(
        DEADLINE,
        "the ledger has all of it, and agrees with Redis",
        async || {
            let compared = service.get("/v1/reconciliation").await.body;
            let item = &compared["items"][0];
            (item["lag"] == 0 && item["clean"] == true).then_some(())
        },
    )
    .await;
}
