//! The postings of a jackpot.

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use jackpot_api::ledger::PostingRow;
use jackpot_core::ids::Id;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::ledger::queries::Queries;
use crate::ledger::queries::postings::PostingFilters;
use jackpot_kernel::http::{Code, PageBody, PathOf, Problem, QueryOf, auth};
use jackpot_kernel::ledger::api::Api;
use jackpot_kernel::ledger::api::answer::answer;
use jackpot_kernel::ledger::api::page::{Limit, Paging, Time};
use jackpot_kernel::ledger::queries::Between;

/// Which postings.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct PostingQuery {
    /// Only what entries of this source brought and won: the accounts contributions and payouts, which do not sum to zero.
    #[param(value_type = Option<String>)]
    source_id: Option<Id>,
    /// Booked then or later, RFC 3339.
    #[param(value_type = Option<String>, format = DateTime)]
    from: Option<Time>,
    /// Booked before, RFC 3339.
    #[param(value_type = Option<String>, format = DateTime)]
    to: Option<Time>,
    /// Rows of a page, 1 to 1,000; 100 unless it says. CSV and NDJSON have all rows unless it says.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 1000)]
    limit: Option<Limit>,
    /// `next_cursor` of the page before, with the same filters.
    cursor: Option<String>,
}

/// Postings of a jackpot, the oldest first. The lines of one event and tier sum to zero, unless only those of a source are
/// asked for.
#[utoipa::path(get, path = "/v1/jackpots/{id}/ledger", operation_id = "list_postings", tag = "ledger", security(("bearer" = [])),
    params(("id" = String, Path), PostingQuery),
    responses((status = 200, description = "A page, or all of them as CSV or NDJSON",
            content((PageBody<PostingRow> = "application/json"), (String = "text/csv"), (String = "application/x-ndjson")))),
    extensions(("x-problems" = json!([Code::TooManyExports]))))]
pub async fn list(
    auth::Read(caller): auth::Read,
    PathOf(id): PathOf<Id>,
    QueryOf(query): QueryOf<PostingQuery>,
    request: HttpRequest,
    api: Data<Api>,
    queries: Data<Queries>,
) -> Result<HttpResponse, Problem> {
    queries.expect_jackpot(&id).await?;
    let filters = PostingFilters {
        jackpot_id: id,
        source_id: query.source_id,
        between: Between {
            from: query.from.map(|Time(ms)| ms),
            to: query.to.map(|Time(ms)| ms),
        },
    };
    let (limit, cursor) = (query.limit, query.cursor);
    let listing = filters.listing();
    let read = move |after, limit| {
        let (queries, filters) = (queries.clone(), filters.clone());
        async move { queries.postings(&filters, after, limit).await }
    };
    answer(&request, &api, &caller, &listing, Paging { limit, cursor }, read).await
}
