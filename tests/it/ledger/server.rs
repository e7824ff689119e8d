//! What PostgreSQL servers and poolers are refused, and what a pooler keeps of a client.

use jackpot::sql::{Sql, SqlError};
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Executor, Row};

use crate::support::ledger_db;
use crate::support::pgbouncer::PgBouncer;
use crate::support::postgres::TestPostgres;
use crate::support::prelude::*;

#[tokio::test]
async fn a_database_that_can_not_hold_every_text_is_refused_with_what_to_do() {
    let server = TestPostgres::start().await;
    let mut url: reqwest::Url = server.url().parse().expect("a URL");
    let mut connection = server
        .url()
        .parse::<PgConnectOptions>()
        .expect("a URL")
        .connect()
        .await
        .expect("it answers");
    let data = Service::directory();
    for encoding in ["LATIN1", "EUC_KR", "SQL_ASCII"] {
        let name = format!(
            "{}_{}",
            server.url().rsplit('/').next().expect("a name"),
            encoding.to_lowercase()
        );
        let make =
            format!("CREATE DATABASE {name} ENCODING '{encoding}' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'");
        connection.execute(AssertSqlSafe(make)).await.expect("a database");
        url.set_path(&name);
        let settings = ledger_db::settings(url.as_str());
        for refused in [
            Sql::open(&settings, data.path()).await.map(drop),
            Sql::migrate(&settings, data.path()).await.map(drop),
            Sql::open_to_read(&settings, data.path()).await.map(drop),
        ] {
            let error = refused.expect_err(encoding);
            let text = error.to_string();
            text.says(encoding);
            text.says("ENCODING 'UTF8' TEMPLATE template0");
        }
        if encoding == "LATIN1" {
            let output = Service::command_in(data.path(), &[("JACKPOT__LEDGER__URL", url.as_str())], &["doctor"]);
            output.says("has the encoding LATIN1");
        }
        connection
            .execute(AssertSqlSafe(format!("DROP DATABASE {name}")))
            .await
            .expect("dropped");
    }
    connection.close().await.expect("closed");
}

/// What the next client of the pooler gets with its connection.
async fn left_over(pooler: &PgBouncer) -> Vec<String> {
    let options: PgConnectOptions = pooler.url().parse().expect("a URL");
    let mut connection = options.connect().await.expect("it answers");
    let mut found = Vec::new();
    for name in [
        "statement_timeout",
        "lock_timeout",
        "idle_in_transaction_session_timeout",
        "enable_sort",
        "default_transaction_read_only",
        "jit",
    ] {
        let row = connection
            .fetch_one(AssertSqlSafe(format!("SHOW {name}")))
            .await
            .expect("a setting");
        found.push(format!("{name} {}", row.get::<String, _>(0)));
    }
    connection.close().await.expect("closed");
    found
}

#[tokio::test]
async fn a_pooler_that_gives_connections_away_is_refused_by_name_and_keeps_nothing() {
    let (server, data) = (TestPostgres::start().await, Service::directory());
    // With its schema nothing but the check refuses. Of a pooler with one connection, the next client gets the one that
    // the refused client had.
    let migrated = Sql::migrate(&ledger_db::settings(server.url()), data.path()).await;
    migrated.expect("migrated without the pooler");
    for (mode, connections) in [("transaction", 5), ("transaction", 1), ("statement", 1)] {
        let pooler = PgBouncer::start(server.url(), mode, connections).await;
        let before = left_over(&pooler).await;
        let settings = ledger_db::settings(pooler.url());
        let all = [
            Sql::open(&settings, data.path()).await.map(drop),
            Sql::migrate(&settings, data.path()).await.map(drop),
            Sql::open_to_read(&settings, data.path()).await.map(drop),
        ];
        assert_eq!(left_over(&pooler).await, before, "another program's connection, {mode}");
        for refused in all {
            let error = refused.expect_err(mode);
            assert!(matches!(error, SqlError::Pooled { .. }), "{error}");
            error.to_string().says("pool_mode = session");
        }
    }
}

#[tokio::test]
async fn a_pooler_that_keeps_sessions_is_used_if_it_has_a_connection_for_each() {
    let (server, data) = (TestPostgres::start().await, Service::directory());
    let pooler = PgBouncer::start(server.url(), "session", 11).await;
    let before = left_over(&pooler).await;
    let settings = ledger_db::settings(pooler.url());
    assert_eq!(Sql::connections(&settings), 11);
    let sql = Sql::open(&settings, data.path()).await.expect("a ledger");
    sql.fill().await.expect("all connections");
    assert!(!sql.store().await.expect("a read").has_events);
    assert!(sql.end_leases("nobody").await.is_ok(), "a write");
    sql.close().await;
    assert_eq!(left_over(&pooler).await, before, "another program's connection");

    let pooler = PgBouncer::start(server.url(), "session", 3).await;
    let sql = Sql::open(&ledger_db::settings(pooler.url()), data.path())
        .await
        .expect("a ledger");
    let error = sql.fill().await.expect_err("eight of them wait").to_string();
    error.says("only 3 of 11 connections");
    error.says("default_pool_size");
    sql.close().await;
}
