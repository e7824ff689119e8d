//! `lua/room/define.lua`.

use crate::room::definition::Definition;
use crate::store::Store;
use crate::store::keys::RoomKeys;

use super::{DEFINE, Mark, ScriptError, Wanted, call, run, text};

#[derive(Debug)]
pub struct Define<'a> {
    /// The new definition.
    pub definition: &'a Definition,
    /// SHA-256 of the seed with this nonce. It counts if the PUT creates the room, or sets a new `opens_at`.
    pub commitment: &'a str,
    /// The precondition.
    pub wanted: Wanted,
    /// The version that this instance has read; `None`: no such room.
    pub last_version: Option<u64>,
    /// One for this PUT and all its repeats, and the order's nonce if the PUT sets it: 32 hexadecimal digits.
    pub nonce: &'a str,
    /// History of a room that this call creates.
    pub history: &'a str,
    /// Name of the operator's key.
    pub who: &'a str,
    /// Id of the HTTP request.
    pub request_id: &'a str,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Defined {
    /// The room is new.
    Created(u64),
    /// The room existed: the new definition is in force, or was before. With its version.
    Changed(u64),
    /// The precondition does not hold.
    Mismatch,
    /// The room has opened: `opens_at` can stay or become null.
    Opened,
}

/// Puts a definition. Returns the room's mark with the result. `known`: the highest mark this instance has seen.
///
/// # Errors
/// [`ScriptError::Stale`] when Redis has another version than the one read.
pub async fn define(
    store: &Store,
    keys: &RoomKeys,
    known: Mark,
    wish: &Define<'_>,
) -> Result<(Mark, Defined), ScriptError> {
    let definition = wish.definition;
    let call = call(&DEFINE, keys, known)
        .arg(definition.to_json())
        .arg(definition.capacity())
        .arg(definition.session_ms())
        .arg(definition.waiting_timeout_ms())
        .arg(text(definition.admissions_per_minute()))
        .arg(text(definition.opens_ms()))
        .arg(wish.wanted.to_text())
        .arg(text(wish.last_version))
        .arg(wish.nonce)
        .arg(wish.who)
        .arg(wish.request_id)
        .arg(wish.commitment)
        .arg(wish.history);
    let reply = run(store, &DEFINE, call, known).await?.fenced()?;
    let defined = match reply.code() {
        "created" => Defined::Created(reply.number(0)?),
        "changed" | "same" => Defined::Changed(reply.number(0)?),
        "mismatch" => Defined::Mismatch,
        "opened" => Defined::Opened,
        _ => return Err(reply.unexpected()),
    };
    Ok((reply.mark(), defined))
}
