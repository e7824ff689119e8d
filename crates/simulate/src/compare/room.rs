//! The ways of letting users into a room.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use bytes::Bytes;
use redis::Script;
use redis::aio::MultiplexedConnection;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::sync::Barrier;

use super::super::Args;
use super::super::SimulateError;
use super::super::client::{Api, Target};
use super::race::{Answer, Asker, Hold, Size, Way};
use super::redis::{Redis, key};
use super::{Approach, Comparison, Place};

/// Of a session that ends by itself. Users who ask at one instant have all asked before it ends.
const SESSION: Duration = Duration::from_secs(5);
/// Of a crowd's session, which users end.
const LONG_SESSION_S: u64 = 600;
/// The sessions of a room are over within this time after their end.
const OVER_WITHIN: Duration = Duration::from_mins(1);
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Raises the counter of those inside unless the room is full, and opens a session that expires.
const ENTER: &str = "if tonumber(redis.call('GET', KEYS[1]) or 0) >= tonumber(ARGV[1]) then return 0 end
redis.call('INCR', KEYS[1]) redis.call('SET', KEYS[2], 1, 'PX', ARGV[2]) return 1";

/// Plays all ways.
pub async fn rooms(args: &Args, place: Place<'_>) -> Result<Comparison, SimulateError> {
    let mut all = Comparison::new(args, args.room.capacity);
    let redis = Redis::of(place.service);
    for way in [Usual::ReadThenRaised, Usual::NeverLowered] {
        let way = Bare {
            way,
            redis: redis.clone(),
        };
        all.add(place.bar, &way).await?;
    }
    all.add(place.bar, &Ours { target: place.target }).await?;
    Ok(all)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Usual {
    ReadThenRaised,
    NeverLowered,
}

struct Bare {
    way: Usual,
    redis: Redis,
}

struct BareAsker {
    way: Usual,
    connection: MultiplexedConnection,
    key: String,
    capacity: u64,
    hold: Hold,
}

impl Way for Bare {
    type Asker = BareAsker;

    fn approach(&self) -> Approach {
        let (name, how, held) = match self.way {
            Usual::ReadThenRaised => (
                "counter that is read, then raised",
                "GET of how many are inside, then INCR in a second call; the end of a session lowers it",
                "all have read before anyone raises it",
            ),
            Usual::NeverLowered => (
                "counter that expiry never lowers",
                "a script raises the counter and sets a key for the session, which expires; only a user who leaves lowers it",
                "nobody leaves: all sessions expire",
            ),
        };
        Approach {
            name,
            how,
            held,
            ours: false,
        }
    }

    async fn open(&self, name: &str, size: Size, staged: bool) -> Result<Vec<BareAsker>, SimulateError> {
        let hold = if staged && self.way == Usual::ReadThenRaised {
            Hold::Together(Arc::new(Barrier::new(size.askers as usize)))
        } else {
            Hold::Nowhere
        };
        let mut askers = Vec::new();
        for _ in 0..size.askers {
            askers.push(BareAsker {
                way: self.way,
                connection: self.redis.connect().await?,
                key: key(self.way, name),
                capacity: size.limit,
                hold: hold.clone(),
            });
        }
        Ok(askers)
    }

    /// All sessions end.
    async fn bring_back(&self, name: &str, has: &[String], _: &mut [BareAsker]) -> Result<u64, SimulateError> {
        let mut connection = self.redis.connect().await?;
        let key = key(self.way, name);
        let inside = has.len() as u64;
        if self.way == Usual::ReadThenRaised {
            let mut lower = redis::cmd("DECRBY");
            lower.arg(&key).arg(inside);
            lower.exec_async(&mut connection).await?;
            return Ok(inside);
        }
        let sessions = has.iter().map(|user| session(&key, user)).collect::<Vec<_>>();
        let begun = Instant::now();
        loop {
            let open: u64 = redis::cmd("EXISTS").arg(&sessions).query_async(&mut connection).await?;
            if open == 0 {
                return Ok(inside);
            }
            if begun.elapsed() > OVER_WITHIN {
                return Err(late("EXISTS of the sessions", open));
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }
}

fn session(key: &str, user: &str) -> String {
    format!("{key}:{user}")
}

fn late(call: &str, open: u64) -> SimulateError {
    SimulateError::NoAnswer {
        call: call.to_owned(),
        seconds: OVER_WITHIN.as_secs(),
        last: format!("{open} sessions are open"),
    }
}

impl Asker for BareAsker {
    async fn ask(&mut self, user: &str) -> Result<Answer, SimulateError> {
        let connection = &mut self.connection;
        let is_in = if self.way == Usual::NeverLowered {
            let enter = Script::new(ENTER);
            let mut enter = enter.key(&self.key);
            let milliseconds = u64::try_from(SESSION.as_millis()).unwrap_or(u64::MAX);
            let enter = enter.key(session(&self.key, user)).arg(self.capacity).arg(milliseconds);
            let entered: u64 = enter.invoke_async(connection).await?;
            entered == 1
        } else {
            let inside: Option<u64> = redis::cmd("GET").arg(&self.key).query_async(connection).await?;
            std::mem::take(&mut self.hold).between().await;
            let is_free = inside.unwrap_or(0) < self.capacity;
            if is_free {
                redis::cmd("INCR").arg(&self.key).exec_async(connection).await?;
            }
            is_free
        };
        Ok(if is_in { Answer::Given(1) } else { Answer::Refused })
    }
}

/// The service, asked over HTTP.
struct Ours<'s> {
    target: &'s Target,
}

struct OursAsker {
    api: Api,
    path: String,
    /// Sessions end by themselves, and are not ended.
    expires: bool,
    /// Of those inside, and of those who wait.
    inside: Vec<String>,
    waiting: Vec<String>,
}

impl OursAsker {
    async fn leave(&self, ticket: &str) -> Result<(), SimulateError> {
        let url = self.api.url(&format!("{}/tickets/{ticket}", self.path));
        self.api.call(Method::DELETE, &url, None).await?;
        Ok(())
    }
}

impl Way for Ours<'_> {
    type Asker = OursAsker;

    fn approach(&self) -> Approach {
        Approach {
            name: "this service",
            how: "one script for each visit, over HTTP: it drops what has expired, admits who is first, and signs a pass",
            held: "all join at one instant, and nobody leaves: all sessions expire",
            ours: true,
        }
    }

    async fn open(&self, name: &str, size: Size, staged: bool) -> Result<Vec<OursAsker>, SimulateError> {
        let repeats = Arc::new(AtomicU64::new(0));
        let path = format!("/v1/rooms/compare-{name}");
        let session_s = if staged { SESSION.as_secs() } else { LONG_SESSION_S };
        let definition = json!({ "capacity": size.limit, "session_s": session_s, "waiting_timeout_s": LONG_SESSION_S,
            "admissions_per_minute": null, "opens_at": null });
        let api = Api::new(self.target, Arc::clone(&repeats))?;
        api.send(Method::PUT, &path, &definition).await?;
        let asker = |_| {
            Ok(OursAsker {
                api: Api::new(self.target, Arc::clone(&repeats))?,
                path: path.clone(),
                expires: staged,
                inside: Vec::new(),
                waiting: Vec::new(),
            })
        };
        (0..size.askers).map(asker).collect()
    }

    /// Who waits goes away, then all sessions end.
    async fn bring_back(&self, _: &str, has: &[String], askers: &mut [OursAsker]) -> Result<u64, SimulateError> {
        for asker in &mut *askers {
            for ticket in std::mem::take(&mut asker.waiting) {
                asker.leave(&ticket).await?;
            }
        }
        for asker in &mut *askers {
            let inside = std::mem::take(&mut asker.inside);
            for ticket in inside.iter().filter(|_| !asker.expires) {
                asker.leave(ticket).await?;
            }
        }
        let Some(asker) = askers.first() else {
            return Ok(0);
        };
        let begun = Instant::now();
        loop {
            let room: Value = asker.api.get(&asker.path).await?;
            let open = room["active"].as_u64().unwrap_or(u64::MAX);
            if open == 0 {
                return Ok(has.len() as u64);
            }
            if begun.elapsed() > OVER_WITHIN {
                return Err(late(&asker.path, open));
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }
}

impl Asker for OursAsker {
    async fn ask(&mut self, user: &str) -> Result<Answer, SimulateError> {
        let url = self.api.url(&format!("{}/tickets", self.path));
        let body = json!({ "user_id": user }).to_string();
        let joined = self.api.call(Method::POST, &url, Some(Bytes::from(body))).await?;
        let joined: Value = joined.json("POST …/tickets")?;
        let ticket = joined["ticket"].as_str().unwrap_or_default().to_owned();
        Ok(if joined["status"] == "admitted" {
            self.inside.push(ticket);
            Answer::Given(1)
        } else {
            self.waiting.push(ticket);
            Answer::Refused
        })
    }
}
