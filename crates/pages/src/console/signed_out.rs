//! Sessions that their operators ended, on all instances: a table in SQL. An instance reads it at most once a second, and
//! only while somebody uses its console.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use sqlx::Row;
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

use super::session::Token;
use jackpot_kernel::sql::Sql;

/// Largest age of the list. An ended session is refused everywhere within this and the time of a query.
const READ_EVERY: Duration = Duration::from_secs(1);

/// Longest wait for it. Without a limit, each page would wait for a database that is away.
const READ_LIMIT: Duration = Duration::from_secs(1);

/// When the list was read, and the ids in it.
type Reading = (Instant, Arc<HashSet<String>>);

/// The ended sessions.
#[derive(Clone)]
pub struct SignedOut {
    sql: Sql,
    read: Arc<Mutex<Option<Reading>>>,
}

impl SignedOut {
    pub fn new(sql: Sql) -> Self {
        Self {
            sql,
            read: Arc::default(),
        }
    }

    /// Whether the operator of this session has signed out. While SQL can't be read, the last list counts: an operator
    /// must be able to look at an instance whose ledger is away.
    pub async fn contains(&self, token: &Token) -> bool {
        self.list().await.contains(&token.name())
    }

    async fn list(&self) -> Arc<HashSet<String>> {
        let mut reading = self.read.lock().await;
        if let Some((at, list)) = &*reading
            && at.elapsed() < READ_EVERY
        {
            return Arc::clone(list);
        }
        let list = match timeout(READ_LIMIT, self.ids())
            .await
            .unwrap_or(Err(sqlx::Error::PoolTimedOut))
        {
            Ok(list) => Arc::new(list),
            Err(error) => {
                tracing::warn!(%error, "sessions that were signed out can't be read; the last list counts");
                reading.take().map(|(_, list)| list).unwrap_or_default()
            }
        };
        *reading = Some((Instant::now(), Arc::clone(&list)));
        list
    }

    async fn ids(&self) -> Result<HashSet<String>, sqlx::Error> {
        let now = Timestamp::now().as_millisecond();
        let sql = "SELECT session FROM console_signed_out WHERE until_ms > $1";
        let query = sqlx::query(sql).bind(now);
        let rows = self.sql.reading(query.fetch_all(self.sql.reader())).await?;
        rows.iter().map(|row| row.try_get("session")).collect()
    }

    /// Ends a session everywhere, and drops the rows of those whose time is over.
    /// Errors: SQL is away: then the session goes on until its time.
    pub async fn add(&self, token: &Token) -> Result<(), sqlx::Error> {
        self.sql
            .writing(async {
                let mut tx = self.sql.begin().await?;
                let now = Timestamp::now().as_millisecond();
                let drop_old = sqlx::query("DELETE FROM console_signed_out WHERE until_ms <= $1").bind(now);
                drop_old.execute(&mut *tx).await?;
                let add = "INSERT INTO console_signed_out (session, until_ms) VALUES ($1, $2) ON CONFLICT DO NOTHING";
                let add = sqlx::query(add).bind(token.name()).bind(token.until.as_millisecond());
                add.execute(&mut *tx).await?;
                tx.commit().await
            })
            .await?;
        *self.read.lock().await = None;
        Ok(())
    }
}
