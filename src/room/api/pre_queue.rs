//! Who joined before the opening, and in which order: for `jackpot verify`.

use std::fmt::Write;

use actix_web::HttpResponse;
use actix_web::web::{Bytes, Data};
use serde::Serialize;

use super::Api;
use super::definitions::opening;
use crate::http::auth;
use crate::http::problem::Problem;
use crate::http::query::PathOf;
use crate::ids::Id;
use crate::room::operate::{COLLECTED_PAGE, parse_definition};
use crate::telemetry::request;

/// Of the form of these lines.
const FORMAT: u32 = 1;

/// The first line.
#[derive(Debug, Serialize)]
struct Head<'a> {
    kind: &'static str,
    format: u32,
    room_id: &'a Id,
    opens_at: Option<&'a str>,
    commitment: &'a str,
    seed: Option<String>,
    joined: u64,
    sha256: Option<&'a str>,
}

/// Who joined before the opening, as lines of JSON: the first with the seed of the order, how many joined, and the
/// SHA-256 of the list; then one for each ticket, `{"join":1,"ticket":"…"}`, in the order in which they joined.
///
/// The list is kept for `rooms.retention_s` behind the opening, its hash for ever in the ledger.
#[utoipa::path(get, path = "/v1/rooms/{id}/pre-queue", operation_id = "get_room_pre_queue", tag = "rooms", security(("bearer" = [])), params(("id" = String, Path)),
    responses((status = 200, description = "The list", content_type = "application/x-ndjson", body = String),
        (status = 404, description = "`room-not-found`", body = crate::http::problem::ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "`room-not-open`", body = crate::http::problem::ProblemBody, content_type = "application/problem+json")))]
pub(crate) async fn get(_: auth::Read, PathOf(id): PathOf<Id>, api: Data<Api>) -> Result<HttpResponse, Problem> {
    request::room(id.shared());
    let snapshot = api.rooms.opened(&id).await?;
    let definition = parse_definition(&id, &snapshot.definition)?;
    let head = Head {
        kind: "room-pre-queue",
        format: FORMAT,
        room_id: &id,
        opens_at: definition.document().opens_at.as_deref(),
        commitment: &snapshot.commitment,
        seed: opening(&api, &id, &snapshot, &definition).seed,
        joined: snapshot.collected,
        sha256: snapshot.collected_sha256.as_deref(),
    };
    let mut head = serde_json::to_string(&head).expect("plain data is JSON");
    head.push('\n');
    let lines = async_stream::stream! {
        yield Ok::<_, Problem>(Bytes::from(head));
        let mut after = 0;
        loop {
            // An error breaks the answer off, which its reader notices by the count.
            let page = api.rooms.collected(&id, after).await?;
            let mut text = String::with_capacity(page.items.len() * 64);
            for (number, ticket) in &page.items {
                after = *number;
                let _never_fails = writeln!(text, r#"{{"join":{number},"ticket":"{ticket}"}}"#);
            }
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
