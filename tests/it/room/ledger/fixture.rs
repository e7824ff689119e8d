//! A room on a private Redis, a ledger, and projectors between them.

use std::collections::BTreeMap;
use std::sync::Arc;

use jackpot::ledger::Ledger;
use jackpot::ledger::kinds::Projecting;
use jackpot::ledger::projector::Projector;
use jackpot::ledger::reconcile::report::Report;
use jackpot::ledger::restore::{Replace, RestoreError, Restored, Restorer};
use jackpot::operator::Operator;
use jackpot::room::known::Registry;
use jackpot::room::ledger::books::Books;
use jackpot::room::ledger::event::{Checkpoint, Event};
use jackpot::room::ledger::projector::Rooms;
use jackpot::room::ledger::report::compare;
use jackpot::room::scripts;
use jackpot::room::status::Status;
use jackpot::room::ticket::Ticket;
use jackpot::settings;
use jackpot::telemetry::Metrics;
use jackpot_core::chain::{self, ChainHash};
use jackpot_core::mark::Mark;
use jackpot_core::secret::MasterSecret;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use sqlx::{AssertSqlSafe, Row};

use crate::room::fixture::RoomBench;
use crate::support::given::SECRET;
use crate::support::ledger_db::LedgerDb;
use crate::support::redis::TestRedis;

/// A row of text, column after column.
pub type Texts = Vec<String>;

pub struct RoomKit {
    pub bench: RoomBench,
    pub ledger: Ledger,
    pub settings: settings::Ledger,
    pub metrics: Arc<Metrics>,
    /// What this instance knows.
    pub registry: Arc<Registry>,
    _db: LedgerDb,
}

impl RoomKit {
    /// A room, defined as the bench does it changed by `change`, and an empty ledger.
    pub async fn with(db: LedgerDb, change: &Value) -> Self {
        let bench = RoomBench::on(Arc::new(TestRedis::own(&[]).await), change).await;
        let mut settings = db.settings();
        settings.reconcile_interval_s = 0;
        let registry = Arc::new(Registry::new(bench.store.clone()));
        let ids = std::slice::from_ref(&bench.id);
        registry.add_to_index(ids).await.expect("in the index");
        let ledger = Ledger::open(&settings, db.data_dir()).await.expect("a ledger");
        ledger.claim(&bench.store).await.expect("a Redis of its own");
        Self {
            bench,
            ledger,
            settings,
            metrics: Arc::new(Metrics::new()),
            registry,
            _db: db,
        }
    }

    /// The rooms as known to another instance that has just started.
    pub fn other_instance(&self) -> Rooms {
        Rooms {
            registry: Arc::new(Registry::new(self.bench.store.clone())),
            store: self.bench.store.clone(),
            secret: MasterSecret::new(SECRET),
        }
    }

    /// The rooms as known to this instance.
    pub fn rooms(&self) -> Rooms {
        Rooms {
            registry: Arc::clone(&self.registry),
            ..self.other_instance()
        }
    }

    pub fn projector_of(&self, rooms: Rooms, auto_restore: bool) -> Projector<Rooms> {
        let from = Projecting {
            ledger: &self.ledger,
            store: &self.bench.store,
            metrics: &self.metrics,
            settings: &self.settings,
            instance: &TestRedis::id("instance"),
            auto_restore,
        };
        Projector::of(rooms, &from)
    }

    /// An instance starts, projects everything and ends.
    pub async fn project(&self) {
        self.projector_of(self.other_instance(), false).finish().await;
    }

    /// This instance projects everything, and restores what is lost.
    pub async fn heal(&self) {
        self.projector_of(self.rooms(), true).finish().await;
        self.bench.learn_order().await;
    }

    /// Redis loses all that it has.
    pub async fn wipe(&self) {
        self.bench.raw::<()>(&mut redis::cmd("FLUSHALL")).await;
    }

    pub async fn restore(&self, replace: Replace) -> Result<Restored, RestoreError> {
        let restorer = Restorer::new(self.ledger.sql.clone(), self.bench.store.clone());
        let by = Operator {
            who: "tester".to_owned(),
            request_id: "r".to_owned(),
        };
        let (secret, id) = (MasterSecret::new(SECRET), &self.bench.id);
        let done = restorer.restore_room(&secret, id, replace, (0, 0), &by, "a test").await;
        self.bench.learn_order().await;
        done
    }

    /// Rows of the room in the order of their events, every column as text.
    pub async fn table(&self, table: &str, columns: &str) -> Vec<Texts> {
        let columns: Vec<_> = columns.split(' ').map(|name| format!("CAST({name} AS TEXT)")).collect();
        let columns = columns.join(", ");
        let own = match table {
            "audit" => format!("subject = 'room:{}'", self.bench.id),
            _ => format!("kind = 'room' AND id = '{}'", self.bench.id),
        };
        let sql = format!("SELECT {columns} FROM {table} WHERE {own} ORDER BY {table}.n");
        let rows = sqlx::query(AssertSqlSafe(sql)).fetch_all(self.ledger.sql.reader());
        let row = |row: &sqlx::any::AnyRow| (0..row.len()).map(|i| row.get::<String, _>(i)).collect();
        rows.await.expect("rows").iter().map(row).collect()
    }

    /// A column of the room's row.
    pub async fn place(&self, column: &str) -> String {
        self.table("streams", column).await[0][0].clone()
    }

    /// The status in Redis, also when not all of the room can be read.
    pub async fn status(&self) -> Status {
        let state = self.bench.hash(&self.bench.keys.state).await;
        Status::parse(&state["status"]).expect("a status")
    }

    /// The report of the last comparison.
    pub async fn report(&self) -> Report {
        let row = self.table("reconciliations", "report").await.remove(0);
        serde_json::from_str(&row[0]).expect("a report")
    }

    /// SQL has all of Redis' stream, and each event once. The chain is whole, the books are those of the events, and
    /// Redis is what they say.
    pub async fn assert_complete(&self) {
        let id = &self.bench.id;
        let (mut hash, mut books) = (ChainHash::of(&format!("room:{id}")), Books::default());
        let rows = self.table("events", "n hash body").await;
        for (row, n) in rows.iter().zip(1..) {
            let fields: BTreeMap<String, String> = serde_json::from_str(&row[2]).expect("an object");
            hash = hash.next(&row[2]);
            assert_eq!((&row[0], &row[1]), (&n.to_string(), &hash.to_string()));
            assert_eq!(chain::body(&fields), row[2], "canonical");
            books.apply(&Event::parse(&fields).expect("readable")).expect("follows");
        }
        let kept: Books = serde_json::from_str(&self.place("books").await).expect("books");
        assert_eq!(kept, books);
        assert_eq!(self.place("n").await, rows.len().to_string());
        let mut stream = self.bench.events().await;
        stream.reverse();
        for ((_, fields), row) in stream.iter().zip(rows.iter().rev()) {
            assert_eq!(chain::body(fields), row[2]);
        }
        let redis = self.bench.snapshot().await;
        assert_eq!(redis.mark, Mark::new(books.restores, books.n).expect("a mark"));
        let decides = Checkpoint::parse(&redis.decides).expect("readable");
        let report = compare(&decides, &books);
        assert!(report.clean, "{report:?}");
        assert_eq!(
            (Some(redis.status), redis.definition.clone()),
            (books.status, books.definition)
        );
        assert_eq!(redis.order, books.order);
        assert_eq!(redis.collected_sha256, books.opened.map(|opened| opened.sha256));
        let state = self.bench.hash(&self.bench.keys.state).await;
        assert_eq!(
            (&state["puts"], &state["opens"]),
            (&books.puts, &books.opens_ms.to_string())
        );
    }

    /// A line of the metrics without its value.
    pub fn metric(&self, name: &str) -> String {
        let text = self.metrics.encode().expect("metrics");
        let of = format!("{{room=\"{}\"}} ", self.bench.id);
        let found = text.lines().find(|line| line.contains(name) && line.contains(&of));
        found.map_or_else(String::new, |line| {
            line.split(&of).last().unwrap_or_default().to_owned()
        })
    }
}

/// SHA-256 of a list of tickets, as it is published.
pub fn sha256(tickets: &[Ticket]) -> String {
    let mut hash = Sha256::new();
    for ticket in tickets {
        hash.update(format!("{ticket}\n"));
    }
    hex::encode(hash.finalize())
}

/// Everything that can happen to a room, except a restore: its opening is moved, two join, it opens, and their list is
/// published.
pub async fn live(bench: &RoomBench) {
    let opens = |at: &str| json!({"opens_at": at, "session_s": 400});
    bench.define(&opens("2100-01-01T00:00:00Z")).await;
    bench.define(&opens("2090-01-01T00:00:00Z")).await;
    let tickets: Vec<_> = bench
        .joined(["u1", "u2"])
        .await
        .iter()
        .map(|seen| seen.ticket)
        .collect();
    bench.define(&json!({"session_s": 60})).await;
    let published = scripts::publish(&bench.store, &bench.keys, Mark::ZERO, 2, &sha256(&tickets)).await;
    assert!(published.expect("a reply").1);
    bench.define(&json!({"capacity": 1})).await;
    bench.status(Status::Suspended).await;
    bench.status(Status::Open).await;
    let checkpoint = scripts::checkpoint(&bench.store, &bench.keys, Mark::ZERO).await;
    checkpoint.expect("done");
}
