//! A [`Fixture`] on a private Redis with a ledger, and projectors between them.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::Arc;

use jackpot::ledger::Ledger;
use jackpot::ledger::kind::{Folds, Kind, Subjects as _};
use jackpot::ledger::kinds::Projecting;
use jackpot::ledger::projector::Projector;
use jackpot::ledger::reconcile::now::Reconciled;
use jackpot::ledger::reconcile::report::Report;
use jackpot::ledger::restore::{Replace, RestoreError, Restored, Restorer};
use jackpot::settings;
use jackpot::telemetry::Metrics;
use jackpot_core::chain::{self, ChainHash};
use jackpot_core::ids::Id;
use sqlx::{AssertSqlSafe, Row};

use super::fixture::{Capability, Fields, Fixture};
use super::given::operator;
use super::ledger_db::LedgerDb;
use super::redis::TestRedis;
use crate::support::prelude::*;

/// A row of text, column after column.
pub type Texts = Vec<String>;

/// What differs between capabilities in the ledger.
pub trait InLedger: Capability {
    type Kind: Kind;
    /// Every table of the ledger that holds what happened, with its columns.
    const TABLES: &'static [(&'static str, &'static str)] = &[];
    /// How often Redis and the ledger are compared; 0: whenever the projector looks.
    const RECONCILE_INTERVAL_S: u64 = 0;

    /// What another instance knows that has just started.
    fn started(fixture: &Fixture<Self>) -> Self::Kind;

    /// What this instance knows.
    async fn known(fixture: &Fixture<Self>) -> Self::Kind {
        let kind = Self::started(fixture);
        let ids = std::slice::from_ref(&fixture.id);
        kind.registry().add_to_index(ids).await.expect("in the index");
        kind
    }

    /// Reads what a restore has changed.
    async fn restored(_: &Fixture<Self>) {}

    /// Adds rows of tables that have other names each time.
    async fn add_rows(_: &LedgerFixture<Self>, _: &mut BTreeMap<&'static str, Vec<Texts>>) {}

    /// The books are those of the events, and Redis is what they say.
    async fn assert_follows(fixture: &LedgerFixture<Self>, events: &[Fields], books: <Self::Kind as Folds>::Books);
}

pub struct LedgerFixture<C: InLedger> {
    pub subject: Fixture<C>,
    /// What this instance knows.
    pub kind: C::Kind,
    pub ledger: Ledger,
    pub settings: settings::Ledger,
    pub metrics: Arc<Metrics>,
    pub db: LedgerDb,
}

impl<C: InLedger> Deref for LedgerFixture<C> {
    type Target = Fixture<C>;

    fn deref(&self) -> &Fixture<C> {
        &self.subject
    }
}

impl<C: InLedger> LedgerFixture<C> {
    /// A subject, defined as [`Fixture::with`] does it, and an empty ledger.
    pub async fn with(db: LedgerDb, change: &Value) -> Self {
        let redis = Arc::new(TestRedis::own(&[]).await);
        let fixture = Self::of(db, Fixture::on(redis, change).await).await;
        fixture.ledger.claim(&fixture.store).await.expect("a Redis of its own");
        fixture
    }

    /// An empty ledger beside an existing subject.
    pub async fn of(db: LedgerDb, subject: Fixture<C>) -> Self {
        let settings = settings::Ledger {
            reconcile_interval_s: C::RECONCILE_INTERVAL_S,
            ..db.settings()
        };
        Self {
            kind: C::known(&subject).await,
            ledger: Ledger::open(&settings, db.data_dir()).await.expect("a ledger"),
            metrics: Arc::new(Metrics::new()),
            settings,
            subject,
            db,
        }
    }

    /// What another instance knows that has just started.
    pub fn other_instance(&self) -> C::Kind {
        C::started(&self.subject)
    }

    /// A projector of an instance that has just started.
    pub fn projector(&self) -> Projector<C::Kind> {
        self.projector_of(self.other_instance(), false)
    }

    /// A projector of this instance.
    pub fn own_projector(&self) -> Projector<C::Kind> {
        self.projector_of(self.kind.clone(), false)
    }

    pub fn projector_of(&self, kind: C::Kind, auto_restore: bool) -> Projector<C::Kind> {
        let from = Projecting {
            ledger: &self.ledger,
            store: &self.store,
            metrics: &self.metrics,
            settings: &self.settings,
            instance: &TestRedis::id("instance"),
            auto_restore,
        };
        Projector::of(kind, &from)
    }

    /// An instance starts, projects everything and ends.
    pub async fn project(&self) {
        self.projector().finish().await;
    }

    /// This instance projects everything, and restores what is lost.
    pub async fn heal(&self) {
        self.projector_of(self.kind.clone(), true).finish().await;
        C::restored(self).await;
    }

    /// Redis loses all that it has.
    pub async fn wipe(&self) {
        self.raw::<()>(&mut redis::cmd("FLUSHALL")).await;
    }

    /// Redis gets back what it once had, and has nothing else.
    pub async fn put_back(&self, dump: &BTreeMap<String, Vec<u8>>) {
        self.wipe().await;
        for (key, bytes) in dump {
            let mut restore = redis::cmd("RESTORE");
            self.raw::<()>(restore.arg(key).arg(0).arg(&bytes[..])).await;
        }
    }

    /// A requested reconciliation, while a projector reads.
    pub async fn reconcile(&self, projector: &mut Projector<C::Kind>) -> Reconciled {
        let ended = Cell::new(false);
        let asked = async {
            let reconciled = self.ledger.reconcile(&self.kind, &self.id).await;
            ended.set(true);
            reconciled.unwrap_or_else(|error| panic!("{error}"))
        };
        let reading = async {
            while !ended.get() {
                projector.catch_up().await;
                tokio::task::yield_now().await;
            }
        };
        tokio::join!(asked, reading).0
    }

    /// Restores the subject, as an instance does that has just started.
    pub async fn restore(&self, replace: Replace) -> Result<Restored, RestoreError> {
        let restorer = Restorer::new(self.ledger.sql.clone(), self.store.clone());
        let (kind, by) = (self.other_instance(), operator());
        let done = kind.restore(&restorer, &self.id, replace, &by, "a test").await;
        C::restored(self).await;
        done
    }

    /// Rows of a query without input, every column as text, sorted. NULL is an empty text.
    pub async fn rows(&self, sql: String) -> Vec<Texts> {
        let mut rows = self.query(sql).await;
        rows.sort();
        rows
    }

    /// The same in the query's order.
    async fn query(&self, sql: String) -> Vec<Texts> {
        let rows = sqlx::query(AssertSqlSafe(sql))
            .fetch_all(self.ledger.sql.reader())
            .await;
        let text = |row: &sqlx::any::AnyRow, i| row.get::<Option<String>, _>(i).unwrap_or_default();
        let row = |row: &sqlx::any::AnyRow| (0..row.len()).map(|i| text(row, i)).collect();
        rows.expect("rows").iter().map(row).collect()
    }

    /// All rows of a table, sorted.
    pub async fn table(&self, table: &str, columns: &str) -> Vec<Texts> {
        self.rows(format!("SELECT {} FROM {table}", as_texts(columns))).await
    }

    /// The subject's rows of a table, ordered by these columns.
    pub async fn own_rows(&self, table: &str, columns: &str, order: &str) -> Vec<Texts> {
        self.rows_of(&self.id, table, columns, order).await
    }

    async fn rows_of(&self, id: &Id, table: &str, columns: &str, order: &str) -> Vec<Texts> {
        let kind = C::Kind::NAME;
        let own = match table {
            "audit" => format!("subject = '{}'", kind.subject(id)),
            "events" | "definitions" | "streams" | "reconciliations" => format!("kind = '{kind}' AND id = '{id}'"),
            _ => format!("{kind}_id = '{id}'"),
        };
        let columns = as_texts(columns);
        // By the table's columns, not by the texts that the query makes of them.
        let order: Vec<_> = order.split(' ').map(|name| format!("{table}.{name}")).collect();
        let order = order.join(", ");
        self.query(format!("SELECT {columns} FROM {table} WHERE {own} ORDER BY {order}"))
            .await
    }

    /// `live` suspended it, and the service never did. The service may have opened it before `live` did: Redis and the
    /// ledger agreed.
    pub async fn assert_suspended_by_hand_alone(&self) {
        let actions = self.own_rows("audit", "action who", "n").await;
        let suspended: Vec<_> = actions.iter().filter(|row| row[0] == "suspend").collect();
        assert_eq!(suspended, [&["suspend", "tester"]], "{actions:?}");
    }

    /// All that the ledger holds of the subject.
    pub async fn everything(&self) -> BTreeMap<&'static str, Vec<Texts>> {
        let mut all = BTreeMap::new();
        for (table, columns) in C::TABLES {
            let mut rows = self
                .own_rows(table, columns, columns.split(' ').next().unwrap_or_default())
                .await;
            rows.sort();
            all.insert(*table, rows);
        }
        C::add_rows(self, &mut all).await;
        all
    }

    /// A column of the subject's row.
    pub async fn place(&self, column: &str) -> String {
        self.place_of(&self.id, column).await
    }

    /// A column of the row of another subject.
    pub async fn place_of(&self, id: &Id, column: &str) -> String {
        self.rows_of(id, "streams", column, "n").await[0][0].clone()
    }

    /// Number of the ledger's last event.
    pub async fn n(&self) -> u64 {
        self.place("n").await.parse().expect("a number")
    }

    /// The status in Redis, also when not all of the subject can be read.
    pub async fn status_held(&self) -> String {
        self.field("status").await
    }

    /// Changes one row.
    pub async fn change(&self, sql: &str) {
        let changed = self
            .ledger
            .sql
            .execute(sqlx::query(AssertSqlSafe(sql.to_owned())))
            .await;
        assert_eq!(changed.expect("changed"), 1, "{sql}");
    }

    /// The report of the last comparison.
    pub async fn report(&self) -> Report {
        let row = self.own_rows("reconciliations", "report", "n").await.remove(0);
        serde_json::from_str(&row[0]).expect("a report")
    }

    /// A line of the metrics without its value.
    pub fn metric(&self, name: &str) -> String {
        self.metric_of(&self.id, name)
    }

    /// The same of another subject.
    pub fn metric_of(&self, id: &Id, name: &str) -> String {
        let text = self.metrics.encode().expect("metrics");
        let of = format!("{{{}=\"{id}\"}} ", C::Kind::NAME);
        let found = text.lines().find(|line| line.contains(name) && line.contains(&of));
        found.map_or_else(String::new, |line| {
            line.split(&of).last().unwrap_or_default().to_owned()
        })
    }

    /// The events of a subject in SQL, each of them once, and their chain whole.
    pub async fn chained(&self, id: &Id) -> Vec<Fields> {
        let (mut hash, mut events) = (ChainHash::of(&C::Kind::NAME.subject(id)), Vec::new());
        let rows = self.rows_of(id, "events", "n hash body", "n").await;
        for (row, n) in rows.iter().zip(1..) {
            hash = hash.next(&row[2]);
            assert_eq!((&row[0], &row[1]), (&n.to_string(), &hash.to_string()));
            let fields: Fields = serde_json::from_str(&row[2]).expect("an object");
            assert_eq!(chain::body(&(&fields).into()), row[2], "canonical");
            events.push(fields);
        }
        let last = (events.len().to_string(), hash.to_string());
        assert_eq!((self.place_of(id, "n").await, self.place_of(id, "hash").await), last);
        events
    }

    /// SQL has all of Redis' stream and nothing else, each event once. The chain is whole, the books are those of the
    /// events, and Redis is what they say.
    pub async fn assert_complete(&self) {
        let events = self.chained(&self.id).await;
        let stream = self.stream().await;
        assert!(stream.len() <= events.len(), "{stream:?}");
        assert_eq!(events[events.len() - stream.len()..], stream);
        let books = serde_json::from_str(&self.place("books").await).expect("books");
        C::assert_follows(self, &events, books).await;
    }

    /// A fault suspends the subject for as long as it lasts, with its reason.
    pub async fn assert_found(&self, fault: &str) {
        self.project().await;
        assert_eq!(self.status_held().await, "suspended");
        let report = self.report().await;
        let faults = report.faults().join("; ");
        assert!(!report.clean && faults.contains(fault), "{report:?}");
        self.project().await;
        assert_eq!(self.status_held().await, "suspended", "until it agrees");
        let last = self.own_rows("audit", "action reason who", "n").await.pop();
        let last = last.expect("audited");
        assert_eq!((last[0].as_str(), last[2].as_str()), ("suspend", "service"));
        assert!(last[1].contains(fault), "{last:?}");
    }

    /// The repair of a fault opened the subject again.
    pub async fn assert_opened(&self) {
        self.project().await;
        assert_eq!(self.status_held().await, "open");
        self.project().await;
        assert!(self.report().await.clean);
        let last = self.own_rows("audit", "action who", "n").await.pop();
        assert_eq!(last.expect("audited"), ["resume", "service"]);
        self.assert_complete().await;
    }

    /// The stream stopped at event `before` and suspended the subject, and the ledger has nothing later.
    pub async fn assert_stopped(&self, before: u64, why: &str) {
        self.project().await;
        assert_eq!(self.n().await, before, "nothing behind it");
        let stopped = self.place("stopped").await;
        assert!(stopped.contains(why), "{stopped}");
        assert_eq!(self.status_held().await, "suspended");
        let status = self.last_event("status").await;
        assert!(
            status["after"] == "suspended" && status["reason"].contains(why),
            "{status:?}"
        );
        assert_eq!(self.metric("ledger_stopped"), "1");
        self.project().await;
        assert_eq!(
            self.status_held().await,
            "suspended",
            "and not opened while it is stopped"
        );
    }
}

/// Columns, separated by spaces, as a query gives them.
fn as_texts(columns: &str) -> String {
    let columns: Vec<_> = columns.split(' ').map(|name| format!("CAST({name} AS TEXT)")).collect();
    columns.join(", ")
}
