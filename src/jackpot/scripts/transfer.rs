//! `lua/jackpot/transfer_expect.lua`, `transfer_give.lua` and `transfer_receive.lua`.

use jackpot_core::ids::Id;
use jackpot_core::jackpot::document::Tier;
use jackpot_core::jackpot::transfer::Part;
use jackpot_core::mark::Mark;
use jackpot_core::wire::Field;

use crate::jackpot::view::Status;
use crate::operator::Operator;
use crate::reply;
use crate::store::Store;
use crate::store::keys::JackpotKeys;

use super::{Fence, ScriptError, TRANSFER_EXPECT, TRANSFER_GIVE, TRANSFER_RECEIVE, fenced, pools, run};

/// Room in the jackpot that receives.
#[derive(Debug)]
pub struct Expect<'a> {
    /// The jackpot that gives.
    pub source: &'a Id,
    pub transfer_id: &'a Id,
    /// Digest of the parts.
    pub digest: &'a str,
    pub parts: &'a Vec<Part>,
    /// Currency of the jackpot that gives.
    pub currency: &'a str,
    pub reason: &'a str,
    pub by: &'a Operator,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// There is room, by this call or an earlier one.
    Made,
    /// The jackpot is closed.
    Closed,
    /// It has another currency.
    Currency,
    /// It has no such tier.
    NoTier,
    /// There is no room below 2^53 - 1.
    TooLarge,
}

/// A transfer in the jackpot that gives.
#[derive(Debug)]
pub struct Give<'a> {
    pub transfer_id: &'a Id,
    /// Digest of its content. The same id with another digest is refused.
    pub digest: &'a str,
    pub to: &'a Id,
    /// The tiers that give, and the tier of the other jackpot that each goes to.
    pub tiers: &'a [(Id, Id)],
    /// What the other jackpot expects; `None` to look only.
    pub expected: Option<&'a Vec<Part>>,
    pub reason: &'a str,
    pub by: &'a Operator,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Given {
    /// Given now, or by an earlier call with the same content.
    Done {
        /// Whether this call did it.
        now: bool,
        parts: Vec<Part>,
    },
    /// Nothing was given, because the tiers hold these parts.
    Holds(Vec<Part>),
    /// The id was used with another content.
    Reused,
    /// The jackpot is open or suspended.
    Status(Status),
    /// Entries have no outcome.
    Pending,
    /// It has no such tier.
    NoTier,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Received {
    /// It is in, by this call (`true`) or an earlier one.
    Done(bool),
    /// There is no room below 2^53 - 1.
    TooLarge,
}

reply! {
    /// The money of a transfer is given, by this call (`ok`) or an earlier one (`same`), or would be these parts (`holds`).
    pub(super) struct Parts {
        /// What each tier gives.
        parts: String,
    }
}

/// Makes room for a transfer, once for the same parts.
pub async fn transfer_expect(
    store: &Store,
    keys: &JackpotKeys,
    fence: &Fence,
    tiers: &[Tier],
    wish: &Expect<'_>,
) -> Result<(Mark, Expected), ScriptError> {
    let pools = pools(keys, tiers).collect::<Vec<_>>();
    let fixed = [&keys.state, &keys.adjustments, &keys.events];
    let all = fixed.into_iter().chain(&pools).map(String::as_str).collect::<Vec<_>>();
    let call = fenced(&TRANSFER_EXPECT, &all, fence)
        .arg(wish.source.as_str())
        .arg(wish.transfer_id.as_str())
        .arg(wish.digest)
        .arg(wish.parts.text())
        .arg(wish.currency)
        .arg(wish.reason)
        .arg(&wish.by.who)
        .arg(&wish.by.request_id);
    let reply = run(store, &TRANSFER_EXPECT, call, fence.known).await?.fenced()?;
    let expected = match reply.code() {
        "ok" | "same" => Expected::Made,
        "closed" => Expected::Closed,
        "currency" => Expected::Currency,
        "no-tier" => Expected::NoTier,
        "too-large" => Expected::TooLarge,
        _ => return Err(reply.unexpected()),
    };
    Ok((reply.mark(), expected))
}

/// Gives the money of tiers out, once for each id.
pub async fn transfer_give(
    store: &Store,
    keys: &JackpotKeys,
    fence: &Fence,
    tiers: &[Tier],
    wish: &Give<'_>,
) -> Result<(Mark, Given), ScriptError> {
    let pools = pools(keys, tiers).collect::<Vec<_>>();
    let fixed = [&keys.state, &keys.pending, &keys.adjustments, &keys.events];
    let all = fixed.into_iter().chain(&pools).map(String::as_str).collect::<Vec<_>>();
    let mut call = fenced(&TRANSFER_GIVE, &all, fence)
        .arg(wish.transfer_id.as_str())
        .arg(wish.digest)
        .arg(wish.to.as_str())
        .arg(wish.expected.map(Field::text).unwrap_or_default())
        .arg(wish.reason)
        .arg(&wish.by.who)
        .arg(&wish.by.request_id)
        .arg(&fence.prepared);
    for (tier, to_tier) in wish.tiers {
        call = call.arg(tier.as_str()).arg(to_tier.as_str());
    }
    let reply = run(store, &TRANSFER_GIVE, call, fence.known).await?.fenced()?;
    let parts = || {
        let parts = reply.read::<Parts>()?.values.parts;
        Vec::<Part>::read(&parts).ok_or_else(|| reply.unexpected())
    };
    let given = match reply.code() {
        "ok" => Given::Done {
            now: true,
            parts: parts()?,
        },
        "same" => Given::Done {
            now: false,
            parts: parts()?,
        },
        "holds" => Given::Holds(parts()?),
        "reused" => Given::Reused,
        "open" => Given::Status(Status::Open),
        "suspended" => Given::Status(Status::Suspended),
        "pending" => Given::Pending,
        "no-tier" => Given::NoTier,
        _ => return Err(reply.unexpected()),
    };
    Ok((reply.mark(), given))
}

/// Puts the money of a transfer into its tiers, once. The caller has read `parts` in the ledger.
pub async fn transfer_receive(
    store: &Store,
    keys: &JackpotKeys,
    fence: &Fence,
    tiers: &[Tier],
    (source, transfer_id): (&Id, &Id),
    (digest, parts): (&str, &str),
) -> Result<(Mark, Received), ScriptError> {
    let pools = pools(keys, tiers).collect::<Vec<_>>();
    let fixed = [&keys.state, &keys.adjustments, &keys.events];
    let all = fixed.into_iter().chain(&pools).map(String::as_str).collect::<Vec<_>>();
    let call = fenced(&TRANSFER_RECEIVE, &all, fence)
        .arg(source.as_str())
        .arg(transfer_id.as_str())
        .arg(digest)
        .arg(parts);
    let reply = run(store, &TRANSFER_RECEIVE, call, fence.known).await?.fenced()?;
    let received = match reply.code() {
        "ok" => Received::Done(true),
        "same" => Received::Done(false),
        "too-large" => Received::TooLarge,
        _ => return Err(reply.unexpected()),
    };
    Ok((reply.mark(), received))
}
