//! Reads the text fields of an event.

use std::collections::BTreeMap;

use jackpot_core::wire::Field;

use crate::ledger::books::Meters;

use super::{Claim, ClaimResult, Enter, MeterChange, MeterDelta, TierChanges};

/// The field of an `enter` event that does not fit the others.
pub(super) fn wrong_in_enter(enter: &Enter) -> Option<&'static str> {
    let batch = enter.call.batch.is_some();
    if enter.batch_record.is_some() != batch {
        return Some("record");
    }
    let may_be = if batch { is_of_the_call } else { is_first };
    let is_drawn = |claim: &Claim| claim.result != ClaimResult::Ended || claim.rank == 0;
    let fits = |claim: &Claim| may_be(&claim.result) && is_drawn(claim) && enter.call.entry(claim.sequence).is_some();
    let in_order = enter.claims.is_sorted_by_key(|claim| claim.sequence);
    (!in_order || !enter.claims.iter().all(fits)).then_some("claims")
}

/// Whether the entries of a call share a record.
pub(super) fn is_of_call(text: &str) -> Option<bool> {
    match text {
        "" => Some(false),
        _ => text.parse::<u8>().is_ok().then_some(true),
    }
}

/// Whether a rotation dropped the older generation.
#[expect(clippy::unnecessary_wraps, reason = "events are read by functions of this form")]
pub(super) fn is_generation(kind: &str) -> Option<bool> {
    Some(kind == "generation")
}

/// The last claim of a `claim` event.
pub(super) fn only_claim(text: &str) -> Option<Claim> {
    let mut claims = Vec::<Claim>::read(text)?;
    let may_be = claims.iter().all(|claim| claim.result != ClaimResult::Ended);
    claims.pop().filter(|_| may_be)
}

/// For each tier its name, its meters and `pool_written`, then `;`.
pub(crate) fn held_meters(text: &str) -> Option<BTreeMap<String, i64>> {
    let mut meters = BTreeMap::new();
    for row in text.split_terminator(';') {
        let (tier, values) = row.split_once(' ')?;
        let values = values.split(' ').collect::<Vec<_>>();
        let names = Meters::NAMES.into_iter().chain(["pool_written"]).chain(Meters::MOVED);
        let usual = Meters::NAMES.len() + 1;
        // The last of those outside the packed meters is there only where it is not 0.
        let moved = usual + Meters::MOVED.len();
        if ![usual, moved - 1, moved].contains(&values.len()) {
            return None;
        }
        for (name, value) in names.zip(values) {
            meters.insert(format!("{tier}:{name}"), value.parse().ok()?);
        }
    }
    Some(meters)
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

/// The changes of all tiers, one after the other.
pub(crate) fn flat(rows: Vec<TierChanges>) -> Vec<MeterChange> {
    let mut all = Vec::with_capacity(rows.iter().map(|row| row.changes.len()).sum());
    for TierChanges { tier, changes } in rows {
        all.extend(changes.into_iter().map(|MeterDelta { meter, delta }| MeterChange {
            tier: tier.clone(),
            meter,
            delta: delta.0,
        }));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::super::{Event, Kind};
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
            ("runs", "1:100,0,0,-/7,0,0,50;3:0,0,500000,-/7,0,0,50;"),
            ("call", ""),
            ("claims", "11,0,2,retry,mini,7;11,1,0,none;12,0,1,paid,grand,104,1,104;"),
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
            ("claims", "11,0,2,retry,mini,7;12,0,1,paid,grand,104,1,104;"),
        ];
        let mut fields = batch(&[&own, change].concat());
        for name in ["batch", "split", "record"] {
            fields.remove(name);
        }
        fields
    }

    fn enter(fields: &BTreeMap<String, String>) -> Enter {
        match Event::parse(&fields.into()).expect("readable").kind {
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
            ("runs", "1:100,0,0,-/7,0,0,50;4:0,0,0,-/7,0,0,50;"),
            ("runs", ""),
            ("claims", "10,0,2,retry,mini,7;"),
            ("claims", "14,0,2,retry,mini,7;"),
            ("claims", "12,0,2,retry,mini,7;11,0,2,retry,mini,7;"),
            ("claims", "11,0,2,none;"),
            ("record", "7 7 f"),
            ("record", ""),
        ] {
            let error = Event::parse(&(&batch(&[(field, value)])).into()).expect_err(value);
            assert_eq!((error.field, &*error.n), (field, "9"), "{value}");
        }
    }

    #[test]
    fn only_an_entry_of_a_batch_ends_with_its_claims() {
        let ends = [("type", "claim"), ("entry", "e"), ("claims", "11,1,0,none;")];
        assert_eq!(
            Event::parse(&(&batch(&ends)).into()).expect_err("refused").field,
            "claims"
        );
        assert_eq!(
            Event::parse(&(&single(&ends[2..])).into()).expect_err("refused").field,
            "claims"
        );
    }
}
