//! Definitions: put, list, get.

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use jackpot_api::room::{Document, Room};
use jackpot_core::clock::rfc3339;
use jackpot_core::ids::Id;
use jackpot_core::violation::Violation;

use super::Api;
use crate::definition::Definition;
use crate::error::RoomError;
use crate::operate::{has_list, parse_definition};
use crate::scripts::Snapshot;
use jackpot_kernel::http::auth;
use jackpot_kernel::http::body::{Body, Described};
use jackpot_kernel::http::code::Code;
use jackpot_kernel::http::conditions::{put_answer, tagged, wanted};
use jackpot_kernel::http::page::{PageBody, PageQuery, page_of};
use jackpot_kernel::http::problem::Problem;
use jackpot_kernel::http::query::{PathOf, QueryOf};
use jackpot_kernel::subject::kinds::ROOM;
use jackpot_kernel::telemetry::request;

jackpot_kernel::document!(DefinitionBody, Document);

impl Described for DefinitionBody {
    fn broken(self) -> Vec<Violation> {
        Definition::check(self.0).err().unwrap_or_default()
    }
}

/// The seed of the order before the opening, in hexadecimal digits. `None` before the opening, and until the ledger has
/// the event that makes it final: the list, or the definition that opened a room without one. So a Redis that lost this
/// event, or whose clock was set back, never opens an order with a public seed. `None` too if no secret here makes that
/// seed.
pub(super) fn seed(api: &Api, id: &Id, definition: &Definition, snapshot: &Snapshot) -> Option<String> {
    let ledger_n = api.rooms.registry.known(id).ledger_n();
    let opened = snapshot.opens_ms.is_none() && ledger_n.is_some_and(|n| n >= snapshot.defined);
    let is_final = snapshot.collected_sha256.is_some() || !has_list(definition, snapshot);
    let seed = api.rooms.order_seed(id, &snapshot.order)?;
    (opened && is_final).then(|| seed.reveal())
}

fn shown(api: &Api, id: &Id, snapshot: Snapshot) -> Result<Room, RoomError> {
    let definition = parse_definition(id, &snapshot.definition)?;
    let seed = seed(api, id, &definition, &snapshot);
    let room = snapshot.values;
    let counts = room.counts;
    #[expect(clippy::cast_precision_loss, reason = "a mean, in milliseconds")]
    let mean_wait_s =
        (counts.promoted > 0).then(|| (counts.waited_ms as f64 / counts.promoted as f64).round() / 1_000.0);
    Ok(Room {
        id: id.clone(),
        definition: definition.document().clone(),
        status: room.status,
        stopped: api.rooms.registry.stopped(),
        version: room.version,
        active: counts.active,
        waiting: counts.waiting,
        admitted: counts.admitted,
        expired: counts.expired,
        abandoned: counts.abandoned,
        left: counts.left,
        mean_wait_s,
        nonce: room.order.nonce,
        commitment: room.order.commitment,
        seed,
        // By Redis' clock; the room's time may be ahead of it.
        held_until: room
            .hold_ms
            .map(|hold_ms| rfc3339(hold_ms - (room.now_ms - room.wall_ms))),
    })
}

/// Creates a room, or changes its definition, which is in force at once.
///
/// A lower capacity ends no session. `opens_at` can be moved until it is reached. Then it can stay or become null.
#[utoipa::path(put, path = "/v1/rooms/{id}", operation_id = "put_room", tag = "rooms", security(("bearer" = [])),
    params(("id" = String, Path), ("If-Match" = Option<String>, Header), ("If-None-Match" = Option<String>, Header)),
    request_body(content = Document),
    responses((status = 201, description = "Created", body = Room), (status = 200, description = "Changed, or as it was", body = Room)),
    extensions(("x-problems" = json!([Code::PreconditionFailed]))))]
pub(crate) async fn put(
    auth::Operate { by, .. }: auth::Operate,
    PathOf(id): PathOf<Id>,
    head: HttpRequest,
    api: Data<Api>,
    Body(DefinitionBody(document)): Body<DefinitionBody>,
) -> Result<HttpResponse, Problem> {
    request::room(id.shared());
    let wanted = wanted(&head)?;
    let definition = Definition::check(document).map_err(RoomError::Invalid)?;
    api.observe_ledger(&id).await?;
    let put = api.rooms.define(&id, &definition, wanted, &by).await?;
    Ok(put_answer(put, read(&api, &id).await?))
}

/// All rooms, in the order of their ids; for a bound key its own.
#[utoipa::path(get, path = "/v1/rooms", operation_id = "list_rooms", tag = "rooms", security(("bearer" = [])), params(PageQuery),
    responses((status = 200, description = "A page", body = PageBody<Room>)))]
pub(crate) async fn list(
    auth::ReadFiltered(caller): auth::ReadFiltered,
    QueryOf(page): QueryOf<PageQuery>,
    api: Data<Api>,
) -> Result<HttpResponse, Problem> {
    let own = caller.own(ROOM);
    let (items, next_cursor) = page_of(&api.rooms.registry, &page, own, async |id| read(&api, id).await).await?;
    Ok(HttpResponse::Ok().json(PageBody { items, next_cursor }))
}

/// A room with its counts, and the `ETag` of its definition.
#[utoipa::path(get, path = "/v1/rooms/{id}", operation_id = "get_room", tag = "rooms", security(("bearer" = [])), params(("id" = String, Path)),
    responses((status = 200, description = "The room", body = Room)))]
pub(crate) async fn get(_: auth::Read, PathOf(id): PathOf<Id>, api: Data<Api>) -> Result<HttpResponse, Problem> {
    request::room(id.shared());
    let room = read(&api, &id).await?;
    Ok(tagged(room.version, room))
}

async fn read(api: &Api, id: &Id) -> Result<Room, RoomError> {
    shown(api, id, api.rooms.snapshot(id).await?)
}
