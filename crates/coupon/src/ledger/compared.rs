//! The row of a coupon in the answer of `GET /v1/reconciliation`, described.

use utoipa::ToSchema;

use jackpot_kernel::ledger::reconcile::report::StateRow;

/// The last reconciliation of a coupon.
#[derive(Debug, ToSchema)]
pub struct CouponReconciliation {
    /// Which coupon.
    #[schema(example = "coffee")]
    pub coupon_id: String,
    /// Number of the event at which Redis and the ledger were compared; null before the first time.
    #[schema(example = 412)]
    pub event: Option<i64>,
    /// RFC 3339; null before the first time. While nothing changes, each fifth comparison stores its time.
    #[schema(example = "2026-11-21T06:00:00.123Z")]
    pub checked_at: Option<String>,
    /// Events in Redis that the ledger does not have yet; null while it is not known. No mismatch by itself.
    #[schema(example = 0)]
    pub lag: Option<u64>,
    /// Whether both agree, the identity of the stock holds, and the stream is not stopped; null before the first time.
    pub clean: Option<bool>,
    /// Why the next event can't be applied; null while it can.
    pub stopped: Option<String>,
    /// `status`, `version`, `stock`, `issued`, `voided`, `arrivals`, `queued`, `dead`, `remaining`; how many rows the
    /// ledger has, `issued rows` and `voided rows`; and `stock = remaining + issued - voided`, Redis' stock beside the sum
    /// of what Redis has left and the ledger's rows. Or only `readable`, when it is not.
    pub state: Vec<StateRow>,
}
