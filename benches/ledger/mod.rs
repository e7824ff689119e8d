//! The cost of writing the ledger, and of reading it. `scripts/bench-ledger.sh` starts what this needs and runs it.
//!
//! `project`: entries go through the real enter script into a private Redis. Then the projector's own rounds drain the
//! stream into a database that holds `--rows` entries already, and only they are timed. `exports`: the release build of
//! the service streams a list of payouts, and its memory is read from `/proc`.

mod cpu;
mod exports;
mod fill;
mod place;
mod project;
mod report;

use std::path::PathBuf;

use crate::Outcome;

#[derive(clap::Args)]
struct Databases {
    /// Directory on a disk, in which everything is made and removed.
    #[arg(long, default_value = "target/bench")]
    directory: PathBuf,
    /// An empty database on a PostgreSQL server; without it only SQLite is measured.
    #[arg(long)]
    postgres: Option<String>,
    /// Leave SQLite out.
    #[arg(long)]
    without_sqlite: bool,
    /// Where the results go as JSON.
    #[arg(long)]
    json: Option<PathBuf>,
}

#[derive(clap::Args)]
pub(crate) struct Project {
    #[command(flatten)]
    databases: Databases,
    /// Entries that the ledger holds before, in events of 16, with rows of the index.
    #[arg(long, default_value_t = 10_000_000)]
    rows: u64,
    /// Measurements of each kind; the median counts.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Entries of an event, each.
    #[arg(long, value_delimiter = ',', default_value = "1,16,128,512")]
    sizes: Vec<usize>,
}

#[derive(clap::Args)]
pub(crate) struct Exports {
    #[command(flatten)]
    databases: Databases,
    /// Payouts that the ledger holds.
    #[arg(long, default_value_t = 1_000_000)]
    payouts: u64,
}

pub(crate) async fn project(args: &Project) -> Outcome {
    let (databases, mut results) = (&args.databases, Vec::new());
    for url in databases.urls() {
        let directory = databases.make()?;
        results.extend(project::all(directory.path(), &url, args.rows, args.rounds, &args.sizes).await?);
    }
    report::projector(&results, args.rows, databases.json.as_deref())
}

pub(crate) async fn exports(args: &Exports) -> Outcome {
    let (databases, mut results) = (&args.databases, Vec::new());
    for url in databases.urls() {
        let directory = databases.make()?;
        results.push(exports::measure(directory.path(), &url, args.payouts).await?);
    }
    report::exports(&results, args.payouts, databases.json.as_deref())
}

impl Databases {
    /// `ledger.url` of each; an empty one is SQLite in the data directory.
    fn urls(&self) -> Vec<String> {
        let sqlite = (!self.without_sqlite).then(String::new);
        sqlite.into_iter().chain(self.postgres.clone()).collect()
    }

    fn make(&self) -> Outcome<tempfile::TempDir> {
        std::fs::create_dir_all(&self.directory)?;
        let directory = tempfile::Builder::new().prefix("d").tempdir_in(&self.directory)?;
        Ok(directory)
    }
}
