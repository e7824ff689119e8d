//! A distributed lock around every contribution: SET NX PX, GET, INCR, and the release by script. Each client has its
//! own connection.

use std::time::{Duration, Instant};

use rand::{RngExt, SeedableRng, rngs::StdRng};
use redis::aio::MultiplexedConnection;
use tokio::task::JoinSet;

use crate::Outcome;
use crate::bare_redis::BareRedis;
use crate::batch::micros;
use crate::sample::{Load, latencies};

const LIFETIME_MS: u64 = 1_000;
/// Pause between two tries, in microseconds: short, as is usual for a hot pool.
const PAUSE_US: std::ops::Range<u64> = 1_000..5_000;
/// Deletes the lock only if the holder still has it.
const RELEASE: &str = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";

pub(crate) async fn contributions(redis: &BareRedis, clients: usize, time: Duration) -> Outcome<Load> {
    let begun = Instant::now();
    let mut all = JoinSet::new();
    for number in 0..clients {
        let mut client = Client {
            connection: redis.connect().await?,
            lock: Lock::new("lock", number),
        };
        all.spawn(async move {
            let mut took = latencies();
            while begun.elapsed() < time {
                let at = Instant::now();
                if client.contribute(begun + time).await? {
                    took.record(micros(at.elapsed()))?;
                }
            }
            Outcome::Ok(took)
        });
    }
    let mut took = latencies();
    while let Some(ended) = all.join_next().await {
        took.add(ended??)?;
    }
    Ok(Load::of(took.len(), begun.elapsed(), &took))
}

struct Client {
    connection: MultiplexedConnection,
    lock: Lock,
}

impl Client {
    /// Contributes once; false when it did not have the lock before `until`.
    async fn contribute(&mut self, until: Instant) -> Outcome<bool> {
        if !self.lock.acquire(&mut self.connection, until).await? {
            return Ok(false);
        }
        let _pool: Option<u64> = redis::cmd("GET")
            .arg("locked")
            .query_async(&mut self.connection)
            .await?;
        let _now: u64 = redis::cmd("INCR")
            .arg("locked")
            .query_async(&mut self.connection)
            .await?;
        self.lock.release(&mut self.connection).await?;
        Ok(true)
    }
}

/// The lock of one holder.
pub(crate) struct Lock {
    key: String,
    /// Different for every holder.
    holder: usize,
    rng: StdRng,
    release: redis::Script,
}

impl Lock {
    pub(crate) fn new(key: &str, holder: usize) -> Self {
        Self {
            key: key.to_owned(),
            holder,
            rng: StdRng::seed_from_u64(holder as u64),
            release: redis::Script::new(RELEASE),
        }
    }

    /// Tries until it has the lock; false when it does not have it before `until`.
    pub(crate) async fn acquire(&mut self, redis: &mut MultiplexedConnection, until: Instant) -> Outcome<bool> {
        loop {
            let mut set = redis::cmd("SET");
            set.arg(&self.key).arg(self.holder).arg("NX").arg("PX").arg(LIFETIME_MS);
            let held: Option<String> = set.query_async(redis).await?;
            if held.is_some() {
                return Ok(true);
            }
            if Instant::now() > until {
                return Ok(false);
            }
            let pause = self.rng.random_range(PAUSE_US);
            tokio::time::sleep(Duration::from_micros(pause)).await;
        }
    }

    /// Releases the lock; false when the holder had lost it.
    pub(crate) async fn release(&mut self, redis: &mut MultiplexedConnection) -> Outcome<bool> {
        let mut release = self.release.key(&self.key);
        let deleted: u64 = release.arg(self.holder).invoke_async(redis).await?;
        Ok(deleted > 0)
    }
}
