//! Reading the text fields of an event.

use std::collections::BTreeMap;

use jackpot_core::ids::Id;
use jackpot_core::jackpot::call_record::Rows;
use jackpot_core::jackpot::epoch::Opening;
use jackpot_core::jackpot::record::{Reason, Sent};

use super::batch::parse_batch;
use super::{Checkpoint, Claim, ClaimResult, Define, Entered, Event, Kind, MeterChange};
use crate::jackpot::view::Status;
use crate::ledger::events::{Fields, Unreadable, parse_held};
use crate::ledger::skipped::{self, Skipped};

/// The meters of a tier in the order in which scripts write them.
const METERS: [&str; 11] = [
    "pool",
    "reserve",
    "overflow",
    "pool_micro",
    "reserve_micro",
    "contributed",
    "contributed_micro",
    "funded",
    "paid",
    "wins",
    "pool_written",
];

/// Hexadecimal digits of each.
const NONCE_DIGITS: usize = 32;
const SECRET_ID_DIGITS: usize = 16;
const COMMITMENT_DIGITS: usize = 64;

/// All of an event.
pub(super) fn event(fields: &BTreeMap<String, String>) -> Result<Event, Unreadable> {
    let fields = Fields(fields);
    Ok(Event {
        n: fields.parse("n")?,
        at_ms: fields.parse("at")?,
        history: fields.history()?,
        changes: fields.read("meters", parse_changes)?,
        applied: fields.optional("applied")?,
        kind: parse_kind(&fields)?,
    })
}

fn parse_kind(fields: &Fields<'_>) -> Result<Kind, Unreadable> {
    Ok(match fields.text("type")? {
        "define" => Kind::Define(parse_define(fields)?),
        "enter" if fields.0.contains_key("batch") => parse_batch(fields)?,
        "enter" => parse_enter(fields)?,
        "claim" => {
            let claim = fields
                .read("claims", |text| {
                    parse_claims(text, |result| *result != ClaimResult::Ended)
                })?
                .pop()
                .ok_or_else(|| fields.wrong("claims"))?;
            Kind::Claim {
                entry_id: fields.text("entry")?.to_owned(),
                claim,
            }
        }
        "finish" => Kind::Finish {
            entry_id: fields.text("entry")?.to_owned(),
            sequence: fields.parse("seq")?,
        },
        "status" => Kind::Status {
            before: fields.read("before", Status::parse)?,
            after: fields.read("after", Status::parse)?,
        },
        "adjust" => Kind::Adjust {
            adjustment_id: fields.read("adjustment", |id| Id::parse(id).ok())?,
            digest: fields.text("digest")?.to_owned(),
        },
        "checkpoint" => {
            let meters = fields.read("tiers", parse_meters)?;
            let held = fields.read("state", parse_held)?;
            Kind::Checkpoint(Checkpoint { held, meters })
        }
        "restore" => Kind::Restore {
            from_n: fields.optional("from_n")?,
            restores: fields.parse("restores")?,
            records: fields.parse("records")?,
            status: fields.read("status", Status::parse)?,
            closed: fields.parse("closed")?,
            epoch: fields.parse("epoch")?,
            opening: parse_opening(fields)?,
        },
        "retention" => Kind::Retention {
            before: fields.parse("before")?,
            retention_s: fields.parse("retention")?,
        },
        "rotate" => Kind::Rotate {
            epoch: fields.parse("epoch")?,
            opening: parse_opening(fields)?,
            dropped: fields.text("kind")? == "generation",
            pruned: fields.read("pruned", parse_numbers)?,
        },
        skipped::TYPE => Kind::Skipped(Box::new(Skipped::parse(fields)?)),
        _ => return Err(fields.wrong("type")),
    })
}

fn parse_define(fields: &Fields<'_>) -> Result<Define, Unreadable> {
    let created = match fields.text("mode")? {
        "created" => Some((fields.read("status", Status::parse)?, parse_opening(fields)?)),
        _ => None,
    };
    let (version, json) = (fields.parse("version")?, fields.text("json")?.to_owned());
    Ok(Define {
        version,
        json,
        tiers: fields.optional("tiers")?.unwrap_or_default(),
        money: fields.optional("money")?.unwrap_or_default(),
        retention_s: fields.optional("retention")?.unwrap_or_default(),
        currency: fields.text("currency")?.to_owned(),
        created,
        superseded: fields.optional("superseded")?,
        nonce: fields.text("nonce")?.to_owned(),
        mode: fields.text("mode")?.to_owned(),
    })
}

/// What opened the epoch that an event speaks of.
fn parse_opening(fields: &Fields<'_>) -> Result<Opening, Unreadable> {
    Ok(Opening {
        commitment: fields.hex("commitment", COMMITMENT_DIGITS)?,
        nonce: fields.hex("epoch_nonce", NONCE_DIGITS)?,
        secret_id: fields.hex("secret_id", SECRET_ID_DIGITS)?,
    })
}

fn parse_enter(fields: &Fields<'_>) -> Result<Kind, Unreadable> {
    let skipped = fields.read("skip", parse_numbers::<usize>)?;
    let lines = fields.text("block")?.lines().enumerate();
    let taken = lines.filter(|(place, _)| skipped.binary_search(&(place + 1)).is_err());
    let (places, taken) = taken.unzip::<_, _, Vec<_>, Vec<_>>();
    if taken.len() != fields.parse::<usize>("count")? {
        return Err(fields.wrong("count"));
    }
    let rows = fields.read("rows", Rows::parse)?;
    let added = rows.contributions(fields.text("runs")?, places.into_iter());
    let added = added.map_err(|field| fields.wrong(field))?;
    let entry = |(line, contributions): (&str, _)| {
        let (entry_id, sent) = line.split_once(' ')?;
        Some(Entered {
            entry_id: entry_id.to_owned(),
            sent: Sent::parse(sent)?,
            contributions,
        })
    };
    let entries = taken.into_iter().zip(added).map(entry).collect::<Option<Vec<_>>>();
    let entries = entries.ok_or_else(|| fields.wrong("block"))?;
    Ok(Kind::Enter {
        epoch: fields.parse("epoch")?,
        version: fields.parse("version")?,
        first: fields.parse("first")?,
        entries,
        claims: fields.read("claims", |text| parse_claims(text, is_first))?,
        batch: None,
        of_call: fields.optional::<u8>("call")?.is_some(),
    })
}

/// `name pool reserve ... wins;` each.
fn parse_meters(text: &str) -> Option<BTreeMap<String, i64>> {
    let mut meters = BTreeMap::new();
    for row in text.split_terminator(';') {
        let (tier, values) = row.split_once(' ')?;
        let values = values.split(' ').collect::<Vec<_>>();
        if values.len() != METERS.len() {
            return None;
        }
        for (name, value) in METERS.iter().zip(values) {
            meters.insert(format!("{tier}:{name}"), value.parse().ok()?);
        }
    }
    Some(meters)
}

/// `1,2,3`, or nothing.
pub(crate) fn parse_numbers<T: std::str::FromStr>(text: &str) -> Option<Vec<T>> {
    text.split_terminator(',').map(|number| number.parse().ok()).collect()
}

/// What a single entry's first claim may say: one that came alone ends by an event of its own, and coupons answer later.
fn is_first(result: &ClaimResult) -> bool {
    *result != ClaimResult::Ended && is_of_the_call(result)
}

/// What a claim in the call that took the entry may say.
pub(super) fn is_of_the_call(result: &ClaimResult) -> bool {
    !matches!(result, ClaimResult::Issued { .. } | ClaimResult::Refused { .. })
}

/// `seq,attempt,rank,result,tier,amount,order,pool before;` each, of a coupon `...,result,coupon,sequence,code,0;`.
pub(super) fn parse_claims(text: &str, may_be: fn(&ClaimResult) -> bool) -> Option<Vec<Claim>> {
    let claims = text
        .split_terminator(';')
        .map(parse_claim)
        .collect::<Option<Vec<_>>>()?;
    claims.iter().all(|claim| may_be(&claim.result)).then_some(claims)
}

pub(crate) fn parse_claim(text: &str) -> Option<Claim> {
    let parts = text.split(',').collect::<Vec<_>>();
    let [sequence, attempt, rank, result, tier, amount, order, before] = parts[..] else {
        return None;
    };
    let result = match result {
        "paid" => ClaimResult::Paid {
            tier: Id::parse(tier).ok()?,
            amount: amount.parse().ok()?,
            claim_order: order.parse().ok()?,
            pool_before: before.parse().ok()?,
        },
        "retry" => ClaimResult::Retry {
            tier: Id::parse(tier).ok()?,
            pool_before: before.parse().ok()?,
        },
        "later" => ClaimResult::Later,
        "issued" => ClaimResult::Issued {
            coupon_id: Id::parse(tier).ok()?,
            sequence: amount.parse().ok()?,
            code: order.to_owned(),
        },
        "out-of-stock" | "already-issued" | "not-open" => ClaimResult::Refused {
            coupon_id: Id::parse(tier).ok()?,
            reason: Reason::parse(result)?,
        },
        "none" if rank == "0" => ClaimResult::Ended,
        _ => return None,
    };
    Some(Claim {
        sequence: sequence.parse().ok()?,
        attempt: attempt.parse().ok()?,
        rank: rank.parse().ok()?,
        result,
    })
}

/// `tier meter:delta ...;` each.
pub(crate) fn parse_changes(text: &str) -> Option<Vec<MeterChange>> {
    let mut changes = Vec::new();
    for row in text.split_terminator(';') {
        let (tier, meters) = row.split_once(' ')?;
        for change in meters.split(' ') {
            let (meter, delta) = change.split_once(':')?;
            changes.push(MeterChange {
                tier: Id::parse(tier).ok()?,
                meter: meter.to_owned(),
                delta: delta.parse().ok()?,
            });
        }
    }
    Some(changes)
}
