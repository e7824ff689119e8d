//! `lua/jackpot/claim.lua` and `finish.lua` on a real Redis.

use jackpot::jackpot::scripts::{Finished, Rotate, Rotated};
use jackpot_api::jackpot::Status;
use jackpot_core::jackpot::record::{Record, State};
use jackpot_core::mark::Mark;

use crate::jackpot::fixture::{JackpotFixture, drawn, tier};
use crate::support::prelude::*;

fn record(finished: Finished) -> Record {
    finished.record.expect("remembered")
}

fn amount(record: &Record) -> Option<u64> {
    match &record.state {
        State::Paid { payout, .. } => Some(payout.amount),
        _ => None,
    }
}

#[tokio::test]
async fn a_redraw_is_paid_once_whoever_repeats_it() {
    let fixture = JackpotFixture::with(&json!({})).await;
    fixture.fund("f", 50).await;
    fixture.take("e", 1).await;
    let first = fixture.claim("e", 2, 3).await;
    assert!(first.done_now);
    let first = record(first);
    assert_eq!(amount(&first), Some(7));
    let before = fixture.dump().await;
    for (attempt, rank) in [(2, 3), (3, 1), (4, 3)] {
        let again = fixture.claim("e", attempt, rank).await;
        assert!(!again.done_now);
        assert_eq!(record(again), first);
    }
    assert_eq!(record(fixture.finish("e", 5).await), first);
    assert_eq!(fixture.dump().await, before);
    fixture.assert_rebuilds().await;
}

#[tokio::test]
async fn a_retry_stays_one_when_it_is_replayed_after_the_pool_has_grown() {
    let fixture = JackpotFixture::with(&json!({})).await;
    let pending = fixture.take("e", 1).await;
    fixture.fund("f", 1_000).await;
    let before = fixture.dump().await;
    let again = fixture.claim("e", 0, 1).await;
    assert!(!again.done_now);
    assert_eq!(record(again), pending);
    assert_eq!(fixture.dump().await, before);
    assert_eq!(
        amount(&record(fixture.claim("e", 1, 2).await)),
        Some(500),
        "another rank may still pay"
    );
}

#[tokio::test]
async fn an_entry_ends_once_and_then_nothing_is_paid() {
    let fixture = JackpotFixture::with(&json!({})).await;
    fixture.take("e", 1).await;
    let ended = fixture.finish("e", 3).await;
    assert!(ended.done_now);
    let ended = record(ended);
    assert!(matches!(ended.state, State::Ended { ref refusals } if refusals.len() == 1));
    fixture.fund("f", 1_000).await;
    let before = fixture.dump().await;
    assert_eq!(record(fixture.claim("e", 4, 3).await), ended);
    assert_eq!(fixture.dump().await, before);
    assert_eq!(fixture.snapshot().await.pending, 0);
    fixture.assert_rebuilds().await;
}

#[tokio::test]
async fn what_is_unknown_is_not_claimed() {
    let fixture = JackpotFixture::with(&json!({})).await;
    let before = fixture.dump().await;
    assert_eq!(fixture.claim("nobody", 0, 3).await.record, None);
    assert_eq!(fixture.finish("nobody", 0).await.record, None);
    assert_eq!(fixture.dump().await, before);
}

#[tokio::test]
async fn what_was_drawn_is_owed_on_a_closed_jackpot_and_under_its_own_definition() {
    let fixture = JackpotFixture::with(&json!({})).await;
    fixture.take("e", 1).await;
    let (_, drawn_under) = fixture.fresh().await;
    fixture.fund("f", 99).await;
    fixture
        .define(&json!({"tiers": [tier("grand", 1_000_000, &json!({"min_payout": 1_000}))]}))
        .await;
    fixture.status(Status::Closed).await;
    let (known, view) = fixture.fresh().await;
    let prize = drawn_under.definition.money_prize(2).expect("a money prize");
    let tiers = view.definition.tiers();
    let claim = jackpot::jackpot::scripts::claim(
        &fixture.store,
        &known.keys,
        &known.fence(&view),
        tiers,
        drawn("e", 1, 2),
        prize,
    )
    .await;
    assert_eq!(
        amount(&record(claim.expect("a reply"))),
        None,
        "half of 100 is below the pinned minimum of 100"
    );
    let prize = drawn_under.definition.money_prize(3).expect("a money prize");
    let claim = jackpot::jackpot::scripts::claim(
        &fixture.store,
        &known.keys,
        &known.fence(&view),
        tiers,
        drawn("e", 2, 3),
        prize,
    )
    .await;
    assert_eq!(amount(&record(claim.expect("a reply"))), Some(7));
    fixture.assert_rebuilds().await;
}

#[tokio::test]
async fn the_last_pending_entry_of_a_paused_jackpot_lets_the_waiting_definition_in() {
    let fixture = JackpotFixture::with(&json!({})).await;
    fixture.take("e", 1).await;
    fixture.status(Status::Paused).await;
    fixture
        .define(&json!({"contribution": {"fixed": 2}, "tiers": [tier("grand", 1_000_000, &json!({"cap": 80}))]}))
        .await;
    fixture.fund("f", 79).await;
    assert!(
        fixture.snapshot().await.waiting.is_some(),
        "it waits while an entry is pending"
    );
    fixture.finish("e", 1).await;
    let snapshot = fixture.snapshot().await;
    assert_eq!((snapshot.waiting, snapshot.version), (None, 2));
    assert_eq!(fixture.money().await, (80, 0, 0), "the new cap holds what is there");
    fixture.assert_rebuilds().await;
}

#[tokio::test]
async fn a_definition_whose_cap_is_below_the_pool_waits_for_a_take_whatever_settles_or_pauses() {
    let fixture = JackpotFixture::with(&json!({})).await;
    fixture.take("e", 1).await;
    fixture.status(Status::Paused).await;
    let lower = json!({"contribution": {"fixed": 2}, "tiers": [tier("grand", 1_000_000, &json!({"cap": 79}))]});
    fixture.define(&lower).await;
    fixture.fund("f", 79).await;
    fixture.finish("e", 1).await;
    for status in [Status::Open, Status::Paused, Status::Open] {
        fixture.status(status).await;
        let snapshot = fixture.snapshot().await;
        assert_eq!((snapshot.waiting.is_some(), snapshot.version), (true, 1));
        assert_eq!(fixture.money().await, (80, 0, 0));
    }
    fixture.fund("g", 30).await;
    assert_eq!(amount(&fixture.take("w", 1).await), Some(111));
    let snapshot = fixture.snapshot().await;
    assert_eq!((snapshot.waiting, snapshot.version), (None, 2));
    fixture.assert_rebuilds().await;
}

#[tokio::test]
async fn records_stay_while_an_entry_among_them_is_pending() {
    let fixture = JackpotFixture::with(&json!({})).await;
    fixture.take("e", 1).await;
    let rotate = async || {
        let (known, view) = fixture.fresh().await;
        let next = fixture
            .operate
            .views
            .opening(&fixture.id, view.epoch + 1)
            .expect("an opening");
        let why = Rotate::Retention { retention_s: 0 };
        jackpot::jackpot::scripts::rotate(&fixture.store, &known.keys, &known.fence(&view), &next, &why)
            .await
            .expect("a reply")
            .1
    };
    assert_eq!(rotate().await, Rotated::Opened(2));
    let state = &fixture.keys.state;
    // The call looks at the clock and does nothing else.
    let dump = async || {
        let mut dump = fixture.dump().await;
        dump.remove(state);
        dump
    };
    let before = dump().await;
    assert_eq!(rotate().await, Rotated::Pending);
    assert_eq!(dump().await, before);
    fixture.finish("e", 1).await;
    assert_eq!(rotate().await, Rotated::Opened(3));
    assert_eq!(rotate().await, Rotated::Idle);
    fixture.assert_rebuilds().await;
}

#[tokio::test]
async fn a_pending_entry_that_cannot_be_read_is_told_and_holds_up_no_other() {
    let fixture = JackpotFixture::with(&json!({})).await;
    fixture.take("bad", 1).await;
    fixture.take("gone", 1).await;
    fixture.take("good", 1).await;
    let keys = &fixture.keys;
    fixture
        .raw::<()>(
            redis::cmd("HSET")
                .arg(&keys.seen_a)
                .arg("bad")
                .arg("1 1 1 f 1+1 p 1z 5 p 1 *"),
        )
        .await;
    fixture
        .raw::<()>(redis::cmd("HDEL").arg(&keys.seen_a).arg("gone"))
        .await;
    let pending = jackpot::jackpot::scripts::pending(&fixture.store, keys, Mark::ZERO, 0, 0, 100)
        .await
        .expect("a reply");
    let told = pending
        .entries
        .into_iter()
        .map(|entry| entry.map(|e| e.entry_id).map_err(|(id, _)| id));
    assert_eq!(
        told.collect::<Vec<_>>(),
        [Err("bad".to_owned()), Err("gone".to_owned()), Ok("good".to_owned())]
    );
}

#[tokio::test]
async fn the_pool_restarts_from_the_reserve_then_the_overflow_and_is_refilled_to_the_cap() {
    let tiers = json!([tier(
        "grand",
        1_000_000,
        &json!({"seed": 30, "cap": 40, "reserve_ppm": 100_000})
    )]);
    let fixture = JackpotFixture::with(&json!({"contribution": {"fixed": 100}, "tiers": tiers})).await;
    fixture.take("a", 0).await;
    assert_eq!(fixture.money().await, (40, 10, 50));
    assert_eq!(amount(&fixture.take("w", 1).await), Some(40));
    // 20 in the reserve and 140 beyond the cap: 20 + 10 make the seed, 10 more fill the cap.
    assert_eq!(fixture.money().await, (40, 0, 120));
    fixture
        .define(&json!({"contribution": {"fixed": 100}, "tiers": [tier("grand", 1_000_000, &json!({}))]}))
        .await;
    assert_eq!(amount(&fixture.take("w2", 1).await), Some(40));
    assert_eq!(
        fixture.money().await,
        (220 - 10, 10, 0),
        "the new definition has no cap: all of the overflow"
    );
    fixture.assert_rebuilds().await;
}

#[tokio::test]
async fn a_seed_that_fills_the_pool_leaves_the_overflow_where_it_is() {
    let fixture = JackpotFixture::with(&json!({
        "contribution": {"fixed": 100},
        "tiers": [tier("grand", 1_000_000, &json!({"seed": 50, "cap": 50, "reserve_ppm": 500_000, "min_payout": 1}))],
    }))
    .await;
    for id in ["a", "b"] {
        fixture.take(id, 0).await;
    }
    assert_eq!(fixture.money().await, (50, 100, 50));
    fixture.take("won", 1).await;
    assert_eq!(fixture.money().await, (50, 100, 100));
    fixture.assert_rebuilds().await;
}
