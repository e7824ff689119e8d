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
use jackpot_kernel::http::conditions::tagged;
use jackpot_kernel::http::{Body, Code, Described, PathOf, Problem, auth};
use jackpot_kernel::operator::Operator;

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
    auth::Operate { by, .. }: auth::Operate,
    PathOf(id): PathOf<Id>,
    api: Data<Api>,
    Body(body): Body<CouponReason>,
) -> Result<HttpResponse, Problem> {
    set(&api, &id, Status::Paused, body, &by).await
}

/// Takes requests again, and serves those in the queue. A repeat changes nothing.
#[utoipa::path(post, path = "/v1/coupons/{id}/resume", operation_id = "resume_coupon", tag = "coupons", security(("bearer" = [])), params(("id" = String, Path)),
    request_body = CouponReason, responses((status = 200, description = "Open", body = Coupon)),
    extensions(("x-problems" = json!([Code::CouponClosed, Code::CouponRetired]))))]
pub(crate) async fn resume(
    auth::Operate { by, .. }: auth::Operate,
    PathOf(id): PathOf<Id>,
    api: Data<Api>,
    Body(body): Body<CouponReason>,
) -> Result<HttpResponse, Problem> {
    set(&api, &id, Status::Open, body, &by).await
}

/// Ends the coupon for good: it takes no new requests, and those in the queue are refused with `coupon-closed`. Units that
/// were issued stay issued. A repeat changes nothing.
#[utoipa::path(post, path = "/v1/coupons/{id}/close", operation_id = "close_coupon", tag = "coupons", security(("bearer" = [])), params(("id" = String, Path)),
    request_body = CouponReason, responses((status = 200, description = "Closed", body = Coupon)),
    extensions(("x-problems" = json!([Code::CouponRetired]))))]
pub(crate) async fn close(
    auth::Operate { by, .. }: auth::Operate,
    PathOf(id): PathOf<Id>,
    api: Data<Api>,
    Body(body): Body<CouponReason>,
) -> Result<HttpResponse, Problem> {
    set(&api, &id, Status::Closed, body, &by).await
}

async fn set(api: &Api, id: &Id, wanted: Status, body: CouponReason, by: &Operator) -> Result<HttpResponse, Problem> {
    let reason = body.reason.into_string();
    api.coupons.set_status(id, wanted, reason, by).await?;
    let coupon = read(api, id).await?;
    Ok(tagged(coupon.version, coupon))
}
