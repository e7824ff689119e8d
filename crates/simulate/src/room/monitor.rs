//! Watches the room for the whole run, and takes no part in it. It reads the Redis of a private service, and asks the service
//! for the counts of the room.

use std::path::PathBuf;
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, Script};
use reqwest::Method;
use tokio::sync::watch;
use tokio::time::sleep;

use super::evidence::{Sample, Shown};
use super::plan::Plan;
use crate::SimulateError;
use crate::client::Api;
use crate::product::RoomKeys;
use crate::scenario::{Course, Scenario};
use crate::service::PrivateService;

/// Between two samples of Redis.
const SAMPLE_EVERY: Duration = Duration::from_millis(4);
/// Between two questions to the service; more often where there is no Redis to ask.
const ASK_EVERY: Duration = Duration::from_secs(1);
const ASK_ALONE_EVERY: Duration = Duration::from_millis(20);
/// A Redis that was killed does not answer.
const PATIENCE: Duration = Duration::from_secs(2);

/// Reads only, all at one instant of Redis' clock: sessions whose end has not come, waiting users, all admissions until then.
const SAMPLE: &str = "
local t = redis.call('TIME')
local now = string.format('%d', t[1] * 1000 + math.floor(t[2] / 1000))
return { redis.call('ZCOUNT', KEYS[1], '(' .. now, '+inf'), redis.call('ZCARD', KEYS[2]),
  tonumber(redis.call('HGET', KEYS[3], 'admitted') or 0) }";

/// What it saw.
#[derive(Debug)]
pub struct Monitored {
    pub samples: Vec<Sample>,
    /// Why there is no sample, where Redis was asked.
    pub blind: Option<String>,
    pub shown: Vec<Shown>,
}

/// The private Redis of a service.
#[derive(Debug)]
pub struct Redis {
    socket: PathBuf,
    keys: RoomKeys,
}

impl Redis {
    /// That of this service, with the keys of this room.
    pub fn of(service: &PrivateService, room: &str) -> Self {
        Self {
            socket: service.redis_socket(),
            keys: service.room_keys(room),
        }
    }
}

/// Until the run is over.
pub async fn watch(
    api: &Api,
    plan: &Plan,
    redis: Option<&Redis>,
    course: Course<'_>,
    over: watch::Receiver<bool>,
) -> Result<Monitored, SimulateError> {
    let asking = ask(api, plan, redis.is_some(), course, over.clone());
    let ((samples, blind), shown) = match redis {
        Some(redis) => tokio::try_join!(sample(redis, course, over), asking)?,
        None => ((Vec::new(), None), asking.await?),
    };
    Ok(Monitored { samples, blind, shown })
}

async fn sample(
    redis: &Redis,
    course: Course<'_>,
    mut over: watch::Receiver<bool>,
) -> Result<(Vec<Sample>, Option<String>), SimulateError> {
    let client = Client::open(format!("redis+unix://{}", redis.socket.display()))?;
    let script = Script::new(SAMPLE);
    let (mut samples, mut connection, mut failed) = (Vec::new(), None, None);
    while !*over.borrow() {
        let sent_us = course.micros();
        match take(&client, &mut connection, &script, &redis.keys).await {
            Ok((open, waiting, admitted)) => samples.push(Sample {
                sent_us,
                answered_us: course.micros(),
                open,
                waiting,
                admitted,
            }),
            // It was killed, or is about to be there again; or it can't be asked at all.
            Err(error) => (connection, failed) = (None, Some(error.to_string())),
        }
        pause(&mut over, SAMPLE_EVERY).await;
    }
    let blind = failed.filter(|_| samples.is_empty());
    Ok((samples, blind))
}

async fn take(
    client: &Client,
    connection: &mut Option<MultiplexedConnection>,
    script: &Script,
    keys: &RoomKeys,
) -> Result<(u64, u64, u64), redis::RedisError> {
    let connection = match connection {
        Some(connection) => connection,
        None => connection.insert(connect(client).await?),
    };
    script
        .key(&keys.active)
        .key(&keys.waiting)
        .key(&keys.state)
        .invoke_async(connection)
        .await
}

async fn connect(client: &Client) -> Result<MultiplexedConnection, redis::RedisError> {
    let config = AsyncConnectionConfig::new()
        .set_connection_timeout(Some(PATIENCE))
        .set_response_timeout(Some(PATIENCE));
    client.get_multiplexed_async_connection_with_config(&config).await
}

async fn ask(
    api: &Api,
    plan: &Plan,
    has_redis: bool,
    course: Course<'_>,
    mut over: watch::Receiver<bool>,
) -> Result<Vec<Shown>, SimulateError> {
    let path = plan.path();
    let url = api.url(&path);
    let every = if has_redis { ASK_EVERY } else { ASK_ALONE_EVERY };
    let mut shown = Vec::new();
    while !*over.borrow() {
        let sent_us = course.micros();
        let answered = api.send_once(Method::GET, &url, None).await;
        // A service that was killed does not answer.
        if let Some(answered) = answered.ok().filter(|answered| answered.status.is_success()) {
            shown.push(Shown {
                sent_us,
                answered_us: course.micros(),
                counts: answered.json(&path)?,
            });
        }
        pause(&mut over, every).await;
    }
    Ok(shown)
}

/// Ends early when the run is over.
async fn pause(over: &mut watch::Receiver<bool>, time: Duration) {
    tokio::select! {
        () = sleep(time) => {}
        // Closed or true: it is over either way.
        _ = over.wait_for(|over| *over) => {}
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;
    use std::time::Instant;

    use super::*;

    #[tokio::test]
    async fn a_redis_that_never_answered_is_named() {
        let directory = tempfile::tempdir().expect("a directory");
        let done = AtomicU64::new(0);
        let course = Course {
            done: &done,
            all: 1,
            eventful: 1,
            started: Instant::now(),
        };
        let (say_over, over) = watch::channel(false);
        let redis = Redis {
            socket: directory.path().join("redis.sock"),
            keys: RoomKeys {
                active: "active".to_owned(),
                waiting: "waiting".to_owned(),
                state: "state".to_owned(),
            },
        };
        let (seen, _) = tokio::join!(sample(&redis, course, over), async { say_over.send_replace(true) });
        let (samples, blind) = seen.expect("the run goes on");
        assert!(samples.is_empty() && blind.is_some(), "{samples:?} {blind:?}");
    }
}
