//! What operators did to a jackpot, out of its events. Pure.

use std::collections::BTreeMap;

use jackpot_core::ids::Id;
use serde_json::{Value, json};

use crate::jackpot::ledger::books::{Books, Meters};
use crate::jackpot::ledger::carried::Carried;
use crate::jackpot::ledger::event::{Event, Kind};
use crate::jackpot::view::Status;
use crate::ledger::audit::Action;
use crate::ledger::skipped::Skipped;

/// The action that an event tells of, if it does; from the books before and after it, and the definition that was the
/// last one put before it (JSON).
#[must_use]
pub fn action(
    jackpot: &Id,
    event: &Event,
    fields: &BTreeMap<String, String>,
    (before, after): (&Books, &Books),
    last_definition: &str,
) -> Option<Action> {
    let text = |name: &str| fields.get(name).cloned().unwrap_or_default();
    let mut target = jackpot.to_string();
    let (action, was, is) = match &event.kind {
        Kind::Define(define) => {
            let version = |books: &Books, json: &str| match serde_json::from_str::<Value>(json) {
                Ok(definition) => json!({"version": books.last_version, "definition": definition}),
                Err(_) => Value::Null,
            };
            ("define", version(before, last_definition), version(after, &define.json))
        }
        Kind::Status { before, after } => {
            let action = match after {
                Status::Open => "resume",
                Status::Paused => "pause",
                Status::Suspended => "suspend",
                Status::Closed => "close",
            };
            (action, json!(before.as_str()), json!(after.as_str()))
        }
        Kind::Adjust { adjustment_id, .. } => {
            target = format!("{jackpot}/{adjustment_id}");
            let tier = text("tier");
            let held = |books: &Books| held(&tier, books.meters.iter().find(|(id, _)| id.as_str() == tier));
            ("adjust", held(before), held(after))
        }
        Kind::Rotate { .. } if text("kind") == "epoch" => {
            ("rotate", json!({"epoch": before.epoch}), json!({"epoch": after.epoch}))
        }
        Kind::Restore { from_n, .. } => {
            let redis = json!({"redis_event": from_n});
            ("restore", redis, json!({"event": after.n, "restores": after.restores}))
        }
        Kind::Skipped(skipped) => {
            target = format!("{jackpot}/{}", event.n);
            (
                "skip",
                json!({"why": skipped.why, "event": skipped.raw}),
                skipped_after(event, skipped),
            )
        }
        _ => return None,
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

/// What is carried on from a skipped event, for people.
fn skipped_after(event: &Event, skipped: &Skipped<Carried>) -> Value {
    let Carried {
        records, paid, books, ..
    } = &skipped.carried;
    let moved = event.changes.iter();
    let moved = moved.map(|change| json!({"tier": change.tier, "meter": change.meter, "delta": change.delta}));
    json!({
        "moved": moved.collect::<Vec<_>>(),
        "records": records.len(),
        "paid": paid.iter().map(|paid| json!({"entry_id": paid.entry_id, "player_id": paid.player_id, "tier": paid.tier,
            "amount": paid.amount, "claim_order": paid.claim_order})).collect::<Vec<_>>(),
        "sequence": books.sequence,
        "claim_order": books.claim_order,
    })
}

fn held(tier: &str, meters: Option<(&Id, &Meters)>) -> Value {
    let Meters {
        pool,
        reserve,
        overflow,
        funded,
        ..
    } = meters.map(|(_, meters)| *meters).unwrap_or_default();
    json!({"tier": tier, "pool": pool, "reserve": reserve, "overflow": overflow, "funded": funded})
}
