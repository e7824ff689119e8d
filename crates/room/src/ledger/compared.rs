//! The row of a room in the answer of `GET /v1/reconciliation`, described.

use utoipa::ToSchema;

use jackpot_kernel::ledger::reconcile::report::StateRow;

/// The last reconciliation of a room.
#[derive(Debug, ToSchema)]
pub struct RoomReconciliation {
    /// Which room.
    #[schema(example = "lobby")]
    pub room_id: String,
    /// Number of the event at which Redis and the ledger were compared; null before the first time.
    #[schema(example = 3)]
    pub event: Option<i64>,
    /// RFC 3339; null before the first time. While nothing changes, each fifth comparison stores its time.
    #[schema(example = "2026-11-22T06:00:00.123Z")]
    pub checked_at: Option<String>,
    /// Events in Redis that the ledger does not have yet; null while it is not known. No mismatch by itself.
    #[schema(example = 0)]
    pub lag: Option<u64>,
    /// Whether both agree and the stream is not stopped; null before the first time.
    pub clean: Option<bool>,
    /// Why the next event can't be applied; null while it can.
    pub stopped: Option<String>,
    /// All that decides who may be in: `status`, `version`, `capacity`, `session_ms`, `waiting_timeout_ms`,
    /// `admissions_per_minute`, `opens_ms`, `passes_until_ms` (when the last pass of former definitions or of before a
    /// restore has expired), `commitment` and `pre_queue_sha256`. Or only `readable`, when it is not.
    pub state: Vec<StateRow>,
}
