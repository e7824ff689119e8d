//! What would make a lane stand for ever: messages that the connection lost, and messages that can't be read or answered.

use std::io::Write;
use std::time::Duration;

use super::bus::Bus;
use super::durable::{requests, shows, until_taken};
use super::{content, entry, environment, service};
use crate::support::gate::Gate;
use crate::support::prelude::*;

const SOON: Duration = Duration::from_secs(20);

/// The server has sent them and counts them as delivered. The connection is back before anybody misses a heartbeat.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn messages_that_the_connection_lost_are_taken_soon_and_health_tells_the_truth() {
    let (bus, gate) = (Bus::start().await, Gate::shut().await);
    gate.open(bus.nats.port());
    let service = service(&environment("nats", &gate.server()), &[]).await;
    bus.send(requests(1)).await;
    until_taken(&service, 1).await;
    gate.swallow();
    bus.send(requests(6).skip(1)).await;
    eventually(SOON, "the connection loses all of them", async || {
        gate.has_swallowed("\"e5\"").then_some(())
    })
    .await;
    gate.close();
    gate.open(bus.nats.port());
    eventually(SOON, "6 entries", async || {
        let meter = service.get("/v1/jackpots/spring/meter").await;
        (meter.body["meters"][0]["pool"] == 6).then_some(())
    })
    .await;
    shows(&service, "jackpot_intake_lag_messages{lane=\"0\"} 0").await;
    gate.close();
    eventually(SOON, "the broker is away", async || {
        let metrics = service.get("/metrics").await.text;
        metrics
            .contains("jackpot_intake_broker_up{topic=\"requests\"} 0")
            .then_some(())
    })
    .await;
    bus.send(requests(8).skip(6)).await;
    gate.open(bus.nats.port());
    until_taken(&service, 8).await;
    shows(&service, "jackpot_intake_broker_up{topic=\"requests\"} 1").await;
    shows(&service, "jackpot_intake_gaps_total 0").await;
}

/// The client library ends the connection at headers that it can't parse, and takes a message with a status for an answer of the
/// server. A dead letter of escapes is six times as large as its message.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_that_cannot_be_read_or_repeated_whole_is_passed_over_with_a_dead_letter() {
    let mut config = tempfile::NamedTempFile::new().expect("a file");
    config.write_all(b"max_payload: 4096\n").expect("a setting");
    let path = config.path().to_str().expect("text");
    let bus = Bus::start_with(&["-c", path]).await;
    let service = service(&bus.environment(), &[]).await;
    let raw = async |headers: &[u8], content: &str| bus.nats.publish_raw("requests", headers, content).await;
    let large = "\u{1}".repeat(2_500);
    bus.send(requests(1)).await;
    raw(b"NATS/1.0\r\nbad header\r\n\r\n", "no colon").await;
    raw(b"NATS/1.0 404 No Messages\r\n\r\n", &entry("spring", "status", "p1")).await;
    bus.send([(Some("p1".to_owned()), large.clone())]).await;
    raw(b"NATS/1.0\r\nX: \xff\r\n\r\n", "no text").await;
    bus.send(requests(2).skip(1)).await;
    let (answers, dead) = bus.outcome(6).await;
    let mut ids: Vec<_> = answers.iter().map(|one| content(one)["id"].clone()).collect();
    ids.sort_by_key(ToString::to_string);
    assert_eq!(ids, ["e0", "e1", "status"]);
    let mut dead: Vec<_> = dead.iter().map(content).collect();
    dead.sort_by_key(|one| one["message"]["position"].as_u64());
    let seen: Vec<_> = dead
        .iter()
        .map(|one| {
            (
                one["problem"]["errors"][0]["field"].as_str(),
                one["content"].as_str().expect("text"),
            )
        })
        .collect();
    assert_eq!(seen[0], (Some("headers"), "no colon"));
    assert_eq!(seen[2], (Some("headers"), "no text"));
    // Cut to a half as often as needed.
    let (field, kept) = seen[1];
    assert!(
        field.is_none() && large.starts_with(kept) && kept.len() >= 312,
        "{} bytes",
        kept.len()
    );
    assert_eq!((&dead[1]["is_whole"], dead.len()), (&serde_json::json!(false), 3));
    // With a status as the last one nothing comes that shows what is missing.
    raw(b"NATS/1.0 404 No Messages\r\n\r\n", &entry("spring", "last", "p1")).await;
    until_taken(&service, 4).await;
    shows(&service, "jackpot_intake_lag_messages{lane=\"0\"} 0").await;
    shows(&service, "jackpot_intake_messages_total{result=\"unreadable\"} 3").await;
}
