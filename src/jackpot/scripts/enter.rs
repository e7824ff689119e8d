//! `lua/jackpot/enter.lua`.

use std::fmt::Write;
use std::ops::Range;

use jackpot_core::jackpot::added::Added;
use jackpot_core::jackpot::definition::Definition;
use jackpot_core::jackpot::record::{CallField, InRun, Record, Sent, State, Unreadable, fingerprint};
use jackpot_core::mark::Mark;
use jackpot_core::money::Minor;
use jackpot_core::wire::Field;

use crate::jackpot::segment::{Builder, Segment};
use crate::reply;
use crate::store::keys::JackpotKeys;
use crate::store::{Call, Store};

use super::Reply;
use super::list::List;
use super::segment::add_segment;
use super::{ENTER, Fence, ScriptError, fenced, pools, run, run_here, settling_keys};

/// Most entries of one call. It bounds the work to a millisecond, and stays within the stack of `unpack`.
pub const MAX_ENTRIES: usize = 1_000;

/// An entry and the draw of its attempt 0.
#[derive(Debug, Clone)]
pub struct EnterEntry {
    pub entry_id: String,
    pub sent: Sent,
    /// Rank that attempt 0 drew; 0 for nothing.
    pub rank: u32,
}

/// The reply of one call.
#[derive(Debug)]
pub struct Entered {
    pub mark: Mark,
    /// One for each entry, in order.
    pub replies: Vec<EntryReply>,
    /// Why the first [`EntryReply::NotTaken`] was not taken. The script did not try the entries after it.
    pub refusal: Option<Refusal>,
}

/// The reply to one entry.
#[derive(Debug, PartialEq, Eq)]
pub enum EntryReply {
    /// Taken by this call.
    Taken(Record),
    /// Seen before.
    Seen(Record),
    /// Seen before, but its record cannot be read. The others in the call are not affected.
    Damaged(Unreadable),
    /// Not taken; the script wrote nothing for it.
    NotTaken,
}

/// Why an entry was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// The jackpot is paused.
    Paused,
    /// The jackpot is suspended.
    Suspended,
    /// The jackpot is closed.
    Closed,
    /// The definition or epoch changed: draw again.
    Stale,
    /// A meter would pass 2^53 − 1.
    TooLarge,
}

/// Takes entries under the definition of the fence's version. At most `MAX_ENTRIES`.
pub async fn enter(
    store: &Store,
    keys: &JackpotKeys,
    fence: &Fence,
    definition: &Definition,
    entries: &[EnterEntry],
) -> Result<Entered, ScriptError> {
    let (call, taking) = entering(keys, fence, definition, entries);
    taking.entered(&run(store, &ENTER, call, fence.known).await?)
}

/// Like `enter`, over the calling thread's own connection.
pub async fn enter_here(
    store: &Store,
    keys: &JackpotKeys,
    fence: &Fence,
    definition: &Definition,
    entries: &[EnterEntry],
) -> Result<Entered, ScriptError> {
    let (call, taking) = entering(keys, fence, definition, entries);
    taking.entered(&run_here(store, &ENTER, call, fence.known).await?)
}

/// Usual bytes of a call for each entry, beside its line of the block.
const BESIDE_THE_BLOCK: usize = 48;

/// Fewest entries of a run. For fewer, the shared record would be longer than what it saves.
const MIN_RUN: usize = 4;

fn entering(
    keys: &JackpotKeys,
    fence: &Fence,
    definition: &Definition,
    entries: &[EnterEntry],
) -> (Call<'static>, Taking) {
    assert!(
        (1..=MAX_ENTRIES).contains(&entries.len()),
        "1 to {MAX_ENTRIES} entries a call"
    );
    let pools = pools(keys, definition.tiers()).collect::<Vec<_>>();
    let (block, sent_texts) = block(entries);
    let fingerprints = sent_texts.iter().map(|sent| fingerprint(&block[sent.clone()]));
    let fingerprints = fingerprints.collect::<Vec<_>>();
    let winner = |i: usize| match entries[i].rank {
        0 => String::new(),
        rank => format!("{}|{}|0 {rank};", fingerprints[i], &block[sent_texts[i].clone()]),
    };
    let (segment, stakes) = segment(definition, entries, winner);
    // An id names one entry while records are kept, so two calls differ in the first entry that they take. The script
    // handles the rest: a repeat at the front, and one collision in 2^60.
    let name = fingerprint(&entries[0].entry_id);
    let mut list = List::with_capacity(block.len() * 2 + entries.len() * BESIDE_THE_BLOCK);
    list.count(entries.len()).text(&name).text(&block);
    list.text(&stakes).text(&segment.amounts);
    add_segment(&mut list, &segment, definition);
    let mut in_run = InRun {
        call: CallField::of(&name),
        place: 0,
        fingerprint: String::new(),
    };
    let mut text = String::new();
    let mut each = entries.iter().zip(&fingerprints);
    for step in &segment.steps {
        for (entry, fingerprint) in each.by_ref().take(step.entries) {
            in_run.place += 1;
            list.text(&entry.entry_id);
            if step.entries == 1 {
                list.text(fingerprint);
                continue;
            }
            in_run.fingerprint.clone_from(fingerprint);
            text.clear();
            in_run.write(&mut text);
            list.text(&text);
        }
    }
    let call = fenced(&ENTER, &settling_keys(keys, &pools), fence).arg(list);
    let taking = Taking {
        amounts: segment.amounts,
        entries: entries.iter().map(|entry| entry.sent.stake).zip(fingerprints).collect(),
        epoch: fence.epoch,
        version: fence.version(),
    };
    (call, taking)
}

/// The segment of these entries, and their stakes if they do not all add the same.
fn segment(definition: &Definition, entries: &[EnterEntry], winner: impl Fn(usize) -> String) -> (Segment, String) {
    let mut builder = Builder::new(definition);
    let mut begin = 0;
    for same in entries.chunk_by(|a, b| a.rank == 0 && b.rank == 0) {
        let places = begin..begin + same.len();
        begin = places.end;
        if same.len() >= MIN_RUN {
            for entry in same {
                builder.add_to_run(entry.sent.stake);
            }
            // Entries with too large a sum are taken one by one, as far as they fit.
            if builder.end_run().is_ok() {
                continue;
            }
        }
        for i in places {
            if entries[i].rank != 0 {
                builder.names_rank(entries[i].rank);
            }
            builder.add_single(entries[i].sent.stake, winner(i));
        }
    }
    let mut stakes = String::new();
    if !builder.adds_one_row() {
        for (i, entry) in entries.iter().enumerate() {
            // Writing to a string does not fail.
            let _ = write!(stakes, "{}{}", if i == 0 { "" } else { "," }, entry.sent.stake);
        }
    }
    (builder.finish(), stakes)
}

reply! {
    /// What a call took; the code says why it took no more. What there is to say of some entries follows. An entry of
    /// which nothing is said was taken now, without a prize.
    pub(super) struct TakenFrom {
        /// Sequence of the first entry taken now.
        first: u64,
        /// Where their runs begin (`lua/jackpot/entering.lua`); the first entry taken has index 1.
        runs: String,
    }
}

reply! {
    /// An entry of the call.
    pub(super) struct Said {
        /// Its place in the call, from 1.
        place: u64,
        /// `+` and its record: taken now with a prize. `=` and its record: seen before. `@` and a place: it repeats the
        /// entry at that place. Empty: not taken.
        text: String,
    }
}

/// What is needed to read the reply about the entries of a call.
struct Taking {
    amounts: String,
    /// Stake and fingerprint of each.
    entries: Vec<(Minor, String)>,
    epoch: u64,
    version: u64,
}

impl Taking {
    fn entered(self, reply: &Reply) -> Result<Entered, ScriptError> {
        let refusal = match reply.code() {
            "ok" => None,
            "paused" => Some(Refusal::Paused),
            "suspended" => Some(Refusal::Suspended),
            "closed" => Some(Refusal::Closed),
            "stale" => Some(Refusal::Stale),
            "too-large" => Some(Refusal::TooLarge),
            _ => return Err(reply.unexpected()),
        };
        let replies = self.replies(reply).ok_or_else(|| reply.unexpected())?;
        Ok(Entered {
            mark: reply.mark(),
            replies,
            refusal,
        })
    }

    /// Reads the values after the mark; `None` for a reply in another form.
    fn replies(self, reply: &Reply) -> Option<Vec<EntryReply>> {
        let mut values = reply.values();
        let TakenFrom { first, runs } = values.take()?;
        let all = values.rest::<Said>()?;
        let mut said = vec![None; self.entries.len()];
        for Said { place, text } in &all {
            *said.get_mut(usize::try_from(*place).ok()?.checked_sub(1)?)? = Some(text.as_str());
        }
        let was_taken = |text: Option<&str>| text.is_none_or(|text| text.starts_with('+'));
        let taken = said.iter().zip(&self.entries).filter(|(text, _)| was_taken(**text));
        let added = Added::parse(&self.amounts, None, &runs).ok()?;
        let added = added.contributions(taken.map(|(_, (stake, _))| *stake)).ok()?;
        let mut added = (first..).zip(added);
        let mut replies = Vec::<EntryReply>::with_capacity(said.len());
        for (text, (_, fingerprint)) in said.into_iter().zip(self.entries) {
            let own = if was_taken(text) { added.next() } else { None };
            let reply = match (text.map(|text| text.split_at_checked(1)), own) {
                (None, Some((sequence, contributions))) => EntryReply::Taken(Record {
                    sequence,
                    epoch: self.epoch,
                    version: self.version,
                    fingerprint,
                    contributions,
                    state: State::Lost,
                }),
                (Some(Some(("+", record))), _) => read(record, EntryReply::Taken),
                (Some(Some(("=", record))), _) => read(record, EntryReply::Seen),
                (Some(Some(("@", place))), _) => match replies.get(place.parse::<usize>().ok()?.checked_sub(1)?)? {
                    EntryReply::Taken(record) | EntryReply::Seen(record) => EntryReply::Seen(record.clone()),
                    EntryReply::Damaged(unreadable) => EntryReply::Damaged(unreadable.clone()),
                    EntryReply::NotTaken => EntryReply::NotTaken,
                },
                (Some(None), _) => EntryReply::NotTaken,
                _ => return None,
            };
            replies.push(reply);
        }
        Some(replies)
    }
}

fn read(record: &str, reply: fn(Record) -> EntryReply) -> EntryReply {
    Record::parse_whole(record).map_or_else(EntryReply::Damaged, reply)
}

/// Usual bytes of a line of the block: two ids and a stake.
const LINE_BYTES: usize = 48;

/// These entries for the event, one `entry_id player stake client_seed` a line, as ledger and verifier need them; and
/// the place of each request in it.
fn block(entries: &[EnterEntry]) -> (String, Vec<Range<usize>>) {
    let mut block = String::with_capacity(entries.len() * LINE_BYTES);
    let mut sent_texts = Vec::with_capacity(entries.len());
    for entry in entries {
        if !block.is_empty() {
            block.push('\n');
        }
        block.push_str(&entry.entry_id);
        block.push(' ');
        let from = block.len();
        entry.sent.write_text(&mut block);
        sent_texts.push(from..block.len());
    }
    (block, sent_texts)
}
