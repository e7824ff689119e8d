//! Copies the whole ledger as of one instant into a SQLite file, and puts such a file into an empty database.
//!
//! The schema is one text for both databases, so one kind of file serves both. The copy of a PostgreSQL database can go
//! into SQLite, and the other way round. SQLite copies itself with `VACUUM INTO`, which is fast, in a read transaction
//! beside the writer. PostgreSQL is read table by table in one snapshot, over an ordinary connection.

use std::fs::File;
use std::path::{Path, PathBuf};

use futures_util::TryStreamExt;
use sqlx::any::{AnyConnectOptions, AnyRow};
use sqlx::{AnyConnection, AssertSqlSafe, Connection, Executor, Row};

use super::address::{Address, Mode};
use super::file::{self, FileLock};
use super::{Kind, SqlError, Tx, Value, beside, entry_days, insert_rows, pool, schema};
use crate::settings;

/// Most rows of one insert.
const ROWS: usize = 512;
/// Most bytes of one insert: an event may hold a thousand entries.
const BYTES: usize = 4 << 20;

/// `undefined_table` of PostgreSQL (SQLSTATE).
const NO_TABLE: &str = "42P01";

/// What a database holds, as seen by a restore.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Contents {
    /// The database is empty.
    Nothing,
    /// It holds a ledger.
    Ledger {
        id: String,
        /// Whether it has no jackpot, coupon or room: in the middle of [`put`], or with a newly started service.
        bare: bool,
    },
}

/// Copies the configured ledger into `to`, which it creates. A service may run meanwhile.
///
/// # Errors
/// Also when there is no ledger, or its schema is not of this program's version. Then do not use `to`.
pub async fn copy_to_file(settings: &settings::Ledger, data_dir: &Path, to: &Path) -> Result<(), SqlError> {
    let address = resolved(settings, data_dir)?;
    let (kind, options, place) = (address.kind(), address.options(Mode::Read)?, address.place());
    schema::check(kind, &options, &place).await?;
    file::make_private(to)?;
    match kind {
        Kind::Sqlite => copy_itself(&options, &place, to).await?,
        Kind::Postgres => copy_snapshot(&options, &place, to).await?,
    }
    synced(to)
}

/// What the configured database holds.
///
/// # Errors
/// The database can't be read, or is of a newer program.
pub async fn contents(settings: &settings::Ledger, data_dir: &Path) -> Result<Contents, SqlError> {
    let address = resolved(settings, data_dir)?;
    if let Address::Sqlite(path) = &address
        && std::fs::metadata(path).map_or(0, |found| found.len()) == 0
    {
        free_of_leftovers(path)?;
        return Ok(Contents::Nothing);
    }
    let (kind, options, place) = (address.kind(), address.options(Mode::Read)?, address.place());
    let id = match schema::check(kind, &options, &place).await {
        Ok(id) => id,
        Err(SqlError::Missing(_)) if kind == Kind::Postgres => return Ok(Contents::Nothing),
        Err(error) => return Err(error),
    };
    let mut connection = pool::connect(kind, &options, Mode::Read).await.map_err(sql(&place))?;
    let rows: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM streams")
        .fetch_one(&mut connection)
        .await
        .map_err(sql(&place))?;
    connection.close().await.map_err(sql(&place))?;
    Ok(Contents::Ledger { id, bare: rows == 0 })
}

/// The file in which a ledger is prepared for [`put`]. With SQLite it is in the same directory as the ledger.
///
/// # Errors
/// An invalid URL, or a directory that can't be created.
pub fn staging(settings: &settings::Ledger, data_dir: &Path) -> Result<PathBuf, SqlError> {
    let mut path = match resolved(settings, data_dir)? {
        Address::Sqlite(path) => path,
        Address::Postgres(_) => data_dir.join("ledger.sqlite"),
    }
    .into_os_string();
    path.push(".partial");
    Ok(path.into())
}

/// Prepares a [`staging`] file: brings its schema up to this program's version, and ends the leases of the service that
/// it was copied from. Its subscriptions are paused: a drill must not tell their targets of a restore. Returns the ledger's id.
///
/// # Errors
/// Also when the file is of a newer program.
pub async fn make_ready(staging: &Path) -> Result<String, SqlError> {
    let (options, place) = of_file(staging, Mode::Write)?;
    let (_, id) = schema::migrate(Kind::Sqlite, &options, &place).await?;
    let mut connection = alone(&options, &place).await?;
    connection
        .execute(
            "UPDATE streams SET holder = ''; UPDATE intake_lanes SET holder = ''; DELETE FROM holders; \
             UPDATE subscriptions SET status = 'paused', version = version + 1 WHERE status = 'running'",
        )
        .await
        .map_err(sql(&place))?;
    connection.close().await.map_err(sql(&place))?;
    synced(staging)?;
    Ok(id)
}

/// Puts a prepared ledger into the configured database, which is empty: the whole ledger or nothing.
///
/// # Errors
/// Also when the database is in use by another instance.
pub async fn put(settings: &settings::Ledger, data_dir: &Path, staging: &Path) -> Result<(), SqlError> {
    let address = resolved(settings, data_dir)?;
    match &address {
        Address::Sqlite(path) => put_file(path, staging),
        Address::Postgres(_) => {
            let (options, place) = (address.options(Mode::Write)?, address.place());
            put_rows(&options, &place, staging).await?;
            std::fs::remove_file(staging).map_err(|source| failed(staging, source))
        }
    }
}

fn put_file(path: &Path, staging: &Path) -> Result<(), SqlError> {
    let _lock = FileLock::take(path)?;
    free_of_leftovers(path)?;
    let moved = std::fs::rename(staging, path);
    let directory = path.parent().unwrap_or(Path::new("."));
    moved
        .and_then(|()| File::open(directory)?.sync_all())
        .map_err(|source| failed(path, source))
}

/// SQLite would apply a left-over write-ahead log of another database to the new file.
fn free_of_leftovers(path: &Path) -> Result<(), SqlError> {
    for suffix in ["-wal", "-journal"] {
        let left = file::beside(path, suffix);
        if left.try_exists().map_err(|source| failed(&left, source))? {
            let text = "it was left by a ledger that is gone; remove it";
            return Err(failed(
                &left,
                std::io::Error::new(std::io::ErrorKind::AlreadyExists, text),
            ));
        }
    }
    Ok(())
}

async fn put_rows(options: &AnyConnectOptions, place: &str, staging: &Path) -> Result<(), SqlError> {
    schema::migrate(Kind::Postgres, options, place).await?;
    let mut into = pool::connect(Kind::Postgres, options, Mode::Write)
        .await
        .map_err(sql(place))?;
    into.execute("SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0")
        .await
        .map_err(sql(place))?;
    let (from_options, from_place) = of_file(staging, Mode::Read)?;
    let mut from = pool::connect(Kind::Sqlite, &from_options, Mode::Read)
        .await
        .map_err(sql(&from_place))?;
    let tables = tables(&mut from).await.map_err(sql(&from_place))?;
    let work = async {
        let mut tx = into.begin().await?;
        let mut from = from.begin().await?;
        copy_all(&mut from, &mut tx, &tables).await?;
        from.rollback().await?;
        tx.commit().await
    };
    work.await.map_err(sql(place))?;
    into.close().await.map_err(sql(place))
}

fn resolved(settings: &settings::Ledger, data_dir: &Path) -> Result<Address, SqlError> {
    let mut address = Address::of(settings, data_dir)?;
    if let Address::Sqlite(path) = &mut address {
        file::make_directory(path)?;
        *path = file::resolve(path)?;
    }
    Ok(address)
}

fn of_file(path: &Path, mode: Mode) -> Result<(AnyConnectOptions, String), SqlError> {
    let address = Address::Sqlite(path.to_owned());
    Ok((address.options(mode)?, address.place()))
}

/// A connection that leaves only the file itself: no write-ahead log.
async fn alone(options: &AnyConnectOptions, place: &str) -> Result<AnyConnection, SqlError> {
    let mut connection = pool::connect(Kind::Sqlite, options, Mode::Write)
        .await
        .map_err(sql(place))?;
    connection
        .execute("PRAGMA journal_mode = DELETE")
        .await
        .map_err(sql(place))?;
    Ok(connection)
}

async fn copy_itself(options: &AnyConnectOptions, place: &str, to: &Path) -> Result<(), SqlError> {
    let to = to
        .to_str()
        .ok_or(SqlError::Url("the path of the SQLite file must be UTF-8"))?;
    let mut connection = pool::connect(Kind::Sqlite, options, Mode::Read)
        .await
        .map_err(sql(place))?;
    // The copy is written through this connection. Its own file is opened read-only.
    connection
        .execute("PRAGMA query_only = OFF")
        .await
        .map_err(sql(place))?;
    sqlx::query("VACUUM INTO $1")
        .bind(to)
        .execute(&mut connection)
        .await
        .map_err(sql(place))?;
    connection.close().await.map_err(sql(place))
}

async fn copy_snapshot(options: &AnyConnectOptions, place: &str, to: &Path) -> Result<(), SqlError> {
    let (to_options, to_place) = of_file(to, Mode::Write)?;
    schema::migrate(Kind::Sqlite, &to_options, &to_place).await?;
    let mut from = pool::connect(Kind::Postgres, options, Mode::Read)
        .await
        .map_err(sql(place))?;
    // Whole tables are read in any order, without a time limit.
    from.execute(
        "SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0; SET enable_seqscan = on; \
         SET enable_bitmapscan = on; SET enable_sort = on",
    )
    .await
    .map_err(sql(place))?;
    let mut into = alone(&to_options, &to_place).await?;
    // An incomplete copy is discarded. A complete one is synced at its end.
    into.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
        .await
        .map_err(sql(&to_place))?;
    let tables = tables(&mut into).await.map_err(sql(&to_place))?;
    let work = async {
        let mut from = from
            .begin_with("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            .await?;
        let mut tx = into.begin().await?;
        copy_all(&mut from, &mut tx, &tables).await?;
        tx.commit().await?;
        from.rollback().await
    };
    work.await.map_err(sql(place))?;
    into.close().await.map_err(sql(&to_place))
}

/// A table of the schema: its columns, and which are texts. The others are integers.
struct Table {
    name: String,
    columns: Vec<(String, bool)>,
}

/// The tables of the schema, from a SQLite file of this program's version, without the tables of the entry days and
/// without `NOT_COPIED`.
async fn tables(sqlite: &mut AnyConnection) -> Result<Vec<Table>, sqlx::Error> {
    let mut names: Vec<String> = sqlx::query_scalar(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!' \
         AND name NOT LIKE 'entries!_%' ESCAPE '!' AND name NOT IN ('_sqlx_migrations', 'entry_days') ORDER BY name",
    )
    .fetch_all(&mut *sqlite)
    .await?;
    names.retain(|name| !beside::NOT_COPIED.contains(&name.as_str()));
    let mut tables = Vec::with_capacity(names.len());
    for name in names {
        tables.push(table(sqlite, name).await?);
    }
    Ok(tables)
}

async fn table(sqlite: &mut AnyConnection, name: String) -> Result<Table, sqlx::Error> {
    let rows = sqlx::query("SELECT name, type FROM pragma_table_info($1) ORDER BY cid")
        .bind(&name)
        .fetch_all(&mut *sqlite)
        .await?;
    let column = |row: &AnyRow| Ok((row.try_get("name")?, row.try_get::<String, _>("type")? == "TEXT"));
    let columns = rows.iter().map(column).collect::<Result<_, sqlx::Error>>()?;
    Ok(Table { name, columns })
}

/// Replaces all rows of `into` with those of `from`.
async fn copy_all(from: &mut Tx<'_>, into: &mut Tx<'_>, tables: &[Table]) -> Result<(), sqlx::Error> {
    for table in tables {
        // It is missing while only earlier programs have used the database.
        if beside::has(&table.name) && !beside::is_there(from, &table.name).await? {
            continue;
        }
        let delete = AssertSqlSafe(format!("DELETE FROM {}", table.name));
        sqlx::query(delete).execute(&mut **into).await?;
        copy_table(from, into, table).await?;
    }
    let days: Vec<String> = sqlx::query_scalar("SELECT day FROM entry_days ORDER BY day")
        .fetch_all(&mut **from)
        .await?;
    for day in days.iter().filter(|day| entry_days::is_day(day)) {
        if is_there(from, &entry_days::table(day)).await? {
            entry_days::ensure(into, day).await?;
            copy_table(from, into, &index_of(day)).await?;
        }
    }
    Ok(())
}

/// Whether the table of an entry day exists and stays until this transaction ends. A service drops expired days, even
/// while a snapshot still has them.
async fn is_there(from: &mut Tx<'_>, table: &str) -> Result<bool, sqlx::Error> {
    if from.backend_name() == "SQLite" {
        return Ok(true);
    }
    let mut inner = from.begin().await?;
    let lock = AssertSqlSafe(format!("LOCK TABLE {table} IN ACCESS SHARE MODE"));
    match sqlx::query(lock).execute(&mut *inner).await {
        Ok(_) => inner.commit().await.map(|()| true),
        Err(sqlx::Error::Database(error)) if error.code().as_deref() == Some(NO_TABLE) => {
            inner.rollback().await.map(|()| false)
        }
        Err(error) => Err(error),
    }
}

fn index_of(day: &str) -> Table {
    let columns = entry_days::COLUMNS.iter();
    Table {
        name: entry_days::table(day),
        columns: columns.map(|(name, is_text)| ((*name).to_owned(), *is_text)).collect(),
    }
}

/// A value between the two databases.
enum Cell {
    Text(Option<String>),
    Int(Option<i64>),
}

impl Cell {
    fn value(&self) -> Value<'_> {
        match self {
            Self::Text(Some(text)) => Value::Text(text),
            Self::Text(None) => Value::NoText,
            Self::Int(Some(number)) => Value::Int(*number),
            Self::Int(None) => Value::NoInt,
        }
    }
}

async fn copy_table(from: &mut Tx<'_>, into: &mut Tx<'_>, table: &Table) -> Result<(), sqlx::Error> {
    let columns: Vec<&str> = table.columns.iter().map(|(name, _)| name.as_str()).collect();
    let select = AssertSqlSafe(format!("SELECT {} FROM {}", columns.join(", "), table.name));
    let mut rows = sqlx::query(select).fetch(&mut **from);
    let (mut cells, mut bytes) = (Vec::new(), 0);
    loop {
        let row = rows.try_next().await?;
        let ended = row.is_none();
        if let Some(row) = row {
            for (index, (_, is_text)) in table.columns.iter().enumerate() {
                cells.push(if *is_text {
                    let text: Option<String> = row.try_get(index)?;
                    bytes += text.as_ref().map_or(0, String::len);
                    Cell::Text(text)
                } else {
                    Cell::Int(row.try_get(index)?)
                });
            }
        }
        if ended || cells.len() >= ROWS * columns.len() || bytes >= BYTES {
            let values: Vec<Value<'_>> = cells.iter().map(Cell::value).collect();
            insert_rows(into, &table.name, &columns, &values).await?;
            cells.clear();
            bytes = 0;
        }
        if ended {
            return Ok(());
        }
    }
}

fn synced(path: &Path) -> Result<(), SqlError> {
    File::open(path)
        .and_then(|file| file.sync_all())
        .map_err(|source| failed(path, source))
}

fn failed(path: &Path, source: std::io::Error) -> SqlError {
    SqlError::File {
        path: path.to_owned(),
        source,
    }
}

fn sql(place: &str) -> impl FnOnce(sqlx::Error) -> SqlError {
    let place = place.to_owned();
    move |source| SqlError::Sql { place, source }
}
