//! How long it may take, and when to ask again. Pure.
//!
//! The rate is measured, never guessed: by how many those who waited were admitted in the last minute. Where nobody was,
//! nothing is said.

use std::collections::VecDeque;

/// Admissions of so long count.
const WINDOW_MS: i64 = 60_000;
/// One sample for so long.
const STEP_MS: i64 = 1_000;

/// How often those who waited were admitted, as samples of a count that only grows.
#[derive(Debug, Clone, Default)]
pub struct Admissions {
    /// Time of Redis' clock, and how many had been admitted by then; the oldest is at the window's beginning or before.
    samples: VecDeque<(i64, u64)>,
}

impl Admissions {
    /// Takes the count of admissions out of the waiting line ever, at `now_ms`.
    pub fn hear(&mut self, now_ms: i64, promoted: u64) {
        if let Some(&(last_ms, last)) = self.samples.back() {
            if now_ms < last_ms {
                // Another call was faster.
                return;
            }
            if promoted < last {
                if now_ms - last_ms < STEP_MS {
                    return;
                }
                // Redis lost some: what was counted before belongs to another count.
                self.samples.clear();
            }
        }
        let count = self.samples.len();
        match count.checked_sub(2).and_then(|before| self.samples.get(before)) {
            Some(&(before_ms, _)) if now_ms - before_ms < STEP_MS => self.samples[count - 1] = (now_ms, promoted),
            _ => self.samples.push_back((now_ms, promoted)),
        }
        while self.samples.get(1).is_some_and(|(at, _)| *at <= now_ms - WINDOW_MS) {
            self.samples.pop_front();
        }
    }

    /// Seconds until somebody with `ahead` before is admitted, rounded up; `limit`: most admissions in a minute.
    #[must_use]
    pub fn eta_s(&self, now_ms: i64, ahead: u64, limit: Option<u64>) -> Option<u64> {
        let (&(first_ms, first), &(last_ms, last)) = (self.samples.front()?, self.samples.back()?);
        if last == first || last_ms <= now_ms - WINDOW_MS {
            return None;
        }
        // Of less than a second nothing can be told.
        let span_ms = (now_ms - first_ms).max(STEP_MS).unsigned_abs();
        let turn = u128::from(ahead) + 1;
        let measured = (turn * u128::from(span_ms)).div_ceil(u128::from(last - first) * 1_000);
        let limited = limit.map_or(0, |limit| (turn * 60).div_ceil(u128::from(limit.max(1))));
        u64::try_from(measured.max(limited)).ok()
    }
}

/// Waiters for each second that a poll may wait: with 100,000 of them some 1,000 polls a second, where the timeout allows.
const AHEAD_PER_S: f64 = 1_000.0;
/// The largest part of the timeout that a poll waits: a poll that is lost leaves time for the next.
const PART_OF_TIMEOUT: f64 = 0.4;

/// Seconds after which somebody with `ahead` before should ask again: one near the front, more further behind.
#[must_use]
pub fn poll_after_s(ahead: u64, waiting_timeout_ms: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "both far below 2^52")]
    let (distance, timeout_s) = (ahead as f64 / AHEAD_PER_S, waiting_timeout_ms as f64 / 1_000.0);
    let seconds = (1.0 + distance).min(timeout_s * PART_OF_TIMEOUT);
    // To tenths, downwards.
    (seconds * 10.0).floor() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Samples each second from `from_ms` on, with `per_s` more admissions each.
    fn steady(seconds: i64, per_s: u64) -> Admissions {
        let mut admissions = Admissions::default();
        for second in 0..=seconds {
            admissions.hear(second * 1_000, second.unsigned_abs() * per_s);
        }
        admissions
    }

    #[test]
    fn nothing_is_said_where_nobody_was_admitted() {
        assert_eq!(Admissions::default().eta_s(0, 5, None), None);
        assert_eq!(steady(60, 0).eta_s(60_000, 5, Some(60)), None);
        let mut quiet = steady(30, 2);
        for second in 31..=95 {
            quiet.hear(second * 1_000, 60);
        }
        assert_eq!(
            quiet.eta_s(95_000, 0, None),
            None,
            "the last one was more than a minute ago"
        );
        assert_eq!(
            steady(30, 2).eta_s(95_000, 0, None),
            None,
            "nothing was heard for more than a minute"
        );
    }

    #[test]
    fn the_rate_is_that_of_the_last_minute() {
        let admissions = steady(300, 2);
        assert_eq!(admissions.eta_s(300_000, 0, None), Some(1));
        assert_eq!(admissions.eta_s(300_000, 99, None), Some(50));
        assert!(admissions.samples.len() <= 62);
        let mut slower = steady(60, 10);
        for second in 61..=120 {
            slower.hear(second * 1_000, 600 + (second - 60).unsigned_abs());
        }
        assert_eq!(slower.eta_s(120_000, 59, None), Some(60));
        // A second without any makes it a little less.
        assert_eq!(slower.eta_s(121_000, 59, None), Some(61));
    }

    #[test]
    fn a_limit_is_a_limit_also_of_what_was_measured() {
        let mut burst = Admissions::default();
        burst.hear(0, 0);
        burst.hear(100, 60);
        assert_eq!(burst.eta_s(100, 59, None), Some(1));
        assert_eq!(burst.eta_s(100, 59, Some(60)), Some(60));
        assert_eq!(burst.eta_s(100, 59, Some(30)), Some(120));
    }

    #[test]
    fn many_samples_of_one_second_are_one_and_late_ones_none() {
        let mut admissions = Admissions::default();
        for ms in 0..5_000 {
            admissions.hear(ms, ms.unsigned_abs() / 100);
        }
        assert!(admissions.samples.len() <= 7, "{admissions:?}");
        let before = admissions.samples.clone();
        admissions.hear(10, 0);
        assert_eq!(admissions.samples, before);
        admissions.hear(5_000, 3);
        assert_eq!(admissions.samples, before, "calls that were mixed up");
        admissions.hear(6_500, 3);
        assert_eq!(admissions.samples, [(6_500, 3)], "a count that fell is another one");
    }

    #[test]
    fn who_is_further_behind_asks_less_often_but_in_time() {
        assert!((poll_after_s(0, 60_000) - 1.0).abs() < f64::EPSILON);
        assert!((poll_after_s(5_000, 60_000) - 6.0).abs() < f64::EPSILON);
        assert!((poll_after_s(0, 1_000) - 0.4).abs() < f64::EPSILON);
        for timeout_ms in [1_000, 2_000, 60_000, 86_400_000] {
            let mut last = 0.0;
            for ahead in [0, 1, 10, 999, 10_000, 100_000, 10_000_000] {
                let after = poll_after_s(ahead, timeout_ms);
                assert!(after >= last && after > 0.0, "{timeout_ms} {ahead}");
                #[expect(clippy::cast_precision_loss, reason = "small")]
                let half = timeout_ms as f64 / 2_000.0;
                assert!(after < half, "{timeout_ms} {ahead}: {after}");
                last = after;
            }
        }
    }
}
