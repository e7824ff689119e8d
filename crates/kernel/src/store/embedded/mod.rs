//! The private server of embedded mode: find or start it, supervise it, stop it.
//!
//! A second server on the same directory would overwrite what the first one acknowledged. So a server that a killed
//! service left is adopted if it answers. Otherwise it is ended, and another starts only after it is certainly gone.

mod left_over;
mod memory;
mod process;
mod program;
mod server;
mod supervise;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use redis::RedisError;
use thiserror::Error;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::durable_file::make_or_close_dir;
use crate::settings;

use super::address;
use super::connection::{Limits, Link};

use process::DirId;
use server::Plan;
use supervise::Running;

/// Longest path of a unix socket in bytes: `sun_path` holds 108 with the final zero.
const LONGEST_SOCKET_PATH: usize = 107;

/// How many adopted servers may fail during one start. After each, the start looks for servers again.
const ADOPTIONS_LIMIT: u32 = 3;

/// Why the private server can't be started or adopted.
#[derive(Debug, Error)]
pub enum EmbeddedError {
    /// There is no program to start.
    #[error("{0}")]
    NoProgram(String),
    /// The socket's path is longer than the system allows.
    #[error("the socket's path {} has {length} bytes, the system allows {LONGEST_SOCKET_PATH}: set a shorter data_dir", path.display())]
    SocketPathTooLong { path: PathBuf, length: usize },
    /// Another server answers on our socket.
    #[error("the server on {} is not ours ({reason}): stop it, or set another data_dir", socket.display())]
    Foreign { socket: PathBuf, reason: String },
    /// A server holds the socket, does not answer, and its process can't be found.
    #[error("a server holds {} but does not answer, and no process here names that socket: stop it first ({cause})", socket.display())]
    Silent {
        socket: PathBuf,
        /// What happened instead of an answer.
        cause: String,
    },
    /// A left-over server did not end even after SIGKILL.
    #[error("process {pid} was left by another run and can't be ended")]
    CannotEnd { pid: u32 },
    /// The server ended while it started.
    #[error("the private server ended at once ({status}); the end of its log {}:\n{log_tail}", log.display())]
    Died {
        status: String,
        log: PathBuf,
        /// Its last lines.
        log_tail: String,
    },
    /// The server runs and does not answer.
    #[error("the private server does not answer: {cause}; its log is {}", log.display())]
    NoAnswer { cause: String, log: PathBuf },
    /// The socket's address is invalid.
    #[error("can't use the socket: {0}")]
    Socket(#[from] RedisError),
    /// A file or process operation failed.
    #[error("{what}: {source}")]
    Io { what: String, source: io::Error },
}

impl EmbeddedError {
    fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        move |source| Self::Io { what, source }
    }
}

/// Where the private server is; absolute, to compare it with processes found later.
#[derive(Debug, Clone)]
struct ServerFiles {
    dir: PathBuf,
    /// The identity of `dir`, because other processes may have another directory at the same path.
    id: DirId,
    socket: PathBuf,
    log: PathBuf,
}

impl ServerFiles {
    fn make(data_dir: &Path) -> Result<Self, EmbeddedError> {
        let dir = data_dir.join("redis");
        make_or_close_dir(&dir).map_err(EmbeddedError::io(format!(
            "can't make {} for its owner alone",
            dir.display()
        )))?;
        let dir = dir
            .canonicalize()
            .map_err(EmbeddedError::io(format!("can't resolve {}", dir.display())))?;
        let socket = dir.join("redis.sock");
        let length = socket.as_os_str().len();
        if length > LONGEST_SOCKET_PATH {
            return Err(EmbeddedError::SocketPathTooLong { path: socket, length });
        }
        Ok(Self {
            id: DirId::of(&dir).map_err(EmbeddedError::io(format!("can't look at {}", dir.display())))?,
            log: dir.join("redis.log"),
            dir,
            socket,
        })
    }
}

/// The program that the private server would be started from.
///
/// # Errors
/// [`EmbeddedError::NoProgram`].
pub fn program(settings: &settings::Redis) -> Result<PathBuf, EmbeddedError> {
    program::find(&settings.server_program)
}

/// A link to the private server of the instance that holds the data directory.
pub(super) fn link(data_dir: &Path, limits: Limits) -> Result<Link, EmbeddedError> {
    let place = ServerFiles::make(data_dir)?;
    Ok(Link::new(address::socket_client(&place.socket)?, limits))
}

/// The private server and its supervisor.
pub(super) struct Embedded {
    link: Arc<Link>,
    /// Sending to it, or dropping it, makes the supervisor stop the server.
    stop: watch::Sender<()>,
    supervisor: JoinHandle<()>,
}

impl Embedded {
    /// Adopts the server left on the socket, or starts one. Returns when it answers and has loaded its data. The caller
    /// holds the lock on the data directory.
    pub(super) async fn start(
        settings: &settings::Redis,
        data_dir: &Path,
        limits: Limits,
    ) -> Result<Self, EmbeddedError> {
        let plan = Plan {
            place: ServerFiles::make(data_dir)?,
            program: program::find(&settings.server_program)?,
            max_memory_bytes: memory::limit(settings.max_memory_mib)?,
        };
        let link = Arc::new(Link::new(address::socket_client(&plan.place.socket)?, limits));
        let mut failed_adoptions = 0;
        let (running, adopted) = loop {
            let adopted = left_over::settle(&plan.place, &link).await?;
            let mut running = match adopted {
                Some(pid) => Running::adopted(pid, &plan.place),
                None => Running::child(plan.spawn()?, &plan.place),
            };
            let ready = match running.until_ready(&plan.place, &link).await {
                Ok(()) if adopted.is_some() => plan.apply(&link).await,
                ready => ready,
            };
            let Err(error) = ready else {
                break (running, adopted);
            };
            running.end().await;
            // It may have been ending when it was found.
            failed_adoptions += 1;
            if adopted.is_none() || failed_adoptions >= ADOPTIONS_LIMIT {
                return Err(error);
            }
            tracing::warn!(%error, "the Redis left by another run is gone again");
        };
        tracing::info!(pid = running.pid(), adopted = adopted.is_some(), socket = %plan.place.socket.display(), "the private Redis answers");
        let (stop, stopping) = watch::channel(());
        let supervisor = tokio::spawn(supervise::supervise(plan, running, stopping));
        Ok(Self { link, stop, supervisor })
    }

    /// The link to the server.
    pub(super) fn link(&self) -> &Arc<Link> {
        &self.link
    }

    /// Stops the server and waits until it has ended.
    pub(super) async fn stop(self) {
        drop(self.stop);
        if let Err(error) = self.supervisor.await {
            tracing::error!(%error, "the supervisor of the private Redis failed");
        }
    }
}
