//! What operators did to a room, out of its events. Pure.

use std::collections::BTreeMap;

use jackpot_core::ids::Id;
use serde_json::{Value, json};

use super::books::Books;
use super::event::{Event, Kind};
use crate::ledger::audit::Action;
use crate::room::status::Status;

/// The action that an event tells of, if it does; from the books before and after it.
#[must_use]
pub fn action(
    room: &Id,
    event: &Event,
    fields: &BTreeMap<String, String>,
    (before, after): (&Books, &Books),
) -> Option<Action> {
    let text = |name: &str| fields.get(name).cloned().unwrap_or_default();
    let (action, was, is) = match &event.kind {
        Kind::Define(_) => {
            let version = |books: &Books| match serde_json::from_str::<Value>(&books.definition) {
                Ok(definition) => json!({"version": books.version, "definition": definition}),
                Err(_) => Value::Null,
            };
            ("define", version(before), version(after))
        }
        Kind::Status { before, after } => {
            let action = match after {
                Status::Open => "resume",
                Status::Suspended => "suspend",
            };
            (action, json!(before.as_str()), json!(after.as_str()))
        }
        Kind::Restore { from_n, .. } => {
            let redis = json!({"redis_event": from_n});
            ("restore", redis, json!({"event": after.n, "restores": after.restores}))
        }
        Kind::Skipped(skipped) => {
            let is = json!({"version": after.version, "status": after.status.map(Status::as_str)});
            (
                "skip",
                json!({"why": skipped.why, "event": skipped.raw, "n": event.n}),
                is,
            )
        }
        Kind::Opened(_) | Kind::Checkpoint(_) => return None,
    };
    Some(Action {
        who: text("who"),
        action,
        target: room.to_string(),
        before: was.to_string(),
        after: is.to_string(),
        reason: text("reason"),
        request_id: text("request_id"),
    })
}
