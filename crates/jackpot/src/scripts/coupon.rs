//! `lua/jackpot/coupon.lua`.

use jackpot_core::ids::Id;
use jackpot_core::jackpot::document::Tier;
use jackpot_core::jackpot::record::Reason;

use jackpot_kernel::store::Store;
use jackpot_kernel::store::keys::JackpotKeys;

use super::finish::{Drawn, Finished, finished};
use super::{COUPON, Fence, ScriptError, fenced, pools, run_here, settling_keys};

/// A coupon's answer to an entry's request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Granted {
    /// The entry has a unit.
    Issued {
        /// Number of the issue within the coupon, from 1.
        sequence: u64,
        code: String,
    },
    /// It gets no unit.
    Refused(Reason),
}

/// Records the answer of a coupon for a pending entry. `tiers`: of the definition in the fence.
pub async fn record_coupon(
    store: &Store,
    keys: &JackpotKeys,
    fence: &Fence,
    tiers: &[Tier],
    drawn: Drawn<'_>,
    coupon_id: &Id,
    granted: &Granted,
) -> Result<Finished, ScriptError> {
    let pools = pools(keys, tiers).collect::<Vec<_>>();
    let call = fenced(&COUPON, &settling_keys(keys, &pools), fence)
        .arg(drawn.entry_id)
        .arg(drawn.attempt)
        .arg(drawn.rank)
        .arg(coupon_id.as_str());
    let call = match granted {
        Granted::Issued { sequence, code } => call.arg("issued").arg(sequence).arg(code),
        Granted::Refused(reason) => call.arg(reason.as_str()).arg("").arg(""),
    };
    let call = call.arg(&fence.prepared);
    finished(&run_here(store, &COUPON, call, fence.known).await?.fenced()?)
}
