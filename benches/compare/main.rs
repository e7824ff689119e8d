//! The service beside its peers, how its cost grows, and what it keeps in memory. `scripts/bench.sh` starts what this
//! needs and runs it; docs/reference/benchmarks.md says what each number means.
//!
//! - `plan`: how long, how often. `peers`: one round of everything side by side. `growth`, `idle`, `memory`, `soak`: the
//!   rest.
//! - `service`: a process under load, which is the product or one of `peer`: this executable again, with other routes.
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
mod http;
mod idle;
mod instances;
mod intake;
mod json;
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
mod report;
mod sample;
mod service;
mod soak;
mod verdict;
mod wrk;

#[path = "../../tests/it/support/brokers.rs"]
#[expect(dead_code, reason = "the tests use more of them")]
mod brokers;
#[path = "../../tests/it/support/wait.rs"]
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
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        match Cli::parse().command {
            Command::Peers(plan) => return peers::run(&plan).await,
            Command::Collision(args) => return collision::run(&args).await,
            Command::Growth(args) => growth::run(&args).await?,
            Command::Memory(args) => memory::run(&args).await?,
            Command::Soak(args) => soak::run(&args).await?,
            Command::Peer { kind, config } => peer::serve(kind, &config).await?,
        }
        Ok(ExitCode::SUCCESS)
    })
}
