//! What a room's events have for the tables.

use super::Rooms;
use crate::ledger::projector::batch::{self, Raw, Stop};
use crate::ledger::projector::rows::DefinitionRow;
use crate::ledger::projector::write::{WriteError, definitions};
use crate::ledger::rooms::audit;
use crate::ledger::rooms::event::{Event, Kind};
use crate::ledger::rooms::report::compare;
use crate::ledger::sql::Tx;

type Batch = batch::Batch<Rooms>;
type Start<'a> = batch::Start<'a, Rooms>;

/// What a batch of a room's events writes, beside what is written of all kinds.
#[derive(Debug, Default)]
pub struct Rows {
    /// Definitions that were put.
    pub definitions: Vec<DefinitionRow>,
}

impl Batch {
    /// Reads an event, applies it, and adds its rows.
    pub(super) fn take(&mut self, start: &Start<'_>, raw: &Raw) -> Result<(), Stop> {
        let event = Event::parse(&raw.fields)?;
        let (n, at_ms) = (event.n, event.at_ms);
        let before = self.books.clone();
        self.books.apply(&event)?;
        let action = audit::action(start.id, &event, &raw.fields, (&before, &self.books));
        self.actions.extend(action.map(|action| (n, at_ms, action)));
        match event.kind {
            Kind::Define(define) => self.rows.definitions.push(DefinitionRow {
                version: define.version,
                n,
                at_ms,
                json: define.json,
            }),
            Kind::Checkpoint(redis) => self.report = Some((n, at_ms, compare(&redis, &self.books))),
            Kind::Opened(_) | Kind::Status { .. } | Kind::Restore { .. } => {}
        }
        Ok(())
    }
}

/// The tables that only rooms have, in the transaction of their events.
pub(super) async fn write(tx: &mut Tx<'_>, batches: &[&Batch]) -> Result<(), WriteError> {
    let all = batches
        .iter()
        .map(|batch| (&batch.id, batch.rows.definitions.as_slice()));
    Ok(definitions(tx, "room_definitions", "room_id", all).await?)
}
