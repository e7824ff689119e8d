//! Applies a room's events to its books.

use super::Rooms;
use crate::ledger::audit;
use crate::ledger::event::{Event, Kind};
use crate::ledger::report::compare;
use jackpot_kernel::ledger::projector::batch::{self, Raw, Stop};

type Batch = batch::Batch<Rooms>;
type Start<'a> = batch::Start<'a, Rooms>;

/// Reads an event and applies it.
pub(super) fn take(batch: &mut Batch, start: &Start<'_>, raw: &Raw) -> Result<(), Stop> {
    let event = Event::parse(&raw.fields)?;
    let (n, at_ms) = (event.n, event.at_ms);
    let before = batch.books.clone();
    batch.books.apply(&event)?;
    let action = audit::action(start.id, &event, &raw.fields, &before, &batch.books);
    batch.actions.extend(action.map(|action| (n, at_ms, action)));
    if let Kind::Checkpoint { held: redis } = event.kind {
        batch.report = Some((n, at_ms, compare(&redis, &batch.books)));
    }
    Ok(())
}
