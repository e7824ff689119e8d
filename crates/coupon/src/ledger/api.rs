//! The issues of a coupon.

use actix_web::web::{Data, ServiceConfig};
use actix_web::{HttpRequest, HttpResponse};
use jackpot_api::coupon::IssueRow;
use jackpot_core::ids::Id;
use serde::Deserialize;
use utoipa::{IntoParams, OpenApi};

use super::issues::{IssueFilters, issues, knows_coupon};
use crate::ledger::compared::CouponReconciliation;
use jackpot_kernel::http::{Code, PageBody, PathOf, Problem, QueryOf, auth, get};
use jackpot_kernel::ledger::api::Api;
use jackpot_kernel::ledger::api::answer::answer;
use jackpot_kernel::ledger::api::page::{Limit, Paging};
use jackpot_kernel::ledger::queries::LedgerError;
use jackpot_kernel::subject::kinds::COUPON;

/// The routes, described. Every route must be listed.
#[derive(OpenApi)]
#[openapi(paths(list), components(schemas(CouponReconciliation)))]
pub struct ApiDoc;

/// Mounts the routes. They use the data of [`jackpot_kernel::ledger::api::routes`].
pub fn routes(config: &mut ServiceConfig) {
    config.route("/v1/coupons/{id}/issues", get().to(list));
}

/// Which issues.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct IssueQuery {
    /// Rows of a page, 1 to 1,000; 100 unless it says. CSV and NDJSON have all rows unless it says.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 1000)]
    limit: Option<Limit>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
}

/// Issues of a coupon in their order, from the ledger. Issues of the last moment may be missing.
#[utoipa::path(get, path = "/v1/coupons/{id}/issues", operation_id = "list_issues", tag = "ledger", security(("bearer" = [])),
    params(("id" = String, Path), IssueQuery),
    responses((status = 200, description = "A page, or all of them as CSV or NDJSON",
            content((PageBody<IssueRow> = "application/json"), (String = "text/csv"), (String = "application/x-ndjson")))),
    extensions(("x-problems" = json!([Code::TooManyExports]))))]
pub(crate) async fn list(
    auth::Read(caller): auth::Read,
    PathOf(id): PathOf<Id>,
    QueryOf(query): QueryOf<IssueQuery>,
    request: HttpRequest,
    api: Data<Api>,
) -> Result<HttpResponse, Problem> {
    // A coupon that was made a moment ago exists, though the ledger has no event of it yet.
    let is_used = api.kinds.named(COUPON).is_some_and(|kind| kind.is_used(&id));
    if !is_used && !knows_coupon(&api.sql, &id).await? {
        return Err(LedgerError::CouponNotFound(id.to_string()).into());
    }
    let filters = IssueFilters { coupon_id: id };
    let (limit, cursor) = (query.limit, query.cursor);
    let (listing, sql) = (filters.listing(), api.sql.clone());
    let hidden = !caller.sees_codes();
    let read = move |after, limit| {
        let (sql, filters) = (sql.clone(), filters.clone());
        async move {
            let mut page = issues(&sql, &filters, after, limit).await?;
            if hidden {
                page.items.iter_mut().for_each(|row: &mut IssueRow| row.code = None);
            }
            Ok(page)
        }
    };
    answer(&request, &api, &caller, &listing, Paging { limit, cursor }, read).await
}
