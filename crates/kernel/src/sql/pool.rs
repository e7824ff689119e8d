//! Settings of connections, and the limit on the wait for one.

use std::time::Duration;

use sqlx::any::{AnyConnectOptions, AnyPoolOptions};
use sqlx::{AnyConnection, Connection, Executor};
use tokio::time::timeout;

use super::Kind;
use super::address::Mode;

/// Longest wait for a connection, including the time to open one. It is shorter than a client of the API waits for its
/// answer.
const ACQUIRE_LIMIT: Duration = Duration::from_secs(5);

/// How long a returned connection may take to answer. One that a caller gave up on mostly belongs to a frozen server.
const PING_LIMIT: Duration = Duration::from_secs(2);

/// The writer reads the same pages of SQLite repeatedly (64 MiB). A reader mostly reads pages once (4 MiB), and there
/// are several readers.
const SQLITE_WRITER: &str = "PRAGMA cache_size = -65536";
const SQLITE_READER: &str = "PRAGMA cache_size = -4096; PRAGMA query_only = ON";

/// A commit is on disk when it returns (FULL). The write-ahead log is copied back every 64 MiB, because that syncs both
/// files, and writes a page that changed often only once. The log is truncated to 64 MiB after a reader made it grow.
/// Another process (`jackpot verify`) may lock for a moment, so a statement waits up to 10 s.
const SQLITE: &str = "PRAGMA busy_timeout = 10000; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; \
                      PRAGMA temp_store = MEMORY; PRAGMA wal_autocheckpoint = 16000; PRAGMA journal_size_limit = 67108864";

/// The server ends statements that take longer than any caller waits (`READ_LIMIT`, `WRITE_LIMIT`), and transactions
/// that a vanished client left open, so that no lock stays.
const POSTGRES_WRITER: &str = "SET statement_timeout = '30s'; SET synchronous_commit = on";
/// Commits do not wait for the disk.
const SQLITE_HASTY: &str = "PRAGMA cache_size = -4096; PRAGMA synchronous = NORMAL";
const POSTGRES_HASTY: &str = "SET statement_timeout = '30s'; SET synchronous_commit = off";
/// Every query reads a range of an index in its order (`ledger::queries::scan`). An estimate of few rows must not lead
/// to a plan that reads and sorts millions. No plan runs long enough for `jit`. But a plan that remains without these
/// methods has an estimated cost that would trigger it.
const POSTGRES_READER: &str = "SET statement_timeout = '10s'; SET default_transaction_read_only = on; SET jit = off; \
                               SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_sort = off";
const POSTGRES: &str = "SET lock_timeout = '10s'; SET idle_in_transaction_session_timeout = '60s'; \
                        SET tcp_keepalives_idle = 30; SET tcp_keepalives_interval = 10; SET tcp_keepalives_count = 3";

/// A pool that tests connections before each use, so that it replaces those of a restarted server.
pub(super) fn options(kind: Kind, mode: Mode, connections: u32) -> AnyPoolOptions {
    AnyPoolOptions::new()
        .max_connections(connections)
        .acquire_timeout(ACQUIRE_LIMIT)
        .test_before_acquire(true)
        .after_connect(move |connection, _| Box::pin(prepare(connection, kind, mode)))
        .after_release(move |connection, _| {
            Box::pin(async move {
                // Without the limit the pool would wait for ever, and lose a place.
                match timeout(PING_LIMIT, usable(connection, kind, mode)).await {
                    Ok(answer) => answer.map(|()| true),
                    Err(_) => Err(sqlx::Error::PoolTimedOut),
                }
            })
        })
}

/// Whether a connection can be used again; the pool closes one that can't.
async fn usable(connection: &mut AnyConnection, kind: Kind, mode: Mode) -> Result<(), sqlx::Error> {
    if kind == Kind::Sqlite && mode != Mode::Read {
        // After a full disk SQLite has rolled back on its own, and the driver believes the transaction is still open.
        return connection.begin_with("BEGIN").await?.rollback().await;
    }
    connection.ping().await
}

/// A connection of its own, outside any pool.
pub(super) async fn connect(kind: Kind, options: &AnyConnectOptions, mode: Mode) -> Result<AnyConnection, sqlx::Error> {
    let mut connection = AnyConnection::connect_with(options).await?;
    prepare(&mut connection, kind, mode).await?;
    Ok(connection)
}

async fn prepare(connection: &mut AnyConnection, kind: Kind, mode: Mode) -> Result<(), sqlx::Error> {
    let (common, own) = match (kind, mode) {
        (Kind::Sqlite, Mode::Write) => (SQLITE, SQLITE_WRITER),
        (Kind::Sqlite, Mode::Read) => (SQLITE, SQLITE_READER),
        (Kind::Sqlite, Mode::Hasty) => (SQLITE, SQLITE_HASTY),
        (Kind::Postgres, Mode::Hasty) => (POSTGRES, POSTGRES_HASTY),
        (Kind::Postgres, Mode::Write) => (POSTGRES, POSTGRES_WRITER),
        (Kind::Postgres, Mode::Read) => (POSTGRES, POSTGRES_READER),
    };
    connection.execute(common).await?;
    connection.execute(own).await?;
    Ok(())
}
