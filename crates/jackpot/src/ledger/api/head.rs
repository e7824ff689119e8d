//! The signed head of a jackpot's chain.

use actix_web::HttpResponse;
use actix_web::web::Data;
use jackpot_core::ids::Id;
use jackpot_core::receipt::Head;

use crate::ledger::queries::Queries;
use jackpot_kernel::http::{PathOf, Problem, auth};
use jackpot_kernel::ledger::api::Api;

/// The signed end of a jackpot's chain of events. Keep one: a history that somebody rewrites later no longer contains it.
#[utoipa::path(get, path = "/v1/jackpots/{id}/ledger/head", operation_id = "get_ledger_head", tag = "ledger", security(("bearer" = [])),
    params(("id" = String, Path)), responses((status = 200, description = "The head", body = Head)))]
pub async fn get(
    _: auth::Read,
    PathOf(id): PathOf<Id>,
    api: Data<Api>,
    queries: Data<Queries>,
) -> Result<HttpResponse, Problem> {
    let facts = queries.head(&id).await?;
    let head = Head::sign(
        facts.jackpot_id,
        &facts.ledger_id,
        facts.n,
        facts.hash,
        facts.at_ms,
        &api.signing.current(),
    );
    Ok(HttpResponse::Ok().json(head))
}
