//! `lua/room/define.lua`, `status.lua` and `checkpoint.lua`.

use crate::definition::Definition;
use jackpot_api::room::Status;
use jackpot_kernel::store::Store;
use jackpot_kernel::store::keys::RoomKeys;
use jackpot_kernel::subject::operate::{self, text};

use super::{CHECKPOINT, DEFINE, Mark, STATUS, ScriptError, call};

/// Its nonce becomes the order's nonce if the PUT sets it.
pub type Define<'a> = operate::Define<'a, Definition>;
pub type Defined = operate::Defined<DefineRefusal>;
pub type SetStatus = operate::SetStatus<Status>;
pub type StatusSet = operate::StatusSet<Status>;

/// Why a room refuses a PUT.
#[derive(Debug, PartialEq, Eq)]
pub enum DefineRefusal {
    /// The room has opened: `opens_at` can stay or become null.
    Opened,
}

/// Puts a definition. `known`: the highest mark this instance has seen. `commitment`: SHA-256 of the seed with the PUT's
/// nonce. It counts if the PUT creates the room, or sets a new `opens_at`.
pub async fn define(
    store: &Store,
    keys: &RoomKeys,
    known: Mark,
    put: &Define<'_>,
    commitment: &str,
) -> Result<(Mark, Defined), ScriptError> {
    let definition = put.definition;
    let wish = put
        .named(&definition.to_json())
        .with("capacity", definition.capacity())
        .with("session", definition.session_ms())
        .with("waiting_timeout", definition.waiting_timeout_ms())
        .with("rate", text(definition.admissions_per_minute()))
        .with("opens_at", text(definition.opens_ms()))
        .with("commitment", commitment);
    let call = call(&DEFINE, keys, known).arg(wish);
    operate::define(store, &DEFINE, call, known, |reply| match reply.code() {
        "opened" => Ok(DefineRefusal::Opened),
        _ => Err(reply.unexpected()),
    })
    .await
}

/// Suspends a room, or opens it again.
pub async fn set_status(
    store: &Store,
    keys: &RoomKeys,
    known: Mark,
    wish: &SetStatus,
) -> Result<StatusSet, ScriptError> {
    let call = call(&STATUS, keys, known).arg(wish.named(wish.wanted.as_str()));
    operate::set_status(store, &STATUS, call, known, |_| None).await
}

/// Appends an event with what Redis holds. Returns the room's mark.
pub async fn checkpoint(store: &Store, keys: &RoomKeys, known: Mark) -> Result<Mark, ScriptError> {
    operate::checkpoint(store, &CHECKPOINT, call(&CHECKPOINT, keys, known), known).await
}
