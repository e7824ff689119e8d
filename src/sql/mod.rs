//! The SQL database: SQLite in the data directory, or PostgreSQL. One code path, portable SQL (`$1` placeholders,
//! TEXT and BIGINT, no NULL).

mod address;
pub mod copy;
pub mod entry_days;
mod error;
mod file;
mod insert;
mod owner;
mod pool;
mod schema;

use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use sqlx::any::AnyArguments;
use sqlx::pool::PoolConnection;
use sqlx::query::Query;
use sqlx::{Any, AnyPool, Transaction};
use tokio::time::timeout;
use uuid::Uuid;

use crate::settings;

use address::{Address, Mode};
use file::FileLock;

pub use address::Kind;
pub use error::{SqlError, Taken, is_unavailable};
pub use insert::{Value, insert_rows};
pub use owner::InSql;
pub use schema::Migrated;

/// A transaction on either database.
pub type Tx<'a> = Transaction<'a, Any>;

/// Longest time for a page of a query. Also a frozen server, which no timeout of its own ends, holds nobody longer.
pub const READ_LIMIT: Duration = Duration::from_secs(12);

/// Longest time for a transaction that writes: above what the server allows one statement.
pub const WRITE_LIMIT: Duration = Duration::from_secs(35);

/// The database; clones share it.
#[derive(Debug, Clone)]
pub struct Sql {
    kind: Kind,
    reader: AnyPool,
    writer: AnyPool,
    ledger_id: Arc<str>,
    /// The store on whose behalf this instance writes, once it is known.
    owner: Arc<OnceLock<Uuid>>,
    lock: Arc<Mutex<Option<FileLock>>>,
    down: Arc<Down>,
}

/// Why the last work failed, by kind: on a full disk everything can be read and nothing written.
#[derive(Debug, Default)]
struct Down {
    reading: Mutex<Option<String>>,
    writing: Mutex<Option<String>>,
}

impl Sql {
    /// Connects, brings the schema up to date, and makes the ledger's id where there is none. A SQLite file is this
    /// instance's alone until [`close`](Self::close).
    ///
    /// # Errors
    /// Also when another instance has the file, or the schema is newer than this program.
    pub async fn open(settings: &settings::Ledger, data_dir: &Path) -> Result<Self, SqlError> {
        let (address, lock) = take(settings, data_dir)?;
        let (kind, options) = (address.kind(), address.options(Mode::Write)?);
        let (_, ledger_id) = schema::migrate(kind, &options, &address.place()).await?;
        // SQLite has one writer at a time: a second connection would only wait for the first.
        let writers = if kind == Kind::Sqlite { 1 } else { 2 };
        Ok(Self {
            kind,
            reader: pool::options(kind, Mode::Read, settings.max_connections).connect_lazy_with(options.clone()),
            writer: pool::options(kind, Mode::Write, writers).connect_lazy_with(options),
            ledger_id: ledger_id.into(),
            owner: Arc::default(),
            lock: Arc::new(Mutex::new(lock)),
            down: Arc::default(),
        })
    }

    /// Connects beside a running service, if there is one. Nothing can be written through it.
    ///
    /// # Errors
    /// Also when there is no ledger, or its schema is not of this program's version.
    pub async fn open_to_read(settings: &settings::Ledger, data_dir: &Path) -> Result<Self, SqlError> {
        Self::expect(settings, data_dir)?;
        let mut address = Address::of(settings, data_dir)?;
        if let Address::Sqlite(path) = &mut address {
            *path = file::resolve(path)?;
        }
        let (kind, options) = (address.kind(), address.options(Mode::Read)?);
        let ledger_id = schema::check(kind, &options, &address.place()).await?;
        let reader = pool::options(kind, Mode::Read, settings.max_connections).connect_lazy_with(options);
        Ok(Self {
            kind,
            writer: reader.clone(),
            reader,
            ledger_id: ledger_id.into(),
            owner: Arc::default(),
            lock: Arc::default(),
            down: Arc::default(),
        })
    }

    /// Makes sure that the SQLite file is there, if it is to be one. A server is not asked.
    ///
    /// # Errors
    /// [`SqlError::Missing`], or a URL that is none.
    pub fn expect(settings: &settings::Ledger, data_dir: &Path) -> Result<(), SqlError> {
        match Address::of(settings, data_dir)? {
            Address::Sqlite(path) if !path.exists() => Err(SqlError::Missing(path.display().to_string())),
            _ => Ok(()),
        }
    }

    /// Brings the schema up to date and does nothing else.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub async fn migrate(settings: &settings::Ledger, data_dir: &Path) -> Result<Migrated, SqlError> {
        let (address, _lock) = take(settings, data_dir)?;
        let options = address.options(Mode::Write)?;
        let (migrated, _) = schema::migrate(address.kind(), &options, &address.place()).await?;
        Ok(migrated)
    }

    /// Which database.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Id of this ledger, made with it.
    pub fn ledger_id(&self) -> &str {
        &self.ledger_id
    }

    /// For queries, within [`reading`](Self::reading); its connections can't write.
    pub fn reader(&self) -> &AnyPool {
        &self.reader
    }

    /// A transaction that writes, within [`writing`](Self::writing). On SQLite it takes the lock at once: one that
    /// begins by reading could not be promoted when another has written meanwhile.
    ///
    /// It holds the store's name until its end: an adopt waits for it, or it finds the new name and writes nothing.
    ///
    /// # Errors
    /// Also [`Taken`], as the cause of [`sqlx::Error::Io`].
    pub async fn begin(&self) -> Result<Tx<'static>, sqlx::Error> {
        let mut tx = self.begin_unchecked().await?;
        if let Some(own) = self.owner() {
            let text = match self.kind {
                Kind::Sqlite => "SELECT store_id FROM ledger WHERE one = 1",
                Kind::Postgres => "SELECT store_id FROM ledger WHERE one = 1 FOR SHARE",
            };
            let now: String = sqlx::query_scalar(text).fetch_one(&mut *tx).await?;
            Taken::check(own, now)?;
        }
        Ok(tx)
    }

    async fn begin_unchecked(&self) -> Result<Tx<'static>, sqlx::Error> {
        match self.kind {
            Kind::Sqlite => self.writer.begin_with("BEGIN IMMEDIATE").await,
            Kind::Postgres => self.writer.begin().await,
        }
    }

    /// A writing connection that does not look for the store's UUID. For benchmarks, which have the database to themselves.
    #[doc(hidden)]
    pub async fn unchecked(&self) -> Result<PoolConnection<Any>, sqlx::Error> {
        self.writer.acquire().await
    }

    /// One statement that writes, in a transaction of its own, for at most [`WRITE_LIMIT`]: the rows that it changed.
    ///
    /// # Errors
    /// As of [`begin`](Self::begin) and [`writing`](Self::writing).
    pub async fn execute(&self, statement: Query<'_, Any, AnyArguments>) -> Result<u64, sqlx::Error> {
        let work = async {
            let mut tx = self.begin().await?;
            let done = statement.execute(&mut *tx).await?;
            tx.commit().await?;
            Ok(done.rows_affected())
        };
        self.writing(work).await
    }

    /// The database's clock in ms, as an SQL expression.
    pub fn now_ms(&self) -> &'static str {
        match self.kind {
            Kind::Sqlite => "CAST(unixepoch('subsec') * 1000 AS BIGINT)",
            Kind::Postgres => "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)",
        }
    }

    /// Does `work`, one page of a query, for at most [`READ_LIMIT`].
    ///
    /// # Errors
    /// What `work` says, or [`sqlx::Error::Io`] with `TimedOut`.
    pub async fn reading<T, E>(&self, work: impl Future<Output = Result<T, E>>) -> Result<T, E>
    where
        E: From<sqlx::Error> + std::error::Error + 'static,
    {
        self.within(READ_LIMIT, &self.down.reading, work).await
    }

    /// Does `work`, one transaction, for at most [`WRITE_LIMIT`]. After an error of the connection or a timeout it is
    /// unknown whether a commit was done: the caller reads again where it stands.
    ///
    /// # Errors
    /// What `work` says, or [`sqlx::Error::Io`] with `TimedOut`.
    pub async fn writing<T, E>(&self, work: impl Future<Output = Result<T, E>>) -> Result<T, E>
    where
        E: From<sqlx::Error> + std::error::Error + 'static,
    {
        self.within(WRITE_LIMIT, &self.down.writing, work).await
    }

    /// Why the last write, or else the last page, failed because of the database; `None` when both reached it. Costs
    /// nothing: nobody is asked.
    pub fn down(&self) -> Option<String> {
        let last = |of: &Mutex<Option<String>>| of.lock().unwrap_or_else(PoisonError::into_inner).clone();
        last(&self.down.writing).or_else(|| last(&self.down.reading))
    }

    /// Waits for what is in flight, closes all connections and lets the SQLite file go.
    pub async fn close(&self) {
        self.reader.close().await;
        self.writer.close().await;
        self.lock.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    async fn within<T, E>(
        &self,
        limit: Duration,
        last: &Mutex<Option<String>>,
        work: impl Future<Output = Result<T, E>>,
    ) -> Result<T, E>
    where
        E: From<sqlx::Error> + std::error::Error + 'static,
    {
        let result = timeout(limit, work).await.unwrap_or_else(|_| {
            let error = std::io::Error::new(std::io::ErrorKind::TimedOut, "the database did not answer in time");
            Err(sqlx::Error::Io(error).into())
        });
        let down = result.as_ref().err().and_then(unavailable);
        *last.lock().unwrap_or_else(PoisonError::into_inner) = down;
        result
    }
}

/// The database's part in `error`, when it is that the database can't be used now.
#[must_use]
pub fn unavailable<E: std::error::Error + 'static>(error: &E) -> Option<String> {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<sqlx::Error>() {
            return is_unavailable(error).then(|| error.to_string());
        }
        cause = error.source();
    }
    None
}

/// Where the database is; a SQLite file is there after this, private and locked.
fn take(settings: &settings::Ledger, data_dir: &Path) -> Result<(Address, Option<FileLock>), SqlError> {
    let mut address = Address::of(settings, data_dir)?;
    let Address::Sqlite(path) = &mut address else {
        return Ok((address, None));
    };
    file::make_directory(path)?;
    *path = file::resolve(path)?;
    let lock = FileLock::take(path)?;
    file::make_private(path)?;
    Ok((address, Some(lock)))
}
