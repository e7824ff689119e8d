//! The last take of all of each tier, out of the events whose entries Redis remembers: a reversal asks whether one came
//! after its entry. Pure.

use std::collections::BTreeMap;

use jackpot_core::ids::Id;
use jackpot_core::jackpot::definition::{Definition, MoneyKind};
use jackpot_core::jackpot::reversal::Moved;

use super::books::Books;
use super::event::{ClaimResult, Event, Kind};

/// The rank of a claim that is a hit by a must-hit rule.
const MUST_HIT: u32 = 0;

/// The takes of the events so far.
#[derive(Debug, Default)]
pub struct Takes {
    definitions: BTreeMap<u64, Definition>,
    /// Number of the last entry.
    sequence: u64,
    /// Number of the last entry at the last take of all.
    last: BTreeMap<Id, u64>,
}

impl Takes {
    /// `definitions`: those that Redis keeps. An entry that Redis remembers has one of them.
    pub fn new(definitions: BTreeMap<u64, Definition>) -> Self {
        Self {
            definitions,
            ..Self::default()
        }
    }

    /// Applies the next event.
    pub fn follow(&mut self, event: &Event) {
        match &event.kind {
            Kind::Enter(enter) => {
                for (place, _) in enter.call.entries.iter().enumerate() {
                    let record = enter.call.record_of(place);
                    self.sequence = record.sequence;
                    let definition = self.definitions.get(&record.version);
                    for claim in enter.claims_of(record.sequence) {
                        let kind = definition.and_then(|definition| definition.money_prize(claim.rank));
                        let takes_all = claim.rank == MUST_HIT || kind.map(|prize| prize.kind) == Some(MoneyKind::All);
                        if let (ClaimResult::Paid { tier, .. }, true) = (&claim.result, takes_all) {
                            self.last.insert(tier.clone(), record.sequence);
                        }
                    }
                }
                return;
            }
            Kind::Skipped(skipped) => self.sequence = skipped.carried.books.sequence,
            _ => {}
        }
        // An event of one claim, or a skipped one, which does not state its claims in order.
        for change in &event.changes {
            if &*change.meter == "wins" && change.delta > 0 {
                self.last.insert(change.tier.clone(), self.sequence);
            }
        }
    }

    /// What Redis has of each tier outside the packed meters. A tier on which nothing of it happened has none.
    pub fn moved(&self, books: &Books) -> Vec<Moved> {
        let part = |value: i64| value.unsigned_abs();
        let row = |(tier, meters): (&Id, &super::books::Meters)| Moved {
            tier: tier.clone(),
            took_wins: part(meters.wins),
            took_sequence: self.last.get(tier).copied().unwrap_or_default(),
            reversed: part(meters.reversed),
            reversed_micro: part(meters.reversed_micro),
            funded_micro: part(meters.funded_micro),
            pool_reversed: 0,
            transferred_in: part(meters.transferred_in),
            transferred_in_micro: part(meters.transferred_in_micro),
            transferred_out: part(meters.transferred_out),
            transferred_out_micro: part(meters.transferred_out_micro),
            expected: part(meters.expected),
        };
        let used = books.meters.iter();
        let used = used.filter(|(_, meters)| meters.wins > 0 || meters.moved().next().is_some());
        used.map(row).collect()
    }
}
