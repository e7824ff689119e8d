//! The SQL database: SQLite in the data directory, or PostgreSQL. One code path, portable SQL (`$1` placeholders,
//! TEXT and BIGINT, no NULL).

mod about;
mod address;
mod at_home;
mod beside;
pub mod copy;
pub mod entry_days;
mod error;
mod file;
mod holders;
mod insert;
mod owner;
mod pool;
mod schema;
mod server;

use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use futures_util::future::join_all;
use sqlx::any::AnyArguments;
use sqlx::pool::PoolConnection;
use sqlx::query::Query;
use sqlx::{Any, AnyPool, Transaction};
use tokio::time::timeout;
use uuid::Uuid;

use crate::settings;

use address::{Address, Mode};
use file::FileLock;

pub use crate::cells;
pub use about::About;
pub use address::Kind;
pub use at_home::AtHome;
pub use error::{SqlError, Taken, is_unavailable};
pub use holders::{Holder, Lease};
pub use insert::{Cell, Value, insert, insert_rows, int, update, upsert};
pub use owner::InSql;
pub use schema::Migrated;

/// A transaction on either database.
pub type Tx<'a> = Transaction<'a, Any>;

/// Longest time for a page of a query. It also bounds the wait for a frozen server, which no timeout of its own ends.
pub const READ_LIMIT: Duration = Duration::from_secs(12);

/// Longest time for a writing transaction. It exceeds what the server allows one statement.
pub const WRITE_LIMIT: Duration = Duration::from_secs(35);

/// The database; clones share it.
#[derive(Debug, Clone)]
pub struct Sql {
    kind: Kind,
    reader: AnyPool,
    writer: AnyPool,
    /// For commits that a power failure may undo.
    hasty: AnyPool,
    ledger_id: Arc<str>,
    /// The store that this instance writes for, once it is known.
    owner: Arc<OnceLock<Uuid>>,
    lock: Arc<Mutex<Option<FileLock>>>,
    down: Arc<Down>,
}

/// Connections that write to PostgreSQL, and those that do not wait for the disk.
const WRITERS: u32 = 2;
const HASTY: u32 = 1;

/// Longest wait of [`Sql::look`].
const LOOK_LIMIT: Duration = Duration::from_secs(1);

/// Why the last read or write failed, separately: on a full disk reads work and writes fail.
#[derive(Debug, Default)]
struct Down {
    reading: Mutex<Option<String>>,
    writing: Mutex<Option<String>>,
    /// The server says that it takes no writes.
    read_only: Mutex<Option<String>>,
}

impl Sql {
    /// Connects, brings the schema up to date, and creates the ledger's id if there is none. This instance has a SQLite
    /// file to itself until [`close`](Self::close).
    ///
    /// # Errors
    /// Also when another instance has the file, or the schema is newer than this program.
    pub async fn open(settings: &settings::Ledger, data_dir: &Path) -> Result<Self, SqlError> {
        let (address, lock) = take(settings, data_dir)?;
        let (kind, options) = (address.kind(), address.options(Mode::Write)?);
        let (_, ledger_id) = schema::migrate(kind, &options, &address.place()).await?;
        // SQLite has one writer at a time: a second connection would only wait for the first.
        let writers = if kind == Kind::Sqlite { 1 } else { WRITERS };
        Ok(Self {
            kind,
            reader: pool::options(kind, Mode::Read, settings.max_connections).connect_lazy_with(options.clone()),
            hasty: pool::options(kind, Mode::Hasty, HASTY).connect_lazy_with(options.clone()),
            writer: pool::options(kind, Mode::Write, writers).connect_lazy_with(options),
            ledger_id: ledger_id.into(),
            owner: Arc::default(),
            lock: Arc::new(Mutex::new(lock)),
            down: Arc::default(),
        })
    }

    /// Connects beside a running service, if there is one. The connections can't write.
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
            hasty: reader.clone(),
            reader,
            ledger_id: ledger_id.into(),
            owner: Arc::default(),
            lock: Arc::default(),
            down: Arc::default(),
        })
    }

    /// Checks that a configured SQLite file exists. Does not contact a server.
    ///
    /// # Errors
    /// [`SqlError::Missing`], or an invalid URL.
    pub fn expect(settings: &settings::Ledger, data_dir: &Path) -> Result<(), SqlError> {
        match Address::of(settings, data_dir)? {
            Address::Sqlite(path) => match path.try_exists() {
                Ok(true) => Ok(()),
                Ok(false) => Err(SqlError::Missing(path.display().to_string())),
                Err(source) => Err(SqlError::File { path, source }),
            },
            Address::Postgres(_) => Ok(()),
        }
    }

    /// Only brings the schema up to date.
    ///
    /// # Errors
    /// The same as for [`open`](Self::open).
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

    /// Id of this ledger, created with it.
    pub fn ledger_id(&self) -> &str {
        &self.ledger_id
    }

    /// The pool for queries, within [`reading`](Self::reading). Its connections can't write.
    pub fn reader(&self) -> &AnyPool {
        &self.reader
    }

    /// A transaction that writes, within [`writing`](Self::writing). On SQLite it locks at once: a transaction that
    /// begins with a read could not be promoted after another one has written.
    ///
    /// It locks the store's name until its end. A concurrent adopt waits for it; after an adopt, it finds the new name
    /// and writes nothing.
    ///
    /// # Errors
    /// Also [`Taken`], as the cause of [`sqlx::Error::Io`].
    pub async fn begin(&self) -> Result<Tx<'static>, sqlx::Error> {
        let tx = self.begin_unchecked().await?;
        self.checked(tx).await
    }

    async fn checked(&self, mut tx: Tx<'static>) -> Result<Tx<'static>, sqlx::Error> {
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

    /// A transaction whose commit does not wait for the disk: a killed process loses nothing, a power failure may undo it.
    /// For what may be done again. Otherwise as [`begin`](Self::begin).
    pub async fn begin_hasty(&self) -> Result<Tx<'static>, sqlx::Error> {
        let tx = match self.kind {
            Kind::Sqlite => self.hasty.begin_with("BEGIN IMMEDIATE").await?,
            Kind::Postgres => self.hasty.begin().await?,
        };
        self.checked(tx).await
    }

    async fn begin_unchecked(&self) -> Result<Tx<'static>, sqlx::Error> {
        match self.kind {
            Kind::Sqlite => self.writer.begin_with("BEGIN IMMEDIATE").await,
            Kind::Postgres => self.writer.begin().await,
        }
    }

    /// A writing connection that does not check the store's UUID. For benchmarks, which have the database to
    /// themselves.
    #[doc(hidden)]
    pub async fn unchecked(&self) -> Result<PoolConnection<Any>, sqlx::Error> {
        self.writer.acquire().await
    }

    /// Runs one writing statement in a transaction of its own, for at most [`WRITE_LIMIT`]. Returns the number of
    /// changed rows.
    ///
    /// # Errors
    /// The same as for [`begin`](Self::begin) and [`writing`](Self::writing).
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

    /// Runs `work`, one page of a query, for at most [`READ_LIMIT`].
    ///
    /// # Errors
    /// The error of `work`, or [`sqlx::Error::Io`] with `TimedOut`.
    pub async fn reading<T, E>(&self, work: impl Future<Output = Result<T, E>>) -> Result<T, E>
    where
        E: From<sqlx::Error> + std::error::Error + 'static,
    {
        self.within(READ_LIMIT, &self.down.reading, work).await
    }

    /// Runs `work`, one transaction, for at most [`WRITE_LIMIT`]. After a connection error or a timeout it is unknown
    /// whether a commit was done: the caller must read its position again.
    ///
    /// # Errors
    /// The error of `work`, or [`sqlx::Error::Io`] with `TimedOut`.
    pub async fn writing<T, E>(&self, work: impl Future<Output = Result<T, E>>) -> Result<T, E>
    where
        E: From<sqlx::Error> + std::error::Error + 'static,
    {
        self.within(WRITE_LIMIT, &self.down.writing, work).await
    }

    /// Why the last write, or else the last page, failed because of the database, or that it takes no writes; `None` when
    /// all is well. Cheap: it sends nothing.
    pub fn down(&self) -> Option<String> {
        let last = |of: &Mutex<Option<String>>| of.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Down {
            reading,
            writing,
            read_only,
        } = &*self.down;
        last(writing).or_else(|| last(read_only)).or_else(|| last(reading))
    }

    /// Looks whether a PostgreSQL takes writes, which may be seldom: a standby, or one with `default_transaction_read_only`,
    /// still answers reads. For [`down`](Self::down).
    pub async fn look(&self) {
        if self.kind == Kind::Sqlite {
            return;
        }
        let asked = sqlx::query_scalar("SHOW transaction_read_only").fetch_one(&self.writer);
        // Where there is no answer, reads and writes find out themselves.
        if let Ok(Ok(shown)) = timeout(LOOK_LIMIT, asked).await {
            let shown: String = shown;
            let why = "PostgreSQL takes no writes: it is a standby, or default_transaction_read_only is on";
            let now = (shown == "on").then(|| why.to_owned());
            *self.down.read_only.lock().unwrap_or_else(PoisonError::into_inner) = now;
        }
    }

    /// How many connections an instance with these settings opens to a PostgreSQL.
    pub fn connections(settings: &settings::Ledger) -> u32 {
        settings.max_connections.saturating_add(WRITERS + HASTY)
    }

    /// Opens every connection that the pools may open, so that a server or a pooler that gives fewer is found at the start,
    /// not when the one that is missing keeps a write waiting.
    ///
    /// # Errors
    /// [`SqlError::Connections`].
    pub async fn fill(&self) -> Result<(), SqlError> {
        if self.kind == Kind::Sqlite {
            return Ok(());
        }
        let pools = [&self.reader, &self.writer, &self.hasty];
        let places = pools
            .into_iter()
            .flat_map(|pool| (0..pool.options().get_max_connections()).map(move |_| pool));
        let opened = join_all(places.map(AnyPool::acquire)).await;
        let (needed, mut failed) = (opened.len(), None);
        let held: Vec<_> = opened
            .into_iter()
            .filter_map(|one| one.map_err(|error| failed = Some(error)).ok())
            .collect();
        match failed {
            None => Ok(()),
            Some(error) => Err(SqlError::Connections {
                opened: held.len(),
                needed,
                cause: error.to_string(),
            }),
        }
    }

    /// Waits for work in flight, closes all connections and unlocks the SQLite file.
    pub async fn close(&self) {
        self.reader.close().await;
        self.writer.close().await;
        self.hasty.close().await;
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

/// The database's message in `error`, if the database can't be used now.
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

/// The address of the database. Afterwards a SQLite file exists, and is private and locked.
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
