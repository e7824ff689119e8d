//! Processes that serve our socket, as /proc shows them. A process is identified by its command line and its working
//! directory. Its number alone is not enough, because numbers are used again. The socket's path alone is not enough,
//! because in another container the same path is another directory.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process};
use tokio::time::Instant;

use super::ServerFiles;

/// How long a server may take to end on its own, because it writes and syncs its file.
const TERM_LIMIT: Duration = Duration::from_secs(5);
/// How long the kernel may take to end a killed one, because it frees its memory first.
const KILL_LIMIT: Duration = Duration::from_secs(20);
/// Pause between two looks.
const PAUSE: Duration = Duration::from_millis(10);

/// A process, compared with our server.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// A server on our socket and in our directory.
    Ours,
    /// Alive, and another program.
    Other,
    /// Dead, or never started.
    Gone,
}

/// The identity of a directory, whatever its path: its device and its inode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DirId {
    device: u64,
    inode: u64,
}

impl DirId {
    pub(super) fn of(path: &Path) -> io::Result<Self> {
        let found = fs::metadata(path)?;
        Ok(Self {
            device: found.dev(),
            inode: found.ino(),
        })
    }
}

/// Process ids of all servers of that place.
///
/// # Errors
/// An unknown answer is not "none": a second server must not start then.
pub(super) fn serving(place: &ServerFiles) -> io::Result<Vec<u32>> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc")? {
        let Some(pid) = entry?.file_name().to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        match command_line(pid) {
            // Mounted with hidepid, /proc hides other users' processes. A server of another user still holds the
            // socket, which is asked first.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => continue,
            Err(error) => return Err(error),
            Ok(Some(line)) if names(&line, &place.socket) => {}
            Ok(_) => continue,
        }
        if look(pid, place)? == Owner::Ours {
            found.push(pid);
        }
    }
    Ok(found)
}

/// Identifies that process.
///
/// # Errors
/// It can't be identified; it may be alive.
pub(super) fn look(pid: u32, place: &ServerFiles) -> io::Result<Owner> {
    match command_line(pid)? {
        None => return Ok(Owner::Gone),
        Some(line) if !names(&line, &place.socket) => return Ok(Owner::Other),
        Some(_) => {}
    }
    match DirId::of(Path::new(&format!("/proc/{pid}/cwd"))) {
        Ok(dir) if dir == place.id => Ok(Owner::Ours),
        Ok(_) => Ok(Owner::Other),
        Err(error) if says_gone(&error) => Ok(Owner::Gone),
        Err(error) => Err(error),
    }
}

/// Whether that server may still be alive; false only if it is certain.
pub(super) fn may_serve(pid: u32, place: &ServerFiles) -> bool {
    !matches!(look(pid, place), Ok(Owner::Other | Owner::Gone))
}

/// None for a dead process. A dead child that was not waited for has an empty command line.
fn command_line(pid: u32) -> io::Result<Option<Vec<u8>>> {
    match fs::read(format!("/proc/{pid}/cmdline")) {
        Ok(line) => Ok(Some(line).filter(|line| !line.is_empty())),
        Err(error) if says_gone(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// No such file, or no such process. Other errors, such as too many open files, say nothing about the process.
fn says_gone(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound || error.raw_os_error() == Some(Errno::SRCH.raw_os_error())
}

/// A client on the same socket (`redis-cli -s …`) must not be taken for its server.
fn names(command_line: &[u8], socket: &Path) -> bool {
    let words: Vec<&[u8]> = command_line.split(|byte| *byte == 0).collect();
    words
        .windows(2)
        .any(|pair| pair[0] == b"--unixsocket" && pair[1] == socket.as_os_str().as_bytes())
}

/// Ends that server: SIGTERM, then SIGKILL, which also ends a stopped one. False when it is still alive.
pub(super) async fn end(pid: u32, place: &ServerFiles) -> bool {
    signal(pid, place, Signal::TERM);
    if gone(pid, place, TERM_LIMIT).await {
        return true;
    }
    tracing::warn!(pid, "the private Redis did not end by SIGTERM and is killed");
    signal(pid, place, Signal::KILL);
    gone(pid, place, KILL_LIMIT).await
}

/// Sends SIGTERM to that server, without waiting.
pub(super) fn terminate(pid: u32, place: &ServerFiles) {
    signal(pid, place, Signal::TERM);
}

fn signal(pid: u32, place: &ServerFiles, signal: Signal) {
    match look(pid, place) {
        Ok(Owner::Ours) => {}
        Ok(Owner::Other | Owner::Gone) => return,
        Err(error) => {
            tracing::warn!(pid, %error, "can't tell whether this is the private Redis, so it gets no signal");
            return;
        }
    }
    if let Some(target) = i32::try_from(pid).ok().and_then(Pid::from_raw)
        && let Err(error) = kill_process(target, signal)
    {
        tracing::warn!(pid, %error, "can't signal the private Redis");
    }
}

async fn gone(pid: u32, place: &ServerFiles, limit: Duration) -> bool {
    let deadline = Instant::now() + limit;
    while may_serve(pid, place) {
        if Instant::now() >= deadline {
            return false;
        }
        tokio::time::sleep(PAUSE).await;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_known_by_its_socket_and_a_client_is_not_one() {
        let socket = Path::new("/d/redis.sock");
        assert!(names(
            b"/usr/bin/redis-server\0--unixsocket\0/d/redis.sock\0--port\x000\0",
            socket
        ));
        assert!(!names(b"redis-server\0--unixsocket\0/d/redis.sock2\0", socket));
        assert!(!names(b"redis-cli\0-s\0/d/redis.sock\0", socket));
        assert!(!names(b"", socket));
    }

    #[test]
    fn only_an_absent_process_is_gone() {
        let gone = |errno: Errno| says_gone(&io::Error::from_raw_os_error(errno.raw_os_error()));
        assert!(gone(Errno::NOENT) && gone(Errno::SRCH));
        for unsure in [
            Errno::MFILE,
            Errno::NFILE,
            Errno::ACCESS,
            Errno::PERM,
            Errno::NOMEM,
            Errno::INTR,
        ] {
            assert!(!gone(unsure), "{unsure}");
        }
    }

    #[test]
    fn this_process_serves_nothing_and_number_0_is_nobody() {
        let dir = tempfile::tempdir().unwrap();
        let place = ServerFiles::make(dir.path()).unwrap();
        assert_eq!(look(std::process::id(), &place).unwrap(), Owner::Other);
        assert_eq!(look(0, &place).unwrap(), Owner::Gone);
        assert!(serving(&place).unwrap().is_empty());
    }
}
