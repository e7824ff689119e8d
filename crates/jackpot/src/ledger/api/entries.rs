//! The entries of a player or of a source.

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use jackpot_api::entry::EntryRow;
use jackpot_core::ids::{Id, PersonId};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::ledger::queries::Queries;
use crate::ledger::queries::entries::EntryFilters;
use jackpot_kernel::http::problem::FieldError;
use jackpot_kernel::http::{Code, PageBody, Problem, QueryOf, auth};
use jackpot_kernel::ledger::api::Api;
use jackpot_kernel::ledger::api::answer::answer;
use jackpot_kernel::ledger::api::page::{Limit, Paging, Time};
use jackpot_kernel::ledger::queries::Between;
use jackpot_kernel::subject::kinds::JACKPOT;

/// Which entries.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct EntryQuery {
    /// Of this player. Required, unless `jackpot_id` and `source_id` are given.
    #[param(value_type = Option<String>)]
    player_id: Option<PersonId>,
    /// Of this jackpot.
    #[param(value_type = Option<String>)]
    jackpot_id: Option<Id>,
    /// Of this source.
    #[param(value_type = Option<String>)]
    source_id: Option<Id>,
    /// Taken then or later, RFC 3339.
    #[param(value_type = Option<String>, format = DateTime)]
    from: Option<Time>,
    /// Taken before, RFC 3339.
    #[param(value_type = Option<String>, format = DateTime)]
    to: Option<Time>,
    /// Rows of a page, 1 to 1,000; 100 unless it says. CSV and NDJSON have all rows unless it says.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 1000)]
    limit: Option<Limit>,
    /// `next_cursor` of the page before, with the same filters.
    cursor: Option<String>,
}

/// Entries of a player, or of a source of a jackpot, the newest first, for as long as they are indexed (setting `ledger.entry_index_days`). Entries
/// of the last second may be missing. Without an index the answer is 422 `entry-index-off`, not an empty list. A bound key
/// sees the entries of its own jackpots.
#[utoipa::path(get, path = "/v1/entries", operation_id = "list_entries", tag = "ledger", security(("bearer" = [])), params(EntryQuery),
    responses((status = 200, description = "A page, or all of them as CSV or NDJSON",
            content((PageBody<EntryRow> = "application/json"), (String = "text/csv"), (String = "application/x-ndjson")))),
    extensions(("x-problems" = json!([Code::EntryIndexOff, Code::TooManyExports]))))]
pub async fn list(
    auth::ReadFiltered(caller): auth::ReadFiltered,
    QueryOf(query): QueryOf<EntryQuery>,
    request: HttpRequest,
    api: Data<Api>,
    queries: Data<Queries>,
) -> Result<HttpResponse, Problem> {
    caller.check(JACKPOT, query.jackpot_id.as_ref())?;
    if query.player_id.is_none() && (query.jackpot_id.is_none() || query.source_id.is_none()) {
        let rule = "is required, unless jackpot_id and source_id are given";
        return Err(Problem::invalid_request(vec![FieldError::new("player_id", rule)]));
    }
    let filters = EntryFilters {
        player_id: query.player_id,
        jackpot_id: query.jackpot_id,
        source_id: query.source_id,
        only: caller.own(JACKPOT),
        between: Between {
            from: query.from.map(|Time(ms)| ms),
            to: query.to.map(|Time(ms)| ms),
        },
    };
    let (limit, cursor) = (query.limit, query.cursor);
    let listing = filters.listing();
    let hidden = !caller.sees_codes();
    let read = move |after, limit| {
        let (queries, filters) = (queries.clone(), filters.clone());
        async move {
            let mut page = queries.entries(&filters, after, limit).await?;
            if hidden {
                page.items.iter_mut().for_each(EntryRow::hide_code);
            }
            Ok(page)
        }
    };
    answer(&request, &api, &caller, &listing, Paging { limit, cursor }, read).await
}
