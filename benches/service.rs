//! A process under load: the product, or a peer that is built from the same library. Settings are the defaults, but for
//! the directory and the port: embedded Redis with AOF `always`, SQLite ledger.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use redis::aio::MultiplexedConnection;
use serde_json::{Value, json};
use sqlx::{AnyConnection, Connection as _};
use tempfile::TempDir;

use crate::http::Target;
use crate::peer::Kind;
use crate::process::{Process, product, status_kib};
use crate::sample::{Load, Sample};
use crate::{Outcome, json};

/// Time for the ledger to have everything that was played.
const CATCH_UP_LIMIT: Duration = Duration::from_mins(10);
const POLL: Duration = Duration::from_millis(10);
/// Pause between two looks at meters that nobody should change.
const PAUSE: Duration = Duration::from_millis(100);

/// The service's database in its directory.
const LEDGER: &str = "ledger.sqlite";
/// Files that the instances of one ledger share.
const KEYS: [&str; 2] = ["operator.key", "signing.keys"];

/// The running process. Dropping it stops it in order, with its Redis, and removes its directory.
pub(crate) struct Service {
    process: Process,
    directory: TempDir,
    /// URL of its ledger.
    ledger: String,
    pub(crate) target: Target,
}

/// The counts before a load, to check afterwards that nothing was lost.
pub(crate) struct Before {
    jackpots: usize,
    pub(crate) taken: u64,
}

impl Service {
    /// Starts the product; `settings` are laid over the defaults.
    pub(crate) async fn product(place: &Path, settings: Value) -> Outcome<Self> {
        Self::start(place, product(), settings, None).await
    }

    /// Starts another instance on the Redis and the ledger of this one, which is on PostgreSQL.
    pub(crate) async fn another(&self, place: &Path) -> Outcome<Self> {
        let settings = json!({
            "redis": {"mode": "standalone", "urls": [self.redis_url()]},
            "ledger": {"url": self.ledger},
            "fairness": {"master_secret_file": self.path("master.secret")},
        });
        Self::start(place, product(), settings, Some(self)).await
    }

    pub(crate) async fn peer(place: &Path, kind: Kind) -> Outcome<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["peer", kind.name()]);
        Self::start(place, command, json!({}), None).await
    }

    async fn start(place: &Path, command: Command, mut settings: Value, keys_of: Option<&Self>) -> Outcome<Self> {
        // All clients of a measurement are one address, so its limit would refuse the 1,001st connection.
        settings["http"]["max_connections_per_address"] = json!(0);
        Self::with(place, command, settings, keys_of).await
    }

    /// Starts it with these settings alone, beside its directory and a port.
    pub(crate) async fn with(
        place: &Path,
        command: Command,
        mut settings: Value,
        keys_of: Option<&Self>,
    ) -> Outcome<Self> {
        // Earlier points left data to be written, and blocks that their removal freed. Without this, they would stall
        // this point.
        rustix::fs::sync();
        std::fs::create_dir_all(place)?;
        let directory = tempfile::Builder::new().prefix("jb-").tempdir_in(place)?;
        let at = std::path::absolute(directory.path())?;
        let address = SocketAddr::from(([127, 0, 0, 1], jackpot_simulate::free_port()?));
        settings["data_dir"] = json!(at);
        settings["http"]["listen"] = json!(address);
        if let Some(other) = keys_of {
            for key in KEYS {
                std::fs::copy(other.path(key), at.join(key))?;
            }
        }
        let ledger = settings.pointer("/ledger/url").and_then(Value::as_str);
        let private = || format!("sqlite://{}?mode=ro", at.join(LEDGER).display());
        let ledger = ledger.map_or_else(private, str::to_owned);
        std::fs::write(at.join("settings.toml"), toml::to_string(&settings)?)?;
        let mut service = Self {
            process: Process::start(command, &at)?,
            directory,
            ledger,
            target: Target {
                address,
                key: String::new(),
            },
        };
        service.answers("/readyz").await?;
        service.target.key = service.process.operator_key()?;
        Ok(service)
    }

    /// Waits until a path answers 200. Returns how long it took.
    async fn answers(&mut self, path: &str) -> Outcome<Duration> {
        let target = &self.target;
        let is_there = async || target.call("GET", path, &Value::Null).await.is_ok();
        self.process.until(is_there).await
    }

    /// Stops it in order, and starts it again. Returns the times to the first answer, and until it was ready.
    pub(crate) async fn restart(&mut self) -> Outcome<(Duration, Duration)> {
        self.process.restart()?;
        let first = self.answers("/healthz").await?;
        let ready = self.answers("/readyz").await?;
        Ok((first, first + ready))
    }

    /// CPU time of the service and of its Redis so far.
    pub(crate) fn cpu_times(&self) -> Outcome<(Duration, Duration)> {
        let redis = std::fs::read_to_string(self.path("redis/redis.pid"))?;
        Ok((cpu_time(self.process.id())?, cpu_time(redis.trim().parse()?)?))
    }

    /// Makes the jackpots from number `from` up to `to`.
    pub(crate) async fn define(&self, from: usize, to: usize) -> Outcome {
        for number in from..to {
            let id = json::jackpot(number);
            let path = format!("/v1/jackpots/{id}");
            self.target.call("PUT", &path, &json::definition(&id)).await?;
        }
        Ok(())
    }

    /// Entries in the meters of the first jackpots: each entry adds one unit.
    pub(crate) async fn taken(&self, jackpots: usize) -> Outcome<u64> {
        let mut taken = 0;
        for number in 0..jackpots {
            let path = format!("/v1/jackpots/{}", json::jackpot(number));
            let jackpot = self.target.call("GET", &path, &Value::Null).await?;
            taken += jackpot["meters"][0]["contributed"].as_u64().ok_or("no meter")?;
        }
        Ok(taken)
    }

    /// Entries in the ledger, read from its database.
    pub(crate) async fn recorded(&self) -> Outcome<u64> {
        let mut connection = self.sql().await?;
        let all: Vec<String> = sqlx::query_scalar("SELECT books FROM streams WHERE kind = 'jackpot'")
            .fetch_all(&mut connection)
            .await?;
        connection.close().await?;
        let mut recorded = 0;
        for books in all {
            let books: Value = serde_json::from_str(&books)?;
            recorded += books["sequence"].as_u64().ok_or("books without a sequence")?;
        }
        Ok(recorded)
    }

    /// Issues of coupons in the ledger.
    pub(crate) async fn recorded_issues(&self) -> Outcome<u64> {
        let mut connection = self.sql().await?;
        let rows: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM coupon_issues")
            .fetch_one(&mut connection)
            .await?;
        connection.close().await?;
        Ok(rows.unsigned_abs())
    }

    /// Counts for [`Service::settle`]. Waits until nothing is left of the loads before this one.
    pub(crate) async fn before(&self, jackpots: usize) -> Outcome<Before> {
        // The index of entries is written after the events.
        let begun = Instant::now();
        while self.is_indexing().await? {
            if begun.elapsed() > CATCH_UP_LIMIT {
                return Err("the index of entries does not catch up".into());
            }
            tokio::time::sleep(POLL).await;
        }
        // Requests that were still under way end within the pause.
        let mut taken = self.taken(jackpots).await?;
        loop {
            tokio::time::sleep(PAUSE).await;
            let now = self.taken(jackpots).await?;
            if now == taken {
                return Ok(Before { jackpots, taken });
            }
            taken = now;
        }
    }

    /// Waits until the ledger has everything, and checks that meters and ledger have what was answered. They must agree
    /// exactly, or up to `unheard` requests whose answers nobody waited for. Keeps the time and the counts with the
    /// sample.
    pub(crate) async fn settle(&self, before: &Before, answered: u64, unheard: usize, sample: &mut Sample) -> Outcome {
        let begun = Instant::now();
        while self.lag().await? > 0 {
            tokio::time::sleep(POLL).await;
            if begun.elapsed() > CATCH_UP_LIMIT {
                return Err("the ledger does not catch up".into());
            }
        }
        // `/readyz` may be from before the last event.
        let (mut taken, mut recorded) = (self.taken(before.jackpots).await?, self.recorded().await?);
        while taken != recorded && begun.elapsed() < CATCH_UP_LIMIT {
            tokio::time::sleep(POLL).await;
            (taken, recorded) = (self.taken(before.jackpots).await?, self.recorded().await?);
        }
        let caught_up_s = begun.elapsed().as_secs_f64();
        // Data that the system still has to write would stall the next point.
        rustix::fs::sync();
        let grown = taken - before.taken;
        if recorded != taken || grown < answered || grown > answered + unheard as u64 {
            let counts = format!("{answered} entries answered, {grown} in the meters");
            return Err(format!("{counts}; {taken} in all, {recorded} in the ledger").into());
        }
        let counts = json!({
            "answered": answered, "in_meters": grown, "catch_up_s": caught_up_s,
        });
        keep(sample, counts);
        Ok(())
    }

    /// Sends a load to the first jackpots, and settles it.
    pub(crate) async fn measure(
        &self,
        point: &str,
        round: usize,
        jackpots: usize,
        unheard: usize,
        load: impl Future<Output = Outcome<Load>>,
    ) -> Outcome<Sample> {
        let before = self.before(jackpots).await?;
        let load = load.await?;
        let mut sample = load.sample(point, round);
        self.settle(&before, load.entries, unheard, &mut sample).await?;
        Ok(sample)
    }

    /// Whether the index of entries by player is behind the events.
    async fn is_indexing(&self) -> Outcome<bool> {
        let mut connection = self.sql().await?;
        let behind: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM streams WHERE kind = 'jackpot' AND indexed_n < n")
            .fetch_one(&mut connection)
            .await?;
        connection.close().await?;
        Ok(behind > 0)
    }

    /// A connection to its ledger, to read.
    async fn sql(&self) -> Outcome<AnyConnection> {
        sqlx::any::install_default_drivers();
        Ok(AnyConnection::connect(&self.ledger).await?)
    }

    /// Events that the ledger does not have, as of the projector's last look.
    pub(crate) async fn lag(&self) -> Outcome<u64> {
        let ready = self.target.call("GET", "/readyz", &Value::Null).await?;
        Ok(ready["ledger"]["lag_events"].as_u64().ok_or("no lag")?)
    }

    /// A connection to its Redis.
    pub(crate) async fn redis(&self) -> Outcome<MultiplexedConnection> {
        let client = redis::Client::open(self.redis_url())?;
        Ok(client.get_multiplexed_async_connection().await?)
    }

    fn redis_url(&self) -> String {
        format!("redis+unix://{}", self.path("redis/redis.sock").display())
    }

    /// Resident KiB of the service and of its Redis.
    pub(crate) fn resident_kib(&self) -> Outcome<(u64, u64)> {
        let redis = std::fs::read_to_string(self.path("redis/redis.pid"))?;
        let of = |pid| status_kib(pid, "VmRSS");
        Ok((of(self.process.id())?, of(redis.trim().parse()?)?))
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.directory.path().join(name)
    }
}

/// A number in the answer of Redis' INFO.
pub(crate) async fn info(redis: &mut MultiplexedConnection, section: &str, name: &str) -> Outcome<u64> {
    let text: String = redis::cmd("INFO").arg(section).query_async(redis).await?;
    let value = text
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
        .ok_or_else(|| format!("INFO has no {name}"))?;
    Ok(value.trim().parse()?)
}

/// CPU time of the threads of a process: the first number of `schedstat`, in ns.
fn cpu_time(pid: u32) -> Outcome<Duration> {
    let mut time = Duration::ZERO;
    for task in std::fs::read_dir(format!("/proc/{pid}/task"))? {
        // A thread may end meanwhile.
        let text = std::fs::read_to_string(task?.path().join("schedstat")).unwrap_or_default();
        let number = text.split_whitespace().next().unwrap_or("0");
        time += Duration::from_nanos(number.parse()?);
    }
    Ok(time)
}

/// Adds these values to a sample.
pub(crate) fn keep(sample: &mut Sample, more: Value) {
    if let Value::Object(more) = more {
        sample.more.extend(more);
    }
}
