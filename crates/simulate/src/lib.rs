//! `jackpot simulate`: plays a jackpot, a coupon or a room from outside, checks every promise, measures and reports.
//!
//! The crate knows the service by its HTTP contract. Two more things come in as [`Product`]: the program to start, and
//! the keys of a room in Redis. `scenario` has the trait of what can be played, and `run` is the engine that plays it.
//! `jackpot`, `coupon`, `room` and `market` implement the trait, each with a plan, players, evidence and rules. `compare`
//! plays the usual ways beside the service. `subscriber` gets the events that the service sends out. `finding`, `table` and `report` show the result.

mod args;
mod ceiling;
mod client;
mod compare;
mod coupon;
mod error;
mod finding;
#[cfg(test)]
mod forge;
mod jackpot;
mod kill;
mod look;
mod machine;
mod market;
mod numbers;
mod overview;
mod port;
mod product;
mod progress;
pub mod report;
mod room;
mod run;
mod scenario;
mod service;
mod subscriber;
mod table;
mod tls;

pub use args::Args;
pub use error::SimulateError;
pub use port::free_port;
pub use product::{Product, RoomKeys};

use args::Kind;

/// The verdict on a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Every rule that could be judged held.
    NoViolation,
    /// The first rule that did not hold, and where.
    Violated {
        /// The name of the rule.
        rule: String,
        /// The first place.
        detail: String,
    },
}

impl Verdict {
    /// 0 without a violation, else 1.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::NoViolation => 0,
            Self::Violated { .. } => 1,
        }
    }
}

/// Runs the simulation and prints its result on stdout. It needs a Tokio runtime with several threads to load a service with
/// more requests than one core can send, and two open files for each player.
///
/// # Errors
/// [`SimulateError`] when there is no verdict; its `exit_code` distinguishes options that make no sense (2) from the rest.
pub async fn run(mut args: Args, product: Product) -> Result<Verdict, SimulateError> {
    args.validate()?;
    args.read_scenario()?;
    tokio::select! {
        verdict = conduct(&args, &product) => verdict,
        // Dropping the run stops what it started.
        interrupted = interrupted() => Err(interrupted),
    }
}

async fn conduct(args: &Args, product: &Product) -> Result<Verdict, SimulateError> {
    let summary = match args.kind() {
        Kind::Jackpot => run::run::<jackpot::Plan>(args, product).await?,
        Kind::Coupon => run::run::<coupon::Plan>(args, product).await?,
        Kind::Room => run::run::<room::Plan>(args, product).await?,
        Kind::Market => run::run::<market::Plan>(args, product).await?,
    };
    let overview = &summary.overview;
    if let Some(path) = &args.report {
        write(path, &report::html(overview, &summary.plots))?;
    }
    if let Some(path) = &args.json {
        write(path, &report::json(&summary.json))?;
    }
    if !args.quiet {
        println!("{}\n{}", table::numbers(overview), table::findings(&overview.findings));
        if let Some(comparison) = &overview.comparison {
            println!("{}", table::comparison(comparison));
        }
    }
    let verdict = finding::verdict(&overview.findings);
    println!("{}", table::verdict(&verdict, &overview.findings));
    Ok(verdict)
}

fn write(path: &std::path::Path, text: &str) -> Result<(), SimulateError> {
    std::fs::write(path, text).map_err(|source| SimulateError::File {
        doing: "writing",
        path: path.to_owned(),
        source,
    })
}

/// Returns at Ctrl-C or SIGTERM.
async fn interrupted() -> SimulateError {
    use tokio::signal::unix::{SignalKind, signal};
    let watching = |error| SimulateError::Process("watching for signals", error);
    let (mut interrupt, mut terminate) = match (signal(SignalKind::interrupt()), signal(SignalKind::terminate())) {
        (Ok(interrupt), Ok(terminate)) => (interrupt, terminate),
        (Err(error), _) | (_, Err(error)) => return watching(error),
    };
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
    SimulateError::Interrupted
}
