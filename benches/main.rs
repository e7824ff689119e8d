//! What is measured: the service beside its peers, how its cost grows, its memory, its ledger, and what strangers can do to
//! it. `scripts/bench.sh` and `scripts/bench-ledger.sh` start what this needs and run it; docs/reference/benchmarks.md says
//! what each number means.
//!
//! - `plan`: how long, how often. `peers`: one round of everything side by side. `growth`, `idle`, `memory`, `soak`,
//!   `hostile`, `ledger`: the rest.
//! - `process`: the service or a peer as a process. `service`: one under load, which is the product or one of `peer`: this
//!   executable again, with other routes.
//! - `batches`; `plays`: one call that feeds several jackpots; `coupons`: issues beside the public ways. `collision`: winners at one instant, by every approach.
//! - `events`: what a subscriber costs the players, and deliveries a second to a webhook and to the brokers of the tests.
//! - `intake`: entries that come as messages of these brokers, a second.
//! - `wrk`, `batch`, `paced`: the load. `bare_redis`, `lock`, `postgres`: the peers without HTTP.
//! - `sample`, `verdict`, `report`, `page`, `plot`: the results.

mod bare_redis;
mod batch;
mod batches;
mod collision;
mod coupons;
mod events;
mod growth;
mod hostile;
mod http;
mod idle;
mod instances;
mod intake;
mod json;
mod ledger;
mod lock;
mod machine;
mod memory;
mod paced;
mod page;
mod peer;
mod peers;
mod plan;
mod plays;
mod plot;
mod postgres;
mod process;
mod report;
mod sample;
mod service;
mod soak;
mod verdict;
mod wrk;

#[path = "../tests/it/support/brokers.rs"]
#[expect(dead_code, reason = "the tests use more of them")]
mod brokers;
#[path = "../tests/it/support/wait.rs"]
#[expect(dead_code, reason = "the tests use more of it")]
mod wait;
// Where `brokers` looks for them.
use wait::{eventually, free_port};

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// The result of a part of the benchmark.
type Outcome<T = ()> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

#[derive(Parser)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// Set by cargo bench.
    #[arg(long, global = true, hide = true)]
    bench: bool,
}

#[derive(Subcommand)]
enum Command {
    /// The service and its peers side by side, in alternating rounds.
    Peers(plan::Peers),
    /// Entries/s and p99 against connections, jackpots, entries of a batch, retained entries, instances and cluster nodes;
    /// start and idle cost against subjects.
    Growth(growth::Args),
    /// Bytes of Redis for each entry that is remembered.
    Memory(memory::Args),
    /// One collision of winners, by the usual ways of sharing a pool and by this service.
    Collision(collision::Args),
    /// A constant load for a while: resident sizes and length of the stream.
    Soak(soak::Args),
    /// A client with a key beside attacks from strangers, then through a trusted proxy.
    Hostile(hostile::Args),
    /// The listener beside which the attacks are judged, started by the command above.
    #[command(hide = true)]
    Yardstick,
    /// Entries per second of the projector, and its processor time for each event.
    Project(ledger::Project),
    /// Memory of an export, time of a page, and query plans.
    Exports(ledger::Exports),
    /// One of the peers that speak HTTP, started by the commands above.
    #[command(hide = true)]
    Peer {
        /// Which.
        #[arg(value_enum)]
        kind: peer::Kind,
        /// Settings file.
        #[arg(long)]
        config: PathBuf,
    },
}

fn main() -> Outcome<ExitCode> {
    jackpot::open_files::raise();
    let command = Cli::parse().command;
    if let Command::Yardstick = command {
        return hostile::yardstick().map(|()| ExitCode::SUCCESS);
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    if let Command::Hostile(args) = command {
        return hostile::run(&runtime, &args);
    }
    runtime.block_on(async {
        match command {
            Command::Peers(plan) => return peers::run(&plan).await,
            Command::Collision(args) => return collision::run(&args).await,
            Command::Growth(args) => growth::run(&args).await?,
            Command::Memory(args) => memory::run(&args).await?,
            Command::Soak(args) => soak::run(&args).await?,
            Command::Project(args) => ledger::project(&args).await?,
            Command::Exports(args) => ledger::exports(&args).await?,
            Command::Peer { kind, config } => peer::serve(kind, &config).await?,
            Command::Hostile(_) | Command::Yardstick => {}
        }
        Ok(ExitCode::SUCCESS)
    })
}
