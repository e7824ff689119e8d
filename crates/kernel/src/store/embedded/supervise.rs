//! A running private server, our child or adopted, and the task that restarts it when it dies.

use std::time::Duration;

use tokio::process::Child;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::store::connection::Link;
use crate::store::error::Failure;

use super::server::{Plan, log_tail};
use super::{EmbeddedError, ServerFiles, left_over, process};

/// Pause before the first restart, doubled for each further one.
const FIRST_BACKOFF: Duration = Duration::from_millis(50);
/// The longest pause between restarts.
const LONGEST_BACKOFF: Duration = Duration::from_secs(5);
/// After this time of running, the pauses begin again with the first.
const STEADY: Duration = Duration::from_secs(30);
/// How often to look at an adopted server, which is not our child.
const LOOK: Duration = Duration::from_millis(50);
/// How long a started server may take to answer.
const ANSWER_LIMIT: Duration = Duration::from_secs(30);
/// How long it may take to load its data; about a minute for 10 GiB.
const LOADING_LIMIT: Duration = Duration::from_mins(5);

/// A running server.
pub(super) struct Running {
    pid: u32,
    place: ServerFiles,
    child: Option<Child>,
    ended: bool,
}

impl Running {
    pub(super) fn adopted(pid: u32, place: &ServerFiles) -> Self {
        Self {
            pid,
            place: place.clone(),
            child: None,
            ended: false,
        }
    }

    pub(super) fn child(child: Child, place: &ServerFiles) -> Self {
        // A child that was not waited for has an id.
        let pid = child.id().unwrap_or(0);
        Self {
            pid,
            place: place.clone(),
            child: Some(child),
            ended: false,
        }
    }

    pub(super) fn pid(&self) -> u32 {
        self.pid
    }

    /// Waits until it answers and has loaded its data.
    pub(super) async fn until_ready(&mut self, place: &ServerFiles, link: &Link) -> Result<(), EmbeddedError> {
        let began_at = Instant::now();
        loop {
            let Err(failure) = link.send(&redis::cmd("PING")).await else {
                return Ok(());
            };
            let loading = matches!(&failure, Failure::Redis { source, .. } if source.code() == Some("LOADING"));
            if began_at.elapsed() > if loading { LOADING_LIMIT } else { ANSWER_LIMIT } {
                return Err(EmbeddedError::NoAnswer {
                    cause: failure.to_string(),
                    log: place.log.clone(),
                });
            }
            tokio::select! {
                status = self.gone() => {
                    return Err(EmbeddedError::Died {
                        status,
                        log: place.log.clone(),
                        log_tail: log_tail(&place.log),
                    });
                }
                () = tokio::time::sleep(Duration::from_millis(10)) => {}
            }
        }
    }

    /// Resolves when it has died. Returns how.
    async fn gone(&mut self) -> String {
        let status = if let Some(child) = &mut self.child {
            child
                .wait()
                .await
                .map_or_else(|error| error.to_string(), |status| status.to_string())
        } else {
            while process::may_serve(self.pid, &self.place) {
                tokio::time::sleep(LOOK).await;
            }
            String::from("adopted, status unknown")
        };
        self.ended = true;
        status
    }

    /// Stops it and waits until it has ended.
    pub(super) async fn end(mut self) {
        if !process::end(self.pid, &self.place).await {
            tracing::error!(pid = self.pid, "the private Redis can't be ended");
        }
        if let Some(child) = &mut self.child {
            let _ = child.wait().await;
        }
        self.ended = true;
    }
}

/// If the runtime ends without a stop, the server at least gets the signal: it syncs its file and ends.
impl Drop for Running {
    fn drop(&mut self) {
        if !self.ended {
            process::terminate(self.pid, &self.place);
        }
    }
}

/// Keeps a server running until the stop, then stops it.
pub(super) async fn supervise(plan: Plan, mut running: Running, mut stopping: watch::Receiver<()>) {
    let mut backoff = FIRST_BACKOFF;
    loop {
        let began_at = Instant::now();
        tokio::select! {
            status = running.gone() => {
                tracing::error!(pid = running.pid, status, "the private Redis died and is started again");
            }
            _ = stopping.changed() => return running.end().await,
        }
        if began_at.elapsed() >= STEADY {
            backoff = FIRST_BACKOFF;
        }
        running = loop {
            tokio::select! {
                () = tokio::time::sleep(backoff) => {}
                _ = stopping.changed() => return,
            }
            backoff = (backoff * 2).min(LONGEST_BACKOFF);
            // Ends it even if it seemed dead: two servers on one file would destroy the file.
            let started = match left_over::end_all(&plan.place, None).await {
                Ok(()) => plan.spawn(),
                Err(error) => Err(error),
            };
            match started {
                Ok(child) => break Running::child(child, &plan.place),
                Err(error) => tracing::error!(%error, "the private Redis can't be started"),
            }
        };
    }
}
