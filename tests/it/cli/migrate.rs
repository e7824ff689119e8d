//! `jackpot migrate`: what it prints and how it ends.

use std::process::{Command, Output};

use jackpot::ledger::projector::lease::Leases;
use jackpot::subject::kinds::JACKPOT;

use crate::support::ledger_db::stream_row;
use crate::support::prelude::*;

on_both_databases!(empty: migrate_says_what_it_did);
on_both_databases!(
    a_ledger_from_before_the_first_release_is_refused,
    a_ledger_of_the_first_schema_keeps_its_streams,
);

fn migrate(db: &LedgerDb, environment: &[(&str, &str)]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_jackpot"))
        .arg("migrate")
        .current_dir(db.data_dir())
        .env("JACKPOT__DATA_DIR", db.data_dir())
        .envs(environment.iter().copied())
        .output()
        .expect("the binary that cargo built starts")
}

async fn migrate_says_what_it_did(db: LedgerDb) {
    let out = |output: &Output| String::from_utf8_lossy(&output.stdout).into_owned();
    let files = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/migrations")).expect("the migrations");
    // Migration numbers may have gaps, because branches take theirs before they are merged.
    let number = |name: String| name.split('_').next()?.parse::<u32>().ok();
    let names = files
        .flatten()
        .map(|file| file.file_name().to_string_lossy().into_owned());
    let mut numbers: Vec<_> = names.filter_map(number).collect();
    numbers.sort_unstable();
    let last = *numbers.last().expect("at least one");
    let first = migrate(&db, &[db.environment()]);
    assert!(
        first.status.success() && out(&first).contains(&format!("schema version 0 -> {last}\n")),
        "{first:?}"
    );
    let second = migrate(&db, &[db.environment()]);
    assert!(
        second.status.success() && out(&second).contains(&format!("schema version {last}, up to date")),
        "{second:?}"
    );
    let sql = db.open().await;
    let applied: Vec<i64> = sqlx::query_scalar("SELECT version FROM _sqlx_migrations ORDER BY version")
        .fetch_all(sql.reader())
        .await
        .expect("versions");
    let numbers: Vec<_> = numbers.into_iter().map(i64::from).collect();
    assert_eq!(
        applied, numbers,
        "crates/kernel/src/sql/schema.rs lists every file of migrations/"
    );
    sql.close().await;
}

async fn a_ledger_from_before_the_first_release_is_refused(db: LedgerDb) {
    assert!(migrate(&db, &[db.environment()]).status.success());
    let sql = db.open().await;
    let earlier = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
                   SELECT 9, 'store', success, checksum, 0 FROM _sqlx_migrations WHERE version = 10";
    sql.execute(sqlx::query(earlier)).await.expect("an earlier version");
    sql.close().await;
    let refused = migrate(&db, &[db.environment()]);
    let text = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(1));
    text.says("before the first release: begin with an empty database");
}

async fn a_ledger_of_the_first_schema_keeps_its_streams(db: LedgerDb) {
    assert!(migrate(&db, &[db.environment()]).status.success());
    let sql = db.open().await;
    let row = stream_row("jackpot", "spring", 7, "00");
    let back = [
        row.as_str(),
        "DROP TABLE holders",
        "ALTER TABLE streams ADD COLUMN lease_until_ms BIGINT NOT NULL DEFAULT 5",
        "UPDATE streams SET holder = 'of that schema'",
        "DELETE FROM _sqlx_migrations WHERE version > 10",
    ];
    for statement in back {
        let statement = sqlx::query(sqlx::AssertSqlSafe(statement.to_owned()));
        sql.execute(statement).await.expect("the schema of version 10");
    }
    sql.close().await;
    let done = migrate(&db, &[db.environment()]);
    let out = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(
        done.status.success() && out.contains("schema version 10 -> "),
        "{done:?}"
    );
    let sql = db.open().await;
    let leases = Leases::of(JACKPOT, sql.clone(), "new".to_owned(), 1_000);
    let places = leases.places().await.expect("an answer");
    assert_eq!((places[0].id.as_str(), places[0].n), ("spring", 7));
    assert!(places[0].free, "nobody renews a lease of that schema");
    sql.close().await;
}

#[test]
fn migrate_fails_with_what_is_wrong() {
    let db = LedgerDb::sqlite();
    let failed = migrate(&db, &[("JACKPOT__LEDGER__URL", "postgres://u:hidden@127.0.0.1:1/d")]);
    let text = String::from_utf8_lossy(&failed.stderr);
    assert_eq!(failed.status.code(), Some(1));
    text.says("jackpot: PostgreSQL 127.0.0.1:1/d: ");
    text.hides("hidden");
    std::fs::write(
        db.data_dir().join("ledger.sqlite"),
        "no database, but long enough to be looked at".repeat(20),
    )
    .expect("a file");
    let failed = migrate(&db, &[]);
    assert_eq!(failed.status.code(), Some(1));
    assert!(
        String::from_utf8_lossy(&failed.stderr).contains("not a database"),
        "{failed:?}"
    );
}
