//! The SQL database: SQLite in the data directory, or PostgreSQL. One code path, portable SQL (`$1` placeholders,
//! TEXT and BIGINT, no NULL).

use std::path::Path;
use std::time::Duration;

use sqlx::any::{AnyConnectOptions, AnyPoolOptions};
use sqlx::migrate::Migrator;
use sqlx::{Any, AnyPool, ConnectOptions, Executor, Transaction};
use thiserror::Error;

use crate::random::{self, RandomError};
use crate::settings;

static MIGRATIONS: Migrator = sqlx::migrate!();

/// How long a statement waits for SQLite's one writer, and anybody for a connection.
const WAIT: Duration = Duration::from_secs(10);

/// Which database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A file.
    Sqlite,
    /// A server.
    Postgres,
}

/// Why the database can't be used.
#[derive(Debug, Error)]
pub enum SqlError {
    /// It refused, or can't be reached.
    #[error(transparent)]
    Sql(#[from] sqlx::Error),
    /// Its schema can't be brought up to date.
    #[error("schema: {0}")]
    Migrate(#[from] sqlx::migrate::MigrateError),
    /// The system has no randomness.
    #[error(transparent)]
    Random(#[from] RandomError),
}

/// The database; clones share it.
#[derive(Debug, Clone)]
pub struct Sql {
    kind: Kind,
    reader: AnyPool,
    writer: AnyPool,
    ledger_id: String,
}

impl Sql {
    /// Connects, brings the schema up to date, and makes the ledger's id where there is none.
    pub async fn open(settings: &settings::Ledger, data_dir: &Path) -> Result<Self, SqlError> {
        sqlx::any::install_default_drivers();
        let url = url(settings, data_dir);
        let kind = if url.starts_with("sqlite:") {
            Kind::Sqlite
        } else {
            Kind::Postgres
        };
        let options: AnyConnectOptions = url.parse()?;
        let options = options.disable_statement_logging();
        let pool = |connections: u32| {
            AnyPoolOptions::new()
                .max_connections(connections)
                .acquire_timeout(WAIT)
                .after_connect(move |connection, _| {
                    Box::pin(async move {
                        if kind == Kind::Sqlite {
                            connection
                                .execute(
                                    "PRAGMA busy_timeout = 10000; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; \
                                     PRAGMA foreign_keys = ON; PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY",
                                )
                                .await?;
                        }
                        Ok(())
                    })
                })
        };
        // SQLite has one writer at a time: a second connection would only wait for the first.
        let writers = if kind == Kind::Sqlite { 1 } else { 2 };
        let writer = pool(writers).connect_with(options.clone()).await?;
        MIGRATIONS.run(&writer).await?;
        let ledger_id = ledger_id(&writer).await?;
        let reader = pool(settings.max_connections).connect_lazy_with(options);
        Ok(Self {
            kind,
            reader,
            writer,
            ledger_id,
        })
    }

    /// Which database.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Id of this ledger, made with it.
    pub fn ledger_id(&self) -> &str {
        &self.ledger_id
    }

    /// For queries.
    pub fn reader(&self) -> &AnyPool {
        &self.reader
    }

    /// For single statements that write.
    pub fn writer(&self) -> &AnyPool {
        &self.writer
    }

    /// A transaction that writes. On SQLite it takes the lock at once: one that begins by reading could not be
    /// promoted when another has written meanwhile.
    pub async fn begin(&self) -> Result<Transaction<'static, Any>, sqlx::Error> {
        match self.kind {
            Kind::Sqlite => self.writer.begin_with("BEGIN IMMEDIATE").await,
            Kind::Postgres => self.writer.begin().await,
        }
    }

    /// The database's clock in ms, as an SQL expression.
    pub fn now_ms(&self) -> &'static str {
        match self.kind {
            Kind::Sqlite => "CAST(unixepoch('subsec') * 1000 AS BIGINT)",
            Kind::Postgres => "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)",
        }
    }

    /// Waits for what is in flight and closes all connections.
    pub async fn close(&self) {
        self.reader.close().await;
        self.writer.close().await;
    }
}

fn url(settings: &settings::Ledger, data_dir: &Path) -> String {
    if settings.url.is_empty() {
        format!("sqlite://{}?mode=rwc", data_dir.join("ledger.sqlite").display())
    } else {
        settings.url.clone()
    }
}

async fn ledger_id(writer: &AnyPool) -> Result<String, SqlError> {
    let made = uuid::Builder::from_random_bytes(random::bytes()?)
        .into_uuid()
        .to_string();
    let mut transaction = writer.begin().await?;
    let found: Option<String> = sqlx::query_scalar("SELECT ledger_id FROM ledger")
        .fetch_optional(&mut *transaction)
        .await?;
    let id = match found {
        Some(id) => id,
        None => {
            sqlx::query("INSERT INTO ledger (ledger_id, created_at_ms) VALUES ($1, 0)")
                .bind(&made)
                .execute(&mut *transaction)
                .await?;
            made
        }
    };
    transaction.commit().await?;
    Ok(id)
}
