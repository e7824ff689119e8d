//! The ways of giving out the units of a coupon.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use bytes::Bytes;
use redis::aio::MultiplexedConnection;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use sqlx::postgres::PgConnection;
use sqlx::{Connection, Executor};
use tokio::sync::{Barrier, Mutex};

use super::super::Args;
use super::super::SimulateError;
use super::super::client::{Api, Target};
use super::super::service::PrivateService;
use super::consumer::Consumed;
use super::lock;
use super::race::{Answer, Asker, FEW, Hold, Pair, Size, Way};
use super::redis::{Redis, key};
use super::{Approach, Comparison, Place};

/// One of this many units comes back.
const COMES_BACK: usize = 10;
/// Fewer than a server with default settings takes.
const MOST_SQL_CONNECTIONS: u32 = 32;
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// Plays all ways.
pub async fn coupons(args: &Args, place: Place<'_>) -> Result<Comparison, SimulateError> {
    let mut all = Comparison::new(args, args.coupon.stock);
    let redis = Redis::of(place.service);
    for way in Usual::ALL {
        let way = Bare {
            way,
            redis: redis.clone(),
        };
        all.add(place.bar, &way).await?;
    }
    match &args.coupon.postgres {
        Some(url) => all.add(place.bar, &RowLock { url: url.clone() }).await?,
        None => all.leave_out(ROW_LOCK, "--postgres names no database"),
    }
    all.add(place.bar, &Consumed::new(redis)).await?;
    let target = place.target;
    all.add(place.bar, &Ours { target }).await?;
    let service = Mutex::new(place.service);
    let everyone_is_in = Mutex::new(Arc::new(Barrier::new(1)));
    let queued = OursQueued {
        target,
        service,
        everyone_is_in,
    };
    all.add(place.bar, &queued).await?;
    Ok(all)
}

/// A usual way on a bare Redis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Usual {
    IncrPast,
    CardThenAdd,
    Lock,
    RenewedLock,
}

impl Usual {
    const ALL: [Self; 4] = [Self::IncrPast, Self::CardThenAdd, Self::Lock, Self::RenewedLock];

    fn is_lock(self) -> bool {
        matches!(self, Self::Lock | Self::RenewedLock)
    }

    fn approach(self) -> Approach {
        let (name, how, held) = match self {
            Self::IncrPast => (
                "INCR past the stock",
                "INCR; a user whose number is above the stock is refused, and the counter stays raised; a unit that comes back is a DECR",
                "nowhere: a returned unit lowers a counter that is far above the stock",
            ),
            Self::CardThenAdd => (
                "SCARD, then SADD",
                "reads how many have one, then adds the user in a second call",
                "all have read before anyone adds",
            ),
            Self::Lock => (
                "lock that expires",
                "SET NX PX for 1 s around reading and writing the number of units left",
                "the holder works for longer than the lock lives",
            ),
            Self::RenewedLock => (
                "lock that is renewed",
                "the same, and a task of the holder's process extends the lock every 0.3 s while it works",
                "the holder's process stalls, the task with it, until the lock has expired",
            ),
        };
        Approach {
            name,
            how,
            held,
            ours: false,
        }
    }
}

struct Bare {
    way: Usual,
    redis: Redis,
}

enum BareAsker {
    Bare {
        way: Usual,
        connection: MultiplexedConnection,
        key: String,
        stock: u64,
        hold: Hold,
    },
    Lock(Box<lock::Client>),
}

impl Bare {
    fn holds(&self, size: Size, staged: bool) -> Vec<Hold> {
        let askers = size.askers as usize;
        if !staged {
            return vec![Hold::Nowhere; askers];
        }
        match self.way {
            Usual::IncrPast => vec![Hold::Nowhere; askers],
            Usual::CardThenAdd => vec![Hold::Together(Arc::new(Barrier::new(askers))); askers],
            Usual::Lock | Usual::RenewedLock => {
                let pair = Arc::new(Pair::default());
                vec![Hold::First(Arc::clone(&pair)), Hold::Second(pair)]
            }
        }
    }
}

impl Way for Bare {
    type Asker = BareAsker;

    fn approach(&self) -> Approach {
        self.way.approach()
    }

    fn staged(&self) -> Size {
        if self.way.is_lock() {
            Size {
                limit: 1,
                users: 2,
                askers: 2,
            }
        } else {
            FEW
        }
    }

    async fn open(&self, name: &str, size: Size, staged: bool) -> Result<Vec<BareAsker>, SimulateError> {
        let key = key(self.way, name);
        let mut clients = Vec::new();
        for (holder, hold) in self.holds(size, staged).into_iter().enumerate() {
            let connection = self.redis.connect().await?;
            clients.push(if self.way.is_lock() {
                let renews = self.way == Usual::RenewedLock;
                let client = lock::Client::new(connection, key.clone(), holder, renews, hold);
                BareAsker::Lock(Box::new(client))
            } else {
                BareAsker::Bare {
                    way: self.way,
                    connection,
                    key: key.clone(),
                    stock: size.limit,
                    hold,
                }
            });
        }
        if self.way.is_lock() {
            let mut connection = self.redis.connect().await?;
            let mut set = redis::cmd("SET");
            set.arg(&key).arg(size.limit);
            set.exec_async(&mut connection).await?;
        }
        Ok(clients)
    }

    async fn bring_back(&self, name: &str, has: &[String], _: &mut [BareAsker]) -> Result<u64, SimulateError> {
        let mut connection = self.redis.connect().await?;
        let key = key(self.way, name);
        let back = some(has);
        for user in back {
            let mut command = redis::cmd(match self.way {
                Usual::IncrPast => "DECR",
                Usual::CardThenAdd => "SREM",
                Usual::Lock | Usual::RenewedLock => "INCR",
            });
            command.arg(&key);
            if self.way == Usual::CardThenAdd {
                command.arg(user);
            }
            command.exec_async(&mut connection).await?;
        }
        Ok(back.len() as u64)
    }
}

impl Asker for BareAsker {
    async fn ask(&mut self, user: &str) -> Result<Answer, SimulateError> {
        let (way, connection, key, stock, hold) = match self {
            Self::Lock(client) => return client.ask().await,
            Self::Bare {
                way,
                connection,
                key,
                stock,
                hold,
            } => (*way, connection, key, *stock, hold),
        };
        let is_given = if way == Usual::IncrPast {
            let number: u64 = redis::cmd("INCR").arg(&*key).query_async(connection).await?;
            number <= stock
        } else {
            let given: u64 = redis::cmd("SCARD").arg(&*key).query_async(connection).await?;
            std::mem::take(hold).between().await;
            if given < stock {
                let mut add = redis::cmd("SADD");
                add.arg(&*key).arg(user);
                add.exec_async(connection).await?;
            }
            given < stock
        };
        Ok(if is_given { Answer::Given(1) } else { Answer::Refused })
    }
}

/// Some of the users.
fn some(has: &[String]) -> &[String] {
    &has[..has.len().div_ceil(COMES_BACK)]
}

const ROW_LOCK: Approach = Approach {
    name: "row lock in PostgreSQL",
    how: "BEGIN, SELECT … FOR UPDATE of the coupon's row, INSERT of the issue, UPDATE of the row, COMMIT",
    held: "nowhere: the row is locked from the read to the commit",
    ours: false,
};

struct RowLock {
    url: String,
}

struct RowLockAsker {
    connection: PgConnection,
    coupon: String,
}

/// In a schema of its own, which goes with the comparison.
const TABLES: &str = "DROP SCHEMA IF EXISTS jackpot_compare CASCADE; CREATE SCHEMA jackpot_compare;
CREATE TABLE jackpot_compare.coupons (id TEXT PRIMARY KEY, units BIGINT NOT NULL);
CREATE TABLE jackpot_compare.issues (coupon TEXT NOT NULL, user_id TEXT NOT NULL, PRIMARY KEY (coupon, user_id))";

impl Way for RowLock {
    type Asker = RowLockAsker;

    fn approach(&self) -> Approach {
        ROW_LOCK
    }

    async fn open(&self, name: &str, size: Size, _: bool) -> Result<Vec<RowLockAsker>, SimulateError> {
        let mut first = PgConnection::connect(&self.url).await?;
        first.execute(TABLES).await?;
        let units = i64::try_from(size.limit).unwrap_or(i64::MAX);
        let insert = sqlx::query("INSERT INTO jackpot_compare.coupons VALUES ($1, $2)");
        insert.bind(name).bind(units).execute(&mut first).await?;
        let mut askers = Vec::new();
        for _ in 0..size.askers.min(MOST_SQL_CONNECTIONS) {
            askers.push(RowLockAsker {
                connection: PgConnection::connect(&self.url).await?,
                coupon: name.to_owned(),
            });
        }
        Ok(askers)
    }

    async fn bring_back(&self, name: &str, has: &[String], askers: &mut [RowLockAsker]) -> Result<u64, SimulateError> {
        let back = some(has);
        let Some(asker) = askers.first_mut() else {
            return Ok(0);
        };
        for user in back {
            let mut transaction = asker.connection.begin().await?;
            let delete = sqlx::query("DELETE FROM jackpot_compare.issues WHERE coupon = $1 AND user_id = $2");
            delete.bind(name).bind(user).execute(&mut *transaction).await?;
            let update = sqlx::query("UPDATE jackpot_compare.coupons SET units = units + 1 WHERE id = $1");
            update.bind(name).execute(&mut *transaction).await?;
            transaction.commit().await?;
        }
        Ok(back.len() as u64)
    }

    async fn clear(&self) -> Result<(), SimulateError> {
        let mut connection = PgConnection::connect(&self.url).await?;
        connection.execute("DROP SCHEMA jackpot_compare CASCADE").await?;
        Ok(connection.close().await?)
    }
}

impl Asker for RowLockAsker {
    async fn ask(&mut self, user: &str) -> Result<Answer, SimulateError> {
        let mut transaction = self.connection.begin().await?;
        let left = sqlx::query_scalar("SELECT units FROM jackpot_compare.coupons WHERE id = $1 FOR UPDATE");
        let left: i64 = left.bind(&self.coupon).fetch_one(&mut *transaction).await?;
        if left == 0 {
            transaction.rollback().await?;
            return Ok(Answer::Refused);
        }
        let insert = sqlx::query("INSERT INTO jackpot_compare.issues VALUES ($1, $2)");
        insert.bind(&self.coupon).bind(user).execute(&mut *transaction).await?;
        let update = sqlx::query("UPDATE jackpot_compare.coupons SET units = units - 1 WHERE id = $1");
        update.bind(&self.coupon).execute(&mut *transaction).await?;
        transaction.commit().await?;
        Ok(Answer::Given(1))
    }
}

/// The service, asked over HTTP.
struct Ours<'s> {
    target: &'s Target,
}

/// Asks at once, or through the queue.
struct OursAsker {
    api: Api,
    path: String,
    /// Of a staged play through the queue: everyone's request is in it.
    everyone_is_in: Option<Arc<Barrier>>,
}

async fn define(target: &Target, id: &str, size: Size, is_queued: bool) -> Result<Vec<OursAsker>, SimulateError> {
    let repeats = Arc::new(AtomicU64::new(0));
    let path = format!("/v1/coupons/{id}");
    let definition = json!({ "name": "Comparison", "stock": size.limit, "per_user": 1, "per_user_window_s": null,
        "starts_at": null, "ends_at": null });
    let api = Api::new(target, Arc::clone(&repeats))?;
    api.send(Method::PUT, &path, &definition).await?;
    let asker = |_| {
        let api = Api::new(target, Arc::clone(&repeats))?;
        Ok(OursAsker {
            api: if is_queued { api.respond_async() } else { api },
            path: path.clone(),
            everyone_is_in: None,
        })
    };
    (0..size.askers).map(asker).collect()
}

/// Takes units back, and counts them.
async fn take_back(target: &Target, id: &str, has: &[String]) -> Result<u64, SimulateError> {
    let api = Api::new(target, Arc::new(AtomicU64::new(0)))?;
    for user in some(has) {
        let url = api.url(&format!("/v1/coupons/{id}/issues/{user}"));
        api.call(Method::DELETE, &url, None).await?;
    }
    Ok(some(has).len() as u64)
}

impl Asker for OursAsker {
    /// The request has the id of its user, who asks once.
    async fn ask(&mut self, user: &str) -> Result<Answer, SimulateError> {
        let url = self.api.url(&format!("{}/issues", self.path));
        let body = json!({ "request_id": user, "user_id": user }).to_string();
        let is_answer = |answered: &super::super::client::Answered| {
            answered.status.is_success() || answered.status == StatusCode::CONFLICT
        };
        let answered = self
            .api
            .call_until(Method::POST, &url, Some(Bytes::from(body)), is_answer)
            .await?;
        if let Some(all) = self.everyone_is_in.take() {
            all.wait().await;
        }
        let mut shown: Value = answered.json("POST …/issues")?;
        if answered.status == StatusCode::ACCEPTED {
            let url = self.api.url(&format!("{}/issues/{user}", self.path));
            shown = loop {
                let shown = self
                    .api
                    .call(Method::GET, &url, None)
                    .await?
                    .json::<Value>("GET …/issues/{request}")?;
                if shown["result"] != "queued" {
                    break shown;
                }
                tokio::time::sleep(LOOK_EVERY).await;
            };
        }
        Ok(outcome(&shown))
    }
}

fn outcome(shown: &Value) -> Answer {
    match shown["result"].as_str() {
        Some("issued") => Answer::Given(1),
        Some("dead") => Answer::Undecided,
        _ => Answer::Refused,
    }
}

impl Way for Ours<'_> {
    type Asker = OursAsker;

    fn approach(&self) -> Approach {
        Approach {
            name: "this service",
            how: "one script for each decision, over HTTP: with authorisation, an answer that is kept for repeats, a code, an event for the ledger",
            held: "all ask at one instant",
            ours: true,
        }
    }

    async fn open(&self, name: &str, size: Size, _: bool) -> Result<Vec<OursAsker>, SimulateError> {
        define(self.target, &format!("compare-{name}"), size, false).await
    }

    async fn bring_back(&self, name: &str, has: &[String], _: &mut [OursAsker]) -> Result<u64, SimulateError> {
        take_back(self.target, &format!("compare-{name}"), has).await
    }
}

/// The service's queue. In the staged play the service is killed while all requests are in it.
struct OursQueued<'s, 'p> {
    target: &'s Target,
    service: Mutex<&'p mut PrivateService>,
    everyone_is_in: Mutex<Arc<Barrier>>,
}

impl Way for OursQueued<'_, '_> {
    type Asker = OursAsker;

    fn approach(&self) -> Approach {
        Approach {
            name: "this service, queued",
            how: "Prefer: respond-async; the queue, its place and its tries are in Redis, and one script serves and removes a request",
            held: "the service is killed with kill -9 once all have joined the queue",
            ours: true,
        }
    }

    async fn open(&self, name: &str, size: Size, staged: bool) -> Result<Vec<OursAsker>, SimulateError> {
        let mut askers = define(self.target, &format!("compare-queued-{name}"), size, true).await?;
        if staged {
            let all = Arc::new(Barrier::new(askers.len() + 1));
            for asker in &mut askers {
                asker.everyone_is_in = Some(Arc::clone(&all));
            }
            *self.everyone_is_in.lock().await = all;
        }
        Ok(askers)
    }

    async fn meanwhile(&self, _: &str, _: Size, staged: bool) -> Result<(), SimulateError> {
        if staged {
            let all = Arc::clone(&*self.everyone_is_in.lock().await);
            all.wait().await;
            self.service.lock().await.kill_and_restart(false).await?;
        }
        std::future::pending().await
    }

    async fn bring_back(&self, name: &str, has: &[String], _: &mut [OursAsker]) -> Result<u64, SimulateError> {
        take_back(self.target, &format!("compare-queued-{name}"), has).await
    }
}
