//! Dead letters: list them, return one to the queue.

use actix_web::HttpResponse;
use actix_web::web::Data;
use jackpot_api::coupon::{DeadBody, IssueBody};
use jackpot_core::clock::rfc3339;
use jackpot_core::ids::{Id, RequestRef};
use serde::Deserialize;
use utoipa::IntoParams;

use super::Api;
use super::body::issue_body;
use crate::record::{Record, State};
use crate::scripts::DeadLetter;
use jackpot_kernel::http::page::{Limit, page_size};
use jackpot_kernel::http::{Code, PageBody, PathOf, Problem, QueryOf, auth};
use jackpot_kernel::telemetry::request;

fn dead_body(letter: DeadLetter) -> DeadBody {
    let unreadable = DeadBody {
        request_id: letter.request_id,
        user_id: None,
        metadata: None,
        arrival: None,
        attempts: None,
        queued_at: None,
    };
    match letter.record {
        Ok(Record {
            user,
            state: State::Dead {
                arrival,
                attempts,
                at_ms,
            },
        }) => DeadBody {
            user_id: Some(user.user),
            metadata: user.metadata.map(Into::into),
            arrival: Some(arrival),
            attempts: Some(attempts),
            queued_at: Some(rfc3339(at_ms)),
            ..unreadable
        },
        _ => unreadable,
    }
}

/// Which page.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct DeadQuery {
    /// 1 to 1,000; default 100.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 1000)]
    limit: Option<Limit>,
    /// `next_cursor` of the previous page.
    #[param(value_type = Option<String>)]
    cursor: Option<u64>,
}

/// Requests that were not served in three tries, in the order in which they joined the queue.
#[utoipa::path(get, path = "/v1/coupons/{id}/dead-letters", operation_id = "list_dead_letters", tag = "coupons", security(("bearer" = [])),
    params(("id" = String, Path), DeadQuery),
    responses((status = 200, description = "A page", body = PageBody<DeadBody>)))]
pub(crate) async fn list(
    _: auth::Read,
    PathOf(id): PathOf<Id>,
    QueryOf(query): QueryOf<DeadQuery>,
    api: Data<Api>,
) -> Result<HttpResponse, Problem> {
    let limit = page_size(query.limit);
    let page = api
        .coupons
        .dead_letters(&id, query.cursor.unwrap_or_default(), limit)
        .await?;
    let full = page.letters.len() == limit;
    let next_cursor = page.last.filter(|_| full).map(|last| last.to_string());
    Ok(HttpResponse::Ok().json(PageBody {
        items: page.letters.into_iter().map(dead_body).collect(),
        next_cursor,
    }))
}

/// Returns a dead letter to its old place in the queue, with no tries counted.
///
/// A request that is no dead letter any more is answered as it is, and does not change.
#[utoipa::path(post, path = "/v1/coupons/{id}/dead-letters/{request_id}/redrive", operation_id = "redrive_dead_letter", tag = "coupons", security(("bearer" = [])),
    params(("id" = String, Path), ("request_id" = String, Path)),
    responses((status = 200, description = "In the queue, or decided since", body = IssueBody)),
    extensions(("x-problems" = json!([Code::IssueNotFound, Code::CouponRetired]))))]
pub(crate) async fn redrive(
    auth::Operate { by, .. }: auth::Operate,
    PathOf((id, request_id)): PathOf<(Id, RequestRef)>,
    api: Data<Api>,
) -> Result<HttpResponse, Problem> {
    request::issue(id.shared(), request_id.as_str().into());
    let redriven = api.coupons.redrive(&id, request_id.as_str(), &by).await?;
    Ok(HttpResponse::Ok().json(issue_body(redriven)))
}
