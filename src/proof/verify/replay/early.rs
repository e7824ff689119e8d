//! Replays reversals that came before their entries: what they wrote, whether an entry came after one that is for its
//! source, and that a reversal id has one entry.

use std::collections::{BTreeMap, BTreeSet};

use jackpot_core::ids::Id;
use jackpot_core::jackpot::batch_record;
use jackpot_core::jackpot::definition::Definition;
use jackpot_core::jackpot::document::ReverseBy;
use jackpot_core::jackpot::reversal::{self, EarlyCancel, EarlyRow, ReversalUse};
use jackpot_core::wire::Field;

use super::Replay;
use crate::jackpot::ledger::event::{Cancel, Enter, Entered, Event, Reverse};
use crate::proof::verify::report::{Place, Report};

/// The records of early cancels and of reversal ids, by name. It keeps two generations, like the service.
#[derive(Default)]
pub(super) struct EarlyCancels {
    newer: BTreeMap<String, String>,
    older: BTreeMap<String, String>,
}

impl EarlyCancels {
    fn get(&self, name: &str) -> Option<&String> {
        self.newer.get(name).or_else(|| self.older.get(name))
    }

    /// The records that a cancel writes.
    fn rows(&self, at_ms: i64, cancel: &Cancel, used: String) -> Vec<EarlyRow> {
        let own = EarlyCancel {
            reversal_id: cancel.reversal_id.clone(),
            by: cancel.by.clone(),
            at_ms,
        };
        let entry_id = &cancel.entry_id;
        let text = match self.get(entry_id) {
            Some(before) => format!("{before}+{own}"),
            None => format!("!{own}"),
        };
        let batch = entry_id
            .split_once(':')
            .map(|(batch, _)| (format!("{batch}:"), "!".to_owned()));
        let beside = [(reversal::use_field(&cancel.reversal_id), used)]
            .into_iter()
            .chain(batch);
        let beside = beside.filter(|(name, _)| !self.newer.contains_key(name));
        let all = [(entry_id.clone(), text)].into_iter().chain(beside);
        let row = |(name, text): (String, String)| EarlyRow {
            is_new: !self.newer.contains_key(&name),
            name,
            text,
        };
        all.map(row).collect()
    }

    /// Returns whether this use of a reversal id contradicts an earlier one.
    fn contradicts(&self, reversal_id: &Id, entry_id: &str, reason: Option<&str>) -> bool {
        let before = self.get(&reversal::use_field(reversal_id));
        before.is_some_and(|before| {
            ReversalUse::read(before).is_none_or(|before| {
                before.entry_id != entry_id || reason.is_some_and(|reason| before.reason != reason)
            })
        })
    }

    pub(super) fn rotate(&mut self) {
        self.older = std::mem::take(&mut self.newer);
    }
}

impl Replay {
    pub(super) fn cancel(&mut self, event: &Event, cancel: &Cancel, report: &mut Report) {
        let (n, entry_id) = (event.n, &cancel.entry_id);
        let batch = entry_id.split_once(':').map(|(batch, _)| batch);
        // An entry of a batch that is there is seen by its own id.
        if self.seen.get(entry_id).is_some() {
            report.wrong(
                Place::Event(n),
                format!("it cancels entry '{entry_id}' before it came, which was there"),
            );
        } else if batch.is_some_and(|batch| self.seen.get(&format!("{batch}:")).is_some()) {
            report.wrong(
                Place::Event(n),
                format!("it cancels entry '{entry_id}', whose batch was there without it"),
            );
        }
        let used = cancel.records.iter().find(|row| row.name.starts_with('~'));
        let used = used.and_then(|row| ReversalUse::read(&row.text));
        let known = self.early.get(&reversal::use_field(&cancel.reversal_id)).cloned();
        let reason = used.as_ref().map(|used| used.reason.as_str());
        if self.early.contradicts(&cancel.reversal_id, entry_id, reason) || (used.is_none() && known.is_none()) {
            let what = format!("reversal id '{}' was used for another entry", cancel.reversal_id);
            report.wrong(Place::Event(n), what);
        }
        let own = used.map(|used| {
            ReversalUse {
                entry_id: entry_id.clone(),
                ..used
            }
            .text()
        });
        let rows = self.early.rows(event.at_ms, cancel, own.or(known).unwrap_or_default());
        if rows != cancel.records {
            let (stated, right) = (cancel.records.text(), rows.text());
            report.wrong(
                Place::Event(n),
                format!("it writes the records '{stated}', which are '{right}'"),
            );
        }
        self.early
            .newer
            .extend(rows.into_iter().map(|row| (row.name, row.text)));
    }

    /// Checks that no reversal for its source came before an entry.
    pub(super) fn not_cancelled(&self, n: u64, entry: &Entered, definition: &Definition, report: &mut Report) {
        let Some(record) = self.early.get(&entry.entry_id) else {
            return;
        };
        let cancels = EarlyCancel::all(record).unwrap_or_default();
        let bound = cancels
            .iter()
            .find(|cancel| cancel.binds(definition, entry.sent.source_text()));
        if let Some(EarlyCancel { reversal_id, .. }) = bound {
            let what = format!(
                "entry '{}' was taken after reversal '{reversal_id}' of it",
                entry.entry_id
            );
            report.wrong(Place::Event(n), what);
        }
    }

    /// Drops the records that those of a call replaced, and compares them with the stated ones.
    pub(super) fn replaced(&mut self, n: u64, enter: &Enter, report: &mut Report) {
        let of_call = &enter.call;
        let batch = enter.batch().map(|(batch, _)| batch_record::field(batch));
        let is_batch = batch.is_some();
        let mut right = BTreeSet::new();
        let entries = (of_call.first..).zip(&of_call.entries);
        let written = entries.filter(|(sequence, _)| !is_batch || !enter.claims_of(*sequence).is_empty());
        let written = written.map(|(_, entry)| entry.entry_id.clone());
        for name in batch.into_iter().chain(written) {
            if self.early.newer.remove(&name).is_some() {
                right.insert(name);
            }
        }
        let stated: BTreeSet<_> = enter.replaced().iter().map(|replaced| replaced.name.clone()).collect();
        if stated != right {
            report.wrong(
                Place::Event(n),
                format!("it replaces the early cancels of {stated:?}, which are {right:?}"),
            );
        }
    }

    /// Checks the id of a reversal, and its key: events of versions that did not check them have no record of the id.
    pub(super) fn reversed_by(&mut self, n: u64, reverse: &Reverse, who: &str, report: &mut Report) {
        let id = &reverse.reversal_id;
        let used = reverse.used.as_ref();
        let reason = used.map(|used| used.reason.as_str());
        let is_other = used.is_some_and(|used| used.entry_id != reverse.entry_id);
        if is_other || self.early.contradicts(id, &reverse.entry_id, reason) {
            report.wrong(
                Place::Event(n),
                format!("reversal id '{id}' was used for another entry"),
            );
        }
        let Some(used) = used else {
            return;
        };
        self.early.newer.insert(reversal::use_field(id), used.text());
        let source = reverse.source_id.as_ref().map(Id::as_str);
        let in_force = self.definitions.get(&self.version);
        let is_named = |definition: &Definition| source.is_none_or(|source| definition.source(source).is_some());
        let names_it = in_force.filter(|definition| is_named(definition));
        let definition = names_it.or_else(|| self.definitions.get(&reverse.version));
        let by_key = in_force.is_some_and(|definition| definition.document().reverse_by == ReverseBy::Play);
        if by_key && definition.is_some_and(|definition| definition.forbids(source, who)) {
            let (entry_id, source) = (&reverse.entry_id, source.unwrap_or_default());
            let what = format!("key '{who}' reverses entry '{entry_id}', whose source '{source}' it may not send");
            report.wrong(Place::Event(n), what);
        }
    }
}
