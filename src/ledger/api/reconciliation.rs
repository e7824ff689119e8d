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
use crate::ledger::queries::reconciliation::Reconciliation;

/// The last reconciliation of every jackpot.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Reconciliations {
    items: Vec<Reconciliation>,
}

/// The last reconciliation of every jackpot: per tier the identity of all its money, term by term, Redis beside the
/// ledger at the same event. Lag alone is no mismatch.
#[utoipa::path(get, path = "/v1/reconciliation", operation_id = "get_reconciliation", tag = "ledger", security(("bearer" = [])),
    responses((status = 200, description = "No mismatch", body = Reconciliations),
        (status = 409, description = "`reconciliation-mismatch`, with the same `items`", body = Mismatch<Reconciliation>, content_type = "application/problem+json")))]
pub(crate) async fn get(_: auth::Read, _: QueryOf<Nothing>, api: Data<Api>) -> Result<HttpResponse, Problem> {
    let mut items = api.queries.reconciliations().await?;
    for item in &mut items {
        item.lag = Id::parse(&item.jackpot_id).ok().and_then(|id| (api.lag)(&id));
    }
    let wrong = items.iter().filter(|item| item.clean == Some(false));
    let wrong: Vec<_> = wrong.map(|item| item.jackpot_id.as_str()).collect();
    if wrong.is_empty() {
        return Ok(HttpResponse::Ok().json(Reconciliations { items }));
    }
    let detail = format!("Redis and the ledger disagree about {}", wrong.join(", "));
    Ok(reconciliation_mismatch(&detail, &items))
}
