//! Entries of a jackpot behind a waiting room: a message carries its player's pass as a request does.

use std::collections::BTreeMap;

use rskafka::client::partition::Compression;

use super::bus::{self, Bus};
use super::log::{Log, record};
use super::{by_id, entry, service};
use crate::room::http::support::{create, jackpot, joined};
use crate::support::brokers::Kept;
use crate::support::prelude::*;

/// The names of the header: no case counts.
const HEADER: &str = "X-Room-Pass";
const HEADER_TOO: &str = "x-room-pass";

/// A message: its content, and its headers.
type Sent = (String, Vec<(&'static str, String)>);

/// A jackpot `behind` a room with ann in it, and entries of ann with these headers, each with the code that refuses it.
async fn entries(environment: &[(String, String)]) -> (Service, Vec<Sent>, Vec<&'static str>) {
    let service = service(environment, &[]).await;
    create(&service, "door", 5, &json!({})).await;
    jackpot(&service, "behind", &json!("door")).await.done();
    let pass = async |user: &str| {
        let ticket = joined(&service, "door", user).await;
        ticket["pass"].as_str().expect("a pass").to_owned()
    };
    let (ann, bob) = (pass("ann").await, pass("bob").await);
    let wanted = vec![
        (vec![(HEADER, ann.clone())], ""),
        (vec![(HEADER_TOO, ann.clone())], ""),
        (vec![], "pass-required"),
        (vec![(HEADER, bob.clone())], "pass-required"),
        (vec![(HEADER, "서울".to_owned())], "pass-required"),
        // It would be unclear which counts.
        (vec![(HEADER, ann), (HEADER_TOO, bob)], "pass-required"),
    ];
    let (mut sent, mut codes) = (Vec::new(), Vec::new());
    for (i, (headers, code)) in wanted.into_iter().enumerate() {
        sent.push((entry("behind", &format!("e{i}"), "ann"), headers));
        codes.push(code);
    }
    (service, sent, codes)
}

/// Each entry was taken, or refused by its code.
async fn judged(service: &Service, codes: &[&str], answers: Vec<Kept>, dead: Vec<Kept>) {
    let id = |one: &Value| one["id"].as_str().expect("an id").to_owned();
    let taken = by_id(&answers)
        .into_values()
        .map(|one| (id(&one), one["status"].to_string()));
    let refused = by_id(&dead).into_values().map(|one| {
        let request: Value = serde_json::from_str(one["content"].as_str().expect("text")).expect("JSON");
        let id = request["body"]["entry_id"].as_str().expect("an id").to_owned();
        (id, one["problem"]["code"].as_str().expect("a code").to_owned())
    });
    let expected = codes.iter().enumerate().map(|(i, code)| {
        let outcome = if code.is_empty() { "201" } else { code };
        (format!("e{i}"), outcome.to_owned())
    });
    assert_eq!(
        taken.chain(refused).collect::<BTreeMap<_, _>>(),
        expected.collect::<BTreeMap<_, _>>()
    );
    for (i, code) in codes.iter().enumerate() {
        let shown = service.get(&format!("/v1/jackpots/behind/entries/e{i}")).await;
        assert_eq!(shown.status.is_success(), code.is_empty(), "e{i}: {}", shown.text);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_of_nats_carries_the_pass_of_its_player() {
    let bus = Bus::start().await;
    let (service, sent, codes) = entries(&bus.environment()).await;
    bus::send_with(&bus.nats.client().await, sent).await;
    let (answers, dead) = bus.outcome(codes.len()).await;
    judged(&service, &codes, answers, dead).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_record_of_kafka_carries_the_pass_of_its_player() {
    let log = Log::start().await;
    let (service, sent, codes) = entries(&log.environment()).await;
    let records = sent.into_iter().map(|(content, headers)| {
        let mut one = record(None, &content);
        let headers = headers
            .into_iter()
            .map(|(name, pass)| (name.to_owned(), pass.into_bytes()));
        one.headers.extend(headers);
        one
    });
    log.produce(0, records.collect(), Compression::NoCompression).await;
    let (answers, dead) = log.outcome(codes.len()).await;
    judged(&service, &codes, answers, dead).await;
}
