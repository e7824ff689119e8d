//! The public state of a room.

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use jackpot_core::clock::rfc3339;
use jackpot_core::ids::Id;
use serde::Serialize;
use utoipa::ToSchema;

use super::Api;
use super::definitions::seed;
use crate::error::RoomError;
use crate::operate::joined;
use crate::rooms::RoomNow;
use crate::status::Status;
use jackpot_kernel::http::cached::Page;
use jackpot_kernel::http::problem::Problem;
use jackpot_kernel::http::query::PathOf;
use jackpot_kernel::subject::ScriptError;
use jackpot_kernel::subject::emergency::Stopped;

/// How long a client, or a cache in between, may keep the answer, in seconds.
const MAX_AGE_S: u32 = 1;

/// The public state of a room.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RoomStatus {
    #[schema(value_type = String, example = "lobby")]
    room_id: Id,
    /// open; collecting: it opens later, in a random order; holding: nobody is admitted until all passes from before a
    /// loss of Redis have expired; suspended
    #[schema(example = "open")]
    status: &'static str,
    /// The emergency stop while it lasts, else null.
    stopped: Option<Stopped>,
    #[schema(example = 1000)]
    capacity: u64,
    /// Sessions now.
    #[schema(example = 1000)]
    active: u64,
    /// Tickets in the queue.
    #[schema(example = 17)]
    waiting: u64,
    /// Seconds until a user who joins now is admitted, by the rate at which sessions ended in the last minute; null
    /// when unknown.
    #[schema(example = 40)]
    eta_s: Option<u64>,
    opens_at: Option<String>,
    /// Public input of the seed of the order before the opening: 32 hexadecimal digits, new with each new `opens_at`.
    #[schema(example = "00112233445566778899aabbccddeeff")]
    nonce: String,
    /// SHA-256 of that seed.
    commitment: String,
    /// The seed, once the ledger has the opening. With it and the list of `GET /v1/rooms/{id}/pre-queue` (role read),
    /// which the operator can publish, anybody can check the order.
    seed: Option<String>,
    /// How many joined before the opening, once the ledger has it and while the list is kept.
    joined: Option<u64>,
    /// SHA-256 of the list of their tickets, each with a line feed, in join order.
    sha256: Option<String>,
    /// Time of this state, RFC 3339 like all times here.
    at: String,
}

/// The public state of a room. It needs no key and is at most a second old. Caches in between may keep it for a second.
#[utoipa::path(get, path = "/v1/rooms/{id}/status", operation_id = "get_room_status", tag = "rooms", params(("id" = String, Path)),
    responses((status = 200, description = "The state of the room", body = RoomStatus,
            headers(("Cache-Control" = String, description = "`public, max-age=1`"),
                ("ETag" = String, description = "Weak, of all but `at`"))),
        (status = 304, description = "`If-None-Match` has the tag of the current answer")))]
pub(crate) async fn get(PathOf(id): PathOf<Id>, request: HttpRequest, api: Data<Api>) -> Result<HttpResponse, Problem> {
    // A made-up id costs no call.
    if !api.rooms.registry.may_exist(&id).await.map_err(RoomError::from)? {
        return Err(RoomError::from(ScriptError::Unknown).into());
    }
    let now = api.rooms.shown(&id).await?;
    let mut body = body(&api, id, &now);
    let text = |body: &RoomStatus| serde_json::to_string(body).expect("plain data is JSON");
    let whole = text(&body);
    body.at.clear();
    let page = Page::tagged_by(whole, text(&body).as_bytes());
    Ok(page.answer(&request, "application/json", MAX_AGE_S))
}

fn body(api: &Api, id: Id, now: &RoomNow) -> RoomStatus {
    let RoomNow {
        snapshot,
        definition,
        eta_s,
    } = now;
    let status = match (snapshot.status, snapshot.opens_ms, snapshot.hold_ms) {
        (Status::Suspended, ..) => "suspended",
        (Status::Open, Some(_), _) => "collecting",
        (Status::Open, None, Some(_)) => "holding",
        (Status::Open, None, None) => "open",
    };
    RoomStatus {
        status,
        stopped: api.rooms.registry.stopped(),
        capacity: definition.capacity(),
        active: snapshot.counts.active,
        waiting: snapshot.counts.waiting,
        eta_s: *eta_s,
        opens_at: definition.document().opens_at.clone(),
        nonce: snapshot.order.nonce.clone(),
        commitment: snapshot.order.commitment.clone(),
        seed: seed(api, &id, definition, snapshot),
        joined: joined(snapshot),
        sha256: snapshot.collected_sha256.clone(),
        at: rfc3339(snapshot.wall_ms),
        room_id: id,
    }
}
