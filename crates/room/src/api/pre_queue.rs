//! The list of users who joined before the opening, with its order, for `jackpot verify`.

use actix_web::HttpResponse;
use actix_web::web::{Bytes, Data};
use jackpot_core::ids::Id;
use serde::Serialize;

use super::Api;
use super::definitions::seed;
use crate::error::RoomError;
use crate::operate::{COLLECTED_PAGE, joined, parse_definition};
use crate::pre_queue_line::{FORMAT, Heading, Join};
use jackpot_kernel::http::auth;
use jackpot_kernel::http::code::Code;
use jackpot_kernel::http::problem::Problem;
use jackpot_kernel::http::query::PathOf;
use jackpot_kernel::telemetry::request;

/// The tickets from before the opening, as lines of JSON. The first line has the seed of the order, the number of
/// tickets, and the SHA-256 of the list. Then there is a line for each ticket, `{"join":1,"ticket":"…"}`, in join
/// order.
///
/// The list is kept for `rooms.retention_s` after the opening. The ledger keeps its hash for ever.
#[utoipa::path(get, path = "/v1/rooms/{id}/pre-queue", operation_id = "get_room_pre_queue", tag = "rooms", security(("bearer" = [])), params(("id" = String, Path)),
    responses((status = 200, description = "The list", content_type = "application/x-ndjson", body = String)),
    extensions(("x-problems" = json!([Code::PreQueueNotFound, Code::RoomNotOpen]))))]
pub(crate) async fn get(_: auth::Read, PathOf(id): PathOf<Id>, api: Data<Api>) -> Result<HttpResponse, Problem> {
    request::room(id.shared());
    let heading = heading(&api, &id).await?;
    let lines = async_stream::stream! {
        yield Ok::<_, Problem>(Bytes::from(line(&heading)));
        let mut after = 0;
        loop {
            // An error breaks the answer off. Its reader notices by the count.
            let page = api.rooms.collected(&id, after).await?;
            after = page.items.last().map_or(after, |(join, _)| *join);
            let lines = page.items.iter().map(|&(join, ticket)| line(&Join { join, ticket }));
            let text = lines.collect::<String>();
            if !text.is_empty() {
                yield Ok(Bytes::from(text));
            }
            if page.items.len() < COLLECTED_PAGE {
                return;
            }
        }
    };
    Ok(HttpResponse::Ok()
        .content_type("application/x-ndjson")
        .insert_header(("Cache-Control", "no-store"))
        .streaming(Box::pin(lines)))
}

async fn heading(api: &Api, id: &Id) -> Result<Heading, RoomError> {
    let snapshot = api.rooms.opened(id).await?;
    let definition = parse_definition(id, &snapshot.definition)?;
    let is_ours = api.rooms.order_seed(id, &snapshot.order).is_some();
    let known = (
        joined(&snapshot),
        snapshot.collected_sha256.clone(),
        seed(api, id, &definition, &snapshot),
    );
    match known {
        (Some(joined), Some(sha256), Some(seed)) => Ok(Heading {
            format: FORMAT,
            room_id: id.clone(),
            opens_at: definition.document().opens_at.clone(),
            nonce: snapshot.values.order.nonce,
            commitment: snapshot.values.order.commitment,
            seed,
            joined,
            sha256,
        }),
        // The ledger does not have the opening yet.
        (Some(_), Some(_), None) if is_ours => Err(RoomError::NotOpen),
        _ => Err(RoomError::NoPreQueue),
    }
}

fn line<T: Serialize>(of: &T) -> String {
    let mut line = serde_json::to_string(of).expect("plain data is JSON");
    line.push('\n');
    line
}
