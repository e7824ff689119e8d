//! Both sides of a comparison, in one form.

use std::collections::BTreeMap;

use super::report::MetersAndState;
use crate::jackpot::scripts::Snapshot;
use crate::ledger::books::Books;
use crate::ledger::event::Checkpoint;

/// The ledger's side.
#[must_use]
pub fn of_books(books: &Books) -> MetersAndState {
    let mut all = BTreeMap::new();
    for (tier, meters) in &books.meters {
        all.extend(meters.all().map(|(name, value)| (format!("{tier}:{name}"), value)));
        let skipped = [("skipped", meters.skipped), ("skipped_micro", meters.skipped_micro)];
        let skipped = skipped.into_iter().filter(|(_, value)| *value != 0);
        all.extend(skipped.map(|(name, value)| (format!("{tier}:{name}"), value)));
    }
    MetersAndState {
        meters: all,
        status: books
            .status
            .map(|status| status.as_str().to_owned())
            .unwrap_or_default(),
        version: books.version,
        sequence: books.sequence,
        claim_order: books.claim_order,
        epoch: books.epoch,
        pending: books.pending.len() as u64,
    }
}

/// Redis' side at a checkpoint.
#[must_use]
pub fn of_checkpoint(redis: &Checkpoint) -> MetersAndState {
    MetersAndState {
        meters: redis.meters.clone(),
        status: redis.status.as_str().to_owned(),
        version: redis.version,
        sequence: redis.sequence,
        claim_order: redis.claim_order,
        epoch: redis.epoch,
        pending: redis.pending,
    }
}

/// Redis' side as it stands. The remainders of pool and reserve come as one: compare with [`joined`] books.
#[must_use]
pub fn of_snapshot(redis: &Snapshot) -> MetersAndState {
    let mut meters = BTreeMap::new();
    for meter in &redis.meters {
        let values = [
            ("pool", meter.pool),
            ("reserve", meter.reserve),
            ("overflow", meter.overflow),
            ("pool_micro", meter.remainder_micro),
            ("contributed", meter.contributed),
            ("contributed_micro", meter.contributed_micro),
            ("paid", meter.paid),
            ("wins", meter.wins),
        ];
        for (name, value) in values {
            // All are at most 2^53 - 1, which the scripts keep.
            let value = i64::try_from(value).unwrap_or(i64::MAX);
            meters.insert(format!("{}:{name}", meter.tier), value);
        }
        meters.insert(format!("{}:funded", meter.tier), meter.funded);
        meters.insert(format!("{}:reserve_micro", meter.tier), 0);
    }
    MetersAndState {
        meters,
        status: redis.status.as_str().to_owned(),
        version: redis.version,
        sequence: redis.sequence,
        claim_order: redis.claim_order,
        epoch: redis.epoch,
        pending: redis.pending,
    }
}

/// The ledger's side with both remainders in one, as a snapshot has them.
#[must_use]
pub fn joined(books: &Books) -> MetersAndState {
    let mut books = books.clone();
    for meters in books.meters.values_mut() {
        meters.pool_micro += meters.reserve_micro;
        meters.reserve_micro = 0;
    }
    of_books(&books)
}
