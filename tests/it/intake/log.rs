//! Intake from a broker that is compatible with Kafka: partitions are shared, and disconnects lose and double nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use rskafka::client::ClientBuilder;
use rskafka::client::partition::{Compression, UnknownTopicHandling};
use rskafka::record::Record;

use super::{DEADLINE, by_id, content, entry, environment, service, taken_once};
use crate::support::brokers::{Kept, TestKafka};
use crate::support::gate::Gate;
use crate::support::prelude::*;

const PARTITIONS: usize = 3;

/// A broker behind a gate.
pub struct Log {
    kafka: TestKafka,
    gate: Gate,
}

impl Log {
    pub async fn start() -> Self {
        let gate = Gate::shut().await;
        let kafka = TestKafka::start_behind(gate.port()).await;
        gate.open(kafka.port());
        kafka.topic("requests", u32::try_from(PARTITIONS).expect("few"));
        kafka.topic("replies", 1);
        kafka.topic("dead", 1);
        Self { kafka, gate }
    }

    pub fn environment(&self) -> Vec<(String, String)> {
        environment("kafka", &self.gate.server())
    }

    /// Sends entries `e{from}` to `e{to}`, by turns for ten keys, each of which has its partition.
    async fn send(&self, entries: std::ops::Range<usize>) {
        let record = |i: usize| {
            let key = format!("p{}", i % 10);
            record(Some(&key), &entry("spring", &format!("e{i}"), &key))
        };
        for partition in 0..PARTITIONS {
            let own = entries.clone().filter(|i| i % 10 % PARTITIONS == partition);
            let records: Vec<_> = own.map(record).collect();
            for part in records.chunks(500) {
                self.produce(partition, part.to_vec(), Compression::NoCompression).await;
            }
        }
    }

    pub async fn produce(&self, partition: usize, records: Vec<Record>, compression: Compression) {
        let client = ClientBuilder::new(vec![self.gate.server()])
            .build()
            .await
            .expect("a client");
        let partition = client
            .partition_client(
                "requests",
                i32::try_from(partition).expect("few"),
                UnknownTopicHandling::Error,
            )
            .await
            .expect("a partition");
        partition.produce(records, compression).await.expect("it is taken");
    }

    /// Waits until so many different replies and dead letters are there.
    pub async fn outcome(&self, count: usize) -> (Vec<Kept>, Vec<Kept>) {
        let of = |all: Vec<(i32, Kept)>| all.into_iter().map(|(_, kept)| kept).collect::<Vec<_>>();
        eventually(DEADLINE, &format!("{count} replies and dead letters"), async || {
            let both = (
                of(self.kafka.kept("replies", 1).await),
                of(self.kafka.kept("dead", 1).await),
            );
            (by_id(&both.0).len() + by_id(&both.1).len() >= count).then_some(both)
        })
        .await
    }
}

pub fn record(key: Option<&str>, content: &str) -> Record {
    Record {
        key: key.map(|key| key.as_bytes().to_vec()),
        value: Some(content.as_bytes().to_vec()),
        headers: BTreeMap::new(),
        timestamp: rskafka::chrono::DateTime::from_timestamp_millis(1_700_000_000_000).expect("a time"),
    }
}

async fn until_replies(log: &Log, count: usize) {
    eventually(DEADLINE, &format!("{count} replies"), async || {
        (log.kafka.kept("replies", 1).await.len() >= count).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_record_is_answered_as_its_request_is_and_keys_keep_their_order() {
    let log = Log::start().await;
    let service = service(&log.environment(), &[]).await;
    log.send(0..300).await;
    let wrong = vec![
        record(None, "{"),
        record(None, &entry("winter", "e1", "p1")),
        Record {
            value: None,
            ..record(Some("p1"), "")
        },
    ];
    log.produce(1, wrong, Compression::NoCompression).await;
    let compressed = [Compression::Gzip, Compression::Lz4, Compression::Snappy];
    for (i, codec) in compressed.into_iter().enumerate() {
        let of_codec = |part: usize| record(Some("c"), &entry("spring", &format!("c{i}-{part}"), "p1"));
        log.produce(2, (0..20).map(of_codec).collect(), codec).await;
    }
    let (answers, dead) = log.outcome(363).await;
    taken_once(&service, &answers, 360).await;
    let mut codes: Vec<_> = dead.iter().map(|one| content(one)["problem"]["code"].clone()).collect();
    codes.sort_by_key(ToString::to_string);
    assert_eq!(
        codes,
        [json!("invalid-json"), json!("invalid-json"), json!("jackpot-not-found")]
    );
    let mut last: BTreeMap<String, u64> = BTreeMap::new();
    for answer in &answers {
        let sequence = content(answer)["body"]["sequence"].as_u64().expect("a number");
        assert!(
            last.insert(answer.key.clone(), sequence)
                .is_none_or(|before| before < sequence)
        );
    }
    assert_eq!(last.len(), 11);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn disconnects_and_kills_lose_and_double_nothing() {
    const COUNT: usize = 2_000;
    let log = Log::start().await;
    let mut service = service(&log.environment(), &[]).await;
    log.send(0..COUNT).await;
    for round in 1..=4 {
        until_replies(&log, round * 300).await;
        log.gate.close();
        if round % 2 == 0 {
            service.kill9();
            service.restart().await;
        }
        eventually(DEADLINE, "the service sees it", async || {
            let metrics = service.get("/metrics").await.text;
            let reads = metrics.contains("jackpot_intake_broker_up{topic=\"requests\"} 1");
            let sends = metrics.contains("jackpot_intake_retrying_messages 0");
            (!reads || !sends).then_some(())
        })
        .await;
        log.gate.open(log.kafka.port());
    }
    let (answers, dead) = log.outcome(COUNT).await;
    assert_eq!(dead, []);
    taken_once(&service, &answers, COUNT).await;
}

/// Two instances share the partitions; when one is killed, the other one takes its partitions over.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn instances_share_the_partitions() {
    const COUNT: usize = 1_500;
    let (log, redis, db) = (Log::start().await, own_redis(&[]).await, LedgerDb::postgres().await);
    let of_redis = [
        ("JACKPOT__REDIS__MODE", "standalone"),
        ("JACKPOT__REDIS__URLS", redis.url()),
        db.environment(),
    ];
    let mut first = service(&log.environment(), &of_redis).await;
    let own = log.environment();
    let shared: Vec<_> = own
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .chain(of_redis)
        .collect();
    let second = Service::start_in(super::beside(&first), &shared).await;
    let lanes = async |service: &Service| {
        let metrics = service.get("/metrics").await.text;
        let lanes = metrics
            .lines()
            .filter(|line| line.starts_with("jackpot_intake_lag_messages{"));
        lanes.map(str::to_owned).collect::<BTreeSet<_>>().len()
    };
    eventually(DEADLINE, "both have partitions", async || {
        let counts = (lanes(&first).await, lanes(&second).await);
        matches!(counts, (1, 2) | (2, 1)).then_some(())
    })
    .await;
    log.send(0..COUNT).await;
    until_replies(&log, 300).await;
    first.kill9();
    let (answers, dead) = log.outcome(COUNT).await;
    assert_eq!(dead, []);
    taken_once(&second, &answers, COUNT).await;
    eventually(Duration::from_secs(30), "it has all partitions", async || {
        (lanes(&second).await == PARTITIONS).then_some(())
    })
    .await;
}
