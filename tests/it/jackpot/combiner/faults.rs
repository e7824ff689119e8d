//! Requests go away, connections are lost, runtimes end: the others' entries are exact all the same.

use std::sync::Arc;
use std::time::Duration;

use jackpot::jackpot::error::PlayError;
use jackpot::jackpot::play::Played;
use tokio::task::JoinHandle;

use super::fixture::{Instance, ids, is_unavailable, nobody_wins, sequences};
use crate::support::prelude::*;

const PATIENCE: Duration = Duration::from_secs(30);

fn spawn(instance: &Arc<Instance>, id: &'static str) -> JoinHandle<Result<Played, PlayError>> {
    let instance = Arc::clone(instance);
    tokio::spawn(async move { instance.enter(id).await })
}

async fn until_numbered(instance: &Instance, count: u64) {
    eventually(PATIENCE, "Redis has numbered them", async || {
        (instance.sequence().await == count).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_request_that_goes_away_harms_nobody_and_its_repeat_counts_once() {
    let (instance, proxy) = Instance::behind_proxy(&nobody_wins()).await;
    let instance = Arc::new(instance);
    instance.enter("connected").await.expect("taken");
    proxy.stall();
    let in_flight = spawn(&instance, "in-flight");
    until_numbered(&instance, 2).await;
    let (waiting, other) = (spawn(&instance, "waiting"), spawn(&instance, "other"));
    tokio::task::yield_now().await;
    for gone in [in_flight, waiting] {
        gone.abort();
        assert!(gone.await.expect_err("it was stopped").is_cancelled());
    }
    proxy.pass();
    let other = other.await.expect("no panic").expect("taken");
    assert_eq!((other.record.sequence, other.replayed), (3, false));
    let sent = instance.enter("in-flight").await.expect("answered");
    assert_eq!((sent.record.sequence, sent.replayed), (2, true), "it had been sent");
    let unsent = instance.enter("waiting").await.expect("taken");
    assert_eq!(
        (unsent.record.sequence, unsent.replayed),
        (4, false),
        "it had not been sent"
    );
    assert_eq!(instance.sequence().await, 4);
    instance.fixture.assert_rebuilds().await;
}

#[tokio::test]
async fn all_requests_of_a_call_may_go_away_and_the_next_entry_is_answered() {
    let (instance, proxy) = Instance::behind_proxy(&nobody_wins()).await;
    let instance = Arc::new(instance);
    instance.enter("connected").await.expect("taken");
    proxy.stall();
    let gone = [spawn(&instance, "a"), spawn(&instance, "b")];
    until_numbered(&instance, 3).await;
    for one in gone {
        one.abort();
    }
    proxy.pass();
    assert_eq!(instance.enter("c").await.expect("taken").record.sequence, 4);
}

#[tokio::test]
async fn a_lost_reply_is_asked_for_again_and_each_entry_counts_once() {
    let (instance, proxy) = Instance::behind_proxy(&nobody_wins()).await;
    instance.enter("first").await.expect("taken");
    proxy.lose_reply(&["FCALL", "e17"], 0);
    let answers = instance.enter_all(&ids("e", 50)).await;
    assert_eq!(
        (proxy.lost(), instance.entering()),
        (1, 3),
        "asked again, then looked up"
    );
    assert_eq!(sequences(&answers), (2..=51).collect::<Vec<_>>());
    assert_eq!(instance.sequence().await, 51);
    instance.fixture.assert_rebuilds().await;
}

#[tokio::test]
async fn a_connection_that_is_gone_is_an_error_for_everyone_and_repeats_are_exact() {
    let (instance, proxy) = Instance::behind_proxy(&nobody_wins()).await;
    instance.enter("first").await.expect("taken");
    proxy.lose_reply_and_go_down(&["FCALL", "e17"], 0);
    let (all, later) = (ids("e", 50), ids("later", 20));
    let began_at = tokio::time::Instant::now();
    let waiting = async {
        until_numbered(&instance, 51).await;
        instance.enter_all(&later).await
    };
    let (sent, waited) = tokio::join!(instance.enter_all(&all), waiting);
    assert_eq!(proxy.lost(), 1);
    let limit = instance.store.total_limit() + Duration::from_secs(2);
    assert!(began_at.elapsed() < limit, "{:?}", began_at.elapsed());
    for answer in sent.iter().chain(&waited) {
        assert!(is_unavailable(answer), "{answer:?}");
    }
    proxy.pass();
    eventually(PATIENCE, "the watcher sees Redis back", async || {
        instance.store.health().up.then_some(())
    })
    .await;
    let again = instance.enter_all(&all).await;
    assert_eq!(
        sequences(&again),
        (2..=51).collect::<Vec<_>>(),
        "they had been taken, though nobody knew"
    );
    assert!(again.iter().flatten().all(|played| played.replayed));
    let later = instance.enter_all(&later).await;
    assert_eq!(
        sequences(&later),
        (52..=71).collect::<Vec<_>>(),
        "they had not been sent"
    );
    assert_eq!(instance.sequence().await, 71);
    instance.fixture.assert_rebuilds().await;
}

#[test]
fn a_runtime_that_ends_in_the_middle_of_a_call_leaves_no_queue_stuck() {
    let main = tokio::runtime::Runtime::new().expect("a runtime");
    let (instance, proxy) = main.block_on(Instance::behind_proxy(&nobody_wins()));
    let one_thread = || tokio::runtime::Builder::new_current_thread().enable_all().build();
    let first = one_thread().expect("a runtime");
    first.block_on(async {
        instance.enter("warm").await.expect("taken");
        proxy.stall();
        // The first is in flight and the second waits behind it when their runtime ends.
        let entering = futures_util::future::join(instance.enter("a"), async {
            until_numbered(&instance, 2).await;
            instance.enter("b").await
        });
        let elsewhere = async { until_numbered(&instance, 2).await };
        futures_util::future::select(std::pin::pin!(entering), std::pin::pin!(elsewhere)).await;
    });
    drop(first);
    proxy.pass();
    let second = one_thread().expect("a runtime");
    let answers = second.block_on(instance.enter_all(&ids("c", 3)));
    assert_eq!(sequences(&answers), [3, 4, 5]);
    let again = second.block_on(instance.enter("a")).expect("answered");
    assert_eq!((again.record.sequence, again.replayed), (2, true));
}
