//! Messages to the service manager that started the process: systemd with `Type=notify`, or another that sets
//! `NOTIFY_SOCKET` (`sd_notify(3)`). Without one nothing is sent.
//!
//! - While the service starts, its start time is extended: Redis may load for minutes.
//! - `READY=1` follows when it takes requests. From then on a Redis that is away changes `STATUS=` alone: the service
//!   answers 503 and goes on as soon as Redis is back, so a restart would help nobody.
//! - `WATCHDOG=1` says that the runtime still runs tasks.

use std::convert::Infallible;
use std::env;
use std::future;
use std::io;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval};

/// Between two messages of a start, and between two looks at the status.
const EVERY: Duration = Duration::from_secs(5);
/// By how much a message of a start extends its time: six messages may be late.
const EXTENSION: Duration = Duration::from_secs(30);
/// Messages in the time of a watchdog: one may be late.
const MESSAGES_PER_WATCHDOG: u32 = 3;
/// Characters of a status: it is one line for people.
const MAX_STATUS: usize = 500;

/// The service manager, if there is one.
#[derive(Debug, Clone, Default)]
pub struct ServiceManager {
    socket: Option<SocketAddr>,
    /// It ends the service when no message comes for this long.
    watchdog: Option<Duration>,
}

impl ServiceManager {
    /// The one that the environment names.
    pub fn of_environment() -> Self {
        let text = |name| env::var(name).unwrap_or_default();
        Self {
            socket: address(&text("NOTIFY_SOCKET")),
            watchdog: watchdog(&text("WATCHDOG_USEC"), &text("WATCHDOG_PID"), std::process::id()),
        }
    }

    /// Extends the time of the start while it is polled.
    pub async fn while_starting(&self) -> Infallible {
        if self.socket.is_none() {
            return future::pending().await;
        }
        let mut ticks = ticks(EVERY);
        loop {
            ticks.tick().await;
            self.send(&format!(
                "EXTEND_TIMEOUT_USEC={}\nSTATUS=starting: opens Redis and the ledger",
                EXTENSION.as_micros()
            ))
            .await;
        }
    }

    /// The service takes requests.
    pub async fn ready(&self, status: &str) {
        self.send(&format!("READY=1\nSTATUS={}", line(status))).await;
    }

    /// The service is stopping.
    pub async fn stopping(&self) {
        self.send("STOPPING=1\nSTATUS=stopping: answers the requests that it accepted")
            .await;
    }

    /// Keeps the watchdog quiet while it is polled, and sends each change of the status. `status`: `None` for no
    /// change.
    pub async fn while_serving(self, mut status: impl FnMut() -> Option<String>) -> Infallible {
        if self.socket.is_none() {
            return future::pending().await;
        }
        let every = self
            .watchdog
            .map_or(EVERY, |time| EVERY.min(time / MESSAGES_PER_WATCHDOG));
        let mut ticks = ticks(every);
        let mut before = None;
        loop {
            ticks.tick().await;
            let mut message = String::new();
            if self.watchdog.is_some() {
                message.push_str("WATCHDOG=1\n");
            }
            let now = status().filter(|now| before.as_ref() != Some(now));
            if let Some(now) = now {
                message.push_str("STATUS=");
                message.push_str(&line(&now));
                before = Some(now);
            }
            if !message.is_empty() {
                self.send(&message).await;
            }
        }
    }

    async fn send(&self, message: &str) {
        let Some(socket) = &self.socket else { return };
        if let Err(error) = deliver(socket, message.as_bytes()).await {
            tracing::warn!(%error, "the service manager gets no messages (NOTIFY_SOCKET)");
        }
    }
}

/// By a connection for each message, because a manager that starts anew has another socket under the name.
async fn deliver(socket: &SocketAddr, message: &[u8]) -> io::Result<()> {
    let sender = UnixDatagram::unbound()?;
    sender.connect_addr(socket)?;
    sender.set_nonblocking(true)?;
    tokio::net::UnixDatagram::from_std(sender)?.send(message).await?;
    Ok(())
}

/// A path, or `@` and an abstract name. `None` for all else, such as the empty text.
fn address(text: &str) -> Option<SocketAddr> {
    match text.strip_prefix('@') {
        Some(name) => SocketAddr::from_abstract_name(name).ok(),
        None if text.starts_with('/') => SocketAddr::from_pathname(text).ok(),
        None => None,
    }
}

/// The time of the watchdog, if it watches this process.
fn watchdog(microseconds: &str, pid: &str, own: u32) -> Option<Duration> {
    let watched = pid.is_empty() || pid.parse() == Ok(own);
    let time = microseconds.parse().map(Duration::from_micros).ok();
    time.filter(|time| watched && !time.is_zero())
}

/// A line feed would begin another variable.
fn line(status: &str) -> String {
    let clean = |letter: char| if letter.is_control() { ' ' } else { letter };
    status.chars().take(MAX_STATUS).map(clean).collect()
}

fn ticks(every: Duration) -> tokio::time::Interval {
    let mut ticks = interval(every);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_is_a_path_or_an_abstract_name() {
        let path = address("/run/systemd/notify").expect("a path");
        assert_eq!(
            path.as_pathname().and_then(std::path::Path::to_str),
            Some("/run/systemd/notify")
        );
        let name = address("@jackpot").expect("a name");
        assert_eq!(name.as_abstract_name(), Some(&b"jackpot"[..]));
        for other in ["", "notify", "vsock:2:1234"] {
            assert!(address(other).is_none(), "{other}");
        }
    }

    #[test]
    fn the_watchdog_of_another_process_is_not_ours() {
        let three = Some(Duration::from_secs(3));
        for (microseconds, pid, found) in [
            ("3000000", "7", three),
            ("3000000", "", three),
            ("3000000", "8", None),
            ("0", "7", None),
            ("", "7", None),
            ("soon", "7", None),
        ] {
            assert_eq!(watchdog(microseconds, pid, 7), found, "{microseconds} {pid}");
        }
    }

    #[test]
    fn a_status_is_one_short_line() {
        assert_eq!(line("redis: away\nREADY=0"), "redis: away READY=0");
        assert_eq!(line(&"x".repeat(600)).len(), MAX_STATUS);
    }
}
