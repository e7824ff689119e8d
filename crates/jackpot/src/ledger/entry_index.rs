//! Entries by player, in one table per day (UTC). An old table is dropped whole: deleting rows one by one would cost
//! more than inserting them did. The record of an entry is its event; this index only finds it.

use std::collections::BTreeMap;

use sqlx::AssertSqlSafe;

use jackpot_kernel::sql::entry_days::{COLUMNS, day_of, days, ensure, table};
use jackpot_kernel::sql::{Cell, Sql, Tx, cells, insert as insert_into};

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// An entry in the index by player.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexRow<'a> {
    /// The primary key.
    pub key: RowKey<'a>,
    /// As the client named the entry.
    pub entry_id: &'a str,
    /// In minor units.
    pub stake: i64,
    /// Empty when the client gave none.
    pub client_seed: &'a str,
    /// The source that the client named. It is in a table of its own: an earlier program makes the tables of days without
    /// it.
    pub source: Option<&'a str>,
    /// Event that took it.
    pub n: i64,
    /// Epoch of the draw.
    pub epoch: i64,
    /// Version of the definition.
    pub version: i64,
    /// Rank that it won; 0: nothing, or not known yet.
    pub rank: i64,
    /// Whether its outcome is final.
    pub settled: bool,
}

/// The primary key: it identifies the entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RowKey<'a> {
    pub player_id: &'a str,
    /// When it was taken, in ms of Redis' clock.
    pub at_ms: i64,
    pub jackpot_id: &'a str,
    /// Number of the entry in the jackpot.
    pub sequence: i64,
}

/// Adds rows, each to the table of its day, which it creates if needed. A row that is there already is an error.
pub async fn insert(tx: &mut Tx<'_>, rows: &[IndexRow<'_>]) -> Result<(), sqlx::Error> {
    let mut by_day: BTreeMap<i64, Vec<&IndexRow<'_>>> = BTreeMap::new();
    for row in rows {
        by_day.entry(row.key.at_ms.max(0) / DAY_MS).or_default().push(row);
    }
    for (number, rows) in by_day {
        let day = day_of(number * DAY_MS);
        ensure(tx, &day).await?;
        insert_into(tx, &table(&day), rows.into_iter().map(IndexRow::cells)).await?;
    }
    Ok(())
}

/// Adds the rows of entries that named a source, so that they are found by it.
pub async fn insert_sources(tx: &mut Tx<'_>, rows: &[IndexRow<'_>]) -> Result<(), sqlx::Error> {
    let mut of_sources = rows.iter().filter(|row| row.source.is_some()).collect::<Vec<_>>();
    of_sources.sort_unstable_by_key(|row| (row.key.jackpot_id, row.source, row.key.at_ms, row.key.sequence));
    let rows = of_sources.into_iter().filter_map(IndexRow::of_source);
    insert_into(tx, "source_entries", rows).await
}

impl<'a> IndexRow<'a> {
    /// Its row among the entries of its source, if it names one.
    fn of_source(&self) -> Option<[Cell<'a>; 5]> {
        Some(cells! {
            jackpot_id: self.key.jackpot_id,
            source_id: self.source?,
            at_ms: self.key.at_ms,
            sequence: self.key.sequence,
            player_id: self.key.player_id,
        })
    }

    fn cells(&self) -> [Cell<'a>; COLUMNS.len()] {
        cells! {
            player_id: self.key.player_id,
            at_ms: self.key.at_ms,
            jackpot_id: self.key.jackpot_id,
            sequence: self.key.sequence,
            entry_id: self.entry_id,
            stake: self.stake,
            client_seed: self.client_seed,
            n: self.n,
            epoch: self.epoch,
            version: self.version,
            rank: self.rank,
            settled: i32::from(self.settled),
        }
    }
}

/// Writes the final outcome of an entry. Returns `false` when its row is not there, perhaps because its day has
/// expired.
pub async fn settle(tx: &mut Tx<'_>, key: &RowKey<'_>, rank: i64) -> Result<bool, sqlx::Error> {
    let day = day_of(key.at_ms);
    // Ask first: on PostgreSQL a statement about a missing table would end the whole transaction.
    let there: Option<String> = sqlx::query_scalar("SELECT day FROM entry_days WHERE day = $1")
        .bind(&day)
        .fetch_optional(&mut **tx)
        .await?;
    if there.is_none() {
        return Ok(false);
    }
    let statement = format!(
        "UPDATE {} SET rank = $1, settled = 1 WHERE player_id = $2 AND at_ms = $3 AND jackpot_id = $4 AND sequence = $5",
        table(&day)
    );
    let written = sqlx::query(AssertSqlSafe(statement))
        .bind(rank)
        .bind(key.player_id)
        .bind(key.at_ms)
        .bind(key.jackpot_id)
        .bind(key.sequence)
        .execute(&mut **tx)
        .await?;
    Ok(written.rows_affected() == 1)
}

/// Drops the tables of all days that ended more than `keep_days` days before `now_ms`; with 0 all of them. Returns
/// the dropped days. Each is dropped in a transaction of its own.
pub async fn expire(sql: &Sql, keep_days: u32, now_ms: i64) -> Result<Vec<String>, sqlx::Error> {
    let first_kept = day_of(now_ms.saturating_sub(i64::from(keep_days) * DAY_MS));
    let days = sql.reading(days(sql.reader())).await?;
    let old: Vec<String> = days
        .into_iter()
        .filter(|day| keep_days == 0 || *day < first_kept)
        .collect();
    for day in &old {
        sql.writing(drop_day(sql, day)).await?;
    }
    if !old.is_empty() {
        let before_ms = match keep_days {
            0 => i64::MAX,
            days => now_ms.saturating_sub(i64::from(days) * DAY_MS).max(0) / DAY_MS * DAY_MS,
        };
        while sql.writing(drop_sources(sql, before_ms)).await? == DROPPED_AT_ONCE {}
    }
    Ok(old)
}

/// Most rows that one statement deletes: some 50 ms.
const DROPPED_AT_ONCE: u64 = 5_000;

/// Deletes rows of entries of sources from before a time. Returns how many.
async fn drop_sources(sql: &Sql, before_ms: i64) -> Result<u64, sqlx::Error> {
    let mut tx = sql.begin().await?;
    let text = format!(
        "DELETE FROM source_entries WHERE (jackpot_id, sequence) IN \
         (SELECT jackpot_id, sequence FROM source_entries WHERE at_ms < $1 LIMIT {DROPPED_AT_ONCE})"
    );
    let deleted = sqlx::query(AssertSqlSafe(text))
        .bind(before_ms)
        .execute(&mut *tx)
        .await?;
    tx.commit().await?;
    Ok(deleted.rows_affected())
}

async fn drop_day(sql: &Sql, day: &str) -> Result<(), sqlx::Error> {
    let mut tx = sql.begin().await?;
    // Delete the row first: `ensure` waits for it.
    sqlx::query("DELETE FROM entry_days WHERE day = $1")
        .bind(day)
        .execute(&mut *tx)
        .await?;
    let statement = format!("DROP TABLE IF EXISTS {}", table(day));
    sqlx::query(AssertSqlSafe(statement)).execute(&mut *tx).await?;
    tx.commit().await
}
