//! One jackpot on a real Redis, for tests of scripts: calls their wrappers, and looks at the raw keys.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use jackpot::jackpot::error::PlayError;
use jackpot::jackpot::known::Known;
use jackpot::jackpot::ledger::books::Meters;
use jackpot::jackpot::ledger::event::Event;
use jackpot::jackpot::ledger::fold::Fold;
use jackpot::jackpot::operate::Operate;
use jackpot::jackpot::scripts::{
    self, Define, Defined, EnterEntry, Entered, EntryReply, Fence, Finished, NewJackpot, ScriptError, Snapshot, Wanted,
};
use jackpot::jackpot::view::{Status, View, Views};
use jackpot::store::Store;
use jackpot_core::ids::Id;
use jackpot_core::jackpot::definition::Definition;
use jackpot_core::jackpot::epoch::Opening;
use jackpot_core::jackpot::record::Record;
use jackpot_core::mark::Mark;
use jackpot_core::secret::MasterSecret;
use redis::aio::MultiplexedConnection;
use serde_json::Value;

pub use crate::support::given::*;
use crate::support::redis::TestRedis;

/// One jackpot, with an id that no other test uses.
pub struct Bench {
    pub id: Id,
    pub store: Store,
    pub operate: Operate,
    _redis: Arc<TestRedis>,
    _directory: tempfile::TempDir,
    raw: MultiplexedConnection,
}

impl Bench {
    /// Defines a jackpot as [`document`] changed by `change`.
    pub async fn with(change: &Value) -> Self {
        Self::on(Arc::new(TestRedis::start().await), change).await
    }

    /// The same on a server that already runs.
    pub async fn on(redis: Arc<TestRedis>, change: &Value) -> Self {
        let id = Id::parse(&TestRedis::id("t")).expect("an id");
        Self::named(redis, id, change).await
    }

    /// The same with an id that is new on this server. The same id on another server draws alike.
    pub async fn named(redis: Arc<TestRedis>, id: Id, change: &Value) -> Self {
        let bench = Self::undefined(redis, id).await;
        bench.define(change).await;
        bench
    }

    /// The same jackpot as `other`, on another server: it draws alike, because epoch 1 has the same nonce.
    pub async fn twin(redis: Arc<TestRedis>, other: &Self, change: &Value) -> Self {
        let bench = Self::undefined(redis, other.id.clone()).await;
        let field = |name: &'static str| async move {
            let text: String = redis::cmd("HGET")
                .arg(&other.operate.views.registry.known(&other.id).keys.state)
                .arg(name)
                .query_async(&mut other.raw.clone())
                .await
                .expect("a field of the state");
            text
        };
        let (opening, history) = (
            Opening {
                nonce: field("nonce").await,
                secret_id: field("secret").await,
                commitment: field("commitment").await,
            },
            field("history").await,
        );
        let fence = Fence {
            known: Mark::ZERO,
            epoch: 1,
            commitment: opening.commitment.clone(),
            definition: String::new(),
        };
        let by = operator();
        let wish = Define {
            definition: &definition(document(bench.id.as_str(), change)),
            wanted: Wanted::Absent,
            last_version: None,
            nonce: "twin",
            history: &history,
            who: &by.who,
            request_id: &by.request_id,
        };
        let (_, defined) = scripts::define(
            &bench.store,
            &bench.operate.views.registry.known(&bench.id).keys,
            &fence,
            &wish,
            &NewJackpot {
                status: Status::Open,
                opening,
                retention_s: 0,
            },
        )
        .await
        .expect("a reply");
        assert_eq!(defined, Defined::Created(1));
        bench
    }

    async fn undefined(redis: Arc<TestRedis>, id: Id) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let store = Store::open(&standalone(redis.url()), directory.path())
            .await
            .expect("the store opens");
        let views = Arc::new(Views::new(store.clone(), MasterSecret::new(SECRET)));
        // Ids are forgotten only when a test says so.
        let operate = Operate::new(store.clone(), views).remembering(0);
        let raw = redis.connection().await;
        Self {
            id,
            store,
            operate,
            _redis: redis,
            _directory: directory,
            raw,
        }
    }

    pub async fn define(&self, change: &Value) {
        let definition = definition(document(self.id.as_str(), change));
        self.operate
            .define(&self.id, &definition, Wanted::Any, Status::Open, &operator())
            .await
            .expect("defined");
    }

    /// What an instance knows that has just read the jackpot.
    pub async fn fresh(&self) -> (Arc<Known>, Arc<View>) {
        self.operate.views.refresh(&self.id).await.expect("readable")
    }

    pub async fn enter(&self, entries: &[EnterEntry]) -> Entered {
        let (known, view) = self.fresh().await;
        self.enter_as(&known.fence(&view), &view.definition, entries)
            .await
            .expect("a reply")
    }

    pub async fn enter_as(
        &self,
        fence: &Fence,
        definition: &Definition,
        entries: &[EnterEntry],
    ) -> Result<Entered, ScriptError> {
        let known = self.operate.views.registry.known(&self.id);
        scripts::enter(&self.store, &known.keys, fence, definition, entries).await
    }

    /// Enters one entry, which must be taken; returns its record.
    pub async fn take(&self, entry_id: &str, rank: u32) -> Record {
        match self.enter(&[entry(entry_id, rank)]).await.replies.remove(0) {
            EntryReply::Taken(record) => record,
            other => panic!("{other:?}"),
        }
    }

    /// The claim of a redraw, under the definition in force.
    pub async fn claim(&self, entry_id: &str, attempt: u32, rank: u32) -> Finished {
        let (known, view) = self.fresh().await;
        let prize = view.definition.money_prize(rank).expect("a money prize").clone();
        let (fence, tiers) = (known.fence(&view), view.definition.tiers());
        scripts::claim(
            &self.store,
            &known.keys,
            &fence,
            tiers,
            (entry_id, attempt, rank),
            &prize,
        )
        .await
        .expect("a reply")
    }

    pub async fn finish(&self, entry_id: &str, attempt: u32) -> Finished {
        let (known, view) = self.fresh().await;
        let (fence, tiers) = (known.fence(&view), view.definition.tiers());
        scripts::finish(&self.store, &known.keys, &fence, tiers, (entry_id, attempt))
            .await
            .expect("a reply")
    }

    pub async fn status(&self, wanted: Status) {
        self.operate
            .set_status(&self.id, wanted, "a test".to_owned(), &operator())
            .await
            .expect("done");
    }

    pub async fn fund(&self, adjustment_id: &str, amount: u64) {
        let wish = funding(adjustment_id, amount);
        assert!(self.operate.adjust(&self.id, &wish).await.expect("done").0);
    }

    pub async fn snapshot(&self) -> Snapshot {
        self.operate.views.snapshot(&self.id).await.expect("readable")
    }

    /// Pool, reserve and overflow of the first tier.
    pub async fn money(&self) -> (u64, u64, u64) {
        let meter = &self.snapshot().await.meters[0];
        (meter.pool, meter.reserve, meter.overflow)
    }

    /// Every key of the jackpot, byte for byte.
    pub async fn dump(&self) -> BTreeMap<String, Vec<u8>> {
        let mut raw = self.raw.clone();
        let pattern = format!("jp:{}:*", self.tag());
        let keys: Vec<String> = redis::cmd("KEYS")
            .arg(pattern)
            .query_async(&mut raw)
            .await
            .expect("KEYS");
        let mut dump = BTreeMap::new();
        for key in keys {
            let bytes = redis::cmd("DUMP").arg(&key).query_async(&mut raw).await.expect("DUMP");
            dump.insert(key, bytes);
        }
        dump
    }

    fn tag(&self) -> String {
        format!("{{{}}}", self.id)
    }

    /// A connection to this jackpot's Redis.
    pub fn connection(&self) -> MultiplexedConnection {
        self.raw.clone()
    }

    /// A raw command on this jackpot's Redis.
    pub async fn raw<T: redis::FromRedisValue>(&self, command: &mut redis::Cmd) -> T {
        command.query_async(&mut self.raw.clone()).await.expect("a reply")
    }

    /// The events, as the stream holds them.
    pub async fn events(&self) -> Vec<Event> {
        let known = self.operate.views.registry.known(&self.id);
        let mut command = redis::cmd("XRANGE");
        let reply: Vec<(String, BTreeMap<String, String>)> =
            self.raw(command.arg(&known.keys.events).arg("-").arg("+")).await;
        reply
            .into_iter()
            .map(|(_, fields)| Event::parse(&fields).expect("readable"))
            .collect()
    }

    /// Rebuilds the jackpot from its events and compares everything with Redis.
    pub async fn assert_rebuilds(&self) {
        self.assert_follows_from(&self.events().await).await;
    }

    /// The same from these events.
    pub async fn assert_follows_from(&self, events: &[Event]) {
        let mut fold = Fold::default();
        for event in events {
            fold.apply(event).expect("follows");
        }
        let snapshot = self.snapshot().await;
        let books = &fold.books;
        let state = (
            snapshot.mark.n(),
            Some(snapshot.status),
            snapshot.version,
            snapshot.last_version,
            (snapshot.epoch, &snapshot.opening, &snapshot.history),
        );
        let rebuilt = (
            books.n,
            books.status,
            books.version,
            books.last_version,
            (books.epoch, &books.opening, &books.history),
        );
        assert_eq!(rebuilt, state);
        assert_eq!(books.waiting.map(|v| fold.definitions[&v].clone()), snapshot.waiting);
        for meter in &snapshot.meters {
            let rebuilt = books.meters.get(&meter.tier).copied().unwrap_or_default();
            let units = |value: u64| i64::try_from(value).expect("below 2^53");
            let held = Meters {
                pool_micro: rebuilt.pool_micro,
                reserve_micro: units(meter.remainder_micro) - rebuilt.pool_micro,
                pool: units(meter.pool),
                reserve: units(meter.reserve),
                overflow: units(meter.overflow),
                contributed: units(meter.contributed),
                contributed_micro: units(meter.contributed_micro),
                funded: meter.funded,
                paid: units(meter.paid),
                wins: units(meter.wins),
                ..Meters::default()
            };
            assert_eq!(rebuilt, held);
            assert_eq!(rebuilt.difference_micro(), 0);
        }
        self.assert_records(fold).await;
    }

    /// Compares the raw keys that are not money with the events.
    async fn assert_records(&self, fold: Fold) {
        let books = &fold.books;
        let keys = &self.operate.views.registry.known(&self.id).keys;
        let hash = async |key: &str| {
            self.raw::<BTreeMap<String, String>>(redis::cmd("HGETALL").arg(key))
                .await
        };
        let fields = hash(&keys.state).await;
        assert_eq!(
            (&books.sequence.to_string(), &books.claim_order.to_string()),
            (&fields["seq"], &fields["order"])
        );
        assert_eq!(
            (&books.puts, &books.restores.to_string()),
            (&fields["puts"], &fields["restores"])
        );
        let generation = (
            books.generation.start.to_string(),
            books.generation.opened_ms.to_string(),
            books.generation.version.to_string(),
        );
        assert_eq!(books.generation.letter, fields["gen"]);
        assert_eq!(
            (&generation.0, &generation.1, &generation.2),
            (&fields["gen_start"], &fields["gen_opened"], &fields["gen_version"])
        );
        let (newer, older) = if fields["gen"] == "a" {
            (&keys.seen_a, &keys.seen_b)
        } else {
            (&keys.seen_b, &keys.seen_a)
        };
        let sorted = |records: HashMap<String, String>| records.into_iter().collect::<BTreeMap<_, _>>();
        assert_eq!(sorted(fold.seen), each_by_itself(&hash(newer).await));
        assert_eq!(sorted(fold.seen_before), each_by_itself(&hash(older).await));
        let definitions = fold
            .definitions
            .into_iter()
            .map(|(version, json)| (version.to_string(), json));
        assert_eq!(definitions.collect::<BTreeMap<_, _>>(), hash(&keys.definitions).await);
        let adjustments = fold
            .adjustments
            .into_iter()
            .map(|(id, (digest, at))| (id.to_string(), format!("{digest} {at}")));
        assert_eq!(adjustments.collect::<BTreeMap<_, _>>(), hash(&keys.adjustments).await);
        assert_eq!(fold.epochs, self.operate.epochs(&self.id).await.expect("readable"));
        let pending: Vec<(String, u64)> = self
            .raw(redis::cmd("ZRANGE").arg(&keys.pending).arg(0).arg(-1).arg("WITHSCORES"))
            .await;
        let pending = pending
            .into_iter()
            .map(|(entry, seq)| (seq, entry))
            .collect::<BTreeMap<_, _>>();
        let rebuilt = books.pending.iter().map(|(seq, p)| (*seq, p.entry_id.clone()));
        assert_eq!(rebuilt.collect::<BTreeMap<_, _>>(), pending);
    }
}

/// Puts a definition; returns whether the jackpot is new.
pub async fn put(bench: &Bench, change: &Value, wanted: Wanted) -> Result<bool, PlayError> {
    let definition = definition(document(bench.id.as_str(), change));
    let put = bench
        .operate
        .define(&bench.id, &definition, wanted, Status::Open, &operator())
        .await?;
    Ok(put.created)
}

/// The field whose rule was broken.
pub fn rule_of(result: Result<impl std::fmt::Debug, PlayError>) -> String {
    match result {
        Err(PlayError::Invalid(wrong)) => wrong[0].field.clone(),
        other => panic!("{other:?}"),
    }
}

/// The records of entries. Those of a run come without the part that they share with their call.
fn each_by_itself(records: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let entries = records.iter().filter(|(id, _)| !id.starts_with(':'));
    let by_itself = |(id, text): (&String, &String)| {
        let Some(call) = text.strip_prefix(':').and_then(|rest| rest.split(' ').next()) else {
            return (id.clone(), text.clone());
        };
        let whole = format!("{text} {}", records[&format!(":{call}")]);
        (id.clone(), Record::parse(&whole).expect("readable").to_text())
    };
    entries.map(by_itself).collect()
}
