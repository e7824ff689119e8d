//! The route of the export: the whole ledger of a jackpot as one file, for `jackpot verify`.

use std::sync::Arc;
use std::time::Duration;

use actix_web::HttpResponse;
use actix_web::http::header::{CACHE_CONTROL, CONTENT_DISPOSITION};
use actix_web::web::{Bytes, BytesMut, Data, ServiceConfig};
use futures_util::{Stream, StreamExt};
use jackpot_core::ids::Id;
use jackpot_core::secret::Secrets;
use tokio::sync::mpsc;
use tokio::time::timeout;
use utoipa::OpenApi;

use super::export::{Export, ExportError, may_be_published};
use crate::http::auth;
use crate::http::code::Code;
use crate::http::problem::Problem;
use crate::http::query::PathOf;
use crate::jackpot::ledger::queries::Queries;
use crate::ledger::api::Api;
use crate::ledger::queries::LedgerError;

/// Bytes of one chunk: sending each line separately would cost a system call each.
const CHUNK_BYTES: usize = 64 << 10;
/// Chunks that wait for the client.
const CHUNKS_AHEAD: usize = 1;
/// How long a client may take for a chunk before it loses its place to others.
const CLIENT_TIMEOUT: Duration = Duration::from_mins(1);

/// The route, described.
#[derive(OpenApi)]
#[openapi(paths(get))]
pub struct ApiDoc;

/// Mounts the route. It uses the data of [`crate::ledger::api::routes`].
pub fn routes(config: &mut ServiceConfig, secrets: &Secrets) {
    config
        .app_data(Data::new(secrets.clone()))
        .route("/v1/jackpots/{id}/ledger/export", crate::http::get().to(get));
}

impl From<ExportError> for Problem {
    fn from(error: ExportError) -> Self {
        match error {
            ExportError::Sql(error) => LedgerError::Sql(error).into(),
            ExportError::NoJackpot(id) => LedgerError::JackpotNotFound(id.to_string()).into(),
            ExportError::Damaged { .. } => LedgerError::Missing(error.to_string()).into(),
        }
    }
}

/// The whole history of a jackpot as NDJSON: events with their hashes, receipts, epochs with the seeds that are
/// published, and the signed head as the last line. `jackpot verify` checks it offline; docs/reference/formats.md has the format.
#[utoipa::path(get, path = "/v1/jackpots/{id}/ledger/export", operation_id = "export_ledger", tag = "ledger", security(("bearer" = [])),
    params(("id" = String, Path)),
    responses((status = 200, description = "The export", body = String, content_type = "application/x-ndjson")),
    extensions(("x-problems" = json!([
        (Code::Forbidden, "also for a `read` key made without `--codes`, when the jackpot gave coupons"),
        Code::TooManyExports]))))]
pub async fn get(
    auth::Read(caller): auth::Read,
    PathOf(id): PathOf<Id>,
    api: Data<Api>,
    secrets: Data<Secrets>,
) -> Result<HttpResponse, Problem> {
    let place = Arc::clone(&api.exports).try_acquire_owned();
    let place = place.map_err(|_| LedgerError::TooManyExports)?;
    let export = Export::begin(api.sql.clone(), id.clone(), &api.signing.current()).await?;
    // Check after the head was read: by now the ledger has the prizes of all codes in the export. Codes can't be left
    // out of hashed data.
    if !caller.sees_codes() && Queries::new(api.sql.clone(), 0).gave_coupons(&id).await? {
        return Err(Problem::forbidden(
            "this export holds codes of coupons: use an operate key, or a read key made with --codes",
        ));
    }
    let file = format!("attachment; filename=\"ledger-{id}.ndjson\"");
    let lines = export.lines(Secrets::clone(&secrets), may_be_published);
    let (sender, mut chunks) = mpsc::channel(CHUNKS_AHEAD);
    actix_web::rt::spawn(async move {
        send(lines, sender).await;
        drop(place);
    });
    let body = async_stream::stream! {
        let mut ended = std::pin::pin!(caller.end().wait());
        loop {
            let chunk = tokio::select! {
                biased;
                () = &mut ended => {
                    yield Err(std::io::ErrorKind::PermissionDenied.into());
                    return;
                }
                chunk = chunks.recv() => chunk,
            };
            match chunk {
                Some(Ok(None)) => return,
                Some(Ok(Some(chunk))) => yield Ok::<Bytes, std::io::Error>(chunk),
                // Break off the transfer: a file that ends too early must never look whole.
                Some(Err(error)) => {
                    tracing::error!(%error, "an export was aborted");
                    yield Err(std::io::Error::other(error));
                    return;
                }
                None => {
                    yield Err(std::io::ErrorKind::TimedOut.into());
                    return;
                }
            }
        }
    };
    Ok(HttpResponse::Ok()
        .content_type("application/x-ndjson")
        .insert_header((CONTENT_DISPOSITION, file))
        .insert_header((CACHE_CONTROL, "no-store"))
        .streaming(body))
}

/// Sends the lines in chunks. `None` is the end; if it is missing, the client reads nothing.
async fn send(
    lines: impl Stream<Item = Result<Bytes, ExportError>>,
    sender: mpsc::Sender<Result<Option<Bytes>, ExportError>>,
) {
    let give = async |chunk| {
        let given = timeout(CLIENT_TIMEOUT, sender.send(chunk)).await;
        given.is_ok_and(|sent| sent.is_ok())
    };
    let mut lines = std::pin::pin!(lines);
    let mut chunk = BytesMut::new();
    while let Some(line) = lines.next().await {
        match line {
            Ok(line) => chunk.extend_from_slice(&line),
            Err(error) => {
                give(Err(error)).await;
                return;
            }
        }
        if chunk.len() >= CHUNK_BYTES && !give(Ok(Some(chunk.split().freeze()))).await {
            return;
        }
    }
    if give(Ok(Some(chunk.freeze()))).await {
        give(Ok(None)).await;
    }
}
