//! Reads the text fields of an event.

use std::collections::BTreeMap;

use jackpot_core::ids::Id;
use jackpot_core::jackpot::batch_record::BatchRecord;
use jackpot_core::jackpot::call::Call;
use jackpot_core::jackpot::epoch::Opening;
use jackpot_core::jackpot::record::Reason;

use super::{Checkpoint, Claim, ClaimResult, Define, Enter, Event, Kind, MeterChange};
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

/// Lengths in hexadecimal digits.
const NONCE_DIGITS: usize = 32;
const SECRET_ID_DIGITS: usize = 16;
const COMMITMENT_DIGITS: usize = 64;

/// Reads the whole event.
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
        "enter" => Kind::Enter(parse_enter(fields)?),
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

/// What opened the epoch that an event names.
fn parse_opening(fields: &Fields<'_>) -> Result<Opening, Unreadable> {
    Ok(Opening {
        commitment: fields.hex("commitment", COMMITMENT_DIGITS)?,
        nonce: fields.hex("epoch_nonce", NONCE_DIGITS)?,
        secret_id: fields.hex("secret_id", SECRET_ID_DIGITS)?,
    })
}

fn parse_enter(fields: &Fields<'_>) -> Result<Enter, Unreadable> {
    let field = |name: &str| fields.0.get(name).map(String::as_str);
    let call = Call::parse(field).map_err(|field| fields.wrong(field))?;
    let record = fields.optional::<String>("record")?;
    let record = record.map(|text| BatchRecord::parse(&text).ok_or_else(|| fields.wrong("record")));
    let batch_record = record.transpose()?;
    if batch_record.is_some() != call.batch.is_some() {
        return Err(fields.wrong("record"));
    }
    let may_be = if call.batch.is_some() { is_of_the_call } else { is_first };
    let claims = fields.read("claims", |text| parse_claims(text, may_be))?;
    let is_taken = |claim: &Claim| call.entry(claim.sequence).is_some();
    if !claims.is_sorted_by_key(|claim| claim.sequence) || !claims.iter().all(is_taken) {
        return Err(fields.wrong("claims"));
    }
    Ok(Enter {
        call,
        claims,
        batch_record,
        of_call: fields.optional::<u8>("call")?.is_some(),
    })
}

/// `name pool reserve ... wins;` for each tier.
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

/// Whether a single entry's first claim may have this result. A single entry ends by an event of its own, and coupons
/// answer later.
fn is_first(result: &ClaimResult) -> bool {
    *result != ClaimResult::Ended && is_of_the_call(result)
}

/// Whether a claim in the call that took the entry may have this result.
fn is_of_the_call(result: &ClaimResult) -> bool {
    !matches!(result, ClaimResult::Issued { .. } | ClaimResult::Refused { .. })
}

/// `seq,attempt,rank,result,tier,amount,order,pool before;` for each claim; for a coupon
/// `...,result,coupon,sequence,code,0;`.
fn parse_claims(text: &str, may_be: fn(&ClaimResult) -> bool) -> Option<Vec<Claim>> {
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

/// `tier meter:delta ...;` for each tier.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The event of a batch of three.
    fn batch(change: &[(&str, &str)]) -> BTreeMap<String, String> {
        let all = [
            ("n", "9"),
            ("at", "5"),
            ("history", "00112233aabbccdd"),
            ("type", "enter"),
            ("epoch", "1"),
            ("version", "2"),
            ("first", "11"),
            ("count", "3"),
            ("block", "p1 10 *\np2 20 s\np1 10 *"),
            ("skip", ""),
            ("amounts", "10=1,500000,0,0/0,0,2,0;20=3,0,0,0/0,0,0,0;"),
            ("runs", "1 100,0,0,-/7,0,0,50;3 0,0,500000,-/7,0,0,50;"),
            ("call", ""),
            (
                "claims",
                "11,0,2,retry,mini,0,0,7;11,1,0,none,-,0,0,0;12,0,1,paid,grand,104,1,104;",
            ),
            ("meters", ""),
            ("applied", ""),
            ("batch", "b1"),
            ("split", ""),
            ("record", "11 3 f 1 grand+8+1,mini+6+7 1,2"),
        ];
        let mut fields: BTreeMap<String, String> = all.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        for (name, value) in change {
            fields.insert((*name).to_owned(), (*value).to_owned());
        }
        fields
    }

    /// The same entries with ids of their own.
    fn single(change: &[(&str, &str)]) -> BTreeMap<String, String> {
        let own = [
            ("block", "a p1 10 *\nb p2 20 s\nx p9 10 *\nc p1 10 *"),
            ("skip", "3"),
            ("call", "1"),
            ("claims", "11,0,2,retry,mini,0,0,7;12,0,1,paid,grand,104,1,104;"),
        ];
        let mut fields = batch(&[&own, change].concat());
        for name in ["batch", "split", "record"] {
            fields.remove(name);
        }
        fields
    }

    fn enter(fields: &BTreeMap<String, String>) -> Enter {
        match event(fields).expect("readable").kind {
            Kind::Enter(enter) => enter,
            other => panic!("{other:?}"),
        }
    }

    fn entries(enter: &Enter) -> Vec<String> {
        let one = |entry: &super::super::Entered| {
            let added = entry.contributions.iter().map(|c| format!(" {}+{}", c.pool, c.amount));
            format!("{} {}{}", entry.entry_id, entry.sent.player, added.collect::<String>())
        };
        enter.call.entries.iter().map(one).collect()
    }

    #[test]
    fn a_batch_and_single_entries_are_read_alike() {
        let (batch, single) = (enter(&batch(&[])), enter(&single(&[])));
        assert_eq!(
            entries(&batch),
            ["b1:1 p1 101+1 7+2", "b1:2 p2 104+3 7+0", "b1:3 p1 1+2 7+2"]
        );
        assert_eq!(entries(&single), ["a p1 101+1 7+2", "b p2 104+3 7+0", "c p1 1+2 7+2"]);
        assert_eq!((batch.claims.len(), &batch.claims[1].result), (3, &ClaimResult::Ended));
        assert_eq!(batch.claims_of(11), &batch.claims[..2]);
        assert_eq!(batch.claims_of(13), []);
        let (id, record) = batch.batch().expect("a batch");
        assert_eq!((id.as_str(), &record.winners[..]), ("b1", &[1, 2][..]));
        assert_eq!((batch.records(), batch.of_call), (3, false));
        assert_eq!((single.records(), single.of_call), (3, true));
    }

    #[test]
    fn whatever_does_not_fit_is_unreadable() {
        for (field, value) in [
            ("batch", "b:1"),
            ("block", "p1 10 *\np2 20\np1 10 *"),
            ("block", "b1:1 p1 10 *\np2 20 s\np1 10 *"),
            ("block", ""),
            ("count", "2"),
            ("first", "x"),
            ("first", "18446744073709551615"),
            ("amounts", "10=1,0,0,0/0,0,2,0;"),
            ("runs", "1 100,0,0,-/7,0,0,50;4 0,0,0,-/7,0,0,50;"),
            ("runs", ""),
            ("claims", "10,0,2,retry,mini,0,0,7;"),
            ("claims", "14,0,2,retry,mini,0,0,7;"),
            ("claims", "12,0,2,retry,mini,0,0,7;11,0,2,retry,mini,0,0,7;"),
            ("claims", "11,0,2,none,-,0,0,0;"),
            ("record", "7 7 f"),
            ("record", ""),
        ] {
            let error = event(&batch(&[(field, value)])).expect_err(value);
            assert_eq!((error.field, &*error.n), (field, "9"), "{value}");
        }
    }

    #[test]
    fn only_an_entry_of_a_batch_ends_with_its_claims() {
        let ends = [("type", "claim"), ("entry", "e"), ("claims", "11,1,0,none,-,0,0,0;")];
        assert_eq!(event(&batch(&ends)).expect_err("refused").field, "claims");
        assert_eq!(event(&single(&ends[2..])).expect_err("refused").field, "claims");
    }
}
