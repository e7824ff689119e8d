//! Bytes of Redis for each remembered entry, for both kinds of calls, and the totals by rate and retention.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use clap::Args as Options;
use jackpot::store::keys::JackpotKeys;
use jackpot_core::ids::Id;
use redis::aio::MultiplexedConnection;
use serde::Serialize;
use serde_json::json;

use crate::machine::Machine;
use crate::plan::Place;
use crate::sample::float;
use crate::service::{Service, info};
use crate::{Outcome, batch, growth, json, report};

/// Steps, as parts of all entries. A hash doubles its table as it grows, so the most expensive step counts.
const PARTS: [u64; 4] = [4, 3, 2, 1];
/// Batches are sent until their number is reached, however long that takes.
const NO_LIMIT: Duration = Duration::from_hours(1);
/// For single entries that share no call: connections, and how long one `wrk` runs. They are slow, so fewer are
/// measured.
const ALONE: (usize, Duration) = (1, Duration::from_secs(4));
const ALONE_PART: u64 = 20;
/// The stream is trimmed soon after the ledger has it.
const TRIM_LIMIT: Duration = Duration::from_secs(30);
const TRIM_POLL: Duration = Duration::from_millis(500);
/// For the table: entries per second, and retentions in seconds with their names.
const RATES: [u64; 5] = [100, 1_000, 5_000, 20_000, 50_000];
const RETENTIONS: [(u64, &str); 4] = [(900, "15 min"), (7_200, "2 h"), (21_600, "6 h"), (86_400, "24 h")];
/// Records stay for at most two retentions: two generations.
const GENERATIONS: u64 = 2;

#[derive(Debug, Clone, Options)]
pub(crate) struct Args {
    #[command(flatten)]
    place: Place,
    /// A look in a minute: 100,000 entries.
    #[arg(long)]
    quick: bool,
    /// Entries of each way in [default: 1 million].
    #[arg(long)]
    entries: Option<u64>,
}

/// One measurement, at this number of entries.
#[derive(Debug, Serialize)]
struct Measured {
    entries: u64,
    /// `used_memory` minus that with an empty jackpot.
    used_bytes: u64,
    /// `MEMORY USAGE` of the records.
    records_bytes: u64,
    /// Bytes of the stream, which does not grow with the entries.
    stream_bytes: u64,
    stream_events: u64,
    pending: u64,
}

/// One kind of calls.
#[derive(Debug, Serialize)]
struct Way {
    name: String,
    steps: Vec<Measured>,
    /// The highest of the steps.
    bytes_per_entry: f64,
}

pub(crate) async fn run(args: &Args) -> Outcome {
    let entries = args.entries.unwrap_or(if args.quick { 100_000 } else { 1_000_000 });
    let mut ways = Vec::new();
    for (name, entries, by) in [
        ("single entries that come together", entries, By::Wrk(growth::FILL)),
        ("single entries, one at a time", entries / ALONE_PART, By::Wrk(ALONE)),
        ("batches of 100", entries, By::Batches(100)),
        ("batches of 1,000", entries, By::Batches(1_000)),
    ] {
        ways.push(way(args, name, entries, by).await?);
    }
    let text = tables(&ways);
    println!("{text}");
    let kept = json!({"at": jiff::Timestamp::now().to_string(), "machine": Machine::here(), "ways": ways});
    report::keep(
        &args.place.directory,
        "memory",
        &kept,
        "Memory of remembered entries",
        &text,
        &[],
    )
}

/// How entries come in.
#[derive(Debug, Clone, Copy)]
enum By {
    /// Single entries: connections, and how long one `wrk` runs.
    Wrk((usize, Duration)),
    /// Batches of this size.
    Batches(usize),
}

async fn way(args: &Args, name: &str, entries: u64, by: By) -> Outcome<Way> {
    eprintln!("{name}");
    let service = Service::product(&args.place.directory, json!({})).await?;
    service.define(0, 1).await?;
    let keys = JackpotKeys::new(&Id::parse(&json::jackpot(0))?);
    let mut redis = service.redis().await?;
    let empty = info(&mut redis, "memory", "used_memory").await?;
    let mut steps = Vec::new();
    for part in PARTS {
        let wanted = entries / part;
        let there = match by {
            By::Wrk((connections, time)) => growth::fill(&service, wanted, connections, time).await?,
            By::Batches(size) => fill_with_batches(&service, wanted, size).await?,
        };
        let measured = measure(&mut redis, &keys, there, empty).await?;
        eprintln!("  {measured:?}");
        steps.push(measured);
    }
    let each = steps.iter().map(|step| float(step.records_bytes) / float(step.entries));
    Ok(Way {
        name: name.to_owned(),
        bytes_per_entry: each.fold(0.0, f64::max),
        steps,
    })
}

async fn fill_with_batches(service: &Service, wanted: u64, size: usize) -> Outcome<u64> {
    let there = service.before(1).await?.taken;
    if there < wanted {
        let load = batch::entries(&service.target, 0, size, 2, NO_LIMIT, wanted - there);
        service.measure("fill", 1, 1, 0, load).await?;
    }
    service.taken(1).await
}

async fn measure(redis: &mut MultiplexedConnection, keys: &JackpotKeys, entries: u64, empty: u64) -> Outcome<Measured> {
    let begun = Instant::now();
    let mut stream_events: u64 = redis::cmd("XLEN").arg(&keys.events).query_async(redis).await?;
    loop {
        tokio::time::sleep(TRIM_POLL).await;
        let now: u64 = redis::cmd("XLEN").arg(&keys.events).query_async(redis).await?;
        if now == stream_events || begun.elapsed() > TRIM_LIMIT {
            break;
        }
        stream_events = now;
    }
    let records = usage(redis, &keys.seen_a).await? + usage(redis, &keys.seen_b).await?;
    Ok(Measured {
        entries,
        used_bytes: info(redis, "memory", "used_memory").await?.saturating_sub(empty),
        records_bytes: records,
        stream_bytes: usage(redis, &keys.events).await?,
        stream_events,
        pending: usage(redis, &keys.pending).await?,
    })
}

/// Bytes of a key, counted over all its members; 0 when it does not exist.
async fn usage(redis: &mut MultiplexedConnection, key: &str) -> Outcome<u64> {
    let bytes: Option<u64> = redis::cmd("MEMORY")
        .arg("USAGE")
        .arg(key)
        .arg("SAMPLES")
        .arg(0)
        .query_async(redis)
        .await?;
    Ok(bytes.unwrap_or_default())
}

fn tables(ways: &[Way]) -> String {
    let mut text = String::from(
        "| way in | entries | records, bytes each | used_memory, bytes each | stream, events | stream, bytes |\n\
         | --- | ---: | ---: | ---: | ---: | ---: |\n",
    );
    for way in ways {
        for step in &way.steps {
            let _infallible = writeln!(
                text,
                "| {} | {} | {:.1} | {:.1} | {} | {} |",
                way.name,
                step.entries,
                float(step.records_bytes) / float(step.entries),
                float(step.used_bytes) / float(step.entries),
                step.stream_events,
                step.stream_bytes
            );
        }
    }
    text.push_str("\nMemory of the records, GiB, two generations full\n\n| way in | entries/s |");
    text.extend(RETENTIONS.iter().map(|(_, name)| format!(" {name} |")));
    text.push_str("\n| --- | ---: | ---: | ---: | ---: | ---: |\n");
    for way in ways {
        for rate in RATES {
            let gib = |(seconds, _): &(u64, &str)| {
                let bytes = float(rate * seconds * GENERATIONS) * way.bytes_per_entry;
                format!(" {:.2} |", bytes / 1_073_741_824.0)
            };
            let _infallible = write!(text, "| {} | {rate} |", way.name);
            text.extend(RETENTIONS.iter().map(gib));
            text.push('\n');
        }
    }
    text
}
