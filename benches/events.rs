//! Events out: what a subscriber costs the players, and how fast a webhook, NATS and Kafka get what the ledger holds. The
//! brokers are those of the tests.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet, LocalSet};

use crate::brokers::{TestKafka, TestNats};
use crate::peers::Round;
use crate::plan::Peers;
use crate::sample::{Load, Sample, Spread, float};
use crate::service::{Service, keep};
use crate::{Outcome, json, wrk};

/// Load before the measurement.
const WARM_UP: Duration = Duration::from_secs(1);
const ENTRIES: &str = "entries";
/// Connections of the players.
const CLIENTS: usize = 64;
/// Loads of each kind in a round, one after the other in turn: a subscriber costs less than two loads differ. A load is half
/// as long as others.
const TURNS: usize = 8;
/// Subjects that are delivered beside one another.
const SUBJECTS: usize = 16;
/// Topic of Kafka, stream of NATS and subject in it.
const TOPIC: &str = "bench";
const SUBJECT: &str = "out.bench";
/// Between two looks at the count of deliveries.
const POLL: Duration = Duration::from_millis(10);
/// The service looks for new subscriptions each second. No delivery for longer: all are done, or something is wrong.
const STILL: Duration = Duration::from_secs(2);
/// Limit for all events of a load to arrive.
const LIMIT: Duration = Duration::from_mins(5);

/// What the players' service sends events to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Subscriber {
    None,
    /// It gets what happens to payouts.
    Payouts,
    /// It gets everything, so every entry.
    Webhook,
    /// It takes requests, and never answers.
    Hangs,
}

impl Subscriber {
    fn types(self) -> &'static str {
        match self {
            Self::Payouts => "payout.*",
            _ => "*",
        }
    }
}

const PLAYS: [(&str, Subscriber); 4] = [
    ("told-none", Subscriber::None),
    ("told-payouts", Subscriber::Payouts),
    ("told-webhook", Subscriber::Webhook),
    ("told-hangs", Subscriber::Hangs),
];

/// The rate of events during these loads.
const EVENTS: &str = "told-events";

/// How many subjects go to which target.
const DELIVERIES: [(&str, To, usize); 6] = [
    ("deliver-webhook", To::Webhook, 1),
    ("deliver-nats", To::Nats, 1),
    ("deliver-kafka", To::Kafka, 1),
    ("deliver-webhook-16", To::Webhook, SUBJECTS),
    ("deliver-nats-16", To::Nats, SUBJECTS),
    ("deliver-kafka-16", To::Kafka, SUBJECTS),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum To {
    Webhook,
    Nats,
    Kafka,
}

/// Measures each wanted point in turn.
pub(crate) async fn round(round: &mut Round<'_>) {
    let (plan, number) = (round.plan, round.number);
    if PLAYS.iter().any(|(point, _)| plan.wants(point)) || plan.wants(EVENTS) {
        match plays(plan, number).await {
            Ok(samples) => samples
                .into_iter()
                .for_each(|(point, sample)| round.done(point, Ok(sample))),
            Err(error) => round.done("told-webhook", Err(error)),
        }
    }
    let mut wanted = DELIVERIES
        .into_iter()
        .filter(|(point, ..)| plan.wants(point))
        .peekable();
    let Some((first, ..)) = wanted.peek() else {
        return;
    };
    match Filled::start(plan).await {
        Ok(filled) => {
            for (point, to, subjects) in wanted {
                round.measure(point, filled.deliver(number, point, to, subjects)).await;
            }
        }
        Err(error) => round.done(first, Err(error)),
    }
}

/// The rate of the players with each kind of subscriber in turn; and that of events.
async fn plays(plan: &Peers, number: usize) -> Outcome<Vec<(&'static str, Sample)>> {
    let settings = json!({"events": {"allow_private_targets": true}});
    let service = Service::product(&plan.place.directory, settings).await?;
    service.define(0, 1).await?;
    wrk::requests(&service.target, ENTRIES, CLIENTS, 1, WARM_UP).await?;
    let mut loads: [Vec<Sample>; PLAYS.len()] = Default::default();
    let mut events = Vec::new();
    for turn in 0..TURNS {
        for step in 0..PLAYS.len() {
            // Each kind has each place in its turn, and rounds begin with another kind: the same loads of each round are
            // slow, because the files of the store are written anew at the same sizes.
            let kind = (number + turn + step) % PLAYS.len();
            let (point, subscriber) = PLAYS[kind];
            let (sample, per_s) = play(plan, &service, number, point, subscriber).await?;
            loads[kind].push(sample);
            if subscriber == Subscriber::None {
                events.push(per_s);
            }
        }
    }
    let mut samples: Vec<_> = PLAYS
        .iter()
        .zip(&loads)
        .filter_map(|((point, _), loads)| Some((*point, median(point, number, loads)?)))
        .collect();
    let rate = Spread::of(events).ok_or("no load")?.median;
    samples.push((EVENTS, bare(EVENTS, number, rate)));
    Ok(samples)
}

/// One load, and how many events of the ledger it made in a second.
async fn play(
    plan: &Peers,
    service: &Service,
    number: usize,
    point: &str,
    subscriber: Subscriber,
) -> Outcome<(Sample, f64)> {
    let sink = Sink::start(subscriber == Subscriber::Hangs).await?;
    let subscription = match subscriber {
        Subscriber::None => None,
        _ => Some(
            subscribe(
                service,
                &json!({"webhook": {"url": sink.url}}),
                subscriber.types(),
                &["jackpot:bench-0".to_owned()],
                "now",
            )
            .await?,
        ),
    };
    let (mut first, mut seconds, mut got) = (0, 0.0, 0);
    let load = async {
        first = head(service).await?;
        let load = wrk::requests(&service.target, ENTRIES, CLIENTS, 1, plan.time() / 2).await?;
        (seconds, got) = (load.seconds, sink.taken());
        Ok(load)
    };
    // wrk ends without its last answers.
    let mut sample = service.measure(point, number, 1, CLIENTS, load).await?;
    let events = head(service).await? - first;
    keep(&mut sample, json!({"events": events, "delivered_meanwhile": got}));
    if let Some(path) = subscription {
        if subscriber != Subscriber::Hangs {
            all_delivered(service, &path).await?;
        }
        delete(service, &path).await?;
    }
    Ok((sample, float(events) / seconds))
}

/// Medians of the loads of a round.
fn median(point: &str, round: usize, loads: &[Sample]) -> Option<Sample> {
    let of = |value: fn(&Sample) -> f64| Some(Spread::of(loads.iter().map(value))?.median);
    let sum = |name: &str| {
        loads
            .iter()
            .filter_map(|load| load.more.get(name)?.as_u64())
            .sum::<u64>()
    };
    let mut sample = Sample {
        point: point.to_owned(),
        round,
        per_s: of(|load| load.per_s)?,
        p50_us: of(|load| load.p50_us)?,
        p99_us: of(|load| load.p99_us)?,
        more: serde_json::Map::new(),
    };
    let each: Vec<f64> = loads.iter().map(|load| load.per_s.round()).collect();
    let (events, meanwhile) = (sum("events"), sum("delivered_meanwhile"));
    keep(
        &mut sample,
        json!({"each": each, "events": events, "delivered_meanwhile": meanwhile}),
    );
    Some(sample)
}

/// A rate without latencies.
fn bare(point: &str, round: usize, per_s: f64) -> Sample {
    let load = Load {
        entries: 0,
        seconds: 1.0,
        p50_us: 0.0,
        p99_us: 0.0,
    };
    Sample {
        per_s,
        ..load.sample(point, round)
    }
}

/// A service with events in its ledger, and brokers.
struct Filled {
    service: Service,
    sink: Sink,
    _nats: TestNats,
    _kafka: TestKafka,
}

impl Filled {
    /// One connection plays, so that each entry is an event: first one jackpot, then all.
    async fn start(plan: &Peers) -> Outcome<Self> {
        let (nats, kafka) = brokers().await?;
        let connection = |kind: &str, server: String| json!({"kind": kind, "servers": [server], "tls": "off"});
        let settings = json!({"events": {"allow_private_targets": true, "connections": {
            "nats": connection("nats", nats.server()), "kafka": connection("kafka", kafka.server())}}});
        let service = Service::product(&plan.place.directory, settings).await?;
        service.define(0, SUBJECTS).await?;
        for subjects in [1, SUBJECTS] {
            let load = wrk::requests(&service.target, ENTRIES, 1, subjects, plan.time());
            service.measure("", 0, SUBJECTS, subjects, load).await?;
        }
        Ok(Self {
            service,
            sink: Sink::start(false).await?,
            _nats: nats,
            _kafka: kafka,
        })
    }

    /// Delivers all from the begin on. Time counts from the subscription to the last delivery.
    async fn deliver(&self, number: usize, point: &str, to: To, subjects: usize) -> Outcome<Sample> {
        let target = match to {
            To::Webhook => json!({"webhook": {"url": self.sink.url}}),
            To::Nats => json!({"nats": {"connection": "nats", "subject": SUBJECT}}),
            To::Kafka => json!({"kafka": {"connection": "kafka", "topic": TOPIC}}),
        };
        let subjects: Vec<_> = (0..subjects)
            .map(|index| format!("jackpot:{}", json::jackpot(index)))
            .collect();
        let begun = Instant::now();
        let path = subscribe(&self.service, &target, "*", &subjects, "beginning").await?;
        let (delivered, end) = all_delivered(&self.service, &path).await?;
        delete(&self.service, &path).await?;
        let seconds = end.duration_since(begun).as_secs_f64();
        let mut sample = bare(point, number, float(delivered) / seconds);
        keep(&mut sample, json!({"delivered": delivered, "seconds": seconds}));
        Ok(sample)
    }
}

/// A missing program ends the task, and is the error.
async fn brokers() -> Outcome<(TestNats, TestKafka)> {
    let start = async {
        let nats = TestNats::start(&[]).await;
        nats.stream(TOPIC, SUBJECT).await;
        let kafka = TestKafka::start().await;
        kafka.topic(TOPIC, 3);
        (nats, kafka)
    };
    let tasks = LocalSet::new();
    Ok(tasks.run_until(async { tokio::task::spawn_local(start).await }).await?)
}

/// Makes a subscription. Returns its path.
async fn subscribe(service: &Service, target: &Value, types: &str, subjects: &[String], from: &str) -> Outcome<String> {
    static NUMBER: AtomicU64 = AtomicU64::new(1);
    let path = format!("/v1/subscriptions/bench-{}", NUMBER.fetch_add(1, Ordering::Relaxed));
    let body = json!({"target": target, "types": [types], "subjects": subjects, "from": from});
    service.target.call("PUT", &path, &body).await?;
    Ok(path)
}

async fn delete(service: &Service, path: &str) -> Outcome {
    let request = service.target.request("DELETE", path, b"");
    // 204 has no length, so the client can't read it. What is gone answers 404.
    let _unread = service.target.connect().await?.send(&request).await;
    match service.target.call("GET", path, &Value::Null).await {
        Ok(_) => Err(format!("{path} was not deleted").into()),
        Err(_) => Ok(()),
    }
}

/// Number of the last event in the ledger.
async fn head(service: &Service) -> Outcome<u64> {
    let head = service
        .target
        .call("GET", "/v1/jackpots/bench-0/ledger/head", &Value::Null)
        .await?;
    Ok(head["n"].as_u64().ok_or("a head without a number")?)
}

/// Waits until all events of a subscription were delivered. Returns their number, and when the last one was.
async fn all_delivered(service: &Service, path: &str) -> Outcome<(u64, Instant)> {
    let name = path.rsplit('/').next().unwrap_or_default();
    let series = format!("jackpot_subscription_delivered_total{{subscription=\"{name}\"}} ");
    let request = service.target.request("GET", "/metrics", b"");
    let mut connection = service.target.connect().await?;
    let (begun, mut count, mut last) = (Instant::now(), 0, Instant::now());
    loop {
        let answer = connection.send(&request).await?;
        let text = String::from_utf8_lossy(&answer.body);
        let now = text
            .lines()
            .find_map(|line| line.strip_prefix(&series)?.parse().ok())
            .unwrap_or(0);
        if now != count {
            (count, last) = (now, Instant::now());
        }
        if last.elapsed() > STILL {
            let shown = service.target.call("GET", path, &Value::Null).await?;
            let streams = shown["streams"].as_array().ok_or("a subscription without subjects")?;
            if !streams.is_empty() && streams.iter().all(|stream| stream["lag"] == 0) {
                return Ok((count, last));
            }
            if begun.elapsed() > LIMIT || shown["state"] != "running" {
                return Err(format!("{count} events were delivered, then: {shown}").into());
            }
        }
        tokio::time::sleep(POLL).await;
    }
}

/// A receiver of webhooks that answers 204 without a look at what comes, or hangs.
struct Sink {
    url: String,
    taken: Arc<AtomicU64>,
    server: JoinHandle<()>,
}

impl Sink {
    async fn start(hangs: bool) -> Outcome<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}/", listener.local_addr()?);
        let taken = Arc::<AtomicU64>::default();
        let count = Arc::clone(&taken);
        let server = tokio::spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let count = Arc::clone(&count);
                connections.spawn(async move {
                    // The service closed the connection.
                    let _ended = answer(stream, hangs, &count).await;
                });
            }
        });
        Ok(Self { url, taken, server })
    }

    fn taken(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }
}

impl Drop for Sink {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn answer(mut stream: TcpStream, hangs: bool, count: &AtomicU64) -> Outcome {
    stream.set_nodelay(true)?;
    let mut received = Vec::with_capacity(128 * 1024);
    loop {
        if stream.read_buf(&mut received).await? == 0 {
            return Ok(());
        }
        if hangs {
            received.clear();
            continue;
        }
        let Some(head) = received.windows(4).position(|four| four == b"\r\n\r\n") else {
            continue;
        };
        let text = std::str::from_utf8(&received[..head])?.to_ascii_lowercase();
        let length = text.lines().find_map(|line| line.strip_prefix("content-length:"));
        let length: usize = length.ok_or("a delivery without a length")?.trim().parse()?;
        // One request at a time comes on a connection.
        if received.len() >= head + 4 + length {
            received.clear();
            count.fetch_add(1, Ordering::Relaxed);
            stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").await?;
        }
    }
}
