//! Pause, resume, close.

use actix_web::HttpResponse;
use actix_web::web::Data;
use jackpot_core::ids::Id;
use jackpot_core::text::Reason;
use serde::Deserialize;
use utoipa::ToSchema;

use super::Api;
use super::definitions::read;
use jackpot_api::coupon::{Coupon, Status};
use jackpot_kernel::http::auth::{self, Caller, operator};
use jackpot_kernel::http::body::{Body, Described};
use jackpot_kernel::http::code::Code;
use jackpot_kernel::http::conditions::tagged;
use jackpot_kernel::http::problem::Problem;
use jackpot_kernel::http::query::PathOf;
use jackpot_kernel::http::request_id::RequestId;

/// Why a coupon is paused, resumed or closed.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CouponReason {
    /// The reason: 1 to 500 characters, no control characters.
    #[schema(value_type = String, example = "check", min_length = 1, max_length = 500)]
    reason: Reason,
}

impl Described for CouponReason {}

/// Takes no new requests; those in the queue wait. Draws of jackpots are answered `not-open`. A repeat changes nothing.
#[utoipa::path(post, path = "/v1/coupons/{id}/pause", operation_id = "pause_coupon", tag = "coupons", security(("bearer" = [])), params(("id" = String, Path)),
    request_body = CouponReason, responses((status = 200, description = "Paused", body = Coupon)),
    extensions(("x-problems" = json!([Code::CouponClosed, Code::CouponRetired]))))]
pub(crate) async fn pause(
    auth::Operate(caller): auth::Operate,
    PathOf(id): PathOf<Id>,
    request_id: RequestId,
    api: Data<Api>,
    Body(body): Body<CouponReason>,
) -> Result<HttpResponse, Problem> {
    set(&api, &id, Status::Paused, body, &caller, &request_id).await
}

/// Takes requests again, and serves those in the queue. A repeat changes nothing.
#[utoipa::path(post, path = "/v1/coupons/{id}/resume", operation_id = "resume_coupon", tag = "coupons", security(("bearer" = [])), params(("id" = String, Path)),
    request_body = CouponReason, responses((status = 200, description = "Open", body = Coupon)),
    extensions(("x-problems" = json!([Code::CouponClosed, Code::CouponRetired]))))]
pub(crate) async fn resume(
    auth::Operate(caller): auth::Operate,
    PathOf(id): PathOf<Id>,
    request_id: RequestId,
    api: Data<Api>,
    Body(body): Body<CouponReason>,
) -> Result<HttpResponse, Problem> {
    set(&api, &id, Status::Open, body, &caller, &request_id).await
}

/// Ends the coupon for good: it takes no new requests, and those in the queue are refused with `coupon-closed`. Units that
/// were issued stay issued. A repeat changes nothing.
#[utoipa::path(post, path = "/v1/coupons/{id}/close", operation_id = "close_coupon", tag = "coupons", security(("bearer" = [])), params(("id" = String, Path)),
    request_body = CouponReason, responses((status = 200, description = "Closed", body = Coupon)),
    extensions(("x-problems" = json!([Code::CouponRetired]))))]
pub(crate) async fn close(
    auth::Operate(caller): auth::Operate,
    PathOf(id): PathOf<Id>,
    request_id: RequestId,
    api: Data<Api>,
    Body(body): Body<CouponReason>,
) -> Result<HttpResponse, Problem> {
    set(&api, &id, Status::Closed, body, &caller, &request_id).await
}

async fn set(
    api: &Api,
    id: &Id,
    wanted: Status,
    body: CouponReason,
    caller: &Caller,
    request_id: &RequestId,
) -> Result<HttpResponse, Problem> {
    let by = operator(caller, request_id);
    api.coupons
        .set_status(id, wanted, body.reason.into_string(), &by)
        .await?;
    let coupon = read(api, id).await?;
    Ok(tagged(coupon.version, coupon))
}
