//! Coupons as prizes of a draw, on a real Redis: an entry gets its unit once, whichever process dies in between.

use std::sync::Arc;

use jackpot::coupon::coupons::{Coupons, DrawAnswer};
use jackpot::coupon::definition::Definition;
use jackpot::coupon::scripts as coupon_scripts;
use jackpot::jackpot::error::PlayError;
use jackpot::jackpot::play::{By, Play, Played};
use jackpot::store::keys::CouponKeys;
use jackpot::subject::Wanted;
use jackpot_api::coupon::Status as CouponStatus;
use jackpot_core::ids::{ClientSeed, Id};
use jackpot_core::jackpot::record::{CouponUnit, Sent, State};
use jackpot_core::mark::Mark;

use crate::jackpot::batch::support::{batch, play};
use crate::jackpot::fixture::JackpotFixture;
use crate::support::given::{coupons, entry, operator, person, rank, sent};
use crate::support::prelude::*;

fn id(text: &str) -> Id {
    Id::parse(text).expect("an id")
}

/// Every entry draws a unit of [`coffee`].
async fn fixture() -> JackpotFixture {
    let fixture = JackpotFixture::with(&json!({})).await;
    fixture
        .define(&json!({"max_redraws": 2, "odds": {"total": 1, "ranks": [coffee_rank(&fixture)]}}))
        .await;
    fixture
}

/// The coupon that this test's jackpot gives. It has the jackpot's id, because the server may be shared with other
/// tests.
pub fn coffee(fixture: &JackpotFixture) -> &Id {
    &fixture.id
}

pub fn coffee_rank(fixture: &JackpotFixture) -> Value {
    rank(2, &json!({"coupon": {"coupon_id": coffee(fixture).as_str()}}))
}

pub async fn define_coffee(fixture: &JackpotFixture, stock: u64) {
    define_coupon(fixture, coffee(fixture), stock).await;
}

pub async fn define_coupon(fixture: &JackpotFixture, coupon: &Id, stock: u64) {
    let document = json!({"name": coupon, "stock": stock, "per_user": 1, "per_user_window_s": null,
        "starts_at": null, "ends_at": null});
    let definition = Definition::check(serde_json::from_value(document).expect("well formed")).expect("valid");
    let wish = coupon_scripts::Define {
        definition: &definition,
        wanted: Wanted::Any,
        last_version: None,
        nonce: "1",
        history: "0123456789abcdef",
        by: &operator(),
    };
    let keys = CouponKeys::new(coupon);
    let defined = coupon_scripts::define(&fixture.store, &keys, Mark::ZERO, &wish, 7_200).await;
    assert!(
        matches!(defined, Ok((_, coupon_scripts::Defined::Created(1)))),
        "{defined:?}"
    );
}

async fn issued(fixture: &JackpotFixture) -> u64 {
    let keys = CouponKeys::new(coffee(fixture));
    let seq: Option<u64> = fixture.raw(redis::cmd("HGET").arg(&keys.state).arg("seq")).await;
    seq.expect("a coupon")
}

async fn enter(fixture: &JackpotFixture, play: &Play, entry: &str) -> Result<Played, PlayError> {
    play.enter(&fixture.id, &id(entry), sent(&format!("p-{entry}"), 1), By::default())
        .await
}

fn results(played: &Played) -> Vec<&'static str> {
    played.attempts.iter().map(|attempt| attempt.result.as_str()).collect()
}

fn unit(state: &State) -> Option<&CouponUnit> {
    match state {
        State::Issued { unit, .. } => Some(unit),
        _ => None,
    }
}

#[tokio::test]
async fn the_first_that_draw_it_get_it_and_the_others_are_drawn_again() {
    let fixture = fixture().await;
    define_coffee(&fixture, 2).await;
    let play = play(&fixture, u64::MAX);
    let mut first = Vec::new();
    for entry in ["a", "b", "c"] {
        let played = enter(&fixture, &play, entry).await.expect("played");
        assert!(!played.replayed);
        first.push(played);
    }
    let units: Vec<_> = first
        .iter()
        .map(|played| unit(&played.record.state).map(|unit| unit.sequence))
        .collect();
    assert_eq!(units, [Some(1), Some(2), None]);
    assert_eq!(results(&first[1]), ["issued"]);
    assert_eq!(
        results(&first[2]),
        ["out-of-stock"; 3],
        "a rank that refused refuses again"
    );
    let before = fixture.dump().await;
    for played in &first {
        let again = enter(&fixture, &play, &played.entry_id).await.expect("remembered");
        assert!(again.replayed);
        assert_eq!(
            (again.record, again.attempts),
            (played.record.clone(), played.attempts.clone())
        );
    }
    assert_eq!(fixture.dump().await, before);
    assert_eq!(issued(&fixture).await, 2);
    fixture.assert_rebuilds().await;
}

/// Alone or in a batch, each entry is drawn again by its own seed.
#[tokio::test]
async fn winners_of_a_batch_whose_coupon_is_gone_draw_money() {
    let fixture = fixture().await;
    let money = |number: u32| rank(number, &json!({"fixed": {"tier": "grand", "amount": number}}));
    let odds = json!({"total": 4, "ranks": [money(1), coffee_rank(&fixture), money(3), money(4)]});
    fixture.define(&json!({"max_redraws": 100, "odds": odds})).await;
    fixture.fund("f", 100).await;
    define_coffee(&fixture, 0).await;
    let seeded = |n: usize| Sent {
        client_seed: ClientSeed::parse(&format!("seed-{n}")).ok(),
        ..sent("p", 1)
    };
    let (play, entries) = (
        play(&fixture, u64::MAX),
        batch("b", &(0..20).map(seeded).collect::<Vec<_>>()),
    );
    let played = play.enter_batch(&fixture.id, &entries, "").await;
    let winners = played.expect("taken").winners;
    let drawn_again = winners.iter().filter(|winner| !winner.record.refusals().is_empty());
    assert!(drawn_again.count() > 1 && winners.len() == 20, "{winners:?}");
    for winner in winners {
        let (entry_id, sent) = (
            entries.batch_id.entry_id(winner.index),
            entries.entries.sent(winner.index - 1),
        );
        let answer = play.answer(&fixture.id, &entry_id, sent, winner.record).await;
        let answer = answer.expect("what its own seed draws");
        assert_eq!(results(&answer).last(), Some(&"paid"));
    }
    fixture.assert_rebuilds().await;
}

#[tokio::test]
async fn a_player_gets_one_and_the_rank_is_drawn_no_more() {
    let fixture = fixture().await;
    define_coffee(&fixture, 5).await;
    let play = play(&fixture, u64::MAX);
    let mut attempts = Vec::new();
    for entry in ["a", "b"] {
        let played = play
            .enter(&fixture.id, &id(entry), sent("same", 1), By::default())
            .await
            .expect("played");
        attempts.push(results(&played));
    }
    assert_eq!(attempts, [vec!["issued"], vec!["already-issued"; 3]]);
    assert_eq!(issued(&fixture).await, 1);
}

/// The process dies between the entry and its coupon, and between the coupon and the record of it.
#[tokio::test]
async fn whoever_dies_in_between_the_entry_gets_one_unit() {
    let fixture = fixture().await;
    define_coffee(&fixture, 5).await;
    let play = play(&fixture, u64::MAX);
    let pending = fixture.take("e1", 2).await;
    play.finish_pending(&fixture.id, "e1", pending).await.expect("finished");
    assert_eq!(issued(&fixture).await, 1);

    let pending = fixture.take("e2", 2).await;
    let request = format!("draw:{}:e2", fixture.id);
    let coupons: Coupons = coupons(&fixture.store);
    let asked = |player: &str| {
        let (player, coupons, request) = (person(player), coupons.clone(), request.clone());
        let coffee = coffee(&fixture).clone();
        async move { coupons.issue_for_draw(&coffee, &request, &player).await }
    };
    assert!(matches!(asked("p").await, Ok(DrawAnswer::AlreadyIssued)), "of e1");
    play.finish_pending(&fixture.id, "e2", pending).await.expect("finished");
    assert_eq!(issued(&fixture).await, 1);

    fixture
        .enter(&[jackpot::jackpot::scripts::EnterEntry {
            sent: sent("q", 1),
            ..entry("e3", 2)
        }])
        .await;
    let request = format!("draw:{}:e3", fixture.id);
    let Ok(DrawAnswer::Issued { sequence, code }) =
        coupons.issue_for_draw(coffee(&fixture), &request, &person("q")).await
    else {
        panic!("a unit is left")
    };
    let found = play
        .look_up(&fixture.id, "e3")
        .await
        .expect("remembered")
        .record
        .expect("a record");
    play.finish_pending(&fixture.id, "e3", found).await.expect("finished");
    let record = play
        .look_up(&fixture.id, "e3")
        .await
        .expect("remembered")
        .record
        .expect("a record");
    let unit = unit(&record.state).expect("its unit");
    assert_eq!(
        (unit.sequence, unit.code.clone()),
        (sequence, code.to_string()),
        "the one it was given"
    );
    assert_eq!(issued(&fixture).await, 2);
    fixture.assert_rebuilds().await;
}

#[tokio::test]
async fn a_batch_gives_its_coupons_in_the_order_of_its_entries() {
    let fixture = fixture().await;
    define_coffee(&fixture, 10).await;
    let play = play(&fixture, u64::MAX);
    let players: Vec<_> = (0..50).map(|i| sent(&format!("p{i}"), 1)).collect();
    let batch = batch("b", &players);
    let first = play.enter_batch(&fixture.id, &batch, "").await.expect("taken");
    assert!(!first.replayed);
    // This instance had not met the coupon. One call asks for all units, because separate calls may arrive in any order.
    let events: u64 = fixture
        .raw(redis::cmd("XLEN").arg(CouponKeys::new(coffee(&fixture)).stream().events))
        .await;
    assert_eq!(events, 2, "its definition and its issues");
    let won = |played: &jackpot::jackpot::batch::BatchPlayed| {
        let winners = played.winners.iter();
        winners
            .map(|won| (won.index, unit(&won.record.state).cloned()))
            .collect::<Vec<_>>()
    };
    let units = won(&first);
    let places: Vec<_> = units
        .iter()
        .map(|(index, unit)| (*index as u64, unit.as_ref().map(|u| u.sequence)))
        .collect();
    assert_eq!(places, (1..=10).map(|i| (i, Some(i))).collect::<Vec<_>>());
    let again = play.enter_batch(&fixture.id, &batch, "").await.expect("remembered");
    assert!(again.replayed);
    assert_eq!(won(&again), units);
    assert_eq!((issued(&fixture).await, fixture.snapshot().await.pending), (10, 0));
    fixture.assert_rebuilds().await;
}

#[tokio::test]
async fn a_coupon_that_cannot_be_asked_holds_up_only_those_that_drew_it() {
    let pool = rank(1, &json!({"pool": {"tier": "grand", "take": "all"}}));
    let fixture = JackpotFixture::with(&json!({})).await;
    fixture
        .define(&json!({"max_redraws": 2, "odds": {"total": 2, "ranks": [pool, coffee_rank(&fixture)]}}))
        .await;
    fixture.fund("f", 100).await;
    define_coffee(&fixture, 100).await;
    let play = play(&fixture, u64::MAX);
    let keys = CouponKeys::new(coffee(&fixture));
    let suspend = |status: CouponStatus| {
        let (store, keys) = (fixture.store.clone(), keys.clone());
        let wish = coupon_scripts::SetStatus {
            wanted: status,
            reason: "a test".to_owned(),
            by: operator(),
            // A suspension ends when the books agree.
            reconciled: status == CouponStatus::Open,
            keep_waiting: false,
        };
        async move {
            coupon_scripts::set_status(&store, &keys, Mark::ZERO, &wish)
                .await
                .expect("set");
        }
    };
    suspend(CouponStatus::Suspended).await;
    let (mut paid, mut waiting) = (0, Vec::new());
    for i in 0..20 {
        let entry = format!("e{i}");
        match enter(&fixture, &play, &entry).await {
            Ok(played) => paid += usize::from(matches!(played.record.state, State::Paid { .. })),
            Err(PlayError::Coupon { .. }) => waiting.push(entry),
            Err(error) => panic!("{error}"),
        }
    }
    assert!(paid > 0 && !waiting.is_empty(), "{paid} paid, {waiting:?}");
    assert_eq!(
        (issued(&fixture).await, fixture.snapshot().await.pending),
        (0, waiting.len() as u64)
    );
    suspend(CouponStatus::Open).await;
    for entry in &waiting {
        let played = enter(&fixture, &play, entry).await.expect("answered");
        assert!(unit(&played.record.state).is_some());
    }
    assert_eq!(
        (issued(&fixture).await, fixture.snapshot().await.pending),
        (waiting.len() as u64, 0)
    );
    fixture.assert_rebuilds().await;
}

#[tokio::test]
async fn a_coupon_that_there_is_not_is_not_open() {
    let fixture = fixture().await;
    let play = play(&fixture, u64::MAX);
    let played = enter(&fixture, &play, "e").await.expect("played");
    assert_eq!(results(&played), ["not-open"; 3]);
    define_coffee(&fixture, 1).await;
    let again = enter(&fixture, &play, "e").await.expect("remembered");
    assert_eq!(results(&again), ["not-open"; 3], "final for its attempts");
    let next = enter(&fixture, &Arc::new(play), "f").await.expect("played");
    assert_eq!(results(&next), ["issued"]);
}
