//! Connections: the settings of each, and the limit on waiting for one.

use std::time::Duration;

use sqlx::any::{AnyConnectOptions, AnyPoolOptions};
use sqlx::{AnyConnection, Connection, Executor};
use tokio::time::timeout;

use super::Kind;
use super::address::Mode;

/// How long a caller waits for a connection, the making of a new one included. Shorter than a client of the API waits
/// for its answer.
const ACQUIRE_LIMIT: Duration = Duration::from_secs(5);

/// How long a connection that comes back may take to answer; one that a caller gave up on is mostly a frozen server's.
const PING_LIMIT: Duration = Duration::from_secs(2);

/// Pages of SQLite are read again and again by the writer (64 MiB); a reader mostly passes over them once (4 MiB), and
/// there are several.
const SQLITE_WRITER: &str = "PRAGMA cache_size = -65536";
const SQLITE_READER: &str = "PRAGMA cache_size = -4096; PRAGMA query_only = ON";

/// A commit is on the disk when it returns (FULL). The write-ahead log is copied back every 64 MiB, because that
/// syncs it and the file, and writes a page that has changed often only once; it is cut to that after a reader had made it
/// grow. Another process (`jackpot verify`) may lock for a moment: 10 s are waited.
const SQLITE: &str = "PRAGMA busy_timeout = 10000; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; \
                      PRAGMA temp_store = MEMORY; PRAGMA wal_autocheckpoint = 16000; PRAGMA journal_size_limit = 67108864";

/// The server ends what takes longer than any caller waits (`READ_LIMIT`, `WRITE_LIMIT`), and what a vanished client
/// left open, so that nobody's locks stay.
const POSTGRES_WRITER: &str = "SET statement_timeout = '30s'; SET synchronous_commit = on";
/// Every query is a range of an index in its order (`ledger::queries::scan`): an estimate of few rows must not make a
/// plan that reads and sorts millions. No plan is long enough for `jit`, which the price of a plan that is left without
/// these would call for.
const POSTGRES_READER: &str = "SET statement_timeout = '10s'; SET default_transaction_read_only = on; SET jit = off; \
                               SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_sort = off";
const POSTGRES: &str = "SET lock_timeout = '10s'; SET idle_in_transaction_session_timeout = '60s'; \
                        SET tcp_keepalives_idle = 30; SET tcp_keepalives_interval = 10; SET tcp_keepalives_count = 3";

/// A pool whose connections are tested before each use, so that those of a restarted server are replaced.
pub(super) fn options(kind: Kind, mode: Mode, connections: u32) -> AnyPoolOptions {
    AnyPoolOptions::new()
        .max_connections(connections)
        .acquire_timeout(ACQUIRE_LIMIT)
        .test_before_acquire(true)
        .after_connect(move |connection, _| Box::pin(prepare(connection, kind, mode)))
        .after_release(move |connection, _| {
            Box::pin(async move {
                // The pool would wait for ever, and its place in the pool would be lost.
                match timeout(PING_LIMIT, usable(connection, kind, mode)).await {
                    Ok(answer) => answer.map(|()| true),
                    Err(_) => Err(sqlx::Error::PoolTimedOut),
                }
            })
        })
}

/// Whether a connection can be used again; the pool closes one that can't.
async fn usable(connection: &mut AnyConnection, kind: Kind, mode: Mode) -> Result<(), sqlx::Error> {
    if (kind, mode) == (Kind::Sqlite, Mode::Write) {
        // After a full disk SQLite has rolled back by itself, and the driver believes the transaction is still open.
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
        (Kind::Postgres, Mode::Write) => (POSTGRES, POSTGRES_WRITER),
        (Kind::Postgres, Mode::Read) => (POSTGRES, POSTGRES_READER),
    };
    connection.execute(common).await?;
    connection.execute(own).await?;
    Ok(())
}
