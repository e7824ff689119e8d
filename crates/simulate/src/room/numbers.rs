//! The numbers of a run of a room, from its evidence.

use serde::Serialize;

use super::answer::How;
use super::evidence::{Evidence, Visit};
use super::lag::{self, Lags};
use crate::numbers::{Latency, latency, per};

/// What a run of a room counts.
#[derive(Debug, Clone, Serialize)]
pub struct Numbers {
    /// Users who joined before the opening, from the first join that was sent to the last that was told.
    pub joins: u64,
    pub joining_s: f64,
    pub joins_per_s: f64,
    /// Joins of the same time of users who had joined already.
    pub joins_again: u64,
    /// Who waited when the room was opened.
    pub waiting: u64,
    /// Of every join, from its first try to its answer.
    pub join_latency: Latency,
    /// Sessions, of whom the user was told or not.
    pub admitted: u64,
    /// Of them after waiting.
    pub promoted: u64,
    /// From the opening to the last admission that was told.
    pub draining_s: f64,
    pub admissions_per_s: f64,
    /// From a place that became free to the next who got it, where somebody waited, by the service's own clock, which
    /// tells ms apart.
    pub promotion_lag: PromotionLag,
    pub looks: u64,
    pub events: u64,
    pub renewed: u64,
    pub expired: u64,
    pub abandoned: u64,
    pub left: u64,
    /// Sessions that ended before their user, who waited for them, was back.
    pub missed: u64,
    /// How late this client was back at most.
    pub late_us: u64,
    /// Of the monitor, in Redis, the longest time between two of them, and why there is none where it was asked.
    pub samples: u64,
    pub longest_blind_us: u64,
    pub blind: Option<String>,
}

/// By what freed the place.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct PromotionLag {
    /// The end of a session.
    pub expired: Option<Latency>,
    /// A leave: the same call lets in the next.
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
        let last_us = early.map(|join| join.told_us).max().unwrap_or(0);
        let joining_s = per(last_us - first_us, 1e6);
        let admissions = || visits.iter().filter_map(|visit| visit.admission.as_ref());
        let drained_us = admissions().map(|admission| admission.told_us).max().unwrap_or(0);
        let draining_s = per(drained_us.saturating_sub(evidence.opening.told_us), 1e6);
        let admitted = count(&|visit| visit.admission.is_some() || visit.was_missed());
        let told_us = evidence.samples.iter().map(|sample| sample.told_us);
        let blind_us = told_us.clone().skip(1).zip(told_us).map(|(next, one)| next - one);
        let joins_us = visits
            .iter()
            .flat_map(|visit| &visit.joins)
            .map(|join| join.told_us - join.sent_us);
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
