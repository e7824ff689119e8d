//! Intake: entries that come as messages of a broker, a second. The brokers are those of the tests.

use std::time::{Duration, Instant};

use jackpot::broker::{Broker, Message};
use jackpot::settings::BrokerKind;
use serde_json::{Value, json};
use tokio::task::LocalSet;

use crate::brokers::{TestKafka, TestNats, plain};
use crate::peers::Round;
use crate::plan::Peers;
use crate::sample::{Load, Sample, float};
use crate::service::{Service, keep};
use crate::{Outcome, json};

/// Messages of a load.
const COUNT: u64 = 40_000;
/// Messages that are sent at once.
const AT_ONCE: u64 = 1_000;
/// Topic of Kafka, stream and subject of NATS.
const TOPIC: &str = "requests";
const DEAD: &str = "dead";
/// Partitions of Kafka.
const PARTITIONS: u32 = 3;
/// Between two looks at the count of entries.
const POLL: Duration = Duration::from_millis(10);
/// Limit for a load.
const LIMIT: Duration = Duration::from_mins(5);

const POINTS: [(&str, BrokerKind); 2] = [("intake-nats", BrokerKind::Nats), ("intake-kafka", BrokerKind::Kafka)];

/// Measures each wanted point.
pub(crate) async fn round(round: &mut Round<'_>) {
    for (point, kind) in POINTS {
        let (plan, number) = (round.plan.clone(), round.number);
        // A missing program ends the task, and is the error.
        let taking = async {
            let task = async move { tokio::task::spawn_local(take(plan, number, point, kind)).await };
            LocalSet::new().run_until(task).await?
        };
        round.measure(point, taking).await;
    }
}

enum Server {
    Nats(TestNats),
    Kafka(TestKafka),
}

impl Server {
    async fn start(kind: BrokerKind) -> Self {
        match kind {
            BrokerKind::Nats => {
                let nats = TestNats::start(&[]).await;
                for name in [TOPIC, DEAD] {
                    nats.stream(name, name).await;
                }
                Self::Nats(nats)
            }
            BrokerKind::Kafka => {
                let kafka = TestKafka::start().await;
                for name in [TOPIC, DEAD] {
                    kafka.topic(name, PARTITIONS);
                }
                Self::Kafka(kafka)
            }
        }
    }

    fn address(&self) -> String {
        match self {
            Self::Nats(nats) => nats.server(),
            Self::Kafka(kafka) => kafka.server(),
        }
    }
}

/// All messages are there before the first one is taken. Time counts from the first entries to the last one.
async fn take(plan: Peers, number: usize, point: &'static str, kind: BrokerKind) -> Outcome<Sample> {
    let server = Server::start(kind).await;
    let name = match kind {
        BrokerKind::Nats => "nats",
        BrokerKind::Kafka => "kafka",
    };
    let connection = json!({"kind": name, "servers": [server.address()], "tls": "off"});
    let settings = json!({
        "events": {"connections": {"bench": connection}},
        "intake": {"connection": "bench", "topic": TOPIC, "dead_letter_topic": DEAD, "key": "operator"},
    });
    let service = Service::product(&plan.place.directory, settings).await?;
    service.define(0, 1).await?;
    // Messages wait while everything is stopped.
    let reason = json!({"reason": "the load is prepared"});
    service.target.call("POST", "/v1/emergency-stop", &reason).await?;
    send(&Broker::new(plain(kind, server.address()))).await?;
    service.target.call("POST", "/v1/emergency-start", &reason).await?;
    let (first, begun) = until(&service, 1).await?;
    let (last, ended) = until(&service, COUNT).await?;
    let seconds = ended.duration_since(begun).as_secs_f64();
    let load = Load {
        entries: last - first,
        seconds,
        p50_us: 0.0,
        p99_us: 0.0,
    };
    let mut sample = load.sample(point, number);
    sample.per_s = float(last - first) / seconds;
    keep(&mut sample, json!({"messages": COUNT, "seconds": seconds}));
    Ok(sample)
}

async fn send(broker: &Broker) -> Outcome {
    let message = |i: u64| {
        let body = json!({"entry_id": format!("m{i}"), "player_id": format!("p{i}"), "stake": 100});
        let content: Value = json!({"kind": "entry", "target": json::jackpot(0), "body": body});
        Message {
            id: format!("m{i}"),
            key: format!("p{i}"),
            content_type: "application/json",
            content: content.to_string().into(),
        }
    };
    for from in (0..COUNT).step_by(usize::try_from(AT_ONCE)?) {
        let all: Vec<_> = (from..from + AT_ONCE).map(message).collect();
        if let Some(error) = broker.send(TOPIC, &all).await.stopped {
            return Err(error.into());
        }
    }
    Ok(())
}

/// Waits until so many entries are taken. Returns how many are, and when.
async fn until(service: &Service, count: u64) -> Outcome<(u64, Instant)> {
    let begun = Instant::now();
    loop {
        let taken = service.taken(1).await?;
        if taken >= count {
            return Ok((taken, Instant::now()));
        }
        if begun.elapsed() > LIMIT {
            return Err(format!("{taken} of {count} messages are taken").into());
        }
        tokio::time::sleep(POLL).await;
    }
}
