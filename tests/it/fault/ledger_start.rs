//! A start with the wrong ledger, without one, or beside another instance on the same file; a disk that is full.

use std::os::unix::fs::PermissionsExt;

use rustix::process::{Resource, Rlimit, prlimit};

use crate::fault::ledger_support::{COMPARED_OFTEN, assert_ledger_has_each_once, cursor, metric, outside, until_clean};
use crate::fault::load::{Load, assert_each_counted_once};
use crate::fault::support::{create, embedded, enter, lively};
use crate::support::free_port;
use crate::support::prelude::*;
use crate::support::service::{PROGRAM, redis_at};

const JACKPOT: &str = "owner";

#[tokio::test]
async fn a_redis_of_another_ledger_is_refused_at_the_start() {
    let redis = own_redis(&[]).await;
    let mut service = service_on(redis.url(), &[]).await;
    create(&service, lively(JACKPOT)).await;
    assert!(service.stop().await.success());
    let other = tempfile::tempdir().expect("a directory");
    let standalone = redis_at(redis.url());
    let (status, log) = Service::refused(other.path(), &standalone).await;
    assert!(!status.success());
    log.says("Redis belongs to ledger ");
    log.says("ledger.url");
    service.restart().await;
    assert!(
        enter(&service, JACKPOT, "after").await.status.is_success(),
        "nothing was changed"
    );
}

#[tokio::test]
async fn without_its_database_the_service_ends_and_says_so() {
    let data = tempfile::tempdir().expect("a directory");
    let url = format!("postgres://jackpot:secret@127.0.0.1:{}/jackpot", free_port());
    let (status, log) = Service::refused(data.path(), &[("JACKPOT__LEDGER__URL", &url)]).await;
    assert!(!status.success());
    assert!(log.contains("ledger: ") && log.contains("127.0.0.1"), "{log}");
    log.hides("secret");
}

#[tokio::test]
async fn a_second_service_on_the_same_file_is_refused() {
    let (service, _) = embedded(&[]).await;
    let url = format!("sqlite://{}", service.data_dir().join("ledger.sqlite").display());
    let data = tempfile::tempdir().expect("a directory");
    let (status, log) = Service::refused(data.path(), &[("JACKPOT__LEDGER__URL", &url)]).await;
    assert!(!status.success());
    log.says("in use by another instance");
    log.says("PostgreSQL");
}

/// As for Redis' file (`full_disk.rs`), a limit on the size of files is set while the service runs.
#[tokio::test]
async fn heavy_a_full_disk_holds_up_the_ledger_and_not_the_play_and_loses_nothing() {
    /// Bytes that SQLite may still write: some batches.
    const LEFT: u64 = 256 << 10;
    let directory = tempfile::tempdir().expect("a directory");
    let program = directory.path().join("jackpot-on-a-small-disk");
    let real = std::env::var(PROGRAM).unwrap_or_else(|_| env!("CARGO_BIN_EXE_jackpot").to_owned());
    // The signal is ignored, so that a write beyond the limit fails instead of ending the process.
    std::fs::write(&program, format!("#!/bin/sh\ntrap '' XFSZ\nexec '{real}' \"$@\"\n")).expect("it can be written");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("it can be made executable");
    let redis = own_redis(&[]).await;
    let program = program.to_str().expect("UTF-8");
    let service = service_on(redis.url(), &[(PROGRAM, program), COMPARED_OFTEN]).await;
    create(&service, lively(JACKPOT)).await;
    let load = Load::start(&service, JACKPOT, 12);
    load.until_answered(200).await;
    let sql = outside(&service, "").await;
    eventually(PATIENCE, "the ledger reads the stream", async || {
        (cursor(&sql, JACKPOT).await > 0).then_some(())
    })
    .await;

    let limit = |bytes: Option<u64>| {
        let new = Rlimit {
            current: bytes,
            maximum: None,
        };
        prlimit(Some(service.pid()), Resource::Fsize, new).expect("a limit can be set");
    };
    let size = |name: &str| std::fs::metadata(service.data_dir().join(name)).map_or(0, |file| file.len());
    limit(Some(size("ledger.sqlite").max(size("ledger.sqlite-wal")) + LEFT));
    service
        .until("/readyz", "/readyz shows that SQL can't be written", |ready| {
            ready["ledger"]["up"] == false
        })
        .await;
    let stuck = cursor(&sql, JACKPOT).await;
    load.until_answered(200).await;
    assert_eq!(cursor(&sql, JACKPOT).await, stuck, "nothing can be written");
    eventually(PATIENCE, "the metric shows a backlog", async || {
        (metric(&service, "ledger_lag_events", JACKPOT).await > 0).then_some(())
    })
    .await;

    limit(None);
    load.until_answered(100).await;
    let played = load.finish().await;
    until_clean(&service, &sql, JACKPOT).await;
    assert_ledger_has_each_once(&sql, JACKPOT, &played).await;
    assert_each_counted_once(&service, redis.url(), JACKPOT, &played).await;
}

/// A stop in order leaves nothing for the next start.
#[tokio::test]
async fn heavy_after_a_stop_under_load_the_ledger_has_all_that_redis_has() {
    const STOPS: usize = 2;
    let redis = own_redis(&[]).await;
    let mut service = service_on(redis.url(), &[COMPARED_OFTEN]).await;
    create(&service, lively(JACKPOT)).await;
    let load = Load::start(&service, JACKPOT, 24);
    for _ in 0..STOPS {
        load.until_answered(400).await;
        assert!(service.stop().await.success(), "{}", service.log());
        let n: i64 = redis::cmd("HGET")
            .arg(crate::fault::support::key(JACKPOT, "state"))
            .arg("n")
            .query_async(&mut redis.connection().await)
            .await
            .expect("HGET");
        let sql = outside(&service, "").await;
        assert_eq!(cursor(&sql, JACKPOT).await, n, "lag 0");
        sql.close().await;
        service.restart().await;
    }
    load.until_answered(100).await;
    let played = load.finish().await;
    let sql = outside(&service, "").await;
    until_clean(&service, &sql, JACKPOT).await;
    assert_ledger_has_each_once(&sql, JACKPOT, &played).await;
}
