//! Which entries go out together, and how each of them gets its own answer.

use std::collections::BTreeSet;

use futures_util::future::join_all;
use jackpot::jackpot::error::PlayError;
use jackpot::jackpot::scripts::ScriptError;

use super::fixture::{Instance, MAX_BATCH, ids, nobody_wins, sequences};
use crate::support::prelude::*;

#[tokio::test]
async fn entries_that_come_together_go_out_together_and_keep_their_order() {
    let instance = Instance::with(&nobody_wins()).await;
    let count = MAX_BATCH + 40;
    let answers = instance.enter_all(&ids("e", count)).await;
    assert_eq!(sequences(&answers), (1..=count as u64).collect::<Vec<_>>());
    assert_eq!(instance.entering(), 2, "a full call and one with the rest");
    for (answer, id) in answers.iter().zip(ids("e", count)) {
        let played = answer.as_ref().expect("an answer");
        assert_eq!((&played.entry_id, played.replayed), (&id, false));
        assert_eq!(
            played.record.contributions[0].pool, played.record.sequence,
            "one unit each"
        );
    }
    instance.fixture.assert_rebuilds().await;
}

#[tokio::test]
async fn a_lone_entry_waits_for_nothing() {
    let instance = Instance::with(&nobody_wins()).await;
    for n in 1..=5_usize {
        let played = instance.enter(&format!("e{n}")).await.expect("taken");
        assert_eq!((played.record.sequence, instance.entering()), (n as u64, n));
    }
}

#[tokio::test]
async fn winners_and_losers_of_one_call_get_their_own_outcomes() {
    // Every second ticket wins one unit, and each entry adds one: all can be paid.
    let instance = Instance::with(&json!({"odds": {"total": 2, "ranks": [
        {"rank": 1, "weight": 1, "prize": {"fixed": {"tier": "grand", "amount": 1}}}]}}))
    .await;
    instance.fixture.fund("f", 1_000).await;
    let (mut all, won) = (
        instance.drawing("lose", 0, 20).await,
        instance.drawing("win", 1, 20).await,
    );
    all.extend(won);
    let answers = instance.enter_all(&all).await;
    assert_eq!(instance.entering(), 1);
    for (answer, id) in answers.iter().zip(&all) {
        let played = answer.as_ref().expect("an answer");
        let result = played.attempts.last().expect("an attempt").result;
        assert_eq!(
            result.as_str(),
            if id.starts_with("win") { "paid" } else { "none" },
            "{id}"
        );
    }
    instance.fixture.assert_rebuilds().await;
}

#[tokio::test]
async fn the_same_id_twice_at_once_is_one_entry() {
    let instance = Instance::with(&nobody_wins()).await;
    let (before, first, again, behind) = tokio::join!(
        instance.enter("before"),
        instance.enter("same"),
        instance.enter("same"),
        instance.enter("behind")
    );
    assert_eq!(instance.entering(), 1);
    let (first, again) = (first.expect("taken"), again.expect("answered"));
    assert_eq!((first.replayed, again.replayed), (false, true));
    assert_eq!(first.record, again.record);
    assert_eq!(sequences(&[before, behind]), [1, 3]);
    assert_eq!(instance.sequence().await, 3);
    instance.fixture.assert_rebuilds().await;
}

#[tokio::test]
async fn the_same_id_with_other_content_is_refused_alone() {
    let instance = Instance::with(&nobody_wins()).await;
    let (first, other, behind) = tokio::join!(
        instance.enter_as("same", "p", 100),
        instance.enter_as("same", "q", 100),
        instance.enter("behind")
    );
    assert_eq!(instance.entering(), 1);
    assert!(
        matches!(&other, Err(PlayError::EntryIdReused(id)) if id == "same"),
        "{other:?}"
    );
    assert_eq!(first.expect("taken").sent.player.as_str(), "p");
    assert_eq!(behind.expect("taken").record.sequence, 2);
}

#[tokio::test]
async fn a_damaged_record_is_an_error_for_its_own_entry_alone() {
    let instance = Instance::with(&nobody_wins()).await;
    let known = instance.fixture.operate.views.registry.known(&instance.fixture.id);
    let mut damage = redis::cmd("HSET");
    let _: i64 = instance
        .fixture
        .raw(damage.arg(&known.keys.seen_a).arg("broken").arg("no record"))
        .await;
    let (before, broken, behind) = tokio::join!(
        instance.enter("before"),
        instance.enter("broken"),
        instance.enter("behind")
    );
    assert!(
        matches!(&broken, Err(PlayError::Script(ScriptError::Record(_)))),
        "{broken:?}"
    );
    assert_eq!(sequences(&[before, behind]), [1, 2]);
}

#[test]
fn two_threads_at_once_number_each_entry_once() {
    const EACH: usize = 300;
    let main = tokio::runtime::Runtime::new().expect("a runtime");
    let instance = main.block_on(Instance::with(&nobody_wins()));
    let run = |stem: &'static str| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let mut all = ids(stem, EACH);
        all.push("shared".to_owned());
        runtime
            .expect("a runtime")
            .block_on(join_all(all.iter().map(|id| instance.enter(id))))
    };
    let (one, other) = std::thread::scope(|scope| {
        let (one, other) = (scope.spawn(|| run("a")), scope.spawn(|| run("b")));
        (one.join().expect("no panic"), other.join().expect("no panic"))
    });
    let (one, other) = (sequences(&one), sequences(&other));
    assert_eq!(one[EACH], other[EACH], "the shared id is one entry");
    let all: BTreeSet<_> = one.into_iter().chain(other).collect();
    assert_eq!(all, (1..=2 * EACH as u64 + 1).collect());
    assert!(instance.entering() < 20, "{} calls", instance.entering());
    main.block_on(instance.fixture.assert_rebuilds());
}
