//! The signed head of a jackpot's chain.

use actix_web::HttpResponse;
use actix_web::web::Data;
use jackpot_core::ids::Id;
use jackpot_core::receipt::Head;

use crate::http::auth;
use crate::http::problem::Problem;
use crate::http::query::PathOf;
use crate::ledger::api::Api;

/// The signed end of a jackpot's chain of events. Keep one: a history that somebody rewrites later no longer contains it.
#[utoipa::path(get, path = "/v1/jackpots/{id}/ledger/head", operation_id = "get_ledger_head", tag = "ledger", security(("bearer" = [])),
    params(("id" = String, Path)), responses((status = 200, description = "The head", body = Head)))]
pub async fn get(_: auth::Read, PathOf(id): PathOf<Id>, api: Data<Api>) -> Result<HttpResponse, Problem> {
    let facts = api.queries.head(&id).await?;
    let place = (facts.n, facts.hash);
    let head = Head::sign(
        facts.jackpot_id,
        &facts.ledger_id,
        place,
        facts.at_ms,
        &api.signing.current(),
    );
    Ok(HttpResponse::Ok().json(head))
}
