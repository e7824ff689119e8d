//! Requests for units: ask, look up, take back.

use actix_web::http::header::{HeaderName, LOCATION};
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use jackpot_api::coupon::IssueBody;
use jackpot_core::ids::{Id, PersonId, RequestRef};
use serde::Deserialize;
use utoipa::ToSchema;

use super::Api;
use super::body::{first, issue_body, shown_to};
use crate::coupons::Request;
use crate::metadata::{Asker, Metadata};
use crate::problem::{already_issued, closed, not_open, out_of_stock};
use crate::record::State;
use crate::scripts::Mode;
use jackpot_kernel::http::{Body, Code, Described, PathOf, Problem, Web, auth};
use jackpot_kernel::telemetry::request;

/// Header of a repeated answer.
const REPLAYED: (&str, &str) = ("Idempotency-Replayed", "true");
const PREFER: HeaderName = HeaderName::from_static("prefer");
/// RFC 7240, 4.1: the client asks for 202 instead of waiting.
const RESPOND_ASYNC: &str = "respond-async";

/// One unit for one user.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct IssueWish {
    /// Chosen by the client. The same id is the same request while the coupon's records are kept.
    #[schema(value_type = String, example = "r-1", pattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
    pub(super) request_id: Id,
    #[schema(value_type = String, example = "u-1")]
    pub(super) user_id: PersonId,
    /// Texts that the client keeps with the request, by names that it chooses: up to 16 of them, together at most 1,024 bytes
    /// as JSON without spaces, no control characters. A repeat must bring the same.
    #[schema(value_type = Option<BTreeMap<String, String>>)]
    #[serde(default, deserialize_with = "Metadata::of_request")]
    pub(super) metadata: Option<Metadata>,
}

impl IssueWish {
    pub(super) fn asker(&self) -> Asker {
        Asker {
            user: self.user_id.clone(),
            metadata: self.metadata.clone(),
        }
    }
}

impl Described for IssueWish {}

/// Asks for a unit. Safe to repeat with the same id: a refusal is final for its request too.
///
/// With `Prefer: respond-async` the request joins the coupon's queue, which is served strictly in the order of arrival.
/// While others are in the queue, every request joins it at its end. Without that header it is answered when its turn
/// has come, or with 202 after `coupons.turn_wait_ms`.
#[utoipa::path(post, path = "/v1/coupons/{id}/issues", operation_id = "issue_coupon", tag = "coupons", security(("bearer" = [])),
    params(("id" = String, Path), ("Prefer" = Option<String>, Header, description = "`respond-async`: join the queue")),
    request_body(content = IssueWish),
    responses((status = 201, description = "Issued", body = IssueBody),
        (status = 200, description = "Issued before, as it was answered then, or a dead letter (`result` is `dead`); of a repeat with \
            `Idempotency-Replayed: true`", body = IssueBody),
        (status = 202, description = "In the queue; `Location` names the request", body = IssueBody),
        (status = 409, description = "with `Idempotency-Replayed: true` if it was refused before", body = crate::problem::AlreadyIssued<IssueBody>, content_type = "application/problem+json")),
    extensions(("x-problems" = json!([(Code::AlreadyIssued, "with the first issue as `issue`"), Code::OutOfStock, Code::CouponPaused,
        Code::CouponClosed, Code::RequestIdReused,
        (Code::NotOpen, "with `Idempotency-Replayed: true` if it was refused before"),
        (Code::Stopped, "the emergency stop holds it")]))))]
pub(crate) async fn post(
    _: auth::Play,
    PathOf(id): PathOf<Id>,
    head: HttpRequest,
    api: Data<Api>,
    web: Data<Web>,
    Body(wish): Body<IssueWish>,
) -> Result<HttpResponse, Problem> {
    request::issue(id.shared(), wish.request_id.shared());
    let coupons = &api.coupons;
    let mode = if prefers_async(&head) { Mode::Line } else { Mode::Now };
    let mut request = coupons.issue(&id, &wish.request_id, &wish.asker(), mode).await?;
    if mode == Mode::Now && request.is_in_line() {
        request = tokio::select! {
            decided = coupons.its_turn(&id, request.clone()) => decided?,
            // A stop waits for answers.
            () = web.stopping.wait() => request,
        };
    }
    Ok(answer(&id, request))
}

/// A request and its result.
#[utoipa::path(get, path = "/v1/coupons/{id}/issues/{request_id}", operation_id = "get_issue", tag = "coupons", security(("bearer" = [])),
    params(("id" = String, Path), ("request_id" = String, Path)),
    responses((status = 200, description = "The request", body = IssueBody)),
    extensions(("x-problems" = json!([Code::IssueNotFound]))))]
pub(crate) async fn get(
    auth::PlayOrRead(caller): auth::PlayOrRead,
    PathOf((id, request_id)): PathOf<(Id, RequestRef)>,
    api: Data<Api>,
) -> Result<HttpResponse, Problem> {
    request::issue(id.shared(), request_id.as_str().into());
    let found = api.coupons.look_up(&id, request_id.as_str()).await?;
    Ok(HttpResponse::Ok().json(shown_to(issue_body(found), &caller)))
}

/// Voids an issued unit: it returns to the stock, and a new request of its user may be issued another.
///
/// Final for its request. Its sequence is never used again. A repeat changes nothing.
#[utoipa::path(delete, path = "/v1/coupons/{id}/issues/{request_id}", operation_id = "void_issue", tag = "coupons", security(("bearer" = [])),
    params(("id" = String, Path), ("request_id" = String, Path)),
    responses((status = 200, description = "Voided", body = IssueBody)),
    extensions(("x-problems" = json!([Code::IssueNotFound, Code::NotIssued, Code::Redeemed, Code::CouponRetired]))))]
pub(crate) async fn delete(
    auth::Operate { by, .. }: auth::Operate,
    PathOf((id, request_id)): PathOf<(Id, RequestRef)>,
    api: Data<Api>,
) -> Result<HttpResponse, Problem> {
    request::issue(id.shared(), request_id.as_str().into());
    let voided = api.coupons.void(&id, request_id.as_str(), &by).await?;
    Ok(HttpResponse::Ok().json(issue_body(voided)))
}

/// Turns the result of a request into an answer for its client.
fn answer(id: &Id, request: Request) -> HttpResponse {
    let replayed = request.replayed;
    let mut answer = match &request.record.state {
        State::Issued(_) if !replayed => HttpResponse::Created().json(issue_body(request)),
        // Repeats the first answer, even for a unit that was voided or redeemed since. GET shows that.
        State::Issued(_) | State::Voided(..) | State::Redeemed(..) => {
            HttpResponse::Ok().json(first(request.request_id, request.record))
        }
        State::AlreadyIssued { .. } => {
            already_issued(&request.first.and_then(|(request_id, record)| first(request_id, record)))
        }
        State::OutOfStock { .. } => out_of_stock().into_response(),
        State::NotOpen { .. } => {
            not_open("the coupon is not issued at this time; this is final for the request").into_response()
        }
        State::Closed { .. } => {
            closed("the coupon was closed before the turn of the request; this is final for it").into_response()
        }
        // Nobody works on it until an operator returns it to the queue, so it is not `202 Accepted`.
        State::Dead { .. } => HttpResponse::Ok().json(issue_body(request)),
        State::Queued { .. } => HttpResponse::Accepted()
            .insert_header((LOCATION, format!("/v1/coupons/{id}/issues/{}", request.request_id)))
            .json(issue_body(request)),
    };
    if replayed {
        mark_replayed(&mut answer);
    }
    answer
}

/// Marks a repeated answer.
pub(super) fn mark_replayed(answer: &mut HttpResponse) {
    let (name, value) = REPLAYED;
    if let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), value.parse()) {
        answer.headers_mut().insert(name, value);
    }
}

/// RFC 7240, 2: preferences are separated by commas, in one header or several, and may have parameters.
fn prefers_async(request: &HttpRequest) -> bool {
    let headers = request.headers().get_all(PREFER);
    let texts = headers.filter_map(|value| value.to_str().ok());
    texts
        .flat_map(|text| text.split(','))
        .filter_map(|preference| preference.split(';').next())
        .any(|preference| preference.trim().eq_ignore_ascii_case(RESPOND_ASYNC))
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;

    use super::*;

    #[test]
    fn the_preference_is_found_among_others() {
        let prefers = |values: &[&str]| {
            let request = TestRequest::default();
            let request = values
                .iter()
                .fold(request, |request, value| request.append_header((PREFER, *value)));
            prefers_async(&request.to_http_request())
        };
        for yes in [
            &["respond-async"][..],
            &["wait=10, Respond-Async"],
            &["handling=lenient", "respond-async; x=1"],
        ] {
            assert!(prefers(yes), "{yes:?}");
        }
        for no in [&[][..], &["wait=10"], &["respond-asynchronously"], &["x=respond-async"]] {
            assert!(!prefers(no), "{no:?}");
        }
    }
}
