//! Tickets: join, look, renew, leave.

use actix_web::HttpResponse;
use actix_web::web::Data;
use jackpot_core::ids::{Id, PersonId};
use serde::Deserialize;
use utoipa::ToSchema;

use super::Api;
use super::body::TicketBody;
use crate::rooms::TicketNow;
use crate::ticket::Ticket;
use jackpot_kernel::http::auth;
use jackpot_kernel::http::body::{Body, Described};
use jackpot_kernel::http::code::Code;
use jackpot_kernel::http::problem::Problem;
use jackpot_kernel::http::query::PathOf;
use jackpot_kernel::telemetry::request;

/// A user who wants a place.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct JoinWish {
    /// The user, and the player of entries with the pass.
    #[schema(value_type = String, example = "p7")]
    user_id: PersonId,
}

impl Described for JoinWish {}

/// Joins: admitted at once, or in the queue. A user has one place: another join returns the same ticket until it ends.
#[utoipa::path(post, path = "/v1/rooms/{id}/tickets", operation_id = "join_room", tag = "rooms", security(("bearer" = [])), params(("id" = String, Path)),
    request_body(content = JoinWish),
    responses((status = 201, description = "A new ticket", body = TicketBody),
        (status = 200, description = "The ticket that the user has", body = TicketBody)),
    extensions(("x-problems" = json!([(Code::Stopped, "the emergency stop holds it")]))))]
pub(crate) async fn post(
    _: auth::Play,
    PathOf(id): PathOf<Id>,
    api: Data<Api>,
    Body(wish): Body<JoinWish>,
) -> Result<HttpResponse, Problem> {
    request::room(id.shared());
    let now = api.rooms.join(&id, &wish.user_id).await?;
    let mut answer = if now.seen.new {
        HttpResponse::Created()
    } else {
        HttpResponse::Ok()
    };
    Ok(answer.json(body(&api, &id, &now)))
}

/// A ticket as it is now. Asking keeps its place in the queue alive. A place that nobody asks for is lost after
/// `waiting_timeout_s`.
#[utoipa::path(get, path = "/v1/rooms/{id}/tickets/{ticket}", operation_id = "get_ticket", tag = "rooms", security(("bearer" = [])),
    params(("id" = String, Path), ("ticket" = String, Path)),
    responses((status = 200, description = "The ticket", body = TicketBody)),
    extensions(("x-acts" = json!(true)), ("x-problems" = json!([Code::TicketNotFound]))))]
pub(crate) async fn get(
    _: auth::Play,
    PathOf((id, ticket)): PathOf<(Id, Ticket)>,
    api: Data<Api>,
) -> Result<HttpResponse, Problem> {
    request::room(id.shared());
    let now = api.rooms.look(&id, ticket).await?;
    Ok(HttpResponse::Ok().json(body(&api, &id, &now)))
}

/// Starts a whole session from now on, with a new pass.
#[utoipa::path(post, path = "/v1/rooms/{id}/tickets/{ticket}/renew", operation_id = "renew_ticket", tag = "rooms", security(("bearer" = [])),
    params(("id" = String, Path), ("ticket" = String, Path)),
    responses((status = 200, description = "Renewed", body = TicketBody)),
    extensions(("x-problems" = json!([Code::TicketNotFound, Code::NotAdmitted]))))]
pub(crate) async fn renew(
    _: auth::Play,
    PathOf((id, ticket)): PathOf<(Id, Ticket)>,
    api: Data<Api>,
) -> Result<HttpResponse, Problem> {
    request::room(id.shared());
    let now = api.rooms.renew(&id, ticket).await?;
    Ok(HttpResponse::Ok().json(body(&api, &id, &now)))
}

/// Leaves: the place is free at once, and the pass is refused within a second. A repeat, or a leave with an ended
/// ticket, changes nothing and says how the ticket ended.
#[utoipa::path(delete, path = "/v1/rooms/{id}/tickets/{ticket}", operation_id = "leave_room", tag = "rooms", security(("bearer" = [])),
    params(("id" = String, Path), ("ticket" = String, Path)),
    responses((status = 200, description = "The ticket has ended", body = TicketBody)),
    extensions(("x-problems" = json!([Code::TicketNotFound]))))]
pub(crate) async fn delete(
    _: auth::Play,
    PathOf((id, ticket)): PathOf<(Id, Ticket)>,
    api: Data<Api>,
) -> Result<HttpResponse, Problem> {
    request::room(id.shared());
    let now = api.rooms.leave(&id, ticket).await?;
    Ok(HttpResponse::Ok().json(body(&api, &id, &now)))
}

fn body(api: &Api, id: &Id, now: &TicketNow) -> TicketBody {
    TicketBody::of(id, now, &api.rooms.tokens)
}
