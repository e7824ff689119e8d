//! `lua/jackpot/enter.lua`.

use std::ops::Range;

use jackpot_core::ids::Id;
use jackpot_core::jackpot::added::{Added, Adds};
use jackpot_core::jackpot::definition::Definition;
use jackpot_core::jackpot::record::{CallField, InRun, Record, Sent, State, Unreadable, fingerprint};
use jackpot_core::mark::Mark;
use jackpot_core::money::Minor;
use jackpot_core::wire::Field;

use crate::segment::{Builder, Segment};
use jackpot_kernel::reply;
use jackpot_kernel::store::keys::JackpotKeys;
use jackpot_kernel::store::{Call, Store};
use jackpot_kernel::subject::{List, Packed};

use super::Reply;
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
    /// The state after the call, if it was asked for and the script wrote.
    pub told: Option<Told>,
}

/// The packed values of a state.
#[derive(Debug)]
pub struct Told {
    pub terms: Vec<u8>,
    /// SHA-1 of the terms, in hexadecimal.
    pub digest: String,
    pub meters: Vec<u8>,
    /// Rules and cycles of its tiers; empty where no tier has had a rule.
    pub cycles: String,
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
    /// Reversals of its id came before it: their record.
    Cancelled(String),
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
    /// The emergency stop holds the jackpot.
    Emergency,
    /// The definition or epoch changed: draw again.
    Stale,
    /// A meter would pass 2^53 − 1.
    TooLarge,
    /// More cycles may end than were prepared: send again with more.
    Cycles,
}

/// Takes entries under the definition of the fence's version. At most `MAX_ENTRIES`.
pub async fn enter(
    store: &Store,
    keys: &JackpotKeys,
    fence: &Fence,
    definition: &Definition,
    entries: &[EnterEntry],
) -> Result<Entered, ScriptError> {
    let (call, taking) = entering(keys, fence, definition, entries, false);
    taking.entered(&run(store, &ENTER, call, fence.known).await?)
}

/// Like `enter`, over the calling thread's own connection. `asks`: for the state after it.
pub async fn enter_here(
    store: &Store,
    keys: &JackpotKeys,
    fence: &Fence,
    definition: &Definition,
    entries: &[EnterEntry],
    asks: bool,
) -> Result<Entered, ScriptError> {
    let (call, taking) = entering(keys, fence, definition, entries, asks);
    taking.entered(&run_here(store, &ENTER, call, fence.known).await?)
}

/// Takes one entry whose id reversals name that are not for its source. `cancels`: their record.
pub async fn enter_despite(
    store: &Store,
    keys: &JackpotKeys,
    fence: &Fence,
    definition: &Definition,
    entry: &EnterEntry,
    cancels: &str,
) -> Result<Entered, ScriptError> {
    let (call, taking) = entering(keys, fence, definition, std::slice::from_ref(entry), false);
    taking.entered(&run(store, &ENTER, call.arg(cancels), fence.known).await?)
}

/// Usual bytes of a call for each entry, beside its line of the block.
const BESIDE_THE_BLOCK: usize = 48;

/// Fewest entries of a run. For fewer, the shared record would be longer than what it saves.
pub const MIN_RUN: usize = 4;

fn entering(
    keys: &JackpotKeys,
    fence: &Fence,
    definition: &Definition,
    entries: &[EnterEntry],
    asks: bool,
) -> (Call<'static>, Taking) {
    assert!(
        (1..=MAX_ENTRIES).contains(&entries.len()),
        "1 to {MAX_ENTRIES} entries a call"
    );
    let pools = pools(keys, definition.tiers()).collect::<Vec<_>>();
    let block = Block::of(entries);
    let fingerprints = block.fingerprints();
    let winner = |i: usize| match entries[i].rank {
        0 => String::new(),
        rank => format!("{}|{}|0 {rank};", fingerprints[i], block.sent(i)),
    };
    let (segment, stakes) = segment(definition, entries, winner);
    let name = call_name(entries);
    let mut list = List::with_capacity(block.text.len() * 2 + entries.len() * BESIDE_THE_BLOCK);
    list.count(entries.len()).text(&name).text(&block.text);
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
    let call = fenced(&ENTER, &settling_keys(keys, &pools), fence)
        .arg(list)
        .arg(u8::from(asks))
        .arg(&fence.prepared);
    let taking = Taking {
        amounts: segment.amounts,
        entries: entries
            .iter()
            .map(|entry| (entry.sent.stake, entry.sent.source.clone()))
            .zip(fingerprints)
            .collect(),
        epoch: fence.epoch,
        version: fence.version(),
    };
    (call, taking)
}

/// The name of a call. An id names one entry while records are kept, so two calls differ in the first entry that they
/// take. The script handles the rest: a repeat at the front, and one collision in 2^60.
pub fn call_name(entries: &[EnterEntry]) -> String {
    fingerprint(&entries[0].entry_id)
}

/// The segment of these entries, and the row of each if they do not all add the same.
fn segment(definition: &Definition, entries: &[EnterEntry], winner: impl Fn(usize) -> String) -> (Segment, String) {
    let mut builder = Builder::new(definition);
    let mut begin = 0;
    for same in entries.chunk_by(|a, b| a.rank == 0 && b.rank == 0) {
        let places = begin..begin + same.len();
        begin = places.end;
        if same.len() >= MIN_RUN {
            for entry in same {
                builder.add_to_run(entry.sent.stake, entry.sent.source_text());
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
            let sent = &entries[i].sent;
            builder.add_single(sent.stake, sent.source_text(), winner(i));
        }
    }
    let mut stakes = String::new();
    if !builder.adds_one_row() {
        for (i, entry) in entries.iter().enumerate() {
            if i > 0 {
                stakes.push(',');
            }
            builder
                .row_of(entry.sent.stake, entry.sent.source_text())
                .write(&mut stakes);
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
        /// The packed terms after it, if the caller asked for the state and the call wrote; else empty.
        terms: Packed,
        /// SHA-1 of the packed terms, in hexadecimal, likewise.
        digest: String,
        /// The packed meters, likewise.
        meters: Packed,
        /// The field `cycles` after it, likewise; empty where no tier has had a must-hit rule.
        cycles: String,
    }
}

reply! {
    /// An entry of the call.
    pub(super) struct Said {
        /// Its place in the call, from 1.
        place: u64,
        /// `+` and its record: taken now with a prize. `=` and its record: seen before. `@` and a place: it repeats the
        /// entry at that place. `!`: the record of the early cancels of its id. Empty: not taken.
        text: String,
    }
}

/// What is needed to read the reply about the entries of a call.
struct Taking {
    amounts: String,
    /// Stake, source and fingerprint of each.
    entries: Vec<((Minor, Option<Id>), String)>,
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
            "stopped" => Some(Refusal::Emergency),
            "stale" => Some(Refusal::Stale),
            "too-large" => Some(Refusal::TooLarge),
            "cycles" => Some(Refusal::Cycles),
            _ => return Err(reply.unexpected()),
        };
        let (replies, told) = self.replies(reply).ok_or_else(|| reply.unexpected())?;
        Ok(Entered {
            mark: reply.mark(),
            replies,
            refusal,
            told,
        })
    }

    /// Reads the values after the mark; `None` for a reply in another form.
    fn replies(self, reply: &Reply) -> Option<(Vec<EntryReply>, Option<Told>)> {
        let mut values = reply.values();
        let TakenFrom {
            first,
            runs,
            terms: Packed(terms),
            digest,
            meters: Packed(meters),
            cycles,
        } = values.take()?;
        let all = values.rest::<Said>()?;
        let mut said = vec![None; self.entries.len()];
        for Said { place, text } in &all {
            *said.get_mut(usize::try_from(*place).ok()?.checked_sub(1)?)? = Some(text.as_str());
        }
        let was_taken = |text: Option<&str>| text.is_none_or(|text| text.starts_with('+'));
        let taken = said.iter().zip(&self.entries).filter(|(text, _)| was_taken(**text));
        let added = Added::parse(&self.amounts, None, &runs).ok()?;
        let added = added
            .contributions(taken.map(|(_, ((stake, source), _))| Adds::Sent(*stake, source.as_ref())))
            .ok()?;
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
                (Some(Some(("!", cancels))), _) => EntryReply::Cancelled(format!("!{cancels}")),
                (Some(Some(("@", place))), _) => match replies.get(place.parse::<usize>().ok()?.checked_sub(1)?)? {
                    EntryReply::Taken(record) | EntryReply::Seen(record) => EntryReply::Seen(record.clone()),
                    EntryReply::Damaged(unreadable) => EntryReply::Damaged(unreadable.clone()),
                    EntryReply::Cancelled(cancels) => EntryReply::Cancelled(cancels.clone()),
                    EntryReply::NotTaken => EntryReply::NotTaken,
                },
                (Some(None), _) => EntryReply::NotTaken,
                _ => return None,
            };
            replies.push(reply);
        }
        let told = (!meters.is_empty()).then_some(Told {
            terms,
            digest,
            meters,
            cycles,
        });
        Some((replies, told))
    }
}

fn read(record: &str, reply: fn(Record) -> EntryReply) -> EntryReply {
    Record::parse_whole(record).map_or_else(EntryReply::Damaged, reply)
}

/// Usual bytes of a line of the block: two ids and a stake.
const LINE_BYTES: usize = 48;

/// The entries of a call for its event, one `entry_id player stake client_seed` a line, as ledger and verifier need them.
#[derive(Debug)]
pub struct Block {
    pub text: String,
    /// The place of each request in the text.
    sent: Vec<Range<usize>>,
}

impl Block {
    pub fn of(entries: &[EnterEntry]) -> Self {
        let mut text = String::with_capacity(entries.len() * LINE_BYTES);
        let mut sent = Vec::with_capacity(entries.len());
        for entry in entries {
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(&entry.entry_id);
            text.push(' ');
            let from = text.len();
            entry.sent.write_text(&mut text);
            sent.push(from..text.len());
        }
        Self { text, sent }
    }

    /// The request of an entry, by its place from 0.
    fn sent(&self, i: usize) -> &str {
        &self.text[self.sent[i].clone()]
    }

    /// Of each entry.
    pub fn fingerprints(&self) -> Vec<String> {
        (0..self.sent.len()).map(|i| fingerprint(self.sent(i))).collect()
    }
}
