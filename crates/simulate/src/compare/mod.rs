//! The same collision in the usual ways of sharing a pool, and in ours: what each pays wrongly and how fast it is.
//!
//! One file per way. A way knows how to contribute and how to win; the collision is the same for all.

mod collision;
mod correction;
mod lock;
mod multi_exec;
mod naive;
mod server;
mod service;
pub mod table;

use std::sync::Arc;

use serde::Serialize;

use super::product::{Product, Scripts};
use super::progress::Bar;
use super::service::PrivateService;
use super::{Args, SimulateError, Verdict};
pub use collision::{Plays, Seen, Take};
use collision::{Round, Spec};
use server::RedisServer;

/// What one way came to, over all rounds. Money in minor units.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Way {
    /// Short name.
    pub name: &'static str,
    /// It is this service's, so that a wrong payout is a violation.
    pub ours: bool,
    /// How it works, in a sentence.
    pub how: &'static str,
    /// What its rate includes.
    pub includes: &'static str,
    /// Collisions played.
    pub rounds: u32,
    /// Winners that claimed at the same instant, per round.
    pub winners: u32,
    /// Contributions meanwhile, per round, and the connections that sent them.
    pub contributions: u32,
    /// See above.
    pub contributors: u32,
    /// In the pool when a round begins.
    pub start: i64,
    /// Put into the pools: start values and contributions.
    pub put_in: i64,
    /// Paid to winners.
    pub paid: i64,
    /// What the pools hold at the end.
    pub left: i64,
    /// Paid, or left as a pool, without ever having been put in. Negative: lost.
    pub from_nothing: i64,
    /// Payouts that nothing in the pool covered any more.
    pub uncovered_payouts: u64,
    /// Payouts.
    pub payouts: u64,
    /// Payouts below the minimum.
    pub below_minimum: u64,
    /// Rounds in which somebody saw the pool below zero.
    pub negative_rounds: u32,
    /// Entries that were given up, waiting for a lock.
    pub gave_up: u64,
    /// Locks that expired while their holder still worked.
    pub lost_locks: u64,
    /// Entries and claims handled per second, all connections together.
    pub entries_per_s: f64,
}

impl Way {
    /// Whether it paid, made or lost money wrongly, or lost entries.
    pub fn is_wrong(&self) -> bool {
        self.from_nothing != 0
            || self.uncovered_payouts > 0
            || self.below_minimum > 0
            || self.negative_rounds > 0
            || self.gave_up > 0
    }

    fn new((name, how, includes): (&'static str, &'static str, &'static str), spec: &Spec) -> Self {
        Self {
            name,
            how,
            includes,
            winners: spec.winners,
            contributions: spec.contributions,
            contributors: spec.contributors,
            start: spec.start,
            ..Self::default()
        }
    }

    fn add(&mut self, spec: &Spec, round: &Round, seconds: &mut f64) {
        let put_in = spec.put_in_per_round();
        self.rounds += 1;
        self.put_in += put_in;
        self.left += round.left;
        let mut covered = put_in;
        for amount in &round.paid_in_order {
            self.payouts += 1;
            self.paid += amount;
            self.below_minimum += u64::from(*amount < spec.min_payout);
            covered -= amount;
            self.uncovered_payouts += u64::from(covered < 0);
        }
        let paid: i64 = round.paid_in_order.iter().sum();
        self.from_nothing += paid + round.left.max(0) - put_in;
        self.negative_rounds += u32::from(round.saw_negative || round.left < 0);
        self.gave_up += round.gave_up;
        self.lost_locks += round.lost_locks;
        *seconds += round.elapsed.as_secs_f64();
        self.entries_per_s = f64::from(self.rounds * (spec.winners + spec.contributions)) / *seconds;
    }
}

/// A wrong payout of ours is a violation like any other.
pub fn verdict(ways: &[Way]) -> Verdict {
    match ways.iter().find(|way| way.ours && way.is_wrong()) {
        None => Verdict::NoViolation,
        Some(way) => Verdict::Violated {
            rule: "comparison".to_owned(),
            detail: format!("{}: {}", way.name, table::cells(way).join(", ")),
        },
    }
}

/// Plays every way, on servers of its own that are gone afterwards.
pub async fn all<S: Scripts>(args: &Args, product: &Product) -> Result<Vec<Way>, SimulateError> {
    let spec = Spec::of(args);
    let bar = Bar::new(args.quiet);
    let mut ways = Vec::new();
    {
        bar.say("comparison: naive, correction, MULTI/EXEC");
        let server = RedisServer::start().await?;
        ways.push(bare(&server, &spec, naive::NAMES, naive::Naive).await?);
        ways.push(bare(&server, &spec, correction::NAMES, correction::Correction).await?);
        ways.push(bare(&server, &spec, multi_exec::NAMES, multi_exec::MultiExec).await?);
        bar.say("comparison: distributed lock");
        ways.push(bare(&server, &spec, lock::NAMES, |player| lock::Lock::new(player, false)).await?);
        ways.push(
            bare(&server, &spec, lock::NAMES_STALLED, |player| {
                lock::Lock::new(player, true)
            })
            .await?,
        );
        bar.say("comparison: our script");
        ways.push(script::<S>(&server, &spec).await?);
    }
    bar.say("comparison: this service");
    let service = PrivateService::start(product.clone(), args.seed, false, &[]).await?;
    let ours = ours(&service, &spec).await;
    service.stop().await?;
    ways.push(ours?);
    bar.finish();
    Ok(ways)
}

/// A way that talks to a bare Redis; each round has a pool of its own.
async fn bare<W: Plays>(
    server: &RedisServer,
    spec: &Spec,
    names: (&'static str, &'static str, &'static str),
    make: impl Fn(server::Player) -> W,
) -> Result<Way, SimulateError> {
    let mut way = Way::new(names, spec);
    let mut seconds = 0.0;
    for number in 0..spec.rounds {
        let key = format!("{{{}}}:pool:{number}", names.0);
        server.set(&key, spec.start).await?;
        let stalled = Arc::default();
        let mut players = Vec::new();
        for index in 0..spec.connections() {
            let unique = u64::from(number * spec.connections() + index);
            players.push(make(server.player(&key, spec.min_payout, unique, &stalled).await?));
        }
        let mut round = collision::play(spec, players).await?;
        round.left = server.get(&key).await?;
        way.add(spec, &round, &mut seconds);
    }
    Ok(way)
}

const SCRIPT: (&str, &str, &str) = (
    "this service, script",
    "the same script alone, called as the others call Redis",
    "bare calls: 1 call per entry, which contributes, claims, keeps the answer for repeats and appends the event; no HTTP, no draw, \
     no redraw",
);

/// Our script alone; each round has a jackpot of its own.
async fn script<S: Scripts>(server: &RedisServer, spec: &Spec) -> Result<Way, SimulateError> {
    let scripts = S::open(server.url(), server.data(), spec.connections()).await?;
    let mut way = Way {
        ours: true,
        ..Way::new(SCRIPT, spec)
    };
    let mut seconds = 0.0;
    for number in 0..spec.rounds {
        let id = format!("script-{number}");
        let definition = service::definition(&id, spec);
        let jackpot = scripts.jackpot(&id, definition, spec.start).await?;
        let mut round = collision::play(spec, scripts.players(&jackpot)).await?;
        round.left = scripts.pool(&jackpot).await?;
        way.add(spec, &round, &mut seconds);
    }
    scripts.close().await;
    Ok(way)
}

/// Ours, over HTTP; each round has a jackpot of its own.
async fn ours(service: &PrivateService, spec: &Spec) -> Result<Way, SimulateError> {
    let mut way = Way {
        ours: true,
        ..Way::new(service::NAMES, spec)
    };
    let mut seconds = 0.0;
    for number in 0..spec.rounds {
        let jackpot = service::Jackpot::make(service.target()?, number, spec).await?;
        let mut round = collision::play(spec, jackpot.players(spec).await?).await?;
        round.left = jackpot.pool().await?;
        way.add(spec, &round, &mut seconds);
    }
    Ok(way)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::collision::{Round, Spec};
    use super::{Verdict, Way, naive, verdict};

    #[test]
    fn only_our_own_mistakes_are_violations() {
        let theirs = judged(&[1_000, 1_000], -990);
        assert_eq!(verdict(std::slice::from_ref(&theirs)), Verdict::NoViolation);
        let ours = Way { ours: true, ..theirs };
        assert!(matches!(verdict(&[ours]), Verdict::Violated { rule, .. } if rule == "comparison"));
    }

    fn judged(paid: &[i64], left: i64) -> Way {
        let spec = Spec {
            winners: 3,
            contributors: 1,
            contributions: 7,
            rounds: 1,
            start: 1_000,
            min_payout: 100,
        };
        let mut way = Way::new(naive::NAMES, &spec);
        let round = Round {
            paid_in_order: paid.to_vec(),
            left,
            elapsed: Duration::from_secs(1),
            ..Round::default()
        };
        way.add(&spec, &round, &mut 0.0);
        way
    }

    #[test]
    fn an_exact_round_is_not_wrong() {
        let way = judged(&[1_005], 5);
        assert!(!way.is_wrong(), "{way:?}");
        assert!((way.entries_per_s - 10.0).abs() < 1e-9);
    }

    #[test]
    fn paying_the_same_pool_three_times_is_told_in_full() {
        let way = judged(&[1_000, 1_000, 1_000], -1_990);
        assert_eq!(
            (way.from_nothing, way.uncovered_payouts, way.negative_rounds),
            (1_990, 2, 1)
        );
    }

    #[test]
    fn money_put_back_twice_and_scraps_paid_are_told() {
        let way = judged(&[1_000, 10], 1_000);
        assert_eq!(
            (way.from_nothing, way.below_minimum, way.uncovered_payouts),
            (1_000, 1, 0)
        );
        assert!(judged(&[1_000], 0).is_wrong(), "ten are lost");
    }
}
