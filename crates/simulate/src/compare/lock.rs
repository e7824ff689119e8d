//! A distributed lock (SET NX PX, released by script) around every change of the pool.
//!
//! Exact while every holder is faster than the lock's lifetime. A holder that stalls (garbage collection, a paused
//! machine, a slow network) works on without the lock it believes to hold; the second line shows one such holder.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use rand::RngExt;

use super::collision::{Plays, Seen, Take};
use super::server::Player;
use crate::SimulateError;

pub const NAMES: (&str, &str, &str) = (
    "lock",
    "SET NX PX around every contribution and every GET, DECRBY",
    "bare calls: 3 calls and more per contribution, 5 and more per winner; nothing is idempotent, drawn or recorded",
);

pub const NAMES_STALLED: (&str, &str, &str) = (
    "lock, a holder stalls",
    "the same; in each round the first winner pauses between GET and DECRBY for longer than the lock lives (1.5 s, lifetime 1 s)",
    "the same, and the pause in each round",
);

const LIFETIME_MS: u64 = 1_000;
const STALL: Duration = Duration::from_millis(1_500);
/// Pause between tries: 1 ms up to this, in microseconds.
const LONGEST_PAUSE_US: u64 = 5_000;
const PATIENCE: Duration = Duration::from_mins(1);
/// Deletes the lock only if it is still the holder's own.
const RELEASE: &str = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";

pub struct Lock {
    player: Player,
    key: String,
    release: redis::Script,
    /// The first winner of a round that finds enough stalls.
    one_stalls: bool,
    lost: u64,
}

impl Lock {
    /// `one_stalls`: the first winner of a round that finds enough in the pool does.
    pub fn new(player: Player, one_stalls: bool) -> Self {
        let key = format!("{}:lock", player.key);
        Self {
            player,
            key,
            release: redis::Script::new(RELEASE),
            one_stalls,
            lost: 0,
        }
    }

    async fn acquire(&mut self) -> Result<bool, SimulateError> {
        let started = Instant::now();
        while started.elapsed() < PATIENCE {
            let mut set = redis::cmd("SET");
            set.arg(&self.key)
                .arg(self.player.number)
                .arg("NX")
                .arg("PX")
                .arg(LIFETIME_MS);
            let answer: Option<String> = set.query_async(&mut self.player.connection).await?;
            if answer.is_some() {
                return Ok(true);
            }
            let pause = self.player.rng.random_range(1_000..LONGEST_PAUSE_US);
            tokio::time::sleep(Duration::from_micros(pause)).await;
        }
        Ok(false)
    }

    async fn release(&mut self) -> Result<(), SimulateError> {
        let mut script = self.release.key(&self.key);
        let deleted: u64 = script
            .arg(self.player.number)
            .invoke_async(&mut self.player.connection)
            .await?;
        self.lost += u64::from(deleted == 0);
        Ok(())
    }

    async fn claim(&mut self) -> Result<Take, SimulateError> {
        self.player.add(1).await?;
        let pool = self.player.pool().await?;
        if pool < self.player.min_payout {
            return Ok(Take::Retry);
        }
        if self.one_stalls && !self.player.stalled.swap(true, Ordering::Relaxed) {
            tokio::time::sleep(STALL).await;
        }
        self.player.take(pool).await?;
        Ok(Take::Paid(pool))
    }
}

impl Plays for Lock {
    async fn contribute(&mut self) -> Result<bool, SimulateError> {
        if !self.acquire().await? {
            return Ok(false);
        }
        self.player.add(1).await?;
        self.release().await?;
        Ok(true)
    }

    async fn win(&mut self) -> Result<Take, SimulateError> {
        if !self.acquire().await? {
            return Ok(Take::GaveUp);
        }
        let take = self.claim().await?;
        self.release().await?;
        Ok(take)
    }

    fn seen(&self) -> Seen {
        Seen {
            negative: self.player.saw_negative,
            lost_locks: self.lost,
        }
    }
}
