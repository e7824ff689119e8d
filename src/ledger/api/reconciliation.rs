//! Redis beside the ledger.

use actix_web::HttpResponse;
use actix_web::web::Data;
use serde::Serialize;
use utoipa::ToSchema;

use super::Api;
use crate::http::auth;
use crate::http::problem::Problem;
use crate::http::problem_of_ledger::{Mismatch, reconciliation_mismatch};
use crate::http::query::{Nothing, QueryOf};
use crate::ids::Id;
use crate::ledger::queries::reconciliation::{CouponReconciliation, Reconciliation};
use crate::ledger::streams::COUPONS;

/// The last reconciliation of every jackpot and every coupon.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Reconciliations {
    items: Vec<Reconciliation>,
    coupons: Vec<CouponReconciliation>,
}

/// The last reconciliation of every jackpot and every coupon: per tier the identity of all its money, term by term, per
/// coupon its stock, Redis beside the ledger at the same event. Lag alone is no mismatch.
#[utoipa::path(get, path = "/v1/reconciliation", operation_id = "get_reconciliation", tag = "ledger", security(("bearer" = [])),
    responses((status = 200, description = "No mismatch", body = Reconciliations),
        (status = 409, description = "`reconciliation-mismatch`, with the same `items` and `coupons`", body = Mismatch<Reconciliations>, content_type = "application/problem+json")))]
pub(crate) async fn get(_: auth::Read, _: QueryOf<Nothing>, api: Data<Api>) -> Result<HttpResponse, Problem> {
    let (mut items, mut coupons) = (api.queries.reconciliations().await?, api.queries.coupons().await?);
    for item in &mut items {
        item.lag = Id::parse(&item.jackpot_id).ok().and_then(|id| (api.lag)(&id));
    }
    for coupon in &mut coupons {
        coupon.lag = Id::parse(&coupon.coupon_id).ok().and_then(|id| api.coupon_lag(&id));
    }
    let jackpots = items.iter().map(|item| (item.clean, item.jackpot_id.clone()));
    let others = coupons
        .iter()
        .map(|item| (item.clean, format!("{} {}", COUPONS.what, item.coupon_id)));
    let wrong = jackpots.chain(others).filter(|(clean, _)| *clean == Some(false));
    let wrong: Vec<_> = wrong.map(|(_, name)| name).collect();
    let compared = Reconciliations { items, coupons };
    if wrong.is_empty() {
        return Ok(HttpResponse::Ok().json(compared));
    }
    let detail = format!("Redis and the ledger disagree about {}", wrong.join(", "));
    Ok(reconciliation_mismatch(&detail, &compared))
}
