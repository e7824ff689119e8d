//! A ticket as server-sent events.

use std::time::Duration;

use actix_web::HttpResponse;
use actix_web::web::{Bytes, Data};
use futures_util::StreamExt;
use jackpot_core::ids::Id;
use tokio::time::sleep;
use tracing::debug;

use super::Api;
use super::body::TicketBody;
use crate::error::RoomError;
use crate::rooms::TicketNow;
use crate::scripts::Place;
use crate::ticket::Ticket;
use jackpot_kernel::http::Web;
use jackpot_kernel::http::auth;
use jackpot_kernel::http::code::Code;
use jackpot_kernel::http::problem::Problem;
use jackpot_kernel::http::query::PathOf;
use jackpot_kernel::telemetry::request;

/// Until the next look after a failed one.
const AFTER_FAILURE: Duration = Duration::from_secs(1);

/// A ticket while it waits or is in. Sends `event: ticket` at once and when it has changed, at most once in
/// `poll_after_s`, and a last one at its end; a comment if nothing has changed. The data is the ticket, as `GET` shows
/// it. A stream keeps the place alive.
#[utoipa::path(get, path = "/v1/rooms/{id}/tickets/{ticket}/stream", operation_id = "stream_ticket", tag = "rooms", security(("bearer" = [])),
    params(("id" = String, Path), ("ticket" = String, Path)),
    responses((status = 200, description = "Events until the ticket ends", content_type = "text/event-stream", body = String)),
    extensions(("x-problems" = json!([Code::TicketNotFound, Code::TooManyStreams]))))]
pub(crate) async fn get(
    auth::Play(caller): auth::Play,
    PathOf((id, ticket)): PathOf<(Id, Ticket)>,
    api: Data<Api>,
    web: Data<Web>,
) -> Result<HttpResponse, Problem> {
    request::room(id.shared());
    let mut now = api.rooms.look(&id, ticket).await?;
    let place = web.open_stream()?;
    let stopping = web.stopping.clone();
    let events = async_stream::stream! {
        let _place = place;
        let mut shown = None;
        loop {
            let seen = Some((now.seen.place, now.eta_s));
            if shown == seen {
                // Only a write shows that a listener has gone away. Such a listener must not keep a place.
                yield Ok::<_, Problem>(Bytes::from_static(b":\n\n"));
            } else {
                shown = seen;
                yield Ok(event(&api, &id, &now));
            }
            if matches!(now.seen.place, Place::Ended { .. }) {
                return;
            }
            let mut pause = Duration::from_secs_f64(now.poll_after_s);
            loop {
                tokio::select! {
                    () = stopping.wait() => return,
                    () = sleep(pause) => {}
                }
                match api.rooms.look(&id, ticket).await {
                    Ok(looked) => {
                        now = looked;
                        break;
                    }
                    // The ticket had ended, and its record is dropped by now.
                    Err(RoomError::TicketNotFound) => return,
                    Err(error) => debug!(%error, "the ticket could not be read; its stream waits"),
                }
                pause = AFTER_FAILURE;
            }
        }
    };
    Ok(HttpResponse::Ok()
        .content_type("text/event-stream")
        .insert_header(("Cache-Control", "no-store"))
        .streaming(Box::pin(events.take_until(caller.end().wait()))))
}

fn event(api: &Api, id: &Id, now: &TicketNow) -> Bytes {
    let body = TicketBody::of(id, now, &api.rooms.tokens);
    let json = serde_json::to_string(&body).expect("plain data is JSON");
    Bytes::from(format!("event: ticket\ndata: {json}\n\n"))
}
