//! `lua/jackpot/adjust.lua`.

use jackpot_core::ids::Id;
use jackpot_core::jackpot::document::Tier;
use jackpot_core::mark::Mark;
use jackpot_core::money::Minor;

use jackpot_kernel::operator::Operator;
use jackpot_kernel::reply;
use jackpot_kernel::store::Store;
use jackpot_kernel::store::keys::JackpotKeys;
use jackpot_kernel::subject::Named;
use jackpot_kernel::subject::operate::text;

use super::{ADJUST, Fence, ScriptError, run, with_pools};

/// A change of a meter by an operator: money in, out, or moved.
#[derive(Debug, Clone)]
pub struct Adjust {
    /// The adjustment id.
    pub adjustment_id: Id,
    /// Digest of its content. The same id with another digest is refused.
    pub digest: String,
    pub tier: Id,
    /// Source meter; `None`: outside.
    pub from: Option<&'static str>,
    /// Target meter; `None`: outside.
    pub to: Option<&'static str>,
    /// Minor units, from 1.
    pub amount: Minor,
    pub reason: String,
    pub by: Operator,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Adjusted {
    /// Done now, or by an earlier call with the same content.
    Done {
        /// Whether this call did it.
        now: bool,
        /// Time in ms of Redis' clock.
        at_ms: i64,
    },
    /// It waits for a second owner.
    Held {
        /// Whether this call asked for it.
        now: bool,
        /// When it was asked for.
        at_ms: i64,
    },
    /// It waited, and stays undone. The time is when it was asked for.
    Withdrawn(i64),
    /// There is no such adjustment to approve.
    Missing,
    /// It was made without an approval.
    NotHeld,
    /// The owner who asked does not approve.
    SameOwner,
    /// The id was used with another content.
    Reused,
    /// The meter holds only this.
    BelowZero(u64),
    /// The pool may hold only this.
    AboveCap(u64),
    /// It would raise the pool above `low` of an open amount cycle.
    MustHit,
    /// `contributed` and `funded` together would pass 2^53 − 1.
    TooLarge,
    /// The definition has no such tier.
    NoTier,
}

reply! {
    /// The adjustment is done, by this call (`ok`) or an earlier one (`same`), or waits (`held`, `waits`), or was withdrawn.
    pub(super) struct Done {
        /// When it was done or asked for, by Redis' clock.
        at_ms: i64,
    }
}

reply! {
    /// `below-zero`: the meter holds less than the adjustment takes.
    pub(super) struct Below {
        /// What it holds, minor units.
        held: u64,
    }
}

reply! {
    /// `above-cap`: the pool would pass its cap.
    pub(super) struct Above {
        /// The cap, minor units.
        cap: u64,
    }
}

/// An approval of an adjustment that waits, or of a transfer.
#[derive(Debug)]
pub struct Approves<'a> {
    pub id: &'a Id,
    pub reason: &'a str,
    pub by: &'a Operator,
}

/// Adjusts, once for each id. Returns the jackpot's mark with the result.
pub async fn adjust(
    store: &Store,
    keys: &JackpotKeys,
    fence: &Fence,
    tiers: &[Tier],
    wish: &Adjust,
) -> Result<(Mark, Adjusted), ScriptError> {
    let named = Named::new()
        .with("adjustment", &wish.adjustment_id)
        .with_flag("approves", false)
        .with("digest", &wish.digest)
        .with("tier", &wish.tier)
        .with("from", text(wish.from))
        .with("to", text(wish.to))
        .with("amount", wish.amount.get())
        .why(&wish.by, &wish.reason);
    call(store, keys, fence, tiers, named).await
}

/// Makes an adjustment that waits for a second owner.
pub async fn approve_adjustment(
    store: &Store,
    keys: &JackpotKeys,
    fence: &Fence,
    tiers: &[Tier],
    wish: &Approves<'_>,
) -> Result<(Mark, Adjusted), ScriptError> {
    let named = Named::new().with("adjustment", wish.id).with_flag("approves", true);
    call(store, keys, fence, tiers, named.why(wish.by, wish.reason)).await
}

async fn call(
    store: &Store,
    keys: &JackpotKeys,
    fence: &Fence,
    tiers: &[Tier],
    wish: Named,
) -> Result<(Mark, Adjusted), ScriptError> {
    let fixed = [keys.state.as_str(), &keys.adjustments, &keys.events];
    let call = with_pools(&ADJUST, keys, fixed, tiers, fence).arg(wish);
    let reply = run(store, &ADJUST, call, fence.known).await?.fenced()?;
    let at_ms = || Ok::<_, ScriptError>(reply.read::<Done>()?.at_ms);
    let adjusted = match reply.code() {
        code @ ("ok" | "same") => Adjusted::Done {
            now: code == "ok",
            at_ms: at_ms()?,
        },
        code @ ("held" | "waits") => Adjusted::Held {
            now: code == "held",
            at_ms: at_ms()?,
        },
        "withdrawn" => Adjusted::Withdrawn(at_ms()?),
        "no-adjustment" => Adjusted::Missing,
        "not-held" => Adjusted::NotHeld,
        "same-owner" => Adjusted::SameOwner,
        "reused" => Adjusted::Reused,
        "below-zero" => Adjusted::BelowZero(reply.read::<Below>()?.held),
        "above-cap" => Adjusted::AboveCap(reply.read::<Above>()?.cap),
        "must-hit" => Adjusted::MustHit,
        "too-large" => Adjusted::TooLarge,
        "no-tier" => Adjusted::NoTier,
        _ => return Err(reply.unexpected()),
    };
    Ok((reply.mark(), adjusted))
}
