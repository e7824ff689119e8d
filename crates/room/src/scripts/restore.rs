//! Rebuilds a room from the ledger, without its tickets: `lua/subject/restore_begin.lua` and `lua/room/restore_end.lua`.

use crate::definition::Definition;
use crate::known::OrderOf;
use jackpot_api::room::Status;
use jackpot_kernel::operator::Operator;
use jackpot_kernel::store::keys::RoomKeys;
use jackpot_kernel::store::{Call, Store};
use jackpot_kernel::subject::operate::text;
use jackpot_kernel::subject::restore::{self, RestoreEnded};

use super::{RESTORE_END, ScriptError};

/// The state of a room, from the ledger's events.
#[derive(Debug, Clone)]
pub struct RestoredState {
    /// Number of the ledger's last event.
    pub n: u64,
    /// Restores before this one, as far as the ledger knows. Redis may know of more.
    pub restores: u64,
    /// Its status after the restore.
    pub status: Status,
    /// The new history.
    pub history: String,
    /// Version of its definition.
    pub version: u64,
    /// The definition's JSON, as Redis kept it.
    pub json: String,
    /// The same, parsed.
    pub definition: Definition,
    /// Nonce and commitment of the order so far.
    pub order: OrderOf,
    /// Nonce and commitment of the new order, for a room that has not opened.
    pub next_order: OrderOf,
    /// When the last pass of earlier definitions expires, as far as known, ms; 0 for none.
    pub passes_until_ms: i64,
    /// The highest time that the room has shown, as far as known, ms.
    pub clock_ms: i64,
    /// SHA-256 of the list of tickets from before the opening, once it was published.
    pub collected_sha256: Option<String>,
    /// The last PUTs.
    pub puts: String,
    /// Redis had events that the ledger lacks. Passes of unknown definitions may be outstanding.
    pub lost_events: bool,
}

impl RestoredState {
    /// The names are those of `STATE` in `lua/room/state.lua`.
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

/// Writes the state and lets the other scripts run again. Nobody is admitted until every pass that may be outstanding
/// has expired.
pub async fn restore_end(
    store: &Store,
    keys: &RoomKeys,
    token: &str,
    state: &RestoredState,
    by: &Operator,
    reason: &str,
) -> Result<RestoreEnded, ScriptError> {
    let call = keys.all().into_iter().fold(Call::new(&RESTORE_END), Call::key);
    let wish = restore::wish(token, by, reason)
        .with_flag("lost", state.lost_events)
        .with("next_nonce", &state.next_order.nonce)
        .with("next_commitment", &state.next_order.commitment);
    restore::restore_end(store, &RESTORE_END, call, wish, &state.fields()).await
}
