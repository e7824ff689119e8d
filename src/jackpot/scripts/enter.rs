//! `lua/jackpot/enter.lua`.

use std::collections::BTreeMap;

use crate::money::Minor;
use crate::store::keys::JackpotKeys;
use crate::store::{Call, Store};

use super::reply::Reply;
use super::{ENTER, Fence, ScriptError, fenced, pools, run, run_here, settling_keys};
use crate::jackpot::definition::{Definition, MoneyKind, MoneyPrize};
use crate::jackpot::mark::Mark;
use crate::jackpot::record::{Record, Sent, Unreadable, fingerprint};
use crate::jackpot::split::{TierAmount, split};

/// Most entries of one call: its work stays in the range of a millisecond, and `unpack` within its stack.
pub const MAX_ENTRIES: usize = 1_000;

/// An entry and what its attempt 0 drew.
#[derive(Debug, Clone)]
pub struct EnterEntry {
    /// Its id.
    pub entry_id: String,
    /// What was sent.
    pub sent: Sent,
    /// Rank that attempt 0 drew; 0 for nothing.
    pub rank: u32,
}

/// What became of one call.
#[derive(Debug)]
pub struct Entered {
    /// The jackpot's mark.
    pub mark: Mark,
    /// One for each entry, in order.
    pub replies: Vec<EntryReply>,
    /// Why the first [`EntryReply::NotTaken`] was not taken; those behind it were not tried.
    pub refusal: Option<Refusal>,
}

/// What became of one entry.
#[derive(Debug, PartialEq, Eq)]
pub enum EntryReply {
    /// Taken by this call.
    Taken(Record),
    /// Seen before.
    Seen(Record),
    /// Seen before, and its record cannot be read; no concern of the others in the call.
    Damaged(Unreadable),
    /// Not taken; nothing of it was written.
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
    /// The epoch was opened with another master secret.
    Secret,
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
    let call = entering(keys, fence, definition, entries);
    entered(&run(store, &ENTER, call, fence.known).await?, entries.len())
}

/// The same over the calling thread's own connection.
pub async fn enter_here(
    store: &Store,
    keys: &JackpotKeys,
    fence: &Fence,
    definition: &Definition,
    entries: &[EnterEntry],
) -> Result<Entered, ScriptError> {
    let call = entering(keys, fence, definition, entries);
    entered(&run_here(store, &ENTER, call, fence.known).await?, entries.len())
}

fn entering(keys: &JackpotKeys, fence: &Fence, definition: &Definition, entries: &[EnterEntry]) -> Call<'static> {
    assert!(
        (1..=MAX_ENTRIES).contains(&entries.len()),
        "1 to {MAX_ENTRIES} entries a call"
    );
    let pools = pools(keys, definition.tiers()).collect::<Vec<_>>();
    let (rows, row_of) = rows(definition, entries);
    let (block, sent_texts) = block(entries);
    let mut call = fenced(&ENTER, &settling_keys(keys, &pools), fence)
        .arg(entries.len())
        .arg(rows.len())
        .arg(&block);
    for amount in rows.iter().flatten() {
        call = call
            .arg(amount.pool.units)
            .arg(amount.pool.micro)
            .arg(amount.reserve.units)
            .arg(amount.reserve.micro);
    }
    for ((entry, row), sent_text) in entries.iter().zip(row_of).zip(sent_texts) {
        let sent_text = &block[sent_text];
        call = call.arg(&entry.entry_id).arg(fingerprint(sent_text)).arg(row);
        call = match entry.rank {
            0 => call.arg(""),
            rank => call.arg(prize_text(definition, rank, sent_text)),
        };
    }
    call
}

fn entered(reply: &Reply, count: usize) -> Result<Entered, ScriptError> {
    let refusal = match reply.code() {
        "ok" => None,
        "paused" => Some(Refusal::Paused),
        "suspended" => Some(Refusal::Suspended),
        "closed" => Some(Refusal::Closed),
        "stale" => Some(Refusal::Stale),
        "secret" => Some(Refusal::Secret),
        "too-large" => Some(Refusal::TooLarge),
        _ => return Err(reply.unexpected()),
    };
    let replies = reply.strs().map(|text| parse_reply(text?)).collect::<Option<Vec<_>>>();
    match replies {
        Some(replies) if replies.len() == count => Ok(Entered {
            mark: reply.mark(),
            replies,
            refusal,
        }),
        _ => Err(reply.unexpected()),
    }
}

fn parse_reply(text: &str) -> Option<EntryReply> {
    let parsed = |record, taken: fn(Record) -> EntryReply| match Record::parse(record) {
        Ok(record) => taken(record),
        Err(unreadable) => EntryReply::Damaged(unreadable),
    };
    match text.split_at_checked(1) {
        Some(("+", record)) => Some(parsed(record, EntryReply::Taken)),
        Some(("=", record)) => Some(parsed(record, EntryReply::Seen)),
        None if text.is_empty() => Some(EntryReply::NotTaken),
        _ => None,
    }
}

/// The distinct amounts of these entries, and for each entry which of them it adds (from 1).
fn rows(definition: &Definition, entries: &[EnterEntry]) -> (Vec<Vec<TierAmount>>, Vec<usize>) {
    let mut rows: Vec<Vec<TierAmount>> = Vec::new();
    let mut of_stake: BTreeMap<Minor, usize> = BTreeMap::new();
    let row_of = entries.iter().map(|entry| {
        *of_stake.entry(entry.sent.stake).or_insert_with(|| {
            let amounts = split(definition, entry.sent.stake);
            let at = rows.iter().position(|row| *row == amounts).unwrap_or_else(|| {
                rows.push(amounts);
                rows.len() - 1
            });
            at + 1
        })
    });
    let row_of = row_of.collect();
    (rows, row_of)
}

/// Bytes of a line of the block as it is mostly: two ids and a stake.
const LINE_BYTES: usize = 48;

/// These entries for the event, one `entry_id player stake client_seed` a line: what a ledger and a verifier need. And
/// where in it stands what was sent of each.
fn block(entries: &[EnterEntry]) -> (String, Vec<std::ops::Range<usize>>) {
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

fn prize_text(definition: &Definition, rank: u32, sent_text: &str) -> String {
    let money = definition.money_prize(rank).map(money_text).unwrap_or_default();
    format!("{rank}|{sent_text}|{money}")
}

/// `tier kind value min`, as `parse_prize` of `lua/jackpot/take.lua` reads it.
pub(super) fn money_text(prize: &MoneyPrize) -> String {
    let (kind, value) = match prize.kind {
        MoneyKind::All => ("all", 0),
        MoneyKind::Share(share) => ("share", u64::from(share.get())),
        MoneyKind::Fixed(amount) => ("fixed", amount.get()),
    };
    format!("{} {kind} {value} {}", prize.tier, prize.min_payout)
}
