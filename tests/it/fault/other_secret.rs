//! An instance has another draw secret than a jackpot's: it neither starts nor plays, and writes nothing.

use std::process::Stdio;

use tokio::process::Command;

use crate::fault::support::{balanced, create, enter, enter_unavailable, everything, redrawing};
use crate::support::free_port;
use crate::support::prelude::*;
use crate::support::service::redis_at;

const JACKPOT: &str = "mine";
const OTHER: (&str, &str) = (
    "JACKPOT__FAIRNESS__MASTER_SECRET",
    "6060606060606060606060606060606060606060606060606060606060606060",
);

#[tokio::test]
async fn an_instance_with_another_secret_refuses_to_start_beside_a_jackpot() {
    let (redis, ledger) = (own_redis(&[]).await, LedgerDb::postgres().await);
    let service = service_on(redis.url(), &[ledger.environment()]).await;
    create(&service, redrawing(JACKPOT)).await;
    let before = everything(&mut redis.connection().await, JACKPOT).await;

    let data = tempfile::tempdir().expect("a directory");
    let log = std::fs::File::create(data.path().join("log")).expect("a file");
    let mut other = Command::new(env!("CARGO_BIN_EXE_jackpot"))
        .arg("serve")
        .current_dir(data.path())
        .env("JACKPOT__HTTP__LISTEN", format!("127.0.0.1:{}", free_port()))
        .env("JACKPOT__DATA_DIR", data.path())
        .env("JACKPOT__REDIS__MODE", "standalone")
        .env("JACKPOT__REDIS__URLS", redis.url())
        .env(OTHER.0, OTHER.1)
        .env(ledger.environment().0, ledger.environment().1)
        .stdin(Stdio::null())
        .stdout(log.try_clone().expect("a file"))
        .stderr(log)
        .kill_on_drop(true)
        .spawn()
        .expect("the binary that cargo built starts");
    let status = eventually(PATIENCE, "the other instance ends", async || {
        other.try_wait().expect("a child")
    })
    .await;
    let said = std::fs::read_to_string(data.path().join("log")).expect("its log");
    assert!(!status.success(), "{said}");
    said.says("fairness.master_secret");
    said.says(JACKPOT);
    assert_eq!(
        everything(&mut redis.connection().await, JACKPOT).await,
        before,
        "nothing was written"
    );
}

#[tokio::test]
async fn an_instance_with_another_secret_refuses_a_jackpot_that_came_after_its_start() {
    let (redis, ledger) = (own_redis(&[]).await, LedgerDb::postgres().await);
    let other = service_on(redis.url(), &[OTHER, ledger.environment()]).await;
    let service = service_on(redis.url(), &[ledger.environment()]).await;
    create(&service, redrawing(JACKPOT)).await;
    let before = everything(&mut redis.connection().await, JACKPOT).await;

    enter_unavailable(&other, JACKPOT, "e1").await;
    let path = format!("/v1/jackpots/{JACKPOT}");
    let refused = [
        other.put(&path, redrawing(JACKPOT)).await,
        other.post(&format!("{path}/pause"), json!({"reason": "a test"})).await,
        other
            .post(&format!("{path}/fairness/rotate"), json!({"reason": "a test"}))
            .await,
    ];
    for answer in refused {
        answer.is(503);
    }
    assert_eq!(
        everything(&mut redis.connection().await, JACKPOT).await,
        before,
        "nothing was written"
    );

    enter(&service, JACKPOT, "e1").await.is(201); // the right one plays on
    assert_eq!(balanced(&service, JACKPOT).await["contributed"], 1);
    enter_unavailable(&other, JACKPOT, "e1").await;
}

#[tokio::test]
async fn an_instance_with_another_secret_refuses_to_start_beside_a_room() {
    let (redis, ledger) = (own_redis(&[]).await, LedgerDb::postgres().await);
    let service = service_on(redis.url(), &[ledger.environment()]).await;
    // A room that has opened needs no secret.
    crate::room::http::support::create(&service, "his", 1, &json!({})).await;
    crate::room::http::support::create(&service, "hers", 1, &json!({"opens_at": "2999-01-01T00:00:00Z"})).await;
    let data = tempfile::tempdir().expect("a directory");
    let server = redis_at(redis.url());
    let environment = [&server[..], &[OTHER, ledger.environment()]].concat();
    let (status, said) = Service::refused(data.path(), &environment).await;
    assert!(!status.success(), "{said}");
    said.says("fairness.master_secret");
    said.says("hers");
}
