//! The collision that every way plays: winners and contributors, each on its own connection, released at one instant.

use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::Barrier;
use tokio::task::JoinSet;

use crate::{Args, SimulateError};

const ROUNDS: u32 = 5;
/// Connections that contribute while the winners claim, and what they send per round.
const CONTRIBUTORS: u32 = 50;
const CONTRIBUTIONS: u32 = 1_000;
/// In the pool when a round begins, in minor units.
const START: i64 = 10_000;

/// How large it is.
#[derive(Debug, Clone)]
pub struct Spec {
    pub winners: u32,
    pub contributors: u32,
    /// Per round, of all contributors together; each adds 1, and so does each winner's entry.
    pub contributions: u32,
    pub rounds: u32,
    /// Minor units.
    pub start: i64,
    /// Minor units.
    pub min_payout: i64,
}

impl Spec {
    /// With the winners and the minimum of the simulation.
    pub fn of(args: &Args) -> Self {
        Self {
            winners: args.winners.max(1),
            contributors: CONTRIBUTORS,
            contributions: CONTRIBUTIONS,
            rounds: ROUNDS,
            start: START,
            min_payout: args.min_payout,
        }
    }

    /// One per winner and contributor.
    pub fn connections(&self) -> u32 {
        self.winners + self.contributors
    }

    /// Minor units.
    pub fn put_in_per_round(&self) -> i64 {
        self.start + i64::from(self.winners) + i64::from(self.contributions)
    }
}

/// What a claim came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Take {
    /// Minor units.
    Paid(i64),
    /// Too little was there.
    Retry,
    /// It could not be tried in time.
    GaveUp,
}

/// What a player saw on the way.
#[derive(Debug, Clone, Copy, Default)]
pub struct Seen {
    pub negative: bool,
    pub lost_locks: u64,
}

/// One connection's player, in one way.
pub trait Plays: Send + 'static {
    /// Adds 1 to the pool. False when it was given up.
    fn contribute(&mut self) -> impl Future<Output = Result<bool, SimulateError>> + Send;
    /// Adds 1 to the pool, then tries to take all of it.
    fn win(&mut self) -> impl Future<Output = Result<Take, SimulateError>> + Send;
    /// Once at the end.
    fn seen(&self) -> Seen;
}

/// What one round came to.
#[derive(Debug, Clone, Default)]
pub struct Round {
    /// Minor units, in the order in which the winners heard of it.
    pub paid_in_order: Vec<i64>,
    /// What the pool holds at the end, in minor units.
    pub left: i64,
    pub saw_negative: bool,
    pub gave_up: u64,
    pub lost_locks: u64,
    pub elapsed: Duration,
}

/// Plays one round; the first `spec.winners` players win, the others contribute.
pub async fn play<W: Plays>(spec: &Spec, players: Vec<W>) -> Result<Round, SimulateError> {
    let barrier = Arc::new(Barrier::new(players.len() + 1));
    let mut tasks = JoinSet::new();
    for (number, mut player) in (0..).zip(players) {
        let barrier = Arc::clone(&barrier);
        let contributions = if number < spec.winners {
            0
        } else {
            share(spec, number - spec.winners)
        };
        let wins = number < spec.winners;
        tasks.spawn(async move {
            barrier.wait().await;
            let mut gave_up = 0;
            let take = if wins { Some(player.win().await?) } else { None };
            for _ in 0..contributions {
                gave_up += u64::from(!player.contribute().await?);
            }
            Ok::<_, SimulateError>((Instant::now(), take, gave_up, player.seen()))
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

/// How many of the contributions contributor `number` sends.
fn share(spec: &Spec, number: u32) -> u32 {
    let (each, rest) = (
        spec.contributions / spec.contributors,
        spec.contributions % spec.contributors,
    );
    each + u32::from(number < rest)
}

#[cfg(test)]
mod tests {
    use super::{Spec, share};

    #[test]
    fn all_contributions_are_shared_out() {
        let spec = Spec {
            winners: 1,
            contributors: 7,
            contributions: 100,
            rounds: 1,
            start: 0,
            min_payout: 1,
        };
        assert_eq!((0..7).map(|number| share(&spec, number)).sum::<u32>(), 100);
    }
}
