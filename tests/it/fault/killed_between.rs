//! The service is killed between an entry and the claim of its redraw. The draw is owed, and any instance finishes it.

use crate::fault::support::{
    balanced, create, enter, enter_unavailable, entry_drawing, key, redrawing, until_nothing_is_pending,
};
use crate::support::local::LocalServer;
use crate::support::prelude::*;
use crate::support::proxy::ChaosProxy;

const JACKPOT: &str = "owed";

/// A service that was killed after `enter` had recorded the retry of an entry, and before it could claim what the
/// redraw won. Also the entry's id, which begins with `stem`.
async fn killed_between(redis: &LocalServer, ledger: &LedgerDb, stem: &str) -> (Service, ChaosProxy, String) {
    let proxy = ChaosProxy::in_front_of(redis.url()).await;
    let mut service = service_on(proxy.url(), &[ledger.environment()]).await;
    create(&service, redrawing(JACKPOT)).await;
    let id = entry_drawing(&service, JACKPOT, stem, &[1, 2]).await;
    proxy.lose_reply_and_go_down(&["FCALL", &id], 0);
    enter_unavailable(&service, JACKPOT, &id).await;
    service.kill9();
    let pending: Vec<String> = redis::cmd("ZRANGE")
        .arg(key(JACKPOT, "pending"))
        .arg(0)
        .arg(-1)
        .query_async(&mut redis.connection().await)
        .await
        .expect("ZRANGE");
    assert_eq!(pending, [&*id], "the entry waits for its redraw");
    (service, proxy, id)
}

/// Redis has the entry finished before any client asks. The answer is then what its draws demand.
async fn assert_finished_by_itself(service: &Service, redis: &LocalServer, id: &str) {
    until_nothing_is_pending(&mut redis.connection().await, JACKPOT).await;
    let meter = balanced(service, JACKPOT).await;
    assert_has!(meter, {"contributed": 1, "paid": 1});
    let found = service.get(&format!("/v1/jackpots/{JACKPOT}/entries/{id}")).await;
    let attempts = json!([{"attempt": 0, "rank": 1, "result": "retry"}, {"attempt": 1, "rank": 2, "result": "paid"}]);
    assert_eq!(found.body["draw"]["attempts"], attempts, "{:?}", found.body);
    let again = enter(service, JACKPOT, id).await;
    assert_eq!(again.is(200), &found.body, "a repeat answers the same");
    assert_eq!(balanced(service, JACKPOT).await, meter, "and pays nothing more");
}

#[tokio::test]
async fn an_entry_whose_service_was_killed_before_the_redraw_is_finished_after_the_restart() {
    let redis = own_redis(&[]).await;
    let (mut service, proxy, id) = killed_between(&redis, &LedgerDb::sqlite(), "r").await;
    proxy.pass();
    service.restart().await;
    assert_finished_by_itself(&service, &redis, &id).await;
}

#[tokio::test]
async fn an_entry_whose_service_was_killed_before_the_redraw_is_finished_by_another_instance() {
    let redis = own_redis(&[]).await;
    let ledger = LedgerDb::postgres().await;
    let (_killed, _proxy, id) = killed_between(&redis, &ledger, "o").await;
    let other = service_on(redis.url(), &[ledger.environment()]).await;
    assert_finished_by_itself(&other, &redis, &id).await;
}

#[tokio::test]
async fn several_instances_that_recover_at_once_finish_an_entry_once() {
    let redis = own_redis(&[]).await;
    let ledger = LedgerDb::postgres().await;
    let (_killed, _proxy, id) = killed_between(&redis, &ledger, "s").await;
    // Recovery runs as often and as early as the settings allow, so that its runs meet.
    let eager = [
        ("JACKPOT__PLAY__RECOVERY_INTERVAL_MS", "50"),
        ("JACKPOT__PLAY__RECOVERY_AFTER_MS", "100"),
        ledger.environment(),
    ];
    let (one, two) = tokio::join!(service_on(redis.url(), &eager), service_on(redis.url(), &eager));
    assert_finished_by_itself(&one, &redis, &id).await;
    assert_finished_by_itself(&two, &redis, &id).await;
}
