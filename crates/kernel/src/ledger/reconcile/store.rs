//! The last comparison of each jackpot, coupon and room, in SQL.

use jackpot_core::ids::Id;

use super::report::Report;
use crate::sql::Tx;
use crate::subject::kinds::KindName;

/// Replaces the last comparison, unless a later one is there.
pub async fn save(
    tx: &mut Tx<'_>,
    of: KindName,
    id: &Id,
    n: u64,
    at_ms: i64,
    report: &Report,
) -> Result<(), sqlx::Error> {
    let json = serde_json::to_string(report).expect("plain data is JSON");
    let sql = "INSERT INTO reconciliations (kind, id, n, at_ms, clean, report) VALUES ($1, $2, $3, $4, $5, $6) \
               ON CONFLICT (kind, id) DO UPDATE SET n = excluded.n, at_ms = excluded.at_ms, clean = excluded.clean, \
               report = excluded.report WHERE excluded.n >= reconciliations.n";
    sqlx::query(sql)
        .bind(of.as_str())
        .bind(id.as_str())
        .bind(i64::try_from(n).unwrap_or(i64::MAX))
        .bind(at_ms)
        .bind(i64::from(report.clean))
        .bind(json)
        .execute(&mut **tx)
        .await?;
    Ok(())
}
