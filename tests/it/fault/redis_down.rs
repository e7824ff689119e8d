//! Redis is down, or does not answer: the service answers 503 in time and never hangs. Later the same id gives one
//! entry.

use std::time::Instant;

use crate::fault::support::{
    ANSWERED_WITHIN, assert_unavailable, balanced, create, enter, enter_unavailable, entry_drawing, redrawing,
};
use crate::support::prelude::*;

const JACKPOT: &str = "dark";

/// Everything that needs Redis answers 503 in time. Liveness does not need it, nor do the epochs that the ledger has.
async fn assert_dark(service: &Service, known: &str) {
    enter_unavailable(service, JACKPOT, "during").await;
    enter_unavailable(service, JACKPOT, known).await;
    let jackpot = format!("/v1/jackpots/{JACKPOT}");
    for path in [
        "/v1/jackpots",
        &jackpot,
        &format!("{jackpot}/meter"),
        &format!("{jackpot}/entries/{known}"),
    ] {
        let began_at = Instant::now();
        let answer = service.get(path).await;
        assert_eq!(
            answer.status,
            StatusCode::SERVICE_UNAVAILABLE,
            "{path}: {:?}",
            answer.body
        );
        assert_unavailable(&answer, began_at.elapsed());
    }
    eventually(PATIENCE, "the service says that it is not ready", async || {
        let ready = service.get("/readyz").await;
        (ready.status == StatusCode::SERVICE_UNAVAILABLE).then_some(())
    })
    .await;
    // Redis is known to be down: the service refuses without asking it, and the answer is as good.
    enter_unavailable(service, JACKPOT, "during").await;
    service.get("/healthz").await.is(200);
}

async fn assert_light(service: &Service, known: &str) {
    let began_at = Instant::now();
    eventually(PATIENCE, "the service is ready again", async || {
        service.get("/readyz").await.status.is_success().then_some(())
    })
    .await;
    assert!(
        began_at.elapsed() < 2 * ANSWERED_WITHIN,
        "it took {:?}",
        began_at.elapsed()
    );
    let one = enter(service, JACKPOT, "during").await;
    one.done();
    let again = enter(service, JACKPOT, "during").await;
    assert_eq!(again.is(200), &one.body);
    enter(service, JACKPOT, known).await.is(200);
    assert_eq!(
        balanced(service, JACKPOT).await["contributed"],
        2,
        "two ids, two entries"
    );
}

#[tokio::test]
async fn a_redis_that_is_gone_gives_503_in_time_and_the_same_id_later_one_entry() {
    let mut redis = own_redis(&[]).await;
    let service = service_on(redis.url(), &[]).await;
    create(&service, redrawing(JACKPOT)).await;
    let known = entry_drawing(&service, JACKPOT, "known", &[2]).await;
    enter(&service, JACKPOT, &known).await.is(201);
    redis.kill9();
    assert_dark(&service, &known).await;
    redis.restart().await;
    assert_light(&service, &known).await;
}

#[tokio::test]
async fn a_redis_that_is_frozen_gives_503_in_time_and_the_same_id_later_one_entry() {
    let redis = own_redis(&[]).await;
    let service = service_on(redis.url(), &[]).await;
    create(&service, redrawing(JACKPOT)).await;
    let known = entry_drawing(&service, JACKPOT, "known", &[2]).await;
    enter(&service, JACKPOT, &known).await.is(201);
    redis.freeze();
    assert_dark(&service, &known).await;
    redis.thaw();
    assert_light(&service, &known).await;
}

#[tokio::test]
async fn a_thousand_entries_at_once_on_a_frozen_redis_all_get_503_in_time() {
    const ENTRIES: usize = 1000;
    let redis = own_redis(&[]).await;
    let service = service_on(redis.url(), &[]).await;
    create(&service, redrawing(JACKPOT)).await;
    redis.freeze();
    let mut entries = tokio::task::JoinSet::new();
    for n in 0..ENTRIES {
        let (caller, path) = (service.caller(), format!("/v1/jackpots/{JACKPOT}/entries"));
        entries.spawn(async move {
            let began_at = Instant::now();
            let answer = caller
                .post(&path, &crate::fault::support::entry(&format!("e{n}")))
                .await
                .expect("an answer");
            assert_unavailable(&answer, began_at.elapsed());
        });
    }
    entries.join_all().await;
    redis.thaw();
    let last = eventually(PATIENCE, "the last id is answered", async || {
        let answer = enter(&service, JACKPOT, &format!("e{}", ENTRIES - 1)).await;
        (answer.status != StatusCode::SERVICE_UNAVAILABLE).then_some(answer)
    })
    .await;
    last.done();
    balanced(&service, JACKPOT).await;
}
