//! Rows that exist before anything is measured. SQL makes them in the shape in which the projector writes them.

use jackpot::sql::entry_days;
use jackpot::sql::{Kind, Sql};
use jackpot_core::clock::parse_rfc3339;
use sqlx::{Any, AssertSqlSafe, Executor, pool::PoolConnection};

use crate::Outcome;

/// Rows of one statement, which stays far below the time that PostgreSQL is given for one.
const AT_ONCE: u64 = 500_000;
/// Entries of each filled event.
const BLOCK: u64 = 16;
/// Filled entries of each player.
const EACH: u64 = 10;

/// Entries of a separate jackpot, in today's table too.
pub(crate) async fn entries(sql: &Sql, rows: u64) -> Outcome {
    let day = today(sql).await?;
    let mut tx = sql.begin().await?;
    entry_days::ensure(&mut tx, &day).await?;
    tx.commit().await?;
    let at = at_ms(&day)?;
    let mut connection = begin(sql).await?;
    // In the order of the key, which is the quickest way to insert them.
    let index = format!(
        "INSERT INTO {} (player_id, at_ms, jackpot_id, sequence, entry_id, stake, client_seed, n, epoch, version, rank, \
         settled) NUMBERS SELECT 'p' || ({FIRST_PLAYER} + (i - 1) / {EACH}), {at} + i, 'before', i, \
         '7b0c3a52-0000-4000-8000-' || (100000000000 + i), 1000, '', 1 + (i - 1) / {BLOCK}, 1, 1, 0, 1 FROM c",
        entry_days::table(&day)
    );
    chunks(&mut connection, &index, rows).await?;
    let events = format!(
        "INSERT INTO events (kind, id, n, stream_id, at_ms, type, last_sequence, hash, moved, body) NUMBERS SELECT \
         'jackpot', 'before', i, (i * {BLOCK}) || '-' || i, {at} + i, 'enter', i * {BLOCK}, '{}', \
         'grand c-112:-500000,p101,r11,m0:500000;mini c-48,p48', '{}' FROM c",
        "ab".repeat(32),
        body()
    );
    chunks(&mut connection, &events, rows / BLOCK).await?;
    end(sql, connection).await
}

/// Payouts of one jackpot, one each second. One of a thousand is of the tier `rare`.
pub(crate) async fn payouts(sql: &Sql, rows: u64) -> Outcome {
    let mut connection = begin(sql).await?;
    let insert = format!(
        "INSERT INTO payouts (payout_id, jackpot_id, claim_order, n, sequence, entry_id, player_id, rank, tier, amount, \
         currency, pool_before, pool_after, paid_at_ms, history, event_id, key_id, signature) NUMBERS SELECT \
         'po_' || (100000000000 + i), 'before', i, i, i * 1000, '7b0c3a52-0000-4000-8000-' || (100000000000 + i), \
         'p' || ({FIRST_PLAYER} + i % 1000), 1, CASE WHEN i % 1000 = 0 THEN 'rare' ELSE 'grand' END, i % 1000, 'KRW', \
         5000, 5000 - i % 1000, 1763683200000 + i * 1000, '00000000000000aa', 'before:' || i, '{}', '{}' FROM c",
        "k".repeat(43),
        "s".repeat(86)
    );
    chunks(&mut connection, &insert, rows).await?;
    end(sql, connection).await
}

/// Players have seven digits, so that the order of texts is that of numbers.
pub(crate) const FIRST_PLAYER: u64 = 1_000_000;

/// Number of players for this number of entries.
pub(crate) fn players(rows: u64) -> u64 {
    (rows / EACH).max(1)
}

async fn chunks(connection: &mut PoolConnection<Any>, text: &str, rows: u64) -> Outcome {
    let mut first = 1;
    while first <= rows {
        let last = rows.min(first + AT_ONCE - 1);
        let numbers = format!(
            "WITH RECURSIVE c(i) AS (SELECT CAST({first} AS BIGINT) UNION ALL SELECT i + 1 FROM c WHERE i < {last})"
        );
        let statement = text.replace("NUMBERS", &numbers);
        connection.execute(AssertSqlSafe(statement)).await?;
        first = last + 1;
    }
    Ok(())
}

/// Only these rows are written without waiting for the disk, because their insertion is not measured.
async fn begin(sql: &Sql) -> Outcome<PoolConnection<Any>> {
    let mut connection = sql.unchecked().await?;
    let statement = match sql.kind() {
        Kind::Sqlite => "PRAGMA synchronous = OFF",
        Kind::Postgres => "SET synchronous_commit = off; SET statement_timeout = 0",
    };
    connection.execute(statement).await?;
    Ok(connection)
}

/// Sets everything as the service has it. Nothing of the filling remains to be done during a measurement.
async fn end(sql: &Sql, mut connection: PoolConnection<Any>) -> Outcome {
    let statements: &[&str] = match sql.kind() {
        Kind::Sqlite => &["PRAGMA synchronous = FULL", "PRAGMA wal_checkpoint(TRUNCATE)"],
        Kind::Postgres => &[
            "SET synchronous_commit = on; SET statement_timeout = 0",
            "VACUUM ANALYZE",
            "CHECKPOINT",
            "SET statement_timeout = '30s'",
        ],
    };
    for statement in statements {
        connection.execute(*statement).await?;
    }
    Ok(())
}

async fn today(sql: &Sql) -> Outcome<String> {
    let text = format!("SELECT {}", sql.now_ms());
    let now: i64 = sqlx::query_scalar(AssertSqlSafe(text)).fetch_one(sql.reader()).await?;
    Ok(entry_days::day_of(now))
}

/// The first instant of a day.
fn at_ms(day: &str) -> Outcome<i64> {
    let text = format!("{}-{}-{}T00:00:00Z", &day[..4], &day[4..6], &day[6..]);
    Ok(parse_rfc3339(&text).ok_or("a day")?)
}

/// A body as long as that of an event with `BLOCK` entries.
fn body() -> String {
    let entry = |i| format!("7b0c3a52-1d1f-4b6e-9a53-1c0f7a9d{i:04} p123{i:04} 1000 *\\n");
    let block: String = (0..BLOCK).map(entry).collect();
    let pools = vec!["123456789+10,123456+4"; 16].join(";");
    format!(
        r#"{{"applied":"","at":"1763683200000","block":"{block}","claims":"","count":"{BLOCK}","epoch":"1","first":"1","history":"9f1c0a44d2b7e633","meters":"grand pool:101 pool_micro:250000 reserve:11 reserve_micro:250000 contributed:112 contributed_micro:500000;mini pool:48;","n":"1","pools":"{pools}","skip":"","type":"enter","version":"1"}}"#
    )
}
