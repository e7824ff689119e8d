//! A private Redis, as durable as the service's (AOF, fsync before each answer), and `redis-benchmark` against it.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use redis::AsyncConnectionConfig;
use redis::aio::MultiplexedConnection;
use serde_json::json;
use tempfile::TempDir;

use crate::Outcome;
use crate::sample::{Load, float};

const PROGRAMS: [&str; 2] = ["redis-server", "valkey-server"];
const START_LIMIT: Duration = Duration::from_secs(10);
/// Long, because the rate counts: a slow call must not be cut short.
const RESPONSE_LIMIT: Duration = Duration::from_mins(1);
const POLL: Duration = Duration::from_millis(10);
/// Commands that each connection of redis-benchmark sends at once.
const PIPELINE: &str = "32";
/// A script that only increments.
const INCREMENT: &str = "return redis.call('INCR', KEYS[1])";
/// Commands of the first try, from whose rate follows how many fill the time.
const TRY: u64 = 200_000;

/// The server. Dropping it ends it and removes its data.
pub(crate) struct BareRedis {
    process: Child,
    directory: TempDir,
}

impl BareRedis {
    pub(crate) async fn start(place: &Path) -> Outcome<Self> {
        std::fs::create_dir_all(place)?;
        let directory = tempfile::Builder::new().prefix("jb-").tempdir_in(place)?;
        let at = std::path::absolute(directory.path())?;
        let mut command = Command::new(program()?);
        command
            .args(["--port", "0", "--save", "", "--daemonize", "no", "--databases", "1"])
            .args(["--appendonly", "yes", "--appendfsync", "always"])
            .args(["--maxmemory-policy", "noeviction", "--unixsocket"])
            .arg(at.join("redis.sock"))
            .arg("--dir")
            .arg(&at)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let process = command.spawn()?;
        let server = Self { process, directory };
        let begun = Instant::now();
        while let Err(error) = server.connect().await {
            if begun.elapsed() > START_LIMIT {
                return Err(error);
            }
            tokio::time::sleep(POLL).await;
        }
        Ok(server)
    }

    pub(crate) async fn connect(&self) -> Outcome<MultiplexedConnection> {
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(START_LIMIT))
            .set_response_timeout(Some(RESPONSE_LIMIT));
        let client = redis::Client::open(self.url())?;
        Ok(client.get_multiplexed_async_connection_with_config(&config).await?)
    }

    pub(crate) fn url(&self) -> String {
        format!("redis+unix://{}", self.socket().display())
    }

    /// The server's directory, which is removed with it.
    pub(crate) fn directory(&self) -> &Path {
        self.directory.path()
    }

    fn socket(&self) -> std::path::PathBuf {
        std::path::absolute(self.directory.path())
            .unwrap_or_default()
            .join("redis.sock")
    }

    /// `INCR` of one key, pipelined.
    pub(crate) async fn incr(&self, time: Duration) -> Outcome<Load> {
        self.benchmark(&["INCR", "pool"], time).await
    }

    /// The same after the append-only file is turned off, for good.
    pub(crate) async fn incr_in_memory(&self, time: Duration) -> Outcome<Load> {
        let mut redis = self.connect().await?;
        let mut config = redis::cmd("CONFIG");
        config.arg("SET").arg("appendonly").arg("no");
        config.exec_async(&mut redis).await?;
        self.incr(time).await
    }

    /// A script that only increments, pipelined.
    pub(crate) async fn evalsha(&self, time: Duration) -> Outcome<Load> {
        let mut redis = self.connect().await?;
        let sha: String = redis::cmd("SCRIPT")
            .arg("LOAD")
            .arg(INCREMENT)
            .query_async(&mut redis)
            .await?;
        self.benchmark(&["EVALSHA", &sha, "1", "pool"], time).await
    }

    async fn benchmark(&self, command: &[&str], time: Duration) -> Outcome<Load> {
        let first = self.run(command, TRY).await?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a count of commands"
        )]
        let count = (first.per_s() * time.as_secs_f64()) as u64;
        self.run(command, count.max(TRY)).await
    }

    async fn run(&self, command: &[&str], count: u64) -> Outcome<Load> {
        let output = tokio::process::Command::new("redis-benchmark")
            .arg("-s")
            .arg(self.socket())
            .args(["-P", PIPELINE, "--csv", "-n", &count.to_string()])
            .args(command)
            .kill_on_drop(true)
            .output()
            .await
            .map_err(|error| format!("redis-benchmark: {error}"))?;
        let text = String::from_utf8_lossy(&output.stdout);
        // "test","rps","avg_latency_ms","min_latency_ms","p50_latency_ms","p95_latency_ms","p99_latency_ms",...
        let line = text.lines().last().unwrap_or_default();
        let cells: Vec<f64> = line
            .split("\",\"")
            .skip(1)
            .filter_map(|cell| cell.trim_matches('"').parse().ok())
            .collect();
        let &[per_s, _, _, p50_ms, _, p99_ms, ..] = &cells[..] else {
            let errors = String::from_utf8_lossy(&output.stderr);
            return Err(json!({"redis-benchmark": text, "errors": errors}).to_string().into());
        };
        Ok(Load {
            entries: count,
            seconds: float(count) / per_s,
            p50_us: p50_ms * 1e3,
            p99_us: p99_ms * 1e3,
        })
    }
}

impl Drop for BareRedis {
    fn drop(&mut self) {
        // Its data are worth no stop in order.
        let _gone = self.process.kill();
        let _waited = self.process.wait();
    }
}

pub(crate) fn program() -> Outcome<&'static str> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let there = |name: &&&str| std::env::split_paths(&path).any(|directory| directory.join(name).is_file());
    Ok(PROGRAMS.iter().find(there).ok_or("no redis-server on PATH")?)
}
