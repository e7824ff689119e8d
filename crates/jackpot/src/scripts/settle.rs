//! `lua/jackpot/settle.lua`.

use jackpot_core::ids::Id;
use jackpot_core::jackpot::document::Tier;
use jackpot_core::jackpot::settlement::{Attempt, Standing, State, Step};
use jackpot_core::mark::Mark;

use jackpot_kernel::operator::Operator;
use jackpot_kernel::reply;
use jackpot_kernel::store::Store;
use jackpot_kernel::store::keys::JackpotKeys;
use jackpot_kernel::subject::Named;
use jackpot_kernel::subject::operate::text;

use super::{Fence, SETTLE, ScriptError, run, with_pools};

/// A step of a payout, as it was decided by the ledger.
#[derive(Debug)]
pub struct Settle<'a> {
    pub payout_id: &'a str,
    /// Number of the event up to which the ledger was read.
    pub seen: u64,
    pub step: Step,
    pub before: State,
    /// The payout after the step.
    pub after: &'a Standing,
    pub tier: &'a Id,
    /// Minor units.
    pub amount: u64,
    /// Why, or the reference of a settlement.
    pub reason: &'a str,
    pub by: &'a Operator,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stepped {
    Done,
    /// The ledger was read too early: it needs the event of this number.
    Later(u64),
    /// The owner who set the limit does not approve.
    SameOwner,
    /// `contributed` and `funded` together would pass 2^53 − 1.
    TooLarge,
}

reply! {
    /// `later`: the event of this number took a step of the payout, or used the settlement id.
    pub(super) struct Later {
        /// Its number.
        n: u64,
    }
}

/// Takes a step of a payout. Returns the jackpot's mark with the result; after `Done` its number is that of the step.
/// `tiers`: of the definition in force.
pub async fn settle(
    store: &Store,
    keys: &JackpotKeys,
    fence: &Fence,
    tiers: &[Tier],
    wish: &Settle<'_>,
) -> Result<(Mark, Stepped), ScriptError> {
    let Standing {
        state,
        approved,
        attempt,
        asked,
    } = wish.after;
    let (approved_by, approver) = approved.as_ref().map_or(("", ""), |(key, owner)| (key, owner));
    let attempt = attempt.as_ref();
    let of_attempt = |text: fn(&Attempt) -> &str| attempt.map_or("", text);
    let attempt_at = attempt.filter(|attempt| attempt.at_ms > 0);
    let named = Named::new()
        .with("payout", wish.payout_id)
        .with("seen", wish.seen)
        .with("step", wish.step.as_str())
        .with("before", wish.before.as_str())
        .with("after", state.as_str())
        .with("tier", wish.tier)
        .with("amount", wish.amount)
        .with("approved_by", approved_by)
        .with("approver", approver)
        .with("attempt", of_attempt(|attempt| attempt.ended.as_str()))
        .with("settlement", of_attempt(|attempt| &attempt.settlement_id))
        .with("text", of_attempt(|attempt| &attempt.text))
        .with("attempt_at", text(attempt_at.map(|attempt| attempt.at_ms)))
        .with("asked", text(asked.as_ref()))
        .why(wish.by, wish.reason);
    let fixed = [keys.state.as_str(), &keys.steps, &keys.events];
    let call = with_pools(&SETTLE, keys, fixed, tiers, fence).arg(named);
    let reply = run(store, &SETTLE, call, fence.known).await?.fenced()?;
    let stepped = match reply.code() {
        "ok" => Stepped::Done,
        "later" => Stepped::Later(reply.read::<Later>()?.values.n),
        "same-owner" => Stepped::SameOwner,
        "too-large" => Stepped::TooLarge,
        _ => return Err(reply.unexpected()),
    };
    Ok((reply.mark(), stepped))
}
