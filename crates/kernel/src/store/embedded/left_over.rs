//! Servers that a killed service left on our socket.

use std::time::Duration;

use redis::Value;
use tokio::time::Instant;

use crate::store::checks::pairs;
use crate::store::connection::Link;
use crate::store::error::Failure;
use crate::store::health::info;

use super::process::{self, Owner};
use super::{EmbeddedError, ServerFiles};

/// How long the owner of the socket may stay unclear: a server that is ending answers one question and not the next.
const SETTLE_LIMIT: Duration = Duration::from_secs(5);
/// Pause between two looks.
const PAUSE: Duration = Duration::from_millis(50);

/// The result of one look.
enum Found {
    /// A server to adopt, or none.
    Settled(Option<u32>),
    /// Unclear for now; the error if it stays so.
    Unclear(EmbeddedError),
}

/// The process id of a server to adopt; or none, and then no process uses our socket and files.
pub(super) async fn settle(place: &ServerFiles, link: &Link) -> Result<Option<u32>, EmbeddedError> {
    let deadline = Instant::now() + SETTLE_LIMIT;
    loop {
        match look(place, link).await? {
            Found::Settled(server) => return Ok(server),
            Found::Unclear(error) if Instant::now() >= deadline => return Err(error),
            Found::Unclear(_) => tokio::time::sleep(PAUSE).await,
        }
    }
}

async fn look(place: &ServerFiles, link: &Link) -> Result<Found, EmbeddedError> {
    match info(link, "server").await {
        // A server that is still loading its data answers this too.
        Ok(server) => {
            let pid = server.get("process_id").and_then(|pid| pid.parse().ok()).unwrap_or(0);
            if let Some(unclear) = prove_ours(place, link, pid).await? {
                return Ok(Found::Unclear(unclear));
            }
            end_all(place, Some(pid)).await?;
            Ok(Found::Settled(Some(pid)))
        }
        Err(failure) => {
            let found = serving(place)?;
            if found.is_empty() && !nobody_listens(&failure) {
                return Ok(Found::Unclear(EmbeddedError::Silent {
                    socket: place.socket.clone(),
                    cause: failure.to_string(),
                }));
            }
            if !found.is_empty() {
                tracing::warn!(?found, cause = %failure, "a Redis left by another run does not answer and is ended");
            }
            end_all(place, None).await?;
            Ok(Found::Settled(None))
        }
    }
}

/// None when the server is ours. An error that may pass when it is unclear.
async fn prove_ours(place: &ServerFiles, link: &Link, pid: u32) -> Result<Option<EmbeddedError>, EmbeddedError> {
    let foreign = |reason| EmbeddedError::Foreign {
        socket: place.socket.clone(),
        reason,
    };
    let not_started_here = || foreign(format!("its process {pid} was not started here by this service"));
    match process::look(pid, place) {
        Ok(Owner::Ours) => {}
        Ok(Owner::Other) => return Err(not_started_here()),
        // It ended after its answer; or it answers from another process namespace, where its number is another process.
        Ok(Owner::Gone) => return Ok(Some(not_started_here())),
        Err(source) => return Ok(Some(unknown(place)(source))),
    }
    let mut question = redis::cmd("CONFIG");
    question.arg("GET").arg("dir");
    let answer: Value = match link.send(&question).await {
        Ok(answer) => answer,
        Err(failure) => {
            return Ok(Some(EmbeddedError::NoAnswer {
                cause: failure.to_string(),
                log: place.log.clone(),
            }));
        }
    };
    match pairs(&answer).get("dir") {
        Some(dir) if *place.dir == **dir => Ok(None),
        dir => Err(foreign(format!(
            "its directory is {}",
            dir.map_or("unknown", String::as_str)
        ))),
    }
}

/// Ends every server of that place except one, and checks that they have ended.
pub(super) async fn end_all(place: &ServerFiles, but: Option<u32>) -> Result<(), EmbeddedError> {
    for pid in serving(place)? {
        if Some(pid) != but && !process::end(pid, place).await {
            return Err(EmbeddedError::CannotEnd { pid });
        }
    }
    Ok(())
}

fn serving(place: &ServerFiles) -> Result<Vec<u32>, EmbeddedError> {
    process::serving(place).map_err(unknown(place))
}

fn unknown(place: &ServerFiles) -> impl FnOnce(std::io::Error) -> EmbeddedError {
    EmbeddedError::io(format!("can't tell which processes serve {}", place.socket.display()))
}

/// There is no socket, or no process holds it: then certainly no server is there.
fn nobody_listens(failure: &Failure) -> bool {
    matches!(failure, Failure::Connect { source, .. } if source.is_connection_refusal())
}
