//! `lua/jackpot/reverse.lua` and `cancel.lua`.

use jackpot_core::ids::Id;
use jackpot_core::jackpot::definition::Definition;
use jackpot_core::jackpot::document::Tier;
use jackpot_core::jackpot::record::fingerprint;
use jackpot_core::jackpot::reversal::ReversalRecord;
use jackpot_core::jackpot::split::split;
use jackpot_core::mark::Mark;
use jackpot_core::money::Minor;
use jackpot_core::wire::{Field, OrDash};

use jackpot_kernel::operator::Operator;
use jackpot_kernel::reply;
use jackpot_kernel::store::Store;
use jackpot_kernel::store::keys::JackpotKeys;
use jackpot_kernel::subject::Named;
use jackpot_kernel::subject::operate::text;

use super::{CANCEL, Fence, REVERSE, ScriptError, fenced, run, with_pools};

/// Early cancels that the service remembers of one key in a generation of records: 1 in 100 entries of a million. So a
/// stranger with a key that plays fills some 3 MB of Redis, and takes no room from other keys.
pub const MAX_EARLY: u64 = 10_000;

/// The reversal of an entry that has no prize and is not pending.
#[derive(Debug)]
pub struct Reverse<'a> {
    pub entry_id: &'a str,
    pub reversal_id: &'a Id,
    pub reason: &'a str,
    pub by: &'a Operator,
    /// Number of the entry.
    pub sequence: u64,
    /// When it was taken, ms of Redis' clock.
    pub entered_ms: i64,
    pub stake: Minor,
    /// Its source, which may have a contribution of its own.
    pub source: Option<&'a Id>,
    /// The definition that it entered under, and its version.
    pub definition: &'a Definition,
    pub version: u64,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Reversed {
    /// Done now, or by an earlier call with the same id.
    Done {
        /// Whether this call did it.
        now: bool,
        record: ReversalRecord,
    },
    /// Another reversal has taken it back.
    Other(ReversalRecord),
    /// The id is that of another entry's reversal, or came with another reason.
    Reused,
    /// The time of the definition has passed.
    TooLate,
    /// `contributed` and `funded` together would pass 2^53 − 1.
    TooLarge,
}

reply! {
    /// The entry is reversed: by this call (`ok`), an earlier one with the same id (`same`), or another reversal (`other`).
    pub(super) struct Done {
        /// The record of the reversal.
        record: String,
    }
}

/// Reverses an entry, once. Returns the jackpot's mark with the result. `tiers`: of the definition in force.
pub async fn reverse(
    store: &Store,
    keys: &JackpotKeys,
    fence: &Fence,
    tiers: &[Tier],
    wish: &Reverse<'_>,
) -> Result<(Mark, Reversed), ScriptError> {
    let within_ms = wish.definition.document().reverse_within_s.saturating_mul(1_000);
    let source = wish.source.map(Id::as_str);
    let contribution = wish.definition.contribution_of(source);
    let amounts = split(wish.definition, contribution, wish.stake);
    let rows = wish.definition.tiers().iter().zip(amounts).map(|(tier, amount)| {
        let (pool, reserve) = (amount.pool, amount.reserve);
        let (name, units) = (&tier.tier, reserve.units);
        format!("{name} {} {} {units} {};", pool.units, pool.micro, reserve.micro)
    });
    let named = Named::new()
        .with("entry", wish.entry_id)
        .with("reversal", wish.reversal_id)
        .with("seq", wish.sequence)
        .with("entered", wish.entered_ms)
        .with("within", within_ms)
        .with("stake", wish.stake.get())
        .with("version", wish.version)
        .with("source", text(source))
        .with("reason_digest", fingerprint(wish.reason))
        .with("parts", rows.collect::<String>())
        .why(wish.by, wish.reason);
    let fixed = [keys.state.as_str(), &keys.seen_a, &keys.seen_b, &keys.events];
    let call = with_pools(&REVERSE, keys, fixed, tiers, fence).arg(named);
    let reply = run(store, &REVERSE, call, fence.known).await?.fenced()?;
    let record = || Ok::<_, ScriptError>(ReversalRecord::parse(&reply.read::<Done>()?.values.record)?);
    let reversed = match reply.code() {
        code @ ("ok" | "same") => Reversed::Done {
            now: code == "ok",
            record: record()?,
        },
        "other" => Reversed::Other(record()?),
        "reused" => Reversed::Reused,
        "too-late" => Reversed::TooLate,
        "too-large" => Reversed::TooLarge,
        _ => return Err(reply.unexpected()),
    };
    Ok((reply.mark(), reversed))
}

/// A reversal whose entry is not there.
#[derive(Debug)]
pub struct Cancel<'a> {
    pub entry_id: &'a str,
    pub reversal_id: &'a Id,
    pub reason: &'a str,
    pub by: &'a Operator,
    /// The key whose sources it counts for; `None` for all.
    pub key: Option<Id>,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Cancelled {
    /// It is remembered, or no entry of its id can come.
    Remembered {
        /// Whether this call wrote it.
        now: bool,
    },
    /// The entry is there by now.
    Found,
    /// The id is that of another entry's reversal, or came with another reason.
    Reused,
    /// The key has [`MAX_EARLY`] in this generation.
    TooMany,
}

/// Remembers a reversal whose entry is not there. Returns the jackpot's mark with the result.
pub async fn cancel(
    store: &Store,
    keys: &JackpotKeys,
    fence: &Fence,
    wish: Cancel<'_>,
) -> Result<(Mark, Cancelled), ScriptError> {
    let fixed = [&keys.state, &keys.seen_a, &keys.seen_b, &keys.events];
    let named = Named::new()
        .with("entry", wish.entry_id)
        .with("reversal", wish.reversal_id)
        .with("reason_digest", fingerprint(wish.reason))
        .with("by", OrDash(wish.key).text())
        .with("most", MAX_EARLY)
        .why(wish.by, wish.reason);
    let call = fenced(&CANCEL, &fixed.map(String::as_str), fence).arg(named);
    let reply = run(store, &CANCEL, call, fence.known).await?.fenced()?;
    let cancelled = match reply.code() {
        "ok" => Cancelled::Remembered { now: true },
        "same" => Cancelled::Remembered { now: false },
        "found" => Cancelled::Found,
        "reused" => Cancelled::Reused,
        "too-many" => Cancelled::TooMany,
        _ => return Err(reply.unexpected()),
    };
    Ok((reply.mark(), cancelled))
}
