//! `lua/room/define.lua`.

use crate::room::definition::Definition;
use crate::store::Store;
use crate::store::keys::RoomKeys;

use super::{DEFINE, Mark, ScriptError, Wanted, call, run, text};

/// A definition to put.
#[derive(Debug)]
pub struct Define<'a> {
    /// What is put.
    pub definition: &'a Definition,
    /// SHA-256 of the seed with this nonce: it counts when the PUT makes the room, or sets a new `opens_at`.
    pub commitment: &'a str,
    /// What must be there.
    pub wanted: Wanted,
    /// Version that this instance has read; `None`: there was no such room.
    pub last_version: Option<u64>,
    /// One for this PUT and all its repeats, and that of the order where the PUT sets it: 32 hexadecimal digits.
    pub nonce: &'a str,
    /// Of a room that this creates.
    pub history: &'a str,
    /// Name of the operator's key.
    pub who: &'a str,
    /// Of the HTTP request.
    pub request_id: &'a str,
}

/// What became of it.
#[derive(Debug, PartialEq, Eq)]
pub enum Defined {
    /// The room is new.
    Created(u64),
    /// In force, or as it was: the room was there. With its version.
    Changed(u64),
    /// It is not what was expected.
    Mismatch,
    /// The room has opened: `opens_at` can only stay, or become none.
    Opened,
}

/// Puts a definition; with the room's mark. `known`: the highest mark this instance has seen.
///
/// # Errors
/// [`ScriptError::Stale`] when another version than the one read is there.
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
