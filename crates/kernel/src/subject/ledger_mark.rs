//! How far the ledger is with a stream, by its row in SQL.

use jackpot_core::ids::Id;
use jackpot_core::mark::Mark;
use sqlx::Row;

use super::kinds::KindName;
use super::{Registry, Subject};
use crate::sql::Sql;

/// How far the ledger is with a subject of a kind; `None` when it has never had an event of it.
pub async fn ledger_mark(sql: &Sql, of: KindName, id: &Id) -> Result<Option<Mark>, sqlx::Error> {
    let row = sqlx::query("SELECT n, restores FROM streams WHERE kind = $1 AND id = $2 AND n > 0")
        .bind(of.as_str())
        .bind(id.as_str());
    let row = row.fetch_optional(sql.reader());
    let Some(row) = sql.reading(row).await? else {
        return Ok(None);
    };
    let number = |name: &str| row.try_get::<i64, _>(name).map(i64::unsigned_abs);
    Ok(Mark::new(number("restores")?, number("n")?))
}

impl<K: Subject> Registry<K> {
    /// Remembers how far the ledger is with a subject that this instance has not used. Only the ledger can
    /// distinguish a new subject from one that Redis has lost.
    pub async fn observe_ledger(&self, sql: &Sql, of: KindName, id: &Id) -> Result<(), sqlx::Error> {
        if !self.is_used(id)
            && let Some(mark) = ledger_mark(sql, of, id).await?
        {
            self.observe(id, mark);
        }
        Ok(())
    }
}
