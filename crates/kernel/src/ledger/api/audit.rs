//! What operators did.

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use jackpot_core::ids::Id;
use serde::Deserialize;
use utoipa::IntoParams;

use super::Api;
use super::answer::answer;
use super::on_subjects::OnSubjects;
use super::page::{Limit, Paging, Time};
use crate::http::{Code, PageBody, Problem, QueryOf, auth};
use crate::ledger::queries::Between;
use crate::ledger::queries::audit::{AuditFilters, AuditRow};

/// Which actions.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct AuditQuery {
    /// By the key with this name.
    #[param(value_type = Option<String>)]
    who: Option<Id>,
    /// Of this kind: a value of `action` of a row, such as `define`.
    #[param(value_type = Option<String>)]
    action: Option<Id>,
    /// Done then or later, RFC 3339.
    #[param(value_type = Option<String>, format = DateTime)]
    from: Option<Time>,
    /// Done before, RFC 3339.
    #[param(value_type = Option<String>, format = DateTime)]
    to: Option<Time>,
    /// Rows of a page, 1 to 1,000; 100 unless it says. CSV and NDJSON have all rows unless it says.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 1000)]
    limit: Option<Limit>,
    /// `next_cursor` of the page before, with the same filters.
    cursor: Option<String>,
}

/// Every action of operators, the newest first. In CSV a `'` stands in front of a reason that a spreadsheet would run
/// as a formula. A bound key sees the actions on its own subjects.
#[utoipa::path(get, path = "/v1/audit", operation_id = "list_audit", tag = "ledger", security(("bearer" = [])), params(OnSubjects<AuditQuery>),
    responses((status = 200, description = "A page, or all of them as CSV or NDJSON",
            content((PageBody<AuditRow> = "application/json"), (String = "text/csv"), (String = "application/x-ndjson")))),
    extensions(("x-problems" = json!([Code::TooManyExports]))))]
pub(crate) async fn list(
    auth::ReadFiltered(caller): auth::ReadFiltered,
    QueryOf(OnSubjects { subjects, rest: query }): QueryOf<OnSubjects<AuditQuery>>,
    request: HttpRequest,
    api: Data<Api>,
) -> Result<HttpResponse, Problem> {
    for (kind, id) in &subjects {
        caller.check(*kind, Some(id))?;
    }
    let filters = AuditFilters {
        subjects,
        only: caller.own_of_all_kinds(),
        who: query.who,
        action: query.action,
        between: Between {
            from: query.from.map(|Time(ms)| ms),
            to: query.to.map(|Time(ms)| ms),
        },
    };
    let (limit, cursor) = (query.limit, query.cursor);
    let (listing, queries) = (filters.listing(), api.queries.clone());
    let hidden = !caller.sees_codes();
    let read = move |after, limit| {
        let (queries, filters) = (queries.clone(), filters.clone());
        async move {
            let mut page = queries.audit(&filters, after, limit).await?;
            if hidden {
                page.items.iter_mut().for_each(AuditRow::hide_codes);
            }
            Ok(page)
        }
    };
    answer(&request, &api, &caller, &listing, Paging { limit, cursor }, read).await
}
