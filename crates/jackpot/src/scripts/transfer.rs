//! `lua/jackpot/transfer_expect.lua`, `transfer_give.lua`, `transfer_receive.lua` and `transfer_release.lua`.

use jackpot_core::currency::Currency;
use jackpot_core::ids::Id;
use jackpot_core::jackpot::document::Tier;
use jackpot_core::jackpot::transfer::Part;
use jackpot_core::mark::Mark;
use jackpot_core::money::Minor;
use jackpot_core::wire::{Field, OrDash};

use jackpot_api::jackpot::Status;
use jackpot_kernel::operator::Operator;
use jackpot_kernel::reply;
use jackpot_kernel::store::Store;
use jackpot_kernel::store::keys::JackpotKeys;
use jackpot_kernel::subject::Named;
use jackpot_kernel::subject::operate::text;

use super::{Fence, ScriptError, TRANSFER_EXPECT, TRANSFER_GIVE, TRANSFER_RECEIVE, TRANSFER_RELEASE, run, with_pools};

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
    pub currency: Currency,
    /// The amount from which on its money needs a second owner.
    pub limit: Option<Minor>,
    /// Whether to check only, and make no room.
    pub looks: bool,
    pub reason: &'a str,
    pub by: &'a Operator,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// There is room, by this call or an earlier one.
    Made,
    /// Here less money needs a second owner.
    Weaker,
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
    pub expected: Option<&'a Holds>,
    /// Whether it gives what waits for a second owner. Then only id, reason and key count.
    pub is_approval: bool,
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
    /// It waits for a second owner.
    Held {
        /// Whether this call asked for it.
        now: bool,
        /// What the tiers held then.
        parts: Vec<Part>,
    },
    /// It waited, and gives nothing any more.
    Withdrawn(Vec<Part>),
    /// Nothing was given, because the tiers hold these parts.
    Holds(Holds),
    /// There is no such transfer to approve.
    Missing,
    /// It was given without an approval.
    NotHeld,
    /// The owner who asked does not approve.
    SameOwner,
    /// The tiers hold more than was asked for.
    More,
    /// The id was used with another content.
    Reused,
    /// The jackpot is open or suspended.
    Status(Status),
    /// Entries have no outcome.
    Pending,
    /// It has no such tier.
    NoTier,
    /// The tiers together hold more than 2^53 - 1.
    TooLarge,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Received {
    /// It is in, by this call (`true`) or an earlier one.
    Done(bool),
    /// There is no room below 2^53 - 1.
    TooLarge,
}

reply! {
    /// The money of a transfer is given, by this call (`ok`) or an earlier one (`same`), or waits (`held`, `waits`), or was
    /// withdrawn.
    pub(super) struct Parts {
        /// What each tier gives.
        parts: String,
    }
}

reply! {
    /// `holds`: the tiers hold other parts than the target expects.
    pub(super) struct Holding {
        /// What each tier would give.
        parts: String,
        /// Whether that needs a second owner.
        waits: bool,
        /// From which amount on money needs one, minor units; `-` for none.
        limit: OrDash<Minor>,
        /// When, ms of the clock of its Redis.
        at_ms: i64,
    }
}

/// What tiers would give.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holds {
    pub parts: Vec<Part>,
    /// Whether that needs a second owner: then the target makes no room yet.
    pub waits: bool,
    /// From which amount on money needs one.
    pub limit: Option<Minor>,
    /// When they held that, ms of the clock of their Redis.
    pub at_ms: i64,
}

/// Makes room for a transfer, once for the same parts.
pub async fn transfer_expect(
    store: &Store,
    keys: &JackpotKeys,
    fence: &Fence,
    tiers: &[Tier],
    wish: &Expect<'_>,
) -> Result<(Mark, Expected), ScriptError> {
    let named = Named::new()
        .with("from", wish.source)
        .with("transfer", wish.transfer_id)
        .with("digest", wish.digest)
        .with("parts", wish.parts.text())
        .with("currency", wish.currency.as_str())
        .with_flag("looks", wish.looks)
        .with("limit", OrDash(wish.limit).text())
        .why(wish.by, wish.reason);
    let fixed = [keys.state.as_str(), &keys.adjustments, &keys.events];
    let call = with_pools(&TRANSFER_EXPECT, keys, fixed, tiers, fence).arg(named);
    let reply = run(store, &TRANSFER_EXPECT, call, fence.known).await?.fenced()?;
    let expected = match reply.code() {
        "ok" | "same" => Expected::Made,
        "weaker" => Expected::Weaker,
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
    let pairs = wish.tiers.iter().map(|(tier, to_tier)| format!("{tier} {to_tier};"));
    let named = Named::new()
        .with("transfer", wish.transfer_id)
        .with("digest", wish.digest)
        .with("to", wish.to)
        .with("pairs", pairs.collect::<String>())
        .with("expected", text(wish.expected.map(|holds| holds.parts.text())))
        .with("prepared", &fence.prepared)
        .with_flag("approves", wish.is_approval)
        .with_flag("room", wish.expected.is_some_and(|holds| !holds.waits))
        .with("looked", wish.expected.map_or(0, |holds| holds.at_ms))
        .why(wish.by, wish.reason);
    let fixed = [keys.state.as_str(), &keys.pending, &keys.adjustments, &keys.events];
    let call = with_pools(&TRANSFER_GIVE, keys, fixed, tiers, fence).arg(named);
    let reply = run(store, &TRANSFER_GIVE, call, fence.known).await?.fenced()?;
    let parts = || {
        let parts = reply.read::<Parts>()?.values.parts;
        Vec::<Part>::read(&parts).ok_or_else(|| reply.unexpected())
    };
    let given = match reply.code() {
        code @ ("ok" | "same") => Given::Done {
            now: code == "ok",
            parts: parts()?,
        },
        code @ ("held" | "waits") => Given::Held {
            now: code == "held",
            parts: parts()?,
        },
        "withdrawn" => Given::Withdrawn(parts()?),
        "holds" => {
            let held = reply.read::<Holding>()?.values;
            Given::Holds(Holds {
                parts: Vec::<Part>::read(&held.parts).ok_or_else(|| reply.unexpected())?,
                waits: held.waits,
                limit: held.limit.0,
                at_ms: held.at_ms,
            })
        }
        "no-transfer" => Given::Missing,
        "not-held" => Given::NotHeld,
        "same-owner" => Given::SameOwner,
        "more" => Given::More,
        "reused" => Given::Reused,
        "open" => Given::Status(Status::Open),
        "suspended" => Given::Status(Status::Suspended),
        "pending" => Given::Pending,
        "no-tier" => Given::NoTier,
        "too-large" => Given::TooLarge,
        _ => return Err(reply.unexpected()),
    };
    Ok((reply.mark(), given))
}

/// The money of a transfer, as its target receives it.
#[derive(Debug, Clone, Copy)]
pub struct Incoming<'a> {
    pub source: &'a Id,
    pub transfer_id: &'a Id,
    /// Of `parts`.
    pub digest: &'a str,
    /// As the ledger has them.
    pub parts: &'a str,
}

/// Puts the money of a transfer into its tiers, once.
pub async fn transfer_receive(
    store: &Store,
    keys: &JackpotKeys,
    fence: &Fence,
    tiers: &[Tier],
    incoming: Incoming<'_>,
) -> Result<(Mark, Received), ScriptError> {
    let fixed = [keys.state.as_str(), &keys.adjustments, &keys.events];
    let call = with_pools(&TRANSFER_RECEIVE, keys, fixed, tiers, fence)
        .arg(incoming.source.as_str())
        .arg(incoming.transfer_id.as_str())
        .arg(incoming.digest)
        .arg(incoming.parts);
    let reply = run(store, &TRANSFER_RECEIVE, call, fence.known).await?.fenced()?;
    let received = match reply.code() {
        "ok" => Received::Done(true),
        "same" => Received::Done(false),
        "too-large" => Received::TooLarge,
        _ => return Err(reply.unexpected()),
    };
    Ok((reply.mark(), received))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Released {
    /// It has ended, by this call.
    Now,
    /// It had ended, or there is none.
    Before,
    /// Somebody may still use it.
    Early,
}

/// Ends room that nobody uses. `digest`: in its name, with its number.
pub async fn transfer_release(
    store: &Store,
    keys: &JackpotKeys,
    fence: &Fence,
    tiers: &[Tier],
    source: &Id,
    transfer_id: &Id,
    digest: &str,
) -> Result<(Mark, Released), ScriptError> {
    let fixed = [keys.state.as_str(), &keys.adjustments, &keys.events];
    let call = with_pools(&TRANSFER_RELEASE, keys, fixed, tiers, fence)
        .arg(source.as_str())
        .arg(transfer_id.as_str())
        .arg(digest);
    let reply = run(store, &TRANSFER_RELEASE, call, fence.known).await?.fenced()?;
    let released = match reply.code() {
        "ok" => Released::Now,
        "same" => Released::Before,
        "early" => Released::Early,
        _ => return Err(reply.unexpected()),
    };
    Ok((reply.mark(), released))
}
