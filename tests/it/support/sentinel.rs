//! A primary with two replicas that three Sentinels watch, as processes of the test.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;

use super::local::{LocalServer, connect};
use super::{eventually, free_port};

/// The primary's name in the Sentinels' configuration.
pub const NAME: &str = "jackpot-primary";
const SERVERS: usize = 3;
const SENTINELS: usize = 3;
const DEADLINE: Duration = Duration::from_mins(1);
/// Milliseconds without an answer after which a Sentinel sees a server as failed: longer than other tests can keep one from
/// answering, because a second failover before all replicas are back may lose entries.
const DOWN_AFTER_MS: u64 = 3000;
/// Number of tries with other ports, when someone took one between the choice and the start.
const START_ATTEMPTS: usize = 5;

/// Dropping this ends the processes.
pub struct TestSentinels {
    servers: Vec<LocalServer>,
    sentinels: Vec<Sentinel>,
}

struct Sentinel {
    url: String,
    process: Child,
    _directory: TempDir,
}

impl Drop for Sentinel {
    fn drop(&mut self) {
        // It may be dead already: then there is nothing to do.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl TestSentinels {
    /// Starts all of them, and waits until each Sentinel knows the replicas and the other Sentinels.
    ///
    /// # Panics
    /// When `redis-server` is not installed, or they don't find each other in a minute.
    pub async fn start() -> Self {
        let mut servers = vec![server(&[]).await];
        let (host, port) = address(servers[0].url());
        while servers.len() < SERVERS {
            servers.push(server(&["--replicaof", &format!("{host} {port}")]).await);
        }
        let sentinels = (0..SENTINELS).map(|_| Sentinel::start(&port)).collect();
        let all = Self { servers, sentinels };
        for sentinel in &all.sentinels {
            eventually(DEADLINE, "each Sentinel knows all", async || {
                let of = |field| ask(&sentinel.url, field);
                let (replicas, others) = (of("num-slaves").await?, of("num-other-sentinels").await?);
                let known = (replicas.parse().ok()?, others.parse().ok()?);
                (known == (SERVERS - 1, SENTINELS - 1)).then_some(())
            })
            .await;
        }
        all.until_replicated().await;
        all
    }

    /// The Sentinels' URLs, for `redis.urls`.
    pub fn urls(&self) -> Vec<String> {
        self.sentinels.iter().map(|sentinel| sentinel.url.clone()).collect()
    }

    /// The URL of the primary, as the first Sentinel that lives names it.
    pub async fn primary(&self) -> String {
        let url = eventually(DEADLINE, "a Sentinel names the primary", async || {
            for sentinel in &self.sentinels {
                let (host, port) = (ask(&sentinel.url, "ip").await, ask(&sentinel.url, "port").await);
                if let (Some(host), Some(port)) = (host, port) {
                    return Some(format!("redis://{host}:{port}"));
                }
            }
            None
        });
        url.await
    }

    /// Ends a Sentinel as a crash would.
    pub fn kill_sentinel(&mut self, at: usize) {
        let process = &mut self.sentinels[at].process;
        process.kill().expect("a process started here can be killed");
        process.wait().expect("a killed process can be waited for");
    }

    /// `kill -9` of the primary. Waits until the Sentinels name another one, and starts the old one again as its replica.
    /// Returns the new primary's URL when it has all replicas again.
    pub async fn fail_over(&mut self) -> String {
        let before = self.primary().await;
        let server = self.servers.iter_mut().find(|server| server.url() == before);
        let server = server.expect("the primary was started here");
        server.kill9();
        let sentinels: Vec<String> = self.sentinels.iter().map(|sentinel| sentinel.url.clone()).collect();
        let after = eventually(DEADLINE, "another primary", async || {
            for url in &sentinels {
                let (Some(host), Some(port)) = (ask(url, "ip").await, ask(url, "port").await) else {
                    continue;
                };
                let named = format!("redis://{host}:{port}");
                if named != before && role(&named).await.as_deref() == Some("master") {
                    return Some(named);
                }
            }
            None
        })
        .await;
        let (host, port) = address(&after);
        server.restart_with(&["--replicaof", &format!("{host} {port}")]).await;
        self.until_replicated().await
    }

    /// Waits until the primary has all replicas in step. Returns its URL.
    async fn until_replicated(&self) -> String {
        eventually(DEADLINE, "the primary has all replicas", async || {
            let primary = self.primary().await;
            let mut connection = connect(&primary).await.ok()?;
            let info: String = redis::cmd("INFO")
                .arg("replication")
                .query_async(&mut connection)
                .await
                .ok()?;
            (info.matches("state=online").count() == SERVERS - 1).then_some(primary)
        })
        .await
    }
}

impl Sentinel {
    fn start(primary_port: &str) -> Self {
        for _ in 0..START_ATTEMPTS {
            let port = free_port();
            let directory = TempDir::new().expect("a directory");
            let at = directory.path().display();
            let file = directory.path().join("sentinel.conf");
            let text = format!(
                "port {port}\nbind 127.0.0.1\ndir {at}\nlogfile {at}/log\n\
                 sentinel monitor {NAME} 127.0.0.1 {primary_port} 2\n\
                 sentinel down-after-milliseconds {NAME} {DOWN_AFTER_MS}\n\
                 sentinel failover-timeout {NAME} 6000\n"
            );
            std::fs::write(&file, text).expect("written");
            let process = Command::new("redis-server")
                .arg(&file)
                .arg("--sentinel")
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn();
            let mut process = process.expect("redis-server is needed on PATH: apt-get install redis-server");
            // One that finds its port taken ends at once. Any other is waited for by the first question.
            let log = directory.path().join("log");
            if until_logged(&log, &mut process) {
                return Self {
                    url: format!("redis://127.0.0.1:{port}"),
                    process,
                    _directory: directory,
                };
            }
        }
        panic!("no Sentinel started");
    }
}

/// Whether it monitors, or has ended.
fn until_logged(log: &std::path::Path, process: &mut Child) -> bool {
    let deadline = std::time::Instant::now() + DEADLINE;
    while std::time::Instant::now() < deadline {
        if std::fs::read_to_string(log).is_ok_and(|text| text.contains("+monitor")) {
            return true;
        }
        if process.try_wait().expect("a child can be asked").is_some() {
            return false;
        }
        std::thread::yield_now();
    }
    false
}

async fn server(extra: &[&str]) -> LocalServer {
    let mut last = None;
    for _ in 0..START_ATTEMPTS {
        match LocalServer::on_port("redis-server", free_port(), extra).await {
            Ok(server) => return server,
            Err(error) => last = Some(error),
        }
    }
    panic!("no server started (apt-get install redis-server?): {last:?}");
}

/// A field of what a Sentinel says of the primary; `None` while it does not answer.
async fn ask(sentinel: &str, field: &str) -> Option<String> {
    let mut connection = connect(sentinel).await.ok()?;
    let mut question = redis::cmd("SENTINEL");
    question.arg("MASTER").arg(NAME);
    let fields: std::collections::HashMap<String, String> = question.query_async(&mut connection).await.ok()?;
    fields.get(field).cloned()
}

async fn role(url: &str) -> Option<String> {
    let mut connection = connect(url).await.ok()?;
    let role: Vec<redis::Value> = redis::cmd("ROLE").query_async(&mut connection).await.ok()?;
    redis::from_redis_value(role.into_iter().next()?).ok()
}

fn address(url: &str) -> (String, String) {
    let (host, port) = url.trim_start_matches("redis://").split_once(':').expect("an address");
    (host.to_owned(), port.to_owned())
}
