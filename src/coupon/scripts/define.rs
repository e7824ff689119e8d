//! `lua/coupon/define.lua`.

use crate::coupon::definition::Definition;
use crate::store::Store;
use crate::store::keys::CouponKeys;

use super::{DEFINE, Mark, ScriptError, Wanted, call, run};

#[derive(Debug)]
pub struct Define<'a> {
    /// The new definition.
    pub definition: &'a Definition,
    /// The precondition.
    pub wanted: Wanted,
    /// The version that this instance has read; `None`: no such coupon.
    pub last_version: Option<u64>,
    /// One for this PUT and all its repeats.
    pub nonce: &'a str,
    /// History of a coupon that this call creates.
    pub history: &'a str,
    /// Name of the operator's key.
    pub who: &'a str,
    /// Id of the HTTP request.
    pub request_id: &'a str,
    /// Retention after the end, in seconds, of a coupon that this call creates.
    pub retention_s: u64,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Defined {
    /// The coupon is new.
    Created(u64),
    /// The coupon existed: the new definition is in force, or was before. With its version.
    Changed(u64),
    /// The precondition does not hold.
    Mismatch,
    /// The coupon is retired.
    Ended,
    /// The stock would be below the number of outstanding units.
    Below {
        /// Issued and not voided.
        out: u64,
    },
}

/// Puts a definition. Returns the coupon's mark with the result. `known`: the highest mark this instance has seen.
///
/// # Errors
/// [`ScriptError::Stale`] when Redis has another version than the one read.
pub async fn define(
    store: &Store,
    keys: &CouponKeys,
    known: Mark,
    wish: &Define<'_>,
) -> Result<(Mark, Defined), ScriptError> {
    let definition = wish.definition;
    let text = |number: Option<String>| number.unwrap_or_default();
    let call = call(&DEFINE, keys, known)
        .arg(definition.to_json())
        .arg(definition.stock())
        .arg(definition.per_user())
        .arg(text(definition.window_ms().map(|ms| ms.to_string())))
        .arg(text(definition.starts_ms().map(|ms| ms.to_string())))
        .arg(text(definition.ends_ms().map(|ms| ms.to_string())))
        .arg(wish.wanted.to_text())
        .arg(text(wish.last_version.map(|version| version.to_string())))
        .arg(wish.nonce)
        .arg(wish.who)
        .arg(wish.request_id)
        .arg(wish.history)
        .arg(wish.retention_s);
    let reply = run(store, &DEFINE, call, known).await?.fenced()?;
    let defined = match reply.code() {
        "created" => Defined::Created(reply.number(0)?),
        "changed" | "same" => Defined::Changed(reply.number(0)?),
        "mismatch" => Defined::Mismatch,
        "ended" => Defined::Ended,
        "below" => Defined::Below { out: reply.number(0)? },
        _ => return Err(reply.unexpected()),
    };
    Ok((reply.mark(), defined))
}
