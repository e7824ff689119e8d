//! Memory is near its limit, and at it: new entries get 503 and leave no trace, and what was begun is completed.

use redis::aio::MultiplexedConnection;

use crate::fault::support::{
    balanced, create, enter, enter_unavailable, entry_drawing, everything, key, redrawing, sequence,
    until_nothing_is_pending,
};
use crate::support::prelude::*;
use crate::support::proxy::ChaosProxy;

const JACKPOT: &str = "full";

async fn limit_memory(redis: &mut MultiplexedConnection, bytes: u64) {
    redis::cmd("CONFIG")
        .arg("SET")
        .arg("maxmemory")
        .arg(bytes)
        .exec_async(redis)
        .await
        .expect("CONFIG SET maxmemory");
}

async fn used_memory(redis: &mut MultiplexedConnection) -> u64 {
    let info: redis::InfoDict = redis::cmd("INFO").arg("memory").query_async(redis).await.expect("INFO");
    info.get("used_memory").expect("a number")
}

/// New entries and new jackpots are refused without a trace; known entries are answered.
async fn assert_full(service: &Service, redis: &mut MultiplexedConnection, known: &str) {
    let before = everything(redis, JACKPOT).await;
    for n in 0..5 {
        enter_unavailable(service, JACKPOT, &format!("new{n}")).await;
    }
    assert_eq!(
        everything(redis, JACKPOT).await,
        before,
        "a refused entry leaves no trace"
    );
    let again = enter(service, JACKPOT, known).await;
    again.is(200); // a repeat is answered
    let found = service.get(&format!("/v1/jackpots/{JACKPOT}/entries/{known}")).await;
    assert_eq!(found.is(200), &again.body);
    balanced(service, JACKPOT).await;
}

async fn until_ready(service: &Service, ready: bool) {
    eventually(PATIENCE, "the service has seen the memory", async || {
        (service.get("/readyz").await.status.is_success() == ready).then_some(())
    })
    .await;
}

#[tokio::test]
async fn entries_are_refused_before_memory_is_full() {
    let server = own_redis(&[]).await;
    let redis = &mut server.connection().await;
    let service = service_on(server.url(), &[]).await;
    create(&service, redrawing(JACKPOT)).await;
    let known = entry_drawing(&service, JACKPOT, "known", &[2]).await;
    enter(&service, JACKPOT, &known).await.is(201);

    // This is far from full for Redis, and above the 80 % of the service.
    let limit = used_memory(redis).await * 100 / 90;
    limit_memory(redis, limit).await;
    until_ready(&service, false).await;
    assert_full(&service, redis, &known).await;
    limit_memory(redis, 0).await;
    until_ready(&service, true).await;
    enter(&service, JACKPOT, "new0").await.is(201);
    assert_eq!(balanced(&service, JACKPOT).await["contributed"], 2);
}

#[tokio::test]
async fn with_no_memory_left_what_was_begun_is_ended_and_stopping_works() {
    let server = own_redis(&[]).await;
    let redis = &mut server.connection().await;
    let proxy = ChaosProxy::in_front_of(server.url()).await;
    let service = service_on(proxy.url(), &[]).await;
    create(&service, redrawing(JACKPOT)).await;
    let known = entry_drawing(&service, JACKPOT, "known", &[2]).await;
    enter(&service, JACKPOT, &known).await.is(201);
    let owed = entry_drawing(&service, JACKPOT, "owed", &[1, 2]).await;
    proxy.lose_reply_and_go_down(&["FCALL", &owed], 0);
    enter_unavailable(&service, JACKPOT, &owed).await;
    assert_eq!(sequence(redis, JACKPOT).await, 2);

    // The limit is below the used memory: Redis itself refuses every script that may not run at its limit. A service
    // that has not seen it yet gets that refusal; one that has seen it refuses before it asks.
    limit_memory(redis, 1_000_000).await;
    assert!(used_memory(redis).await > 1_000_000, "the limit is passed already");
    proxy.pass();
    enter_unavailable(&service, JACKPOT, "new").await;
    until_nothing_is_pending(redis, JACKPOT).await;
    let finished = enter(&service, JACKPOT, &owed).await;
    finished.is(200);
    assert_eq!(finished.body["outcome"]["amount"], 1, "{:?}", finished.body);
    assert_full(&service, redis, &known).await;

    let path = format!("/v1/jackpots/{JACKPOT}");
    let reason = json!({"reason": "memory is full"});
    for call in ["/fairness/rotate", "/pause"] {
        let done = service.post(&format!("{path}{call}"), reason.clone()).await;
        assert_eq!(done.status, StatusCode::OK, "{call}: {:?}", done.body);
    }
    let status: String = redis::cmd("HGET")
        .arg(key(JACKPOT, "state"))
        .arg("status")
        .query_async(redis)
        .await
        .expect("HGET");
    assert_eq!(status, "paused");
    let new = service.put("/v1/jackpots/another", redrawing("another")).await;
    new.is(503);
    assert!(
        everything(redis, "another").await.is_empty(),
        "a refused jackpot leaves no trace"
    );

    limit_memory(redis, 0).await;
    until_ready(&service, true).await;
    service.post(&format!("{path}/resume"), reason).await.is(200);
    enter(&service, JACKPOT, "new").await.is(201);
    assert_eq!(balanced(&service, JACKPOT).await["contributed"], 3);
}
