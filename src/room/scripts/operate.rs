//! `lua/room/status.lua` and `checkpoint.lua`: calls of the service for its ledger.

use crate::room::status::Status;
use crate::store::Store;
use crate::store::keys::RoomKeys;

use super::{CHECKPOINT, Mark, STATUS, ScriptError, call, run};

#[derive(Debug, Clone)]
pub struct SetStatus {
    /// The wanted status: open or suspended.
    pub wanted: Status,
    pub reason: String,
    /// Name of the operator's key, or of the part of the service.
    pub who: String,
    /// Id of the HTTP request; empty for none.
    pub request_id: String,
}

/// Suspends a room, or opens it again. Returns its mark.
pub async fn set_status(store: &Store, keys: &RoomKeys, known: Mark, wish: &SetStatus) -> Result<Mark, ScriptError> {
    let call = call(&STATUS, keys, known)
        .arg(wish.wanted.as_str())
        .arg(&wish.reason)
        .arg(&wish.who)
        .arg(&wish.request_id);
    let reply = run(store, &STATUS, call, known).await?;
    match reply.code() {
        "ok" | "same" => Ok(reply.mark()),
        _ => Err(reply.unexpected()),
    }
}

/// Appends an event with what Redis holds. Returns the room's mark.
pub async fn checkpoint(store: &Store, keys: &RoomKeys, known: Mark) -> Result<Mark, ScriptError> {
    let reply = run(store, &CHECKPOINT, call(&CHECKPOINT, keys, known), known).await?;
    match reply.code() {
        "ok" => Ok(reply.mark()),
        _ => Err(reply.unexpected()),
    }
}
