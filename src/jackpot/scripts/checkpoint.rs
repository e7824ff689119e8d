//! `lua/jackpot/checkpoint.lua`.

use jackpot_core::jackpot::document::Tier;
use jackpot_core::mark::Mark;

use crate::store::Store;
use crate::store::keys::JackpotKeys;

use super::{CHECKPOINT, Fence, ScriptError, fenced, pools, run};

/// Appends an event with what Redis holds. Returns the jackpot's mark. `tiers`: of the definition in the fence.
pub async fn checkpoint(store: &Store, keys: &JackpotKeys, fence: &Fence, tiers: &[Tier]) -> Result<Mark, ScriptError> {
    let pools = pools(keys, tiers).collect::<Vec<_>>();
    let fixed = [
        &keys.state,
        &keys.meters,
        &keys.pending,
        &keys.events,
        &keys.seen_a,
        &keys.seen_b,
        &keys.definitions,
        &keys.adjustments,
    ];
    let all = fixed.into_iter().chain(&pools).map(String::as_str).collect::<Vec<_>>();
    let reply = run(store, &CHECKPOINT, fenced(&CHECKPOINT, &all, fence), fence.known)
        .await?
        .fenced()?;
    match reply.code() {
        "ok" => Ok(reply.mark()),
        _ => Err(reply.unexpected()),
    }
}
