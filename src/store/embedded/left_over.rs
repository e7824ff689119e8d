//! What a killed service left behind on our socket.

use redis::Value;

use crate::store::checks::pairs;
use crate::store::connection::Link;
use crate::store::error::Failure;
use crate::store::health::info;

use super::{EmbeddedError, Place, process};

/// The process id of a server to adopt, or none; then nobody is on our socket and files any more.
pub(super) async fn settle(place: &Place, link: &Link) -> Result<Option<u32>, EmbeddedError> {
    match info(link, "server").await {
        // A server that still loads its data answers this too.
        Ok(server) => {
            let pid = server.get("process_id").and_then(|pid| pid.parse().ok()).unwrap_or(0);
            prove_ours(place, link, pid).await?;
            end_all(place, Some(pid)).await?;
            Ok(Some(pid))
        }
        Err(failure) => {
            let found = process::serving(&place.socket);
            if found.is_empty() && !nobody_listens(&failure) {
                return Err(EmbeddedError::Silent {
                    socket: place.socket.clone(),
                    cause: failure.to_string(),
                });
            }
            if !found.is_empty() {
                tracing::warn!(?found, cause = %failure, "a Redis left by another run does not answer and is ended");
            }
            end_all(place, None).await?;
            Ok(None)
        }
    }
}

async fn prove_ours(place: &Place, link: &Link, pid: u32) -> Result<(), EmbeddedError> {
    let foreign = |reason| EmbeddedError::Foreign {
        socket: place.socket.clone(),
        reason,
    };
    if !process::serves(pid, &place.socket) {
        return Err(foreign(format!(
            "its process {pid} was not started on this socket by this service"
        )));
    }
    let mut question = redis::cmd("CONFIG");
    question.arg("GET").arg("dir");
    let answer: Value = link
        .send(&question)
        .await
        .map_err(|failure| foreign(failure.to_string()))?;
    match pairs(&answer).get("dir") {
        Some(dir) if *place.dir == **dir => Ok(()),
        dir => Err(foreign(format!(
            "its directory is {}",
            dir.map_or("unknown", String::as_str)
        ))),
    }
}

async fn end_all(place: &Place, but: Option<u32>) -> Result<(), EmbeddedError> {
    for pid in process::serving(&place.socket) {
        if Some(pid) != but && !process::end(pid, &place.socket).await {
            return Err(EmbeddedError::CannotEnd { pid });
        }
    }
    Ok(())
}

/// No socket, or one that no process holds: the sure signs that nobody is there.
fn nobody_listens(failure: &Failure) -> bool {
    matches!(failure, Failure::Connect { source, .. } if source.is_connection_refusal())
}
