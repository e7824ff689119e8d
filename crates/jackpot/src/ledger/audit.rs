//! What operators did to a jackpot, out of its events. Pure.

use jackpot_core::fields::EventFields;
use jackpot_core::ids::Id;
use jackpot_core::jackpot::leaving::Leaving;
use serde_json::{Value, json};

use crate::ledger::books::{Books, Meters};
use crate::ledger::carried::Carried;
use crate::ledger::event::{Event, Kind};
use jackpot_kernel::ledger::audit::{Action, Done};
use jackpot_kernel::ledger::skipped::Skipped;

/// The action that an event records, if any. Takes the books before and after it, and the last definition that was
/// put before it (JSON).
pub fn action(
    jackpot: &Id,
    event: &Event,
    fields: &EventFields,
    before: &Books,
    after: &Books,
    last_definition: &str,
) -> Option<Action> {
    let text = |name: &str| fields.get(name).unwrap_or_default();
    let done = match &event.kind {
        Kind::Define(define) => Done::define(
            (before.last_version, last_definition),
            (after.last_version, &define.json),
        ),
        Kind::Status { change, .. } => {
            let done = Done::status(change.before.as_str(), change.after.as_str());
            match event.applied {
                Some(version) => done.with_version(before.version, version),
                None => done,
            }
        }
        Kind::Emergency(obeyed) => Done::obeyed(*obeyed),
        Kind::Adjust(adjust) => {
            let tier = adjust.tier.as_str();
            let held = |books: &Books| held(tier, books.meters.iter().find(|(id, _)| id.as_str() == tier));
            let name = if adjust.asked.is_some() {
                "approve-adjustment"
            } else {
                "adjust"
            };
            Done::new(name, held(before), held(after)).to(&adjust.adjustment_id)
        }
        Kind::Ask(ask) => {
            let (name, id) = match ask.leaving() {
                Leaving::Adjustment(id) => ("hold-adjustment", id),
                Leaving::Transfer(id) => ("hold-transfer", id),
            };
            let after =
                json!({"state": "held", "owner": ask.owner, "amount": ask.amount, "to": ask.to, "what": ask.what});
            Done::new(name, json!({}), after).to(id)
        }
        Kind::Withdraw(ends) => {
            let (name, id) = match ends.leaving() {
                Leaving::Adjustment(id) => ("withdraw-adjustment", id),
                Leaving::Transfer(id) => ("withdraw-transfer", id),
            };
            Done::new(name, json!({"state": "held"}), json!({"state": "withdrawn"})).to(id)
        }
        Kind::Give(give) => {
            let held = |books: &Books| {
                let tiers = give.parts.iter().map(|part| {
                    let tier = part.tier.as_str();
                    held(tier, books.meters.iter().find(|(id, _)| id.as_str() == tier))
                });
                json!({"to": give.to, "tiers": tiers.collect::<Vec<_>>()})
            };
            let name = if give.asked.is_some() {
                "approve-transfer"
            } else {
                "transfer"
            };
            Done::new(name, held(before), held(after)).to(&give.transfer_id)
        }
        Kind::Reverse(reverse) => {
            let held = |books: &Books| {
                let tiers = reverse.reversed.iter().map(|part| {
                    let tier = part.tier.as_str();
                    held(tier, books.meters.iter().find(|(id, _)| id.as_str() == tier))
                });
                json!({"tiers": tiers.collect::<Vec<_>>()})
            };
            Done::new("reverse", held(before), held(after)).to(&reverse.entry_id)
        }
        Kind::Payout(step) => {
            let settlement = |text: &str| (!text.is_empty()).then(|| text.to_owned());
            let after = json!({"state": step.after.as_str(), "tier": step.tier, "amount": step.amount,
                "approved_by": settlement(&step.approved_by), "settlement_id": settlement(&step.settlement_id)});
            let before = json!({"state": step.before.as_str()});
            Done::new(step.step.as_str(), before, after).to(&step.payout_id)
        }
        Kind::Approval(_) => Done::new("approve-limit", limit(before), limit(after)),
        Kind::Rotate { .. } if text("kind") == "epoch" => {
            Done::new("rotate", json!({"epoch": before.epoch}), json!({"epoch": after.epoch}))
        }
        Kind::Restore { rebuilt, .. } => Done::restore(rebuilt.from_n, after.n, after.restores),
        Kind::Skipped(skipped) => {
            let was = json!({"why": skipped.why, "event": skipped.raw});
            Done::new("skip", was, skipped_after(event, skipped)).to(event.n)
        }
        _ => return None,
    };
    Some(done.action(jackpot, fields))
}

/// Under what payouts are tracked.
fn limit(books: &Books) -> Value {
    let terms = books.settlement_terms();
    json!({"settlement": terms.settlement.as_str(), "approval_above": terms.approval_above})
}

/// What is carried on from a skipped event, for people.
fn skipped_after(event: &Event, skipped: &Skipped<Carried>) -> Value {
    let Carried {
        records, paid, books, ..
    } = &skipped.carried;
    let moved = event.changes.iter();
    let moved = moved.map(|change| json!({"tier": change.tier, "meter": &*change.meter, "delta": change.delta}));
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
    let meters = meters.map(|(_, meters)| *meters).unwrap_or_default();
    let (funded, _) = meters.by_operators();
    let Meters {
        pool,
        reserve,
        overflow,
        ..
    } = meters;
    json!({"tier": tier, "pool": pool, "reserve": reserve, "overflow": overflow, "funded": funded})
}
