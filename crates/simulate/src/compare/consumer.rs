//! A queue in Redis with one consumer, which counts its tries in memory.

use std::collections::HashMap;
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use tokio::sync::watch;

use super::super::SimulateError;
use super::Approach;
use super::race::{Answer, Asker, Size, Way};
use super::redis::{Redis, key};

/// After this many tries a request is a dead letter.
const MOST_TRIES: u32 = 3;
/// How often the process of the staged play is started.
const LIVES: u32 = 5;
/// Tries in a life of the staged play. Then the process ends, as at a deployment.
const TRIES_OF_A_LIFE: u32 = 2;
const POLL: Duration = Duration::from_millis(1);
/// The requests of the staged play, by their place in the queue.
const KILLED_AFTER_ITS_UNIT: usize = 0;
const CANNOT_BE_SERVED: usize = 1;

pub struct Consumed {
    redis: Redis,
    /// The staged consumer is never started again.
    gone: watch::Sender<bool>,
}

/// Asks through the queue.
pub struct Client {
    connection: MultiplexedConnection,
    key: String,
    gone: watch::Receiver<bool>,
}

/// A process: what it remembers ends with it.
struct Process {
    connection: MultiplexedConnection,
    key: String,
    tries: HashMap<String, u32>,
}

impl Consumed {
    pub fn new(redis: Redis) -> Self {
        Self {
            redis,
            gone: watch::Sender::new(false),
        }
    }

    async fn start(&self, name: &str) -> Result<Process, SimulateError> {
        Ok(Process {
            connection: self.redis.connect().await?,
            key: key("Consumer", name),
            tries: HashMap::new(),
        })
    }

    /// Kills the consumer after it took a unit and before it removed the request. Then comes a request that it can't serve,
    /// and it is started anew before it gives that up.
    async fn staged(&self, name: &str, size: Size) -> Result<(), SimulateError> {
        let mut first = self.start(name).await?;
        first.wait_for(size.users).await?;
        let queue = first.queue().await?;
        first.take(&queue[KILLED_AFTER_ITS_UNIT]).await?;
        drop(first);
        for _ in 0..LIVES {
            let mut process = self.start(name).await?;
            let mut left = TRIES_OF_A_LIFE;
            while left > 0 {
                let Some(request) = process.next().await? else {
                    return Ok(());
                };
                if request == queue[CANNOT_BE_SERVED] {
                    left -= 1;
                    process.failed(&request).await?;
                } else {
                    process.serve(&request).await?;
                }
            }
        }
        self.gone.send_replace(true);
        std::future::pending().await
    }
}

impl Process {
    async fn wait_for(&mut self, requests: u64) -> Result<(), SimulateError> {
        while (self.queue().await?.len() as u64) < requests {
            tokio::time::sleep(POLL).await;
        }
        Ok(())
    }

    async fn queue(&mut self) -> Result<Vec<String>, SimulateError> {
        let mut range = redis::cmd("LRANGE");
        range.arg(format!("{}:queue", self.key)).arg(0).arg(-1);
        Ok(range.query_async(&mut self.connection).await?)
    }

    /// The request at the head of the queue, which stays there until it is served.
    async fn next(&mut self) -> Result<Option<String>, SimulateError> {
        let mut first = redis::cmd("LINDEX");
        first.arg(format!("{}:queue", self.key)).arg(0);
        Ok(first.query_async(&mut self.connection).await?)
    }

    /// Takes a unit for a request.
    async fn take(&mut self, user: &str) -> Result<bool, SimulateError> {
        let left: i64 = redis::cmd("DECR")
            .arg(&self.key)
            .query_async(&mut self.connection)
            .await?;
        let command = if left < 0 { "INCR" } else { "HINCRBY" };
        let mut command = redis::cmd(command);
        if left < 0 {
            command.arg(&self.key);
        } else {
            command.arg(format!("{}:units", self.key)).arg(user).arg(1);
        }
        command.exec_async(&mut self.connection).await?;
        Ok(left >= 0)
    }

    async fn serve(&mut self, user: &str) -> Result<(), SimulateError> {
        let outcome = if self.take(user).await? { "given" } else { "refused" };
        self.decide(user, outcome).await
    }

    async fn failed(&mut self, user: &str) -> Result<(), SimulateError> {
        let tries = self.tries.entry(user.to_owned()).or_default();
        *tries += 1;
        if *tries >= MOST_TRIES {
            self.decide(user, "dead").await?;
        }
        Ok(())
    }

    /// Answers, and removes the request.
    async fn decide(&mut self, user: &str, outcome: &str) -> Result<(), SimulateError> {
        let mut answer = redis::pipe();
        answer
            .cmd("RPUSH")
            .arg(format!("{}:answer:{user}", self.key))
            .arg(outcome);
        answer.cmd("LPOP").arg(format!("{}:queue", self.key));
        answer.exec_async(&mut self.connection).await?;
        Ok(())
    }
}

impl Asker for Client {
    async fn ask(&mut self, user: &str) -> Result<Answer, SimulateError> {
        let mut push = redis::cmd("RPUSH");
        push.arg(format!("{}:queue", self.key)).arg(user);
        push.exec_async(&mut self.connection).await?;
        let mut pop = redis::cmd("BLPOP");
        // Without a limit: the way's end wakes it.
        pop.arg(format!("{}:answer:{user}", self.key)).arg(0);
        let (mut asking, mut reading) = (self.connection.clone(), self.connection.clone());
        let outcome: Option<(String, String)> = tokio::select! {
            answered = pop.query_async(&mut asking) => answered?,
            _ = self.gone.wait_for(|gone| *gone) => return Ok(Answer::Undecided),
        };
        if outcome.is_none_or(|(_, outcome)| outcome != "given") {
            return Ok(Answer::Refused);
        }
        let mut units = redis::cmd("HGET");
        units.arg(format!("{}:units", self.key)).arg(user);
        Ok(Answer::Given(units.query_async(&mut reading).await?))
    }
}

impl Way for Consumed {
    type Asker = Client;

    fn approach(&self) -> Approach {
        Approach {
            name: "consumer with retries in memory",
            how: "a list in Redis; one consumer takes a unit for the first request, answers, removes it; three tries, counted in its memory",
            held: "the consumer is killed between unit and answer; another request fails, and the process is started anew after each second try",
            ours: false,
        }
    }

    fn staged(&self) -> Size {
        Size {
            limit: 3,
            users: 3,
            askers: 3,
        }
    }

    async fn open(&self, name: &str, size: Size, _: bool) -> Result<Vec<Client>, SimulateError> {
        self.gone.send_replace(false);
        let mut process = self.start(name).await?;
        let mut set = redis::cmd("SET");
        set.arg(&process.key).arg(size.limit);
        set.exec_async(&mut process.connection).await?;
        let mut clients = Vec::new();
        for _ in 0..size.askers {
            clients.push(Client {
                connection: self.redis.connect().await?,
                key: process.key.clone(),
                gone: self.gone.subscribe(),
            });
        }
        Ok(clients)
    }

    async fn meanwhile(&self, name: &str, size: Size, staged: bool) -> Result<(), SimulateError> {
        if staged {
            return self.staged(name, size).await;
        }
        let mut process = self.start(name).await?;
        loop {
            match process.next().await? {
                Some(request) => process.serve(&request).await?,
                None => tokio::time::sleep(POLL).await,
            }
        }
    }

    /// Nothing comes back: its fault is another one.
    async fn bring_back(&self, _: &str, _: &[String], _: &mut [Client]) -> Result<u64, SimulateError> {
        Ok(0)
    }
}
