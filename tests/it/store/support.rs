//! Real servers for the tests of the store: they start on free ports and end with the test.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use jackpot::settings::{CheckConfig, Durability, Redis, RedisMode};
use jackpot::store::rights::{IN_SCRIPTS, KEYS, OUTSIDE, When, grant};
use jackpot::store::{Call, Script, Store, StoreError};
use redis::Value;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

pub use crate::support::free_port;
use crate::support::wait;

/// Longest wait of a test for any condition.
pub const PATIENCE: Duration = Duration::from_secs(30);
/// By how much a limit may be passed on a machine that runs other tests at the same time.
pub const MARGIN_MS: u64 = 3_000;

/// What the start-up checks demand.
pub const SAFE: [&str; 8] = [
    "--appendonly",
    "yes",
    "--appendfsync",
    "always",
    "--maxmemory-policy",
    "noeviction",
    "--save",
    "",
];

const PORTS_TRIED: usize = 5;

/// A server of its own, with its directory; killed when dropped.
pub struct Server {
    child: Child,
    serving: Receiver<()>,
    pub port: u16,
    pub dir: TempDir,
    args: Vec<String>,
}

impl Server {
    pub fn start(args: &[&str]) -> Self {
        let port = free_port();
        let port_text = port.to_string();
        let mut all = vec!["--port", port_text.as_str()];
        all.extend(args);
        Self::start_with(port, TempDir::new().unwrap(), &all)
    }

    /// Starts a server with exactly these arguments, for one that must not have a plain port.
    pub fn start_with(port: u16, dir: TempDir, args: &[&str]) -> Self {
        let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
        let (child, serving) = spawn(dir.path(), &args);
        Self {
            child,
            serving,
            port,
            dir,
            args,
        }
    }

    /// A replica of this server, once it is connected.
    pub async fn replica(&self) -> Self {
        let replica = Self::start(&["--replicaof", "127.0.0.1", &self.port.to_string()]).ready();
        let mut beside = self.connection();
        eventually("the replica is connected", || {
            let count: i64 = redis::cmd("WAIT").arg(1).arg(50).query(&mut beside).unwrap();
            async move { (count == 1).then_some(()) }
        })
        .await;
        replica
    }

    /// Waits until it takes connections. A port that was free may be taken by now: then it gets another one.
    pub fn ready(mut self) -> Self {
        for _ in 0..PORTS_TRIED {
            match self.serving.recv_timeout(PATIENCE) {
                Ok(()) => return self,
                Err(RecvTimeoutError::Disconnected) if self.args[1] == self.port.to_string() => {
                    self.port = free_port();
                    self.args[1] = self.port.to_string();
                    let _ = self.child.wait();
                    self.restart();
                }
                Err(error) => panic!("redis-server does not start: {error}"),
            }
        }
        panic!("redis-server finds no port");
    }

    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// A plain connection beside the store.
    pub fn connection(&self) -> redis::Connection {
        let client = redis::Client::open(self.url()).unwrap();
        client.get_connection_with_timeout(PATIENCE).unwrap()
    }

    pub fn signal(&self, signal: Signal) {
        send_signal(self.child.id(), signal);
    }

    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub fn restart(&mut self) {
        (self.child, self.serving) = spawn(self.dir.path(), &self.args);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may be dead already; and SIGKILL also ends a stopped one.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts a server; the receiver gets a message when its log says that it serves.
fn spawn(dir: &Path, args: &[String]) -> (Child, Receiver<()>) {
    let mut child = Command::new("redis-server")
        .args(args)
        .arg("--dir")
        .arg(dir)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("redis-server is needed on PATH: apt-get install redis-server");
    let log = BufReader::new(child.stdout.take().unwrap());
    let (says, serving) = channel();
    // Reads on to the end, or a full pipe would stop the server.
    std::thread::spawn(move || {
        for line in log.lines().map_while(Result::ok) {
            if line.contains("Ready to accept connections") {
                let _ = says.send(());
            }
        }
    });
    (child, serving)
}

pub fn send_signal(pid: u32, signal: Signal) {
    kill_process(Pid::from_raw(pid.try_into().unwrap()).unwrap(), signal).unwrap();
}

pub fn settings(mode: RedisMode, urls: &[String]) -> Redis {
    Redis {
        mode,
        urls: urls.to_vec(),
        primary_url: String::new(),
        durability: Durability::Local,
        check_config: CheckConfig::Required,
        tls_ca_file: String::new(),
        connect_timeout_ms: 1_000,
        response_timeout_ms: 1_000,
        total_timeout_ms: 4_000,
        server_program: String::new(),
        max_memory_mib: 64,
        refuse_entries_above_memory_pct: 80,
    }
}

/// The rules of a user that may do what docs/how-to/choose-a-redis.md says, and nothing else.
pub fn exact_rights() -> Vec<String> {
    let keys = KEYS.iter().map(|pattern| format!("~{pattern}"));
    let outside = OUTSIDE
        .iter()
        .filter(|(_, when)| matches!(when, When::Always | When::ChecksConfig));
    let commands = outside.map(|(command, _)| *command).chain(IN_SCRIPTS).map(grant);
    keys.chain(["-@all".to_owned()]).chain(commands).collect()
}

/// A store on that server, with a data directory of its own.
pub async fn open(settings: &Redis) -> (Store, TempDir) {
    let dir = TempDir::new().unwrap();
    (Store::open(settings, dir.path()).await.unwrap(), dir)
}

/// The message of a refusal to open, causes included.
pub async fn refusal(settings: &Redis) -> String {
    let dir = TempDir::new().unwrap();
    let error = Store::open(settings, dir.path())
        .await
        .expect_err("the store must refuse this server");
    format!("{error} {error:?}")
}

/// Writes ARGV[1] into KEYS[1] and returns it: idempotent, like every script that the store repeats.
pub fn put() -> Script {
    Script::new("put", "", &["redis.call('SET', KEYS[1], ARGV[1])\nreturn ARGV[1]"])
}

pub async fn call(store: &Store, script: &Script, key: &str, value: &str) -> Result<Value, StoreError> {
    store.call(&Call::new(script).key(key).arg(value)).await
}

/// The same over the calling thread's own connection.
pub async fn call_here(store: &Store, script: &Script, key: &str, value: &str) -> Result<Value, StoreError> {
    store.call_here(&Call::new(script).key(key).arg(value)).await
}

pub async fn get(store: &Store, key: &str) -> Result<Option<String>, StoreError> {
    let value = store.run(redis::cmd("GET").arg(key)).await?;
    Ok(redis::from_redis_value(value).unwrap())
}

/// Polls until `probe` gives a value.
pub async fn eventually<T, F: Future<Output = Option<T>>>(what: &str, mut probe: impl FnMut() -> F) -> T {
    wait::eventually(PATIENCE, what, async || probe().await).await
}
