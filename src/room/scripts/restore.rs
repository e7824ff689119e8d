//! `lua/stream/restore_begin.lua` and `lua/room/restore_end.lua`: a room rebuilt from the ledger, without its tickets.

use crate::operator::Operator;
use crate::room::definition::Definition;
use crate::room::known::OrderOf;
use crate::room::status::Status;
use crate::store::keys::RoomKeys;
use crate::store::{Call, Store};
use crate::stream::restore::{self, RestoreEnded};

use super::{RESTORE_END, ScriptError, text};

/// The state of a room, as the ledger's events tell it.
#[derive(Debug, Clone)]
pub struct RestoredState {
    /// Number of the ledger's last event.
    pub n: u64,
    /// Restores before this one, as far as the ledger knows; Redis may know of more.
    pub restores: u64,
    /// Its status when the restore has ended.
    pub status: Status,
    /// A new one.
    pub history: String,
    /// Of its definition.
    pub version: u64,
    /// The definition as Redis kept it.
    pub json: String,
    /// The same, read.
    pub definition: Definition,
    /// What the order before the opening went by.
    pub order: OrderOf,
    /// What it goes by from now on, where the room has not opened.
    pub next_order: OrderOf,
    /// When the last pass of former definitions has expired, as far as is known, ms; 0 for none.
    pub passes_until_ms: i64,
    /// The highest time that the room has shown, as far as is known, ms.
    pub clock_ms: i64,
    /// SHA-256 of the list of those who joined before the opening, once it was published.
    pub collected_sha256: Option<String>,
    /// The last PUTs.
    pub puts: String,
    /// Redis had events that the ledger lacks: passes of definitions that nobody knows may be out.
    pub lost_events: bool,
}

impl RestoredState {
    /// As `STATE` in `lua/room/state.lua` names them.
    fn fields(&self) -> [(&'static str, String); 17] {
        let definition = &self.definition;
        [
            ("n", self.n.to_string()),
            ("restores", self.restores.to_string()),
            ("status", self.status.as_str().to_owned()),
            ("history", self.history.clone()),
            ("version", self.version.to_string()),
            ("json", self.json.clone()),
            ("capacity", definition.capacity().to_string()),
            ("session", definition.session_ms().to_string()),
            ("waiting_timeout", definition.waiting_timeout_ms().to_string()),
            ("rate", text(definition.admissions_per_minute())),
            ("opens_at", text(definition.opens_ms())),
            ("order_nonce", self.order.nonce.clone()),
            ("commitment", self.order.commitment.clone()),
            ("passes_until", self.passes_until_ms.to_string()),
            ("clock", self.clock_ms.to_string()),
            ("collected_sha256", text(self.collected_sha256.as_deref())),
            ("puts", self.puts.clone()),
        ]
    }
}

/// Writes the state and lets the other scripts in again. Until every pass that may be out has expired nobody is admitted.
pub async fn restore_end(
    store: &Store,
    keys: &RoomKeys,
    token: &str,
    state: &RestoredState,
    (by, reason): (&Operator, &str),
) -> Result<RestoreEnded, ScriptError> {
    let call = keys.all().into_iter().fold(Call::new(&RESTORE_END), Call::key);
    let mut call = call.arg(token).arg(&by.who).arg(&by.request_id).arg(reason);
    call = call.arg(if state.lost_events { "1" } else { "" });
    call = call.arg(&state.next_order.nonce).arg(&state.next_order.commitment);
    for (name, value) in state.fields() {
        call = call.arg(name).arg(value);
    }
    restore::restore_end(store, &RESTORE_END, call).await
}
