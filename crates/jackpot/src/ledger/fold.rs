//! Everything that the events of a jackpot give: its books, and what the books leave to tables of their own. Pure.
//!
//! What it cannot rebuild would be lost with Redis, so the tests compare it with Redis field by field.

use std::collections::{BTreeMap, HashMap};

use jackpot_core::jackpot::batch_record;
use jackpot_core::jackpot::epoch::{Epoch, Opening};
use jackpot_core::jackpot::reversal;

use super::books::Books;
use super::event::{Event, Kind};
use super::records::Records;
use jackpot_kernel::ledger::events::FoldError;

/// A rebuilt jackpot. Its size grows with the number of remembered entries.
#[derive(Debug, Clone, Default)]
pub struct Fold {
    pub books: Books,
    /// Definitions that are kept, JSON by version.
    pub definitions: BTreeMap<u64, String>,
    /// Epochs, the oldest first.
    pub epochs: Vec<Epoch>,
    /// Records of the newer generation, by entry id or `<batch_id>:`.
    pub seen: HashMap<String, String>,
    /// Records of the older generation.
    pub seen_before: HashMap<String, String>,
    /// Digest and time in ms by adjustment id, and the records of transfers beside them.
    pub adjustments: BTreeMap<String, (String, i64)>,
    records: Records,
}

impl Fold {
    /// Applies the next event. After an error the fold must not be used.
    pub fn apply(&mut self, event: &Event) -> Result<(), FoldError> {
        self.books.apply(event)?;
        let unexpected = |what| FoldError::Unexpected { n: event.n, what };
        for (name, content) in event.kind.records() {
            if self.adjustments.insert(name, (content, event.at_ms)).is_some() {
                return Err(unexpected("an adjustment, a transfer or room for one comes twice"));
            }
        }
        match &event.kind {
            Kind::Define(define) => {
                if let Some(created) = &*define.created {
                    self.open_epoch(1, &created.opening, event.at_ms);
                }
                if let Some(superseded) = define.superseded {
                    self.definitions.remove(&superseded);
                }
                self.definitions.insert(define.version, define.json.clone());
            }
            Kind::Rotate {
                epoch,
                opening,
                dropped,
                pruned,
                ..
            } => {
                self.open_epoch(*epoch, opening, event.at_ms);
                self.definitions.retain(|version, _| !pruned.contains(version));
                if *dropped {
                    self.seen_before = std::mem::take(&mut self.seen);
                }
            }
            Kind::Enter(enter) => {
                let is_record = |text: &String| !text.starts_with(reversal::EARLY);
                let of = |id: &String| self.seen.get(id).or_else(|| self.seen_before.get(id));
                let seen = |id: &String| of(id).is_some_and(is_record);
                let again = enter.batch().is_some_and(|(id, _)| seen(&batch_record::field(id)));
                if again || enter.call.entries.iter().any(|entry| seen(&entry.entry_id)) {
                    return Err(unexpected("an entry or batch id comes twice"));
                }
            }
            Kind::Restore { epoch, opening, .. } => self.open_epoch(*epoch, opening, event.at_ms),
            Kind::Skipped(skipped) => {
                let carried = &skipped.carried;
                self.definitions.extend(carried.definitions.iter().cloned());
                self.definitions
                    .retain(|version, _| !carried.dropped_versions.contains(version));
                for epoch in &mut self.epochs {
                    let closed = carried.closed_epochs.iter();
                    let closed = closed.filter(|(closed, _)| *closed == epoch.epoch);
                    epoch.closed_ms = closed.map(|(_, at_ms)| *at_ms).next().or(epoch.closed_ms);
                }
                for (epoch, opening, opened_ms) in &carried.epochs {
                    self.open_epoch(*epoch, opening, *opened_ms);
                }
                for (id, digest, at_ms) in &carried.adjustments {
                    self.adjustments.insert(id.clone(), (digest.clone(), *at_ms));
                }
                if self.books.generation.n == event.n {
                    self.seen_before = std::mem::take(&mut self.seen);
                }
            }
            _ => {}
        }
        if let Some(ended) = event.ended_epoch() {
            for epoch in self.epochs.iter_mut().filter(|epoch| epoch.epoch == ended) {
                epoch.closed_ms = Some(event.at_ms);
            }
        }
        let newer_from = self.books.generation.n;
        self.records.apply(event, &mut |written| {
            let generation = if written.entered_n > newer_from {
                &mut self.seen
            } else {
                &mut self.seen_before
            };
            generation.insert(written.entry_id.to_owned(), written.text);
        })
    }

    /// Opens an epoch, which closes the one before.
    fn open_epoch(&mut self, epoch: u64, opening: &Opening, opened_ms: i64) {
        if let Some(last) = self.epochs.last_mut() {
            last.closed_ms.get_or_insert(opened_ms);
        }
        self.epochs.push(Epoch {
            epoch,
            opening: opening.clone(),
            opened_ms,
            closed_ms: None,
        });
    }
}
