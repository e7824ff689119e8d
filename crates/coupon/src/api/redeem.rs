//! The use of a unit.

use actix_web::HttpResponse;
use actix_web::web::Data;
use jackpot_api::coupon::IssueBody;
use jackpot_core::ids::{Id, RequestRef};
use serde::Deserialize;
use utoipa::ToSchema;

use super::Api;
use super::body::issue_body;
use super::issues::mark_replayed;
use crate::redemption::Reference;
use crate::scripts::Redeem;
use jackpot_kernel::http::{Body, Code, Described, PathOf, Problem, auth};
use jackpot_kernel::telemetry::request;

/// The use of a unit.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RedeemWish {
    /// Chosen by the client. The same id is the same redemption of this unit.
    #[schema(value_type = String, example = "till-7-0001", pattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
    redemption_id: Id,
    /// Such as the number of a receipt: 1 to 200 characters, no control characters.
    #[schema(value_type = String, example = "receipt 8812", min_length = 1, max_length = 200)]
    reference: Reference,
}

impl Described for RedeemWish {}

/// Redeems an issued unit: its user has used it, once. Safe to repeat with the same id and reference.
///
/// Final: a redeemed unit is not voided. It still counts for its user and for the stock. A unit is also redeemed while its
/// coupon is paused, closed or held by the emergency stop, and after its records were dropped.
#[utoipa::path(post, path = "/v1/coupons/{id}/issues/{request_id}/redeem", operation_id = "redeem_issue", tag = "coupons", security(("bearer" = [])),
    params(("id" = String, Path), ("request_id" = String, Path)),
    request_body(content = RedeemWish),
    responses((status = 201, description = "Redeemed", body = IssueBody),
        (status = 200, description = "Redeemed before by this redemption, with `Idempotency-Replayed: true`", body = IssueBody)),
    extensions(("x-problems" = json!([Code::IssueNotFound, (Code::Redeemed, "by another redemption"),
        Code::NotIssued, Code::RedemptionIdReused]))))]
pub(crate) async fn post(
    auth::Play(caller): auth::Play,
    PathOf((id, request_id)): PathOf<(Id, RequestRef)>,
    api: Data<Api>,
    Body(wish): Body<RedeemWish>,
) -> Result<HttpResponse, Problem> {
    request::issue(id.shared(), request_id.as_str().into());
    let by = caller.operator()?;
    let wish = Redeem {
        request_id: request_id.as_str().to_owned(),
        redemption: wish.redemption_id,
        reference: wish.reference,
        who: by.who,
        by_request: by.request_id,
    };
    let redeemed = api.coupons.redeem(&id, &wish).await?;
    if !redeemed.replayed {
        return Ok(HttpResponse::Created().json(issue_body(redeemed)));
    }
    let mut answer = HttpResponse::Ok().json(issue_body(redeemed));
    mark_replayed(&mut answer);
    Ok(answer)
}
