//! The schema: built into the program, migrated under a lock, refused when it is newer.

use std::sync::LazyLock;
use std::time::Duration;

use sqlx::any::AnyConnectOptions;
use sqlx::migrate::{Migrate, MigrateError, Migration, MigrationType, Migrator};
use sqlx::{AnyConnection, Connection, Executor, SqlStr};
use tokio::time::timeout;

use super::address::Mode;
use super::{Kind, SqlError, beside, pool, server};
use crate::random;

/// The files of `migrations/` that have versions: the version, its description, its text.
const FILES: [(i64, &str, &str); 2] = [
    (10, "ledger", include_str!("../../../../migrations/0010_ledger.sql")),
    (11, "holders", include_str!("../../../../migrations/0011_holders.sql")),
];

/// This list replaces `sqlx::migrate!`, whose macros compile sqlx, its drivers and SQLite a second time, for the build.
static MIGRATIONS: LazyLock<Migrator> = LazyLock::new(|| {
    let migration = |(version, description, sql): (i64, &'static str, &'static str)| {
        let sql = SqlStr::from_static(sql);
        Migration::new(version, description.into(), MigrationType::Simple, sql, false)
    };
    Migrator::with_migrations(FILES.map(migration).into())
});

/// For all migrations together, including the wait for another instance that runs them: an index on a large table takes
/// minutes.
const MIGRATE_LIMIT: Duration = Duration::from_mins(10);

/// For a connection and a read of the version.
const CHECK_LIMIT: Duration = Duration::from_secs(10);

/// The result of a migration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Migrated {
    /// Which database.
    pub place: String,
    /// Version before; 0 for an empty database.
    pub from: i64,
    /// Version now.
    pub to: i64,
}

/// Newest version that this program has.
fn newest() -> i64 {
    MIGRATIONS.iter().map(|migration| migration.version).max().unwrap_or(0)
}

/// Brings the schema up to date and creates the ledger's id if there is none. Returns that id.
pub(super) async fn migrate(
    kind: Kind,
    options: &AnyConnectOptions,
    place: &str,
) -> Result<(Migrated, String), SqlError> {
    let mut connection = connect(kind, options, Mode::Write, place).await?;
    // The connection is closed, not returned to a pool: locks of a failed migration must not stay.
    let work = async {
        if kind == Kind::Sqlite {
            connection
                .execute("PRAGMA journal_mode = WAL")
                .await
                .map_err(sql(place))?;
        } else {
            connection
                .execute("SET statement_timeout = 0; SET lock_timeout = 0")
                .await
                .map_err(sql(place))?;
        }
        let from = run(&mut connection).await.map_err(|error| explain(error, place))?;
        let ledger_id = make_ledger_id(&mut connection, place).await?;
        connection.close().await.map_err(sql(place))?;
        let migrated = Migrated {
            place: place.to_owned(),
            from,
            to: newest(),
        };
        Ok((migrated, ledger_id))
    };
    timeout(MIGRATE_LIMIT, work)
        .await
        .map_err(|_| silent(place, MIGRATE_LIMIT))?
}

/// Checks that the schema is the one of this program, and reads the ledger's id. Changes nothing.
pub(super) async fn check(kind: Kind, options: &AnyConnectOptions, place: &str) -> Result<String, SqlError> {
    let mut connection = connect(kind, options, Mode::Read, place).await?;
    let work = async {
        // A missing table means an empty database: no ledger was created in it.
        let tables: Vec<String> = sqlx::query_scalar(match kind {
            Kind::Sqlite => "SELECT name FROM sqlite_master WHERE name = '_sqlx_migrations'",
            Kind::Postgres => "SELECT 'found' WHERE to_regclass('_sqlx_migrations') IS NOT NULL",
        })
        .fetch_all(&mut connection)
        .await
        .map_err(sql(place))?;
        if tables.is_empty() {
            return Err(SqlError::Missing(place.to_owned()));
        }
        let found: Option<i64> =
            sqlx::query_scalar("SELECT version FROM _sqlx_migrations ORDER BY version DESC LIMIT 1")
                .fetch_optional(&mut connection)
                .await
                .map_err(sql(place))?;
        let (found, known, place) = (found.unwrap_or(0), newest(), place.to_owned());
        if found > known {
            return Err(SqlError::Newer { place, found, known });
        }
        if found < known {
            return Err(SqlError::Older { place, found, known });
        }
        let id: Option<String> = sqlx::query_scalar("SELECT ledger_id FROM ledger")
            .fetch_optional(&mut connection)
            .await
            .map_err(sql(&place))?;
        connection.close().await.map_err(sql(&place))?;
        id.ok_or(SqlError::Missing(place))
    };
    timeout(CHECK_LIMIT, work)
        .await
        .map_err(|_| silent(place, CHECK_LIMIT))?
}

async fn connect(kind: Kind, options: &AnyConnectOptions, mode: Mode, place: &str) -> Result<AnyConnection, SqlError> {
    let work = async {
        if kind == Kind::Postgres {
            // Before any setting is sent, which would stay on a pooler's connection.
            server::check(options, place).await?;
        }
        pool::connect(kind, options, mode).await.map_err(sql(place))
    };
    timeout(CHECK_LIMIT, work)
        .await
        .map_err(|_| silent(place, CHECK_LIMIT))?
}

/// Returns the version before the migration.
async fn run(connection: &mut AnyConnection) -> Result<i64, MigrateError> {
    const TABLE: &str = "_sqlx_migrations";
    // PostgreSQL: an advisory lock of the session, which `run` takes once more. SQLite: the file's lock is already
    // held.
    connection.lock().await?;
    connection.ensure_migrations_table(TABLE).await?;
    let applied = connection.list_applied_migrations(TABLE).await?;
    let from = applied.iter().map(|migration| migration.version).max().unwrap_or(0);
    MIGRATIONS.run(&mut *connection).await?;
    beside::make(connection).await?;
    connection.unlock().await?;
    Ok(from)
}

/// One row by its primary key. Of two instances that start at once, the second finds the id of the first.
async fn make_ledger_id(connection: &mut AnyConnection, place: &str) -> Result<String, SqlError> {
    let made = uuid::Builder::from_random_bytes(random::bytes()?)
        .into_uuid()
        .to_string();
    sqlx::query("INSERT INTO ledger (one, ledger_id) VALUES (1, $1) ON CONFLICT DO NOTHING")
        .bind(made)
        .execute(&mut *connection)
        .await
        .map_err(sql(place))?;
    sqlx::query_scalar("SELECT ledger_id FROM ledger")
        .fetch_one(connection)
        .await
        .map_err(sql(place))
}

fn explain(error: MigrateError, place: &str) -> SqlError {
    match error {
        MigrateError::VersionMissing(found) if found > newest() => SqlError::Newer {
            place: place.to_owned(),
            found,
            known: newest(),
        },
        MigrateError::VersionMissing(_) => SqlError::Unreleased {
            place: place.to_owned(),
        },
        source => SqlError::Migrate {
            place: place.to_owned(),
            source,
        },
    }
}

pub(super) fn sql(place: &str) -> impl FnOnce(sqlx::Error) -> SqlError {
    let place = place.to_owned();
    move |source| SqlError::Sql { place, source }
}

fn silent(place: &str, limit: Duration) -> SqlError {
    SqlError::Silent {
        place: place.to_owned(),
        seconds: limit.as_secs(),
    }
}
