//! `lua/jackpot/withdraw.lua`.

use jackpot_core::jackpot::leaving::Leaving;
use jackpot_core::mark::Mark;

use jackpot_kernel::operator::Operator;
use jackpot_kernel::store::Store;
use jackpot_kernel::store::keys::JackpotKeys;
use jackpot_kernel::subject::Named;

use super::{Fence, ScriptError, WITHDRAW, fenced, run};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Withdrawn {
    /// It stays undone, by this call or an earlier one.
    Done,
    /// There is no such request.
    Missing,
    /// The money has left.
    Left,
}

/// Ends what waits for a second owner.
pub async fn withdraw(
    store: &Store,
    keys: &JackpotKeys,
    fence: &Fence,
    of: &Leaving,
    reason: &str,
    by: &Operator,
) -> Result<(Mark, Withdrawn), ScriptError> {
    let all = [&*keys.state, &keys.adjustments, &keys.events];
    let (adjustment, transfer) = match of {
        Leaving::Adjustment(id) => (id.as_str(), ""),
        Leaving::Transfer(id) => ("", id.as_str()),
    };
    let named = Named::new().with("adjustment", adjustment).with("transfer", transfer);
    let call = fenced(&WITHDRAW, &all, fence).arg(named.why(by, reason));
    let reply = run(store, &WITHDRAW, call, fence.known).await?.fenced()?;
    let withdrawn = match reply.code() {
        "ok" | "same" => Withdrawn::Done,
        "missing" => Withdrawn::Missing,
        "done" => Withdrawn::Left,
        _ => return Err(reply.unexpected()),
    };
    Ok((reply.mark(), withdrawn))
}
