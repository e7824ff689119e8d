//! Redis beside the ledger, of a coupon at one event: its state, how many rows SQL has, and the identity of its stock. Pure.

use super::books::Books;
use super::event::Checkpoint;
use crate::coupon::scripts::Snapshot;
use crate::ledger::reconcile::report::{Report, StateRow};

/// What Redis holds of a coupon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Side(Checkpoint);

impl From<&Checkpoint> for Side {
    fn from(redis: &Checkpoint) -> Self {
        Self(redis.clone())
    }
}

impl From<&Snapshot> for Side {
    fn from(redis: &Snapshot) -> Self {
        Self(Checkpoint {
            status: redis.status,
            version: redis.version,
            stock: redis.stock,
            sequence: redis.issued,
            voided: redis.voided,
            arrivals: redis.arrivals,
            queued: redis.queued,
            dead: redis.dead,
            requests: redis.requests,
        })
    }
}

/// Units that can be issued; below 0 when more are out than the stock.
fn remaining(stock: u64, issued: u64, voided: u64) -> i128 {
    i128::from(stock) - i128::from(issued) + i128::from(voided)
}

/// Compares both sides at the same event.
#[must_use]
pub fn compare(Side(redis): &Side, ledger: &Books) -> Report {
    let status = ledger.status.map(|status| status.as_str().to_owned());
    let mut state = vec![StateRow::of(
        "status",
        &redis.status.as_str(),
        &status.unwrap_or_default(),
    )];
    let numbers = [
        ("version", redis.version, ledger.version),
        ("stock", redis.stock, ledger.stock),
        ("issued", redis.sequence, ledger.sequence),
        ("voided", redis.voided, ledger.voided),
        ("arrivals", redis.arrivals, ledger.arrivals),
        ("queued", redis.queued, ledger.queued),
        ("dead", redis.dead, ledger.dead),
        ("requests", redis.requests, ledger.requests()),
    ];
    state.extend(numbers.map(|(name, redis, ledger)| StateRow::of(name, &redis, &ledger)));
    let left = [
        remaining(redis.stock, redis.sequence, redis.voided),
        remaining(ledger.stock, ledger.sequence, ledger.voided),
    ];
    state.push(StateRow::of("remaining", &left[0], &left[1]));
    if left.iter().any(|left| *left < 0) {
        state.push(StateRow {
            name: "out within the stock".to_owned(),
            redis: (left[0] >= 0).to_string(),
            ledger: (left[1] >= 0).to_string(),
            agrees: false,
        });
    }
    Report::of_state(state)
}

/// Adds how many issues the rows of the ledger hold at the event of the report, and of them voided; and the identity
/// that joins both sides: Redis' stock = Redis' remaining + issued rows - voided rows.
#[must_use]
pub fn with_rows(found: Report, issued: u64, voided: u64) -> Report {
    let mut state = found.state;
    let redis = |name: &str| {
        let row = state.iter().find(|row| row.name == name);
        row.map(|row| row.redis.clone()).unwrap_or_default()
    };
    let (stock, remaining) = (redis("stock"), redis("remaining"));
    let rows = [
        StateRow::of("issued rows", &redis("issued"), &issued),
        StateRow::of("voided rows", &redis("voided"), &voided),
    ];
    let sum = remaining
        .parse::<i128>()
        .map(|left| (left + i128::from(issued) - i128::from(voided)).to_string());
    let identity = StateRow::of("stock = remaining + issued - voided", &stock, &sum.unwrap_or_default());
    state.extend(rows);
    state.push(identity);
    Report::of_state(state)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coupon::status::Status;

    fn both() -> (Side, Books) {
        let redis = Checkpoint {
            status: Status::Open,
            version: 2,
            stock: 10,
            sequence: 7,
            voided: 1,
            arrivals: 3,
            queued: 2,
            dead: 1,
            requests: 10,
        };
        let books = Books {
            status: Some(Status::Open),
            version: 2,
            stock: 10,
            sequence: 7,
            voided: 1,
            arrivals: 3,
            queued: 2,
            dead: 1,
            ..Books::default()
        };
        (Side(redis), books)
    }

    #[test]
    fn what_agrees_is_clean_with_the_rows_that_belong_to_it() {
        let (redis, books) = both();
        let found = compare(&redis, &books);
        assert!(found.clean, "{found:?}");
        assert!(with_rows(found.clone(), 7, 1).clean);
        for (issued, voided) in [(6, 1), (8, 1), (7, 0), (7, 2), (8, 2)] {
            let report = with_rows(found.clone(), issued, voided);
            assert!(!report.clean, "{issued} issued, {voided} voided");
        }
        let faults = with_rows(found, 6, 1).faults();
        assert_eq!(
            faults,
            [
                "issued rows is 7 in Redis and 6 in the ledger",
                "stock = remaining + issued - voided is 10 in Redis and 9 in the ledger",
            ]
        );
    }

    #[test]
    fn each_number_that_differs_is_found() {
        let changes: [fn(&mut Checkpoint); 9] = [
            |redis| redis.status = Status::Suspended,
            |redis| redis.version += 1,
            |redis| redis.stock += 1,
            |redis| redis.sequence += 1,
            |redis| redis.voided += 1,
            |redis| redis.arrivals += 1,
            |redis| redis.queued -= 1,
            |redis| redis.dead = 0,
            |redis| redis.requests -= 1,
        ];
        for (i, change) in changes.into_iter().enumerate() {
            let (Side(mut redis), books) = both();
            change(&mut redis);
            let report = compare(&Side(redis), &books);
            assert!(!report.clean && !report.faults().is_empty(), "change {i}");
        }
    }

    #[test]
    fn both_may_agree_and_be_wrong() {
        let (Side(mut redis), mut books) = both();
        (redis.stock, books.stock) = (5, 5);
        let report = compare(&Side(redis), &books);
        assert!(!report.clean, "6 are out of 5: {report:?}");
    }
}
