//! What these tests share: an instance whose script calls are counted, on a Redis that may stop answering.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use futures_util::future::join_all;
use jackpot::jackpot::error::PlayError;
use jackpot::jackpot::metrics::PlayMetrics;
use jackpot::jackpot::operate::Operate;
use jackpot::jackpot::play::{By, Play, Played};
use jackpot::jackpot::scripts::ScriptError;
use jackpot::jackpot::view::Views;
use jackpot::settings;
use jackpot::store::{Store, StoreError};
use jackpot::telemetry::Metrics;
use jackpot_core::ids::Id;
use jackpot_core::jackpot::definition::Definition;
use jackpot_core::money::Minor;
use jackpot_core::secret::MasterSecret;

use crate::jackpot::by_hand;
use crate::jackpot::fixture::JackpotFixture;
use crate::support::given::{SECRET, definition, document, sent, standalone};
use crate::support::prelude::*;
use crate::support::proxy::ChaosProxy;

/// Most entries of one call, as `crates/kernel/src/combiner/queue.rs` has it.
pub const MAX_BATCH: usize = 256;
/// Most entries that wait on a thread for a jackpot, as the same file has it.
pub const MAX_WAITING: usize = 4_096;

/// An instance beside that of `fixture`.
pub struct Instance {
    pub fixture: JackpotFixture,
    pub play: Play,
    pub store: Store,
    calls: Arc<Mutex<BTreeMap<&'static str, usize>>>,
    _directory: tempfile::TempDir,
}

/// A definition under which nobody wins.
pub fn nobody_wins() -> Value {
    json!({"odds": {"total": 1_000_000, "ranks": []}})
}

impl Instance {
    /// An instance with a new jackpot, which it has read.
    pub async fn with(change: &Value) -> Self {
        let redis = Arc::new(TestRedis::start().await);
        let fixture = JackpotFixture::on(Arc::clone(&redis), change).await;
        Self::over(fixture, &standalone(redis.url())).await
    }

    /// The same behind a proxy that may hold back or lose answers, with time limits short enough to meet them.
    pub async fn behind_proxy(change: &Value) -> (Self, ChaosProxy) {
        let redis = Arc::new(TestRedis::start().await);
        let fixture = JackpotFixture::on(Arc::clone(&redis), change).await;
        let proxy = ChaosProxy::in_front_of(redis.url()).await;
        let settings = settings::Redis {
            connect_timeout_ms: 1_000,
            response_timeout_ms: 2_000,
            total_timeout_ms: 3_000,
            ..standalone(proxy.url())
        };
        (Self::over(fixture, &settings).await, proxy)
    }

    /// Another instance of the same jackpot.
    pub async fn beside(other: &Self) -> Self {
        let redis = Arc::clone(&other.fixture.redis);
        let fixture = JackpotFixture::named(Arc::clone(&redis), other.fixture.id.clone()).await;
        Self::over(fixture, &standalone(redis.url())).await
    }

    async fn over(fixture: JackpotFixture, settings: &settings::Redis) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let store = Store::open(settings, directory.path()).await.expect("the store opens");
        let calls = Arc::<Mutex<BTreeMap<_, _>>>::default();
        let counted = Arc::clone(&calls);
        store.observe(Arc::new(move |script, _, _| {
            *counted.lock().expect("no panic before").entry(script).or_default() += 1;
        }));
        let views = Arc::new(Views::new(store.clone(), MasterSecret::new(SECRET)));
        let metrics = PlayMetrics::new(Arc::new(Metrics::new()));
        let play = crate::support::given::play(&store, views, metrics, u64::MAX);
        play.views.view(&fixture.id).await.expect("readable");
        let instance = Self {
            fixture,
            play,
            store,
            calls,
            _directory: directory,
        };
        instance.load_functions().await;
        instance
    }

    /// Redis has the functions that take entries from here on: a call that finds one missing goes out twice.
    async fn load_functions(&self) {
        let other = self.another(&nobody_wins()).await;
        for id in ["one", "two"] {
            let id = Id::parse(id).expect("an id");
            let entering = self.play.enter(&other, &id, sent("p", 100), By::default());
            entering.await.expect("taken");
        }
        assert_eq!(self.entering(), 2, "by each of the two functions");
        self.calls.lock().expect("no panic before").clear();
    }

    /// Another jackpot on the same Redis, read as well.
    pub async fn another(&self, change: &Value) -> Id {
        let id = Id::parse(&TestRedis::id("u")).expect("an id");
        let operate = Operate::new(self.fixture.store.clone(), Arc::clone(&self.fixture.operate.views));
        let wanted = jackpot::jackpot::scripts::Wanted::Any;
        let open = jackpot_api::jackpot::Status::Open;
        let definition: Definition = definition(document(id.as_str(), change));
        operate
            .define(&id, &definition, wanted, open, &crate::support::given::operator())
            .await
            .expect("defined");
        self.play.views.view(&id).await.expect("readable");
        id
    }

    /// Number of calls of a script so far.
    pub fn calls(&self, script: &str) -> usize {
        let calls = self.calls.lock().expect("no panic before");
        calls.get(script).copied().unwrap_or_default()
    }

    /// Number of calls that bring entries so far: `enter_expected`, and `enter` where nothing is expected or it missed.
    pub fn entering(&self) -> usize {
        self.calls("enter") + self.calls("enter_expected")
    }

    /// One entry of player `p` with stake 100.
    pub async fn enter(&self, entry_id: &str) -> Result<Played, PlayError> {
        self.enter_as(entry_id, "p", 100).await
    }

    pub async fn enter_as(&self, entry_id: &str, player: &str, stake: u64) -> Result<Played, PlayError> {
        let entry_id = Id::parse(entry_id).expect("an id");
        self.play
            .enter(&self.fixture.id, &entry_id, sent(player, stake), By::default())
            .await
    }

    /// Entries at the same time, in this order.
    pub async fn enter_all(&self, ids: &[String]) -> Vec<Result<Played, PlayError>> {
        join_all(ids.iter().map(|id| self.enter(id))).await
    }

    /// Number of entries that Redis has numbered.
    pub async fn sequence(&self) -> u64 {
        let state = &self.fixture.keys.state;
        self.fixture.raw(&mut by_hand::get(state, "seq")).await
    }

    /// `count` ids whose attempt 0 draws `rank` under the definition in force.
    pub async fn drawing(&self, stem: &str, rank: u32, count: usize) -> Vec<String> {
        let (_, view) = self.fixture.fresh().await;
        let seed = &view.seed;
        let ids = (0..100_000).map(|n| format!("{stem}{n}"));
        let found: Vec<_> = ids
            .filter(|id| seed.rank(id, None, 0, view.definition.odds().at(Minor::ZERO)) == rank)
            .take(count)
            .collect();
        assert_eq!(found.len(), count, "rank {rank} is drawn now and then");
        found
    }
}

/// `<stem>0`, `<stem>1`, …
pub fn ids(stem: &str, count: usize) -> Vec<String> {
    (0..count).map(|n| format!("{stem}{n}")).collect()
}

/// The numbers that these entries got.
pub fn sequences(answers: &[Result<Played, PlayError>]) -> Vec<u64> {
    let number = |answer: &Result<Played, PlayError>| answer.as_ref().expect("an answer").record.sequence;
    answers.iter().map(number).collect()
}

/// Whether the error says that the outcome is unknown.
pub fn is_unavailable(answer: &Result<Played, PlayError>) -> bool {
    matches!(
        answer,
        Err(PlayError::Script(ScriptError::Store(StoreError::Unavailable { .. })))
    )
}
