//! The accounts of a collision: what went into the pools, what was paid, and errors in the difference.
//!
//! It uses nothing of the bench, so that `tests/it/benches.rs` can test it.

use std::fmt::Write as _;
use std::time::Duration;

use serde::Serialize;

/// The size of a collision.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Spec {
    /// Connections that claim at the same instant, once each.
    pub(crate) winners: u32,
    /// Connections that contribute meanwhile.
    pub(crate) contributors: u32,
    /// Contributions in a round, of all contributors together. Each contribution and each claim adds 1.
    pub(crate) contributions: u32,
    pub(crate) rounds: u32,
    /// Pool when a round begins, in minor units.
    pub(crate) start: i64,
    /// Least amount of a payout, in minor units.
    pub(crate) min_payout: i64,
}

impl Spec {
    /// One connection for each winner and each contributor.
    pub(crate) fn connections(&self) -> u32 {
        self.winners + self.contributors
    }

    /// What goes into the pool in each round, in minor units.
    fn put_in(&self) -> i64 {
        self.start + i64::from(self.winners) + i64::from(self.contributions)
    }

    /// How many of the contributions contributor `number` sends.
    pub(crate) fn share(&self, number: u32) -> u32 {
        let (each, rest) = (
            self.contributions / self.contributors,
            self.contributions % self.contributors,
        );
        each + u32::from(number < rest)
    }

    /// Entry ids that draw rank 1, and ids that draw nothing: as many as a round needs.
    pub(crate) fn entries(&self, rank: impl Fn(&str) -> u32) -> (Vec<String>, Vec<String>) {
        let (winners, contributions) = (self.winners as usize, self.contributions as usize);
        let (mut win, mut contribute) = (Vec::new(), Vec::new());
        for number in 0_u64.. {
            let id = format!("e{number}");
            match rank(&id) {
                1 if win.len() < winners => win.push(id),
                0 if contribute.len() < contributions => contribute.push(id),
                _ => {}
            }
            if (win.len(), contribute.len()) == (winners, contributions) {
                break;
            }
        }
        (win, contribute)
    }
}

/// The result of one round.
#[derive(Debug, Clone, Default)]
pub(crate) struct Round {
    /// Payouts in minor units, in the order in which the winners got their answers.
    pub(crate) paid_in_order: Vec<i64>,
    /// Pool at the end, in minor units.
    pub(crate) left: i64,
    /// A player read a pool below zero.
    pub(crate) saw_negative: bool,
    /// Contributions and claims that gave up waiting for a lock.
    pub(crate) gave_up: u64,
    /// Locks that expired before their holder released them.
    pub(crate) lost_locks: u64,
    pub(crate) elapsed: Duration,
}

/// How an approach works.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Approach {
    pub(crate) name: &'static str,
    /// In a sentence.
    pub(crate) how: &'static str,
    /// What its rate includes.
    pub(crate) includes: &'static str,
    /// Whether it is an approach of this service, where a wrong payout is a failure of the bench.
    pub(crate) ours: bool,
}

/// The results of one approach over all rounds. Money in minor units.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Score {
    #[serde(flatten)]
    pub(crate) approach: Approach,
    pub(crate) rounds: u32,
    /// Start values and contributions.
    pub(crate) put_in: i64,
    pub(crate) paid: i64,
    /// Money in the pools at the end.
    pub(crate) left: i64,
    /// Money that was paid or left in a pool although nobody put it in. Negative: lost.
    pub(crate) from_nothing: i64,
    /// Payouts that the money in the pool did not cover any more.
    pub(crate) uncovered_payouts: u64,
    pub(crate) payouts: u64,
    pub(crate) below_minimum: u64,
    /// Rounds in which a player saw the pool below zero.
    pub(crate) negative_rounds: u32,
    pub(crate) gave_up: u64,
    pub(crate) lost_locks: u64,
    pub(crate) seconds: f64,
    /// Contributions and claims per second, all connections together.
    pub(crate) entries_per_s: f64,
}

impl Score {
    pub(crate) fn of(approach: Approach, spec: &Spec, rounds: &[Round]) -> Self {
        let mut score = Self {
            approach,
            rounds: 0,
            put_in: 0,
            paid: 0,
            left: 0,
            from_nothing: 0,
            uncovered_payouts: 0,
            payouts: 0,
            below_minimum: 0,
            negative_rounds: 0,
            gave_up: 0,
            lost_locks: 0,
            seconds: 0.0,
            entries_per_s: 0.0,
        };
        for round in rounds {
            score.add(spec, round);
        }
        let entries = score.rounds * (spec.winners + spec.contributions);
        score.entries_per_s = f64::from(entries) / score.seconds.max(1e-9);
        score
    }

    fn add(&mut self, spec: &Spec, round: &Round) {
        let put_in = spec.put_in();
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
        self.seconds += round.elapsed.as_secs_f64();
    }

    /// Whether it paid, made or lost money wrongly, or lost entries.
    pub(crate) fn is_wrong(&self) -> bool {
        self.from_nothing != 0
            || self.uncovered_payouts > 0
            || self.below_minimum > 0
            || self.negative_rounds > 0
            || self.gave_up > 0
    }
}

/// The approaches of this service that paid wrongly. No other approach is a failure.
pub(crate) fn failures(scores: &[Score]) -> Vec<&'static str> {
    let failed = scores.iter().filter(|score| score.approach.ours && score.is_wrong());
    failed.map(|score| score.approach.name).collect()
}

/// A table in Markdown, with a line on each approach below it.
pub(crate) fn table(spec: &Spec, scores: &[Score]) -> String {
    let mut text = format!(
        "{} rounds: {} in the pool, {} winners at one instant, {} contributions by {} others meanwhile. Each on a Redis \
         with AOF and fsync always, one connection for each player.\n\n",
        spec.rounds, spec.start, spec.winners, spec.contributions, spec.contributors
    );
    text.push_str(
        "| approach | put in | paid | left in pools | paid from nothing | payouts uncovered | below minimum | rounds below 0 | entries/s |\n\
         | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
    );
    for score in scores {
        let _infallible = writeln!(
            text,
            "| {} {} | {} | {} | {} | {} | {} of {} | {} | {} of {} | {:.0} |",
            if score.is_wrong() { "✗" } else { "✓" },
            score.approach.name,
            score.put_in,
            score.paid,
            score.left,
            score.from_nothing,
            score.uncovered_payouts,
            score.payouts,
            score.below_minimum,
            score.negative_rounds,
            score.rounds,
            score.entries_per_s
        );
    }
    for score in scores {
        let Approach {
            name, how, includes, ..
        } = score.approach;
        let _infallible = write!(text, "\n{name}: {how}. Rate: {includes}.");
        if score.lost_locks > 0 {
            let _infallible = write!(text, " {} locks expired before their release.", score.lost_locks);
        }
        if score.gave_up > 0 {
            let _infallible = write!(text, " {} entries gave up waiting for the lock.", score.gave_up);
        }
        text.push('\n');
    }
    text
}
