//! The entries of one call, as its event has them: the fields that both an answer and the ledger need. Pure.
//!
//! Entries that came one by one have their ids in the block. Those of a batch are `{batch}:{index}`.

use super::added::{Added, Adds, AmountRow, Run};
use super::record::{Contributed, Record, SENT_TYPE, Sent, State};
use crate::ids::Id;
use crate::wire::declared;
use crate::wire::event::{Fields, Unreadable};
use crate::wire::{Field, FieldShape, Words};

/// The entries that one call took.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// Epoch in which they were drawn.
    pub epoch: u64,
    /// Definition under which the first was drawn.
    pub version: u64,
    /// Sequence of the first; the others follow.
    pub first: u64,
    pub entries: Vec<Entered>,
    /// The batch in which they came, whole.
    pub batch: Option<Id>,
    /// The definition that came into force within the batch.
    pub split: Option<Split>,
    /// What the contributions were computed from.
    pub added: Added,
}

/// Where in a batch another definition came into force.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Split {
    /// Place of the first entry drawn under it, from 0.
    pub place: usize,
    pub version: u64,
}

/// An entry as it was taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entered {
    pub entry_id: String,
    pub sent: Sent,
    /// What it added to each tier.
    pub contributions: Vec<Contributed>,
}

impl Entered {
    /// How it finds what it adds.
    #[must_use]
    pub fn adds(&self) -> Adds<'_> {
        Adds::Sent(self.sent.stake, self.sent.source.as_ref())
    }
}

/// A field of the event that only a batch has.
const fn of_batch(field: FieldShape) -> FieldShape {
    FieldShape {
        when: "for a batch",
        ..field
    }
}

impl declared::EventPart for Call {
    fn shapes(_: &'static str, _: &'static str) -> Vec<FieldShape> {
        let of_events = ["meters", "applied"];
        Self::FIELDS
            .into_iter()
            .filter(|field| !of_events.contains(&field.name))
            .collect()
    }

    fn read(fields: &Fields<'_>, _: &'static str) -> Result<Self, Unreadable> {
        let field = |name: &str| fields.0.get(name);
        Self::parse(field).map_err(|field| fields.wrong(field))
    }
}

impl Call {
    /// The fields of the event that [`Call::parse`] reads.
    pub const FIELDS: [FieldShape; 11] = [
        FieldShape::new::<u64>("epoch", "The epoch under which the entries were drawn."),
        FieldShape::new::<u64>("version", "The definition under which the first entry was drawn."),
        FieldShape::new::<u64>("first", "Sequence of the first entry; the others follow."),
        FieldShape::new::<u64>("count", "How many entries the call took."),
        FieldShape::text(
            "block",
            "One entry a line: its id, then what was sent. Of a batch without the id: the entry of line `i` is `{batch}:{i}`.",
            SENT_TYPE,
        ),
        FieldShape::new::<Vec<u64>>(
            "skip",
            "Lines of the block, from 1, that this call did not take: taken before, or refused; nothing for a batch.",
        ),
        FieldShape::new::<Vec<AmountRow>>(
            "amounts",
            "What an entry adds, by stake. `*` in place of the stake: the contribution is fixed. `@source` after it: of a \
             source with a contribution of its own. Between two definitions (`split`): `|`.",
        ),
        FieldShape::new::<Vec<Run>>(
            "runs",
            "Where runs begin: at the first entry, and after each paid entry. What each tier holds before that entry. The \
             first taken entry has index 1.",
        ),
        FieldShape::new::<Option<u64>>(
            "applied",
            "Version of the definition that came into force with the event.",
        ),
        of_batch(FieldShape::new::<Id>("batch", "Its id.")),
        of_batch(FieldShape::new::<Option<u64>>(
            "split",
            "Index, from 1, of the first entry drawn under the definition in `applied`, if that came into force within \
             the batch.",
        )),
    ];

    /// Reads the event whose fields `field` returns. On an error, returns the name of the missing or unreadable field.
    pub fn parse<'t>(field: impl Fn(&str) -> Option<&'t str>) -> Result<Self, &'static str> {
        let text = |name: &'static str| field(name).ok_or(name);
        let number = |name: &'static str| text(name)?.parse::<u64>().map_err(|_| name);
        let given = |name: &'static str| field(name).filter(|text| !text.is_empty());
        let batch = match given("batch") {
            Some(id) => Some(Id::parse(id).map_err(|_| "batch")?),
            None => None,
        };
        let split = match given("split") {
            Some(_) => Some(number("split")?),
            None => None,
        };

        let skipped = Vec::<u64>::read(text("skip")?).filter(|skipped| skipped.is_sorted());
        let skipped = skipped.ok_or("skip")?;
        let (mut lines, mut place, mut entries) = (Words::by(text("block")?, '\n'), 0, Vec::new());
        while let Some(line) = lines.word() {
            place += 1;
            if !skipped.is_empty() && skipped.binary_search(&place).is_ok() {
                continue;
            }
            let (entry_id, sent) = match &batch {
                Some(batch) => (format!("{batch}:{place}"), line),
                None => line
                    .split_once(' ')
                    .map(|(id, sent)| (id.to_owned(), sent))
                    .ok_or("block")?,
            };
            entries.push(Entered {
                entry_id,
                sent: Sent::parse(sent).ok_or("block")?,
                contributions: Vec::new(),
            });
        }
        if entries.len() as u64 != number("count")? || entries.is_empty() {
            return Err("count");
        }
        let added = Added::parse(text("amounts")?, split, text("runs")?)?;
        let contributions = added.contributions(entries.iter().map(|entry| entry.adds()))?;
        for (entry, contributions) in entries.iter_mut().zip(contributions) {
            entry.contributions = contributions;
        }
        let first = number("first")?;
        first.checked_add(entries.len() as u64).ok_or("first")?;
        let split = match split {
            None => None,
            Some(index) => Some(Split {
                place: usize::try_from(index.saturating_sub(1)).map_err(|_| "split")?,
                version: number("applied")?,
            }),
        };
        Ok(Self {
            epoch: number("epoch")?,
            version: number("version")?,
            first,
            entries,
            batch,
            split,
            added,
        })
    }

    /// The entry with this sequence, and its place from 0.
    #[must_use]
    pub fn entry(&self, sequence: u64) -> Option<(usize, &Entered)> {
        let place = usize::try_from(sequence.checked_sub(self.first)?).ok()?;
        Some((place, self.entries.get(place)?))
    }

    /// The definition under which the entry at this place (from 0) was drawn.
    #[must_use]
    pub fn version_of(&self, place: usize) -> u64 {
        match self.split {
            Some(split) if place >= split.place => split.version,
            _ => self.version,
        }
    }

    /// The record of the entry at this place (from 0) before its claims: that it drew nothing.
    ///
    /// # Panics
    ///
    /// If there is no such entry.
    #[must_use]
    pub fn record_of(&self, place: usize) -> Record {
        let entry = &self.entries[place];
        Record {
            sequence: self.first + place as u64,
            epoch: self.epoch,
            version: self.version_of(place),
            fingerprint: entry.sent.fingerprint(),
            contributions: entry.contributions.clone(),
            state: State::Lost,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(change: &[(&str, &str)]) -> Result<Call, &'static str> {
        let fields = [
            ("epoch", "2"),
            ("version", "3"),
            ("first", "7"),
            ("count", "2"),
            ("block", "a p1 10 *\nb p2 20 s\nc p3 10 *"),
            ("skip", "2"),
            ("amounts", "10=1,0,0,0;20=2,0,1,0;"),
            ("runs", "1:9,0,0,-;"),
            ("applied", ""),
        ];
        Call::parse(|name| {
            let mut all = change.iter().chain(&fields);
            all.find(|(field, _)| *field == name).map(|(_, value)| *value)
        })
    }

    const BATCH: [(&str, &str); 3] = [("batch", "b"), ("skip", ""), ("block", "p1 10 *\np2 20 s")];

    #[test]
    fn entries_are_the_lines_that_were_not_skipped() {
        let call = call(&[]).expect("readable");
        assert_eq!(call.entry(6), None);
        assert_eq!(call.entry(9), None);
        let (place, entry) = call.entry(8).expect("taken");
        assert_eq!(
            (place, entry.entry_id.as_str(), entry.sent.player.as_str()),
            (1, "c", "p3")
        );
        assert_eq!(
            call.record_of(1).to_string(),
            format!("8 2 3 {} 11+1", entry.sent.fingerprint())
        );
    }

    #[test]
    fn an_entry_of_a_batch_is_named_by_its_line() {
        let call = call(&BATCH).expect("readable");
        let (_, entry) = call.entry(8).expect("taken");
        assert_eq!(
            (entry.entry_id.as_str(), entry.sent.to_text().as_str()),
            ("b:2", "p2 20 s")
        );
        assert_eq!(
            call.record_of(1).to_string(),
            format!("8 2 3 {} 12+3", entry.sent.fingerprint())
        );
    }

    #[test]
    fn entries_after_a_split_are_of_the_definition_that_came_into_force() {
        let split = [
            ("split", "2"),
            ("applied", "5"),
            ("amounts", "10=1,0,0,0;|20=2,0,1,0;"),
            ("runs", "1:9,0,0,-;2:0,0,0,-;"),
        ];
        let call = call(&[&split[..], &BATCH].concat()).expect("readable");
        assert_eq!((call.version_of(0), call.version_of(1)), (3, 5));
        assert_eq!(call.record_of(1).to_string().split(' ').nth(4), Some("2+3"));
    }

    #[test]
    fn whatever_does_not_fit_is_named() {
        for (field, value) in [
            ("epoch", ""),
            ("version", "x"),
            ("first", "18446744073709551615"),
            ("count", "3"),
            ("block", "a p1 10 *\nb p2\nc p3 10"),
            ("block", ""),
            ("skip", "2,1"),
            ("skip", "x"),
            ("amounts", "10=1,0,0,0/1,0,0,0;20=1,0,0,0;"),
            ("runs", "2:9,0,0,-;"),
            ("batch", "b:1"),
            ("split", "x"),
        ] {
            assert_eq!(call(&[(field, value)]).expect_err(value), field, "{value}");
        }
        let split = [
            ("split", "2"),
            ("amounts", "10=1,0,0,0;|10=1,0,0,0;"),
            ("runs", "1:9,0,0,-;2:9,0,0,-;"),
        ];
        assert_eq!(call(&split), Err("applied"));
    }
}
