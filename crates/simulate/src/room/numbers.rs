//! The numbers of a run of a room, from its evidence.

use serde::Serialize;

use super::answer::How;
use super::evidence::{Evidence, Visit};
use super::lag::{self, Lags};
use crate::numbers::{Latency, latency, per};

/// What a run of a room counts.
#[derive(Debug, Clone, Serialize)]
pub struct Numbers {
    /// Users who joined before the opening, from the first join that was sent to the last answer.
    pub joins: u64,
    pub joining_s: f64,
    pub joins_per_s: f64,
    /// Second joins of the same users in the same time.
    pub joins_again: u64,
    /// Users who waited when the room was opened.
    pub waiting: u64,
    /// From the first try of a join to its answer.
    pub join_latency: Latency,
    /// Sessions, with an answer to their user or without.
    pub admitted: u64,
    /// Those after waiting.
    pub promoted: u64,
    /// From the opening to the last answer that admitted a user.
    pub draining_s: f64,
    pub admissions_per_s: f64,
    /// From the moment at which a place became free to the admission of the user who waited for it. By the service's clock,
    /// in whole milliseconds.
    pub promotion_lag: PromotionLag,
    pub looks: u64,
    pub events: u64,
    pub renewed: u64,
    pub expired: u64,
    pub abandoned: u64,
    pub left: u64,
    /// Sessions that ended before the user, who waited for its session, came back.
    pub missed: u64,
    /// How late this client came back at most.
    pub late_us: u64,
    /// Samples of the monitor in Redis. Below: the longest time between two of them, and why there are none.
    pub samples: u64,
    pub longest_blind_us: u64,
    pub blind: Option<String>,
}

/// By what freed the place.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct PromotionLag {
    /// The end of a session.
    pub expired: Option<Latency>,
    /// A leave: the same call admits the next user.
    pub left: Option<Latency>,
}

impl PromotionLag {
    fn of(lags: Lags) -> Self {
        let of = |lags_ms: Vec<u64>| (!lags_ms.is_empty()).then(|| latency(lags_ms.into_iter().map(|ms| ms * 1_000)));
        Self {
            expired: of(lags.expired_ms),
            left: of(lags.left_ms),
        }
    }
}

impl Numbers {
    pub fn of(evidence: &Evidence) -> Self {
        let visits = &evidence.visits;
        let count = |is: &dyn Fn(&Visit) -> bool| visits.iter().filter(|visit| is(visit)).count() as u64;
        let ended = |how: How| count(&|visit| visit.end().is_some_and(|end| end.how == how));
        let early = evidence.early().iter().flat_map(|visit| &visit.joins);
        let all_joins = early.clone().count() as u64;
        let joins = evidence.early().iter().filter(|visit| !visit.joins.is_empty()).count() as u64;
        let first_us = early.clone().map(|join| join.sent_us).min().unwrap_or(0);
        let last_us = early.map(|join| join.answered_us).max().unwrap_or(0);
        let joining_s = per(last_us - first_us, 1e6);
        let admissions = || visits.iter().filter_map(|visit| visit.admission.as_ref());
        let drained_us = admissions().map(|admission| admission.answered_us).max().unwrap_or(0);
        let draining_s = per(drained_us.saturating_sub(evidence.opening.answered_us), 1e6);
        let admitted = count(&|visit| visit.admission.is_some() || visit.was_missed());
        let answered_us = evidence.samples.iter().map(|sample| sample.answered_us);
        let blind_us = answered_us
            .clone()
            .skip(1)
            .zip(answered_us)
            .map(|(next, one)| next - one);
        let joins_us = visits
            .iter()
            .flat_map(|visit| &visit.joins)
            .map(|join| join.answered_us - join.sent_us);
        Self {
            joins,
            joining_s,
            joins_per_s: per(joins, joining_s),
            joins_again: all_joins - joins,
            waiting: evidence.opening.waiting,
            join_latency: latency(joins_us),
            admitted,
            promoted: count(&|visit| visit.has_waited() && (visit.admission.is_some() || visit.was_missed())),
            draining_s,
            admissions_per_s: per(admitted, draining_s),
            promotion_lag: PromotionLag::of(lag::promotions(evidence)),
            looks: visits.iter().map(|visit| visit.looks).sum(),
            events: visits.iter().map(|visit| visit.events).sum(),
            renewed: count(&|visit| visit.renewed().is_some()),
            expired: ended(How::Expired),
            abandoned: ended(How::Abandoned),
            left: ended(How::Left),
            missed: count(&|visit| visit.was_missed() && visit.user.part.is_patient()),
            late_us: visits.iter().map(|visit| visit.late_us).max().unwrap_or(0),
            samples: evidence.samples.len() as u64,
            longest_blind_us: blind_us.max().unwrap_or(0),
            blind: evidence.blind.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::room::check::fixture;
    use crate::room::plan::Plan;
    use crate::scenario::Scenario;

    #[test]
    fn a_run_is_counted() {
        let twice = Numbers::of(&fixture::honest("--twice 100"));
        let numbers = Numbers::of(&fixture::honest("--twice 0"));
        assert_eq!((numbers.joins, numbers.joins_again), (180, 0));
        assert_eq!((twice.joins, twice.joins_again), (180, 180));
        assert_eq!((twice.joins_per_s, numbers.waiting), (numbers.joins_per_s, 180));
        assert!(
            (Plan::client_per_s(&twice, 9.0) - 2_000.0).abs() < 40.0,
            "each is a call"
        );
        assert_eq!(numbers.left + numbers.expired + numbers.abandoned, 200);
        assert!(numbers.admitted > numbers.promoted, "some found the room empty");
        assert!((numbers.joins_per_s - 1_000.0).abs() < 10.0, "{numbers:?}");
        assert!((Plan::client_per_s(&numbers, 9.0) - 1_000.0).abs() < 40.0);
        for lag in [numbers.promotion_lag.expired, numbers.promotion_lag.left] {
            let lag = lag.expect("some waited");
            assert!((1_000..=1_001).contains(&lag.p99_us), "{lag:?}");
        }
        assert_eq!(numbers.longest_blind_us, 4_000);
    }
}
