//! Compares Redis with the ledger for a room at one event: what decides who may be in, and for how long. Pure.

use super::books::Books;
use super::event::Checkpoint;
use crate::definition::Definition;
use jackpot_api::room::Status;
use jackpot_kernel::ledger::reconcile::report::{Report, StateRow};

/// Compares both sides at the same event.
pub fn compare(redis: &Checkpoint, ledger: &Books) -> Report {
    let definition = ledger.in_force();
    let of = |number: Option<u64>| number.map(|number| number.to_string()).unwrap_or_default();
    let in_force = |number: fn(&Definition) -> u64| of(definition.as_ref().map(number));
    let status = ledger.status.map(Status::as_str).unwrap_or_default();
    let rate = definition.as_ref().and_then(Definition::admissions_per_minute);
    let sha256 = |of: Option<&String>| of.cloned().unwrap_or_default();
    let listed = ledger.opened.as_ref().map(|opened| &opened.sha256);
    let state = vec![
        StateRow::of("status", &redis.status.as_str(), &status),
        StateRow::of("version", &redis.version, &ledger.version),
        StateRow::of("capacity", &redis.capacity, &in_force(Definition::capacity)),
        StateRow::of("session_ms", &redis.session_ms, &in_force(Definition::session_ms)),
        StateRow::of(
            "waiting_timeout_ms",
            &redis.waiting_timeout_ms,
            &in_force(Definition::waiting_timeout_ms),
        ),
        StateRow::of("admissions_per_minute", &of(redis.rate.0), &of(rate)),
        StateRow::of("opens_ms", &redis.opens_ms, &ledger.opens_ms),
        StateRow::of("passes_until_ms", &redis.passes_until_ms, &ledger.passes_until_ms),
        StateRow::of("commitment", &redis.commitment, &ledger.order.commitment),
        StateRow::of(
            "pre_queue_sha256",
            &sha256(redis.collected_sha256.0.as_ref()),
            &sha256(listed),
        ),
    ];
    Report::of_state(state)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::known::OrderOf;
    use crate::ledger::event::Opened;

    fn both() -> (Checkpoint, Books) {
        let text = format!(
            "open 2 10 60000 30000 5 7000 9000 {} {}",
            "5f".repeat(32),
            "a0".repeat(32)
        );
        let json = r#"{"capacity":10,"session_s":60,"waiting_timeout_s":30,"admissions_per_minute":5}"#;
        let books = Books {
            status: Some(Status::Open),
            version: 2,
            definition: json.to_owned(),
            order: OrderOf {
                nonce: "0f".repeat(16),
                commitment: "5f".repeat(32),
            },
            passes_until_ms: 9_000,
            opens_ms: 7_000,
            opened: Some(Opened {
                joined: 2,
                sha256: "a0".repeat(32),
            }),
            ..Books::default()
        };
        (Checkpoint::parse(&text).expect("readable"), books)
    }

    type Change = fn(&mut Checkpoint);

    #[test]
    fn each_that_differs_is_found() {
        let (redis, books) = both();
        let report = compare(&redis, &books);
        assert!(report.clean, "{report:?}");
        let changes: [(&str, Change); 10] = [
            ("status", |redis| redis.status = Status::Suspended),
            ("version", |redis| redis.version += 1),
            ("capacity", |redis| redis.capacity += 1),
            ("session_ms", |redis| redis.session_ms += 1),
            ("waiting_timeout_ms", |redis| redis.waiting_timeout_ms -= 1),
            ("admissions_per_minute", |redis| redis.rate.0 = None),
            ("opens_ms", |redis| redis.opens_ms -= 1),
            ("passes_until_ms", |redis| redis.passes_until_ms = 0),
            ("commitment", |redis| redis.commitment = "a0".repeat(32)),
            ("pre_queue_sha256", |redis| redis.collected_sha256.0 = None),
        ];
        for (name, change) in changes {
            let mut redis = redis.clone();
            change(&mut redis);
            let faults = compare(&redis, &books).faults();
            assert!(faults.len() == 1 && faults[0].starts_with(name), "{name}: {faults:?}");
        }
    }
}
