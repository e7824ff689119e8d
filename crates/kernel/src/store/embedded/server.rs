//! Starts the private server.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::process::{Child, Command};

use crate::store::connection::Link;

use super::{EmbeddedError, ServerFiles};

/// Largest log, in bytes. The next start renames a larger one; one older log is kept.
const LOG_LIMIT: u64 = 16 * 1024 * 1024;
/// How many bytes of the log's end a start-up error shows.
const LOG_TAIL: u64 = 1500;

/// Everything needed to start the server again.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) place: ServerFiles,
    pub(super) program: PathBuf,
    pub(super) max_memory_bytes: u64,
}

impl Plan {
    /// Starts the server; it is not ready yet.
    pub(super) fn spawn(&self) -> Result<Child, EmbeddedError> {
        let log = open_log(&self.place.log)
            .map_err(EmbeddedError::io(format!("can't write {}", self.place.log.display())))?;
        let errors = log
            .try_clone()
            .map_err(EmbeddedError::io("can't share the log of the private Redis"))?;
        let mut command = Command::new(&self.program);
        // The environment may hold secret settings, and the server needs none of it. Its program was found before.
        command.env_clear();
        for (name, value) in SETTINGS {
            command.args([name, value]);
        }
        command
            .arg("--maxmemory")
            .arg(self.max_memory_bytes.to_string())
            .arg("--unixsocket")
            .arg(&self.place.socket)
            .arg("--dir")
            .arg(&self.place.dir)
            .current_dir(&self.place.dir)
            .stdin(Stdio::null())
            .stdout(log)
            .stderr(errors)
            // In a process group of its own: Ctrl-C in a terminal must reach only the service, which stops the server
            // last.
            .process_group(0);
        command
            .spawn()
            .map_err(EmbeddedError::io(format!("can't start {}", self.program.display())))
    }

    /// Applies changed settings to a server that was started under older ones.
    pub(super) async fn apply(&self, link: &Link) -> Result<(), EmbeddedError> {
        let mut command = redis::cmd("CONFIG");
        command.arg("SET").arg("maxmemory").arg(self.max_memory_bytes);
        match link.send(&command).await {
            Ok(_) => Ok(()),
            Err(failure) => Err(EmbeddedError::NoAnswer {
                cause: failure.to_string(),
                log: self.place.log.clone(),
            }),
        }
    }
}

/// The start-up checks require the same of any server. This one gets it here.
const SETTINGS: [(&str, &str); 14] = [
    ("--port", "0"),
    ("--unixsocketperm", "700"),
    ("--daemonize", "no"),
    // A process title would replace the command line, by which an orphan is recognised.
    ("--set-proc-title", "no"),
    ("--pidfile", "redis.pid"),
    ("--databases", "1"),
    ("--appendonly", "yes"),
    ("--appendfsync", "always"),
    ("--no-appendfsync-on-rewrite", "no"),
    ("--save", ""),
    ("--maxmemory-policy", "noeviction"),
    // Memory freed by many UNLINKs comes back without delaying a call.
    ("--lazyfree-lazy-user-del", "yes"),
    // A list is searched from its beginning for each new id, so it must stay short (docs/decisions/0045).
    ("--hash-max-listpack-entries", "64"),
    ("--loglevel", "notice"),
];

fn open_log(path: &Path) -> std::io::Result<File> {
    if fs::metadata(path).is_ok_and(|log| log.len() > LOG_LIMIT) {
        fs::rename(path, path.with_extension("log.1"))?;
    }
    OpenOptions::new().create(true).append(true).mode(0o600).open(path)
}

/// The last lines of the log, for an error.
pub(super) fn log_tail(path: &Path) -> String {
    let mut text = Vec::new();
    let read = File::open(path).and_then(|mut log| {
        let length = log.metadata()?.len();
        log.seek(SeekFrom::Start(length.saturating_sub(LOG_TAIL)))?;
        log.take(LOG_TAIL).read_to_end(&mut text)
    });
    match read {
        Ok(_) => String::from_utf8_lossy(&text).into_owned(),
        Err(error) => format!("(can't be read: {error})"),
    }
}
