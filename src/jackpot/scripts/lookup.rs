//! `lua/jackpot/lookup.lua`.

use std::collections::HashSet;

use jackpot_core::jackpot::record::{Record, Sent, State};
use jackpot_core::jackpot::segment::Segment;
use jackpot_core::mark::Mark;

use crate::store::keys::JackpotKeys;
use crate::store::{Call, Store};

use super::{LOOKUP, ScriptError, run};

/// A found entry.
#[derive(Debug)]
pub struct Found {
    pub mark: Mark,
    /// Number of the entry within the jackpot.
    pub sequence: u64,
    /// Its record; `None` for an entry of a batch that drew no prize, when its event is no longer in the stream.
    pub record: Option<Record>,
    /// The request; `None` when its event is no longer in the stream.
    pub sent: Option<Sent>,
}

/// Looks an entry up; `None` when there is no record of it.
pub async fn lookup(
    store: &Store,
    keys: &JackpotKeys,
    known: Mark,
    entry_id: &str,
) -> Result<Option<Found>, ScriptError> {
    let fixed = [&keys.state, &keys.seen_a, &keys.seen_b, &keys.events];
    let call = fixed
        .into_iter()
        .fold(Call::new(&LOOKUP), Call::key)
        .arg(known.packed())
        .arg(entry_id);
    let reply = run(store, &LOOKUP, call, known).await?;
    match reply.code() {
        "missing" => return Ok(None),
        "ok" => {}
        _ => return Err(reply.unexpected()),
    }
    let record = match reply.text(0)? {
        text if text.is_empty() => None,
        text => Some(Record::parse(&text)?),
    };
    let sequence = reply.text(1)?.parse().map_err(|_| reply.unexpected())?;
    let mut found = Found {
        mark: reply.mark(),
        sequence,
        record,
        sent: None,
    };
    if let Some(State::Pending { sent, .. }) = found.record.as_ref().map(|record| &record.state) {
        found.sent = Some(sent.clone());
        return Ok(Some(found));
    }
    let fields = reply.texts().split_off(2);
    if fields.iter().any(Option::is_some) {
        let event = EventOfEntry::of(fields).ok_or_else(|| reply.unexpected())?;
        let (sent, lost) = event.entry(sequence, entry_id).ok_or_else(|| reply.unexpected())?;
        found.sent = Some(sent);
        if found.record.is_none() {
            found.record = Some(lost.ok_or_else(|| reply.unexpected())?);
        }
    }
    Ok(Some(found))
}

/// The event of an entry.
#[derive(Debug)]
struct EventOfEntry {
    first: u64,
    block: String,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    /// Entries with ids of their own, without the skipped lines of the block (from 1).
    Single(HashSet<usize>),
    /// A batch: epoch, version, id, index of its first entry, and the fields that determine its contributions.
    Batch((u64, u64), (String, u64), Segment),
}

impl EventOfEntry {
    /// From the values of `FIELDS` in the script's reply.
    fn of(fields: Vec<Option<String>>) -> Option<Self> {
        let [first, skip, block, epoch, version, batch, from, tiers, amounts, runs] =
            <[Option<String>; 10]>::try_from(fields).ok()?;
        let kind = match (batch, skip) {
            (None, skip) => Kind::Single(skip?.split(',').filter_map(|line| line.parse().ok()).collect()),
            (Some(batch), _) => Kind::Batch(
                (epoch?.parse().ok()?, version?.parse().ok()?),
                (batch, from?.parse().ok()?),
                Segment::parse(&tiers?, &amounts?, &runs?).ok()?,
            ),
        };
        Some(Self {
            first: first?.parse().ok()?,
            block: block?,
            kind,
        })
    }

    /// The request of the entry with this sequence; and for an entry of a batch that drew no prize, its record.
    fn entry(&self, sequence: u64, entry_id: &str) -> Option<(Sent, Option<Record>)> {
        let place = usize::try_from(sequence.checked_sub(self.first)?).ok()?;
        match &self.kind {
            Kind::Single(skipped) => {
                let taken = self
                    .block
                    .lines()
                    .enumerate()
                    .filter(|(i, _)| !skipped.contains(&(i + 1)));
                let (id, sent) = taken.map(|(_, line)| line).nth(place)?.split_once(' ')?;
                (id == entry_id).then(|| Some((Sent::parse(sent)?, None)))?
            }
            Kind::Batch((epoch, version), (batch_id, from), segment) => {
                if entry_id != format!("{batch_id}:{}", from.checked_add(sequence - self.first)?) {
                    return None;
                }
                let sent = self.block.split('\n').map(Sent::parse).collect::<Option<Vec<_>>>()?;
                let stakes = sent.iter().map(|sent| sent.stake);
                let contributions = segment.contributions(*from, stakes).ok()?.into_iter().nth(place)?;
                let sent = sent.into_iter().nth(place)?;
                let record = Record {
                    sequence,
                    epoch: *epoch,
                    version: *version,
                    fingerprint: sent.fingerprint(),
                    contributions,
                    state: State::Lost,
                };
                Some((sent, Some(record)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(fields: [Option<&str>; 10]) -> Option<EventOfEntry> {
        EventOfEntry::of(fields.iter().map(|text| text.map(str::to_owned)).collect())
    }

    #[test]
    fn what_was_sent_is_found_by_sequence_past_skipped_lines() {
        let block = "a p1 1 *\nb p2 2 s\nc p3 3 *";
        let player = |seq, skip, id| {
            let mut fields = [None; 10];
            fields[..3].copy_from_slice(&[Some("7"), Some(skip), Some(block)]);
            let (sent, record) = event(fields).expect("readable").entry(seq, id)?;
            assert_eq!(record, None);
            Some(sent.player.to_string())
        };
        assert_eq!(player(7, "", "a").as_deref(), Some("p1"));
        assert_eq!(player(7, "1", "b").as_deref(), Some("p2"));
        assert_eq!(player(8, "2", "c").as_deref(), Some("p3"));
        assert_eq!(player(9, "1", "c"), None);
        assert_eq!(player(7, "", "b"), None);
    }

    #[test]
    fn an_entry_of_a_batch_is_found_by_its_line() {
        let fields = [
            "7",
            "p1 10 *\np2 20 s",
            "2",
            "3",
            "b",
            "5",
            "grand",
            "10=1,0,0,0;20=2,0,1,0;",
            "5 9,0,0,-;",
        ];
        let [first, block, rest @ ..] = fields.map(Some);
        let [epoch, version, batch, from, tiers, amounts, runs] = rest;
        let all = [first, None, block, epoch, version, batch, from, tiers, amounts, runs];
        let event = event(all).expect("readable");
        let (sent, record) = event.entry(8, "b:6").expect("found");
        assert_eq!(sent.to_text(), "p2 20 s");
        let record = record.expect("of a batch");
        assert_eq!(record.to_text(), format!("8 2.3 {} 12+3", sent.fingerprint()));
        for (sequence, id) in [(8, "b:5"), (8, "c:6"), (9, "b:7"), (6, "b:4")] {
            assert!(event.entry(sequence, id).is_none(), "{id}");
        }
    }
}
