//! `lua/jackpot/enter.lua`.

use crate::store::Store;
use crate::store::keys::JackpotKeys;

use super::{ENTER, Fence, ScriptError, fenced, pools, run, settling_keys};
use crate::jackpot::definition::{Definition, MoneyKind, MoneyPrize};
use crate::jackpot::mark::Mark;
use crate::jackpot::record::{Record, Sent};
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
    assert!(
        (1..=MAX_ENTRIES).contains(&entries.len()),
        "1 to {MAX_ENTRIES} entries a call"
    );
    let pools = pools(keys, definition.tiers()).collect::<Vec<_>>();
    let (rows, row_of) = rows(definition, entries);
    let mut call = fenced(&ENTER, &settling_keys(keys, &pools), fence)
        .arg(entries.len())
        .arg(rows.len())
        .arg(block(entries));
    for amount in rows.iter().flatten() {
        call = call
            .arg(amount.pool.units)
            .arg(amount.pool.micro)
            .arg(amount.reserve.units)
            .arg(amount.reserve.micro);
    }
    for (entry, row) in entries.iter().zip(row_of) {
        call = call
            .arg(&entry.entry_id)
            .arg(entry.sent.fingerprint())
            .arg(row)
            .arg(prize_text(definition, entry));
    }
    let reply = run(store, &ENTER, call, fence.known).await?;
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
    let replies = reply
        .texts()
        .into_iter()
        .map(|text| parse_reply(text.as_deref()))
        .collect::<Result<Option<Vec<_>>, _>>()?;
    match replies {
        Some(replies) if replies.len() == entries.len() => Ok(Entered {
            mark: reply.mark(),
            replies,
            refusal,
        }),
        _ => Err(reply.unexpected()),
    }
}

fn parse_reply(text: Option<&str>) -> Result<Option<EntryReply>, ScriptError> {
    Ok(match text.and_then(|t| t.split_at_checked(1)) {
        Some(("+", record)) => Some(EntryReply::Taken(Record::parse(record)?)),
        Some(("=", record)) => Some(EntryReply::Seen(Record::parse(record)?)),
        None if text == Some("") => Some(EntryReply::NotTaken),
        _ => None,
    })
}

/// The distinct amounts of these entries, and for each entry which of them it adds (from 1).
fn rows(definition: &Definition, entries: &[EnterEntry]) -> (Vec<Vec<TierAmount>>, Vec<usize>) {
    let mut rows: Vec<Vec<TierAmount>> = Vec::new();
    let mut of_stake = std::collections::HashMap::new();
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

/// These entries for the event, one `entry_id player stake client_seed` a line: what a ledger and a verifier need.
fn block(entries: &[EnterEntry]) -> String {
    entries
        .iter()
        .map(|entry| format!("{} {}", entry.entry_id, entry.sent.to_text()))
        .collect::<Vec<_>>()
        .join("\n")
}

fn prize_text(definition: &Definition, entry: &EnterEntry) -> String {
    if entry.rank == 0 {
        return String::new();
    }
    let money = definition.money_prize(entry.rank).map(money_text).unwrap_or_default();
    format!("{}|{}|{money}", entry.rank, entry.sent.to_text())
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
