//! What operators did to a room, out of its events. Pure.

use jackpot_core::fields::EventFields;
use jackpot_core::ids::Id;
use serde_json::json;

use super::books::Books;
use super::event::{Event, Kind};
use jackpot_api::room::Status;
use jackpot_kernel::ledger::audit::{Action, Done};

/// The action that an event records, if any. Takes the books before and after it.
pub fn action(room: &Id, event: &Event, fields: &EventFields, before: &Books, after: &Books) -> Option<Action> {
    let done = match &event.kind {
        Kind::Define(_) => Done::define((before.version, &before.definition), (after.version, &after.definition)),
        Kind::Status(change) => Done::status(change.before.as_str(), change.after.as_str()),
        Kind::Emergency(obeyed) => Done::obeyed(*obeyed),
        Kind::Restore { rebuilt, .. } => Done::restore(rebuilt.from_n, after.n, after.restores),
        Kind::Skipped(skipped) => Done::new(
            "skip",
            json!({"why": skipped.why, "event": skipped.raw, "n": event.n}),
            json!({"version": after.version, "status": after.status.map(Status::as_str)}),
        ),
        Kind::Opened(_) | Kind::Checkpoint { .. } => return None,
    };
    Some(done.action(room, fields))
}
