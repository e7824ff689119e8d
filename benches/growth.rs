//! How cost grows: one quantity grows step by step, all others stay.

use std::fmt::Write as _;
use std::time::Duration;

use clap::{Args as Options, ValueEnum};
use futures_util::future::try_join_all;
use serde::Serialize;
use serde_json::json;

use crate::instances::{Cluster, Instances};
use crate::machine::Machine;
use crate::plan::Place;
use crate::plot::{Axes, Series, line_chart};
use crate::sample::{Load, Sample, float};
use crate::service::{Service, info, keep};
use crate::{Outcome, batch, idle, json as bodies, report, wrk};

const ROUTE: &str = "entries";
/// Connections of the steps in which they are not what grows.
const CONNECTIONS: usize = 64;
/// Jackpots of the steps over many.
const MANY_JACKPOTS: usize = 100;
const MAX_INSTANCES: usize = 4;
const MAX_NODES: usize = 3;
/// Connections that send batches.
const BATCH_CONNECTIONS: usize = 4;
const WARM_UP: Duration = Duration::from_secs(1);
/// Connections, and time of each load, that put retained entries there. The ledger must not refuse the entries.
pub(crate) const FILL: (usize, Duration) = (256, Duration::from_secs(5));

#[derive(Debug, Clone, Options)]
pub(crate) struct Args {
    #[command(flatten)]
    place: Place,
    /// A look in two minutes: steps of a second each.
    #[arg(long)]
    quick: bool,
    /// What grows [default: all].
    #[arg(long, value_enum, value_delimiter = ',')]
    what: Vec<What>,
    /// Seconds of each step [default: 4].
    #[arg(long)]
    seconds: Option<u64>,
    /// Entries that are remembered, at each step [default: 0 to 10 million].
    #[arg(long, value_delimiter = ',')]
    retained: Vec<u64>,
    /// Port of a PostgreSQL server that trusts everyone here; without it the instances are left out, because a ledger on
    /// SQLite has one.
    #[arg(long)]
    postgres_port: Option<u16>,
    /// Jackpots, coupons and rooms of an idle service, at each step [default: 100 to 10,000].
    #[arg(long, value_delimiter = ',')]
    subjects: Vec<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
enum What {
    Connections,
    Jackpots,
    Batch,
    Retained,
    Index,
    Instances,
    Nodes,
    #[value(name = "must-hit")]
    #[serde(rename = "must-hit")]
    MustHit,
    Subjects,
}

impl What {
    fn about(self) -> (&'static str, &'static str) {
        match self {
            Self::Connections => ("Single entries by connections, 1 jackpot", "connections"),
            Self::Jackpots => ("Single entries by jackpots, 64 connections", "jackpots"),
            Self::Batch => ("Batches by their size, 4 connections", "entries of a batch"),
            Self::Retained => (
                "Single entries by remembered entries, 64 connections",
                "remembered entries",
            ),
            Self::Index => (
                "Single entries by days of the players' index, 64 connections",
                "days in the index",
            ),
            Self::Instances => (
                "Single entries by instances on one Redis and one ledger, 100 jackpots, 64 connections",
                "instances",
            ),
            Self::Nodes => (
                "Single entries by nodes of a cluster, 100 jackpots, 64 connections",
                "nodes",
            ),
            Self::MustHit => (
                "Single entries of a jackpot without (0) and with (1) a pool that must be hit, 64 connections",
                "rules",
            ),
            Self::Subjects => ("A start, and an idle service, by subjects", "subjects"),
        }
    }
}

/// One thing that grew.
#[derive(Debug, Serialize)]
struct Grown {
    what: What,
    /// The quantity at each step, and the measurement.
    steps: Vec<(u64, Sample)>,
}

impl Args {
    fn time(&self) -> Duration {
        Duration::from_secs(self.seconds.unwrap_or(if self.quick { 1 } else { 4 }))
    }

    fn what(&self) -> Vec<What> {
        if self.what.is_empty() {
            What::value_variants().to_vec()
        } else {
            self.what.clone()
        }
    }

    fn jackpots(&self) -> &'static [usize] {
        let all = &[1, 10, 100, 1_000, 10_000];
        if self.quick { &all[..3] } else { all }
    }

    fn subjects(&self) -> Vec<usize> {
        match (&self.subjects[..], self.quick) {
            ([], true) => vec![100, 1_000],
            ([], false) => vec![100, 1_000, 10_000],
            (given, _) => given.to_vec(),
        }
    }

    fn retained(&self) -> Vec<u64> {
        match (&self.retained[..], self.quick) {
            ([], true) => vec![0, 50_000, 100_000],
            ([], false) => [0, 1, 2, 5, 10].map(|millions| millions * 1_000_000).to_vec(),
            (given, _) => given.to_vec(),
        }
    }
}

pub(crate) async fn run(args: &Args) -> Outcome {
    let (mut all, mut idle) = (Vec::new(), Vec::new());
    for what in args.what() {
        eprintln!("{}", what.about().0);
        if what == What::Subjects {
            let over = Duration::from_secs(if args.quick { 10 } else { 60 });
            for subjects in args.subjects() {
                idle.push(idle::measure(&args.place.directory, subjects, over).await?);
            }
            continue;
        }
        let steps = match what {
            What::Connections => connections(args, &warm(args, json!({})).await?).await?,
            What::Jackpots => jackpots(args, &warm(args, json!({})).await?).await?,
            What::Batch => batches(args, &warm(args, json!({})).await?).await?,
            What::Retained => retained(args, &warm(args, json!({})).await?).await?,
            What::Index => index(args).await?,
            What::Instances => instances(args).await?,
            What::Nodes => nodes(args).await?,
            What::MustHit => must_hit(args).await?,
            What::Subjects => continue,
        };
        if !steps.is_empty() {
            all.push(Grown { what, steps });
        }
    }
    let mut text: String = all.iter().map(table).collect();
    let title = What::Subjects.about().0;
    if !idle.is_empty() {
        text.push_str(&idle::table(title, &idle));
    }
    println!("{text}on {}", Machine::here().line());
    let mut plots = Vec::new();
    for grown in &all {
        let (title, x) = grown.what.about();
        let series = |name, value: fn(&Sample) -> f64| Series {
            name,
            // A logarithmic axis has no zero.
            points: grown
                .steps
                .iter()
                .map(|(at, sample)| (float(*at).max(1.0), value(sample)))
                .collect(),
        };
        let lines = [
            series("entries/s", |sample| sample.per_s),
            series("p50, µs", |sample| sample.p50_us),
            series("p99, µs", |sample| sample.p99_us),
        ];
        let axes = Axes {
            title,
            x,
            logarithmic: matches!(grown.what, What::Connections | What::Jackpots | What::Batch),
        };
        plots.push(line_chart(&axes, &lines)?);
    }
    if !idle.is_empty() {
        plots.push(idle::plot(title, &idle)?);
    }
    let kept =
        json!({"at": jiff::Timestamp::now().to_string(), "machine": Machine::here(), "grown": all, "idle": idle});
    report::keep(&args.place.directory, "growth", &kept, "How cost grows", &text, &plots)
}

/// A service with one jackpot, after its first load.
async fn warm(args: &Args, settings: serde_json::Value) -> Outcome<Service> {
    let service = Service::product(&args.place.directory, settings).await?;
    service.define(0, 1).await?;
    wrk::requests(&service.target, ROUTE, CONNECTIONS, 1, WARM_UP).await?;
    Ok(service)
}

async fn connections(args: &Args, service: &Service) -> Outcome<Vec<(u64, Sample)>> {
    let mut steps = Vec::new();
    for connections in [1, 4, 16, 64, 256, 1_024] {
        steps.push(singles(args, service, connections as u64, (connections, 1)).await?);
    }
    Ok(steps)
}

async fn jackpots(args: &Args, service: &Service) -> Outcome<Vec<(u64, Sample)>> {
    let (mut steps, mut there) = (Vec::new(), 1);
    for &jackpots in args.jackpots() {
        service.define(there, jackpots).await?;
        there = jackpots;
        steps.push(singles(args, service, jackpots as u64, (CONNECTIONS, jackpots)).await?);
    }
    Ok(steps)
}

async fn batches(args: &Args, service: &Service) -> Outcome<Vec<(u64, Sample)>> {
    let mut steps = Vec::new();
    for size in [1, 10, 100, 1_000, 10_000] {
        let load = batch::entries(&service.target, 0, size, BATCH_CONNECTIONS, args.time(), u64::MAX);
        let sample = service.measure("batch", 1, 1, 0, load).await?;
        steps.push(step(size as u64, sample));
    }
    Ok(steps)
}

async fn retained(args: &Args, service: &Service) -> Outcome<Vec<(u64, Sample)>> {
    let mut steps = Vec::new();
    let mut redis = service.redis().await?;
    for wanted in args.retained() {
        let there = fill(service, wanted, FILL.0, FILL.1).await?;
        let mut measured = singles(args, service, there, (CONNECTIONS, 1)).await?;
        let used = info(&mut redis, "memory", "used_memory").await?;
        keep(&mut measured.1, json!({"used_memory": used}));
        steps.push(measured);
    }
    Ok(steps)
}

async fn index(args: &Args) -> Outcome<Vec<(u64, Sample)>> {
    let mut steps = Vec::new();
    for days in [0, 7] {
        let service = warm(args, json!({"ledger": {"entry_index_days": days}})).await?;
        steps.push(singles(args, &service, days, (CONNECTIONS, 1)).await?);
    }
    Ok(steps)
}

/// All instances under load at once; percentiles are those of the slowest.
async fn instances(args: &Args) -> Outcome<Vec<(u64, Sample)>> {
    let Some(port) = args.postgres_port else {
        eprintln!("  left out: no PostgreSQL was given");
        return Ok(Vec::new());
    };
    let url = format!("postgres://postgres:none@127.0.0.1:{port}/postgres");
    let first = warm(args, json!({"ledger": {"url": url}})).await?;
    first.define(1, MANY_JACKPOTS).await?;
    let (mut all, mut steps) = (Instances::of(first), Vec::new());
    for wanted in 1..=MAX_INSTANCES {
        all.grow(&args.place.directory, wanted).await?;
        let connections = all.connections();
        let loads = all
            .each()
            .map(|one| wrk::requests(&one.target, ROUTE, connections, MANY_JACKPOTS, args.time()));
        let load = async { Ok(Load::together(&try_join_all(loads).await?)) };
        let unheard = connections * wanted;
        let sample = all
            .first()
            .measure("instances", 1, MANY_JACKPOTS, unheard, load)
            .await?;
        steps.push(step(wanted as u64, sample));
    }
    Ok(steps)
}

async fn nodes(args: &Args) -> Outcome<Vec<(u64, Sample)>> {
    let mut steps = Vec::new();
    for count in 1..=MAX_NODES {
        let cluster = Cluster::start(&args.place.directory, count).await?;
        let service = warm(args, cluster.settings()).await?;
        service.define(1, MANY_JACKPOTS).await?;
        steps.push(singles(args, &service, count as u64, (CONNECTIONS, MANY_JACKPOTS)).await?);
    }
    Ok(steps)
}

/// Loads of the two by turns, so that what else the machine does meets both. Keeps the CPU time of service and Redis for an
/// entry, and how many times that without a rule the one with a rule is.
async fn must_hit(args: &Args) -> Outcome<Vec<(u64, Sample)>> {
    const ROUNDS: u32 = 3;
    let rule = json!({"amount": {"low": 1_000, "high": 2_000}, "time": {"after_s": 0, "within_s": 86_400}});
    let mut services = Vec::new();
    for rule in [serde_json::Value::Null, rule] {
        let service = Service::product(&args.place.directory, json!({})).await?;
        let mut definition = bodies::definition(&bodies::jackpot(0));
        definition["tiers"][0]["must_hit_by"] = rule;
        let path = format!("/v1/jackpots/{}", bodies::jackpot(0));
        service.target.call("PUT", &path, &definition).await?;
        wrk::requests(&service.target, ROUTE, CONNECTIONS, 1, WARM_UP).await?;
        services.push((service, Vec::new(), (Duration::ZERO, 0)));
    }
    for _ in 0..ROUNDS {
        for (at, (service, samples, (cpu, entries))) in (0..).zip(&mut services) {
            let before = service.cpu_times()?;
            let (_, sample) = singles(args, service, at, (CONNECTIONS, 1)).await?;
            let after = service.cpu_times()?;
            *cpu += (after.0 + after.1).saturating_sub(before.0 + before.1);
            *entries += sample.more["answered"].as_u64().ok_or("no count")?;
            samples.push(sample);
        }
    }
    let (mut steps, mut first) = (Vec::new(), None);
    for (at, (_, mut samples, (cpu, entries))) in (0..).zip(services) {
        let cpu_us = cpu.as_secs_f64() * 1e6 / float(entries.max(1));
        let ratio = cpu_us / *first.get_or_insert(cpu_us);
        eprintln!("  {at}: {cpu_us:.1} µs of CPU an entry, {ratio:.2} times that without a rule");
        samples.sort_by(|a, b| a.per_s.total_cmp(&b.per_s));
        let mut median = samples.swap_remove(samples.len() / 2);
        keep(&mut median, json!({"cpu_us": cpu_us, "cpu_ratio": ratio}));
        steps.push((at, median));
    }
    Ok(steps)
}

/// Sends single entries over these connections, for that long each time, until jackpot 0 remembers `wanted` of them and
/// the ledger has all. Returns how many there are.
pub(crate) async fn fill(service: &Service, wanted: u64, connections: usize, time: Duration) -> Outcome<u64> {
    loop {
        let there = service.before(1).await?.taken;
        if there >= wanted {
            return Ok(there);
        }
        let load = wrk::requests(&service.target, ROUTE, connections, 1, time);
        service.measure("fill", 1, 1, connections, load).await?;
    }
}

async fn singles(args: &Args, service: &Service, at: u64, of: (usize, usize)) -> Outcome<(u64, Sample)> {
    let (connections, jackpots) = of;
    let load = wrk::requests(&service.target, ROUTE, connections, jackpots, args.time());
    Ok(step(at, service.measure("one", 1, jackpots, connections, load).await?))
}

fn step(at: u64, sample: Sample) -> (u64, Sample) {
    eprintln!("  {at}: {:.0}/s, p99 {:.0} µs", sample.per_s, sample.p99_us);
    (at, sample)
}

fn table(grown: &Grown) -> String {
    let (title, x) = grown.what.about();
    let mut text = format!("{title}\n\n| {x} | entries/s | p50 µs | p99 µs | ledger caught up, s |\n");
    text.push_str("| ---: | ---: | ---: | ---: | ---: |\n");
    let mut costs = String::new();
    for (at, sample) in &grown.steps {
        let catch_up = sample.more.get("catch_up_s").and_then(serde_json::Value::as_f64);
        let _infallible = writeln!(
            text,
            "| {at} | {:.0} | {:.0} | {:.0} | {:.1} |",
            sample.per_s,
            sample.p50_us,
            sample.p99_us,
            catch_up.unwrap_or_default()
        );
        let number = |name: &str| sample.more.get(name).and_then(serde_json::Value::as_f64);
        if let Some((cpu_us, ratio)) = number("cpu_us").zip(number("cpu_ratio")) {
            let _infallible = writeln!(
                costs,
                "{at}: {cpu_us:.1} µs of CPU an entry, {ratio:.2} times the first"
            );
        }
    }
    if !costs.is_empty() {
        text.push('\n');
        text.push_str(&costs);
    }
    text.push('\n');
    text
}
