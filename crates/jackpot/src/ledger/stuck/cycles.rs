//! The cycles right after a stuck event. Pure.
//!
//! A tier's newest cycle is that of the next checkpoint, unless a later event changes the tier's cycles before it. Then the
//! first such change says which one was open. What it began with is known from the books, or from the stuck event itself.

use std::collections::BTreeMap;

use jackpot_core::ids::Id;
use jackpot_core::jackpot::cycle::{CycleChange, CycleChanges, CycleRow, Cycles, EndedBy};
use jackpot_core::wire::{Field as _, OrDash};

use super::Skip;
use crate::ledger::books::Books;
use crate::ledger::carried::Carried;
use crate::ledger::event::MeterChange;

/// Commitment of a cycle whose begin can't be read. Its seed is never published, and nobody can check it.
const UNKNOWN: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// What later events and the checkpoint say of cycles.
#[derive(Debug, Default)]
pub(super) struct Later {
    /// The first change of each tier before the checkpoint.
    first: BTreeMap<Id, CycleChange>,
    /// The first cycle of each tier that begins before it.
    next: BTreeMap<Id, CycleRow>,
    /// What was reversed out of each pool before the checkpoint.
    reversed: BTreeMap<Id, u64>,
    /// The newest cycles in the checkpoint.
    pub(super) held: Vec<CycleRow>,
}

impl Later {
    pub(super) fn changed(&mut self, changes: &[CycleChange]) {
        for change in changes {
            let tier = match change {
                CycleChange::Began(row) => &row.tier,
                CycleChange::Ended { tier, .. } => tier,
            };
            self.first.entry(tier.clone()).or_insert_with(|| change.clone());
            if let CycleChange::Began(row) = change {
                self.next.entry(tier.clone()).or_insert_with(|| row.clone());
            }
        }
    }

    pub(super) fn reversed(&mut self, changes: &[MeterChange]) {
        for change in pool_changes(changes) {
            *self.reversed.entry(change.tier.clone()).or_default() += taken(change);
        }
    }
}

fn pool_changes(changes: &[MeterChange]) -> impl Iterator<Item = &MeterChange> {
    changes.iter().filter(|change| &*change.meter == "pool")
}

/// What a change took out of a pool.
fn taken(change: &MeterChange) -> u64 {
    u64::try_from(change.delta.saturating_neg()).unwrap_or_default()
}

impl Skip<'_> {
    /// Carries on the cycles, and returns what the event did with them. `changes`: the money that it moved.
    pub(super) fn cycles(&mut self, carried: &mut Carried, changes: &[MeterChange]) -> CycleChanges {
        let of_raw = self.raw.and_then(|raw| CycleChanges::read(raw.fields.get("cycles")?));
        let told = of_raw.unwrap_or_default();
        let later = &self.evidence.cycles;
        let mut after = self.books.cycles.clone();
        let tiers = after.keys().chain(later.first.keys()).cloned();
        let tiers: Vec<_> = tiers.chain(later.held.iter().map(|row| row.tier.clone())).collect();
        for tier in tiers {
            if let Some(row) = self.cycle_after(&tier, &told, changes) {
                after.insert(tier, row.text());
            }
        }
        let changes = self.explained(&told, &after).unwrap_or_else(|| {
            let both = after
                .iter()
                .filter_map(|(tier, row)| Some((tier, CycleRow::read(row)?)));
            let changes = both.flat_map(|(tier, row)| self.changes_of(tier, &row, carried));
            CycleChanges(changes.collect())
        });
        for change in &changes.0 {
            self.lines.push(match change {
                CycleChange::Began(row) => format!("cycle {} of tier '{}' began", row.cycle, row.tier),
                CycleChange::Ended { tier, cycle, by } => {
                    format!("cycle {cycle} of tier '{tier}' ended by {}", by.as_str())
                }
            });
        }
        for (tier, row) in &after {
            if CycleRow::read(row).is_some_and(|row| row.commitment.0.as_deref() == Some(UNKNOWN)) {
                self.lines.push(format!(
                    "what the open cycle of tier '{tier}' began with can't be read: its seed is never published"
                ));
            }
        }
        carried.books.cycles = after;
        changes
    }

    fn cycle_before(&self, tier: &Id) -> Option<CycleRow> {
        CycleRow::read(self.books.cycles.get(tier)?)
    }

    /// The newest cycle of a tier right after the event; `None` for none.
    fn cycle_after(&self, tier: &Id, told: &CycleChanges, changes: &[MeterChange]) -> Option<CycleRow> {
        let later = &self.evidence.cycles;
        let before = self.cycle_before(tier);
        let began = |cycle: Option<u64>| {
            let rows = told.0.iter().rev().filter_map(|change| match change {
                CycleChange::Began(row) => Some(row),
                CycleChange::Ended { .. } => None,
            });
            let mut rows = rows.filter(|row| row.tier == *tier);
            rows.find(|row| cycle.is_none_or(|cycle| row.cycle == cycle)).cloned()
        };
        match later.first.get(tier) {
            None => {
                let held = later.held.iter().find(|row| row.tier == *tier)?;
                let reversed = later.reversed.get(tier).copied().unwrap_or_default();
                Some(CycleRow {
                    reversed: held.reversed.saturating_sub(reversed),
                    ..held.clone()
                })
            }
            Some(CycleChange::Ended { cycle, .. }) => {
                let same = before.clone().filter(|row| row.is_open() && row.cycle == *cycle);
                let of_reversal = |change: &MeterChange| change.tier == *tier && change.meter.starts_with("reversed");
                let is_reversal = changes.iter().any(of_reversal);
                let of_tier = pool_changes(changes).filter(|change| is_reversal && change.tier == *tier);
                let same = same.map(|row| CycleRow {
                    reversed: row.reversed + of_tier.map(taken).sum::<u64>(),
                    ..row
                });
                // Cycles that follow a take share its nonce.
                let template = || later.next.get(tier).cloned().or_else(|| before.clone());
                let unknown = || {
                    let of = template()?;
                    // A cycle that ended without a take left its window to the next one: seconds from its own begin.
                    let from = of.floor().map(|floor| floor - self.at_ms.div_euclid(1_000));
                    Some(CycleRow {
                        cycle: *cycle,
                        commitment: OrDash(Some(UNKNOWN.to_owned())),
                        began: self.at_ms,
                        after: OrDash(from.map(|from| u64::try_from(from).unwrap_or_default())),
                        reversed: 0,
                        ..of
                    })
                };
                same.or_else(|| began(Some(*cycle))).or_else(unknown)
            }
            // It had none that was open.
            Some(CycleChange::Began(next)) => {
                began(None)
                    .filter(|row| row.cycle < next.cycle)
                    .or(before)
                    .map(|row| CycleRow {
                        commitment: OrDash(None),
                        ..row
                    })
            }
        }
    }

    /// What the event says it did, if that leads from the books to these cycles.
    fn explained(&self, told: &CycleChanges, after: &BTreeMap<Id, String>) -> Option<CycleChanges> {
        let mut rows = self.books.cycles.clone();
        for change in &told.0 {
            let (tier, row) = match change {
                CycleChange::Began(row) => (&row.tier, row.clone()),
                CycleChange::Ended { tier, cycle, .. } => {
                    let open = CycleRow::read(rows.get(tier)?).filter(|row| row.is_open() && row.cycle == *cycle)?;
                    let ended = CycleRow {
                        commitment: OrDash(None),
                        ..open
                    };
                    (tier, ended)
                }
            };
            rows.insert(tier.clone(), row.text());
        }
        let key = |rows: &BTreeMap<Id, String>| {
            let key = |row: &String| CycleRow::read(row).map(|row| (row.cycle, row.nonce, row.commitment.0));
            rows.values().map(key).collect::<Vec<_>>()
        };
        (rows.len() == after.len() && key(&rows) == key(after)).then(|| told.clone())
    }

    /// What must have happened to the cycles of a tier.
    fn changes_of(&self, tier: &Id, after: &CycleRow, carried: &Carried) -> Vec<CycleChange> {
        let before = self.cycle_before(tier);
        let is_same = |row: &CycleRow| row.cycle == after.cycle && row.nonce == after.nonce;
        let mut changes = Vec::new();
        if let Some(open) = before.as_ref().filter(|row| row.is_open())
            && !(is_same(open) && after.is_open())
        {
            let paid = carried.paid.iter().find(|paid| paid.tier == *tier);
            changes.push(CycleChange::Ended {
                tier: tier.clone(),
                cycle: open.cycle,
                by: match paid.map(|paid| paid.rank) {
                    Some(0) => EndedBy::MustHit,
                    Some(_) => EndedBy::Take,
                    None => EndedBy::Restart,
                },
            });
        }
        let is_known = after.commitment.0.as_deref() != Some(UNKNOWN);
        if after.is_open() && is_known && !before.as_ref().is_some_and(is_same) {
            changes.push(CycleChange::Began(after.clone()));
        }
        changes
    }
}

/// The newest cycles that a checkpoint shows.
pub(super) fn held(field: Option<&str>) -> Cycles {
    Cycles::parse(field.unwrap_or_default()).unwrap_or_default()
}

/// Whether the books have ever had a cycle.
pub(super) fn has_any(books: &Books, later: &Later) -> bool {
    !books.cycles.is_empty() || !later.held.is_empty() || !later.first.is_empty()
}
