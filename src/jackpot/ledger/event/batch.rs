//! The event of a batch, or of one segment of it: its entries have no ids of their own, and what each added is
//! computed ([`jackpot_core::jackpot::segment`]).

use jackpot_core::ids::Id;
use jackpot_core::jackpot::batch_record::BatchRecord;
use jackpot_core::jackpot::record::Sent;
use jackpot_core::jackpot::segment::Segment;

use super::parse::{is_of_the_call, parse_claims};
use super::{Batch, Entered, Kind};
use crate::ledger::events::Fields;
use crate::ledger::events::Unreadable;

/// An `enter` event that has a field `batch`.
pub(super) fn parse_batch(fields: &Fields<'_>) -> Result<Kind, Unreadable> {
    let batch_id = fields.read("batch", |id| Id::parse(id).ok())?;
    let from = u64::from(fields.read("from", |from| from.parse::<u32>().ok().filter(|from| *from > 0))?);
    let sent = fields.read("block", |block| {
        block.split('\n').map(Sent::parse).collect::<Option<Vec<_>>>()
    })?;
    if sent.len() != fields.parse::<usize>("count")? {
        return Err(fields.wrong("count"));
    }
    let segment = Segment::parse(fields.text("tiers")?, fields.text("amounts")?, fields.text("runs")?);
    let segment = segment.map_err(|field| fields.wrong(field))?;
    let added = segment.contributions(from, sent.iter().map(|sent| sent.stake));
    let added = added.map_err(|field| fields.wrong(field))?;
    let entries = (from..).zip(sent).zip(added);
    let entries = entries.map(|((index, sent), contributions)| Entered {
        entry_id: format!("{batch_id}:{index}"),
        sent,
        contributions,
    });
    let entries = entries.collect::<Vec<_>>();
    let first = fields.parse::<u64>("first")?;
    let claims = fields.read("claims", |text| parse_claims(text, is_of_the_call))?;
    let taken = first
        ..first
            .checked_add(entries.len() as u64)
            .ok_or_else(|| fields.wrong("first"))?;
    if !claims.is_sorted_by_key(|claim| claim.sequence) || claims.iter().any(|claim| !taken.contains(&claim.sequence)) {
        return Err(fields.wrong("claims"));
    }
    let record = match fields.optional::<String>("record")? {
        None => None,
        Some(text) => Some(BatchRecord::parse(&text).ok_or_else(|| fields.wrong("record"))?),
    };
    Ok(Kind::Enter {
        epoch: fields.parse("epoch")?,
        version: fields.parse("version")?,
        first,
        entries,
        claims,
        batch: Some(Batch {
            batch_id,
            from,
            segment,
            record,
        }),
        of_call: false,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::jackpot::ledger::event::{ClaimResult, Event};

    fn fields(change: &[(&str, &str)]) -> BTreeMap<String, String> {
        let all = [
            ("n", "9"),
            ("at", "5"),
            ("history", "00112233aabbccdd"),
            ("type", "enter"),
            ("epoch", "1"),
            ("version", "2"),
            ("first", "11"),
            ("count", "3"),
            ("batch", "b1"),
            ("from", "5"),
            ("block", "p1 10 *\np2 20 s\np1 10 *"),
            ("tiers", "grand,mini"),
            ("amounts", "10=1,500000,0,0/0,0,2,0;20=3,0,0,0/0,0,0,0;"),
            ("runs", "5 100,0,0,-/7,0,0,50;7 0,0,500000,-/7,0,0,50;"),
            (
                "claims",
                "11,0,2,retry,mini,0,0,7;11,1,0,none,-,0,0,0;12,0,1,paid,grand,104,1,104;",
            ),
            ("meters", ""),
            ("applied", ""),
            ("record", "7 7 f 1 grand+8+1,mini+6+7 5,6"),
        ];
        let mut fields: BTreeMap<String, String> = all.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        for (name, value) in change {
            fields.insert((*name).to_owned(), (*value).to_owned());
        }
        fields
    }

    #[test]
    fn entries_have_derived_ids_and_computed_contributions() {
        let event = Event::parse(&fields(&[])).expect("readable");
        let Kind::Enter {
            first: 11,
            entries,
            claims,
            batch: Some(batch),
            ..
        } = event.kind
        else {
            panic!("{event:?}")
        };
        let one = |entry: &Entered| {
            let added = entry.contributions.iter().map(|c| format!(" {}+{}", c.pool, c.amount));
            format!("{} {}{}", entry.entry_id, entry.sent.player, added.collect::<String>())
        };
        assert_eq!(
            entries.iter().map(one).collect::<Vec<_>>(),
            ["b1:5 p1 101+1 7+2", "b1:6 p2 104+3 7+0", "b1:7 p1 1+2 7+2"]
        );
        assert_eq!((claims.len(), &claims[1].result), (3, &ClaimResult::Ended));
        assert_eq!((batch.batch_id.as_str(), batch.from), ("b1", 5));
        assert_eq!(batch.record.expect("the last segment").winners, [5, 6]);
    }

    #[test]
    fn a_segment_that_is_not_the_last_has_no_record() {
        let event = Event::parse(&fields(&[("record", "")])).expect("readable");
        assert!(matches!(
            event.kind,
            Kind::Enter {
                batch: Some(Batch { record: None, .. }),
                ..
            }
        ));
    }

    #[test]
    fn whatever_does_not_fit_is_unreadable() {
        for (field, value) in [
            ("batch", "b:1"),
            ("from", "0"),
            ("from", "4294967296"),
            ("block", "p1 10 *\np2 20\np1 10 *"),
            ("block", "b1:5 p1 10 *\np2 20 s\np1 10 *"),
            ("block", ""),
            ("count", "2"),
            ("first", "x"),
            ("first", "18446744073709551615"),
            ("tiers", "grand,"),
            ("amounts", "10=1,0,0,0/0,0,2,0;"),
            ("runs", "5 100,0,0,-/7,0,0,50;8 0,0,0,-/7,0,0,50;"),
            ("runs", ""),
            ("claims", "10,0,2,retry,mini,0,0,7;"),
            ("claims", "14,0,2,retry,mini,0,0,7;"),
            ("claims", "12,0,2,retry,mini,0,0,7;11,0,2,retry,mini,0,0,7;"),
            ("claims", "11,0,2,none,-,0,0,0;"),
            ("record", "7 7 f"),
        ] {
            let error = Event::parse(&fields(&[(field, value)])).expect_err(value);
            assert_eq!((error.field, &*error.n), (field, "9"), "{value}");
        }
        // A tier more than amounts and runs have.
        assert_eq!(
            Event::parse(&fields(&[("tiers", "grand")])).expect_err("fits").field,
            "amounts"
        );
    }

    #[test]
    fn only_an_entry_of_a_batch_ends_with_its_claims() {
        let mut fields = fields(&[("type", "claim"), ("entry", "e"), ("claims", "11,1,0,none,-,0,0,0;")]);
        assert_eq!(Event::parse(&fields).expect_err("refused").field, "claims");
        fields.remove("batch");
        for (name, value) in [
            ("type", "enter"),
            ("block", "e p1 10 *"),
            ("skip", ""),
            ("rows", "|1,0,0,0;"),
            ("runs", "1 0,0,0,-;"),
            ("count", "1"),
        ] {
            fields.insert(name.to_owned(), value.to_owned());
        }
        assert_eq!(Event::parse(&fields).expect_err("refused").field, "claims");
    }
}
