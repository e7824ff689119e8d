//! `lua/coupon/retire.lua`.

use crate::store::Store;
use crate::store::keys::CouponKeys;

use super::{Mark, RETIRE, ScriptError, call, run};

/// What became of it.
#[derive(Debug, PartialEq, Eq)]
pub enum Retired {
    /// Its records are gone.
    Done,
    /// It is not over for long enough: there is so much left, `None` without an end.
    NotOver(Option<u64>),
    /// So many requests wait to be told that it is over.
    Line(u64),
    /// The ledger lacks events.
    Ledger,
    /// It is suspended: its records may be needed.
    Suspended,
}

/// Drops the records of a coupon that ended at least `retention_ms` ago; with its mark. `ledger_n`: number of the last
/// event that the ledger has.
pub async fn retire(
    store: &Store,
    keys: &CouponKeys,
    known: Mark,
    ledger_n: u64,
    retention_ms: u64,
) -> Result<(Mark, Retired), ScriptError> {
    let call = call(&RETIRE, keys, known).arg(ledger_n).arg(retention_ms);
    let reply = run(store, &RETIRE, call, known).await?;
    let retired = match reply.code() {
        "ok" | "same" => Retired::Done,
        "not-over" => Retired::NotOver(match reply.text(0)? {
            text if text.is_empty() => None,
            _ => Some(reply.number(0)?),
        }),
        "line" => Retired::Line(reply.number(0)?),
        "ledger" => Retired::Ledger,
        "suspended" => Retired::Suspended,
        _ => return Err(reply.unexpected()),
    };
    Ok((reply.mark(), retired))
}
