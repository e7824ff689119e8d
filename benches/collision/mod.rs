//! One collision, played by every approach: winners and contributors begin at one instant, each on a separate
//! connection.
//!
//! `usual` has the usual ways of sharing a pool, on a bare Redis. `script` is this service's script alone, `http` the
//! whole service. `score` judges what they paid. The program itself compares the ways of coupons and rooms.

mod http;
mod score;
mod script;
mod usual;

use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::time::Instant;

use clap::Args as Options;
use serde_json::{Value, json};
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use crate::bare_redis::BareRedis;
use crate::machine::Machine;
use crate::plan::Place;
use crate::{Outcome, report};
use score::{Round, Spec};

const ROUNDS: u32 = 5;
const CONTRIBUTORS: u32 = 50;
/// Pool when a round begins, in minor units.
const START: i64 = 10_000;

#[derive(Debug, Clone, Options)]
pub(crate) struct Args {
    #[command(flatten)]
    place: Place,
    /// One round, in place of five.
    #[arg(long)]
    quick: bool,
    /// Connections that claim the pool at one instant.
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    winners: u32,
    /// Contributions that 50 other connections send meanwhile, in each round.
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    contributions: u32,
    /// Least amount of a payout, in minor units.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(i64).range(1..=10_000))]
    min_payout: i64,
    /// Port of a PostgreSQL server with the user `postgres`; without it the row lock of coupons is left out.
    #[arg(long)]
    postgres_port: Option<u16>,
}

/// The result of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Take {
    /// Minor units.
    Paid(i64),
    /// The pool was below the minimum.
    Retry,
    /// The claim gave up waiting for a lock.
    GaveUp,
}

/// What a player saw during a round.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    negative: bool,
    lost_locks: u64,
}

/// One connection of an approach.
trait Player: Send + 'static {
    /// Adds 1 to the pool. False when it gave up.
    fn contribute(&mut self) -> impl Future<Output = Outcome<bool>> + Send;
    /// Adds 1 to the pool, then tries to take all of it.
    fn win(&mut self) -> impl Future<Output = Outcome<Take>> + Send;
    /// Called once, at the end.
    fn seen(&self) -> Seen {
        Seen::default()
    }
}

/// Plays every approach, each on a fresh Redis. Fails when an approach of this service paid wrongly.
pub(crate) async fn run(args: &Args) -> Outcome<ExitCode> {
    let spec = Spec {
        winners: args.winners,
        contributors: CONTRIBUTORS,
        contributions: args.contributions,
        rounds: if args.quick { 1 } else { ROUNDS },
        start: START,
        min_payout: args.min_payout,
    };
    let mut scores = Vec::new();
    let server = BareRedis::start(&args.place.directory).await?;
    for way in usual::Way::ALL {
        eprintln!("{}", way.approach().name);
        scores.push(usual::score(&server, &spec, way).await?);
    }
    eprintln!("{}", script::APPROACH.name);
    scores.push(script::score(&server, &spec).await?);
    drop(server);
    eprintln!("{}", http::APPROACH.name);
    scores.push(http::score(&args.place.directory, &spec).await?);
    let text = score::table(&spec, &scores);
    println!("{text}");
    let kept = json!({"at": jiff::Timestamp::now().to_string(), "machine": Machine::here(), "collision": spec,
        "approaches": scores});
    let title = "One collision, by every approach";
    report::keep(&args.place.directory, "collision", &kept, title, &text, &[])?;
    let failures = score::failures(&scores);
    for name in &failures {
        eprintln!("{name} paid wrongly");
    }
    let others_held = others(args)?;
    Ok(if failures.is_empty() && others_held {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(2)
    })
}

/// Coupons and rooms beside their usual ways: `simulate --compare`. True without a violation.
fn others(args: &Args) -> Outcome<bool> {
    let mut held = true;
    for kind in ["coupons", "room"] {
        let mut run = Command::new(env!("CARGO_BIN_EXE_jackpot"));
        run.args(["simulate", &format!("--{kind}"), "--compare"]);
        if args.quick {
            run.args(["--users", "200"]);
        }
        for (option, ending) in [("--json", "json"), ("--report", "html")] {
            run.arg(option)
                .arg(args.place.directory.join(format!("collision-{kind}.{ending}")));
        }
        if let Some(port) = args.postgres_port.filter(|_| kind == "coupons") {
            run.arg("--postgres")
                .arg(format!("postgres://postgres@127.0.0.1:{port}/postgres"));
        }
        held &= run.status()?.success();
    }
    Ok(held)
}

/// Plays one round. The first players win, the others contribute.
async fn play<P: Player>(spec: &Spec, players: Vec<P>) -> Outcome<Round> {
    let barrier = Arc::new(Barrier::new(players.len() + 1));
    let mut tasks = JoinSet::new();
    for (number, mut player) in (0_u32..).zip(players) {
        let barrier = Arc::clone(&barrier);
        let contributions = number.checked_sub(spec.winners).map(|number| spec.share(number));
        tasks.spawn(async move {
            barrier.wait().await;
            let mut gave_up = 0;
            let take = match contributions {
                None => Some(player.win().await?),
                Some(contributions) => {
                    for _ in 0..contributions {
                        gave_up += u64::from(!player.contribute().await?);
                    }
                    None
                }
            };
            Outcome::Ok((Instant::now(), take, gave_up, player.seen()))
        });
    }
    barrier.wait().await;
    let started = Instant::now();
    let mut round = Round::default();
    let mut paid = Vec::new();
    while let Some(ended) = tasks.join_next().await {
        let (at, take, gave_up, seen) = ended??;
        if let Some(Take::Paid(amount)) = take {
            paid.push((at, amount));
        }
        round.gave_up += gave_up + u64::from(take == Some(Take::GaveUp));
        round.saw_negative |= seen.negative;
        round.lost_locks += seen.lost_locks;
    }
    round.elapsed = started.elapsed();
    paid.sort_unstable_by_key(|(at, _)| *at);
    round.paid_in_order = paid.into_iter().map(|(_, amount)| amount).collect();
    Ok(round)
}

/// The jackpot of one round: one tier, and one rank that takes all of it.
fn definition(id: &str, spec: &Spec) -> Value {
    json!({ "id": id, "name": "Comparison", "currency": "KRW", "status": "open", "contribution": { "fixed": 1 },
            "tiers": [{ "tier": "grand", "share_ppm": 1_000_000, "min_payout": spec.min_payout, "seed": 0, "reserve_ppm": 0,
                        "cap": null, "must_hit_by": null }],
            "odds": { "total": 1_000, "ranks": [
                { "rank": 1, "weight": 10, "prize": { "pool": { "tier": "grand", "take": "all" } } }] },
            "max_redraws": 16, "public_meter": false, "room": null })
}
