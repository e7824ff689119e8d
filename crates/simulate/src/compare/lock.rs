//! A lock in Redis around reading and writing the stock: SET NX PX, and a release that only its holder can make.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use redis::Script;
use redis::aio::MultiplexedConnection;
use tokio::task::JoinHandle;

use super::super::SimulateError;
use super::race::{Answer, Hold};

const LIFETIME_MS: u64 = 1_000;
const RENEW_EVERY: Duration = Duration::from_millis(300);
/// Pause between two tries, in microseconds: short, as is usual for what many want.
const PAUSE_US: std::ops::Range<u64> = 1_000..5_000;
const RELEASE: &str = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";
const RENEW: &str =
    "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0";

/// One client of the lock, with the stock that the lock protects.
pub struct Client {
    pub connection: MultiplexedConnection,
    /// The number of units left.
    pub key: String,
    /// Different for each client.
    pub holder: usize,
    /// A task extends the lock while its holder works.
    pub renews: bool,
    pub hold: Hold,
    rng: StdRng,
}

/// The task that extends a lock. It stands still with its process.
struct Watchdog {
    process_stalls: Arc<AtomicBool>,
    task: JoinHandle<()>,
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Client {
    pub fn new(connection: MultiplexedConnection, key: String, holder: usize, renews: bool, hold: Hold) -> Self {
        Self {
            connection,
            key,
            holder,
            renews,
            hold,
            rng: StdRng::seed_from_u64(holder as u64),
        }
    }

    fn lock(&self) -> String {
        format!("{}:lock", self.key)
    }

    async fn acquire(&mut self) -> Result<Option<Watchdog>, SimulateError> {
        loop {
            let mut set = redis::cmd("SET");
            set.arg(self.lock())
                .arg(self.holder)
                .arg("NX")
                .arg("PX")
                .arg(LIFETIME_MS);
            let held: Option<String> = set.query_async(&mut self.connection).await?;
            if held.is_some() {
                return Ok(self.renews.then(|| self.watch()));
            }
            tokio::time::sleep(Duration::from_micros(self.rng.random_range(PAUSE_US))).await;
        }
    }

    fn watch(&self) -> Watchdog {
        let process_stalls = Arc::new(AtomicBool::new(false));
        let (mut connection, lock, holder) = (self.connection.clone(), self.lock(), self.holder);
        let stalls = Arc::clone(&process_stalls);
        let task = tokio::spawn(async move {
            let renew = Script::new(RENEW);
            loop {
                tokio::time::sleep(RENEW_EVERY).await;
                if stalls.load(Ordering::Relaxed) {
                    continue;
                }
                let mut renew = renew.key(&lock);
                // A holder that lost its lock learns of it when it releases, as here: too late.
                let _renewed: Result<u64, _> = renew.arg(holder).arg(LIFETIME_MS).invoke_async(&mut connection).await;
            }
        });
        Watchdog { process_stalls, task }
    }

    /// Takes a unit under the lock.
    pub async fn ask(&mut self) -> Result<Answer, SimulateError> {
        self.hold.before().await;
        let watchdog = self.acquire().await?;
        let left: i64 = redis::cmd("GET")
            .arg(&self.key)
            .query_async(&mut self.connection)
            .await?;
        if let Some(watchdog) = &watchdog {
            let stalls = matches!(self.hold, Hold::First(_));
            watchdog.process_stalls.store(stalls, Ordering::Relaxed);
        }
        self.hold.between().await;
        let answer = if left > 0 {
            let mut set = redis::cmd("SET");
            set.arg(&self.key).arg(left - 1);
            set.exec_async(&mut self.connection).await?;
            Answer::Given(1)
        } else {
            Answer::Refused
        };
        drop(watchdog);
        let release = Script::new(RELEASE);
        let mut release = release.key(self.lock());
        let _released: u64 = release.arg(self.holder).invoke_async(&mut self.connection).await?;
        self.hold.after();
        self.hold = Hold::Nowhere;
        Ok(answer)
    }
}
