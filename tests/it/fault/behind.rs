//! After Redis was put back to an older state, an instance that has seen more does not play on it.

use std::path::Path;

use crate::fault::support::{balanced, connection, create, enter, entry_drawing, everything, redrawing};
use crate::support::local::LocalServer;
use crate::support::prelude::*;

const JACKPOT: &str = "older";

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a directory can be made");
    for file in std::fs::read_dir(from).expect("the files of Redis") {
        let file = file.expect("a file of Redis");
        std::fs::copy(file.path(), to.join(file.file_name())).expect("it can be copied");
    }
}

/// Stops Redis and starts it on the files of a backup, or on none.
async fn put_back(redis: &mut LocalServer, backup: Option<&Path>) {
    let files = redis.directory().join("appendonlydir");
    redis.kill9();
    std::fs::remove_dir_all(&files).expect("the files can be removed");
    if let Some(backup) = backup {
        copy(backup, &files);
    }
    redis.restart().await;
}

/// Waits until the only jackpot is refused: the instance is not ready, and says why.
async fn until_refused(service: &Service) {
    eventually(
        PATIENCE,
        "the service has found Redis again, and what it lost",
        async || {
            let ready = service.get("/readyz").await;
            let lost = &ready.body["refused_subjects"][0];
            (ready.status == StatusCode::SERVICE_UNAVAILABLE && lost["reason"] == "lost" && lost["id"] == JACKPOT)
                .then_some(())
        },
    )
    .await;
}

/// The wrong directory was used for a moment. Redis now has what SQL has, by number and hash, so the jackpot is played.
async fn until_played(service: &Service, id: &str) {
    eventually(PATIENCE, "the jackpot is played again", async || {
        let answer = enter(service, JACKPOT, id).await;
        answer.status.is_success().then_some(())
    })
    .await;
}

/// Every call that could write is refused, and the jackpot's keys stay byte for byte as they are.
async fn assert_suspended(service: &Service, redis: &LocalServer, old_id: &str) {
    let before = everything(&mut connection(redis.url()).await, JACKPOT).await;
    let at = |call: &str| format!("/v1/jackpots/{JACKPOT}{call}");
    let reason = || json!({"reason": "a test"});
    let fund = json!({"adjustment_id": "a1", "tier": "grand", "meter": "pool", "amount": 5, "reason": "a test"});
    let answers = [
        enter(service, JACKPOT, "fresh").await,
        enter(service, JACKPOT, old_id).await,
        service.post(&at("/pause"), reason()).await,
        service.post(&at("/adjustments"), fund).await,
        service.post(&at("/fairness/rotate"), reason()).await,
        service.put(&at(""), redrawing(JACKPOT)).await,
        service.get(&at("/meter")).await,
        service.get(&at(&format!("/entries/{old_id}"))).await,
    ];
    for (call, answer) in answers.iter().enumerate() {
        assert_eq!(answer.status, StatusCode::CONFLICT, "call {call}: {:?}", answer.body);
        assert_eq!(answer.body["code"], "jackpot-suspended", "call {call}");
    }
    let after = everything(&mut connection(redis.url()).await, JACKPOT).await;
    assert_eq!(after, before, "nothing was written");
}

#[tokio::test]
async fn a_redis_put_back_to_an_older_state_is_not_played_on_until_it_is_whole_again() {
    let mut redis = own_redis(&[]).await;
    let service = service_on(redis.url(), &[]).await;
    create(&service, redrawing(JACKPOT)).await;
    let backups = tempfile::tempdir().expect("a directory");
    let (older, newest) = (backups.path().join("older"), backups.path().join("newest"));
    let files = redis.directory().join("appendonlydir");
    let old_id = entry_drawing(&service, JACKPOT, "old", &[2]).await;
    enter(&service, JACKPOT, &old_id).await.is(201);
    copy(&files, &older);
    for n in 0..5 {
        let id = format!("new{n}");
        enter(&service, JACKPOT, &id).await.is(201);
    }
    let meter = balanced(&service, JACKPOT).await;
    copy(&files, &newest);

    put_back(&mut redis, Some(&older)).await;
    until_refused(&service).await;
    assert_suspended(&service, &redis, &old_id).await;

    // Redis holds SQL's last event again, and SQL has all that this instance has seen: nothing is missing.
    put_back(&mut redis, Some(&newest)).await;
    until_played(&service, "new1").await;
    assert_eq!(balanced(&service, JACKPOT).await, meter, "nothing is missing any more");
    enter(&service, JACKPOT, "new0").await.is(200);
    enter(&service, JACKPOT, "fresh").await.is(201);
}

#[tokio::test]
async fn a_redis_that_lost_everything_is_an_older_state_too() {
    let mut redis = own_redis(&[]).await;
    let service = service_on(redis.url(), &[]).await;
    create(&service, redrawing(JACKPOT)).await;
    let id = entry_drawing(&service, JACKPOT, "gone", &[2]).await;
    enter(&service, JACKPOT, &id).await.is(201);
    let files = redis.directory().join("appendonlydir");
    let right = tempfile::tempdir().expect("a directory");
    copy(&files, &right.path().join("files"));
    put_back(&mut redis, None).await;
    until_refused(&service).await;
    assert_suspended(&service, &redis, &id).await;
    // Redis had started in the wrong directory, and is back with all its data.
    put_back(&mut redis, Some(&right.path().join("files"))).await;
    until_played(&service, &id).await;
    let ready = service.get("/readyz").await;
    ready.is(200);
    assert_eq!(
        ready.body["refused"],
        json!({"jackpots": 0, "coupons": 0, "rooms": 0}),
        "{}",
        ready.text
    );
}
