//! How long everything takes and how often it runs.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

/// Where things are kept, of every command.
#[derive(Debug, Clone, Args)]
pub(crate) struct Place {
    /// Directory on a disk, in which everything is made and removed; reports stay in it.
    #[arg(long, default_value = "target/bench")]
    pub(crate) directory: PathBuf,
}

/// The options of `peers`.
#[derive(Debug, Clone, Args)]
pub(crate) struct Peers {
    #[command(flatten)]
    pub(crate) place: Place,
    /// A look in two minutes: one round of one second each.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Rounds; the median counts [default: 3].
    #[arg(long)]
    rounds: Option<usize>,
    /// Seconds of each load [default: 4].
    #[arg(long)]
    seconds: Option<u64>,
    /// Only points whose key starts with one of these, such as `one-` or `batch-1000`.
    #[arg(long, value_delimiter = ',')]
    pub(crate) only: Vec<String>,
    /// Entries per second of the loads at a fixed rate.
    #[arg(long, default_value_t = 6_000)]
    pub(crate) rate: u64,
    /// Connections that send batches, one after the other each.
    #[arg(long, default_value_t = 4)]
    pub(crate) batch_connections: usize,
    /// Directory of the socket of a PostgreSQL server; without it that peer is left out.
    #[arg(long, requires = "postgres_port")]
    pub(crate) postgres: Option<PathBuf>,
    /// Its port, which names the socket.
    #[arg(long)]
    pub(crate) postgres_port: Option<u16>,
    /// The program pgbench.
    #[arg(long, default_value = "pgbench")]
    pub(crate) pgbench: PathBuf,
}

impl Peers {
    pub(crate) fn rounds(&self) -> usize {
        self.rounds.unwrap_or(if self.quick { 1 } else { 3 })
    }

    /// Duration of each load.
    pub(crate) fn time(&self) -> Duration {
        Duration::from_secs(self.seconds.unwrap_or(if self.quick { 1 } else { 4 }))
    }

    pub(crate) fn wants(&self, key: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|start| key.starts_with(start.as_str()))
    }
}
