//! A distributed lock around every contribution: SET NX PX, GET, INCR, and the release by script. Each client has a
//! connection of its own.

use std::time::{Duration, Instant};

use rand::{RngExt, SeedableRng, rngs::StdRng};
use redis::aio::MultiplexedConnection;
use tokio::task::JoinSet;

use crate::Outcome;
use crate::bare_redis::BareRedis;
use crate::batch::micros;
use crate::sample::{Load, latencies};

const LIFETIME_MS: u64 = 1_000;
/// Pause between two tries, in microseconds: short, as one would choose it for a hot pool.
const PAUSE_US: std::ops::Range<u64> = 1_000..5_000;
/// Deletes the lock only if it is still the holder's own.
const RELEASE: &str = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";

pub(crate) async fn contributions(redis: &BareRedis, clients: usize, time: Duration) -> Outcome<Load> {
    let release = redis::Script::new(RELEASE);
    let begun = Instant::now();
    let mut all = JoinSet::new();
    for number in 0..clients {
        let mut client = Client {
            connection: redis.connect().await?,
            number,
            rng: StdRng::seed_from_u64(number as u64),
            release: release.clone(),
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
    number: usize,
    rng: StdRng,
    release: redis::Script,
}

impl Client {
    /// Whether it had the lock before `until`.
    async fn contribute(&mut self, until: Instant) -> Outcome<bool> {
        loop {
            let mut set = redis::cmd("SET");
            set.arg("lock").arg(self.number).arg("NX").arg("PX").arg(LIFETIME_MS);
            let held: Option<String> = set.query_async(&mut self.connection).await?;
            if held.is_some() {
                break;
            }
            if Instant::now() > until {
                return Ok(false);
            }
            let pause = self.rng.random_range(PAUSE_US);
            tokio::time::sleep(Duration::from_micros(pause)).await;
        }
        let _pool: Option<u64> = redis::cmd("GET")
            .arg("locked")
            .query_async(&mut self.connection)
            .await?;
        let _now: u64 = redis::cmd("INCR")
            .arg("locked")
            .query_async(&mut self.connection)
            .await?;
        let mut release = self.release.key("lock");
        let _deleted: u64 = release.arg(self.number).invoke_async(&mut self.connection).await?;
        Ok(true)
    }
}
