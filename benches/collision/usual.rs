//! The usual ways of sharing a pool, on a bare Redis.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use redis::aio::MultiplexedConnection;

use super::score::{Approach, Round, Score, Spec};
use super::{Player, Seen, Take, play};
use crate::Outcome;
use crate::bare_redis::BareRedis;
use crate::lock::Lock;

/// Longer than the lock lives.
const STALL: Duration = Duration::from_millis(1_500);
const PATIENCE: Duration = Duration::from_mins(1);

/// One usual way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// Two calls. All players between the two read the same pool.
    Naive,
    /// A winner that finds the pool below zero takes what was left, and adds the difference back. With two winners this is
    /// exact. With three, the second correction starts from a pool that the first has not repaired yet, and adds too much.
    Corrected,
    /// A transaction, but its decision uses a value from before the transaction.
    MultiExec,
    /// Exact while every holder is faster than the lock's lifetime.
    Lock,
    /// A holder that stalls (garbage collection, a paused machine, a slow network) continues without the lock.
    StalledLock,
}

impl Way {
    pub(super) const ALL: [Self; 5] = [
        Self::Naive,
        Self::Corrected,
        Self::MultiExec,
        Self::Lock,
        Self::StalledLock,
    ];

    pub(super) fn approach(self) -> Approach {
        let (name, how, includes) = match self {
            Self::Naive => (
                "GET, DECRBY",
                "reads the pool, and subtracts what it read if that is enough",
                "bare calls: 1 call for each contribution, 3 for each winner; nothing is idempotent, drawn or recorded",
            ),
            Self::Corrected => (
                "corrected afterwards",
                "GET, DECRBY; below zero it pays what was left and adds the difference back",
                "bare calls: 1 call for each contribution, 3 or 4 for each winner; nothing is idempotent, drawn or recorded",
            ),
            Self::MultiExec => (
                "MULTI/EXEC",
                "reads the pool, then subtracts it in a transaction, without WATCH as commonly written",
                "bare calls: 1 call for each contribution, 3 for each winner; nothing is idempotent, drawn or recorded",
            ),
            Self::Lock => (
                "lock (SET NX PX)",
                "SET NX PX around every contribution and every GET, DECRBY",
                "bare calls: 3 calls or more for each contribution, 5 or more for each winner; nothing is idempotent, drawn or recorded",
            ),
            Self::StalledLock => (
                "the same, a holder stalls",
                "the lock; in each round the first winner pauses between GET and DECRBY for 1.5 s, and the lock lives for 1 s",
                "the same, and the pause in each round",
            ),
        };
        Approach {
            name,
            how,
            includes,
            ours: false,
        }
    }
}

/// Plays all rounds, each with a new pool.
pub(super) async fn score(server: &BareRedis, spec: &Spec, way: Way) -> Outcome<Score> {
    let mut admin = server.connect().await?;
    let mut rounds = Vec::new();
    for number in 0..spec.rounds {
        let key = format!("{way:?}:{number}");
        let _ok: String = redis::cmd("SET")
            .arg(&key)
            .arg(spec.start)
            .query_async(&mut admin)
            .await?;
        let stalled = Arc::new(AtomicBool::new(way != Way::StalledLock));
        let mut players = Vec::new();
        for index in 0..spec.connections() {
            players.push(Client {
                way,
                lock: Lock::new(&format!("{key}:lock"), (number * spec.connections() + index) as usize),
                connection: server.connect().await?,
                key: key.clone(),
                min_payout: spec.min_payout,
                stalled: Arc::clone(&stalled),
                seen: Seen::default(),
            });
        }
        let round = play(spec, players).await?;
        let left = redis::cmd("GET").arg(&key).query_async(&mut admin).await?;
        rounds.push(Round { left, ..round });
    }
    Ok(Score::of(way.approach(), spec, &rounds))
}

struct Client {
    way: Way,
    lock: Lock,
    connection: MultiplexedConnection,
    key: String,
    min_payout: i64,
    /// Shared by the players of a round: one of them has stalled already, or none is to stall.
    stalled: Arc<AtomicBool>,
    seen: Seen,
}

impl Client {
    fn locks(&self) -> bool {
        matches!(self.way, Way::Lock | Way::StalledLock)
    }

    /// True when it holds the lock, or needs none.
    async fn acquire(&mut self) -> Outcome<bool> {
        Ok(!self.locks()
            || self
                .lock
                .acquire(&mut self.connection, Instant::now() + PATIENCE)
                .await?)
    }

    async fn release(&mut self) -> Outcome {
        if self.locks() && !self.lock.release(&mut self.connection).await? {
            self.seen.lost_locks += 1;
        }
        Ok(())
    }

    async fn change(&mut self, command: &str, amount: i64) -> Outcome<i64> {
        let mut command = redis::cmd(command);
        command.arg(&self.key).arg(amount);
        let left: i64 = command.query_async(&mut self.connection).await?;
        self.seen.negative |= left < 0;
        Ok(left)
    }

    /// Subtracts what it read from the pool.
    async fn claim(&mut self) -> Outcome<Take> {
        self.change("INCRBY", 1).await?;
        let pool: i64 = redis::cmd("GET")
            .arg(&self.key)
            .query_async(&mut self.connection)
            .await?;
        if pool < self.min_payout {
            return Ok(Take::Retry);
        }
        match self.way {
            Way::MultiExec => {
                let mut transaction = redis::pipe();
                transaction.atomic().cmd("DECRBY").arg(&self.key).arg(pool);
                let (left,): (i64,) = transaction.query_async(&mut self.connection).await?;
                self.seen.negative |= left < 0;
                return Ok(Take::Paid(pool));
            }
            Way::StalledLock if !self.stalled.swap(true, Ordering::Relaxed) => tokio::time::sleep(STALL).await,
            _ => {}
        }
        let left = self.change("DECRBY", pool).await?;
        if left >= 0 || self.way != Way::Corrected {
            return Ok(Take::Paid(pool));
        }
        self.change("INCRBY", -left).await?;
        let rest = pool + left;
        Ok(if rest > 0 { Take::Paid(rest) } else { Take::Retry })
    }
}

impl Player for Client {
    async fn contribute(&mut self) -> Outcome<bool> {
        if !self.acquire().await? {
            return Ok(false);
        }
        self.change("INCRBY", 1).await?;
        self.release().await?;
        Ok(true)
    }

    async fn win(&mut self) -> Outcome<Take> {
        if !self.acquire().await? {
            return Ok(Take::GaveUp);
        }
        let take = self.claim().await?;
        self.release().await?;
        Ok(take)
    }

    fn seen(&self) -> Seen {
        self.seen
    }
}
