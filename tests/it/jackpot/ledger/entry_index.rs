//! The index of entries by player: a table per day that expires whole.

use jackpot::jackpot::ledger::entry_index::{IndexRow, expire, insert, insert_sources, settle};
use jackpot::sql::Sql;
use jackpot::sql::entry_days::{day_of, days, ensure, table};
use sqlx::AssertSqlSafe;

use crate::ledger::queries::fixture::entry;
use crate::support::prelude::*;

/// 2025-11-21T00:00:00Z.
const MIDNIGHT: i64 = 1_763_683_200_000;
const DAY_MS: i64 = 86_400_000;

on_both_databases!(
    rows_go_to_the_table_of_their_day,
    a_row_is_settled_once_and_only_where_it_is,
    days_expire_whole,
    entries_of_sources_expire_with_their_days,
);

fn row(at_ms: i64, sequence: i64) -> IndexRow<'static> {
    IndexRow {
        settled: false,
        ..entry("p1", at_ms, "spring", sequence)
    }
}

async fn add(sql: &Sql, rows: &[IndexRow<'_>]) -> Result<(), sqlx::Error> {
    let mut tx = sql.begin().await?;
    insert(&mut tx, rows).await?;
    tx.commit().await
}

/// Sequence, rank and settled of the rows of a day.
async fn rows_of(sql: &Sql, day: &str) -> Vec<(i64, i64, i64)> {
    let text = format!("SELECT sequence, rank, settled FROM {} ORDER BY sequence", table(day));
    sqlx::query_as(AssertSqlSafe(text))
        .fetch_all(sql.reader())
        .await
        .expect("the day has a table")
}

async fn rows_go_to_the_table_of_their_day(db: LedgerDb) {
    let sql = db.open().await;
    let rows: Vec<_> = (1..=100)
        .map(|sequence| row(MIDNIGHT - 50 + sequence, sequence))
        .collect();
    add(&sql, &rows).await.expect("new rows");
    assert_eq!(days(sql.reader()).await.expect("days"), ["20251120", "20251121"]);
    assert!(
        rows_of(&sql, "20251120")
            .await
            .into_iter()
            .eq((1..=49).map(|n| (n, 0, 0)))
    );
    assert!(
        rows_of(&sql, "20251121")
            .await
            .into_iter()
            .eq((50..=100).map(|n| (n, 0, 0)))
    );

    let error = add(&sql, &[row(MIDNIGHT + DAY_MS, 101), row(MIDNIGHT, 50)]).await;
    assert!(error.is_err(), "a row that is there already is an error");
    assert_eq!(
        days(sql.reader()).await.expect("days").len(),
        2,
        "and nothing of it stays"
    );
}

async fn a_row_is_settled_once_and_only_where_it_is(db: LedgerDb) {
    let sql = db.open().await;
    add(&sql, &[row(MIDNIGHT, 1), row(MIDNIGHT, 2)])
        .await
        .expect("new rows");
    let mut tx = sql.begin().await.expect("a transaction");
    assert!(settle(&mut tx, &row(MIDNIGHT, 2).key, 3).await.expect("settled"));
    assert!(!settle(&mut tx, &row(MIDNIGHT, 9).key, 3).await.expect("no such row"));
    assert!(
        !settle(&mut tx, &row(MIDNIGHT - DAY_MS, 2).key, 3)
            .await
            .expect("no such day")
    );
    tx.commit()
        .await
        .expect("a day that is not there does not end the transaction");
    assert_eq!(rows_of(&sql, "20251121").await, [(1, 0, 0), (2, 3, 1)]);
}

async fn days_expire_whole(db: LedgerDb) {
    let sql = db.open().await;
    let rows: Vec<_> = (0..10).map(|back| row(MIDNIGHT - back * DAY_MS, 1)).collect();
    add(&sql, &rows).await.expect("new rows");
    let noon = MIDNIGHT + DAY_MS / 2;
    assert_eq!(expire(&sql, 30, noon).await.expect("none is so old"), [""; 0]);
    let gone = expire(&sql, 7, noon).await.expect("two are older");
    assert_eq!(gone, ["20251112", "20251113"]);
    let left = days(sql.reader()).await.expect("days");
    assert!(
        left.iter().map(String::as_str).eq((14..=21)
            .map(|day| day_of(MIDNIGHT - (21 - day) * DAY_MS))
            .collect::<Vec<_>>()
            .iter()
            .map(String::as_str))
    );
    let text = format!("SELECT COUNT(*) FROM {}", table("20251113"));
    let read = sqlx::query(AssertSqlSafe(text)).fetch_one(sql.reader()).await;
    assert!(read.is_err(), "the table is gone");
    assert_eq!(expire(&sql, 0, noon).await.expect("all").len(), 8);
    assert_eq!(days(sql.reader()).await.expect("days"), [""; 0]);
    add(&sql, &[row(MIDNIGHT, 1)]).await.expect("a day can come again");
}

#[tokio::test]
async fn two_projectors_make_the_table_of_a_day_at_once_on_postgres() {
    let db = LedgerDb::postgres().await;
    let (one, other) = (db.open().await, db.open().await);
    for day in 0..10 {
        let day = day_of(MIDNIGHT + day * DAY_MS);
        let make = async |sql: &Sql| {
            let mut tx = sql.begin().await?;
            ensure(&mut tx, &day).await?;
            tx.commit().await
        };
        let (first, second) = tokio::join!(make(&one), make(&other));
        first.and(second).expect("both have it");
    }
    assert_eq!(days(one.reader()).await.expect("days").len(), 10);
}

async fn entries_of_sources_expire_with_their_days(db: LedgerDb) {
    let sql = db.open().await;
    // More than one statement deletes, of two sources, and entries without one.
    let all = (0..12_000_i64).map(|i| IndexRow {
        source: [Some("lobby"), Some("vip"), None][usize::try_from(i % 3).expect("small")],
        ..row(MIDNIGHT - (i % 10) * DAY_MS, i)
    });
    let rows: Vec<_> = all.collect();
    add(&sql, &rows).await.expect("new rows");
    let mut tx = sql.begin().await.expect("a transaction");
    insert_sources(&mut tx, &rows).await.expect("new rows");
    tx.commit().await.expect("committed");
    let counted = async || -> (i64, i64) {
        let text = "SELECT COUNT(*), MIN(at_ms) FROM source_entries";
        sqlx::query_as(text).fetch_one(sql.reader()).await.expect("counted")
    };
    assert_eq!(counted().await, (8_000, MIDNIGHT - 9 * DAY_MS));
    let noon = MIDNIGHT + DAY_MS / 2;
    expire(&sql, 7, noon).await.expect("two are older");
    assert_eq!(counted().await, (6_400, MIDNIGHT - 7 * DAY_MS));
    expire(&sql, 0, noon).await.expect("all of them");
    let left: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM source_entries")
        .fetch_one(sql.reader())
        .await
        .expect("counted");
    assert_eq!(left, 0);
}
