//! `lua/coupon/checkpoint.lua`.

use crate::store::Store;
use crate::store::keys::CouponKeys;

use super::{CHECKPOINT, Mark, ScriptError, call, run};

/// Appends an event with what Redis holds. Returns the coupon's mark.
pub async fn checkpoint(store: &Store, keys: &CouponKeys, known: Mark) -> Result<Mark, ScriptError> {
    let reply = run(store, &CHECKPOINT, call(&CHECKPOINT, keys, known), known).await?;
    match reply.code() {
        "ok" => Ok(reply.mark()),
        _ => Err(reply.unexpected()),
    }
}
