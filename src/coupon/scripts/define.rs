//! `lua/coupon/define.lua`.

use crate::coupon::definition::Definition;
use crate::store::Store;
use crate::store::keys::CouponKeys;

use super::{DEFINE, Mark, ScriptError, Wanted, call, run};

/// A definition to put.
#[derive(Debug)]
pub struct Define<'a> {
    /// What is put.
    pub definition: &'a Definition,
    /// What must be there.
    pub wanted: Wanted,
    /// Version that this instance has read; `None`: there was no such coupon.
    pub last_version: Option<u64>,
    /// One for this PUT and all its repeats.
    pub nonce: &'a str,
    /// Of a coupon that this creates.
    pub history: &'a str,
    /// Name of the operator's key.
    pub who: &'a str,
    /// Of the HTTP request.
    pub request_id: &'a str,
    /// Seconds that records of a coupon that this creates are kept behind its end.
    pub retention_s: u64,
}

/// What became of it.
#[derive(Debug, PartialEq, Eq)]
pub enum Defined {
    /// The coupon is new.
    Created(u64),
    /// In force, or as it was: the coupon was there. With its version.
    Changed(u64),
    /// It is not what was expected.
    Mismatch,
    /// It is over for good.
    Ended,
    /// The stock would be below the units that are out.
    Below {
        /// Issued and not voided.
        out: u64,
    },
}

/// Puts a definition; with the coupon's mark. `known`: the highest mark this instance has seen.
///
/// # Errors
/// [`ScriptError::Stale`] when another version than the one read is there.
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
