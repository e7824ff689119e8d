//! How far the ledger is with a stream, as its row says.

use sqlx::{AssertSqlSafe, Row};

use super::Sql;
use crate::ids::Id;
use crate::stream::Mark;
use crate::stream::kinds::Tables;

impl Sql {
    /// How far the ledger is with one of a kind; `None` when it has never seen an event of it.
    pub async fn mark(&self, of: Tables, id: &Id) -> Result<Option<Mark>, sqlx::Error> {
        let text = format!("SELECT n, restores FROM {} WHERE {} = $1 AND n > 0", of.heads, of.id);
        let row = sqlx::query(AssertSqlSafe(text)).bind(id.as_str());
        let row = row.fetch_optional(self.reader());
        let Some(row) = self.reading(row).await? else {
            return Ok(None);
        };
        let number = |name: &str| row.try_get::<i64, _>(name).map(i64::unsigned_abs);
        Ok(Mark::new(number("restores")?, number("n")?))
    }
}
