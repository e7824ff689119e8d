//! The real binary, run as a user would run it. Tests may kill it and start it again.

use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::Duration;

use reqwest::{Method, StatusCode};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::answer::{Answer, Says};
use super::given::document;
use super::{PATIENCE, eventually, free_port, http_client};

/// The draw secret of the published test vectors.
pub const MASTER_SECRET: &str = "5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f";

/// Variable that names another program than cargo's: a release build for full runs, or a wrapper for one service.
pub const PROGRAM: &str = "JACKPOT_TEST_BINARY";

/// Settings of a service whose calls of Redis end only with their answer: a loaded machine or a test may hold one back
/// for longer than the usual limits.
pub const PATIENT: [(&str, &str); 3] = [
    ("JACKPOT__REDIS__CONNECT_TIMEOUT_MS", "30000"),
    ("JACKPOT__REDIS__RESPONSE_TIMEOUT_MS", "30000"),
    ("JACKPOT__REDIS__TOTAL_TIMEOUT_MS", "30000"),
];

/// Settings of a service that uses the Redis server at this URL.
pub fn redis_at(url: &str) -> [(&str, &str); 2] {
    [("JACKPOT__REDIS__MODE", "standalone"), ("JACKPOT__REDIS__URLS", url)]
}

/// Limits under which a fault is over in seconds.
pub const LIMITS: [(&str, &str); 3] = [
    ("JACKPOT__REDIS__CONNECT_TIMEOUT_MS", "500"),
    ("JACKPOT__REDIS__RESPONSE_TIMEOUT_MS", "500"),
    ("JACKPOT__REDIS__TOTAL_TIMEOUT_MS", "1500"),
];

/// A service with [`LIMITS`] on a Redis that it does not run itself.
pub async fn service_on(url: &str, more: &[(&str, &str)]) -> Service {
    Service::start_with(&[&LIMITS[..], &redis_at(url), more].concat()).await
}

const READY_DEADLINE: Duration = Duration::from_secs(30);
const STOP_DEADLINE: Duration = Duration::from_secs(20);
fn owned(environment: &[(&str, &str)]) -> Vec<(String, String)> {
    let one = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    environment.iter().map(one).collect()
}

/// What a command wrote: its standard output, then its errors.
pub fn output_text(output: &Output) -> String {
    output.words().into_owned()
}

/// A running service with a data directory of its own. Dropping it removes everything.
pub struct Service {
    data: TempDir,
    port: u16,
    environment: Vec<(String, String)>,
    process: Child,
    client: reqwest::Client,
    operator_key: String,
}

/// A client of a service that goes on while the service is killed and started again.
#[derive(Clone)]
pub struct Caller {
    base: String,
    key: String,
    client: reqwest::Client,
}

impl Caller {
    /// `POST` with the operator's key; an answer may not come.
    ///
    /// # Errors
    /// When the connection fails or ends before the answer.
    pub async fn post(&self, path: &str, body: &Value) -> reqwest::Result<Answer> {
        self.send(Method::POST, path, Some(body)).await
    }

    /// `PUT` with the operator's key; an answer may not come.
    ///
    /// # Errors
    /// When the connection fails or ends before the answer.
    pub async fn put(&self, path: &str, body: &Value) -> reqwest::Result<Answer> {
        self.send(Method::PUT, path, Some(body)).await
    }

    /// `GET` with the operator's key; an answer may not come.
    ///
    /// # Errors
    /// When the connection fails or ends before the answer.
    pub async fn get(&self, path: &str) -> reqwest::Result<Answer> {
        self.send(Method::GET, path, None).await
    }

    /// `GET` on a new connection, as a newcomer would.
    ///
    /// # Errors
    /// When nobody accepts the connection, or it ends before the answer.
    pub async fn get_alone(&self, path: &str) -> reqwest::Result<StatusCode> {
        Ok(http_client().get(format!("{}{path}", self.base)).send().await?.status())
    }

    async fn send(&self, method: Method, path: &str, body: Option<&Value>) -> reqwest::Result<Answer> {
        let request = self.client.request(method, format!("{}{path}", self.base));
        let request = match body {
            Some(body) => request.json(body),
            None => request,
        };
        let response = request.bearer_auth(&self.key).send().await?;
        Answer::read(response).await
    }
}

impl Service {
    /// Starts it with its embedded Redis and waits until it is ready.
    pub async fn start() -> Self {
        Self::start_with(&[]).await
    }

    /// The same with more environment, such as `("JACKPOT__REDIS__MODE", "standalone")`.
    ///
    /// # Panics
    /// When it is not ready in 30 s; with its log.
    pub async fn start_with(environment: &[(&str, &str)]) -> Self {
        Self::start_in(Self::directory(), environment).await
    }

    /// An empty directory for a service.
    pub fn directory() -> TempDir {
        tempfile::Builder::new()
            .prefix("jackpot-it-")
            .tempdir()
            .expect("a temporary directory can be made")
    }

    /// Starts it on this data directory and waits until it is ready.
    ///
    /// # Panics
    /// When it is not ready in 30 s; with its log.
    pub async fn start_in(data: TempDir, environment: &[(&str, &str)]) -> Self {
        let mut service = Self::begin_in(data, environment).await;
        service.wait_until_ready().await;
        service
    }

    /// Starts it on this data directory and waits until it answers, ready or not.
    pub async fn begin_in(data: TempDir, environment: &[(&str, &str)]) -> Self {
        let port = free_port();
        let environment = owned(environment);
        let client = http_client();
        let process = spawn(data.path(), port, &environment);
        let mut service = Self {
            data,
            port,
            environment,
            process,
            client,
            operator_key: String::new(),
        };
        service
            .wait_until("/healthz", |answer| answer.status.is_success())
            .await;
        service
    }

    /// Starts one that must refuse to start; returns how it ended, and its log. `data` is its data directory.
    ///
    /// # Panics
    /// When it has not ended in 30 s.
    pub async fn refused(data: &Path, environment: &[(&str, &str)]) -> (ExitStatus, String) {
        let environment = owned(environment);
        let mut process = Ending(spawn(data, free_port(), &environment));
        let status = eventually(READY_DEADLINE, "the service refuses to start", async || {
            process.0.try_wait().expect("a child can be asked for its status")
        })
        .await;
        let log = std::fs::read_to_string(data.join("service.log")).expect("it has a log");
        (status, log)
    }

    /// Runs another command of the program on its data directory and settings.
    pub fn command(&self, arguments: &[&str]) -> Output {
        command(self.data.path(), &self.environment, arguments)
            .output()
            .expect("the binary that cargo built starts")
    }

    /// Runs a command of the program on a data directory that no service holds.
    pub fn command_in(data: &Path, environment: &[(&str, &str)], arguments: &[&str]) -> Output {
        command(data, &owned(environment), arguments)
            .output()
            .expect("the binary that cargo built starts")
    }

    /// Runs such a command while the test goes on with other things.
    pub async fn command_beside(&self, arguments: &[&str]) -> Output {
        tokio::process::Command::from(command(self.data.path(), &self.environment, arguments))
            .output()
            .await
            .expect("the binary that cargo built starts")
    }

    /// The operator's key of the service.
    pub fn operator_key(&self) -> &str {
        &self.operator_key
    }

    /// Its process id.
    pub fn pid(&self) -> Pid {
        Pid::from_child(&self.process)
    }

    /// Changes a variable of its environment, for the next start.
    pub fn set(&mut self, name: &str, value: &str) {
        self.environment.retain(|(other, _)| other != name);
        self.environment.push((name.to_owned(), value.to_owned()));
    }

    /// The URL of a path on this service.
    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// Its data directory.
    pub fn data_dir(&self) -> &Path {
        self.data.path()
    }

    /// What it wrote to stdout and stderr so far.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.data.path().join("service.log")).unwrap_or_default()
    }

    /// One request with the operator's key.
    ///
    /// # Panics
    /// When no answer comes: for a request that is meant to be cut, use [`try_call`](Self::try_call).
    pub async fn call(&self, method: Method, path: &str, body: Option<Value>) -> Answer {
        match self.try_call(method, path, body).await {
            Ok(answer) => answer,
            Err(error) => panic!("no answer for {path}: {error}\n{}", self.log()),
        }
    }

    /// One request with the operator's key; an answer may not come.
    ///
    /// # Errors
    /// When the connection fails or ends before the answer.
    pub async fn try_call(&self, method: Method, path: &str, body: Option<Value>) -> reqwest::Result<Answer> {
        self.caller().send(method, path, body.as_ref()).await
    }

    /// A client with the operator's key that does not borrow the service.
    pub fn caller(&self) -> Caller {
        Caller {
            base: self.url(""),
            key: self.operator_key.clone(),
            client: self.client.clone(),
        }
    }

    /// The same with another key.
    pub fn caller_with(&self, key: &str) -> Caller {
        Caller {
            key: key.to_owned(),
            ..self.caller()
        }
    }

    /// `GET` with the operator's key.
    pub async fn get(&self, path: &str) -> Answer {
        self.call(Method::GET, path, None).await
    }

    /// Waits until the body of an answer to `GET` is as wanted. Returns it.
    pub async fn until(&self, path: &str, what: &str, is_it: impl Fn(&Value) -> bool) -> Value {
        eventually(PATIENCE, what, async || Some(self.get(path).await.body).filter(&is_it)).await
    }

    /// `PUT` with the operator's key.
    pub async fn put(&self, path: &str, body: Value) -> Answer {
        self.call(Method::PUT, path, Some(body)).await
    }

    /// `POST` with the operator's key.
    pub async fn post(&self, path: &str, body: Value) -> Answer {
        self.call(Method::POST, path, Some(body)).await
    }

    /// `kill -9`, as a crash would. Its Redis goes on, as after a crash.
    pub fn kill9(&mut self) {
        self.process.kill().expect("a process started here can be killed");
        self.process.wait().expect("a killed process can be waited for");
    }

    /// SIGTERM, and waits for the end.
    pub async fn stop(&mut self) -> ExitStatus {
        self.stop_by(Signal::TERM).await
    }

    /// A signal that ends it, and waits for the end.
    ///
    /// # Panics
    /// When it has not ended in 20 s; with its log.
    pub async fn stop_by(&mut self, signal: Signal) -> ExitStatus {
        kill_process(Pid::from_child(&self.process), signal).expect("a process started here can be signalled");
        let process = &mut self.process;
        eventually(STOP_DEADLINE, "the service ends after a signal", async || {
            process.try_wait().expect("a child can be asked for its status")
        })
        .await
    }

    /// Starts it again on its own data directory and port; first kills it, unless it has ended.
    pub async fn restart(&mut self) {
        self.spawn_again();
        self.wait_until_ready().await;
    }

    fn spawn_again(&mut self) {
        self.kill9();
        self.process = spawn(self.data.path(), self.port, &self.environment);
    }

    /// Starts it again and waits until it answers, ready or not.
    pub async fn restart_begun(&mut self) {
        self.spawn_again();
        self.wait_until("/healthz", |answer| answer.status.is_success()).await;
    }

    /// Starts it again and waits until it takes requests, not ready, because no jackpot can be played.
    pub async fn restart_unready(&mut self) {
        self.spawn_again();
        self.wait_until("/readyz", |answer| answer.body["errors"][0]["field"] != "instance")
            .await;
    }

    /// The processes that run in its data directory: its embedded Redis, when it has one.
    pub fn redis_pids(&self) -> Vec<Pid> {
        let inside = self.data.path().join("redis");
        processes_in(&inside)
    }

    /// Waits until it is ready.
    ///
    /// # Panics
    /// When it is not ready in 30 s, or ends; with its log.
    pub async fn wait_until_ready(&mut self) {
        self.wait_until("/readyz", |answer| answer.status.is_success()).await;
    }

    async fn wait_until(&mut self, path: &str, is_it: impl Fn(&Answer) -> bool) {
        let caller = self.caller();
        let (process, is_it) = (&mut self.process, &is_it);
        let log = self.data.path().join("service.log");
        eventually(READY_DEADLINE, "the service is ready", async || {
            if let Some(status) = process.try_wait().expect("a child can be asked for its status") {
                panic!(
                    "the service ended with {status}:\n{}",
                    std::fs::read_to_string(&log).unwrap_or_default()
                );
            }
            caller.get(path).await.ok().filter(is_it).map(drop)
        })
        .await;
        let key = std::fs::read_to_string(self.data.path().join("operator.key")).expect("the operator key was written");
        key.trim().clone_into(&mut self.operator_key);
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("--- the service's log\n{}", self.log());
        }
        // The service is dead already after kill9 or stop; its Redis may live on after kill9.
        let _ = self.process.kill();
        let _ = self.process.wait();
        for pid in processes_in(self.data.path()) {
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

/// A process that does not outlive its test.
struct Ending(Child);

impl Drop for Ending {
    fn drop(&mut self) {
        // Mostly it has ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn command(data: &Path, environment: &[(String, String)], arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_jackpot"));
    command
        .args(arguments)
        .current_dir(data)
        .env("JACKPOT__DATA_DIR", data)
        .env("JACKPOT__FAIRNESS__MASTER_SECRET", MASTER_SECRET)
        .envs(environment.iter().map(|(name, value)| (name, value)));
    command
}

fn spawn(data: &Path, port: u16, environment: &[(String, String)]) -> Child {
    let log = File::options()
        .create(true)
        .append(true)
        .open(data.join("service.log"))
        .expect("the log can be written");
    let errors = log.try_clone().expect("a file can be opened twice");
    let wrapped = environment.iter().find(|(name, _)| name == PROGRAM);
    let program = wrapped
        .map(|(_, program)| program.into())
        .or_else(|| std::env::var_os(PROGRAM))
        .unwrap_or_else(|| env!("CARGO_BIN_EXE_jackpot").into());
    Command::new(program)
        .arg("serve")
        .current_dir(data)
        .env("JACKPOT__HTTP__LISTEN", format!("127.0.0.1:{port}"))
        .env("JACKPOT__DATA_DIR", data)
        .env("JACKPOT__FAIRNESS__MASTER_SECRET", MASTER_SECRET)
        .envs(environment.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(log)
        .stderr(errors)
        .spawn()
        .expect("the binary that cargo built starts")
}

/// Processes whose working directory lies in `directory`. A pid file may be stale, and this cannot.
pub(super) fn processes_in(directory: &Path) -> Vec<Pid> {
    let Ok(entries) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    entries
        .flatten()
        .filter(|entry| std::fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd.starts_with(directory)))
        .filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?))
        .collect()
}

#[tokio::test]
async fn heavy_the_service_survives_kill9_and_leaves_nothing_behind() {
    let mut service = Service::start().await;
    let data = service.data_dir().to_owned();
    let odds = json!({"odds": {"total": 1000, "ranks": []}});
    let entry = json!({"entry_id": "e1", "player_id": "p1", "stake": 100});
    service.put("/v1/jackpots/kept", document("kept", &odds)).await.is(201);
    let first = service.post("/v1/jackpots/kept/entries", entry.clone()).await;
    first.is(201);
    let redis = service.redis_pids();
    assert_eq!(redis.len(), 1, "one embedded Redis");

    service.kill9();
    assert!(
        service.try_call(Method::GET, "/healthz", None).await.is_err(),
        "nobody answers after kill -9"
    );
    service.restart().await;
    assert_eq!(
        service.redis_pids(),
        redis,
        "the Redis that was left running is adopted"
    );
    let again = service.post("/v1/jackpots/kept/entries", entry).await;
    assert_eq!(again.is(200), &first.body, "the entry is kept");
    assert!(again.is_replay());
    let meter = service.get("/v1/jackpots/kept/meter").await;
    assert_eq!(meter.body["meters"][0]["pool"], 1, "it counted once: {}", meter.text);

    assert!(service.stop().await.success(), "SIGTERM ends it well");
    assert_eq!(service.redis_pids(), [], "its Redis ends with it");
    service.restart().await;
    service.kill9();
    assert_eq!(service.redis_pids().len(), 1);
    drop(service);
    eventually(
        Duration::from_secs(5),
        "the Redis left by kill -9 is gone",
        async || processes_in(&data).is_empty().then_some(()),
    )
    .await;
    assert!(!data.exists());
}
