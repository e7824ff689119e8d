//! The transfers that a jackpot gave.

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use jackpot_api::ledger::{TransferRow, TransferState};
use jackpot_core::ids::Id;
use serde::Deserialize;
use utoipa::IntoParams;

use super::adjustments::held_alone;
use crate::ledger::queries::Queries;
use crate::ledger::queries::transfers::TransferFilters;
use jackpot_kernel::http::auth::Role;
use jackpot_kernel::http::{Code, PageBody, PathOf, Problem, QueryOf, auth};
use jackpot_kernel::ledger::api::Api;
use jackpot_kernel::ledger::api::answer::answer;
use jackpot_kernel::ledger::api::page::{Limit, Paging};

/// Which transfers.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct TransferQuery {
    /// Rows of a page, 1 to 1,000; 100 unless it says. CSV and NDJSON have all rows unless it says.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 1000)]
    limit: Option<Limit>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
    /// Only those in this state.
    state: Option<TransferState>,
}

/// The transfers that a jackpot gave or is to give, the oldest first.
///
/// One that waits for a second owner is `held`, or `withdrawn` if it is not to be given any more. One that was given is
/// `in-transit` until the other jackpot has received it.
#[utoipa::path(get, path = "/v1/jackpots/{id}/transfers", operation_id = "list_transfers", tag = "ledger", security(("bearer" = [])),
    params(("id" = String, Path), TransferQuery),
    responses((status = 200, description = "A page, or all of them as CSV or NDJSON",
            content((PageBody<TransferRow> = "application/json"), (String = "text/csv"), (String = "application/x-ndjson")))),
    extensions(("x-problems" = json!([Code::TooManyExports]))))]
pub async fn list(
    auth::ReadOrApprove(caller): auth::ReadOrApprove,
    PathOf(id): PathOf<Id>,
    QueryOf(query): QueryOf<TransferQuery>,
    request: HttpRequest,
    api: Data<Api>,
    queries: Data<Queries>,
) -> Result<HttpResponse, Problem> {
    if caller.role() == Role::Approve && query.state != Some(TransferState::Held) {
        return Err(held_alone());
    }
    queries.expect_jackpot(&id).await?;
    let filters = TransferFilters {
        jackpot_id: id,
        state: query.state,
    };
    let (limit, cursor) = (query.limit, query.cursor);
    let listing = filters.listing();
    let read = move |after, limit| {
        let (queries, filters) = (queries.clone(), filters.clone());
        async move { queries.transfers(&filters, after, limit).await }
    };
    answer(&request, &api, &caller, &listing, Paging { limit, cursor }, read).await
}
