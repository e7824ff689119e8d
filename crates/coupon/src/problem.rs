//! Turns a coupon's errors and refusals into problems. It is the only place that gives them a status.

use actix_web::HttpResponse;
use serde::Serialize;
use utoipa::ToSchema;

use crate::error::CouponError;
use jackpot_kernel::http::problem::{CONTENT_TYPE, ProblemBody};
use jackpot_kernel::http::{Code, Problem};
use jackpot_kernel::store::StoreError;
use jackpot_kernel::subject::ScriptError;

impl From<CouponError> for Problem {
    fn from(error: CouponError) -> Self {
        let problem = |code| Problem::new(code, error.to_string());
        match error {
            CouponError::Script(error) => of_script(&error),
            CouponError::Paused => problem(Code::CouponPaused),
            CouponError::Closed => closed(&error.to_string()),
            CouponError::Suspended => suspended(&error.to_string()),
            CouponError::Emergency(_) => Problem::stopped(error.to_string()),
            CouponError::Ended => not_open(&error.to_string()),
            CouponError::Retired(_) => problem(Code::CouponRetired),
            CouponError::RequestNotFound(_) => problem(Code::IssueNotFound),
            CouponError::RequestIdReused(_) => problem(Code::RequestIdReused),
            CouponError::NotIssued { .. } => problem(Code::NotIssued),
            CouponError::Redeemed(_) => problem(Code::Redeemed),
            CouponError::RedemptionIdReused(_) => problem(Code::RedemptionIdReused),
            CouponError::LedgerBehind(_) => {
                tracing::warn!(%error, "redemption refused");
                Problem::store_unavailable("the ledger does not have the coupon's last events yet; repeat the same id")
            }
            CouponError::Invalid(violations) => {
                Problem::invalid_request(violations.into_iter().map(Into::into).collect())
            }
            CouponError::PreconditionFailed => problem(Code::PreconditionFailed),
            CouponError::Waiting(_) => {
                Problem::store_unavailable("other requests are ahead in the queue; repeat the same id")
            }
            CouponError::Refusing(_) => {
                tracing::warn!(%error, "request for a coupon refused");
                Problem::store_unavailable("new requests are refused now; repeat the same id later")
            }
            // No log line for each: there would be thousands, and `jackpot_coupon_requests_total` counts them.
            CouponError::Crowded { .. } => {
                Problem::store_unavailable("too many requests for this coupon wait for the store; repeat the same id")
            }
            CouponError::Backlog { .. } => {
                tracing::warn!(%error, "request for a coupon refused");
                Problem::store_unavailable("the ledger backlog is too large for new requests; repeat the same id later")
            }
            CouponError::Dead(_) => {
                tracing::error!(%error, "an operator has to look at a dead letter");
                Problem::store_unavailable("the request waits for an operator; repeat the same id later")
            }
            CouponError::Ledger(_) => {
                tracing::error!(%error, "the ledger's database did not answer");
                Problem::store_unavailable("the ledger's database does not answer; repeat the same id")
            }
            CouponError::Unsettled => Problem::store_unavailable("the definition kept changing; repeat the request"),
            CouponError::Lost { .. } | CouponError::Random(_) => internal(&error),
        }
    }
}

fn of_script(error: &ScriptError) -> Problem {
    match error {
        ScriptError::Unknown => Problem::new(Code::CouponNotFound, error.to_string()),
        // A Redis that lost events is not used until a restore.
        ScriptError::Behind { .. } => {
            tracing::error!(%error, "suspended on this instance");
            suspended("Redis lost events of this coupon; it is suspended until they are restored")
        }
        ScriptError::Restoring => {
            suspended("the coupon is being restored from the ledger; repeat the same id in a moment")
        }
        ScriptError::Stale => Problem::store_unavailable("the definition kept changing; repeat the request"),
        ScriptError::Store(
            StoreError::Unavailable { .. } | StoreError::Unconfirmed { .. } | StoreError::OutOfMemory,
        ) => {
            tracing::warn!(%error, "the store refused the call, or did not answer in time");
            Problem::store_unavailable("the store does not answer in time or takes no writes; repeat the same id")
        }
        ScriptError::Secret
        | ScriptError::Store(StoreError::Script { .. } | StoreError::Protocol { .. })
        | ScriptError::Reply { .. }
        | ScriptError::Record(_) => internal(error),
    }
}

fn suspended(detail: &str) -> Problem {
    Problem::new(Code::CouponSuspended, detail)
}

/// 409: an operator closed the coupon.
pub(crate) fn closed(detail: &str) -> Problem {
    Problem::new(Code::CouponClosed, detail)
}

/// 403: the coupon is not open at this time.
pub(crate) fn not_open(detail: &str) -> Problem {
    Problem::new(Code::NotOpen, detail)
}

/// 409: out of stock.
pub(crate) fn out_of_stock() -> Problem {
    let detail = "no unit was left; this answer is final for the request";
    Problem::new(Code::OutOfStock, detail)
}

/// A problem with the user's first issue.
#[derive(Serialize, ToSchema)]
pub(crate) struct AlreadyIssued<'a, T> {
    #[serde(flatten)]
    problem: ProblemBody,
    /// Only for `already-issued`: the first of the user's units that counted, as it was issued.
    #[schema(required = false)]
    issue: &'a T,
}

/// 409: the user has reached the limit; with the first issue as `issue`.
pub(crate) fn already_issued<T: Serialize>(issue: &T) -> HttpResponse {
    let detail = "the user has as many units as one user may have; this answer is final for the request";
    let problem = Problem::new(Code::AlreadyIssued, detail);
    let problem = problem.body();
    HttpResponse::Conflict()
        .content_type(CONTENT_TYPE)
        .body(serde_json::to_string(&AlreadyIssued { problem, issue }).unwrap_or_default())
}

fn internal(error: &dyn std::error::Error) -> Problem {
    tracing::error!(%error, "internal error");
    Problem::internal()
}
