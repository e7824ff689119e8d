//! The progress of a request in the queue, as server-sent events.

use std::time::Duration;

use actix_web::HttpResponse;
use actix_web::web::{Bytes, Data};
use futures_util::StreamExt;
use jackpot_core::ids::{Id, RequestRef};
use tokio::time::{Instant, sleep};
use tracing::debug;

use super::Api;
use super::body::{issue_body, shown_to};
use crate::coupons::Request;
use crate::error::CouponError;
use jackpot_kernel::http::auth::Caller;
use jackpot_kernel::http::{Code, PathOf, Problem, Web, auth};
use jackpot_kernel::telemetry::request;

/// Least time between two events about a place.
const PLACE_EVERY: Duration = Duration::from_secs(1);
/// After this silence, a comment keeps proxies from closing the stream.
const COMMENT_AFTER: Duration = Duration::from_secs(15);

/// The progress of a request in the queue. Sends `event: place` at once and when its place has changed, at most once a
/// second; then `event: result`, and the end. The data of both is the request, as `GET` of its id shows it.
#[utoipa::path(get, path = "/v1/coupons/{id}/issues/{request_id}/stream", operation_id = "stream_issue", tag = "coupons", security(("bearer" = [])),
    params(("id" = String, Path), ("request_id" = String, Path)),
    responses((status = 200, description = "Events until it is decided, or a dead letter", content_type = "text/event-stream", body = String)),
    extensions(("x-problems" = json!([Code::IssueNotFound, Code::TooManyStreams]))))]
pub(crate) async fn get(
    auth::PlayOrRead(caller): auth::PlayOrRead,
    PathOf((id, request_id)): PathOf<(Id, RequestRef)>,
    api: Data<Api>,
    web: Data<Web>,
) -> Result<HttpResponse, Problem> {
    request::issue(id.shared(), request_id.as_str().into());
    let mut found = api.coupons.look_up(&id, request_id.as_str()).await?;
    let place = web.open_stream()?;
    let (stopping, coupons) = (web.stopping.clone(), api.coupons.clone());
    let ended = caller.end().wait();
    let events = async_stream::stream! {
        let _place = place;
        let (mut shown, mut told) = (None, Instant::now());
        while found.is_in_line() {
            if shown != Some(found.place) {
                (shown, told) = (Some(found.place), Instant::now());
                yield Ok::<_, Problem>(event("place", found.clone(), &caller));
            } else if told.elapsed() >= COMMENT_AFTER {
                told = Instant::now();
                yield Ok(Bytes::from_static(b":\n\n"));
            }
            let looked = tokio::select! {
                () = stopping.wait() => return,
                looked = coupons.turn_within(&id, found.clone(), PLACE_EVERY) => looked,
            };
            match looked {
                Ok(now) => found = now,
                // It was dropped with all records of its coupon.
                Err(CouponError::RequestNotFound(_)) => return,
                Err(error) => {
                    debug!(%error, "the request could not be read; its stream waits");
                    sleep(PLACE_EVERY).await;
                }
            }
        }
        yield Ok(event("result", found, &caller));
    };
    Ok(HttpResponse::Ok()
        .content_type("text/event-stream")
        .insert_header(("Cache-Control", "no-store"))
        .streaming(Box::pin(events.take_until(ended))))
}

fn event(name: &str, request: Request, caller: &Caller) -> Bytes {
    let json = serde_json::to_string(&shown_to(issue_body(request), caller)).expect("plain data is JSON");
    Bytes::from(format!("event: {name}\ndata: {json}\n\n"))
}
