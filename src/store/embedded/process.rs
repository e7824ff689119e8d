//! Processes that serve our socket, as /proc shows them. A process is known by its command line, not by its number
//! alone: numbers are given out again.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tokio::time::Instant;

/// How long a server may take to end by itself: it writes and syncs its file.
const TERM_LIMIT: Duration = Duration::from_secs(5);
/// How long the kernel may take to end a killed one: its memory is given back first.
const KILL_LIMIT: Duration = Duration::from_secs(20);
/// Pause between two looks.
const PAUSE: Duration = Duration::from_millis(10);

/// Process ids of all servers on `socket`; none where the system has no /proc.
pub(super) fn serving(socket: &Path) -> Vec<u32> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|pid| serves(*pid, socket))
        .collect()
}

/// Whether that process is alive and was started as a server on `socket`.
pub(super) fn serves(pid: u32, socket: &Path) -> bool {
    // Of a dead process that nobody has waited for yet, the command line is empty.
    fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| names(&line, socket))
}

/// A client on the same socket (`redis-cli -s …`) must not be taken for its server.
fn names(command_line: &[u8], socket: &Path) -> bool {
    let words: Vec<&[u8]> = command_line.split(|byte| *byte == 0).collect();
    words
        .windows(2)
        .any(|pair| pair[0] == b"--unixsocket" && pair[1] == socket.as_os_str().as_bytes())
}

/// Ends that server: SIGTERM, then SIGKILL, which also ends a stopped one. False when it is still there.
pub(super) async fn end(pid: u32, socket: &Path) -> bool {
    signal(pid, socket, Signal::TERM);
    if gone(pid, socket, TERM_LIMIT).await {
        return true;
    }
    tracing::warn!(pid, "the private Redis did not end by SIGTERM and is killed");
    signal(pid, socket, Signal::KILL);
    gone(pid, socket, KILL_LIMIT).await
}

/// Asks that server to end, without waiting.
pub(super) fn terminate(pid: u32, socket: &Path) {
    signal(pid, socket, Signal::TERM);
}

fn signal(pid: u32, socket: &Path, signal: Signal) {
    if !serves(pid, socket) {
        return;
    }
    if let Some(target) = i32::try_from(pid).ok().and_then(Pid::from_raw)
        && let Err(error) = kill_process(target, signal)
    {
        tracing::warn!(pid, %error, "can't signal the private Redis");
    }
}

async fn gone(pid: u32, socket: &Path, limit: Duration) -> bool {
    let deadline = Instant::now() + limit;
    while serves(pid, socket) {
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
}
