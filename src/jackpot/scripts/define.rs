//! `lua/jackpot/define.lua`.

use jackpot_core::jackpot::definition::Definition;
use jackpot_core::jackpot::epoch::Opening;
use jackpot_core::mark::Mark;

use crate::store::Store;
use crate::store::keys::JackpotKeys;

use super::{DEFINE, Fence, ScriptError, fenced, pools, run, tiers_text};
use crate::jackpot::view::Status;
use crate::stream::Wanted;

/// A definition to put.
#[derive(Debug)]
pub struct Define<'a> {
    /// What is put.
    pub definition: &'a Definition,
    /// What must be there.
    pub wanted: Wanted,
    /// Status of a jackpot that this creates.
    pub status: Status,
    /// Last version that this instance has read; `None`: there was no such jackpot.
    pub last_version: Option<u64>,
    /// One for this PUT and all its repeats.
    pub nonce: &'a str,
    /// Of epoch 1 of a jackpot that this creates.
    pub opening: &'a Opening,
    /// Of a jackpot that this creates.
    pub history: &'a str,
    /// Seconds that ids of a jackpot that this creates are remembered.
    pub retention_s: u64,
    /// Name of the operator's key.
    pub who: &'a str,
    /// Of the HTTP request.
    pub request_id: &'a str,
}

/// What became of it.
#[derive(Debug, PartialEq, Eq)]
pub enum Defined {
    /// The jackpot is new.
    Created(u64),
    /// In force, waiting, or as it was: the jackpot was there. With the last version.
    Changed(u64),
    /// It is not what was expected.
    Mismatch,
    /// A jackpot is created open or paused.
    Status,
    /// Closed is final.
    Closed,
    /// A tier stays once it is defined.
    TierRemoved(String),
    /// The currency stays once money has been there.
    Currency(String),
}

/// Puts a definition; with the jackpot's mark.
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
