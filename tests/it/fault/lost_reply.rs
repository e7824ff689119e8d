//! A reply from Redis is lost after Redis has done the step: once, or with everything after it.

use crate::fault::support::{balanced, create, enter, enter_unavailable, entry_drawing, redrawing, sequence};
use crate::jackpot::by_hand;
use crate::support::local::LocalServer;
use crate::support::prelude::*;
use crate::support::proxy::ChaosProxy;

const JACKPOT: &str = "lost";
/// Commands with the entry's id in them, in order: `enter`, then `claim`.
const ENTER: usize = 0;
const CLAIM: usize = 1;

struct Behind {
    redis: LocalServer,
    proxy: ChaosProxy,
    service: Service,
}

/// A service that reaches its Redis through a proxy, with a jackpot in it.
async fn behind_a_proxy() -> Behind {
    let redis = own_redis(&[]).await;
    let proxy = ChaosProxy::in_front_of(redis.url()).await;
    let service = service_on(proxy.url(), &[]).await;
    create(&service, redrawing(JACKPOT)).await;
    Behind { redis, proxy, service }
}

/// One entry that was refused by rank 1 and paid one unit by rank 2, once.
async fn assert_paid_once(behind: &Behind, answer: &Answer) {
    let attempts = json!([{"attempt": 0, "rank": 1, "result": "retry"}, {"attempt": 1, "rank": 2, "result": "paid"}]);
    assert_eq!(answer.body["draw"]["attempts"], attempts, "{:?}", answer.body);
    assert_eq!(answer.body["sequence"], 1);
    assert_eq!(answer.body["outcome"]["amount"], 1);
    assert_eq!(answer.body["outcome"]["claim_order"], 1);
    let meter = balanced(&behind.service, JACKPOT).await;
    assert_has!(meter, {"contributed": 1, "paid": 1, "pool": 0});
    let id = answer.body["entry_id"].as_str().expect("an id");
    let again = enter(&behind.service, JACKPOT, id).await;
    assert_eq!(again.is(200), &answer.body, "repeated by the client");
    assert_eq!(
        balanced(&behind.service, JACKPOT).await,
        meter,
        "a repeat changes nothing"
    );
    let mut redis = behind.redis.connection().await;
    assert_eq!(sequence(&mut redis, JACKPOT).await, 1, "it was numbered once");
}

#[tokio::test]
async fn a_lost_reply_of_enter_is_asked_for_again_and_the_entry_counts_once() {
    let behind = behind_a_proxy().await;
    let id = entry_drawing(&behind.service, JACKPOT, "e", &[1, 2]).await;
    behind.proxy.lose_reply(&["FCALL", &id], ENTER);
    let answer = enter(&behind.service, JACKPOT, &id).await;
    assert_eq!(behind.proxy.lost(), 1);
    // The status may be 200 or 201: the service cannot distinguish its own repeat from an earlier request of the
    // client.
    answer.done();
    assert_paid_once(&behind, &answer).await;
}

#[tokio::test]
async fn a_lost_reply_of_claim_is_asked_for_again_and_pays_once() {
    let behind = behind_a_proxy().await;
    let id = entry_drawing(&behind.service, JACKPOT, "c", &[1, 2]).await;
    behind.proxy.lose_reply(&["FCALL", &id], CLAIM);
    let answer = enter(&behind.service, JACKPOT, &id).await;
    assert_eq!(behind.proxy.lost(), 1);
    answer.is(201);
    assert_paid_once(&behind, &answer).await;
}

async fn a_cut_at(step: usize, paid_meanwhile: u64) {
    let behind = behind_a_proxy().await;
    let id = entry_drawing(&behind.service, JACKPOT, "x", &[1, 2]).await;
    behind.proxy.lose_reply_and_go_down(&["FCALL", &id], step);
    enter_unavailable(&behind.service, JACKPOT, &id).await;
    assert_eq!(behind.proxy.lost(), 1);
    let mut redis = behind.redis.connection().await;
    assert_eq!(
        sequence(&mut redis, JACKPOT).await,
        1,
        "the entry was taken, though nobody knows"
    );
    let state = crate::fault::support::key(JACKPOT, "state");
    let order = by_hand::get(&state, "order");
    let paid: u64 = order.query_async(&mut redis).await.expect("a number");
    assert_eq!(paid, paid_meanwhile);
    enter_unavailable(&behind.service, JACKPOT, &id).await;

    behind.proxy.pass();
    let answer = eventually(PATIENCE, "the same id is answered", async || {
        let answer = enter(&behind.service, JACKPOT, &id).await;
        (answer.status != StatusCode::SERVICE_UNAVAILABLE).then_some(answer)
    })
    .await;
    answer.is(200);
    assert!(answer.is_replay());
    assert_paid_once(&behind, &answer).await;
}

#[tokio::test]
async fn a_connection_cut_for_good_after_enter_gives_503_and_the_id_later_gives_one_entry() {
    a_cut_at(ENTER, 0).await;
}

#[tokio::test]
async fn a_connection_cut_for_good_after_claim_gives_503_and_the_id_later_gives_one_payout() {
    a_cut_at(CLAIM, 1).await;
}
