//! `jackpot simulate`: plays a jackpot from outside, checks every promise, measures and reports.
//!
//! It knows the service by its HTTP contract alone. What it needs beside that is passed in as [`Product`]. Of a jackpot
//! `plan` says what is played, `players` play it, `evidence` is what they saw, `check` judges it, `report` and `table`
//! show it. `coupons` is the same for a coupon of limited stock, `rooms` for a waiting room; there the Redis of a private
//! service is asked too, by a monitor that only reads.

mod answer;
mod args;
mod begin;
mod ceiling;
mod check;
mod check_draw;
mod client;
mod coupons;
mod course;
mod crowd;
mod epochs;
mod error;
mod evidence;
mod finding;
mod game;
mod kill;
mod machine;
mod numbers;
mod overview;
mod plan;
mod players;
mod pool;
mod product;
mod progress;
mod receipts;
mod report;
mod rooms;
mod service;
mod summary;
mod table;
mod tls;

pub use args::Args;
pub use error::SimulateError;
pub use product::{Product, RoomKeys};

use client::Target;
use overview::Overview;
use report::plots::Plot;
use serde_json::{Value, json};
use service::PrivateService;

/// What a run came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Every rule that could be judged held.
    NoViolation,
    /// The first rule that did not hold, and where.
    Violated {
        /// Its name.
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

/// Runs the simulation and prints what came of it on stdout. Needs a Tokio runtime with several threads to
/// load a service with more than one core's worth of requests, and two open files per player.
///
/// # Errors
/// [`SimulateError`] when there is no verdict; its `exit_code` tells options that make no sense (2) from the rest.
pub async fn run(args: Args, product: Product) -> Result<Verdict, SimulateError> {
    args.validate()?;
    tokio::select! {
        verdict = conduct(&args, &product) => verdict,
        // Dropping the run stops what it started.
        interrupted = interrupted() => Err(interrupted),
    }
}

async fn conduct(args: &Args, product: &Product) -> Result<Verdict, SimulateError> {
    let played = simulate(args, product).await?;
    let overview = played.told();
    if let Some(path) = &args.report {
        write(path, &report::html(&overview, &played.plots()?))?;
    }
    if let Some(path) = &args.json {
        write(path, &report::json(&played.json()))?;
    }
    if !args.quiet {
        println!("{}\n{}", table::numbers(&overview), table::findings(overview.findings));
    }
    let verdict = finding::verdict(overview.findings);
    println!("{}", table::verdict(&verdict, overview.findings));
    Ok(verdict)
}

/// What was played.
enum Played {
    Jackpot(Box<summary::Played>),
    Coupons(Box<coupons::Played>),
    Room(Box<rooms::Played>),
}

impl Played {
    async fn play(args: &Args, target: Target, service: Option<&mut PrivateService>) -> Result<Self, SimulateError> {
        if args.coupons.coupons {
            return Ok(Self::Coupons(Box::new(coupons::play(args, target, service).await?)));
        }
        if args.rooms.room {
            return Ok(Self::Room(Box::new(rooms::play(args, target, service).await?)));
        }
        Ok(Self::Jackpot(Box::new(game::play(args, target, service).await?)))
    }

    fn told(&self) -> Overview<'_> {
        match self {
            Self::Jackpot(played) => overview::jackpot(&played.summary),
            Self::Coupons(played) => coupons::overview::coupons(&played.summary),
            Self::Room(played) => rooms::overview::room(&played.summary),
        }
    }

    fn plots(&self) -> Result<Vec<Plot>, SimulateError> {
        match self {
            Self::Jackpot(played) => report::plots::of_jackpot(played),
            Self::Coupons(played) => report::plots::of_coupons(played),
            Self::Room(played) => report::plots::of_room(played),
        }
    }

    fn json(&self) -> Value {
        match self {
            Self::Jackpot(played) => json!(played.summary),
            Self::Coupons(played) => json!(played.summary),
            Self::Room(played) => json!(played.summary),
        }
    }
}

/// The run against a private service, which is stopped after it, or a given one.
async fn simulate(args: &Args, product: &Product) -> Result<Played, SimulateError> {
    if let (Some(url), Some(key)) = (&args.url, &args.key) {
        let secret = args
            .master_secret
            .as_deref()
            .and_then(|text| hex::decode(text).ok()?.try_into().ok());
        let target = Target {
            url: url.trim_end_matches('/').to_owned(),
            key: key.clone(),
            secret,
        };
        return Played::play(args, target, None).await;
    }
    let settings = match args {
        _ if args.coupons.coupons => coupons::SETTINGS,
        _ if args.rooms.room => rooms::SETTINGS,
        _ => &[],
    };
    let mut service = PrivateService::start(product.clone(), args.seed, args.keep_data, settings).await?;
    let target = service.target()?;
    let played = Played::play(args, target, Some(&mut service)).await;
    let stopped = service.stop().await;
    let played = played?;
    if let Some(kept) = stopped? {
        eprintln!("the private service's data is kept in {}", kept.display());
    }
    Ok(played)
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
