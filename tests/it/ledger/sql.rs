//! The SQL database: who may open it, what survives, and the error when it is away.

use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use jackpot::sql::copy::copy_to_file;
use jackpot::sql::{Sql, SqlError, Value, insert_rows};
use sqlx::Row;

use crate::support::ledger_db::settings;
use crate::support::postgres_local::PrivatePostgres;
use crate::support::prelude::*;

on_both_databases!(
    empty: a_ledger_keeps_its_id,
    a_reader_beside_a_service_sees_and_writes_nothing,
);
on_both_databases!(
    a_newer_schema_is_refused,
    many_rows_are_inserted_whole_or_not_at_all,
    a_copy_carries_the_console_s_reasons,
);

async fn a_ledger_keeps_its_id(db: LedgerDb) {
    let made = Sql::migrate(&db.settings(), db.data_dir())
        .await
        .expect("an empty database");
    assert!(made.from == 0 && made.to > 0, "{made:?}");
    let first = db.open().await;
    let id = first.ledger_id().to_owned();
    assert!(uuid_like(&id), "{id}");
    let now: i64 = sqlx::query_scalar(sqlx::AssertSqlSafe(format!("SELECT {}", first.now_ms())))
        .fetch_one(first.reader())
        .await
        .expect("it has a clock");
    assert!((now - jiff::Timestamp::now().as_millisecond()).abs() < 60_000, "{now}");
    first.close().await;
    assert_eq!(db.open().await.ledger_id(), id);
    let other = LedgerDb::sqlite();
    assert_ne!(other.open().await.ledger_id(), id, "another ledger has another id");
}

fn uuid_like(id: &str) -> bool {
    id.len() == 36 && id.split('-').map(str::len).eq([8, 4, 4, 4, 12])
}

async fn a_newer_schema_is_refused(db: LedgerDb) {
    let sql = db.open().await;
    sql.execute(sqlx::query(
        "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
         VALUES (9999, 'later', TRUE, '', 0)",
    ))
    .await
    .expect("a later version leaves such a row");
    sql.close().await;
    let message = "has schema version 9999, and this program knows up to";
    let error = Sql::open(&db.settings(), db.data_dir()).await.expect_err("newer");
    assert!(matches!(error, SqlError::Newer { found: 9999, .. }), "{error}");
    error.to_string().says(message);
    let error = Sql::open_to_read(&db.settings(), db.data_dir())
        .await
        .expect_err("newer");
    error.to_string().says(message);
}

async fn a_reader_beside_a_service_sees_and_writes_nothing(db: LedgerDb) {
    let error = Sql::open_to_read(&db.settings(), db.data_dir())
        .await
        .expect_err("empty");
    error.to_string().says("jackpot migrate");
    let service = db.open().await;
    let reader = Sql::open_to_read(&db.settings(), db.data_dir())
        .await
        .expect("beside it");
    assert_eq!(reader.ledger_id(), service.ledger_id());
    add_audit_rows(&service, 3).await.expect("the service writes");
    assert_eq!(audit_rows(&reader).await, 3, "what is committed is seen");
    let refused = reader.execute(sqlx::query("DELETE FROM audit")).await;
    assert!(refused.is_err(), "a reader can't write");
    for pool in [reader.reader(), service.reader()] {
        let refused = sqlx::query("DELETE FROM audit").execute(pool).await;
        assert!(refused.is_err(), "a reader can't write");
    }
    add_audit_rows(&reader, 1).await.expect_err("nor in a transaction");
    service.close().await;
    assert_eq!(audit_rows(&reader).await, 3, "also when the service has ended");
    reader.close().await;
    let alone = Sql::open_to_read(&db.settings(), db.data_dir()).await.expect("alone");
    assert_eq!(audit_rows(&alone).await, 3, "and alone");
}

async fn many_rows_are_inserted_whole_or_not_at_all(db: LedgerDb) {
    let sql = db.open().await;
    // All sizes of statement: chunks of each kind and single rows.
    for count in [0, 1, 3, 4, 15, 16, 127, 128, 129, 300] {
        add_audit_rows(&sql, count).await.expect("new rows");
        assert_eq!(audit_rows(&sql).await, count);
        let all: Vec<i64> = sqlx::query_scalar("SELECT n FROM audit ORDER BY n")
            .fetch_all(sql.reader())
            .await
            .expect("they can be read");
        assert!(all.into_iter().eq(0..count), "each is there once");
        sql.execute(sqlx::query("DELETE FROM audit")).await.expect("gone");
    }
    add_audit_rows(&sql, 5).await.expect("new rows");
    let error = add_audit_rows(&sql, 100).await.expect_err("five are there already");
    assert!(
        error
            .as_database_error()
            .is_some_and(sqlx::error::DatabaseError::is_unique_violation),
        "{error}"
    );
    assert_eq!(audit_rows(&sql).await, 5);
}

/// Rows 0 to `count`; their values need quoting in a text of SQL.
async fn add_audit_rows(sql: &Sql, count: i64) -> Result<(), sqlx::Error> {
    const COLUMNS: [&str; 10] = [
        "subject",
        "n",
        "at_ms",
        "who",
        "action",
        "target",
        "before",
        "after",
        "reason",
        "request_id",
    ];
    let mut values = Vec::new();
    for n in 0..count {
        values.extend([Value::Text("spring"), Value::Int(n), Value::Int(i64::MAX)]);
        values.extend(["it's", "\"a\"", "$1", "", "ß\\", "\n", "?"].map(Value::Text));
    }
    let mut tx = sql.begin().await?;
    insert_rows(&mut tx, "audit", &COLUMNS, &values).await?;
    tx.commit().await
}

async fn audit_rows(sql: &Sql) -> i64 {
    let row = sqlx::query("SELECT COUNT(*) FROM audit WHERE who = $1 AND before = '' AND at_ms = $2")
        .bind("it's")
        .bind(i64::MAX)
        .fetch_one(sql.reader())
        .await
        .expect("the audit can be read");
    row.get(0)
}

#[tokio::test]
async fn sqlite_is_for_one_instance() {
    let db = LedgerDb::sqlite();
    let first = db.open().await;
    let error = Sql::open(&db.settings(), db.data_dir())
        .await
        .expect_err("it is in use");
    let text = error.to_string();
    text.says("in use by another instance");
    text.says(&std::process::id().to_string());
    // The link is another name of the same file.
    let link = db.data_dir().join("link.sqlite");
    std::os::unix::fs::symlink(db.data_dir().join("ledger.sqlite"), &link).expect("a link");
    let by_link = settings(&format!("sqlite://{}", link.display()));
    Sql::open(&by_link, db.data_dir())
        .await
        .expect_err("it is in use by any name");
    Sql::migrate(&db.settings(), db.data_dir())
        .await
        .expect_err("nor is it changed");
    first.close().await;
    let again = Sql::open(&by_link, db.data_dir()).await.expect("it is free");
    assert_eq!(again.ledger_id(), first.ledger_id());
}

#[tokio::test]
async fn sqlite_files_are_private_wherever_they_are() {
    let db = LedgerDb::sqlite();
    let directory = db.data_dir().join("new/a b#c%20d?e&f'ä");
    let sql = Sql::open(&settings(""), &directory)
        .await
        .expect("a new directory with an odd name");
    add_audit_rows(&sql, 1).await.expect("it can be written");
    let modes = || {
        let mut found: Vec<(String, u32)> = std::fs::read_dir(&directory)
            .expect("the directory is there")
            .map(|entry| entry.expect("an entry"))
            .map(|entry| {
                (
                    entry.file_name(),
                    entry.metadata().expect("its mode").permissions().mode(),
                )
            })
            .map(|(name, mode)| (name.to_string_lossy().into_owned(), mode & 0o777))
            .collect();
        found.sort();
        found
    };
    let private = [
        "ledger.sqlite",
        "ledger.sqlite-shm",
        "ledger.sqlite-wal",
        "ledger.sqlite.lock",
    ];
    assert_eq!(modes(), private.map(|name| (name.to_owned(), 0o600)));
    let mode = std::fs::metadata(&directory).expect("it is there").permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    sql.close().await;

    let file = directory.join("ledger.sqlite");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).expect("opened up");
    let sql = Sql::open(&settings(""), &directory).await.expect("again");
    add_audit_rows(&sql, 0).await.expect("it can be written");
    assert!(modes().iter().all(|(_, mode)| *mode == 0o600), "{:?}", modes());
}

#[tokio::test]
async fn two_instances_that_start_at_once_on_an_empty_postgres_share_one_ledger() {
    let db = LedgerDb::postgres().await;
    let (one, other) = tokio::join!(db.open(), db.open());
    assert_eq!(one.ledger_id(), other.ledger_id());
    let rows: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM ledger")
        .fetch_one(one.reader())
        .await
        .expect("it can be read");
    assert_eq!(rows, 1);
}

#[tokio::test]
async fn a_postgres_that_was_away_is_used_again_and_a_frozen_one_holds_nobody() {
    let mut server = PrivatePostgres::start().await.expect("apt-get install postgresql");
    let data = tempfile::tempdir().expect("a temporary directory");
    let sql = Sql::open(&settings(&server.url()), data.path())
        .await
        .expect("it answers");
    sql.writing(add_audit_rows(&sql, 2)).await.expect("it can be written");
    assert_eq!((audit_rows(&sql).await, sql.down()), (2, None));

    server.stop_immediate();
    let reading = || sql.reading(sqlx::query("SELECT 1").execute(sql.reader()));
    reading().await.expect_err("it is away");
    assert!(sql.down().is_some(), "and that is known");
    server.start_again().await;
    reading().await.expect("the connections of before are replaced");
    assert_eq!((audit_rows(&sql).await, sql.down()), (2, None));

    server.freeze();
    let begun = std::time::Instant::now();
    reading().await.expect_err("it is frozen");
    sql.writing(add_audit_rows(&sql, 3)).await.expect_err("it is frozen");
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    server.thaw();
    eventually(Duration::from_secs(20), "it is used again", async || {
        reading().await.ok()
    })
    .await;
    assert_eq!(audit_rows(&sql).await, 2, "what failed wrote nothing");
    eventually(Duration::from_secs(20), "it is written to again", async || {
        sql.execute(sqlx::query("DELETE FROM audit WHERE n = -1")).await.ok()
    })
    .await;
    assert_eq!(sql.down(), None);
}

#[tokio::test]
async fn no_error_shows_the_password() {
    let data = tempfile::tempdir().expect("a temporary directory");
    let server = PrivatePostgres::start().await.expect("apt-get install postgresql");
    let at = server.url().split_once('@').expect("it has a password").1.to_owned();
    let urls = [
        format!("postgres://postgres:hidden@{at}"),
        format!("postgres://nobody:hidden@{at}?sslmode=hidden"),
        "postgres://u:hidden@127.0.0.1:1/d".to_owned(),
        "postgres://u:hidden@127.0.0.1:99999/d".to_owned(),
        "postgres://u:hidden@[::/d".to_owned(),
        "postgres://u:hidden@no-such-host.invalid/d".to_owned(),
    ];
    for url in urls {
        let error = Sql::open(&settings(&url), data.path())
            .await
            .expect_err("it can't be opened");
        // The URL with the secret in place of a mode is left out, because its error quotes the mode.
        if !url.contains("sslmode") {
            assert!(!format!("{error} {error:?}").contains("hidden"), "{error:?}");
        }
        error.to_string().hides(":hidden@");
    }
}

async fn a_copy_carries_the_console_s_reasons(db: LedgerDb) {
    let sql = db.open().await;
    let row = "INSERT INTO console_reasons (request_id, who, reason) VALUES ('q1', 'anna', 'a launch')";
    sql.execute(sqlx::query(row)).await.expect("a reason");
    let to = db.data_dir().join("copy.sqlite");
    copy_to_file(&db.settings(), db.data_dir(), &to).await.expect("a copy");
    let url = format!("sqlite://{}", to.display());
    let copied = Sql::open_to_read(&settings(&url), db.data_dir())
        .await
        .expect("a ledger");
    let reason: String = sqlx::query_scalar("SELECT reason FROM console_reasons WHERE request_id = 'q1'")
        .fetch_one(copied.reader())
        .await
        .expect("the reason is in the copy");
    assert_eq!(reason, "a launch");
    copied.close().await;
    sql.close().await;
}
