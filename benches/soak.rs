//! A constant load for a while, with the shortest retention, so that generations are dropped several times. Memory must
//! reach a height and stay there.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use clap::Args as Options;
use jackpot::store::keys::JackpotKeys;
use jackpot_core::ids::Id;
use jackpot_simulate::report::plots::Plot;
use serde::Serialize;
use serde_json::json;

use crate::machine::Machine;
use crate::plan::Place;
use crate::plot::{Axes, Series, line_chart};
use crate::sample::float;
use crate::service::{Service, info};
use crate::{Outcome, json, paced, report};

/// The shortest allowed retention, in seconds: two of them pass in a fifth of ten minutes.
const RETENTION_S: u64 = 60;
const CONNECTIONS: usize = 64;
const EVERY: Duration = Duration::from_secs(1);
/// Two generations are full within the first third of this time. A shorter run only shows how they fill.
const SHORTEST_JUDGED: Duration = Duration::from_mins(6);
/// The last third may be this many times as high as the one before.
const MOST_GROWTH: f64 = 1.1;
const MIB: f64 = 1024.0;

#[derive(Debug, Clone, Options)]
pub(crate) struct Args {
    #[command(flatten)]
    place: Place,
    /// A look in a minute; less than six say nothing about growth.
    #[arg(long)]
    quick: bool,
    /// How long [default: 10].
    #[arg(long)]
    minutes: Option<u64>,
    /// Entries per second.
    #[arg(long, default_value_t = 4_000)]
    rate: u64,
    /// Jackpots, played in turn.
    #[arg(long, default_value_t = 1)]
    jackpots: usize,
}

/// One look.
#[derive(Debug, Serialize)]
struct Look {
    at_s: f64,
    service_kib: u64,
    redis_kib: u64,
    redis_used_bytes: u64,
    stream_events: u64,
    lag_events: u64,
}

pub(crate) async fn run(args: &Args) -> Outcome {
    let time = Duration::from_mins(args.minutes.unwrap_or(if args.quick { 1 } else { 10 }));
    let settings = json!({"fairness": {"retention_s": RETENTION_S}});
    let service = Service::product(&args.place.directory, settings).await?;
    service.define(0, args.jackpots).await?;
    let before = service.before(args.jackpots).await?;
    let (load, looks) = {
        let load = paced::entries(&service.target, "entries", args.rate, args.jackpots, CONNECTIONS, time);
        tokio::pin!(load);
        let mut looks = Vec::new();
        let begun = Instant::now();
        let mut ticks = tokio::time::interval(EVERY);
        loop {
            tokio::select! {
                load = &mut load => break (load?, looks),
                _ = ticks.tick() => looks.push(look(&service, args.jackpots, begun).await?),
            }
        }
    };
    let mut sample = load.sample("soak", 1);
    service.settle(&before, load.entries, 0, &mut sample).await?;
    let heights = [
        ("service, MiB", heights(&looks, |look| float(look.service_kib) / MIB)),
        ("Redis, MiB", heights(&looks, |look| float(look.redis_kib) / MIB)),
        ("streams, events", heights(&looks, |look| float(look.stream_events))),
    ];
    let mut text = format!(
        "{} s at {} entries/s over {} jackpot(s), retention {RETENTION_S} s: {:.0}/s, p50 {:.0} µs, p99 {:.0} µs; on {}\n\n\
         | highest | first third | second third | last third |\n| --- | ---: | ---: | ---: |\n",
        time.as_secs(),
        args.rate,
        args.jackpots,
        sample.per_s,
        sample.p50_us,
        sample.p99_us,
        Machine::here().line()
    );
    for (name, [first, second, last]) in &heights {
        let _infallible = writeln!(text, "| {name} | {first:.0} | {second:.0} | {last:.0} |");
    }
    println!("{text}");
    let kept = json!({"at": jiff::Timestamp::now().to_string(), "machine": Machine::here(), "rate": args.rate,
        "jackpots": args.jackpots,
        "retention_s": RETENTION_S, "load": sample, "looks": looks});
    let plots = plots(&looks)?;
    report::keep(
        &args.place.directory,
        "soak",
        &kept,
        "Memory under a constant load",
        &text,
        &plots,
    )?;
    let grown = heights
        .iter()
        .find(|(_, [_, second, last])| *last > second * MOST_GROWTH);
    match grown {
        Some((name, _)) if time >= SHORTEST_JUDGED => Err(format!("{name}: still growing in the last third").into()),
        _ => Ok(()),
    }
}

async fn look(service: &Service, jackpots: usize, begun: Instant) -> Outcome<Look> {
    let mut lengths = redis::pipe();
    for jackpot in 0..jackpots {
        lengths.xlen(JackpotKeys::new(&Id::parse(&json::jackpot(jackpot))?).events);
    }
    let mut redis = service.redis().await?;
    let (service_kib, redis_kib) = service.resident_kib()?;
    Ok(Look {
        at_s: begun.elapsed().as_secs_f64(),
        service_kib,
        redis_kib,
        redis_used_bytes: info(&mut redis, "memory", "used_memory").await?,
        stream_events: lengths.query_async::<Vec<u64>>(&mut redis).await?.into_iter().sum(),
        lag_events: service.lag().await?,
    })
}

/// The highest value in each third.
fn heights(looks: &[Look], value: impl Fn(&Look) -> f64) -> [f64; 3] {
    let third = looks.len().div_ceil(3).max(1);
    let mut heights = [0.0; 3];
    for (height, looks) in heights.iter_mut().zip(looks.chunks(third)) {
        *height = looks.iter().map(&value).fold(0.0, f64::max);
    }
    heights
}

fn plots(looks: &[Look]) -> Outcome<Vec<Plot>> {
    let series = |name, value: fn(&Look) -> f64| Series {
        name,
        points: looks.iter().map(|look| (look.at_s, value(look))).collect(),
    };
    let axes = |title| Axes {
        title,
        x: "seconds",
        logarithmic: false,
    };
    Ok(vec![
        line_chart(
            &axes("Resident memory, MiB"),
            &[
                series("service", |look| float(look.service_kib) / MIB),
                series("Redis", |look| float(look.redis_kib) / MIB),
            ],
        )?,
        line_chart(
            &axes("Events"),
            &[
                series("in the stream", |look| float(look.stream_events)),
                series("not in the ledger yet", |look| float(look.lag_events)),
            ],
        )?,
    ])
}
