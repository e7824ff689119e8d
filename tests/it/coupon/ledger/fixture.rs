//! A coupon on a private Redis, a ledger, and projectors between them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use jackpot::coupon::known::Registry;
use jackpot::coupon::ledger::books::Books;
use jackpot::coupon::ledger::event::Event;
use jackpot::coupon::ledger::projector::Coupons;
use jackpot::coupon::status::Status;
use jackpot::ledger::Ledger;
use jackpot::ledger::kinds::Projecting;
use jackpot::ledger::projector::Projector;
use jackpot::ledger::reconcile::report::Report;
use jackpot::ledger::restore::{Replace, RestoreError, Restored, Restorer};
use jackpot::operator::Operator;
use jackpot::settings;
use jackpot::telemetry::Metrics;
use jackpot_core::chain::{self, ChainHash};
use jackpot_core::ids::Id;
use jackpot_core::mark::Mark;
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Row};

use crate::coupon::fixture::CouponBench;
use crate::support::eventually;
use crate::support::ledger_db::LedgerDb;
use crate::support::redis::TestRedis;

/// Every table of the ledger that holds what happened to coupons, with its columns.
const TABLES: [(&str, &str); 5] = [
    ("events", "id n stream_id at_ms type last_sequence hash body"),
    (
        "coupon_issues",
        "coupon_id sequence request_id user_id code issued_at_ms n voided_at_ms voided_n",
    ),
    ("definitions", "id version n at_ms json"),
    (
        "audit",
        "subject n at_ms who action target before after reason request_id",
    ),
    ("streams", "id n hash stream_id restores books stopped"),
];

/// A row of text, column after column.
pub type Texts = Vec<String>;

pub struct CouponKit {
    pub bench: CouponBench,
    pub id: Id,
    pub ledger: Ledger,
    pub settings: settings::Ledger,
    pub metrics: Arc<Metrics>,
    /// What this instance knows.
    pub registry: Arc<Registry>,
    _db: LedgerDb,
}

impl CouponKit {
    /// A coupon, defined as the bench does it changed by `change`, and an empty ledger.
    pub async fn with(db: LedgerDb, change: &Value) -> Self {
        let redis = Arc::new(TestRedis::own(&[]).await);
        let kit = Self::of(db, CouponBench::on(redis, change).await).await;
        kit.ledger.claim(&kit.bench.store).await.expect("a Redis of its own");
        kit
    }

    /// An empty ledger beside an existing coupon.
    pub async fn of(db: LedgerDb, bench: CouponBench) -> Self {
        let mut settings = db.settings();
        settings.reconcile_interval_s = 0;
        let id = bench.keys.state.split(['{', '}']).nth(1).expect("a hash tag");
        let id = Id::parse(id).expect("an id");
        let registry = Arc::new(Registry::new(bench.store.clone()));
        registry
            .add_to_index(std::slice::from_ref(&id))
            .await
            .expect("in the index");
        Self {
            ledger: Ledger::open(&settings, db.data_dir()).await.expect("a ledger"),
            metrics: Arc::new(Metrics::new()),
            registry,
            settings,
            bench,
            id,
            _db: db,
        }
    }

    /// The coupons as known to another instance that has just started.
    pub fn other_instance(&self) -> Coupons {
        Coupons {
            registry: Arc::new(Registry::new(self.bench.store.clone())),
            store: self.bench.store.clone(),
        }
    }

    /// The coupons as known to this instance.
    pub fn coupons(&self) -> Coupons {
        Coupons {
            registry: Arc::clone(&self.registry),
            ..self.other_instance()
        }
    }

    pub fn projector_of(&self, coupons: Coupons, auto_restore: bool) -> Projector<Coupons> {
        let from = Projecting {
            ledger: &self.ledger,
            store: &self.bench.store,
            metrics: &self.metrics,
            settings: &self.settings,
            instance: &TestRedis::id("instance"),
            auto_restore,
        };
        Projector::of(coupons, &from)
    }

    /// An instance starts, projects everything and ends.
    pub async fn project(&self) {
        self.projector_of(self.other_instance(), false).finish().await;
    }

    /// This instance projects everything, and restores what is lost.
    pub async fn heal(&self) {
        self.projector_of(self.coupons(), true).finish().await;
    }

    pub async fn restore(&self, replace: Replace) -> Result<Restored, RestoreError> {
        let restorer = Restorer::new(self.ledger.sql.clone(), self.bench.store.clone());
        let by = Operator {
            who: "tester".to_owned(),
            request_id: "r".to_owned(),
        };
        restorer.restore_coupon(&self.id, replace, &by, "a test").await
    }

    /// Rows of a query without input, every column as text.
    pub async fn rows(&self, sql: String) -> Vec<Texts> {
        let rows = sqlx::query(AssertSqlSafe(sql))
            .fetch_all(self.ledger.sql.reader())
            .await;
        let row = |row: &sqlx::any::AnyRow| (0..row.len()).map(|i| row.get::<String, _>(i)).collect();
        rows.expect("rows").iter().map(row).collect()
    }

    /// Rows of the coupon in this order, every column as text.
    pub async fn table(&self, table: &str, columns: &str, order: &str) -> Vec<Texts> {
        let columns: Vec<_> = columns.split(' ').map(|name| format!("CAST({name} AS TEXT)")).collect();
        let own = match table {
            "audit" => format!("subject = 'coupon:{}'", self.id),
            "coupon_issues" => format!("coupon_id = '{}'", self.id),
            _ => format!("kind = 'coupon' AND id = '{}'", self.id),
        };
        let columns = columns.join(", ");
        // By the table's columns, not by the texts that the query makes of them.
        let order: Vec<_> = order.split(' ').map(|name| format!("{table}.{name}")).collect();
        let order = order.join(", ");
        self.rows(format!("SELECT {columns} FROM {table} WHERE {own} ORDER BY {order}"))
            .await
    }

    /// All that the ledger holds of the coupon.
    pub async fn everything(&self) -> BTreeMap<&'static str, Vec<Texts>> {
        let mut all = BTreeMap::new();
        for (table, columns) in TABLES {
            all.insert(
                table,
                self.table(table, columns, columns.split(' ').nth(1).unwrap_or("n"))
                    .await,
            );
        }
        all
    }

    /// A column of the coupon's row.
    pub async fn place(&self, column: &str) -> String {
        self.table("streams", column, "n").await[0][0].clone()
    }

    pub async fn change(&self, sql: &str) {
        let changed = self
            .ledger
            .sql
            .execute(sqlx::query(AssertSqlSafe(sql.to_owned())))
            .await;
        assert_eq!(changed.expect("changed"), 1, "{sql}");
    }

    /// The status in Redis, also when not all of the coupon can be read.
    pub async fn status(&self) -> Status {
        let state = self.bench.hash(&self.bench.keys.state).await;
        Status::parse(&state["status"]).expect("a status")
    }

    /// The report of the last comparison.
    pub async fn report(&self) -> Report {
        let row = self.table("reconciliations", "report", "n").await.remove(0);
        serde_json::from_str(&row[0]).expect("a report")
    }

    /// All that Redis holds of the coupon, without the stream and without what belongs to one Redis only.
    pub async fn contents(&self) -> Vec<BTreeMap<String, String>> {
        let keys = &self.bench.keys;
        let mut all = Vec::new();
        for key in [&keys.state, &keys.requests, &keys.users] {
            all.push(self.bench.hash(key).await);
        }
        all[0].retain(|field, _| !["n", "restores", "restore_token", "history", "consumer"].contains(&field.as_str()));
        for key in [&keys.queue, &keys.dead] {
            let members = self.bench.by_arrival(key).await.into_iter();
            all.push(members.map(|(id, arrival)| (id, arrival.to_string())).collect());
        }
        all
    }

    /// SQL has all of Redis' stream, and each event once. The chain is whole, the books are those of the events, and
    /// the issues are in their order.
    pub async fn assert_complete(&self) {
        let (mut hash, mut books) = (ChainHash::of(&format!("coupon:{}", self.id)), Books::default());
        let rows = self.table("events", "n hash body", "n").await;
        for (row, n) in rows.iter().zip(1..) {
            let fields: BTreeMap<String, String> = serde_json::from_str(&row[2]).expect("an object");
            hash = hash.next(&row[2]);
            assert_eq!((&row[0], &row[1]), (&n.to_string(), &hash.to_string()));
            assert_eq!(chain::body(&fields), row[2], "canonical");
            books.apply(&Event::parse(&fields).expect("readable")).expect("follows");
        }
        assert_eq!(
            serde_json::from_str::<Books>(&self.place("books").await).expect("books"),
            books
        );
        assert_eq!(self.place("n").await, rows.len().to_string());
        let mut stream = self.bench.events().await;
        stream.reverse();
        for ((_, fields), row) in stream.iter().zip(rows.iter().rev()) {
            assert_eq!(chain::body(fields), row[2]);
        }
        let sequences = self.table("coupon_issues", "sequence", "n sequence").await;
        let dense: Vec<_> = (1..=books.sequence).map(|n| vec![n.to_string()]).collect();
        assert_eq!(sequences, dense, "in the order in which they were issued");
        let redis = self.bench.snapshot().await;
        assert_eq!(redis.mark, Mark::new(books.restores, books.n).expect("a mark"));
        assert_eq!(
            (
                redis.issued,
                redis.voided,
                redis.queued,
                redis.dead,
                redis.arrivals,
                redis.stock
            ),
            (
                books.sequence,
                books.voided,
                books.queued,
                books.dead,
                books.arrivals,
                books.stock
            )
        );
    }

    /// A line of the metrics without its value.
    pub fn metric(&self, name: &str) -> String {
        let text = self.metrics.encode().expect("metrics");
        let of = format!("{{coupon=\"{}\"}} ", self.id);
        let found = text.lines().find(|line| line.contains(name) && line.contains(&of));
        found.map_or_else(String::new, |line| {
            line.split(&of).last().unwrap_or_default().to_owned()
        })
    }
}

/// Everything that can happen to a coupon, except its end and a restore. At the end one request is in the queue behind
/// a dead letter that went back, and one is dead.
pub async fn live(bench: &CouponBench) {
    let far = json!({"stock": 4, "per_user": 2, "starts_at": "2100-01-01T00:00:00Z"});
    let two = json!({"stock": 4, "per_user": 2});
    bench.define(&two).await;
    for (request, user) in [("a", "u1"), ("b", "u1"), ("c", "u1"), ("d", "u2"), ("a", "u1")] {
        bench.now(request, user).await;
    }
    bench.void("a").await;
    for (request, user) in [("e", "u1"), ("f", "u3"), ("g", "u4"), ("h", "u5")] {
        bench.now(request, user).await;
    }
    bench.define(&far).await;
    bench.now("early", "u6").await;
    bench
        .define(&json!({"stock": 6, "per_user": 1, "per_user_window_s": 1}))
        .await;
    let mut tries = 0;
    eventually(
        Duration::from_secs(20),
        "the window lets go of the last issue",
        async || {
            tries += 1;
            let answer = bench.now(&format!("w{tries}"), "u3").await;
            answer.first.is_none().then_some(())
        },
    )
    .await;
    for (request, user) in [("q1", "u7"), ("q2", "u8"), ("q3", "u9"), ("q4", "u1")] {
        bench.join(request, user).await;
    }
    bench.served("consumer", "1", &[], 1).await;
    let codes = crate::coupon::fixture::with_codes(["q1"]);
    bench.served("consumer", "2", &codes, 0).await;
    bench
        .raw::<()>(redis::cmd("HDEL").arg(&bench.keys.state).arg("consumer"))
        .await;
    bench.wear_out().await;
    bench.redrive("q2").await;
    bench.redrive("q4").await;
    bench.now("behind", "u10").await;
    bench.status(Status::Suspended).await;
    bench.status(Status::Open).await;
    let checkpoint = jackpot::coupon::scripts::checkpoint(&bench.store, &bench.keys, Mark::ZERO).await;
    checkpoint.expect("done");
}
