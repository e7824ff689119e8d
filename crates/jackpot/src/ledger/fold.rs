//! Everything that the events of a jackpot give: its books, and what the books leave to tables of their own. Pure.
//!
//! What it cannot rebuild would be lost with Redis, so the tests compare it with Redis field by field.

use std::collections::{BTreeMap, HashMap};

use jackpot_core::jackpot::batch_record;
use jackpot_core::jackpot::epoch::{Epoch, Opening};
use jackpot_core::jackpot::reversal;

use super::books::Books;
use super::event::{Event, Kind};
use super::facts::Fact;
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
        let is_skipped = matches!(event.kind, Kind::Skipped(_));
        for fact in event.clone().into_facts() {
            match fact {
                Fact::Defined { version, json, .. } => _ = self.definitions.insert(version, json),
                Fact::Dropped(version) => _ = self.definitions.remove(&version),
                Fact::EpochClosed { epoch, at_ms } => {
                    let closed = self.epochs.iter_mut().filter(|open| open.epoch == epoch);
                    // That of a closed jackpot has ended before.
                    closed.for_each(|epoch| _ = epoch.closed_ms.get_or_insert(at_ms));
                }
                Fact::EpochOpened { epoch, opening, at_ms } => self.open_epoch(epoch, opening, at_ms),
                Fact::Recorded { name, content, at_ms } => {
                    let again = self.adjustments.insert(name, (content, at_ms)).is_some();
                    if again && !is_skipped {
                        return Err(unexpected("an adjustment, a transfer or room for one comes twice"));
                    }
                }
                Fact::Taken(enter) => {
                    let is_record = |text: &String| !text.starts_with(reversal::EARLY);
                    let of = |id: &String| self.seen.get(id).or_else(|| self.seen_before.get(id));
                    let seen = |id: &String| of(id).is_some_and(is_record);
                    let again = enter.batch().is_some_and(|(id, _)| seen(&batch_record::field(id)));
                    if again || enter.call.entries.iter().any(|entry| seen(&entry.entry_id)) {
                        return Err(unexpected("an entry or batch id comes twice"));
                    }
                }
                _ => {}
            }
        }
        if self.books.generation.n == event.n {
            self.seen_before = std::mem::take(&mut self.seen);
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
    fn open_epoch(&mut self, epoch: u64, opening: Opening, opened_ms: i64) {
        if let Some(last) = self.epochs.last_mut() {
            last.closed_ms.get_or_insert(opened_ms);
        }
        self.epochs.push(Epoch {
            epoch,
            opening,
            opened_ms,
            closed_ms: None,
        });
    }
}
