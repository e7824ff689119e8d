//! Estimates the wait, and the time until the next poll. Pure.
//!
//! The rate is measured: how many sessions ended in the last minute. Each end makes room for one waiting user.
//! Admissions do not count, because an opening or a raised capacity admits many at once and says nothing of the users
//! after them. If no session ended, there is no estimate.

use std::collections::VecDeque;

/// Session ends of this time count.
const WINDOW_MS: i64 = 60_000;
/// One sample for each such time.
const STEP_MS: i64 = 1_000;
/// No reply is this late: the clock went back.
pub(super) const CLOCK_BACK_MS: i64 = 10_000;

/// How often sessions ended, as samples of a count that only grows.
#[derive(Debug, Clone, Default)]
pub struct Ends {
    /// Time of Redis' clock, and how many had ended by then. The oldest sample is at the window's beginning or before.
    samples: VecDeque<(i64, u64)>,
}

/// A place in the queue of a room that admits whenever it has room.
#[derive(Debug, Clone, Copy)]
pub struct QueuePosition {
    /// How many are ahead.
    pub ahead: u64,
    /// Sessions now.
    pub active: u64,
    /// Sessions at once.
    pub capacity: u64,
    /// Most admissions in a minute.
    pub limit: Option<u64>,
}

impl Ends {
    /// Adds a sample: the number of sessions that ended until `now_ms`.
    pub fn observe(&mut self, now_ms: i64, ended: u64) {
        if let Some(&(last_ms, last)) = self.samples.back() {
            if now_ms < last_ms {
                if last_ms - now_ms < CLOCK_BACK_MS {
                    // Another call was faster.
                    return;
                }
                self.samples.clear();
            } else if ended < last {
                if now_ms - last_ms < STEP_MS {
                    return;
                }
                // Redis lost some. Earlier samples belong to another count.
                self.samples.clear();
            }
        }
        let count = self.samples.len();
        match count.checked_sub(2).and_then(|before| self.samples.get(before)) {
            Some(&(before_ms, _)) if now_ms - before_ms < STEP_MS => self.samples[count - 1] = (now_ms, ended),
            _ => self.samples.push_back((now_ms, ended)),
        }
        while self.samples.get(1).is_some_and(|(at, _)| *at <= now_ms - WINDOW_MS) {
            self.samples.pop_front();
        }
    }

    /// Seconds until this place is admitted, rounded up.
    pub fn eta_s(&self, now_ms: i64, line: QueuePosition) -> Option<u64> {
        if line.capacity == 0 {
            return None;
        }
        let turn = u128::from(line.ahead) + 1;
        let limited = line
            .limit
            .map_or(0, |limit| (turn * 60).div_ceil(u128::from(limit.max(1))));
        // There may be room already for the first ones. After a lowered capacity, more sessions must end.
        let must_end = (turn + u128::from(line.active)).saturating_sub(u128::from(line.capacity));
        let measured = if must_end == 0 {
            0
        } else {
            self.until(now_ms, must_end)?
        };
        u64::try_from(measured.max(limited)).ok()
    }

    /// Seconds until this many sessions have ended.
    fn until(&self, now_ms: i64, must_end: u128) -> Option<u128> {
        let (&(first_ms, first), &(last_ms, last)) = (self.samples.front()?, self.samples.back()?);
        if last == first || last_ms <= now_ms - WINDOW_MS {
            return None;
        }
        // Less than a second is too short for a rate.
        let span_ms = (now_ms - first_ms).max(STEP_MS).unsigned_abs();
        Some((must_end * u128::from(span_ms)).div_ceil(u128::from(last - first) * 1_000))
    }
}

/// Waiting users for each second of a poll: with 100,000 of them, some 1,000 polls a second, if the times allow.
const AHEAD_PER_S: f64 = 1_000.0;
/// The largest part of the waiting timeout that a poll may wait. So after a lost poll there is time for the next one.
const PART: f64 = 0.4;

/// Seconds until the next poll of a user with `ahead` others in front: one near the front, more further back. A user
/// who polls then keeps the place. A user who is admitted right after a poll sees this while the session lasts. This
/// second rule applies to users who can be admitted by then: the whole queue at capacity 0, because any capacity may
/// follow; otherwise users who fit into the room. Users further back need a capacity raised to more than twice. Without
/// this difference, a hundred thousand users with short sessions would poll at once.
pub fn poll_after_s(ahead: u64, capacity: u64, waiting_timeout_ms: u64, session_ms: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "all far below 2^52")]
    let [ahead, capacity, place_s, stay_s] = [
        ahead as f64,
        capacity as f64,
        waiting_timeout_ms as f64 / 1_000.0,
        session_ms as f64 / 1_000.0,
    ];
    let times = if capacity > 0.0 {
        (ahead / capacity).max(1.0)
    } else {
        1.0
    };
    let kept_s = place_s.min(stay_s * times);
    let seconds = (1.0 + ahead / AHEAD_PER_S).min(kept_s * PART);
    // To tenths, rounded down.
    (seconds * 10.0).floor() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A full room.
    fn full(ahead: u64, limit: Option<u64>) -> QueuePosition {
        QueuePosition {
            ahead,
            active: 10,
            capacity: 10,
            limit,
        }
    }

    /// Samples each second, with `per_s` more sessions ended each.
    fn steady(seconds: i64, per_s: u64) -> Ends {
        let mut ends = Ends::default();
        for second in 0..=seconds {
            ends.observe(second * 1_000, second.unsigned_abs() * per_s);
        }
        ends
    }

    #[test]
    fn nothing_is_said_where_no_session_ended() {
        assert_eq!(Ends::default().eta_s(0, full(5, None)), None);
        assert_eq!(steady(60, 0).eta_s(60_000, full(5, Some(60))), None);
        let mut quiet = steady(30, 2);
        for second in 31..=95 {
            quiet.observe(second * 1_000, 60);
        }
        assert_eq!(
            quiet.eta_s(95_000, full(0, None)),
            None,
            "the last one was more than a minute ago"
        );
        assert_eq!(
            steady(30, 2).eta_s(95_000, full(0, None)),
            None,
            "nothing was heard for more than a minute"
        );
    }

    #[test]
    fn the_rate_is_that_of_the_last_minute() {
        let ends = steady(300, 2);
        assert_eq!(ends.eta_s(300_000, full(0, None)), Some(1));
        assert_eq!(ends.eta_s(300_000, full(99, None)), Some(50));
        assert!(ends.samples.len() <= 62);
        let mut slower = steady(60, 10);
        for second in 61..=120 {
            slower.observe(second * 1_000, 600 + (second - 60).unsigned_abs());
        }
        assert_eq!(slower.eta_s(120_000, full(59, None)), Some(60));
        // A second without any makes it a little less.
        assert_eq!(slower.eta_s(121_000, full(59, None)), Some(61));
    }

    #[test]
    fn a_limit_is_a_limit_also_of_what_was_measured() {
        let mut burst = Ends::default();
        burst.observe(0, 0);
        burst.observe(100, 60);
        assert_eq!(burst.eta_s(100, full(59, None)), Some(1));
        assert_eq!(burst.eta_s(100, full(59, Some(60))), Some(60));
        assert_eq!(burst.eta_s(100, full(59, Some(30))), Some(120));
    }

    #[test]
    fn what_is_free_counts_and_what_a_burst_took_does_not() {
        let line = |ahead, active, capacity| QueuePosition {
            ahead,
            active,
            capacity,
            limit: None,
        };
        let ends = steady(60, 1);
        assert_eq!(ends.eta_s(60_000, line(0, 10, 10)), Some(1));
        // A raised capacity has room for four, and admits the fifth when one session has ended.
        assert_eq!(ends.eta_s(60_000, line(3, 6, 10)), Some(0));
        assert_eq!(ends.eta_s(60_000, line(4, 6, 10)), Some(1));
        // The capacity was lowered by ten: those sessions must end first.
        assert_eq!(ends.eta_s(60_000, line(0, 20, 10)), Some(11));
        assert_eq!(ends.eta_s(60_000, line(0, 0, 0)), None, "nobody is let in");
        // After an opening no session has ended yet.
        assert_eq!(steady(60, 0).eta_s(60_000, line(0, 10, 10)), None);
        // If only the limit makes them wait, the estimate follows from it.
        let limited = QueuePosition {
            limit: Some(60),
            ..line(4, 0, 10)
        };
        assert_eq!(Ends::default().eta_s(0, limited), Some(5));
    }

    #[test]
    fn many_samples_of_one_second_are_one_and_late_ones_none() {
        let mut ends = Ends::default();
        for ms in 0..5_000 {
            ends.observe(ms, ms.unsigned_abs() / 100);
        }
        assert!(ends.samples.len() <= 7, "{ends:?}");
        let before = ends.samples.clone();
        ends.observe(10, 0);
        assert_eq!(ends.samples, before);
        ends.observe(5_000, 3);
        assert_eq!(ends.samples, before, "calls that were mixed up");
        ends.observe(6_500, 3);
        assert_eq!(ends.samples, [(6_500, 3)], "a count that fell is another one");
        ends.observe(-3_500, 4);
        assert_eq!(ends.samples, [(-3_500, 4)], "a clock that went back is another one");
    }

    #[test]
    fn who_is_further_behind_asks_less_often_but_in_time() {
        const LONG: u64 = 86_400_000;
        for (ahead, capacity, timeout_ms, session_ms, after) in [
            (0, 10, 60_000, LONG, 1.0),
            (5_000, 10, 60_000, LONG, 6.0),
            (0, 10, 1_000, LONG, 0.4),
            (0, 10, LONG, 1_000, 0.4),
            // Opened by hand: the number of users to admit is unknown.
            (8_000, 0, 600_000, 3_000, 1.2),
            (8_000, 10, 600_000, 3_000, 9.0),
            (999, 1_000, 300_000, 4_000, 1.6),
            (2_000, 1_000, 300_000, 3_000, 2.4),
            (99_999, 1_000, 300_000, 5_000, 100.9),
        ] {
            let asked = poll_after_s(ahead, capacity, timeout_ms, session_ms);
            assert!(
                (asked - after).abs() < 1e-9,
                "{ahead} {capacity} {timeout_ms} {session_ms}: {asked}"
            );
        }
        for (timeout_ms, session_ms) in [(1_000, LONG), (LONG, 2_000), (60_000, 60_000), (LONG, LONG)] {
            for capacity in [0, 1, 1_000, 1_000_000] {
                let mut last = 0.0;
                for ahead in [0, 1, 10, 999, 10_000, 100_000, 10_000_000] {
                    let after = poll_after_s(ahead, capacity, timeout_ms, session_ms);
                    assert!(after >= last && after > 0.0, "{timeout_ms} {session_ms} {ahead}");
                    let whole = capacity == 0 || ahead < capacity;
                    let lost_ms = timeout_ms.min(if whole { session_ms } else { LONG });
                    #[expect(clippy::cast_precision_loss, reason = "small")]
                    let half = lost_ms as f64 / 2_000.0;
                    assert!(after < half, "{timeout_ms} {session_ms} {ahead}: {after}");
                    last = after;
                }
            }
        }
    }
}
