//! One room on a real Redis, for tests of its scripts: calls their wrappers, looks at the raw keys, and lets time pass.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use jackpot::room::definition::Definition;
use jackpot::room::known::{Known, OrderOf};
use jackpot::room::scripts::{
    self, CollectedPage, Define, Defined, End, Place, Revoked, ScriptError, Seen, SetStatus, Snapshot, Visit,
    VisitReply, Visited, Wanted,
};
use jackpot::room::status::Status;
use jackpot::room::ticket::{OrderSeed, Ticket};
use jackpot::store::Store;
use jackpot::store::keys::RoomKeys;
use jackpot::subject::Subject;
use jackpot_core::ids::Id;
use jackpot_core::mark::Mark;
use jackpot_core::secret::MasterSecret;
use redis::aio::MultiplexedConnection;
use serde_json::{Value, json};

use crate::support::given::{SECRET, standalone};
use crate::support::redis::TestRedis;

/// How long records of ended tickets are kept.
pub const RETENTION_MS: u64 = 600_000;

/// One room, with an id that no other test uses.
pub struct RoomBench {
    pub id: Id,
    pub store: Store,
    pub keys: RoomKeys,
    pub known: Known,
    /// Nonce of the order before the opening.
    nonce: Mutex<String>,
    pub redis: Arc<TestRedis>,
    _directory: tempfile::TempDir,
    raw: MultiplexedConnection,
    nonces: AtomicU64,
}

/// An event: type and fields.
pub type Event = (String, BTreeMap<String, String>);

impl RoomBench {
    /// Defines a room for two, changed by `change`.
    pub async fn with(change: &Value) -> Self {
        Self::on(Arc::new(TestRedis::start().await), change).await
    }

    /// The same on a server that already runs.
    pub async fn on(redis: Arc<TestRedis>, change: &Value) -> Self {
        let bench = Self::without(redis).await;
        assert_eq!(bench.define(change).await, Defined::Created(1));
        bench
    }

    /// A bench for a room that is not defined.
    pub async fn without(redis: Arc<TestRedis>) -> Self {
        let id = Id::parse(&TestRedis::id("room")).expect("an id");
        let directory = tempfile::tempdir().expect("a directory");
        let store = Store::open(&standalone(redis.url()), directory.path())
            .await
            .expect("the store opens");
        Self {
            store,
            keys: RoomKeys::new(&id),
            known: Known::new(&id),
            nonce: Mutex::default(),
            raw: redis.connection().await,
            redis,
            _directory: directory,
            nonces: AtomicU64::new(0),
            id,
        }
    }

    /// Reads the version in Redis, then puts a definition.
    pub async fn define(&self, change: &Value) -> Defined {
        let version: Option<u64> = self.raw(redis::cmd("HGET").arg(&self.keys.state).arg("version")).await;
        let nonce = format!("n{}", self.nonces.fetch_add(1, Ordering::Relaxed));
        self.put(change, Wanted::Any, version, &nonce).await.expect("a reply")
    }

    /// Puts a definition.
    pub async fn put(
        &self,
        change: &Value,
        wanted: Wanted,
        last_version: Option<u64>,
        nonce: &str,
    ) -> Result<Defined, ScriptError> {
        let definition = definition(change);
        let order = OrderOf::new(&MasterSecret::new(SECRET), &self.id, nonce.to_owned());
        let wish = Define {
            definition: &definition,
            wanted,
            last_version,
            nonce,
            history: "0123456789abcdef",
            who: "tester",
            request_id: "r",
        };
        let put = scripts::define(&self.store, &self.keys, Mark::ZERO, &wish, &order.commitment).await;
        self.learn_order().await;
        put.map(|(_, defined)| defined)
    }

    /// Reads the order that the room has now; later joins use it.
    pub async fn learn_order(&self) {
        let nonce: Option<String> = self
            .raw(redis::cmd("HGET").arg(&self.keys.state).arg("order_nonce"))
            .await;
        *self.nonce.lock().expect("whole") = nonce.unwrap_or_default();
    }

    /// The seed of the order before the opening.
    pub fn seed(&self) -> OrderSeed {
        OrderSeed::of(&MasterSecret::new(SECRET), &self.id, &self.nonce.lock().expect("whole"))
    }

    /// Gives all users who joined before the opening their order under the last nonce.
    pub async fn reorder(&self) {
        let (seed, nonce) = (self.seed(), self.nonce.lock().expect("whole").clone());
        let orders = self.collected().await.items.into_iter();
        let orders: Vec<_> = orders.map(|(_, ticket)| (ticket, seed.order(ticket))).collect();
        let reorder = scripts::reorder(&self.store, &self.keys, Mark::ZERO, (&nonce, 0), &orders);
        reorder.await.expect("a reply");
    }

    /// A join of this user with a new ticket.
    pub fn join(&self, user: &str) -> Visit {
        let ticket = Ticket::random().expect("random");
        Visit::Join {
            user: Id::parse(user).expect("an id"),
            ticket,
            order: self.seed().order(ticket),
            nonce: self.nonce.lock().expect("whole").clone(),
        }
    }

    pub async fn try_visit(&self, visits: &[Visit]) -> Result<Visited, ScriptError> {
        scripts::visit(&self.store, &self.known, RETENTION_MS, visits).await
    }

    pub async fn visit(&self, visits: &[Visit]) -> Visited {
        self.try_visit(visits).await.expect("a reply")
    }

    /// A step without visits.
    pub async fn tick(&self) -> Visited {
        self.visit(&[]).await
    }

    /// Ticks until nothing more is due.
    pub async fn settle(&self) -> Visited {
        loop {
            let visited = self.tick().await;
            if !visited.more {
                return visited;
            }
        }
    }

    /// One visit of an existing ticket.
    pub async fn one(&self, visit: Visit) -> Seen {
        seen(self.visit(&[visit]).await.replies.remove(0))
    }

    /// Joins of these users, in one call.
    pub async fn joined<'a>(&self, users: impl IntoIterator<Item = &'a str>) -> Vec<Seen> {
        let visits: Vec<_> = users.into_iter().map(|user| self.join(user)).collect();
        self.visit(&visits).await.replies.into_iter().map(seen).collect()
    }

    pub async fn status(&self, wanted: Status) {
        let wish = SetStatus {
            wanted,
            reason: "a test".to_owned(),
            who: "tester".to_owned(),
            request_id: "r".to_owned(),
            reconciled: false,
        };
        scripts::set_status(&self.store, &self.keys, Mark::ZERO, &wish)
            .await
            .expect("a reply");
    }

    pub async fn snapshot(&self) -> Snapshot {
        scripts::snapshot(&self.store, &self.keys, Mark::ZERO)
            .await
            .expect("readable")
    }

    pub async fn revoked(&self, after: u64) -> Revoked {
        scripts::revoked(&self.store, &self.known, after, scripts::MAX_REVOKED)
            .await
            .expect("a reply")
    }

    pub async fn collected(&self) -> CollectedPage {
        scripts::collected(&self.store, &self.keys, Mark::ZERO, 0, scripts::MAX_COLLECTED)
            .await
            .expect("a reply")
    }

    /// Every key of the room, byte for byte.
    pub async fn dump(&self) -> BTreeMap<String, Option<Vec<u8>>> {
        let mut dump = BTreeMap::new();
        for key in self.keys.all() {
            let bytes = self.raw(redis::cmd("DUMP").arg(key)).await;
            dump.insert(key.to_owned(), bytes);
        }
        dump
    }

    /// A raw command on this room's Redis.
    pub async fn raw<T: redis::FromRedisValue>(&self, command: &mut redis::Cmd) -> T {
        command.query_async(&mut self.raw.clone()).await.expect("a reply")
    }

    pub async fn hash(&self, key: &str) -> BTreeMap<String, String> {
        self.raw(redis::cmd("HGETALL").arg(key)).await
    }

    /// Members of a sorted set, by score.
    pub async fn sorted(&self, key: &str) -> Vec<(String, i64)> {
        self.raw(redis::cmd("ZRANGE").arg(key).arg(0).arg(-1).arg("WITHSCORES"))
            .await
    }

    /// Lets time pass for this room alone: moves each time that Redis keeps of it back by `seconds`.
    pub async fn pass(&self, seconds: u64) {
        self.let_pass(seconds, "").await;
    }

    /// The same, but nobody steps the room meanwhile.
    pub async fn away(&self, seconds: u64) {
        self.let_pass(seconds, "1").await;
    }

    /// Moves Redis' clock forward, or back when negative, as far as this room sees it. Times that operators set stay
    /// those of that clock.
    pub async fn jump(&self, seconds: i64) {
        let state = self.hash(&self.keys.state).await;
        for (field, ms) in [("ahead", seconds), ("opens", -seconds), ("opens_at", -seconds)] {
            if !state[field].is_empty() {
                let mut by = redis::cmd("HINCRBY");
                by.arg(&self.keys.state).arg(field).arg(ms * 1_000);
                self.raw::<i64>(&mut by).await;
            }
        }
    }

    async fn let_pass(&self, seconds: u64, away: &str) {
        const PASS: &str = include_str!("room_pass.lua");
        let script = redis::Script::new(PASS);
        let mut call = script.arg(seconds * 1_000);
        call.arg(away);
        for key in self.keys.all() {
            call.key(key);
        }
        call.invoke_async::<()>(&mut self.raw.clone()).await.expect("a reply");
    }

    /// The events, as the stream holds them.
    pub async fn events(&self) -> Vec<Event> {
        let all: Vec<(String, BTreeMap<String, String>)> = self
            .raw(redis::cmd("XRANGE").arg(&self.keys.events).arg("-").arg("+"))
            .await;
        all.into_iter()
            .map(|(_, fields)| (fields["type"].clone(), fields))
            .collect()
    }

    /// The last event, which must be of this type.
    pub async fn last_event(&self, kind: &str) -> BTreeMap<String, String> {
        let (of, fields) = self.events().await.pop().expect("an event");
        assert_eq!(of, kind);
        fields
    }
}

/// A definition for two, changed by `change`.
pub fn definition(change: &Value) -> Definition {
    let mut document = json!({"capacity": 2, "session_s": 300, "waiting_timeout_s": 60});
    for (field, value) in change.as_object().expect("an object") {
        document[field] = value.clone();
    }
    Definition::check(serde_json::from_value(document).expect("a document")).expect("valid")
}

/// `u<first>` to `u<last>`.
pub fn users(first: usize, last: usize) -> Vec<String> {
    (first..=last).map(|number| format!("u{number}")).collect()
}

pub fn seen(reply: VisitReply) -> Seen {
    match reply {
        VisitReply::Seen(seen) => seen,
        other => panic!("{other:?}"),
    }
}

pub fn is_in(seen: &Seen) -> bool {
    matches!(seen.place, Place::Admitted { .. })
}

/// The end of the session of a user who is in.
pub fn end_of(seen: &Seen) -> i64 {
    match seen.place {
        Place::Admitted { end_ms, .. } => end_ms,
        other => panic!("{other:?}"),
    }
}

/// The number of users ahead of one who waits.
pub fn ahead(seen: &Seen) -> u64 {
    match seen.place {
        Place::Waiting { ahead } => ahead,
        other => panic!("{other:?}"),
    }
}

/// How an ended ticket ended.
pub fn ended(seen: &Seen) -> End {
    match seen.place {
        Place::Ended { how, .. } => how,
        other => panic!("{other:?}"),
    }
}
