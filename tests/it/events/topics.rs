//! Subscriptions to real brokers: a subject of NATS, a topic of Kafka.

use std::collections::BTreeSet;
use std::time::Duration;

use super::{jackpot, play, posted, shown, stream};
use crate::support::brokers::{Kept, TestKafka, TestNats};
use crate::support::prelude::*;

const DEADLINE: Duration = Duration::from_mins(1);

/// A service with one connection.
async fn service_with(name: &str, kind: &str, server: &str) -> Service {
    let variable = |key: &str| format!("JACKPOT__EVENTS__CONNECTIONS__{}__{key}", name.to_uppercase());
    let variables = [
        (variable("KIND"), kind),
        (variable("TLS"), "off"),
        (variable("SERVERS"), server),
    ];
    let variables: Vec<(&str, &str)> = variables.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    Service::start_with(&variables).await
}

async fn subscribe(service: &Service, name: &str, target: Value, subjects: &[&str]) {
    let body = json!({"target": target, "types": ["payout.created"], "subjects": subjects, "from": "beginning"});
    let answer = service.put(&format!("/v1/subscriptions/{name}"), body).await;
    answer.is(201);
    assert_eq!(answer.body["target"], target);
}

/// Entries of the payouts, each once, in the order in which they first came.
fn entries<'a>(kept: impl Iterator<Item = &'a Kept>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let first = kept.filter(|one| seen.insert(one.id.clone()));
    first
        .map(|one| {
            let event: Value = serde_json::from_str(&one.content).expect("JSON");
            assert_eq!(
                (event["id"].as_str(), &event["specversion"]),
                (Some(one.id.as_str()), &json!("1.0"))
            );
            assert_eq!(event["subject"], one.key.as_str());
            event["data"]["entry_id"].as_str().expect("an entry").to_owned()
        })
        .collect()
}

fn names(count: usize) -> Vec<String> {
    (0..count).map(|i| format!("e{i}")).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_subject_of_nats_gets_each_event_once_in_order_whoever_dies() {
    let mut nats = TestNats::start(&[]).await;
    nats.stream("events", "out.>").await;
    let mut service = service_with("bus", "nats", &nats.server()).await;
    jackpot(&service, "bused").await;
    let target = json!({"nats": {"connection": "bus", "subject": "out.jackpots"}});
    subscribe(&service, "bused", target, &["jackpot:bused"]).await;
    let mut played = 0;
    for kill in 0..4 {
        for _ in 0..10 {
            play(&service, "bused", &format!("e{played}")).await;
            played += 1;
        }
        if kill % 2 == 0 {
            nats.kill9();
            shown(&service, "bused", "it fails", |shown| shown["state"] == "retrying").await;
            nats.restart().await;
        } else {
            service.kill9();
            service.restart().await;
        }
    }
    eventually(DEADLINE, "all payouts are there", async || {
        (nats.kept("events").await.len() >= played).then_some(())
    })
    .await;
    shown(&service, "bused", "nothing is left", |shown| {
        stream(shown, "jackpot:bused")["lag"] == 0 && shown["state"] == "running"
    })
    .await;
    let kept = nats.kept("events").await;
    // The server knows a repeat by its id.
    assert_eq!(kept.len(), played);
    assert_eq!(entries(kept.iter()), names(played));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_topic_of_kafka_gets_each_event_in_the_order_of_its_subject() {
    let kafka = TestKafka::start().await;
    kafka.topic("events", 3);
    let mut service = service_with("log", "kafka", &kafka.server()).await;
    for id in ["left", "right"] {
        jackpot(&service, id).await;
    }
    let target = json!({"kafka": {"connection": "log", "topic": "events"}});
    subscribe(&service, "logged", target, &["*"]).await;
    for i in 0..30 {
        for id in ["left", "right"] {
            play(&service, id, &format!("e{i}")).await;
        }
        if i == 15 {
            service.kill9();
            service.restart().await;
        }
    }
    let of = |kept: &[(i32, Kept)], subject: &str| {
        let of_subject = kept.iter().map(|(_, one)| one).filter(|one| one.key == subject);
        entries(of_subject)
    };
    let kept = eventually(DEADLINE, "all payouts are there", async || {
        let kept = kafka.kept("events", 3).await;
        let all = ["jackpot:left", "jackpot:right"]
            .iter()
            .all(|subject| of(&kept, subject).len() == 30);
        all.then_some(kept)
    })
    .await;
    for subject in ["jackpot:left", "jackpot:right"] {
        assert_eq!(of(&kept, subject), names(30), "{subject}");
    }
    // A kill repeats a few.
    assert!((60..80).contains(&kept.len()), "{}", kept.len());
}

#[tokio::test]
async fn a_target_that_this_instance_lacks_is_refused_or_fails_by_name() {
    let nats = TestNats::start(&[]).await;
    nats.stream("events", "out.>").await;
    let mut service = service_with("bus", "nats", &nats.server()).await;
    let good = json!({"connection": "bus", "subject": "out.x"});
    for (target, field) in [
        (
            json!({"kafka": {"connection": "bus", "topic": "t"}}),
            "target.kafka.connection",
        ),
        (
            json!({"nats": {"connection": "none", "subject": "out.x"}}),
            "target.nats.connection",
        ),
        (
            json!({"nats": {"connection": "bus", "subject": "out.*"}}),
            "target.nats.subject",
        ),
        (
            json!({"nats": good, "webhook": {"url": "https://h.example/"}}),
            "target",
        ),
    ] {
        let body = json!({"target": target, "types": ["*"], "subjects": ["*"], "from": "now"});
        let answer = service.put("/v1/subscriptions/wrong", body).await;
        assert_eq!(answer.status.as_u16(), 422, "{target}: {}", answer.text);
        let named = answer.body["errors"][0]["field"].as_str().expect("a field").to_owned();
        assert!(named.starts_with(field), "{target}: {}", answer.text);
    }
    jackpot(&service, "held").await;
    subscribe(&service, "held", json!({"nats": good}), &["jackpot:held"]).await;
    let tried = posted(&service, "/v1/subscriptions/held/test", Value::Null).await;
    assert_has!(tried, {"delivered": true, "status": null});
    // The connection gets another name, and the subscription has the old one.
    service.set("JACKPOT__EVENTS__CONNECTIONS__BUS__KIND", "kafka");
    service.kill9();
    service.restart().await;
    play(&service, "held", "e0").await;
    let failing = shown(&service, "held", "it fails", |shown| shown["state"] == "retrying").await;
    let error = stream(&failing, "jackpot:held")["last_error"]
        .as_str()
        .expect("an error")
        .to_owned();
    error.says("events.connections.bus");
    service.set("JACKPOT__EVENTS__CONNECTIONS__BUS__KIND", "nats");
    service.kill9();
    service.restart().await;
    eventually(DEADLINE, "the payout is there", async || {
        // The test event came first.
        (nats.kept("events").await.len() == 2).then_some(())
    })
    .await;
}
