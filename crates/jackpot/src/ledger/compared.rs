//! The row of a jackpot in the answer of `GET /v1/reconciliation`, described.

use utoipa::ToSchema;

use jackpot_kernel::ledger::reconcile::report::{StateRow, TierReport};

/// The last reconciliation of a jackpot.
#[derive(Debug, ToSchema)]
pub struct Reconciliation {
    /// Which jackpot.
    #[schema(example = "spring")]
    pub jackpot_id: String,
    /// Number of the event at which Redis and the ledger were compared; null before the first time.
    #[schema(example = 8820)]
    pub event: Option<i64>,
    /// RFC 3339; null before the first time. While nothing changes, each fifth comparison stores its time.
    #[schema(example = "2026-11-21T06:00:00.123Z")]
    pub checked_at: Option<String>,
    /// Events in Redis that the ledger does not have yet; null while it is not known. No mismatch by itself.
    #[schema(example = 0)]
    pub lag: Option<u64>,
    /// Whether both agree, every identity holds, and the stream is not stopped; null before the first time.
    pub clean: Option<bool>,
    /// Why the next event can't be applied; null while it can.
    pub stopped: Option<String>,
    /// Promise 1 of each tier, term by term.
    pub tiers: Vec<TierReport>,
    /// The rest of the state.
    pub state: Vec<StateRow>,
}
