//! `lua/jackpot/status.lua`.

use jackpot_core::jackpot::document::Tier;
use jackpot_core::mark::Mark;

use crate::store::Store;
use crate::store::keys::JackpotKeys;

use super::{Fence, STATUS, ScriptError, fenced, pools, run};
use crate::jackpot::view::Status;

/// A wanted status.
#[derive(Debug, Clone)]
pub struct SetStatus {
    /// Open, paused, suspended or closed.
    pub wanted: Status,
    pub reason: String,
    /// Name of the operator's key.
    pub who: String,
    /// Id of the HTTP request.
    pub request_id: String,
    /// A reconciliation was clean, so a suspended jackpot may be resumed.
    pub reconciled: bool,
}

/// The result, with the jackpot's mark.
#[derive(Debug, PartialEq, Eq)]
pub enum StatusSet {
    /// Done, or it had that status before.
    Done(Mark),
    /// Closed is final.
    Closed(Mark),
    /// It is suspended: it can't be paused, and resumes only after a clean reconciliation.
    Suspended(Mark),
}

/// Pauses, resumes, suspends or closes.
pub async fn set_status(
    store: &Store,
    keys: &JackpotKeys,
    fence: &Fence,
    tiers: &[Tier],
    wish: &SetStatus,
) -> Result<StatusSet, ScriptError> {
    let pools = pools(keys, tiers).collect::<Vec<_>>();
    let fixed = [&keys.state, &keys.meters, &keys.pending, &keys.events];
    let all = fixed.into_iter().chain(&pools).map(String::as_str).collect::<Vec<_>>();
    let call = fenced(&STATUS, &all, fence)
        .arg(wish.wanted.as_str())
        .arg(&wish.reason)
        .arg(&wish.who)
        .arg(&wish.request_id)
        .arg(u8::from(wish.reconciled));
    let reply = run(store, &STATUS, call, fence.known).await?.fenced()?;
    match reply.code() {
        "ok" | "same" => Ok(StatusSet::Done(reply.mark())),
        "closed" => Ok(StatusSet::Closed(reply.mark())),
        "suspended" => Ok(StatusSet::Suspended(reply.mark())),
        _ => Err(reply.unexpected()),
    }
}
