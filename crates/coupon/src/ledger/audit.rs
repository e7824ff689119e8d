//! What operators did to a coupon, out of its events. Pure.

use jackpot_core::fields::EventFields;
use jackpot_core::ids::Id;
use serde_json::json;

use super::books::Books;
use super::event::{Event, Kind};
use jackpot_kernel::ledger::audit::{Action, Done};

/// The action that an event records, if any. Takes the books before and after it.
pub fn action(coupon: &Id, event: &Event, fields: &EventFields, before: &Books, after: &Books) -> Option<Action> {
    let done = match &event.kind {
        Kind::Define(_) => Done::define((before.version, &before.definition), (after.version, &after.definition)),
        Kind::Void { unit, .. } => Done::new("void", json!("issued"), json!("voided")).to(&unit.request),
        Kind::Skipped(skipped) => {
            let records = skipped.carried.records.len();
            let is = json!({"records": records, "sequence": after.sequence, "voided": after.voided});
            Done::new("skip", json!({"why": skipped.why, "event": skipped.raw}), is).to(event.n)
        }
        Kind::Redrive { request, .. } => Done::new("redrive", json!("dead"), json!("queued")).to(request),
        Kind::Status(change) => Done::status(change.before.as_str(), change.after.as_str()),
        Kind::Emergency(obeyed) => Done::obeyed(*obeyed),
        Kind::Restore { rebuilt, .. } => Done::restore(rebuilt.from_n, after.n, after.restores),
        Kind::Issue { .. }
        | Kind::Serve { .. }
        | Kind::Redeem { .. }
        | Kind::Checkpoint(_)
        | Kind::Retention { .. }
        | Kind::Retire { .. } => {
            return None;
        }
    };
    Some(done.action(coupon, fields))
}
