//! Redis beside the ledger.

use actix_web::HttpResponse;
use actix_web::web::Data;
use serde::Serialize;
use utoipa::ToSchema;

use super::Api;
use crate::http::auth;
use crate::http::problem::Problem;
use crate::http::query::{Nothing, QueryOf};
use crate::ledger::problem::{Mismatch, reconciliation_mismatch};
use crate::ledger::queries::reconciliation::{CouponReconciliation, Reconciliation, RoomReconciliation};
use crate::subject::kinds::{COUPONS, JACKPOTS, ROOMS, Streams};

/// The last reconciliation of every jackpot, coupon and room.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Reconciliations {
    items: Vec<Reconciliation>,
    coupons: Vec<CouponReconciliation>,
    rooms: Vec<RoomReconciliation>,
}

/// The last reconciliation of every jackpot, coupon and room: per tier the identity of all its money, term by term, per
/// coupon its stock, per room what it was told, Redis beside the ledger at the same event. Lag alone is no mismatch. A bound key
/// sees its own.
#[utoipa::path(get, path = "/v1/reconciliation", operation_id = "get_reconciliation", tag = "ledger", security(("bearer" = [])),
    responses((status = 200, description = "No mismatch", body = Reconciliations),
        (status = 409, description = "`reconciliation-mismatch`, with the same `items`, `coupons` and `rooms`", body = Mismatch<Reconciliations>, content_type = "application/problem+json")))]
pub(crate) async fn get(
    auth::ReadFiltered(caller): auth::ReadFiltered,
    _: QueryOf<Nothing>,
    api: Data<Api>,
) -> Result<HttpResponse, Problem> {
    let shows = |kind| {
        let caller = &caller;
        move |id: &str| caller.may_see(kind, id)
    };
    let mut items = api.queries.reconciliations(shows(Streams::Jackpots)).await?;
    let mut coupons = api.queries.coupons(shows(Streams::Coupons)).await?;
    let mut rooms = api.queries.rooms(shows(Streams::Rooms)).await?;
    for item in &mut items {
        item.lag = api.lag(JACKPOTS, &item.jackpot_id);
    }
    for coupon in &mut coupons {
        coupon.lag = api.lag(COUPONS, &coupon.coupon_id);
    }
    for room in &mut rooms {
        room.lag = api.lag(ROOMS, &room.room_id);
    }
    let jackpots = items.iter().map(|item| (item.clean, item.jackpot_id.clone()));
    let others = coupons
        .iter()
        .map(|item| (item.clean, format!("{} {}", COUPONS.what, item.coupon_id)));
    let others = others.chain(
        rooms
            .iter()
            .map(|item| (item.clean, format!("{} {}", ROOMS.what, item.room_id))),
    );
    let wrong = jackpots.chain(others).filter(|(clean, _)| *clean == Some(false));
    let wrong: Vec<_> = wrong.map(|(_, name)| name).collect();
    let compared = Reconciliations { items, coupons, rooms };
    if wrong.is_empty() {
        return Ok(HttpResponse::Ok().json(compared));
    }
    let detail = format!("Redis and the ledger disagree about {}", wrong.join(", "));
    Ok(reconciliation_mismatch(&detail, &compared))
}
