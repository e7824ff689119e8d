//! Errors of the database.

use std::io;
use std::path::PathBuf;

use sqlx::migrate::MigrateError;
use thiserror::Error;
use uuid::Uuid;

use crate::random::RandomError;

/// Why the database can't be used. No message holds the URL, because it may hold a password.
#[derive(Debug, Error)]
pub enum SqlError {
    /// It refused, or can't be reached.
    #[error("{place}: {source}")]
    Sql {
        /// Which database.
        place: String,
        source: sqlx::Error,
    },
    /// It could not be opened in time.
    #[error("{place}: no answer within {seconds} s")]
    Silent {
        /// Which database.
        place: String,
        /// How long the program waited, in seconds.
        seconds: u64,
    },
    /// `ledger.url` can't be used.
    #[error("setting ledger.url: {0}")]
    Url(&'static str),
    /// The file or its directory can't be used.
    #[error("can't use the ledger {}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    /// Another instance has the file.
    #[error(
        "the ledger {} is in use by another instance (process {pid}). SQLite is for one instance: stop that one, or \
         set ledger.url to a PostgreSQL for all", path.display()
    )]
    Held {
        path: PathBuf,
        /// Process id that the holder wrote into the lock.
        pid: String,
    },
    /// There is no ledger to read yet.
    #[error("there is no ledger in {0}: it is made by `jackpot migrate`, or when the service starts")]
    Missing(String),
    /// The database can't hold every text.
    #[error(
        "{place} has the encoding {found}, and the ledger needs UTF8: a Korean reason would stop it. Make a database with \
         CREATE DATABASE name ENCODING 'UTF8' TEMPLATE template0, move a ledger that is there by pg_dump and psql, and set \
         ledger.url to it"
    )]
    Encoding {
        /// Which database.
        place: String,
        /// Its encoding.
        found: String,
    },
    /// A pooler gives each transaction another connection.
    #[error(
        "{place}: a pooler such as PgBouncer gives the connections of this client to others between transactions, and settings, \
         prepared statements and locks with them: set pool_mode = session for this database or user, or name the server itself \
         in ledger.url (docs/how-to/upgrade-and-migrate.md#behind-pgbouncer)"
    )]
    Pooled {
        /// Which database.
        place: String,
    },
    /// It does not give as many connections as the pools may open.
    #[error(
        "only {opened} of {needed} connections of the ledger could be opened ({cause}): let PostgreSQL, or the pooler before it \
         (PgBouncer: default_pool_size), give {needed} to each instance, or lower ledger.max_connections"
    )]
    Connections {
        opened: usize,
        needed: usize,
        /// Why the next one could not.
        cause: String,
    },
    /// The schema is of a later version of this program.
    #[error(
        "{place} has schema version {found}, and this program knows up to {known}: run the newer version of the program"
    )]
    Newer {
        /// Which database.
        place: String,
        /// Version of the schema.
        found: i64,
        /// Newest version that this program has.
        known: i64,
    },
    /// The schema is not up to date, and this command may not change it.
    #[error("{place} has schema version {found}, and this program needs {known}: run `jackpot migrate`")]
    Older {
        /// Which database.
        place: String,
        /// Version of the schema.
        found: i64,
        /// Version that is needed.
        known: i64,
    },
    /// The schema is from before the first release, when the schema was still replaced instead of migrated.
    #[error("{place} was made by a development build before the first release: begin with an empty database")]
    Unreleased {
        /// Which database.
        place: String,
    },
    /// The schema can't be brought up to date.
    #[error("{place}: schema: {source}")]
    Migrate {
        /// Which database.
        place: String,
        source: MigrateError,
    },
    /// The system has no randomness.
    #[error(transparent)]
    Random(#[from] RandomError),
}

/// The ledger belongs to another store now: this instance writes nothing more.
#[derive(Debug, Error)]
#[error("the ledger now belongs to store '{now}', not to '{own}', the store of this instance")]
pub struct Taken {
    /// The store that the transaction was begun for.
    pub own: Uuid,
    /// The store that the ledger belongs to.
    pub now: String,
}

impl Taken {
    /// Fails unless the ledger still belongs to that store.
    pub fn check(own: Uuid, now: String) -> Result<(), sqlx::Error> {
        if now == own.to_string() {
            return Ok(());
        }
        Err(sqlx::Error::Io(io::Error::other(Self { own, now })))
    }
}

/// Primary result codes of SQLite that do not blame the statement: busy, locked, out of memory, read-only,
/// input/output, full, can't open.
const SQLITE_UNAVAILABLE: [u32; 7] = [5, 6, 7, 8, 10, 13, 14];

/// Classes of SQLSTATE (PostgreSQL, Appendix A) that do not blame the statement: connection, transaction rolled back
/// (it may be retried), insufficient resources, operator intervention (also a statement's timeout), system.
const POSTGRES_UNAVAILABLE: [&str; 5] = ["08", "40", "53", "57", "58"];

/// A lock was not available in time; and a standby, or a server that was set to `default_transaction_read_only`.
const POSTGRES_UNAVAILABLE_CODES: [&str; 2] = ["55P03", "25006"];

/// Whether the database can't be used now (gone, frozen, full, overloaded), so that a retry may succeed later.
/// Otherwise the statement or its values are wrong.
pub fn is_unavailable(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(_)
        | sqlx::Error::Tls(_)
        | sqlx::Error::PoolTimedOut
        | sqlx::Error::PoolClosed
        // The last transaction of the connection ended without the driver's knowledge. Another connection will work.
        | sqlx::Error::InvalidSavePointStatement
        | sqlx::Error::WorkerCrashed => true,
        sqlx::Error::Database(error) => error.code().is_some_and(|code| is_unavailable_code(&code)),
        _ => false,
    }
}

/// SQLSTATE has five characters; a result code of SQLite, extended or not, has fewer.
fn is_unavailable_code(code: &str) -> bool {
    if code.len() == 5 {
        return POSTGRES_UNAVAILABLE_CODES.contains(&code)
            || POSTGRES_UNAVAILABLE.iter().any(|class| code.starts_with(class));
    }
    code.parse::<u32>()
        .is_ok_and(|extended| SQLITE_UNAVAILABLE.contains(&(extended & 0xff)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_pass_is_told_from_what_is_wrong() {
        for passing in [
            "5", "13", "2570", "08006", "57P01", "57014", "53100", "40P01", "55P03", "25006",
        ] {
            assert!(is_unavailable_code(passing), "{passing}");
        }
        for wrong in ["1", "19", "2067", "23505", "42P01", "22003", ""] {
            assert!(!is_unavailable_code(wrong), "{wrong}");
        }
        assert!(is_unavailable(&sqlx::Error::PoolTimedOut));
        assert!(!is_unavailable(&sqlx::Error::RowNotFound));
    }
}
