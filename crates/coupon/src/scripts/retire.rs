//! `lua/coupon/retire.lua`.

use jackpot_kernel::reply;
use jackpot_kernel::store::Store;
use jackpot_kernel::store::keys::CouponKeys;

use super::{Mark, RETIRE, ScriptError, call, run};

#[derive(Debug, PartialEq, Eq)]
pub enum Retired {
    /// Its records are gone.
    Done,
    /// The coupon's retention was this many seconds, shorter than the caller's. The script raised it and did nothing
    /// else.
    Raised(u64),
    /// The retention after its end has not passed.
    NotOver {
        /// Ms left; `None` without an end.
        left_ms: Option<u64>,
        /// The coupon's retention, seconds.
        retention_s: u64,
    },
    /// This many requests are still in the queue. `serve` must answer them first.
    Line(u64),
    /// The ledger lacks events.
    Ledger,
    /// Suspended: its records may be needed.
    Suspended,
}

reply! {
    /// `raised`: the coupon's retention was shorter than the caller's. Now it is the caller's; nothing else was done.
    pub(super) struct Raised {
        /// What it was.
        retention_s: u64,
    }
}

reply! {
    /// `not-over`: the retention after the coupon's end has not passed.
    pub(super) struct NotOver {
        /// Time left; empty without an end.
        left_ms: Option<u64>,
        /// The coupon's retention.
        retention_s: u64,
    }
}

reply! {
    /// `line`: requests are still in the queue. `serve` must answer them first.
    pub(super) struct Queued {
        /// How many.
        queued: u64,
    }
}

/// Drops the records of a coupon whose end is at least one retention ago: its own, or `retention_s` if that is longer.
/// Returns the coupon's mark with the result. `ledger_n`: number of the last event in the ledger.
pub async fn retire(
    store: &Store,
    keys: &CouponKeys,
    known: Mark,
    ledger_n: u64,
    retention_s: u64,
) -> Result<(Mark, Retired), ScriptError> {
    let call = call(&RETIRE, keys, known).arg(ledger_n).arg(retention_s);
    let reply = run(store, &RETIRE, call, known).await?;
    let retired = match reply.code() {
        "ok" | "same" => Retired::Done,
        "raised" => Retired::Raised(reply.read::<Raised>()?.retention_s),
        "not-over" => {
            let NotOver { left_ms, retention_s } = reply.read()?.values;
            Retired::NotOver { left_ms, retention_s }
        }
        "line" => Retired::Line(reply.read::<Queued>()?.queued),
        "ledger" => Retired::Ledger,
        "suspended" => Retired::Suspended,
        _ => return Err(reply.unexpected()),
    };
    Ok((reply.mark(), retired))
}
