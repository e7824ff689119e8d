//! A private service for one run: the service's executable with a data directory, a port and a draw secret of its own.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use reqwest::Method;
use rustix::process::{Pid, Signal, kill_process};
use sha2::{Digest, Sha256};
use tempfile::TempDir;
use tokio::process::{Child, Command};

use super::client::{Api, Target};
use super::product::{Product, RoomKeys};
use super::{SimulateError, free_port};

/// A start, also one that replays what Redis has on disk, is ready within this.
const READY_LIMIT: Duration = Duration::from_mins(1);
const READY_POLL: Duration = Duration::from_millis(20);
/// A stop that takes longer than this is ended by force.
const STOP_LIMIT: Duration = Duration::from_secs(30);
/// A process killed by force is gone within this, or its directory can't be removed.
const GONE_LIMIT: Duration = Duration::from_secs(2);
const GONE_POLL: Duration = Duration::from_millis(2);
const LOG_FILE: &str = "service.log";
/// How many bytes of its log an error shows.
const LOG_SHOWN: usize = 4_000;
/// How deep below the data directory a pid file may be.
const PID_FILE_DEPTH: u32 = 3;

/// A service started for this run. Dropping it leaves no process, after any error.
#[derive(Debug)]
pub struct PrivateService {
    product: Product,
    child: Option<Child>,
    data: TempDir,
    port: u16,
    secret: [u8; 32],
    keep_data: bool,
    /// Settings besides the common ones: variables of the environment with their values.
    settings: &'static [(&'static str, &'static str)],
}

impl PrivateService {
    /// Starts it and waits until it is ready. Its draw secret follows from `seed`, so that runs can be repeated.
    pub async fn start(
        product: Product,
        seed: u64,
        keep_data: bool,
        settings: &'static [(&'static str, &'static str)],
    ) -> Result<Self, SimulateError> {
        let data = tempfile::Builder::new()
            .prefix("jackpot-simulate-")
            .tempdir()
            .map_err(|source| SimulateError::File {
                doing: "making a directory in",
                path: std::env::temp_dir(),
                source,
            })?;
        let secret = Sha256::digest(format!("jackpot-simulate\n{seed}")).into();
        let mut service = Self {
            product,
            child: None,
            data,
            port: free_port().map_err(|error| SimulateError::Process("finding a free port", error))?,
            secret,
            keep_data,
            settings,
        };
        service.spawn().await?;
        Ok(service)
    }

    /// How to call it.
    pub fn target(&self) -> Result<Target, SimulateError> {
        let path = self.data.path().join("operator.key");
        let key = std::fs::read_to_string(&path).map_err(|source| SimulateError::File {
            doing: "reading",
            path,
            source,
        })?;
        Ok(Target {
            url: self.url(),
            key: key.trim().to_owned(),
            secret: Some(self.secret),
        })
    }

    /// Where its data is.
    pub fn data_dir(&self) -> &Path {
        self.data.path()
    }

    /// The socket of its Redis.
    pub fn redis_socket(&self) -> PathBuf {
        self.data.path().join("redis/redis.sock")
    }

    /// The keys of a room in its Redis.
    pub fn room_keys(&self, room: &str) -> RoomKeys {
        (self.product.room_keys)(room)
    }

    /// Its process, while it runs.
    pub fn pid(&self) -> Option<u32> {
        self.child.as_ref().and_then(Child::id)
    }

    /// `kill -9`, of its Redis too when asked, then a new start on the same data and port.
    pub async fn kill_and_restart(&mut self, redis_too: bool) -> Result<(), SimulateError> {
        if let Some(mut child) = self.child.take() {
            if redis_too {
                kill_servers(self.data.path());
            }
            child
                .kill()
                .await
                .map_err(|error| SimulateError::Process("killing the private service", error))?;
        }
        self.spawn().await
    }

    /// Asks it to stop, waits, and removes its directory unless it is to be kept. Says where it was kept.
    pub async fn stop(mut self) -> Result<Option<PathBuf>, SimulateError> {
        if let Some(mut child) = self.child.take() {
            if let Some(pid) = child.id().and_then(|id| Pid::from_raw(id.cast_signed())) {
                // It may have ended by itself in this very moment; the wait below tells.
                let _gone = kill_process(pid, Signal::TERM);
            }
            match tokio::time::timeout(STOP_LIMIT, child.wait()).await {
                Ok(waited) => {
                    waited.map_err(|error| SimulateError::Process("waiting for the private service", error))?;
                }
                Err(_late) => {
                    let what = format!("did not stop within {} s of SIGTERM", STOP_LIMIT.as_secs());
                    self.child = Some(child);
                    return Err(self.failed(what));
                }
            }
        }
        let kept = self.keep_data.then(|| {
            self.data.disable_cleanup(true);
            self.data.path().to_owned()
        });
        Ok(kept)
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    async fn spawn(&mut self) -> Result<(), SimulateError> {
        let path = self.data.path().join(LOG_FILE);
        let opened = File::options()
            .append(true)
            .create(true)
            .open(&path)
            .and_then(|log| Ok((log.try_clone()?, log)));
        let (out, err) = opened.map_err(|source| SimulateError::File {
            doing: "opening",
            path,
            source,
        })?;
        let mut command = Command::new(&self.product.program);
        command
            .arg("serve")
            .current_dir(self.data.path())
            .stdin(Stdio::null())
            .stdout(out)
            .stderr(err);
        // What is set for this process is meant for another service.
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("JACKPOT_")) {
            command.env_remove(name);
        }
        command
            .env("JACKPOT__HTTP__LISTEN", format!("127.0.0.1:{}", self.port))
            .env("JACKPOT__DATA_DIR", self.data.path())
            .env("JACKPOT__FAIRNESS__MASTER_SECRET", hex::encode(self.secret))
            .envs(self.settings.iter().copied())
            // Its own group: Ctrl-C reaches this process alone, which then stops the service in order.
            .process_group(0)
            .kill_on_drop(true);
        let child = command
            .spawn()
            .map_err(|error| SimulateError::Process("starting the private service", error))?;
        self.child = Some(child);
        self.wait_ready().await
    }

    async fn wait_ready(&mut self) -> Result<(), SimulateError> {
        let target = Target {
            url: self.url(),
            key: "none".to_owned(),
            secret: None,
        };
        let api = Api::new(&target, Arc::new(AtomicU64::new(0)))?;
        let url = api.url("/readyz");
        let started = Instant::now();
        while started.elapsed() < READY_LIMIT {
            let ended = self.child.as_mut().and_then(|child| child.try_wait().transpose());
            if let Some(status) = ended {
                let status =
                    status.map_err(|error| SimulateError::Process("waiting for the private service", error))?;
                self.child = None;
                return Err(self.failed(format!("ended at its start ({status})")));
            }
            if api
                .send_once(Method::GET, &url, None)
                .await
                .is_ok_and(|answer| answer.status.is_success())
            {
                return Ok(());
            }
            tokio::time::sleep(READY_POLL).await;
        }
        Err(self.failed(format!("was not ready within {} s", READY_LIMIT.as_secs())))
    }

    fn failed(&self, what: String) -> SimulateError {
        let log = std::fs::read(self.data.path().join(LOG_FILE)).unwrap_or_default();
        let log = String::from_utf8_lossy(&log[log.len().saturating_sub(LOG_SHOWN)..]).into_owned();
        SimulateError::Service { what, log }
    }
}

impl Drop for PrivateService {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            // Before its Redis, which it would start again.
            end(child);
        }
        // A service killed by force leaves its Redis; one that stopped in order has left nothing to find here.
        kill_servers(self.data.path());
    }
}

/// Kills a process and waits until it is gone, because its directory is removed next.
pub fn end(child: &mut Child) {
    // An error means that it has ended already.
    let _gone = child.start_kill();
    let deadline = Instant::now() + GONE_LIMIT;
    while matches!(child.try_wait(), Ok(None)) && Instant::now() < deadline {
        std::thread::sleep(GONE_POLL);
    }
}

/// Kills the Redis servers whose pid files are below `directory`. Only for a directory that this process made.
pub fn kill_servers(directory: &Path) {
    for pid in pids_below(directory, PID_FILE_DEPTH) {
        let deadline = Instant::now() + GONE_LIMIT;
        // An error means that it has ended already.
        while is_redis(pid) && kill_process(pid, Signal::KILL).is_ok() && Instant::now() < deadline {
            std::thread::sleep(GONE_POLL);
        }
    }
}

/// The processes of the private service that run now: itself and its Redis.
pub fn pids(service: &PrivateService) -> Vec<u32> {
    let servers = pids_below(service.data_dir(), PID_FILE_DEPTH)
        .into_iter()
        .filter(|pid| is_redis(*pid));
    service
        .pid()
        .into_iter()
        .chain(servers.map(|pid| pid.as_raw_nonzero().get().cast_unsigned()))
        .collect()
}

fn pids_below(directory: &Path, depth: u32) -> Vec<Pid> {
    let Ok(entries) = std::fs::read_dir(directory) else {
        return Vec::new();
    };
    let mut pids = Vec::new();
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() && depth > 1 {
            pids.extend(pids_below(&path, depth - 1));
        } else if path.extension().is_some_and(|extension| extension == "pid") {
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            pids.extend(text.trim().parse().ok().and_then(Pid::from_raw));
        }
    }
    pids
}

/// A pid may have gone to another process meanwhile; where the system can say what runs under it, ask.
fn is_redis(pid: Pid) -> bool {
    let path = PathBuf::from(format!("/proc/{}/comm", pid.as_raw_nonzero()));
    match std::fs::read_to_string(path) {
        Ok(name) => name.starts_with("redis") || name.starts_with("valkey"),
        Err(_) => !Path::new("/proc/self/comm").exists(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{kill_servers, pids_below};

    #[test]
    fn a_server_left_behind_is_found_and_killed() {
        let directory = tempfile::tempdir().unwrap();
        let below = directory.path().join("redis");
        std::fs::create_dir(&below).unwrap();
        let mut server = std::process::Command::new("redis-server")
            .args(["--port", "0", "--save", "", "--unixsocket", "s.sock", "--pidfile"])
            .arg(below.join("redis.pid"))
            .current_dir(&below)
            .stdout(std::process::Stdio::null())
            .spawn()
            .expect("redis-server on PATH");
        let deadline = Instant::now() + Duration::from_secs(10);
        while pids_below(directory.path(), 3).is_empty() && Instant::now() < deadline {
            std::thread::yield_now();
        }
        kill_servers(directory.path());
        assert!(!server.wait().unwrap().success(), "ended by the signal");
    }

    #[test]
    fn a_pid_that_is_no_redis_is_left_alone() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("some.pid"), std::process::id().to_string()).unwrap();
        kill_servers(directory.path());
        assert_eq!(
            pids_below(directory.path(), 1).len(),
            1,
            "found, asked, and spared: this test still runs"
        );
    }
}
