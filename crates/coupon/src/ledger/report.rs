//! Compares Redis with the ledger for a coupon at one event: its state, its number of rows in SQL, and the identity
//! of its stock. Pure.

use std::collections::{BTreeMap, BTreeSet};

use super::books::Books;
use super::event::Checkpoint;
use crate::definition::Definition;
use crate::scripts::Snapshot;
use jackpot_api::coupon::Status;
use jackpot_kernel::ledger::reconcile::report::{Report, StateRow};

/// What Redis holds of a coupon, by the names in `lua/coupon/state.lua`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Side(BTreeMap<String, String>);

/// Fields of the state that say how far the stream is; the mark is compared before.
const MARK: [&str; 2] = ["n", "restores"];

impl From<&Checkpoint> for Side {
    fn from(redis: &Checkpoint) -> Self {
        Self::of(&redis.held)
    }
}

impl From<&Snapshot> for Side {
    fn from(redis: &Snapshot) -> Self {
        Self::of(&redis.held)
    }
}

impl Side {
    fn of(held: &BTreeMap<String, String>) -> Self {
        let compared = held.iter().filter(|(name, _)| !MARK.contains(&name.as_str()));
        Self(compared.map(|(name, value)| (name.clone(), value.clone())).collect())
    }

    /// What the state in Redis must be, by the books.
    pub fn of_books(books: &Books) -> Self {
        let definition = Definition::from_json(&books.definition).ok();
        let of = |number: fn(&Definition) -> Option<String>| definition.as_ref().and_then(number).unwrap_or_default();
        let told = [
            ("status", books.status.map_or("", Status::as_str).to_owned()),
            ("version", books.version.to_string()),
            ("stock", books.stock.to_string()),
            ("per_user", of(|definition| Some(definition.per_user().to_string()))),
            ("window", of(|definition| Some(definition.window_ms()?.to_string()))),
            ("starts", of(|definition| Some(definition.starts_ms()?.to_string()))),
            ("ends", of(|definition| Some(definition.ends_ms()?.to_string()))),
            ("retention", books.retention_s.to_string()),
            ("history", books.history.clone()),
            ("seq", books.sequence.to_string()),
            ("voided", books.voided.to_string()),
            ("arrivals", books.arrivals.to_string()),
            ("queued", books.queued.to_string()),
            ("dead", books.dead.to_string()),
            ("requests", books.requests().to_string()),
            ("users", books.users.to_string()),
        ];
        let held = books.held.map(|held| ("held", held.as_str().to_owned()));
        let redeemed = (books.redeemed > 0).then(|| ("redeemed", books.redeemed.to_string()));
        Self(
            told.into_iter()
                .chain(held)
                .chain(redeemed)
                .map(|(name, value)| (name.to_owned(), value))
                .collect(),
        )
    }

    fn get(&self, name: &str) -> String {
        self.0.get(name).cloned().unwrap_or_else(|| "missing".to_owned())
    }

    /// Units that can be issued; below 0 when more are outstanding than the stock. A value that is no number counts
    /// as 0: the comparison of the state finds it.
    fn remaining(&self) -> i128 {
        let number = |name| self.get(name).parse::<i128>().unwrap_or_default();
        number("stock") - number("seq") + number("voided")
    }
}

/// Compares both sides at the same event.
pub fn compare(redis: &Side, ledger: &Books) -> Report {
    let ledger = Side::of_books(ledger);
    let names: BTreeSet<_> = redis.0.keys().chain(ledger.0.keys()).collect();
    let row = |name: &String| {
        let shown = if name == "seq" { "issued" } else { name };
        StateRow::of(shown, &redis.get(name), &ledger.get(name))
    };
    let mut state: Vec<_> = names.into_iter().map(row).collect();
    let left = [redis.remaining(), ledger.remaining()];
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

/// How many rows of each kind the ledger has at an event.
#[derive(Debug, Clone, Copy)]
pub struct Rows {
    pub issued: u64,
    /// How many of them are voided.
    pub voided: u64,
    /// How many of them are redeemed.
    pub redeemed: u64,
}

/// Adds how many issues the ledger's rows hold at the event of the report, and how many of them are voided and redeemed. Adds the
/// identity that joins both sides: Redis' stock = Redis' remaining + issued rows - voided rows.
pub fn with_rows(found: Report, rows: Rows) -> Report {
    let Rows {
        issued,
        voided,
        redeemed,
    } = rows;
    let mut state = found.state;
    let redis = |name: &str| {
        let row = state.iter().find(|row| row.name == name);
        row.map(|row| row.redis.clone()).unwrap_or_default()
    };
    let (stock, remaining) = (redis("stock"), redis("remaining"));
    // A coupon without redemptions has no such number in Redis.
    let used = Some(redis("redeemed")).filter(|used| !used.is_empty() || redeemed > 0);
    let used = used.map(|used| StateRow::of("redeemed rows", &used, &redeemed));
    let rows = [
        StateRow::of("issued rows", &redis("issued"), &issued),
        StateRow::of("voided rows", &redis("voided"), &voided),
    ];
    let sum = remaining
        .parse::<i128>()
        .map(|left| (left + i128::from(issued) - i128::from(voided)).to_string());
    let identity = StateRow::of("stock = remaining + issued - voided", &stock, &sum.unwrap_or_default());
    state.extend(rows);
    state.extend(used);
    state.push(identity);
    Report::of_state(state)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both() -> (Side, Books) {
        let definition = r#"{"name":"Coffee","stock":10,"per_user":2,"per_user_window_s":60}"#;
        let definition = Definition::check(serde_json::from_str(definition).unwrap()).unwrap();
        let books = Books {
            status: Some(Status::Open),
            version: 2,
            stock: 10,
            definition: definition.to_json(),
            sequence: 7,
            voided: 1,
            redeemed: 2,
            arrivals: 3,
            queued: 2,
            dead: 1,
            users: 5,
            retention_s: 7_200,
            ..Books::default()
        };
        (Side::of_books(&books), books)
    }

    #[test]
    fn what_agrees_is_clean_with_the_rows_that_belong_to_it() {
        let (redis, books) = both();
        let found = compare(&redis, &books);
        assert!(found.clean, "{found:?}");
        let rows = |issued, voided, redeemed| Rows {
            issued,
            voided,
            redeemed,
        };
        assert!(with_rows(found.clone(), rows(7, 1, 2)).clean);
        for (issued, voided, redeemed) in [
            (6, 1, 2),
            (8, 1, 2),
            (7, 0, 2),
            (7, 2, 2),
            (8, 2, 2),
            (7, 1, 0),
            (7, 1, 3),
        ] {
            let report = with_rows(found.clone(), rows(issued, voided, redeemed));
            assert!(!report.clean, "{issued} issued, {voided} voided, {redeemed} redeemed");
        }
        let faults = with_rows(found, rows(6, 1, 2)).faults();
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
        let (Side(names), _) = both();
        assert_eq!(names.len(), 17, "{names:?}");
        for name in names.keys() {
            let (Side(mut redis), books) = both();
            redis.insert(name.clone(), "8".to_owned());
            let (Side(mut less), _) = both();
            less.remove(name);
            for redis in [redis, less] {
                let report = compare(&Side(redis), &books);
                assert!(!report.clean && !report.faults().is_empty(), "{name}");
            }
        }
    }

    #[test]
    fn both_may_agree_and_be_wrong() {
        let (Side(mut redis), mut books) = both();
        books.stock = 5;
        redis.insert("stock".to_owned(), "5".to_owned());
        let report = compare(&Side(redis), &books);
        assert!(!report.clean, "6 are out of 5: {report:?}");
    }
}
