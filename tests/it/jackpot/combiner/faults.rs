//! Requests go away, connections are lost, runtimes end: the others' entries are exact all the same.

use std::sync::Arc;
use std::time::Duration;

use jackpot::jackpot::error::PlayError;
use jackpot::jackpot::play::Played;
use tokio::task::JoinHandle;

use super::fixture::{Kit, ids, is_unavailable, nobody_wins, sequences};
use crate::support::eventually;

const PATIENCE: Duration = Duration::from_secs(30);

fn spawn(kit: &Arc<Kit>, id: &'static str) -> JoinHandle<Result<Played, PlayError>> {
    let kit = Arc::clone(kit);
    tokio::spawn(async move { kit.enter(id).await })
}

async fn until_numbered(kit: &Kit, count: u64) {
    eventually(PATIENCE, "Redis has numbered them", async || {
        (kit.sequence().await == count).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_request_that_goes_away_harms_nobody_and_its_repeat_counts_once() {
    let (kit, proxy) = Kit::behind_proxy(&nobody_wins()).await;
    let kit = Arc::new(kit);
    kit.enter("connected").await.expect("taken");
    proxy.stall();
    let in_flight = spawn(&kit, "in-flight");
    until_numbered(&kit, 2).await;
    let (waiting, other) = (spawn(&kit, "waiting"), spawn(&kit, "other"));
    tokio::task::yield_now().await;
    for gone in [in_flight, waiting] {
        gone.abort();
        assert!(gone.await.expect_err("it was stopped").is_cancelled());
    }
    proxy.pass();
    let other = other.await.expect("no panic").expect("taken");
    assert_eq!((other.record.sequence, other.replayed), (3, false));
    let sent = kit.enter("in-flight").await.expect("answered");
    assert_eq!((sent.record.sequence, sent.replayed), (2, true), "it had been sent");
    let unsent = kit.enter("waiting").await.expect("taken");
    assert_eq!(
        (unsent.record.sequence, unsent.replayed),
        (4, false),
        "it had not been sent"
    );
    assert_eq!(kit.sequence().await, 4);
    kit.bench.assert_rebuilds().await;
}

#[tokio::test]
async fn all_requests_of_a_call_may_go_away_and_the_next_entry_is_answered() {
    let (kit, proxy) = Kit::behind_proxy(&nobody_wins()).await;
    let kit = Arc::new(kit);
    kit.enter("connected").await.expect("taken");
    proxy.stall();
    let gone = [spawn(&kit, "a"), spawn(&kit, "b")];
    until_numbered(&kit, 3).await;
    for one in gone {
        one.abort();
    }
    proxy.pass();
    assert_eq!(kit.enter("c").await.expect("taken").record.sequence, 4);
}

#[tokio::test]
async fn a_lost_reply_is_asked_for_again_and_each_entry_counts_once() {
    let (kit, proxy) = Kit::behind_proxy(&nobody_wins()).await;
    kit.enter("first").await.expect("taken");
    proxy.lose_reply(&["EVAL", "e17"], 0);
    let answers = kit.enter_all(&ids("e", 50)).await;
    assert_eq!((proxy.lost(), kit.calls("enter")), (1, 2));
    assert_eq!(sequences(&answers), (2..=51).collect::<Vec<_>>());
    assert_eq!(kit.sequence().await, 51);
    kit.bench.assert_rebuilds().await;
}

#[tokio::test]
async fn a_connection_that_is_gone_is_an_error_for_everyone_and_repeats_are_exact() {
    let (kit, proxy) = Kit::behind_proxy(&nobody_wins()).await;
    kit.enter("first").await.expect("taken");
    proxy.lose_reply_and_go_down(&["EVAL", "e17"], 0);
    let (all, later) = (ids("e", 50), ids("later", 20));
    let began_at = tokio::time::Instant::now();
    let waiting = async {
        until_numbered(&kit, 51).await;
        kit.enter_all(&later).await
    };
    let (sent, waited) = tokio::join!(kit.enter_all(&all), waiting);
    assert_eq!(proxy.lost(), 1);
    let limit = kit.store.total_limit() + Duration::from_secs(2);
    assert!(began_at.elapsed() < limit, "{:?}", began_at.elapsed());
    for answer in sent.iter().chain(&waited) {
        assert!(is_unavailable(answer), "{answer:?}");
    }
    proxy.pass();
    eventually(PATIENCE, "the watcher sees Redis back", async || {
        kit.store.health().up.then_some(())
    })
    .await;
    let again = kit.enter_all(&all).await;
    assert_eq!(
        sequences(&again),
        (2..=51).collect::<Vec<_>>(),
        "they had been taken, though nobody knew"
    );
    assert!(again.iter().flatten().all(|played| played.replayed));
    let later = kit.enter_all(&later).await;
    assert_eq!(
        sequences(&later),
        (52..=71).collect::<Vec<_>>(),
        "they had not been sent"
    );
    assert_eq!(kit.sequence().await, 71);
    kit.bench.assert_rebuilds().await;
}

#[test]
fn a_runtime_that_ends_in_the_middle_of_a_call_leaves_no_queue_stuck() {
    let main = tokio::runtime::Runtime::new().expect("a runtime");
    let (kit, proxy) = main.block_on(Kit::behind_proxy(&nobody_wins()));
    let one_thread = || tokio::runtime::Builder::new_current_thread().enable_all().build();
    let first = one_thread().expect("a runtime");
    first.block_on(async {
        kit.enter("warm").await.expect("taken");
        proxy.stall();
        // The first is in flight and the second waits behind it when their runtime ends.
        let entering = futures_util::future::join(kit.enter("a"), async {
            until_numbered(&kit, 2).await;
            kit.enter("b").await
        });
        let elsewhere = async { until_numbered(&kit, 2).await };
        futures_util::future::select(std::pin::pin!(entering), std::pin::pin!(elsewhere)).await;
    });
    drop(first);
    proxy.pass();
    let second = one_thread().expect("a runtime");
    let answers = second.block_on(kit.enter_all(&ids("c", 3)));
    assert_eq!(sequences(&answers), [3, 4, 5]);
    let again = second.block_on(kit.enter("a")).expect("answered");
    assert_eq!((again.record.sequence, again.replayed), (2, true));
}
