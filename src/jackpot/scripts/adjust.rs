//! `lua/jackpot/adjust.lua`.

use jackpot_core::ids::Id;
use jackpot_core::jackpot::document::Tier;
use jackpot_core::mark::Mark;
use jackpot_core::money::Minor;

use crate::reply;
use crate::store::Store;
use crate::store::keys::JackpotKeys;

use super::{ADJUST, Fence, ScriptError, fenced, pools, run};

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
    /// Name of the operator's key.
    pub who: String,
    /// Id of the HTTP request.
    pub request_id: String,
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
    /// The adjustment is done, by this call (`ok`) or an earlier one (`same`).
    pub(super) struct Done {
        /// When, by Redis' clock.
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

/// Adjusts, once for each id. Returns the jackpot's mark with the result.
pub async fn adjust(
    store: &Store,
    keys: &JackpotKeys,
    fence: &Fence,
    tiers: &[Tier],
    wish: &Adjust,
) -> Result<(Mark, Adjusted), ScriptError> {
    let pools = pools(keys, tiers).collect::<Vec<_>>();
    let fixed = [&keys.state, &keys.adjustments, &keys.events];
    let all = fixed.into_iter().chain(&pools).map(String::as_str).collect::<Vec<_>>();
    let call = fenced(&ADJUST, &all, fence)
        .arg(wish.adjustment_id.as_str())
        .arg(&wish.digest)
        .arg(wish.tier.as_str())
        .arg(wish.from.unwrap_or_default())
        .arg(wish.to.unwrap_or_default())
        .arg(wish.amount.get())
        .arg(&wish.reason)
        .arg(&wish.who)
        .arg(&wish.request_id);
    let reply = run(store, &ADJUST, call, fence.known).await?.fenced()?;
    let adjusted = match reply.code() {
        "ok" => Adjusted::Done {
            now: true,
            at_ms: reply.read::<Done>()?.at_ms,
        },
        "same" => Adjusted::Done {
            now: false,
            at_ms: reply.read::<Done>()?.at_ms,
        },
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
