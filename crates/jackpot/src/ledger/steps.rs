//! The steps of a meter's history: what the pools held at the end of each minute, hour and day in which something
//! happened. Pure.
//!
//! A row is made when the first event after its step comes, so a jackpot writes at most one a minute. What the pools hold
//! since the last event is in the books. Steps without events have no rows: they carry the value before them.
//!
//! Minutes and hours are kept for the points of an answer, and for one step of the next kind more. Where the row before
//! the first point is gone, that of the longer step before it has the same value: nothing happened between their ends.

use std::collections::BTreeMap;

use jackpot_core::ids::Id;
use serde::Deserialize;

use super::books::Books;
use super::postings::{Account, Posting};

/// Most points of an answer.
pub const MAX_POINTS: i64 = 1_000;

/// The length of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Step {
    Minute,
    Hour,
    Day,
}

impl Step {
    pub const ALL: [Self; 3] = [Self::Minute, Self::Hour, Self::Day];

    pub fn seconds(self) -> i64 {
        match self {
            Self::Minute => 60,
            Self::Hour => 3_600,
            Self::Day => 86_400,
        }
    }

    /// The begin in UTC, seconds since 1970, of the step of a time in ms.
    pub fn of(self, at_ms: i64) -> i64 {
        at_ms.div_euclid(1_000).div_euclid(self.seconds()) * self.seconds()
    }

    /// How long before the newest step others are kept, in seconds; `None`: for ever.
    pub fn kept_s(self) -> Option<i64> {
        let more = match self {
            Self::Minute => Self::Hour,
            Self::Hour => Self::Day,
            Self::Day => return None,
        };
        Some(MAX_POINTS * self.seconds() + more.seconds())
    }
}

/// The pools, by tier.
pub type Pools = BTreeMap<Id, i64>;

/// The pools of some books.
pub fn pools(books: &Books) -> Pools {
    let pool = |(tier, meters): (&Id, &super::books::Meters)| (tier.clone(), meters.pool);
    books.meters.iter().map(pool).collect()
}

/// The text of a row.
pub fn text(pools: &Pools) -> String {
    serde_json::to_string(pools).expect("plain data is JSON")
}

/// The inverse of [`text`].
pub fn parse(text: &str) -> Result<Pools, serde_json::Error> {
    serde_json::from_str(text)
}

/// A step that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// Its last event.
    pub n: u64,
    /// What the pools held after it, as [`text`].
    pub pools: String,
}

/// Steps that have ended, by length and begin, in seconds. Of two with one begin, which a clock that went back makes, the
/// one of the later event counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rows(pub BTreeMap<(i64, i64), Ended>);

impl Rows {
    /// An event at `next_ms` follows event `n` at `at_ms`, after which the pools hold what `pools` returns.
    pub fn follow(&mut self, n: u64, at_ms: i64, next_ms: i64, pools: impl FnOnce() -> String) {
        if n == 0 || Step::Minute.of(at_ms) == Step::Minute.of(next_ms) {
            return;
        }
        let ended = Ended { n, pools: pools() };
        let steps = Step::ALL.into_iter().filter(|step| step.of(at_ms) != step.of(next_ms));
        self.0
            .extend(steps.map(|step| ((step.seconds(), step.of(at_ms)), ended.clone())));
    }

    /// Drops those that are not kept beside an event at `newest_ms`. The minute of the last event stays in any case.
    pub fn keep(&mut self, newest_ms: i64) {
        let last = self.0.values().map(|ended| ended.n).max();
        self.0.retain(|(seconds, at), ended| {
            let step = Step::ALL.into_iter().find(|step| step.seconds() == *seconds);
            let kept = step.and_then(|step| Some(step.of(newest_ms) - step.kept_s()?));
            let is_last = *seconds == Step::Minute.seconds() && Some(ended.n) == last;
            is_last || kept.is_none_or(|first| *at >= first)
        });
    }
}

/// A reader of the events in SQL.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Follower {
    /// The last event.
    pub n: u64,
    /// Its time, ms.
    pub at_ms: i64,
    /// What the pools held after it.
    pub pools: Pools,
}

impl Follower {
    /// Adds the next event, by its postings.
    pub fn follow(&mut self, n: u64, at_ms: i64, postings: Vec<Posting>, rows: &mut Rows) {
        rows.follow(self.n, self.at_ms, at_ms, || text(&self.pools));
        for posting in postings {
            if posting.account == Account::Pool {
                *self.pools.entry(posting.tier).or_default() += posting.amount;
            }
        }
        (self.n, self.at_ms) = (n, at_ms);
    }
}

/// The last event in the ledger, as the history needs it.
#[derive(Debug, Clone, Copy)]
pub struct Last {
    /// Its time, ms.
    pub at_ms: i64,
    /// What the pool holds after it.
    pub pool: i64,
}

/// The points of one step each, from `first` to `current` (begins, in seconds). `base` is the pool before the first;
/// `ended` are the steps that ended before the one of the last event, in order.
pub fn points(
    step: Step,
    first: i64,
    current: i64,
    base: i64,
    ended: impl IntoIterator<Item = (i64, i64)>,
    last: Last,
) -> Vec<(i64, i64)> {
    let since = step.of(last.at_ms);
    let (mut ended, mut pool) = (ended.into_iter().peekable(), base);
    let begins = (0..)
        .map(|i| first + i * step.seconds())
        .take_while(|at| *at <= current);
    begins
        .map(|at| {
            while let Some((_, held)) = ended.next_if(|(begin, _)| *begin <= at) {
                pool = held;
            }
            // The current step shows what the pool holds, also where a clock went back.
            if at >= since || at == current {
                pool = last.pool;
            }
            (at, pool)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::postings;

    const DAY: i64 = 1_763_683_200; // 2025-11-21

    fn grand() -> Id {
        Id::parse("grand").expect("an id")
    }

    /// The rows of events at these seconds, each of which adds 1.
    fn rows(seconds: &[i64]) -> (Rows, Follower) {
        let (mut rows, mut follower) = (Rows::default(), Follower::default());
        for (n, at) in (1..).zip(seconds) {
            let moved = postings::parse("grand c-1,p1").expect("postings");
            follower.follow(n, at * 1_000 + 999, moved, &mut rows);
        }
        (rows, follower)
    }

    fn shown(rows: &Rows, step: Step) -> Vec<(i64, i64)> {
        let own = rows.0.iter().filter(|((seconds, _), _)| *seconds == step.seconds());
        own.map(|((_, at), ended)| (at - DAY, parse(&ended.pools).expect("pools")[&grand()]))
            .collect()
    }

    #[test]
    fn a_step_ends_with_its_last_event() {
        let seconds = [0, 59, 60, 61, 3_599, 3_600, 86_399, 86_400, 86_401];
        let (rows, follower) = rows(&seconds.map(|at| DAY + at));
        assert_eq!(
            shown(&rows, Step::Minute),
            [(0, 2), (60, 4), (3_540, 5), (3_600, 6), (86_340, 7)]
        );
        assert_eq!(shown(&rows, Step::Hour), [(0, 5), (3_600, 6), (82_800, 7)]);
        assert_eq!(shown(&rows, Step::Day), [(0, 7)]);
        assert_eq!((follower.n, follower.pools[&grand()]), (9, 9));
    }

    #[test]
    fn where_a_clock_goes_back_the_later_event_counts() {
        let (rows, _) = rows(&[DAY, DAY + 60, DAY + 1, DAY + 61, DAY + 120]);
        assert_eq!(shown(&rows, Step::Minute), [(0, 3), (60, 4)]);
    }

    #[test]
    fn gaps_carry_the_value_before_them() {
        let last = Last {
            at_ms: (DAY + 300) * 1_000,
            pool: 9,
        };
        let ended = [(DAY + 60, 4), (DAY + 180, 6)];
        let all = points(Step::Minute, DAY, DAY + 420, 1, ended, last);
        let pools: Vec<_> = all.iter().map(|(_, pool)| *pool).collect();
        assert_eq!(pools, [1, 4, 4, 6, 6, 9, 9, 9]);
        assert_eq!(all[0].0, DAY);
        let early = Last {
            at_ms: (DAY + 600) * 1_000,
            ..last
        };
        let all = points(Step::Minute, DAY, DAY + 60, 1, [], early);
        assert_eq!(
            all,
            [(DAY, 1), (DAY + 60, 9)],
            "the current step, by a clock behind Redis'"
        );
    }

    #[test]
    fn what_is_kept_gives_every_point_of_a_window_its_value() {
        // Nothing between an event just before the window of minutes and the newest.
        let newest = DAY + 86_400;
        let from = newest - Step::Minute.kept_s().expect("bounded");
        for gap in [0, 60, 3_540, 3_600, 7_200, 40_000] {
            let first = newest - (MAX_POINTS - 1) * 60;
            let (mut all, _) = rows(&[first - 60 - gap, newest, newest + 60]);
            all.keep((newest + 60) * 1_000);
            // As the query looks for the value before the window: the latest event of a step that has ended.
            let before = all.0.iter().filter(|((seconds, at), _)| at + seconds <= first);
            let before = before.max_by_key(|(_, ended)| ended.n).map(|(_, ended)| ended.n);
            assert_eq!(before, Some(1), "{gap}");
            assert!(all.0.keys().all(|(seconds, at)| *seconds != 60 || *at >= from));
        }
        assert_eq!(Step::Day.kept_s(), None);
        let (mut quiet, _) = rows(&[DAY, DAY + 60, DAY + 100_000_000]);
        quiet.keep((DAY + 100_000_000) * 1_000);
        assert_eq!(
            shown(&quiet, Step::Minute),
            [(60, 2)],
            "the last one says that nothing is missing"
        );
    }
}
