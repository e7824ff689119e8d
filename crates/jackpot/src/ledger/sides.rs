//! Brings both sides of a comparison into one form.

use std::collections::BTreeMap;

use jackpot_core::jackpot::cycle::Cycles;

use super::books::{Books, Meters};
use super::event::Checkpoint;
use super::report::MetersAndState;
use crate::scripts::Snapshot;
use jackpot_api::jackpot::Status;

/// Fields of the state that the ledger does not have. `n` and `restores` say how far the stream is: the mark is
/// compared before. The other two say how old the newer generation is: each look of an instance writes them without
/// an event.
const NOT_TOLD: [&str; 4] = ["n", "restores", "gen_age", "gen_looked"];

/// The ledger's side.
pub fn of_books(books: &Books) -> MetersAndState {
    let mut meters = BTreeMap::new();
    for (tier, held) in &books.meters {
        for (name, value) in held.all() {
            meters.insert(format!("{tier}:{name}"), value);
        }
        meters.insert(format!("{tier}:pool_written"), held.pool);
        for (name, value) in held.moved() {
            meters.insert(format!("{tier}:{name}"), value);
        }
        let skipped = [("skipped", held.skipped), ("skipped_micro", held.skipped_micro)];
        for (name, value) in skipped.into_iter().filter(|(_, value)| *value != 0) {
            meters.insert(format!("{tier}:{name}"), value);
        }
    }
    MetersAndState {
        meters,
        state: state_of(&told(books)),
    }
}

/// What the state in Redis must be, by the names in `lua/jackpot/state.lua`.
fn told(books: &Books) -> BTreeMap<String, String> {
    let Books {
        terms,
        next_terms,
        generation,
        ..
    } = books;
    let (newer, older) = (books.records.all(), books.older_records.all());
    let (seen_a, seen_b) = if generation.letter == "b" {
        (older, newer)
    } else {
        (newer, older)
    };
    let number = |number: u64| number.to_string();
    let told = [
        ("status", books.status.map_or("", Status::as_str).to_owned()),
        ("version", number(books.version)),
        ("tiers", terms.tiers.clone()),
        ("money", terms.money.clone()),
        ("next", books.waiting.map(number).unwrap_or_default()),
        ("next_tiers", next_terms.tiers.clone()),
        ("next_money", next_terms.money.clone()),
        ("last_version", number(books.last_version)),
        (
            "currency",
            books.currency.map(|currency| currency.to_string()).unwrap_or_default(),
        ),
        ("seq", number(books.sequence)),
        ("order", number(books.claim_order)),
        ("epoch", number(books.epoch)),
        ("commitment", books.opening.commitment.clone()),
        ("nonce", books.opening.nonce.clone()),
        ("secret", books.opening.secret_id.clone()),
        ("history", books.history.clone()),
        ("gen", generation.letter.clone()),
        ("gen_start", number(generation.start)),
        ("gen_opened", generation.opened_ms.to_string()),
        ("gen_version", number(generation.version)),
        ("retention", number(books.retention_s)),
        ("pending", number(books.pending.len() as u64)),
        ("seen_a", number(seen_a)),
        ("seen_b", number(seen_b)),
        ("definitions", number(books.definitions)),
        ("adjustments", number(books.adjustments)),
    ];
    let cycles = [("cycles", in_order(books.held_cycles()))].into_iter();
    let cycles = cycles.filter(|(_, cycles)| !cycles.is_empty());
    let told = told.into_iter().chain(cycles).chain(books.used());
    told.map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Rules and cycles as text, the cycles by tier; empty for none. Redis has them in the order in which they first began.
fn in_order(mut cycles: Cycles) -> String {
    if cycles.is_empty() {
        return String::new();
    }
    cycles.rows.sort_by(|a, b| a.tier.cmp(&b.tier));
    cycles.text()
}

/// The compared fields, by their names in a report.
fn state_of(held: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let told = held.iter().filter(|(name, _)| !NOT_TOLD.contains(&name.as_str()));
    let named = told.map(|(name, value)| match name.as_str() {
        "seq" => ("sequence", value.clone()),
        "order" => ("claim_order", value.clone()),
        "cycles" => ("cycles", Cycles::parse(value).map_or_else(|| value.clone(), in_order)),
        other => (other, value.clone()),
    });
    let told = named.filter(|(name, value)| *name != "cycles" || !value.is_empty());
    told.map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Redis' side at a checkpoint.
pub fn of_checkpoint(redis: &Checkpoint) -> MetersAndState {
    of_redis(&redis.meters, &redis.held)
}

/// Redis' side as it stands.
pub fn of_snapshot(redis: &Snapshot) -> MetersAndState {
    of_redis(&redis.compared, &redis.held)
}

fn of_redis(meters: &BTreeMap<String, i64>, held: &BTreeMap<String, String>) -> MetersAndState {
    // The meters outside the packed ones are compared where they are not 0, as the books give them.
    let is_outside = |name: &str| Meters::MOVED.iter().any(|moved| name.ends_with(&format!(":{moved}")));
    let compared = meters.iter().filter(|(name, value)| **value != 0 || !is_outside(name));
    MetersAndState {
        meters: compared.map(|(name, value)| (name.clone(), *value)).collect(),
        state: state_of(held),
    }
}
