//! A bare Redis for the comparison, as durable as the service's own: AOF, fsync before each answer.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use rand::SeedableRng;
use rand::rngs::StdRng;
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client};
use tempfile::TempDir;
use tokio::process::{Child, Command};

use crate::SimulateError;
use crate::service::end;

const PROGRAMS: [&str; 2] = ["redis-server", "valkey-server"];
const READY_LIMIT: Duration = Duration::from_secs(10);
const READY_POLL: Duration = Duration::from_millis(10);
/// Long, because a way's slowness is to be measured, not cut short.
const RESPONSE_LIMIT: Duration = Duration::from_mins(1);

/// The server; dropping it ends it and removes its data.
#[derive(Debug)]
pub struct RedisServer {
    child: Child,
    client: Client,
    admin: MultiplexedConnection,
    data: TempDir,
    url: String,
}

/// One player's connection and pool.
#[derive(Debug)]
pub struct Player {
    pub connection: MultiplexedConnection,
    pub key: String,
    /// Minor units.
    pub min_payout: i64,
    /// Different for every player.
    pub number: u64,
    /// Shared by the players of a round: whether one of them has stalled.
    pub stalled: Arc<AtomicBool>,
    pub rng: StdRng,
    /// Whether a `DECRBY` ever left less than nothing.
    pub saw_negative: bool,
}

impl RedisServer {
    /// Starts the first server program on PATH, on a unix socket.
    pub async fn start() -> Result<Self, SimulateError> {
        let data = tempfile::Builder::new()
            .prefix("jackpot-compare-")
            .tempdir()
            .map_err(|source| SimulateError::File {
                doing: "making a directory in",
                path: std::env::temp_dir(),
                source,
            })?;
        let socket = data.path().join("redis.sock");
        let mut child = Command::new(program()?)
            .args([
                "--port",
                "0",
                "--save",
                "",
                "--appendonly",
                "yes",
                "--appendfsync",
                "always",
                "--daemonize",
                "no",
            ])
            .args(["--maxmemory-policy", "noeviction", "--unixsocket"])
            .arg(&socket)
            .arg("--dir")
            .arg(data.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| SimulateError::Process("starting the comparison's Redis", error))?;
        let url = format!("redis+unix://{}", socket.display());
        let client = Client::open(url.as_str())?;
        let started = Instant::now();
        let admin = loop {
            match connect(&client).await {
                Ok(connection) => break connection,
                Err(error) if started.elapsed() > READY_LIMIT => {
                    end(&mut child);
                    return Err(error.into());
                }
                Err(_not_yet) => tokio::time::sleep(READY_POLL).await,
            }
        };
        Ok(Self {
            child,
            client,
            admin,
            data,
            url,
        })
    }

    /// Where it answers.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Its directory; what is put there goes with it.
    pub fn data(&self) -> &Path {
        self.data.path()
    }

    /// A new connection to the pool at `key`.
    pub async fn player(
        &self,
        key: &str,
        min_payout: i64,
        number: u64,
        stalled: &Arc<AtomicBool>,
    ) -> Result<Player, SimulateError> {
        let connection = connect(&self.client).await?;
        let rng = StdRng::seed_from_u64(number);
        Ok(Player {
            connection,
            key: key.to_owned(),
            min_payout,
            number,
            stalled: Arc::clone(stalled),
            rng,
            saw_negative: false,
        })
    }

    /// Sets a pool.
    pub async fn set(&self, key: &str, value: i64) -> Result<(), SimulateError> {
        Ok(redis::cmd("SET")
            .arg(key)
            .arg(value)
            .query_async(&mut self.admin.clone())
            .await?)
    }

    /// Reads a pool.
    pub async fn get(&self, key: &str) -> Result<i64, SimulateError> {
        Ok(redis::cmd("GET").arg(key).query_async(&mut self.admin.clone()).await?)
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        end(&mut self.child);
    }
}

impl Player {
    /// `GET` of the pool.
    pub async fn pool(&mut self) -> Result<i64, SimulateError> {
        Ok(redis::cmd("GET")
            .arg(&self.key)
            .query_async(&mut self.connection)
            .await?)
    }

    /// `INCRBY` of the pool.
    pub async fn add(&mut self, amount: i64) -> Result<i64, SimulateError> {
        Ok(redis::cmd("INCRBY")
            .arg(&self.key)
            .arg(amount)
            .query_async(&mut self.connection)
            .await?)
    }

    /// `DECRBY` of the pool; what is left.
    pub async fn take(&mut self, amount: i64) -> Result<i64, SimulateError> {
        let left = redis::cmd("DECRBY")
            .arg(&self.key)
            .arg(amount)
            .query_async(&mut self.connection)
            .await?;
        self.note(left);
        Ok(left)
    }

    /// Remembers a pool below zero.
    pub fn note(&mut self, left: i64) {
        self.saw_negative |= left < 0;
    }
}

async fn connect(client: &Client) -> redis::RedisResult<MultiplexedConnection> {
    let config = AsyncConnectionConfig::new()
        .set_connection_timeout(Some(READY_LIMIT))
        .set_response_timeout(Some(RESPONSE_LIMIT));
    client.get_multiplexed_async_connection_with_config(&config).await
}

fn program() -> Result<PathBuf, SimulateError> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    PROGRAMS
        .iter()
        .flat_map(|name| std::env::split_paths(&path).map(move |directory| directory.join(name)))
        .find(|file| file.is_file())
        .ok_or(SimulateError::NoRedisServer)
}
