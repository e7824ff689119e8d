//! What strangers can do to a client that has a key: a crowd of hostile connections beside a steady load of entries.
//! For comparison the same crowd attacks another listener during the same load. docs/reference/benchmarks.md says what
//! each number means; `scripts/bench.sh hostile` runs it.
//!
//! - `service`: the product. `keyed`: the load. `crowd`: the hostile connections. `yardstick`: the other listener, this
//!   executable again.

mod crowd;
mod keyed;
mod service;
mod yardstick;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::Outcome;
use crowd::{Crowd, Origin};
use keyed::Played;
use yardstick::Yardstick;

pub(crate) use yardstick::serve as yardstick;

/// The p99 beside the attack may be this many times that beside the yardstick.
const MOST: f64 = 2.0;

#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Args {
    /// Where the service keeps its data meanwhile.
    #[arg(long, default_value = "target/bench")]
    directory: PathBuf,
    /// A first look: fewer connections for some seconds, without a verdict on the p99.
    #[arg(long)]
    quick: bool,
    /// Hostile connections [default: 10000].
    #[arg(long)]
    connections: Option<u32>,
    /// How long each load goes on, in seconds [default: 60].
    #[arg(long)]
    seconds: Option<u64>,
    /// Entries per second of the keyed client.
    #[arg(long, default_value_t = 1_000)]
    rate: u64,
    /// What the crowd does, in acts per second of all its connections: it shares the cores with the service.
    #[arg(long, default_value_t = 2_000)]
    acts: u32,
    /// Another build of the service.
    #[arg(long)]
    service: Option<PathBuf>,
}

impl Args {
    fn connections(&self) -> u32 {
        self.connections.unwrap_or(if self.quick { 1_000 } else { 10_000 })
    }

    fn time(&self) -> Duration {
        Duration::from_secs(self.seconds.unwrap_or(if self.quick { 5 } else { 60 }))
    }
}

/// One load, and what went on beside it.
struct Row {
    beside: &'static str,
    played: Played,
    crowd: crowd::Counts,
    resident_mib: u64,
}

/// The load has threads of its own; `runtime` is that of the calls beside it.
pub(crate) fn run(runtime: &Runtime, args: &Args) -> Outcome<ExitCode> {
    println!(
        "{} hostile connections, {} acts/s, beside {} entries/s for {} s\n\n\
         | from | beside | entries | failed | p50, ms | p99, ms | max, ms | /healthz max, ms | connects | refused | closed | pushed, MiB | answers | service, MiB |\n\
         | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
        args.connections(),
        args.acts,
        args.rate,
        args.time().as_secs()
    );
    let mut bad = false;
    for (name, origin, http) in [
        ("strangers", Origin::Strangers, json!({})),
        (
            "a trusted proxy",
            Origin::Proxy,
            json!({"trusted_proxies": ["127.0.0.1"]}),
        ),
    ] {
        let yardstick = one(runtime, args, origin, &http, false)?;
        print(name, &yardstick);
        let attack = one(runtime, args, origin, &http, true)?;
        print(name, &attack);
        let ratio = attack.played.ms(99.0) / yardstick.played.ms(99.0);
        println!("| {name} | ratio of p99 | | | | {ratio:.2} | | | | | | | | |");
        bad |= attack.played.failed > 0 || (ratio > MOST && !args.quick);
    }
    Ok(ExitCode::from(u8::from(bad)))
}

fn one(runtime: &Runtime, args: &Args, origin: Origin, http: &Value, attack: bool) -> Outcome<Row> {
    let service = runtime.block_on(service::start(&args.directory, args.service.as_deref(), http))?;
    let yardstick = Yardstick::start()?;
    let target = if attack {
        service.target.address
    } else {
        yardstick.address
    };
    let crowd = Crowd::start(target, origin, args.connections(), args.acts);
    crowd.wait_until_all_came(Duration::from_secs(30));
    let played = keyed::play(&service.target, args.rate, args.time())?;
    let resident_mib = service.resident_kib()?.0 / 1024;
    Ok(Row {
        beside: if attack { "the attack" } else { "the yardstick" },
        played,
        crowd: crowd.stop(),
        resident_mib,
    })
}

fn print(name: &str, row: &Row) {
    let (played, crowd) = (&row.played, &row.crowd);
    println!(
        "| {name} | {} | {} | {} | {:.2} | {:.2} | {:.1} | {} | {} | {} | {} | {} | {} | {} |",
        row.beside,
        played.entries,
        played.failed,
        played.ms(50.0),
        played.ms(99.0),
        played.ms(100.0),
        played.healthz(),
        crowd.connects,
        crowd.refused,
        crowd.closed,
        crowd.pushed_bytes / 1024 / 1024,
        crowd.answers,
        row.resident_mib
    );
    for failure in &played.failures {
        println!("{name}, {}: {failure}", row.beside);
    }
}
