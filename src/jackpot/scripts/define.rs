//! `lua/jackpot/define.lua`.

use jackpot_core::jackpot::definition::Definition;
use jackpot_core::jackpot::epoch::Opening;
use jackpot_core::mark::Mark;

use crate::store::Store;
use crate::store::keys::JackpotKeys;

use super::{DEFINE, Fence, ScriptError, fenced, pools, run, tiers_text};
use crate::jackpot::view::Status;
use crate::subject::Wanted;

#[derive(Debug)]
pub struct Define<'a> {
    /// The new definition.
    pub definition: &'a Definition,
    /// The precondition.
    pub wanted: Wanted,
    /// Status of a jackpot that this call creates.
    pub status: Status,
    /// The last version that this instance has read; `None`: no such jackpot.
    pub last_version: Option<u64>,
    /// One for this PUT and all its repeats.
    pub nonce: &'a str,
    /// Nonce, commitment and secret id of epoch 1 of a jackpot that this call creates.
    pub opening: &'a Opening,
    /// History of a jackpot that this call creates.
    pub history: &'a str,
    /// Retention in seconds of a jackpot that this call creates.
    pub retention_s: u64,
    /// Name of the operator's key.
    pub who: &'a str,
    /// Id of the HTTP request.
    pub request_id: &'a str,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Defined {
    /// The jackpot is new.
    Created(u64),
    /// The jackpot existed: the definition is in force, waits, or was there before. With the last version.
    Changed(u64),
    /// The precondition does not hold.
    Mismatch,
    /// A jackpot is created open or paused.
    Status,
    /// Closed is final.
    Closed,
    /// A tier stays once it is defined.
    TierRemoved(String),
    /// The currency stays once money has been in the jackpot.
    Currency(String),
}

/// Puts a definition. Returns the jackpot's mark with the result.
pub async fn define(
    store: &Store,
    keys: &JackpotKeys,
    fence: &Fence,
    wish: &Define<'_>,
) -> Result<(Mark, Defined), ScriptError> {
    let tiers = wish.definition.tiers();
    let pools = pools(keys, tiers).collect::<Vec<_>>();
    let fixed = [
        &keys.state,
        &keys.meters,
        &keys.definitions,
        &keys.epochs,
        &keys.pending,
        &keys.events,
    ];
    let all = fixed.into_iter().chain(&pools).map(String::as_str).collect::<Vec<_>>();
    let json = serde_json::to_string(wish.definition.document()).expect("plain data is JSON");
    let call = fenced(&DEFINE, &all, fence)
        .arg(json)
        .arg(tiers_text(tiers))
        .arg(wish.definition.money_digest())
        .arg(&wish.definition.document().currency)
        .arg(wish.wanted.to_text())
        .arg(wish.status.as_str())
        .arg(wish.who)
        .arg(wish.request_id)
        .arg(wish.last_version.map(|v| v.to_string()).unwrap_or_default())
        .arg(wish.nonce)
        .arg(wish.history)
        .arg(&wish.opening.nonce)
        .arg(&wish.opening.secret_id)
        .arg(wish.retention_s);
    let reply = run(store, &DEFINE, call, fence.known).await?.fenced()?;
    let defined = match reply.code() {
        "created" => Defined::Created(reply.number(0)?),
        "changed" | "waits" | "same" => Defined::Changed(reply.number(0)?),
        "mismatch" => Defined::Mismatch,
        "status" => Defined::Status,
        "closed" => Defined::Closed,
        "tier-removed" => Defined::TierRemoved(reply.text(0)?),
        "currency" => Defined::Currency(reply.text(0)?),
        _ => return Err(reply.unexpected()),
    };
    Ok((reply.mark(), defined))
}
