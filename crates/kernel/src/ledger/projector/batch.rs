//! Events of one stream, checked and turned into the rows of one transaction.

use jackpot_core::chain;
use jackpot_core::ids::Id;
use jackpot_core::signing::KeyPair;
use thiserror::Error;

pub use super::rows::{Cursor, Raw};
use super::rows::{DefinitionRow, EventRow};
use crate::ledger::audit::Action;
use crate::ledger::events::FoldError;
use crate::ledger::events::Unreadable;
use crate::ledger::kind::{Folded, Folds, RowsOf, Tables};
use crate::ledger::reconcile::report::Report;

/// Why an event can't be applied.
#[derive(Debug, Error)]
pub enum Stop {
    /// None of our scripts wrote it.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    /// It does not follow from the previous events.
    #[error(transparent)]
    Fold(#[from] FoldError),
}

/// Events in one piece, ready to be committed.
#[derive(Debug)]
pub struct Batch<K: Folds> {
    pub id: Id,
    /// The cursor where it begins; the cursor in SQL must still stand there.
    pub from: Cursor,
    /// The cursor where it ends.
    pub to: Cursor,
    /// The books at its end.
    pub books: K::Books,
    /// The events for the record.
    pub events: Vec<EventRow>,
    /// Definitions that were put.
    pub definitions: Vec<DefinitionRow>,
    /// Operators' actions, with event and time.
    pub actions: Vec<(u64, i64, Action)>,
    /// The last comparison with Redis: event, time, result.
    pub report: Option<(u64, i64, Report)>,
    /// What the event that is being added moves between accounts; empty for nothing.
    pub moved: String,
    /// The rows of the tables that only its kind has.
    pub rows: RowsOf<K>,
    /// Why it ends before the last given event.
    pub stop: Option<Stop>,
}

/// What every batch of an instance is made with.
#[derive(Clone, Copy)]
pub struct With<'a> {
    /// Signs receipts.
    pub key: &'a KeyPair,
    /// Whether entries are indexed by player.
    pub index_entries: bool,
}

/// Where a batch begins, and what it is made with.
pub struct Start<'a, K: Folds> {
    pub id: &'a Id,
    /// The last event committed.
    pub cursor: &'a Cursor,
    /// The books at the cursor.
    pub books: &'a K::Books,
    /// What its stream keeps in memory for the kind's own tables.
    pub tables: &'a K::Tables,
    pub with: With<'a>,
}

impl<K: Folds> Batch<K> {
    /// Takes events until one can't be applied. The events before it stay in the batch.
    pub fn build(start: &Start<'_, K>, events: &[Raw]) -> Self {
        let mut batch = Self {
            id: start.id.clone(),
            from: start.cursor.clone(),
            to: start.cursor.clone(),
            books: start.books.clone(),
            events: Vec::with_capacity(events.len()),
            definitions: Vec::new(),
            actions: Vec::new(),
            report: None,
            moved: String::new(),
            rows: start.tables.rows(&start.with),
            stop: None,
        };
        for (i, raw) in events.iter().enumerate() {
            if let Err(stop) = batch.add(start, raw) {
                // An error spoils the books: build again without the event that caused it.
                return Self {
                    stop: Some(stop),
                    ..Self::build(start, &events[..i])
                };
            }
        }
        if let Some(last) = batch.events.last() {
            batch.to = last.cursor.clone();
        }
        batch
    }

    /// A definition was put by event `n`.
    pub fn define(&mut self, version: u64, n: u64, at_ms: i64, json: String) {
        self.definitions.push(DefinitionRow {
            version,
            n,
            at_ms,
            json,
        });
    }

    fn add(&mut self, start: &Start<'_, K>, raw: &Raw) -> Result<(), Stop> {
        K::take(self, start, raw)?;
        let body = chain::body(&raw.fields);
        let before = self.events.last().map_or(self.from.hash, |row| row.cursor.hash);
        self.events.push(EventRow {
            cursor: Cursor {
                n: self.books.n(),
                hash: before.next(&body),
                stream_id: raw.stream_id.clone(),
            },
            at_ms: self.books.at_ms(),
            kind: raw.fields.get("type").unwrap_or_default().to_owned(),
            last_sequence: self.books.sequence(),
            moved: std::mem::take(&mut self.moved),
            body,
        });
        Ok(())
    }
}
