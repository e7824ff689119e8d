//! Redis beside the ledger, of a room at one event: what decides who may be in for how long. Pure.

use super::books::Books;
use super::event::Checkpoint;
use crate::ledger::reconcile::report::{Report, StateRow};

/// Compares both sides at the same event.
#[must_use]
pub fn compare(redis: &Checkpoint, ledger: &Books) -> Report {
    let status = ledger.status.map(|status| status.as_str().to_owned());
    let state = vec![
        StateRow::of("status", &redis.status.as_str(), &status.unwrap_or_default()),
        StateRow::of("version", &redis.version, &ledger.version),
        StateRow::of("longest", &redis.longest_ms, &ledger.longest_ms),
    ];
    Report::of_state(state)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::room::status::Status;

    #[test]
    fn each_that_differs_is_found() {
        let redis = Checkpoint {
            status: Status::Open,
            version: 2,
            longest_ms: 60_000,
        };
        let books = Books {
            status: Some(Status::Open),
            version: 2,
            longest_ms: 60_000,
            ..Books::default()
        };
        assert!(compare(&redis, &books).clean);
        let differs = |redis: &Checkpoint, fault: &str| {
            let report = compare(redis, &books);
            assert!(!report.clean && report.faults()[0].contains(fault), "{report:?}");
        };
        let (mut status, mut version, mut longest) = (redis.clone(), redis.clone(), redis);
        status.status = Status::Suspended;
        differs(&status, "status is suspended in Redis and open in the ledger");
        version.version = 3;
        differs(&version, "version is 3 in Redis and 2 in the ledger");
        longest.longest_ms = 1_000;
        differs(&longest, "longest is 1000 in Redis and 60000 in the ledger");
    }
}
