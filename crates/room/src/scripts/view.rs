//! `lua/room/view.lua`.

use crate::known::OrderOf;
use jackpot_api::room::Status;
use jackpot_kernel::reply;
use jackpot_kernel::store::Store;
use jackpot_kernel::store::keys::RoomKeys;
use jackpot_kernel::subject::At;

use super::{Mark, ScriptError, VIEW, call, run};

reply! {
    /// The counters of a room.
    #[derive(Copy, Default)]
    pub struct Counts {
        /// Sessions now.
        pub active: u64,
        /// Waiting tickets now.
        pub waiting: u64,
        /// Sessions begun.
        pub admitted: u64,
        /// How many of them had waited.
        pub promoted: u64,
        /// Sessions that reached their end.
        pub expired: u64,
        /// Waiting tickets that were not seen in time.
        pub abandoned: u64,
        /// Tickets whose user left, in or waiting.
        pub left: u64,
        /// Sum of the waits of the promoted, ms.
        pub waited_ms: u64,
    }
}

reply! {
    /// `ok`: a room as it is. Nothing is written.
    pub struct Viewed {
        /// The room's time.
        pub now_ms: i64,
        /// Redis' clock.
        pub wall_ms: i64,
        /// Whether it takes visitors.
        pub status: Status,
        /// Version of its definition.
        pub version: u64,
        /// The definition, JSON.
        pub definition: String,
        /// The order before the opening.
        pub order: OrderOf,
        /// The state as in a checkpoint: every field that decides, as the ledger compares it.
        pub decides: String,
        /// Number of the event that makes the opening final: of the last nonce, of the opening, or of its list.
        pub defined: u64,
        /// Nobody is admitted before, by Redis' clock; empty once it has come.
        pub opens_ms: Option<i64>,
        /// Nobody is admitted before, because passes were lost; empty once it has come.
        pub hold_ms: Option<i64>,
        /// The counters, as the last step left them.
        pub counts: Counts,
        /// Length of the list of tickets from before the opening, while it is kept.
        pub collected: u64,
        /// SHA-256 of that list, once it is published.
        pub collected_sha256: Option<String>,
    }
}

/// A room at one instant.
pub type Snapshot = At<Viewed>;

/// Reads a room; writes nothing. `known`: the highest mark this instance has seen.
pub async fn snapshot(store: &Store, keys: &RoomKeys, known: Mark) -> Result<Snapshot, ScriptError> {
    let reply = run(store, &VIEW, call(&VIEW, keys, known), known).await?;
    match reply.code() {
        "ok" => reply.read(),
        _ => Err(reply.unexpected()),
    }
}
