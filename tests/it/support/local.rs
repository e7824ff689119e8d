//! A Redis or Valkey server process of the test's own: it may be frozen, killed and started again.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, FromRedisValue};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use super::eventually;
use super::shifted_clock::ShiftedClock;

const START_DEADLINE: Duration = Duration::from_secs(20);
/// Far above what a loaded machine needs: a test must not fail because others run beside it.
const ANSWER_DEADLINE: Duration = Duration::from_secs(10);

/// A server process, with its files in a directory that is removed with it.
pub struct LocalServer {
    program: &'static str,
    arguments: Vec<String>,
    clock: Option<Arc<ShiftedClock>>,
    url: String,
    directory: TempDir,
    process: Child,
}

impl LocalServer {
    /// Starts `program` on a unix socket, durable and without eviction, as the service itself would. `extra` are
    /// further arguments (`["--maxmemory", "32mb"]`), which win.
    ///
    /// # Errors
    /// When the program cannot be started, which mostly means that it is not installed.
    pub async fn on_socket(program: &'static str, extra: &[&str]) -> std::io::Result<Self> {
        Self::on_socket_by(None, program, extra).await
    }

    /// The same by this clock.
    ///
    /// # Errors
    /// When the program cannot be started.
    pub async fn on_socket_by(
        clock: Option<Arc<ShiftedClock>>,
        program: &'static str,
        extra: &[&str],
    ) -> std::io::Result<Self> {
        let directory = tempfile::Builder::new().prefix("jackpot-redis-").tempdir()?;
        let socket = directory.path().join("s");
        let url = format!("redis+unix://{}", socket.display());
        let mut arguments = ["--port", "0", "--unixsocket", path_str(&socket)]
            .map(String::from)
            .to_vec();
        arguments.extend(extra.iter().map(ToString::to_string));
        Self::start(program, arguments, clock, url, directory).await
    }

    /// Starts `program` on a TCP port of the loopback address.
    ///
    /// # Errors
    /// When the program cannot be started, or ends at once because the port is taken.
    pub async fn on_port(program: &'static str, port: u16, extra: &[&str]) -> std::io::Result<Self> {
        let directory = tempfile::Builder::new().prefix("jackpot-redis-").tempdir()?;
        let port = port.to_string();
        let mut arguments = ["--bind", "127.0.0.1", "--port", &port].map(String::from).to_vec();
        arguments.extend(extra.iter().map(ToString::to_string));
        Self::start(program, arguments, None, format!("redis://127.0.0.1:{port}"), directory).await
    }

    async fn start(
        program: &'static str,
        arguments: Vec<String>,
        clock: Option<Arc<ShiftedClock>>,
        url: String,
        directory: TempDir,
    ) -> std::io::Result<Self> {
        let process = spawn(program, directory.path(), &arguments, clock.as_deref())?;
        let mut server = Self {
            program,
            arguments,
            clock,
            url,
            directory,
            process,
        };
        server.wait_until_it_answers().await?;
        Ok(server)
    }

    /// Where clients connect.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Where it keeps its files.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// A new connection.
    pub async fn connection(&self) -> MultiplexedConnection {
        connect(&self.url).await.expect("the server started here answers")
    }

    /// A command, on a connection of its own.
    pub async fn run<T: FromRedisValue>(&self, words: &[&str]) -> T {
        run(&mut self.connection().await, words).await
    }

    /// `kill -9`, as a crash of the server would. Its files stay.
    pub fn kill9(&mut self) {
        self.process.kill().expect("a process started here can be killed");
        self.process.wait().expect("a killed process can be waited for");
    }

    /// Starts it again on its own files; first kills it, unless it has ended.
    pub async fn restart(&mut self) {
        self.kill9();
        let spawned = spawn(
            self.program,
            self.directory.path(),
            &self.arguments,
            self.clock.as_deref(),
        );
        self.process = spawned.expect("it started before");
        self.wait_until_it_answers().await.expect("it answered before");
    }

    /// The same with further arguments, which win over the first ones, also at later restarts.
    pub async fn restart_with(&mut self, extra: &[&str]) {
        self.arguments.extend(extra.iter().map(ToString::to_string));
        self.restart().await;
    }

    /// Stops the process where it stands: connections stay open and nothing answers.
    pub fn freeze(&self) {
        self.signal(Signal::STOP);
    }

    /// Lets a frozen process go on.
    pub fn thaw(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.process), signal).expect("a process started here can be signalled");
    }

    async fn wait_until_it_answers(&mut self) -> std::io::Result<()> {
        let (process, url) = (&mut self.process, &self.url);
        let ended = eventually(START_DEADLINE, "the server answers PING", async || {
            if let Some(status) = process.try_wait().expect("a child can be asked for its status") {
                return Some(Some(status));
            }
            let mut connection = connect(url).await.ok()?;
            redis::cmd("PING").exec_async(&mut connection).await.ok().map(|()| None)
        })
        .await;
        match ended {
            None => Ok(()),
            Some(status) => Err(std::io::Error::other(format!(
                "{} ended with {status}: {}",
                self.program,
                self.log()
            ))),
        }
    }

    fn log(&self) -> String {
        std::fs::read_to_string(log_path(self.directory.path())).unwrap_or_default()
    }
}

impl Drop for LocalServer {
    fn drop(&mut self) {
        // Also ends a frozen one. It may be dead already: then there is nothing to do.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A Redis of the test's own, to be stopped, filled or put back.
pub async fn own_redis(extra: &[&str]) -> LocalServer {
    LocalServer::on_socket("redis-server", extra)
        .await
        .expect("redis-server is needed on PATH: apt-get install redis-server")
}

/// A connection to `url`, not shared with anyone.
///
/// # Errors
/// When nothing answers there.
pub async fn connect(url: &str) -> redis::RedisResult<MultiplexedConnection> {
    let config = AsyncConnectionConfig::new().set_response_timeout(Some(ANSWER_DEADLINE));
    redis::Client::open(url)?
        .get_multiplexed_async_connection_with_config(&config)
        .await
}

/// A command that must be answered.
pub async fn run<T: FromRedisValue>(connection: &mut MultiplexedConnection, words: &[&str]) -> T {
    let command = redis::cmd(words[0]).arg(&words[1..]).to_owned();
    let reply = command.query_async(connection).await;
    reply.unwrap_or_else(|error| panic!("{words:?}: {error}"))
}

fn spawn(
    program: &str,
    directory: &Path,
    arguments: &[String],
    clock: Option<&ShiftedClock>,
) -> std::io::Result<Child> {
    Command::new(program)
        .envs(clock.into_iter().flat_map(ShiftedClock::environment))
        .args([
            "--dir",
            path_str(directory),
            "--logfile",
            path_str(&log_path(directory)),
        ])
        .args([
            "--appendonly",
            "yes",
            "--appendfsync",
            "always",
            "--save",
            "",
            "--maxmemory-policy",
            "noeviction",
        ])
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
}

fn log_path(directory: &Path) -> PathBuf {
    directory.join("log")
}

fn path_str(path: &Path) -> &str {
    path.to_str().expect("a temporary directory has a UTF-8 name")
}
