//! The public state of a room.

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use jackpot_api::room::{RoomPhase, RoomStatus, Status};
use jackpot_core::clock::rfc3339;
use jackpot_core::ids::Id;

use super::Api;
use super::definitions::seed;
use crate::error::RoomError;
use crate::operate::joined;
use crate::rooms::RoomNow;
use jackpot_kernel::http::cached::Page;
use jackpot_kernel::http::problem::Problem;
use jackpot_kernel::http::query::PathOf;
use jackpot_kernel::subject::ScriptError;

/// How long a client, or a cache in between, may keep the answer, in seconds.
const MAX_AGE_S: u32 = 1;

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
        (Status::Suspended, ..) => RoomPhase::Suspended,
        (Status::Open, Some(_), _) => RoomPhase::Collecting,
        (Status::Open, None, Some(_)) => RoomPhase::Holding,
        (Status::Open, None, None) => RoomPhase::Open,
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
