//! A jackpot on a private Redis, a ledger, and projectors between them.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use jackpot::jackpot::ledger::event::Event;
use jackpot::jackpot::ledger::fold::Fold;
use jackpot::jackpot::ledger::projector::Jackpots;
use jackpot::jackpot::operate::Operate;
use jackpot::jackpot::view::Views;
use jackpot::ledger::Ledger;
use jackpot::ledger::kinds::Projecting;
use jackpot::ledger::projector::Projector;
use jackpot::ledger::queries::Queries;
use jackpot::ledger::restore::{Replace, RestoreError, Restored, Restorer};
use jackpot::settings;
use jackpot::telemetry::Metrics;
use jackpot_core::chain::{self, ChainHash};
use jackpot_core::ids::Id;
use jackpot_core::receipt::Receipt;
use jackpot_core::secret::MasterSecret;
use serde_json::Value;
use sqlx::{AssertSqlSafe, Row};

use crate::jackpot::fixture::{Bench, SECRET, operator};
use crate::support::ledger_db::LedgerDb;
use crate::support::redis::TestRedis;

/// Every table of the ledger that holds what happened, with its columns.
const TABLES: [(&str, &str); 8] = [
    ("events", "kind id n stream_id at_ms type last_sequence hash body"),
    ("postings", "jackpot_id at_ms n line tier account amount micro"),
    ("definitions", "kind id version n at_ms json kept"),
    (
        "epochs",
        "jackpot_id epoch commitment nonce secret_id seed opened_ms closed_ms closed_n",
    ),
    ("adjustments", "jackpot_id adjustment_id n at_ms digest"),
    (
        "payouts",
        "payout_id jackpot_id claim_order n sequence entry_id player_id rank tier amount currency pool_before pool_after \
         paid_at_ms history event_id",
    ),
    (
        "audit",
        "subject n at_ms who action target before after reason request_id",
    ),
    ("streams", "kind id n hash stream_id restores books indexed_n stopped"),
];
const ENTRY_COLUMNS: &str =
    "player_id at_ms jackpot_id sequence entry_id stake client_seed n epoch version rank settled";

/// A row of text, column after column.
pub type Texts = Vec<String>;

pub struct Kit {
    pub bench: Bench,
    pub redis: Arc<TestRedis>,
    pub ledger: Ledger,
    pub settings: settings::Ledger,
    pub metrics: Arc<Metrics>,
    pub db: LedgerDb,
}

impl Kit {
    /// A jackpot, defined as [`crate::support::given::document`] changed by `change`, and an empty ledger.
    pub async fn with(db: LedgerDb, change: &Value) -> Self {
        let redis = Arc::new(TestRedis::own(&[]).await);
        let bench = Bench::on(Arc::clone(&redis), change).await;
        let kit = Self::of(db, redis, bench).await;
        kit.ledger.claim(&kit.bench.store).await.expect("a Redis of its own");
        kit
    }

    /// An empty ledger beside an existing jackpot.
    pub async fn of(db: LedgerDb, redis: Arc<TestRedis>, bench: Bench) -> Self {
        let settings = db.settings();
        let ledger = Ledger::open(&settings, db.data_dir()).await.expect("a ledger");
        Self {
            bench,
            redis,
            ledger,
            settings,
            metrics: Arc::new(Metrics::new()),
            db,
        }
    }

    /// What another instance has that has just started.
    pub fn other_instance(&self) -> Operate {
        let views = Views::new(self.bench.store.clone(), MasterSecret::new(SECRET));
        Operate::new(self.bench.store.clone(), Arc::new(views))
    }

    /// A projector of an instance that has just started.
    pub fn projector(&self) -> Projector<Jackpots> {
        self.projector_of(&self.other_instance(), false)
    }

    /// A projector of this instance.
    pub fn projector_of(&self, operate: &Operate, auto_restore: bool) -> Projector<Jackpots> {
        let jackpots = Jackpots {
            operate: operate.clone(),
        };
        let from = Projecting {
            ledger: &self.ledger,
            store: &self.bench.store,
            metrics: &self.metrics,
            settings: &self.settings,
            instance: &TestRedis::id("instance"),
            auto_restore,
        };
        Projector::of(jackpots, &from)
    }

    pub fn data_dir(&self) -> &Path {
        self.db.data_dir()
    }

    /// An instance starts, projects everything and ends.
    pub async fn project(&self) {
        self.projector().finish().await;
    }

    /// The same with an instance that restores what is lost.
    pub async fn heal(&self) {
        self.projector_of(&self.bench.operate, true).finish().await;
    }

    pub async fn restore(&self, replace: Replace) -> Result<Restored, RestoreError> {
        let restorer = Restorer::new(self.ledger.sql.clone(), self.bench.store.clone());
        let secrets = &self.bench.operate.views.secrets;
        restorer
            .restore(secrets, &self.bench.id, replace, &operator(), "a test")
            .await
    }

    /// Rows of a query without input, every column as text.
    pub async fn rows(&self, sql: String) -> Vec<Texts> {
        let rows = sqlx::query(AssertSqlSafe(sql))
            .fetch_all(self.ledger.sql.reader())
            .await
            .expect("rows");
        let row = |row: &sqlx::any::AnyRow| (0..row.len()).map(|i| row.get::<String, _>(i)).collect();
        let mut rows: Vec<Texts> = rows.iter().map(row).collect();
        rows.sort();
        rows
    }

    pub async fn table(&self, table: &str, columns: &str) -> Vec<Texts> {
        let columns: Vec<_> = columns.split(' ').map(|name| format!("CAST({name} AS TEXT)")).collect();
        self.rows(format!("SELECT {} FROM {table}", columns.join(", "))).await
    }

    /// All that the ledger holds of the jackpot.
    pub async fn everything(&self) -> BTreeMap<String, Vec<Texts>> {
        let own = |row: &Texts| row.contains(&self.bench.id.to_string());
        let mut all = BTreeMap::new();
        for (table, columns) in TABLES {
            all.insert(table.to_owned(), self.table(table, columns).await);
        }
        all.insert("entries".to_owned(), self.indexed().await);
        for rows in all.values_mut() {
            rows.retain(own);
        }
        all
    }

    /// The index of entries, all days.
    pub async fn indexed(&self) -> Vec<Texts> {
        let mut all = Vec::new();
        for day in self.rows("SELECT day FROM entry_days".to_owned()).await {
            all.extend(self.table(&format!("entries_{}", day[0]), ENTRY_COLUMNS).await);
        }
        all.sort();
        all
    }

    /// The receipt as the service serves it.
    pub async fn receipt(&self, payout_id: &str) -> Receipt {
        let row = Queries::new(self.ledger.sql.clone(), 7)
            .payout(payout_id)
            .await
            .expect("a payout");
        serde_json::from_value(serde_json::to_value(row).expect("JSON")).expect("a receipt")
    }

    /// A column of the jackpot's row.
    pub async fn place(&self, id: &Id, column: &str) -> String {
        let sql = format!("SELECT CAST({column} AS TEXT) FROM streams WHERE kind = 'jackpot' AND id = '{id}'");
        self.rows(sql).await[0][0].clone()
    }

    /// Number of the ledger's last event.
    pub async fn n(&self) -> u64 {
        self.place(&self.bench.id, "n").await.parse().expect("a number")
    }

    pub async fn change(&self, sql: &str) {
        let changed = self
            .ledger
            .sql
            .execute(sqlx::query(AssertSqlSafe(sql.to_owned())))
            .await;
        assert_eq!(changed.expect("changed"), 1, "{sql}");
    }

    /// The events of a jackpot in SQL, each of them once, and their chain whole.
    pub async fn events_of(&self, id: &Id) -> Vec<Event> {
        let sql = format!("SELECT n, hash, body FROM events WHERE kind = 'jackpot' AND id = '{id}' ORDER BY n");
        let rows = sqlx::query(AssertSqlSafe(sql))
            .fetch_all(self.ledger.sql.reader())
            .await;
        let (mut hash, mut events) = (ChainHash::first(id), Vec::new());
        for (row, n) in rows.expect("rows").iter().zip(1_i64..) {
            let (at, own, body): (i64, String, String) = (row.get(0), row.get(1), row.get(2));
            hash = hash.next(&body);
            assert_eq!((at, own), (n, hash.to_string()));
            let fields: BTreeMap<String, String> = serde_json::from_str(&body).expect("an object");
            assert_eq!(chain::body(&fields), body, "canonical");
            events.push(Event::parse(&fields).expect("readable"));
        }
        let last = (events.len().to_string(), hash.to_string());
        assert_eq!((self.place(id, "n").await, self.place(id, "hash").await), last);
        events
    }

    /// SQL has all of Redis' stream and nothing else, and Redis holds what the events say.
    pub async fn assert_complete(&self) {
        let events = self.events_of(&self.bench.id).await;
        let stream = self.bench.events().await;
        assert!(stream.len() <= events.len(), "{stream:?}");
        assert_eq!(events[events.len() - stream.len()..], stream);
        self.assert_books(&events).await;
        self.bench.assert_follows_from(&events).await;
    }

    async fn assert_books(&self, events: &[Event]) {
        let mut fold = Fold::default();
        for event in events {
            fold.apply(event).expect("follows");
        }
        let books = self.place(&self.bench.id, "books").await;
        assert_eq!(
            serde_json::from_str::<jackpot::jackpot::ledger::books::Books>(&books).expect("books"),
            fold.books
        );
    }

    /// A line of the metrics without its value.
    pub fn metric(&self, name: &str, id: &Id) -> String {
        let text = self.metrics.encode().expect("metrics");
        let of = format!("{{jackpot=\"{id}\"}} ");
        let found = text.lines().find(|line| line.contains(name) && line.contains(&of));
        found.map_or_else(String::new, |line| {
            line.split(&of).last().unwrap_or_default().to_owned()
        })
    }
}
