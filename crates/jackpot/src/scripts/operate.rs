//! `lua/jackpot/define.lua`, `status.lua` and `checkpoint.lua`.

use jackpot_core::jackpot::cycle::rules_text;
use jackpot_core::jackpot::definition::Definition;
use jackpot_core::jackpot::document::Tier;
use jackpot_core::jackpot::epoch::Opening;
use jackpot_core::mark::Mark;
use jackpot_core::wire::{Field, OrDash};

use jackpot_api::jackpot::Status;
use jackpot_kernel::reply;
use jackpot_kernel::store::Store;
use jackpot_kernel::store::keys::JackpotKeys;
use jackpot_kernel::subject::operate;

use super::{CHECKPOINT, DEFINE, Fence, STATUS, ScriptError, tiers_text, with_pools};

pub type Define<'a> = operate::Define<'a, Definition>;
pub type Defined = operate::Defined<DefineRefusal>;
pub type SetStatus = operate::SetStatus<Status>;
pub type StatusSet = operate::StatusSet<Status>;

/// Why a jackpot refuses a PUT.
#[derive(Debug, PartialEq, Eq)]
pub enum DefineRefusal {
    /// A jackpot is created open or paused.
    Status,
    /// Closed is final.
    Closed,
    /// A tier stays once it is defined.
    TierRemoved(String),
    /// The currency stays once money has been in the jackpot.
    Currency(String),
}

/// What a PUT gives a jackpot that it creates.
#[derive(Debug)]
pub struct NewJackpot {
    /// Open or paused.
    pub status: Status,
    /// Nonce, commitment and secret id of epoch 1.
    pub opening: Opening,
    /// Retention of ids in seconds.
    pub retention_s: u64,
}

reply! {
    /// `tier-removed`: a tier must stay, because money may be in it.
    pub(super) struct Removed {
        /// The tier.
        tier: String,
    }
}

reply! {
    /// `currency`: the currency must stay once money has been in the jackpot.
    pub(super) struct Kept {
        /// The currency.
        currency: String,
    }
}

/// Puts a definition.
pub async fn define(
    store: &Store,
    keys: &JackpotKeys,
    fence: &Fence,
    put: &Define<'_>,
    new: &NewJackpot,
) -> Result<(Mark, Defined), ScriptError> {
    let (tiers, document) = (put.definition.tiers(), put.definition.document());
    let fixed = [
        keys.state.as_str(),
        &keys.definitions,
        &keys.epochs,
        &keys.pending,
        &keys.events,
    ];
    let json = serde_json::to_string(document).expect("plain data is JSON");
    let wish = put
        .named(&json)
        .with("tiers", tiers_text(tiers))
        .with("money", put.definition.money_digest())
        .with("currency", document.currency.as_str())
        .with("status", new.status.as_str())
        .with("epoch_nonce", &new.opening.nonce)
        .with("secret_id", &new.opening.secret_id)
        .with("retention", new.retention_s)
        .with("rules", rules_text(put.definition))
        .with("prepared", &fence.prepared)
        .with("settlement", document.settlement.as_str())
        .with("above", OrDash(document.approval_above).text());
    let call = with_pools(&DEFINE, keys, fixed, tiers, fence).arg(wish);
    operate::define(store, &DEFINE, call, fence.known, |reply| match reply.code() {
        "status" => Ok(DefineRefusal::Status),
        "closed" => Ok(DefineRefusal::Closed),
        "tier-removed" => Ok(DefineRefusal::TierRemoved(reply.read::<Removed>()?.values.tier)),
        "currency" => Ok(DefineRefusal::Currency(reply.read::<Kept>()?.values.currency)),
        _ => Err(reply.unexpected()),
    })
    .await
}

/// Pauses, resumes, suspends or closes. `tiers`: of the definition in the fence.
pub async fn set_status(
    store: &Store,
    keys: &JackpotKeys,
    fence: &Fence,
    tiers: &[Tier],
    wish: &SetStatus,
) -> Result<StatusSet, ScriptError> {
    let fixed = [keys.state.as_str(), &keys.pending, &keys.events, &keys.epochs];
    let named = wish.named(wish.wanted.as_str()).with("prepared", &fence.prepared);
    let call = with_pools(&STATUS, keys, fixed, tiers, fence).arg(named);
    operate::set_status(store, &STATUS, call, fence.known, Status::parse).await
}

/// Appends an event with what Redis holds. Returns the jackpot's mark. `tiers`: of the definition in the fence.
pub async fn checkpoint(store: &Store, keys: &JackpotKeys, fence: &Fence, tiers: &[Tier]) -> Result<Mark, ScriptError> {
    let fixed = [
        keys.state.as_str(),
        &keys.pending,
        &keys.events,
        &keys.seen_a,
        &keys.seen_b,
        &keys.definitions,
        &keys.adjustments,
    ];
    let call = with_pools(&CHECKPOINT, keys, fixed, tiers, fence);
    operate::checkpoint(store, &CHECKPOINT, call, fence.known).await
}
