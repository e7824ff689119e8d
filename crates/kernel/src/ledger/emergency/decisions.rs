//! The decisions about the emergency stop in SQL: all of them, also those of which Redis knows nothing any more.

use sqlx::Row;

use crate::sql::Sql;
use crate::store::Store;
use crate::subject::emergency::{Decision, last_in_redis};

/// The last decision in SQL.
pub async fn last_in_sql(sql: &Sql) -> Result<Option<Decision>, sqlx::Error> {
    let text =
        "SELECT decision, reason, at_ms, who, request_id FROM emergency_decisions ORDER BY decision DESC LIMIT 1";
    let row = sql.reading(sqlx::query(text).fetch_optional(sql.reader())).await?;
    row.map(|row| {
        Ok(Decision {
            order: row.try_get::<i64, _>("decision")?.unsigned_abs(),
            reason: row.try_get("reason")?,
            at_ms: row.try_get("at_ms")?,
            who: row.try_get("who")?,
            request_id: row.try_get("request_id")?,
        })
    })
    .transpose()
}

/// Writes a decision into SQL, unless one with its order is there.
pub async fn write_in_sql(sql: &Sql, decision: &Decision) -> Result<(), sqlx::Error> {
    let text = "INSERT INTO emergency_decisions (decision, reason, at_ms, who, request_id) VALUES ($1, $2, $3, $4, $5) \
                ON CONFLICT DO NOTHING";
    let insert = sqlx::query(text)
        .bind(decision.order.cast_signed())
        .bind(decision.reason.clone())
        .bind(decision.at_ms)
        .bind(decision.who.clone())
        .bind(decision.request_id.clone());
    sql.execute(insert).await?;
    Ok(())
}

/// The last decision that Redis or SQL has, for a restore. Redis may have lost it; SQL may not have it yet.
pub async fn last(sql: &Sql, store: &Store) -> Result<Option<Decision>, sqlx::Error> {
    let (in_redis, in_sql) = (last_in_redis(store).await.ok().flatten(), last_in_sql(sql).await?);
    Ok([in_redis, in_sql].into_iter().flatten().max_by_key(|last| last.order))
}
