//! An event that an operator skipped. The replay continues from the state that it carries; nothing of it is recomputed.

use jackpot_core::ids::PersonId;
use jackpot_core::jackpot::definition::Definition;
use jackpot_core::jackpot::document::Document;
use jackpot_core::jackpot::record::Record;
use jackpot_core::text::printable;

use super::seen::Seen;
use super::{Broken, Replay, broken};
use crate::jackpot::ledger::carried::{Carried, CarriedPayout};
use crate::jackpot::ledger::event::{Claim, ClaimResult, Event};
use crate::ledger::skipped::Skipped;
use crate::proof::verify::receipts::Paid;
use crate::proof::verify::report::Report;

/// Longest text of an operator or a skipped event in a line of the report, in characters.
const MAX_SHOWN: usize = 300;

/// An entry that a skipped event left pending. Its draw can't be recomputed.
#[derive(Debug, Clone)]
pub(super) struct CarriedPending {
    pub(super) player: PersonId,
    pub(super) version: u64,
}

impl Replay {
    /// Continues from the carried state. Returns the money that the event paid.
    pub(super) fn skipped(
        &mut self,
        event: &Event,
        skipped: &Skipped<Carried>,
        report: &mut Report,
    ) -> Result<Vec<Paid>, Broken> {
        let carried = &skipped.carried;
        report.unchecked(said(event, skipped));
        self.tiers.carry(&event.changes);
        for (version, json) in &carried.definitions {
            let document: Document =
                serde_json::from_str(json).map_err(|_| broken("a definition that it carries on can't be read"))?;
            let definition =
                Definition::stored(document).map_err(|_| broken("a definition that it carries on breaks the rules"))?;
            self.definitions.insert(*version, definition.into());
        }
        for (epoch, at_ms) in &carried.closed_epochs {
            if let Some(open) = self.epochs.get_mut(epoch) {
                open.2 = Some(*at_ms);
            }
        }
        for (epoch, opening, opened_ms) in &carried.epochs {
            self.epochs.insert(*epoch, (opening.clone(), *opened_ms, None));
        }
        let books = &carried.books;
        if books.version != self.version {
            let definition = self.definition(books.version)?;
            self.tiers.set_rules(&definition);
            self.cycles.rule(books.version, &definition);
            self.splits.clear();
        }
        // Which steps of payouts it took is not in what is carried on.
        self.settling.is_open |= self.settling.hold.is_some() || books.hold.is_some();
        self.settling.hold = books.held_hold();
        self.cycles.carry(books.held_cycles().rows, &event.cycles, books.status);
        self.tiers.pin(self.cycles.pinned());
        (self.version, self.waiting) = (books.version, books.waiting);
        (self.sequence, self.claim_order) = (books.sequence, books.claim_order);
        self.currency = books.currency;
        self.carry_waiting(&carried.adjustments);
        // Records of transfers are beside those of adjustments.
        let kept = carried.adjustments.iter().map(|(name, ..)| name);
        self.transfers
            .extend(kept.filter(|name| name.starts_with('!')).cloned());
        for record in &carried.records {
            self.seen.insert(record.id.trim_end_matches(':'), Seen::Skipped);
        }
        for entry in &carried.entries {
            self.seen.insert(&entry.entry_id, Seen::Skipped);
        }
        self.carry_pending(carried);
        let paid = carried.paid.iter();
        Ok(paid.filter_map(|paid| self.carried_payout(event, paid)).collect())
    }

    fn carry_pending(&mut self, carried: &Carried) {
        let books = &carried.books;
        self.draws.keep(|sequence| books.pending.contains_key(&sequence));
        for (sequence, pending) in &books.pending {
            if self.draws.drawing(*sequence).is_some() {
                continue;
            }
            let record = carried.records.iter().find(|record| record.id == pending.entry_id);
            let record = record.and_then(|record| Record::parse(&record.text).ok());
            let one = CarriedPending {
                player: pending.player_id.clone(),
                version: record.map_or(books.version, |record| record.version),
            };
            self.carried_pending.insert(*sequence, one);
            self.draws.carry(*sequence);
        }
    }

    fn carried_payout(&self, event: &Event, paid: &CarriedPayout) -> Option<Paid> {
        let (player, pool_before) = (paid.player_id.as_ref()?, paid.pool_before?);
        let claim = Claim {
            sequence: paid.sequence,
            attempt: 0,
            rank: paid.rank,
            result: ClaimResult::Paid {
                tier: paid.tier.clone(),
                amount: paid.amount,
                claim_order: paid.claim_order,
                pool_before,
            },
        };
        Paid::of(&self.jackpot, event, &paid.entry_id, player, &claim, self.currency)
    }
}

/// Describes the skip: why, and what the event moved.
fn said(event: &Event, skipped: &Skipped<Carried>) -> String {
    let moved = event.changes.iter();
    let moved = moved.map(|change| format!("{} {} {:+}", change.tier, change.meter, change.delta));
    let moved = moved.collect::<Vec<_>>().join(", ");
    let moved = if moved.is_empty() {
        "no money moved".to_owned()
    } else {
        format!("booked as Redis had it: {moved}")
    };
    let Carried { paid, records, .. } = &skipped.carried;
    let paid = paid
        .iter()
        .map(|paid| format!("{} to entry '{}'", paid.amount, printable(&paid.entry_id, MAX_SHOWN)))
        .collect::<Vec<_>>();
    let paid = if paid.is_empty() {
        String::new()
    } else {
        format!("; paid {}", paid.join(", "))
    };
    format!(
        "event {} was skipped ({}) because it could not be applied ({}): {moved}{paid}; {} records carried on, none of its \
         contributions, draws and claims recomputed",
        event.n,
        printable(&skipped.reason, MAX_SHOWN),
        printable(&skipped.why, MAX_SHOWN),
        records.len()
    )
}
