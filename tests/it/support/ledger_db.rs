//! A test of the ledger runs on both databases: `on_both_databases!`.

use std::path::Path;

use jackpot::settings::{AutoRestore, Ledger};
use jackpot::sql::Sql;
use tempfile::TempDir;

use super::postgres::TestPostgres;

/// Two tests, `name::sqlite` and `name::postgres`, of the function `async fn name(db: LedgerDb)`. PostgreSQL has the
/// schema, but no ledger yet; after `empty:` it has nothing.
macro_rules! on_both_databases {
    (empty: $($name:ident),+ $(,)?) => {
        $crate::support::ledger_db::on_both_databases!(@ empty_postgres: $($name),+);
    };
    ($($name:ident),+ $(,)?) => {
        $crate::support::ledger_db::on_both_databases!(@ postgres: $($name),+);
    };
    (@ $postgres:ident: $($name:ident),+) => {
        $(
            mod $name {
                #[tokio::test]
                async fn sqlite() {
                    super::$name(crate::support::ledger_db::LedgerDb::sqlite()).await;
                }
                // More than one thread: a load in the test's own tasks would starve the connections to the server.
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn postgres() {
                    super::$name(crate::support::ledger_db::LedgerDb::$postgres().await).await;
                }
            }
        )+
    };
}
pub(crate) use on_both_databases;

/// The statement that adds a stream at event `n`, read by nobody.
pub fn stream_row(kind: &str, id: &str, n: u64, hash: &str) -> String {
    format!(
        "INSERT INTO streams (kind, id, n, hash, stream_id, restores, books, status, stopped, indexed_n, holder, lease_token) \
         VALUES ('{kind}', '{id}', {n}, '{hash}', '0-0', 0, '', '', '', {n}, '', 0)"
    )
}

/// An empty database of one kind, with a data directory of its own. Dropping this removes both.
pub struct LedgerDb {
    data: TempDir,
    server: Option<TestPostgres>,
}

impl LedgerDb {
    /// A file in the data directory.
    pub fn sqlite() -> Self {
        let data = tempfile::Builder::new()
            .prefix("jackpot-ledger-")
            .tempdir()
            .expect("a temporary directory can be made");
        Self { data, server: None }
    }

    /// A database on a server, with the schema.
    pub async fn postgres() -> Self {
        Self {
            server: Some(TestPostgres::with_schema().await),
            ..Self::sqlite()
        }
    }

    /// An empty database on a server.
    pub async fn empty_postgres() -> Self {
        Self {
            server: Some(TestPostgres::start().await),
            ..Self::sqlite()
        }
    }

    pub fn is_postgres(&self) -> bool {
        self.server.is_some()
    }

    /// Settings of a service on it.
    pub fn settings(&self) -> Ledger {
        settings(self.server.as_ref().map_or("", |server| server.url()))
    }

    /// Environment of a service on it, for [`Service::start_with`](super::service::Service::start_with).
    pub fn environment(&self) -> (&'static str, &str) {
        (
            "JACKPOT__LEDGER__URL",
            self.server.as_ref().map_or("", |server| server.url()),
        )
    }

    /// The data directory.
    pub fn data_dir(&self) -> &Path {
        self.data.path()
    }

    /// Opens it, as a service does at its start.
    pub async fn open(&self) -> Sql {
        Sql::open(&self.settings(), self.data_dir())
            .await
            .expect("the database to test on can be opened")
    }
}

/// The default settings, with this URL.
pub fn settings(url: &str) -> Ledger {
    Ledger {
        url: url.to_owned(),
        max_connections: 8,
        entry_index_days: 7,
        poll_interval_ms: 50,
        lease_ms: 10_000,
        max_backlog_events: 200_000,
        trim_margin_events: 1000,
        reconcile_interval_s: 30,
        auto_restore: AutoRestore::Embedded,
        signing_key: String::new(),
    }
}
