//! What the database says of itself, for people. Nobody asks while nobody looks.

use sqlx::Row;

use super::{Kind, Sql};

/// The database, by its own account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct About {
    /// `SQLite 3.50.4` or `PostgreSQL 17.2`.
    pub version: String,
    pub size_bytes: u64,
    /// Its clock, ms.
    pub now_ms: i64,
}

impl Sql {
    /// Asks the database for its version and size.
    pub async fn about(&self) -> Result<About, sqlx::Error> {
        let (name, question) = match self.kind {
            Kind::Sqlite => (
                "SQLite",
                "SELECT sqlite_version() AS version, page_count * page_size AS size FROM pragma_page_count(), pragma_page_size()",
            ),
            Kind::Postgres => (
                "PostgreSQL",
                "SELECT current_setting('server_version') AS version, pg_database_size(current_database()) AS size",
            ),
        };
        let clock = format!("SELECT {} AS now", self.now_ms());
        self.reading(async {
            let row = sqlx::query(question).fetch_one(&self.reader).await?;
            let now = sqlx::query(sqlx::AssertSqlSafe(clock)).fetch_one(&self.reader).await?;
            let version: String = row.try_get("version")?;
            Ok(About {
                version: format!("{name} {version}"),
                size_bytes: row.try_get::<i64, _>("size")?.unsigned_abs(),
                now_ms: now.try_get("now")?,
            })
        })
        .await
    }
}
