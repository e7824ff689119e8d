//! Leases: an instance that holds things of a kind does so until a time by the database's clock, and then others may take them.
//!
//! All leases of an instance on things of a kind end at the same time, so one row in `holders` has it. With a time for each
//! thing, an idle instance would rewrite thousands of rows every few seconds. The things' own rows have the holder's name.

use std::time::Duration;

use sqlx::any::AnyArguments;
use sqlx::query::Query;
use sqlx::{Any, AssertSqlSafe, Row};

use super::{Kind, Sql};

/// Longest lease that settings allow. A lease that ends later was given before the database's clock was set back. It
/// would keep a dead holder's things for that long.
const LONGEST_MS: i64 = 300_000;

/// An instance that holds things of a kind.
#[derive(Debug, Clone)]
pub struct Lease {
    pub kind: String,
    /// Each start of the service has another name.
    pub instance: String,
    lease_ms: i64,
}

/// A row, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// Each start of an instance has another one.
    pub name: String,
    /// What it holds.
    pub kind: String,
    /// Until when, unless it renews that; ms of the database's clock.
    pub until_ms: i64,
}

impl Lease {
    /// A lease of this length; one that is too long for SQL lasts as long as it can.
    pub fn of(kind: impl Into<String>, instance: impl Into<String>, lease_ms: u64) -> Self {
        Self {
            kind: kind.into(),
            instance: instance.into(),
            lease_ms: i64::try_from(lease_ms).unwrap_or(i64::MAX),
        }
    }

    /// How long it lasts after a renewal.
    pub fn length(&self) -> Duration {
        Duration::from_millis(self.lease_ms.unsigned_abs())
    }

    /// Lets everything of this kind that the instance holds last from now on.
    pub async fn renew(&self, sql: &Sql) -> Result<(), sqlx::Error> {
        sql.execute(self.renewal(sql)).await.map(drop)
    }

    /// The statement that does so, for a transaction.
    pub fn renewal(&self, sql: &Sql) -> Query<'_, Any, AnyArguments> {
        let text = format!(
            "INSERT INTO holders (kind, name, until_ms) VALUES ($1, $2, {} + $3) \
             ON CONFLICT (kind, name) DO UPDATE SET until_ms = excluded.until_ms",
            sql.now_ms(),
        );
        sqlx::query(AssertSqlSafe(text))
            .bind(&self.kind)
            .bind(&self.instance)
            .bind(self.lease_ms)
    }

    /// The statement that ends it, after which others need not wait. It forgets instances that are gone, too.
    pub fn end(&self, sql: &Sql) -> Query<'_, Any, AnyArguments> {
        let text = format!(
            "DELETE FROM holders WHERE kind = $1 AND (name = $2 OR until_ms < {} - {LONGEST_MS})",
            sql.now_ms(),
        );
        sqlx::query(AssertSqlSafe(text)).bind(&self.kind).bind(&self.instance)
    }
}

impl Sql {
    /// A query for the names of instances that hold things of a kind now. `kind` is an expression of SQL.
    pub fn alive(&self, kind: &str) -> String {
        let now = self.now_ms();
        format!("SELECT name FROM holders WHERE kind = {kind} AND until_ms BETWEEN {now} AND {now} + {LONGEST_MS}")
    }

    /// Ends all leases of an instance: what its rows say that it holds, others may take.
    pub async fn end_leases(&self, instance: &str) -> Result<(), sqlx::Error> {
        let delete = sqlx::query("DELETE FROM holders WHERE name = $1").bind(instance);
        self.execute(delete).await.map(drop)
    }

    /// Ends the leases of dead instances where no other instance can be alive: a SQLite file belongs to this process
    /// alone.
    pub async fn bury(&self) -> Result<(), sqlx::Error> {
        if self.kind == Kind::Sqlite {
            self.execute(sqlx::query("DELETE FROM holders")).await?;
        }
        Ok(())
    }

    /// All rows, by kind and name.
    pub async fn holders(&self) -> Result<Vec<Holder>, sqlx::Error> {
        let select = sqlx::query("SELECT name, kind, until_ms FROM holders ORDER BY kind, name");
        let rows = self.reading(select.fetch_all(&self.reader)).await?;
        let holder = |row: &sqlx::any::AnyRow| {
            Ok(Holder {
                name: row.try_get("name")?,
                kind: row.try_get("kind")?,
                until_ms: row.try_get("until_ms")?,
            })
        };
        rows.iter().map(holder).collect()
    }
}
