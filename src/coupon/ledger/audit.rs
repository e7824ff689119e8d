//! What operators did to a coupon, out of its events. Pure.

use std::collections::BTreeMap;

use jackpot_core::ids::Id;
use serde_json::{Value, json};

use super::books::Books;
use super::event::{Event, Kind};
use crate::coupon::status::Status;
use crate::ledger::audit::Action;

/// The action that an event tells of, if it does; from the books before and after it.
#[must_use]
pub fn action(
    coupon: &Id,
    event: &Event,
    fields: &BTreeMap<String, String>,
    (before, after): (&Books, &Books),
) -> Option<Action> {
    let text = |name: &str| fields.get(name).cloned().unwrap_or_default();
    let mut target = coupon.to_string();
    let (action, was, is) = match &event.kind {
        Kind::Define(_) => {
            let version = |books: &Books| match serde_json::from_str::<Value>(&books.definition) {
                Ok(definition) => json!({"version": books.version, "definition": definition}),
                Err(_) => Value::Null,
            };
            ("define", version(before), version(after))
        }
        Kind::Void { request, .. } => {
            target = format!("{coupon}/{request}");
            ("void", json!("issued"), json!("voided"))
        }
        Kind::Skipped(skipped) => {
            target = format!("{coupon}/{}", event.n);
            let records = skipped.carried.records.len();
            let is = json!({"records": records, "sequence": after.sequence, "voided": after.voided});
            ("skip", json!({"why": skipped.why, "event": skipped.raw}), is)
        }
        Kind::Redrive { request, .. } => {
            target = format!("{coupon}/{request}");
            ("redrive", json!("dead"), json!("queued"))
        }
        Kind::Status { before, after } => {
            let action = match after {
                Status::Open => "resume",
                Status::Suspended => "suspend",
                Status::Ended => "close",
            };
            (action, json!(before.as_str()), json!(after.as_str()))
        }
        Kind::Restore { from_n, .. } => {
            let redis = json!({"redis_event": from_n});
            ("restore", redis, json!({"event": after.n, "restores": after.restores}))
        }
        Kind::Issue(..) | Kind::Serve(..) | Kind::Checkpoint(_) | Kind::Retention { .. } | Kind::Retire { .. } => {
            return None;
        }
    };
    Some(Action {
        who: text("who"),
        action,
        target,
        before: was.to_string(),
        after: is.to_string(),
        reason: text("reason"),
        request_id: text("request_id"),
    })
}
