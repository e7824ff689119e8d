//! What the service tells a service manager, such as systemd: a datagram socket stands for the manager.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::process::Signal;
use tempfile::TempDir;
use tokio::net::UnixDatagram;
use tokio::task::JoinSet;

use crate::support::prelude::*;
use crate::support::service::{PATIENT, redis_at};

const PATIENCE: Duration = Duration::from_secs(20);
/// Of the watchdog, in microseconds: the service looks at its status three times in this time.
const WATCHDOG: (&str, &str) = ("WATCHDOG_USEC", "600000");

/// A manager that keeps every message.
struct Manager {
    directory: TempDir,
    messages: Arc<Mutex<Vec<String>>>,
    _receiver: JoinSet<()>,
}

impl Manager {
    fn new() -> Self {
        let directory = Service::directory();
        let socket = UnixDatagram::bind(directory.path().join("notify")).expect("a socket");
        let messages = Arc::<Mutex<Vec<String>>>::default();
        let kept = Arc::clone(&messages);
        let mut receiver = JoinSet::new();
        receiver.spawn(async move {
            let mut buffer = [0; 4096];
            while let Ok(length) = socket.recv(&mut buffer).await {
                let text = String::from_utf8_lossy(&buffer[..length]).into_owned();
                kept.lock().unwrap_or_else(PoisonError::into_inner).push(text);
            }
        });
        Self {
            directory,
            messages,
            _receiver: receiver,
        }
    }

    fn socket(&self) -> String {
        self.directory.path().join("notify").display().to_string()
    }

    /// Every line so far, in order.
    fn lines(&self) -> Vec<String> {
        let messages = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
        messages
            .iter()
            .flat_map(|text| text.lines().map(str::to_owned))
            .collect()
    }

    fn count(&self, line: &str) -> usize {
        self.lines().iter().filter(|found| *found == line).count()
    }

    /// Waits for the first such line after the first `skip` ones; returns how many lines there were up to it.
    async fn until(&self, skip: usize, what: &str, is_it: impl Fn(&str) -> bool) -> usize {
        eventually(PATIENCE, what, async || {
            let lines = self.lines();
            let found = lines.iter().skip(skip).position(|line| is_it(line));
            found.map(|index| skip + index + 1)
        })
        .await
    }
}

#[tokio::test]
async fn a_service_tells_that_it_is_ready_alive_and_stopping() {
    let manager = Manager::new();
    let socket = manager.socket();
    let mut service = Service::start_with(&[("NOTIFY_SOCKET", socket.as_str()), WATCHDOG]).await;
    let ready = manager.until(0, "READY=1", |line| line == "READY=1").await;
    let address = service.url("");
    let status = format!("STATUS=serves {address}");
    manager.until(ready, "the address", |line| line == status).await;
    eventually(PATIENCE, "five signs of life", async || {
        (manager.count("WATCHDOG=1") >= 5).then_some(())
    })
    .await;
    assert_eq!(manager.count("STOPPING=1"), 0, "{:?}", manager.lines());
    assert!(service.stop().await.success(), "{}", service.log());
    manager.until(ready, "STOPPING=1", |line| line == "STOPPING=1").await;
    let lines = manager.lines();
    assert_eq!(
        (manager.count("READY=1"), manager.count("STOPPING=1")),
        (1, 1),
        "{lines:?}"
    );
    let first = lines.iter().position(|line| line.starts_with("EXTEND_TIMEOUT_USEC="));
    assert!(first.is_some_and(|first| first < ready), "{lines:?}");
}

#[tokio::test]
async fn a_redis_that_is_away_delays_a_start_and_ends_no_service() {
    let manager = Manager::new();
    let socket = manager.socket();
    let mut redis = own_redis(&[]).await;
    redis.freeze();
    let url = redis.url().to_owned();
    let own = [("NOTIFY_SOCKET", socket.as_str()), WATCHDOG];
    let settings = [&PATIENT[..], &redis_at(&url), &own].concat();
    let mut service = Service::begin_in(Service::directory(), &settings).await;
    let extended = |line: &str| line.starts_with("EXTEND_TIMEOUT_USEC=");
    // The second one comes some seconds after the first: the start goes on.
    let first = manager.until(0, "more time", extended).await;
    manager.until(first, "more time again", extended).await;
    assert_eq!(manager.count("READY=1"), 0, "{:?}", manager.lines());
    redis.thaw();
    let ready = manager.until(first, "READY=1", |line| line == "READY=1").await;
    service.wait_until_ready().await;

    redis.kill9();
    let away = manager
        .until(ready, "a status with Redis", |line| {
            line.starts_with("STATUS=") && line.contains("not ready: redis: ")
        })
        .await;
    let alive = manager.count("WATCHDOG=1");
    eventually(PATIENCE, "signs of life without Redis", async || {
        (manager.count("WATCHDOG=1") >= alive + 3).then_some(())
    })
    .await;
    redis.restart().await;
    let status = format!("STATUS=serves {}", service.url(""));
    manager
        .until(away, "the status without Redis", |line| line == status)
        .await;
    assert_eq!((manager.count("READY=1"), manager.count("STOPPING=1")), (1, 0));
    assert!(service.stop().await.success(), "{}", service.log());
}

#[tokio::test]
async fn a_start_that_a_signal_ends_was_never_ready() {
    let manager = Manager::new();
    let socket = manager.socket();
    let redis = own_redis(&[]).await;
    redis.freeze();
    let own = [("NOTIFY_SOCKET", socket.as_str())];
    let settings = [&PATIENT[..], &redis_at(redis.url()), &own].concat();
    let mut service = Service::begin_in(Service::directory(), &settings).await;
    assert!(service.stop_by(Signal::TERM).await.success(), "{}", service.log());
    manager.until(0, "STOPPING=1", |line| line == "STOPPING=1").await;
    let lines = manager.lines();
    // Nobody asked for signs of life.
    assert_eq!(
        (manager.count("READY=1"), manager.count("WATCHDOG=1")),
        (0, 0),
        "{lines:?}"
    );
}

#[tokio::test]
async fn a_manager_that_is_gone_does_not_end_the_service() {
    let manager = Manager::new();
    let socket = manager.socket();
    drop(manager);
    assert!(!Path::new(&socket).exists());
    let mut service = Service::start_with(&[("NOTIFY_SOCKET", socket.as_str()), WATCHDOG]).await;
    eventually(PATIENCE, "the log names the variable", async || {
        service.log().contains("NOTIFY_SOCKET").then_some(())
    })
    .await;
    assert!(service.stop().await.success(), "{}", service.log());
}
