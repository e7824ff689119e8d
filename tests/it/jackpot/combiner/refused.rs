//! Refusals within a call: each reaches the entries that it concerns.

use std::time::Duration;

use jackpot::jackpot::error::PlayError;
use jackpot_api::jackpot::Status;
use jackpot_core::money::MAX_MINOR;

use super::fixture::{Instance, MAX_WAITING, ids, nobody_wins, sequences};
use crate::support::given::tier;
use crate::support::prelude::*;

const PATIENCE: Duration = Duration::from_secs(30);

#[tokio::test]
async fn an_amount_too_large_refuses_its_own_entry_and_no_other() {
    let instance =
        Instance::with(&json!({"contribution": {"rate_ppm": 1_000_000}, "odds": {"total": 1000, "ranks": []}})).await;
    let (before, large, behind, as_large, last) = tokio::join!(
        instance.enter_as("before", "p", 1),
        instance.enter_as("large", "p", MAX_MINOR),
        instance.enter_as("behind", "p", 2),
        instance.enter_as("as-large", "p", MAX_MINOR),
        instance.enter_as("last", "p", 3),
    );
    for refused in [large, as_large] {
        assert!(matches!(refused, Err(PlayError::AmountTooLarge)), "{refused:?}");
    }
    assert_eq!(sequences(&[before, behind, last]), [1, 2, 3]);
    assert_eq!(instance.entering(), 3, "those behind a refusal go out again together");
    assert_eq!(instance.fixture.money().await.0, 6);
    instance.fixture.assert_rebuilds().await;
}

#[tokio::test]
async fn a_pause_refuses_those_that_were_not_sent_yet_and_answers_repeats() {
    let (instance, proxy) = Instance::behind_proxy(&nobody_wins()).await;
    instance.enter("earlier").await.expect("taken");
    proxy.stall();
    let first = instance.enter("first");
    let rest = async {
        eventually(PATIENCE, "the first call is done in Redis", async || {
            (instance.sequence().await == 2).then_some(())
        })
        .await;
        let pausing = async {
            instance.fixture.status(Status::Paused).await;
            proxy.pass();
        };
        tokio::join!(
            instance.enter("second"),
            instance.enter("earlier"),
            instance.enter("third"),
            pausing
        )
    };
    let (first, (second, earlier, third, ())) = tokio::join!(first, rest);
    assert_eq!(first.expect("taken before the pause").record.sequence, 2);
    assert_eq!(earlier.expect("a repeat is answered").record.sequence, 1);
    for refused in [second, third] {
        assert!(
            matches!(refused, Err(PlayError::Stopped(Status::Paused))),
            "{refused:?}"
        );
    }
    assert_eq!(
        instance.entering(),
        4,
        "the state after the pause was not the expected one"
    );
    assert_eq!(instance.sequence().await, 2);
}

#[tokio::test]
async fn those_behind_a_take_that_changes_the_definition_are_drawn_again_under_the_new_one() {
    let odds = json!({"total": 2, "ranks": [
        {"rank": 1, "weight": 1, "prize": {"pool": {"tier": "grand", "take": "all"}}}]});
    let instance = Instance::with(&json!({"tiers": [tier("grand", 1_000_000, &json!({}))], "odds": odds})).await;
    let (lose, win) = (
        instance.drawing("lose", 0, 25).await,
        instance.drawing("win", 1, 1).await,
    );
    instance.enter(&lose[0]).await.expect("taken");
    instance.fixture.define(&json!({"contribution": {"fixed": 9}})).await;
    let mut all = vec![lose[1].clone(), win[0].clone()];
    all.extend_from_slice(&lose[2..]);
    let (reads, calls) = (instance.calls("view"), instance.entering());
    let answers = instance.enter_all(&all).await;
    let versions: Vec<_> = answers
        .iter()
        .map(|answer| {
            let played = answer.as_ref().expect("an answer");
            (played.record.version, played.record.contributions[0].amount)
        })
        .collect();
    assert_eq!(versions[..2], [(1, 1), (1, 1)]);
    assert!(versions[2..].iter().all(|one| *one == (2, 9)), "{versions:?}");
    assert_eq!(
        (instance.calls("view") - reads, instance.entering() - calls),
        (2, 2),
        "one reads the new definition for all, in two steps, and they go out together again"
    );
    assert_eq!(sequences(&answers), (2..=26).collect::<Vec<_>>());
    instance.fixture.assert_rebuilds().await;
}

#[tokio::test]
async fn a_full_queue_refuses_what_is_beyond_it_and_nothing_else() {
    const BEYOND: usize = 5;
    let instance = Instance::with(&nobody_wins()).await;
    let all = ids("e", MAX_WAITING + BEYOND);
    let answers = instance.enter_all(&all).await;
    let (taken, refused) = answers.split_at(MAX_WAITING);
    assert_eq!(sequences(taken), (1..=MAX_WAITING as u64).collect::<Vec<_>>());
    for one in refused {
        assert!(
            matches!(one, Err(PlayError::Crowded { waiting: MAX_WAITING })),
            "{one:?}"
        );
    }
    let again = instance.enter_all(&all[MAX_WAITING..]).await;
    assert_eq!(sequences(&again)[0], MAX_WAITING as u64 + 1);
    assert_eq!(instance.sequence().await, (MAX_WAITING + BEYOND) as u64);
}
