//! The adjustments of a jackpot.

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use jackpot_api::ledger::{Adjustment, AdjustmentState};
use jackpot_core::ids::Id;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::ledger::queries::Queries;
use crate::ledger::queries::adjustments::AdjustmentFilters;
use jackpot_kernel::http::auth::Role;
use jackpot_kernel::http::{Code, PageBody, PathOf, Problem, QueryOf, auth};
use jackpot_kernel::ledger::api::Api;
use jackpot_kernel::ledger::api::answer::answer;
use jackpot_kernel::ledger::api::page::{Limit, Paging};

/// Which adjustments.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct AdjustmentQuery {
    /// Rows of a page, 1 to 1,000; 100 unless it says. CSV and NDJSON have all rows unless it says.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 1000)]
    limit: Option<Limit>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
    /// Only those in this state.
    state: Option<AdjustmentState>,
}

/// The adjustments of a jackpot, the oldest first.
///
/// One that waits for a second owner is `held`, or `withdrawn` if it is not to be made any more.
#[utoipa::path(get, path = "/v1/jackpots/{id}/adjustments", operation_id = "list_adjustments", tag = "ledger", security(("bearer" = [])),
    params(("id" = String, Path), AdjustmentQuery),
    responses((status = 200, description = "A page, or all of them as CSV or NDJSON",
            content((PageBody<Adjustment> = "application/json"), (String = "text/csv"), (String = "application/x-ndjson")))),
    extensions(("x-problems" = json!([Code::TooManyExports]))))]
pub async fn list(
    auth::ReadOrApprove(caller): auth::ReadOrApprove,
    PathOf(id): PathOf<Id>,
    QueryOf(query): QueryOf<AdjustmentQuery>,
    request: HttpRequest,
    api: Data<Api>,
    queries: Data<Queries>,
) -> Result<HttpResponse, Problem> {
    if caller.role() == Role::Approve && query.state != Some(AdjustmentState::Held) {
        return Err(held_alone());
    }
    queries.expect_jackpot(&id).await?;
    let filters = AdjustmentFilters {
        jackpot_id: id,
        state: query.state,
    };
    let (limit, cursor) = (query.limit, query.cursor);
    let listing = filters.listing();
    let read = move |after, limit| {
        let (queries, filters) = (queries.clone(), filters.clone());
        async move { queries.adjustments(&filters, after, limit).await }
    };
    answer(&request, &api, &caller, &listing, Paging { limit, cursor }, read).await
}

/// Refuses what a key with the role `approve` may not read.
pub(super) fn held_alone() -> Problem {
    Problem::forbidden("a key with the role approve reads what is held alone: ask for state=held".to_owned())
}
