//! A list as the client wants it: a page of JSON, or all of it as CSV or NDJSON.

use std::sync::Arc;

use actix_web::http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, VARY};
use actix_web::{HttpRequest, HttpResponse};
use serde::Serialize;

use super::Api;
use super::csv::Record;
use super::export::{CHUNK, Export};
use super::format::Format;
use super::page::{DEFAULT_LIMIT, Limit, Paging};
use crate::http::auth::Caller;
use crate::http::{PageBody, Problem};
use crate::ledger::queries::scan::Page;
use crate::ledger::queries::{Key, LedgerError, Listing};

/// Answers a caller with a list. `read` reads the page after a position, with that many rows at most.
pub async fn answer<T, F>(
    request: &HttpRequest,
    api: &Api,
    caller: &Caller,
    listing: &Listing,
    paging: Paging,
    read: impl Fn(Option<Key>, u32) -> F + Send + Sync + 'static,
) -> Result<HttpResponse, Problem>
where
    T: Record + Serialize + Send + Sync + 'static,
    F: Future<Output = Result<Page<T>, LedgerError>> + Send + 'static,
{
    let position = paging.cursor.map(|cursor| listing.position(&cursor)).transpose()?;
    let left = paging.limit.map(|Limit(rows)| rows);
    let format = Format::of(request);
    if format == Format::Json {
        let page = read(position, left.unwrap_or(DEFAULT_LIMIT)).await?;
        return Ok(HttpResponse::Ok().insert_header((VARY, "Accept")).json(PageBody {
            items: page.items,
            next_cursor: page.next.map(|key| listing.cursor(&key)),
        }));
    }
    let place = Arc::clone(&api.exports)
        .try_acquire_owned()
        .map_err(|_| LedgerError::TooManyExports)?;
    // Read before the answer begins, so that a database that is down still gives a 503.
    let page = read(position, left.unwrap_or(CHUNK).min(CHUNK)).await?;
    let export = Export { format, page, left };
    let name = format!("attachment; filename=\"{}.{}\"", listing.name(), format.extension());
    Ok(HttpResponse::Ok()
        .content_type(format.content_type())
        .insert_header((VARY, "Accept"))
        .insert_header((CACHE_CONTROL, "no-store"))
        .insert_header((CONTENT_DISPOSITION, name))
        .streaming(Box::pin(export.stream(
            place,
            caller.end(),
            &api.runtime,
            move |key, limit| read(Some(key), limit),
        ))))
}
