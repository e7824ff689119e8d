//! What the streams of jackpots keep in memory, read by a few queries.

use std::collections::{BTreeSet, HashMap};

use jackpot_core::ids::Id;
use sqlx::any::AnyRow;
use sqlx::{AssertSqlSafe, Row};

use super::daily::Daily;
use super::{JackpotTables, check_index};
use crate::ledger::books::Books;
use jackpot_kernel::ledger::projector::lease::numbered;
use jackpot_kernel::ledger::projector::load::LoadError;
use jackpot_kernel::ledger::projector::rows::Cursor;
use jackpot_kernel::sql::Sql;

/// Reads what each keeps, for [`Tables`](jackpot_kernel::ledger::kind::Tables).
pub(super) async fn load(
    sql: &Sql,
    of: &[(&Id, &Cursor, &Books)],
) -> Result<Vec<Result<JackpotTables, LoadError>>, sqlx::Error> {
    if of.is_empty() {
        return Ok(Vec::new());
    }
    let named = numbered(1, of.len());
    let indexed = all(
        sql,
        of,
        format!("SELECT id, indexed_n FROM streams WHERE kind = 'jackpot' AND id IN ({named})"),
    );
    let mut indexed_n: HashMap<String, u64> = HashMap::new();
    for row in indexed.await? {
        indexed_n.insert(row.try_get("id")?, row.try_get::<i64, _>("indexed_n")?.unsigned_abs());
    }
    // The versions in force are numbers of this program, so they can be part of the statement.
    let versions: Vec<_> = of
        .iter()
        .enumerate()
        .map(|(i, (.., books))| {
            let version = i64::try_from(books.last_version).unwrap_or_default();
            format!("(kind = 'jackpot' AND id = ${} AND version = {version})", i + 1)
        })
        .collect();
    let texts = all(
        sql,
        of,
        format!("SELECT id, json FROM definitions WHERE {}", versions.join(" OR ")),
    );
    let mut last_definition: HashMap<String, String> = HashMap::new();
    for row in texts.await? {
        last_definition.insert(row.try_get("id")?, row.try_get("json")?);
    }
    let closed = all(
        sql,
        of,
        format!("SELECT jackpot_id, epoch FROM epochs WHERE jackpot_id IN ({named}) AND closed_n > 0 AND seed = ''"),
    );
    let mut unpublished: HashMap<String, BTreeSet<u64>> = HashMap::new();
    for row in closed.await? {
        let epoch = row.try_get::<i64, _>("epoch")?.unsigned_abs();
        unpublished.entry(row.try_get("jackpot_id")?).or_default().insert(epoch);
    }
    let mut tables = |(id, cursor, books): &(&Id, &Cursor, &Books)| {
        let indexed_n = indexed_n.get(id.as_str()).copied().unwrap_or_default();
        if cursor.n == 0 {
            return Ok(JackpotTables {
                indexed_n,
                daily: Daily::of_new_stream(),
                ..JackpotTables::default()
            });
        }
        check_index(id, indexed_n, cursor)?;
        Ok(JackpotTables {
            last_definition: last_definition.remove(id.as_str()).unwrap_or_default(),
            indexed_n,
            unpublished: unpublished.remove(id.as_str()).unwrap_or_default(),
            has_unpublished_cycles: !books.cycles.is_empty(),
            ..JackpotTables::default()
        })
    };
    Ok(of.iter().map(&mut tables).collect())
}

async fn all(sql: &Sql, of: &[(&Id, &Cursor, &Books)], text: String) -> Result<Vec<AnyRow>, sqlx::Error> {
    let select = of.iter().fold(sqlx::query(AssertSqlSafe(text)), |select, (id, ..)| {
        select.bind(id.as_str())
    });
    select.fetch_all(sql.reader()).await
}
