//! The fixture of tests that call scripts: one jackpot, coupon or room on a real Redis, with its wrappers and its raw
//! keys. [`LedgerFixture`](super::ledger_fixture::LedgerFixture) adds a ledger. What only one capability has is in
//! `fixture.rs` of its folder.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use jackpot::store::Store;
use jackpot::store::keys::StreamKeys;
use jackpot_core::fields::EventFields;
use jackpot_core::ids::Id;
use redis::FromRedisValue;
use redis::aio::MultiplexedConnection;

use super::given::standalone;
use super::redis::TestRedis;
use crate::jackpot::by_hand;
use crate::support::prelude::*;

/// Fields of an event.
pub type Fields = BTreeMap<String, String>;

/// Entries of a stream: id and fields.
pub type Stream = Vec<(String, Fields)>;

/// Events by the names of their values, as the ledger reads them. A test may put them back so.
pub fn by_name(raw: Stream) -> Stream {
    let named = |fields: Fields| match fields.get("e") {
        Some(text) => {
            let read = EventFields::parse(text.clone().into_bytes()).expect("an event");
            let own = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
            read.iter().map(own).collect()
        }
        None => fields,
    };
    raw.into_iter().map(|(id, fields)| (id, named(fields))).collect()
}

/// The events of these tests have no reason in place of a name, and no name in place of a reason.
fn assert_by(event: &Fields) {
    for (field, others) in [
        ("who", ["a test", "r"]),
        ("reason", ["tester", "r"]),
        ("request_id", ["a test", "tester"]),
    ] {
        let wrong = event.get(field).filter(|text| others.contains(&text.as_str()));
        assert!(wrong.is_none(), "{field} of {event:?}");
    }
}

/// What differs between capabilities. A value is what the fixture has for one of them.
pub trait Capability: Sized {
    /// An event, as tests compare it.
    type Event;
    /// What ids begin with.
    const STEM: &'static str;

    fn new(id: &Id, store: &Store) -> Self;
    /// The keys of its state and its events.
    fn stream_keys(&self) -> StreamKeys<'_>;
    /// Defines the subject, changed by `change`.
    async fn create(fixture: &Fixture<Self>, change: &Value);
    fn event(fields: Fields) -> Self::Event;
}

/// One subject, with an id that no other test uses.
pub struct Fixture<C> {
    pub id: Id,
    pub store: Store,
    pub redis: Arc<TestRedis>,
    capability: C,
    _directory: tempfile::TempDir,
    raw: MultiplexedConnection,
    nonces: AtomicU64,
}

impl<C> Deref for Fixture<C> {
    type Target = C;

    fn deref(&self) -> &C {
        &self.capability
    }
}

impl<C: Capability> Fixture<C> {
    /// Defines a subject, changed by `change`.
    pub async fn with(change: &Value) -> Self {
        Self::on(Arc::new(TestRedis::start().await), change).await
    }

    /// The same on a server that already runs.
    pub async fn on(redis: Arc<TestRedis>, change: &Value) -> Self {
        let fixture = Self::undefined(redis).await;
        C::create(&fixture, change).await;
        fixture
    }

    /// A subject that is not defined.
    pub async fn undefined(redis: Arc<TestRedis>) -> Self {
        let id = Id::parse(&TestRedis::id(C::STEM)).expect("an id");
        Self::named(redis, id).await
    }

    /// The same with an id that is new on this server.
    pub async fn named(redis: Arc<TestRedis>, id: Id) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let store = Store::open(&standalone(redis.url()), directory.path())
            .await
            .expect("the store opens");
        Self {
            capability: C::new(&id, &store),
            raw: redis.connection().await,
            id,
            store,
            redis,
            _directory: directory,
            nonces: AtomicU64::new(0),
        }
    }

    /// A connection to its Redis.
    pub fn connection(&self) -> MultiplexedConnection {
        self.raw.clone()
    }

    /// A raw command on its Redis.
    pub async fn raw<T: FromRedisValue>(&self, command: &mut redis::Cmd) -> T {
        command.query_async(&mut self.raw.clone()).await.expect("a reply")
    }

    /// A field of its state.
    pub async fn field<T: FromRedisValue>(&self, name: &str) -> T {
        self.raw(&mut by_hand::get(self.stream_keys().state, name)).await
    }

    /// Every field of its state.
    pub async fn state(&self) -> Fields {
        self.raw(&mut by_hand::all(self.stream_keys().state)).await
    }

    pub async fn hash(&self, key: &str) -> Fields {
        self.raw(redis::cmd("HGETALL").arg(key)).await
    }

    /// Members of a sorted set, with their scores, in their order.
    pub async fn sorted<T: FromRedisValue>(&self, key: &str) -> Vec<(String, T)> {
        self.raw(redis::cmd("ZRANGE").arg(key).arg(0).arg(-1).arg("WITHSCORES"))
            .await
    }

    /// The version in Redis and a nonce that no other definition has, for the next one.
    pub async fn next_definition(&self) -> (Option<u64>, String) {
        let nonce = format!("n{}", self.nonces.fetch_add(1, Ordering::Relaxed));
        (self.field("version").await, nonce)
    }

    /// Every key of it, byte for byte.
    pub async fn dump(&self) -> BTreeMap<String, Vec<u8>> {
        // After a hash has grown, Redis moves its fields step by step, at each access. These reads go on until all have
        // moved.
        let mut looks = redis::cmd("HMGET");
        looks.arg(self.stream_keys().state).arg(&["n"; 200]);
        let _moved: redis::RedisResult<redis::Value> = looks.query_async(&mut self.raw.clone()).await;
        let pattern = format!("*:{{{}}}:*", self.id);
        let keys: Vec<String> = self.raw(redis::cmd("KEYS").arg(pattern)).await;
        let mut dump = BTreeMap::new();
        for key in keys {
            let bytes = self.raw(redis::cmd("DUMP").arg(&key)).await;
            dump.insert(key, bytes);
        }
        dump
    }

    /// The fields of every event, as the stream holds them.
    pub async fn stream(&self) -> Vec<Fields> {
        let key = self.stream_keys().events;
        let all: Stream = self.raw(redis::cmd("XRANGE").arg(key).arg("-").arg("+")).await;
        let events: Vec<Fields> = by_name(all).into_iter().map(|(_, fields)| fields).collect();
        events.iter().for_each(assert_by);
        events
    }

    /// Rewrites the stream, whose entries keep their ids.
    pub async fn rewrite(&self, change: impl FnOnce(&mut Stream)) {
        let key = self.stream_keys().events;
        let mut events = by_name(self.raw(redis::cmd("XRANGE").arg(key).arg("-").arg("+")).await);
        change(&mut events);
        self.raw::<()>(redis::cmd("DEL").arg(key)).await;
        for (id, fields) in events {
            self.raw::<String>(redis::cmd("XADD").arg(key).arg(id).arg(fields))
                .await;
        }
    }

    pub async fn events(&self) -> Vec<C::Event> {
        self.stream().await.into_iter().map(C::event).collect()
    }

    /// The fields of the last event, which must be of type `kind`.
    pub async fn last_event(&self, kind: &str) -> Fields {
        let fields = self.stream().await.pop().expect("an event");
        assert_eq!(fields["type"], kind);
        fields
    }
}
