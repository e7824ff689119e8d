//! Must-hit-by on a real Redis: exactly the entry that reaches the trigger hits, in sequence, and the trigger can be computed from the
//! seed afterwards.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use jackpot::jackpot::error::PlayError;
use jackpot::jackpot::metrics::PlayMetrics;
use jackpot::jackpot::operate::Operate;
use jackpot::jackpot::play::{By, Play, Played};
use jackpot::jackpot::scripts::EntryReply;
use jackpot::jackpot::view::Views;
use jackpot::subject::emergency::{Decision, Obedience, Obeys as _};
use jackpot::telemetry::Metrics;
use jackpot_api::jackpot::Status;
use jackpot_core::ids::Id;
use jackpot_core::jackpot::cycle::{CycleChange, CycleRow, CycleSeed, Cycles, EndedBy, Preparing, Renews};
use jackpot_core::jackpot::must_hit::ByDay;
use jackpot_core::jackpot::record::{Hit, HitBy, State};
use jackpot_core::secret::{MasterSecret, Secrets};

use crate::jackpot::batch::support::{batch, play};
use crate::jackpot::combiner::fixture::Instance;
use crate::jackpot::fixture::{JackpotFixture, SECRET, document, entry, rank, sent, tier};
use crate::support::prelude::*;

/// Each entry adds one unit, and the odds give nothing.
pub fn ruled(rule: &Value) -> Value {
    json!({"tiers": [tier("grand", 1_000_000, &json!({"must_hit_by": rule}))], "odds": {"total": 1, "ranks": []}})
}

pub fn by_amount(low: u64, high: u64) -> Value {
    ruled(&json!({"amount": {"low": low, "high": high}}))
}

/// Four tiers, a quarter of a contribution of 4 each, and the odds give nothing.
pub fn four_ruled() -> Value {
    let rules = [
        ("mini", json!({"amount": {"low": 4, "high": 9}})),
        (
            "minor",
            json!({"amount": {"low": 6, "high": 12}, "time": {"after_s": 0, "within_s": 86_400}}),
        ),
        ("major", json!({"time": {"after_s": 5, "within_s": 86_400}})),
        ("grand", json!({"daily": {"at": "20:00", "zone": "Asia/Seoul"}})),
    ];
    let tiers = rules.map(|(name, rule)| tier(name, 250_000, &json!({"must_hit_by": rule})));
    json!({"contribution": {"fixed": 4}, "tiers": tiers, "odds": {"total": 1, "ranks": []}})
}

pub async fn cycles(fixture: &JackpotFixture) -> Cycles {
    let text: String = fixture
        .raw(redis::cmd("HGET").arg(&fixture.keys.state).arg("cycles"))
        .await;
    Cycles::parse(&text).expect("cycles")
}

pub async fn open(fixture: &JackpotFixture) -> CycleRow {
    let grand = Id::parse("grand").expect("an id");
    cycles(fixture).await.open(&grand).expect("an open cycle").clone()
}

pub fn seed(fixture: &JackpotFixture, row: &CycleRow, cycle: u64) -> CycleSeed {
    CycleSeed::derive(&MasterSecret::new(SECRET), &fixture.id, &row.tier, cycle, &row.nonce)
}

/// Which of `count` entries that add one unit each hit, from the begin of this cycle on: index (from 1), cycle, trigger.
pub fn expected(fixture: &JackpotFixture, begin: &CycleRow, pool: &mut u64, count: u64) -> Vec<(u64, u64, u64)> {
    let (mut hits, mut row) = (Vec::new(), begin.clone());
    for index in 1..=count {
        *pool += 1;
        let trigger = row.trigger_amount(&seed(fixture, &row, row.cycle)).expect("an amount");
        if *pool >= trigger {
            hits.push((index, row.cycle, trigger));
            row.cycle += 1;
            *pool = 0;
        }
    }
    hits
}

pub async fn enter(play: &Play, fixture: &JackpotFixture, entry_id: &str) -> Played {
    let entry_id = Id::parse(entry_id).expect("an id");
    let by = By::default();
    play.enter(&fixture.id, &entry_id, sent("p", 100), by)
        .await
        .expect("taken")
}

pub fn hit(state: &State) -> Option<Hit> {
    match state {
        State::MustHit { hit } => Some(hit.clone()),
        State::Lost => None,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn exactly_the_entry_that_reaches_the_amount_hits() {
    let fixture = JackpotFixture::with(&by_amount(5, 15)).await;
    let (play, begin) = (play(&fixture, u64::MAX), open(&fixture).await);
    assert_eq!(
        seed(&fixture, &begin, 0).commitment(),
        begin.commitment.0.clone().expect("open")
    );
    let mut hits = Vec::new();
    for index in 1..=200 {
        let played = enter(&play, &fixture, &format!("e{index}")).await;
        if let Some(hit) = hit(&played.record.state) {
            assert_eq!(
                (hit.by, hit.amount, hit.claim_order),
                (HitBy::Amount, hit.trigger, hit.cycle + 1)
            );
            assert!(played.attempts.is_empty());
            hits.push((index, hit.cycle, hit.trigger));
        }
    }
    assert_eq!(hits, expected(&fixture, &begin, &mut 0, 200));
    assert!(hits.len() > 10);
    fixture.assert_rebuilds().await;
}

/// A take by the odds begins a cycle, and the losers after it in the same call are one sum unless they may reach its trigger.
#[tokio::test]
async fn losers_after_a_take_in_the_same_call_hit_the_next_cycle() {
    let rule = json!({"amount": {"low": 5, "high": 60}});
    let change = json!({"tiers": [tier("grand", 1_000_000, &json!({"must_hit_by": rule, "min_payout": 1}))],
        "odds": {"total": 1000, "ranks": [rank(1, &json!({"pool": {"tier": "grand", "take": "all"}}))]}});
    for _ in 0..100 {
        let fixture = JackpotFixture::with(&change).await;
        let begin = open(&fixture).await;
        let trigger = |cycle| {
            let row = CycleRow { cycle, ..begin.clone() };
            row.trigger_amount(&seed(&fixture, &row, cycle)).expect("an amount")
        };
        let (first, second) = (trigger(0), trigger(1));
        if first <= second {
            continue; // its losers would be taken one by one in any case
        }
        let mut entries = vec![entry("w", 1)];
        entries.extend((0..second).map(|index| entry(&format!("e{index}"), 0)));
        let entered = fixture.enter(&entries).await;
        let state = |reply: &EntryReply| match reply {
            EntryReply::Taken(record) => record.state.clone(),
            other => panic!("{other:?}"),
        };
        assert!(matches!(state(&entered.replies[0]), State::Paid { .. }), "{entered:?}");
        let hits = entered.replies[1..].iter().map(|reply| hit(&state(reply)));
        let hits: Vec<_> = hits.collect();
        let last = hits.last().cloned().flatten().expect("the last one hits");
        assert_eq!((last.cycle, last.trigger, last.amount), (1, second, second));
        assert!(hits[..hits.len() - 1].iter().all(Option::is_none));
        fixture.assert_rebuilds().await;
        return;
    }
    panic!("no jackpot has a second trigger below the first");
}

#[tokio::test]
async fn a_repeat_after_a_hit_answers_the_same_and_changes_nothing() {
    let fixture = JackpotFixture::with(&by_amount(1, 2)).await;
    let play = play(&fixture, u64::MAX);
    enter(&play, &fixture, "a").await;
    let first = enter(&play, &fixture, "b").await;
    assert!(hit(&first.record.state).is_some());
    let before = fixture.dump().await;
    let again = enter(&play, &fixture, "b").await;
    assert!(again.replayed);
    assert_eq!(again.record, first.record);
    assert_eq!(fixture.dump().await, before);
}

#[tokio::test]
async fn the_first_entry_after_the_time_hits() {
    let fixture = JackpotFixture::with(&ruled(&json!({"time": {"after_s": 0, "within_s": 2}}))).await;
    let (play, begin) = (play(&fixture, u64::MAX), open(&fixture).await);
    let trigger = begin.trigger_at(&seed(&fixture, &begin, 0)).expect("a time");
    let mut entries = 0;
    let hit = eventually(Duration::from_secs(30), "a hit", async || {
        let now_ms = fixture.snapshot().await.now_ms;
        let played = enter(&play, &fixture, &format!("e{entries}")).await;
        entries += 1;
        let hit = hit(&played.record.state);
        assert!(hit.is_some() || now_ms < trigger * 1_000, "it was due");
        hit
    })
    .await;
    assert_eq!((hit.by, hit.cycle), (HitBy::Time, 0));
    assert_eq!(i64::try_from(hit.trigger), Ok(trigger));
    assert!(fixture.snapshot().await.now_ms >= trigger * 1_000);
    assert_eq!(open(&fixture).await.cycle, 1);
    fixture.assert_rebuilds().await;
}

/// The cycle is moved a day back, so that its deadline has passed.
#[tokio::test]
async fn the_first_entry_after_the_time_of_day_hits() {
    let daily = json!({"at": "20:00", "zone": "Asia/Seoul"});
    let fixture = JackpotFixture::with(&ruled(&json!({"daily": daily}))).await;
    let mut begin = open(&fixture).await;
    let day: ByDay = serde_json::from_value(daily).expect("a rule");
    assert_eq!(begin.deadline.0, day.deadline(begin.began.div_euclid(1_000)));
    let mut moved = cycles(&fixture).await;
    begin.began -= 2 * 86_400_000;
    begin.deadline.0 = begin.deadline.0.map(|at| at - 2 * 86_400);
    moved.rows = vec![begin.clone()];
    let mut change = redis::cmd("HSET");
    change.arg(&fixture.keys.state).arg("cycles").arg(moved.text());
    fixture.raw::<u64>(&mut change).await;
    let played = enter(&play_apart(&fixture), &fixture, "e").await;
    let hit = hit(&played.record.state).expect("a hit");
    let trigger = begin.trigger_at(&seed(&fixture, &begin, 0)).expect("a time");
    assert_eq!((hit.by, i64::try_from(hit.trigger)), (HitBy::Time, Ok(trigger)));
}

#[tokio::test]
async fn a_batch_that_ends_five_cycles_agrees_with_the_triggers_250_times() {
    let fixture = JackpotFixture::with(&by_amount(5, 15)).await;
    let (play, mut pool) = (play(&fixture, u64::MAX), 0);
    for run in 0..250 {
        let begin = open(&fixture).await;
        let batch = batch(&format!("b{run}"), &vec![sent("p", 100); 75]);
        let played = play.enter_batch(&fixture.id, &batch, "").await.expect("taken");
        let hits = played.winners.iter().map(|winner| {
            let hit = hit(&winner.record.state).expect("a hit");
            (winner.index as u64, hit.cycle, hit.trigger)
        });
        let hits = hits.collect::<Vec<_>>();
        assert!(hits.len() >= 5);
        assert_eq!(hits, expected(&fixture, &begin, &mut pool, 75), "run {run}");
        assert_eq!(
            play.enter_batch(&fixture.id, &batch, "").await.expect("found").record,
            played.record
        );
    }
    fixture.assert_rebuilds().await;
}

/// So many cycles need more prepared ones than a call usually brings.
#[tokio::test]
async fn a_batch_of_10_000_comes_again_with_more_cycles() {
    let fixture = JackpotFixture::with(&by_amount(5, 17)).await;
    let (play, begin) = (play(&fixture, u64::MAX), open(&fixture).await);
    let batch = batch("b", &vec![sent("p", 100); 10_000]);
    let played = play.enter_batch(&fixture.id, &batch, "").await.expect("taken");
    let hits = played.winners.iter().map(|winner| {
        let hit = hit(&winner.record.state).expect("a hit");
        (winner.index as u64, hit.cycle, hit.trigger)
    });
    let hits = hits.collect::<Vec<_>>();
    assert!(hits.len() > 600);
    assert_eq!(hits, expected(&fixture, &begin, &mut 0, 10_000));
    fixture.assert_rebuilds().await;
}

#[tokio::test]
async fn a_batch_that_ends_more_than_1_000_cycles_is_refused_whole() {
    let fixture = JackpotFixture::with(&by_amount(1, 2)).await;
    let batch = batch("b", &vec![sent("p", 100); 2_002]);
    let before = fixture.dump().await;
    let refused = play(&fixture, u64::MAX).enter_batch(&fixture.id, &batch, "").await;
    assert!(matches!(refused, Err(PlayError::TooManyTakes)), "{refused:?}");
    assert_eq!(fixture.dump().await, before);
}

/// Another instance, which has read the jackpot as it is now.
pub fn play_apart(fixture: &JackpotFixture) -> Play {
    let views = Arc::new(Views::new(fixture.store.clone(), MasterSecret::new(SECRET)));
    let metrics = PlayMetrics::new(Arc::new(Metrics::new()));
    crate::support::given::play(&fixture.store, views, metrics, u64::MAX)
}

#[tokio::test]
async fn two_instances_that_race_hit_each_trigger_once() {
    let fixture = JackpotFixture::with(&by_amount(5, 15)).await;
    let begin = open(&fixture).await;
    let plays = [play_apart(&fixture), play_apart(&fixture)];
    let entries = (0..400_usize).map(|i| {
        let (play, fixture) = (&plays[i % 2], &fixture);
        async move { enter(play, fixture, &format!("e{i}")).await }
    });
    let mut hits = Vec::new();
    for played in join_all(entries).await {
        if let Some(hit) = hit(&played.record.state) {
            hits.push((played.record.sequence, hit.cycle, hit.trigger));
        }
    }
    hits.sort_unstable();
    assert_eq!(hits, expected(&fixture, &begin, &mut 0, 400));
    fixture.assert_rebuilds().await;
}

/// Nobody can wait a time out.
#[tokio::test]
async fn a_resume_ends_open_cycles_with_a_time_and_begins_new_ones() {
    for (rule, next) in [
        (json!({"time": {"after_s": 0, "within_s": 60}}), 1),
        (json!({"amount": {"low": 5, "high": 15}}), 0),
    ] {
        let fixture = JackpotFixture::with(&ruled(&rule)).await;
        fixture.status(Status::Paused).await;
        assert_eq!(open(&fixture).await.cycle, 0);
        fixture.status(Status::Open).await;
        assert_eq!(open(&fixture).await.cycle, next);
        fixture.assert_rebuilds().await;
    }
}

/// Also where the call of another instance, which kept the cycles, closed the epoch in between.
#[tokio::test]
async fn a_rotation_with_cycles_ends_them_and_the_next_have_a_new_nonce() {
    let fixture = JackpotFixture::with(&by_amount(50, 150)).await;
    let play = play_apart(&fixture);
    for index in 1..=20 {
        enter(&play, &fixture, &format!("before{index}")).await;
    }
    let before = open(&fixture).await;
    let by = crate::jackpot::fixture::operator();
    let reason = || "a test".to_owned();
    fixture
        .operate
        .end_epoch(&fixture.id, reason(), &by)
        .await
        .expect("done");
    assert_eq!(open(&fixture).await, before);
    fixture
        .operate
        .end_epoch_with(&fixture.id, reason(), &by, true)
        .await
        .expect("done");
    let after = open(&fixture).await;
    assert_eq!(after.cycle, before.cycle + 1);
    assert_ne!(after.nonce, before.nonce);
    assert_eq!(fixture.snapshot().await.epoch, 3);
    let mut hits = Vec::new();
    for index in 1..=300 {
        let played = enter(&play, &fixture, &format!("after{index}")).await;
        hits.extend(hit(&played.record.state).map(|hit| (index, hit.cycle, hit.trigger)));
    }
    assert_eq!(hits, expected(&fixture, &after, &mut 20, 300));
    assert!(!hits.is_empty());
    fixture.assert_rebuilds().await;
}

/// Odds take all of `mini`, and that puts a rule for `grand` in force, whose pool is above the rule's `low`.
#[tokio::test]
async fn a_batch_may_bring_a_rule_into_force_above_its_low() {
    let tiers = |rule: &Value| {
        json!({"tiers": [
            tier("grand", 900_000, &json!({"must_hit_by": rule, "min_payout": 1})),
            tier("mini", 100_000, &json!({"min_payout": 1})),
        ], "odds": {"total": 1, "ranks": [{"rank": 1, "weight": 1, "prize": {"pool": {"tier": "mini", "take": "all"}}}]},
        "contribution": {"fixed": 10}})
    };
    let fixture = JackpotFixture::with(&tiers(&Value::Null)).await;
    fixture.fund("f", 1_000).await;
    fixture
        .define(&tiers(&json!({"amount": {"low": 500, "high": 1_400}})))
        .await;
    assert!(cycles(&fixture).await.rows.is_empty(), "it waits");
    let batch = batch("b", &vec![sent("p", 100); 100]);
    let played = play(&fixture, u64::MAX)
        .enter_batch(&fixture.id, &batch, "")
        .await
        .expect("taken");
    let began = fixture.events().await.into_iter().flat_map(|event| event.cycles);
    let mut began = began.filter_map(|change| match change {
        CycleChange::Began(row) => Some(row),
        CycleChange::Ended { .. } => None,
    });
    let first = began.next().expect("a cycle");
    assert_eq!((first.cycle, first.low.0, first.high.0), (0, Some(1_009), Some(1_400)));
    let trigger = first.trigger_amount(&seed(&fixture, &first, 0)).expect("an amount");
    let hits = played.winners.iter().filter_map(|winner| match &winner.record.state {
        State::MustHit { hit } => Some((winner.index as u64, hit.cycle, hit.trigger)),
        _ => None,
    });
    let hits = hits.collect::<Vec<_>>();
    // Each entry adds 9 to the pool of 1,000.
    assert_eq!(hits[0], ((trigger - 1_000).div_ceil(9), 0, trigger));
    fixture.assert_rebuilds().await;
}

/// The rule that comes into force meanwhile has the same `low`: only `high` tells its cycles from those before.
#[tokio::test]
async fn a_batch_may_bring_a_rule_into_force_that_differs_in_its_high_alone() {
    let tiers = |high: u64| {
        let rule = json!({"amount": {"low": 50, "high": high}});
        json!({"tiers": [
            tier("grand", 900_000, &json!({"must_hit_by": rule, "min_payout": 1})),
            tier("mini", 100_000, &json!({"min_payout": 1})),
        ], "odds": {"total": 1, "ranks": [{"rank": 1, "weight": 1, "prize": {"pool": {"tier": "mini", "take": "all"}}}]},
        "contribution": {"fixed": 10}})
    };
    let fixture = JackpotFixture::with(&tiers(100)).await;
    fixture.fund("f", 9).await;
    fixture.define(&tiers(90_000)).await;
    assert_eq!(fixture.snapshot().await.version, 1, "it waits");
    let batch = batch("b", &vec![sent("p", 100); 10_000]);
    let played = play(&fixture, u64::MAX).enter_batch(&fixture.id, &batch, "").await;
    let hits = played
        .expect("taken")
        .winners
        .into_iter()
        .filter_map(|winner| match winner.record.state {
            State::MustHit { hit } => Some((winner.index as u64, hit.cycle, hit.trigger)),
            _ => None,
        });
    let hits: Vec<_> = hits.collect();
    let began = fixture.events().await.into_iter().flat_map(|event| event.cycles);
    let began = began.filter_map(|change| match change {
        CycleChange::Began(row) => Some(row),
        CycleChange::Ended { .. } => None,
    });
    let (mut pool, mut last, mut expected) = (9, 0, Vec::new());
    for row in began {
        assert_eq!(row.high.0, Some(if row.cycle == 0 { 100 } else { 90_000 }));
        let trigger = row.trigger_amount(&seed(&fixture, &row, row.cycle)).expect("an amount");
        // Each entry adds 9.
        last += (trigger - pool).div_ceil(9);
        pool = 0;
        expected.push((last, row.cycle, trigger));
    }
    expected.retain(|(index, ..)| *index <= 10_000);
    assert_eq!(hits, expected);
    assert!(hits.len() >= 2, "{hits:?}");
    fixture.assert_rebuilds().await;
}

/// `min_payout` of the definition in force may change at once while nothing is live; the open cycle keeps its own.
#[tokio::test]
async fn a_cycle_keeps_the_min_payout_that_it_began_with() {
    let with = |min: u64| {
        let rule = json!({"time": {"after_s": 0, "within_s": 1}});
        json!({"tiers": [tier("grand", 1_000_000, &json!({"must_hit_by": rule, "min_payout": min}))], "odds": {"total": 1, "ranks": []}})
    };
    let fixture = JackpotFixture::with(&with(3)).await;
    let begin = open(&fixture).await;
    assert_eq!(begin.min, 3);
    let trigger = begin.trigger_at(&seed(&fixture, &begin, 0)).expect("a time");
    eventually(Duration::from_secs(30), "the time", async || {
        (fixture.snapshot().await.now_ms >= trigger * 1_000).then_some(())
    })
    .await;
    let play = play_apart(&fixture);
    for index in 1..=3 {
        let played = enter(&play, &fixture, &format!("e{index}")).await;
        assert_eq!(hit(&played.record.state).is_some(), index == 3);
    }
    fixture.status(Status::Paused).await;
    fixture.define(&with(5)).await;
    assert_eq!(open(&fixture).await.min, 3, "a changed rule counts from the next cycle");
    fixture.status(Status::Open).await;
    assert_eq!(open(&fixture).await.min, 5);
    fixture.assert_rebuilds().await;
}

pub fn decision(order: u64) -> Decision {
    Decision {
        order,
        reason: "a test".to_owned(),
        at_ms: 1_000,
        who: "tester".to_owned(),
        request_id: "r".to_owned(),
    }
}

/// An instance that has not read the jackpot obeys a stop, and reads it for the start.
#[tokio::test]
async fn the_end_of_the_emergency_stop_ends_open_cycles_with_a_time() {
    for (rule, next) in [
        (json!({"time": {"after_s": 0, "within_s": 60}}), 1),
        (json!({"daily": {"at": "20:00", "zone": "Asia/Seoul"}}), 1),
        (json!({"amount": {"low": 5, "high": 15}}), 0),
    ] {
        let fixture = JackpotFixture::with(&ruled(&rule)).await;
        let views = Views::new(fixture.store.clone(), MasterSecret::new(SECRET));
        let obey = async |order| views.obey(&fixture.id, &decision(order)).await.expect("a reply");
        assert_eq!(obey(1).await, Obedience::Obeys);
        assert_eq!(open(&fixture).await.cycle, 0);
        assert_eq!(obey(2).await, Obedience::Obeys);
        assert_eq!(open(&fixture).await.cycle, next);
        let before = fixture.dump().await;
        assert_eq!(obey(2).await, Obedience::Obeys);
        assert_eq!(fixture.dump().await, before);
        enter(&play_apart(&fixture), &fixture, "e").await;
        fixture.assert_rebuilds().await;
    }
}

/// Its cycles end when it is resumed.
#[tokio::test]
async fn the_start_of_a_paused_jackpot_leaves_its_cycles() {
    let fixture = JackpotFixture::with(&ruled(&json!({"time": {"after_s": 0, "within_s": 60}}))).await;
    let views = &fixture.operate.views;
    views.obey(&fixture.id, &decision(1)).await.expect("a reply");
    fixture.status(Status::Paused).await;
    views.obey(&fixture.id, &decision(2)).await.expect("a reply");
    assert_eq!(open(&fixture).await.cycle, 0);
    fixture.status(Status::Open).await;
    assert_eq!(open(&fixture).await.cycle, 1);
    fixture.assert_rebuilds().await;
}

#[tokio::test]
async fn a_jackpot_without_a_rule_has_no_cycles() {
    let fixture = JackpotFixture::with(&json!({})).await;
    let has: u64 = fixture
        .raw(redis::cmd("HEXISTS").arg(&fixture.keys.state).arg("cycles"))
        .await;
    assert_eq!(has, 0);
}

/// What is drawn already stays.
#[tokio::test]
async fn a_rule_that_a_put_changes_counts_from_the_next_cycle() {
    let fixture = JackpotFixture::with(&by_amount(5, 15)).await;
    let play = play(&fixture, u64::MAX);
    enter(&play, &fixture, "a").await;
    let begin = open(&fixture).await;
    fixture.define(&by_amount(50, 60)).await;
    assert_eq!(open(&fixture).await, begin, "the jackpot is live");
    let (mut pool, mut hits) = (1, Vec::new());
    for index in 1..=20 {
        let played = enter(&play, &fixture, &format!("b{index}")).await;
        hits.extend(hit(&played.record.state).map(|hit| (index, hit.cycle, hit.trigger)));
        if !hits.is_empty() {
            break;
        }
    }
    assert_eq!(hits, expected(&fixture, &begin, &mut pool, hits[0].0));
    let next = open(&fixture).await;
    assert_eq!((next.cycle, &next.nonce), (1, &begin.nonce));
    assert_eq!((next.low.0, next.high.0), (Some(50), Some(60)));
    enter(&play, &fixture, "c1").await;
    fixture.define(&ruled(&Value::Null)).await;
    assert_eq!(open(&fixture).await, next);
    let mut hits = Vec::new();
    for index in 2..=80 {
        let played = enter(&play, &fixture, &format!("c{index}")).await;
        hits.extend(hit(&played.record.state).map(|hit| (index, hit.cycle, hit.trigger)));
    }
    let trigger = next.trigger_amount(&seed(&fixture, &next, 1)).expect("an amount");
    assert_eq!(hits, [(trigger, 1, trigger)], "there is no rule after it");
    assert!(!cycles(&fixture).await.rows[0].is_open());
    fixture.assert_rebuilds().await;
}

#[tokio::test]
async fn a_claim_of_a_redraw_that_takes_all_ends_the_cycle() {
    let all = json!({"pool": {"tier": "grand", "take": "all"}});
    let rule = json!({"amount": {"low": 500, "high": 600}});
    let change = json!({
        "tiers": [tier("grand", 1_000_000, &json!({"must_hit_by": rule, "min_payout": 100}))],
        "odds": {"total": 1_000, "ranks": [rank(1, &all), rank(2, &all)]},
    });
    let fixture = JackpotFixture::with(&change).await;
    let before = open(&fixture).await;
    fixture.take("e", 1).await;
    assert_eq!(open(&fixture).await, before, "a refusal ends nothing");
    fixture.fund("f", 200).await;
    let claimed = fixture.claim("e", 1, 2).await;
    assert!(claimed.done_now);
    let after = open(&fixture).await;
    assert_eq!((after.cycle, &after.nonce, after.reversed), (1, &before.nonce, 0));
    let changes = fixture.events().await.pop().expect("an event").cycles;
    let ended = CycleChange::Ended {
        tier: before.tier,
        cycle: 0,
        by: EndedBy::Take,
    };
    assert_eq!(changes, [ended, CycleChange::Began(after)]);
    fixture.assert_rebuilds().await;
}

#[tokio::test]
async fn a_reversal_does_not_put_off_a_trigger() {
    let fixture = JackpotFixture::with(&by_amount(5, 15)).await;
    let (play, begin) = (play(&fixture, u64::MAX), open(&fixture).await);
    let trigger = begin.trigger_amount(&seed(&fixture, &begin, 0)).expect("an amount");
    for id in ["a", "b", "c"] {
        enter(&play, &fixture, id).await;
    }
    fixture.reverse("b", "r1").await.expect("reversed");
    assert_eq!(open(&fixture).await, CycleRow { reversed: 1, ..begin });
    for index in 4..=trigger {
        let played = enter(&play, &fixture, &format!("d{index}")).await;
        let hit = hit(&played.record.state);
        assert_eq!(
            hit.as_ref().map(|hit| hit.amount),
            (index == trigger).then_some(trigger - 1)
        );
    }
    assert_eq!((open(&fixture).await.cycle, open(&fixture).await.reversed), (1, 0));
    // Its contribution went with the take.
    fixture.reverse("a", "r2").await.expect("reversed");
    assert_eq!(open(&fixture).await.reversed, 0);
    fixture.assert_rebuilds().await;
}

/// From the first start with a new secret on, no trigger needs the old one.
#[tokio::test]
async fn a_new_secret_ends_the_cycles_of_the_old_one() {
    let fixture = JackpotFixture::with(&by_amount(5, 15)).await;
    enter(&play_apart(&fixture), &fixture, "a").await;
    let (before, other) = (open(&fixture).await, [0x17; 32]);
    let only_new = Views::new(fixture.store.clone(), MasterSecret::new(other));
    let lacks = only_new.refresh(&fixture.id).await.map(|_| ());
    assert!(matches!(lacks, Err(PlayError::NoSecret { .. })), "{lacks:?}");
    let both = Secrets::new(MasterSecret::new(other), [MasterSecret::new(SECRET)]);
    let views = Arc::new(Views::new(fixture.store.clone(), both));
    let operate = Operate::new(fixture.store.clone(), Arc::clone(&views)).remembering(0);
    let second = u64::try_from(fixture.snapshot().await.now_ms / 1_000).expect("a second");
    operate.leave_other_secrets(&fixture.id).await.expect("left");
    let after = open(&fixture).await;
    let now = u64::try_from(fixture.snapshot().await.now_ms / 1_000).expect("a second");
    assert!((second..=now).contains(&after.cycle), "{second} {} {now}", after.cycle);
    assert_ne!((&after.nonce, &after.secret), (&before.nonce, &before.secret));
    let dump = fixture.dump().await;
    operate.leave_other_secrets(&fixture.id).await.expect("nothing is left");
    assert_eq!(fixture.dump().await, dump);
    only_new.refresh(&fixture.id).await.expect("nothing needs the old one");
    let metrics = PlayMetrics::new(Arc::new(Metrics::new()));
    let play = crate::support::given::play(&fixture.store, views, metrics, u64::MAX);
    let own = CycleSeed::derive(
        &MasterSecret::new(other),
        &fixture.id,
        &after.tier,
        after.cycle,
        &after.nonce,
    );
    let trigger = after.trigger_amount(&own).expect("an amount");
    for pool in 2..=trigger {
        let played = enter(&play, &fixture, &format!("b{pool}")).await;
        assert_eq!(
            hit(&played.record.state).map(|hit| hit.trigger),
            (pool == trigger).then_some(trigger)
        );
    }
    let next = open(&fixture).await;
    assert_eq!((next.cycle, &next.nonce), (after.cycle + 1, &after.nonce));
    fixture.assert_rebuilds().await;
}

/// An earlier version of the service closed a jackpot and left its epoch and its cycles open. A start ends them.
#[tokio::test]
async fn a_start_ends_what_an_earlier_version_left_open_in_a_closed_jackpot() {
    let fixture = JackpotFixture::with(&four_ruled()).await;
    let status: String = fixture
        .raw(redis::cmd("HGET").arg(&fixture.keys.state).arg("status"))
        .await;
    let status = status.replacen("open", "closed", 1);
    fixture
        .raw::<u64>(redis::cmd("HSET").arg(&fixture.keys.state).arg("status").arg(status))
        .await;
    fixture.fresh().await;
    fixture.operate.leave_other_secrets(&fixture.id).await.expect("done");
    assert!(cycles(&fixture).await.rows.iter().all(|row| !row.is_open()));
    let epochs = fixture.operate.epochs(&fixture.id).await.expect("epochs");
    assert!(epochs.len() == 1 && epochs[0].closed_ms.is_some(), "{epochs:?}");
    let dump = fixture.dump().await;
    fixture
        .operate
        .leave_other_secrets(&fixture.id)
        .await
        .expect("nothing is left");
    assert_eq!(fixture.dump().await, dump);
}

/// A second change of the secret within the same second gets a number above the last one.
#[test]
fn cycles_of_another_secret_have_numbers_that_nobody_has_seen() {
    let (id, nonce) = (Id::parse("grand").expect("an id"), "00112233445566778899aabbccddeeff");
    let other = Secrets::from(MasterSecret::new([0x17; 32]));
    for (last, first) in [(3, 1_700_000_000_u64), (1_700_000_000, 1_700_001_000)] {
        let text = format!("grand 1 20 30 - - -;||grand {last} {nonce} abc44bcf0634a438 ff 0 1 20 30 - - 0;");
        let prepared = Cycles::parse(&text).expect("cycles").prepared(&Preparing {
            jackpot: &id,
            secrets: &other,
            nonce: [7; 16],
            renews: Some(Renews::Next),
            following: 1,
            now: 1_700_000_000,
        });
        let group = prepared.lines().last().expect("a group");
        assert_eq!(group.split(' ').nth(3), Some(&*first.to_string()), "{group}");
    }
}

/// The fast path takes every entry that draws nothing and hits nothing.
#[tokio::test]
async fn entries_are_expected_until_one_hits() {
    let instance = Instance::with(&by_amount(20, 60)).await;
    let begin = open(&instance.fixture).await;
    let mut hits = Vec::new();
    for index in 1..=300 {
        let played = instance.enter(&format!("e{index}")).await.expect("taken");
        hits.extend(hit(&played.record.state).map(|hit| (index, hit.cycle, hit.trigger)));
    }
    assert_eq!(hits, expected(&instance.fixture, &begin, &mut 0, 300));
    let (enter, expected) = (instance.calls("enter"), instance.calls("enter_expected"));
    assert!(hits.len() >= 5, "{hits:?}");
    assert!(
        enter <= 2 * hits.len() + 2,
        "{enter} calls of enter for {} hits",
        hits.len()
    );
    assert!(expected >= 270, "{expected}");
    instance.fixture.assert_rebuilds().await;
}

/// The time has come between two entries: the second one is no longer as expected.
#[tokio::test]
async fn an_expected_entry_hits_by_time() {
    let instance = Instance::with(&ruled(&json!({"time": {"after_s": 0, "within_s": 2}}))).await;
    let fixture = &instance.fixture;
    let mut begin = open(fixture).await;
    let mut index = 0;
    // On a busy machine the time may come before any entry was expected. Then that of the next cycle does.
    eventually(PATIENCE, "an entry hits after others were as expected", async || {
        index += 1;
        let before_ms = fixture.snapshot().await.now_ms;
        let trigger = begin.trigger_at(&seed(fixture, &begin, begin.cycle)).expect("a time");
        let played = instance.enter(&format!("e{index}")).await.expect("taken");
        let Some(found) = hit(&played.record.state) else {
            assert!(before_ms < trigger * 1_000, "it was due");
            return None;
        };
        assert_eq!((found.by, i64::try_from(found.trigger)), (HitBy::Time, Ok(trigger)));
        begin = open(fixture).await;
        (instance.calls("enter_expected") > 0).then_some(())
    })
    .await;
    fixture.assert_rebuilds().await;
}

/// Each cycle once, at most 200 on a page, and the epochs only on the first.
#[tokio::test]
async fn pages_of_cycles_show_each_once() {
    const CYCLES: usize = 450;
    let service = Service::start().await;
    let mut change = by_amount(1, 2);
    change["public_meter"] = json!(true);
    service
        .put("/v1/jackpots/paged", document("paged", &change))
        .await
        .is(201);
    // The pool hits with every second entry.
    let entries = vec![json!({"player_id": "p", "stake": 1}); 2 * CYCLES];
    let batch = json!({"batch_id": "b", "entries": entries});
    service.post("/v1/jackpots/paged/entry-batches", batch).await.is(201);
    let pages = eventually(PATIENCE, "the seeds are published", async || {
        let (mut pages, mut path) = (Vec::new(), "/v1/jackpots/paged/fairness".to_owned());
        loop {
            let page = service.get(&path).await.body;
            let next = page["next_cursor"].as_str().map(str::to_owned);
            pages.push(page);
            let Some(cursor) = next else { break };
            path = format!("/v1/jackpots/paged/fairness?cursor={cursor}");
        }
        let all = pages.iter().flat_map(|page| page["cycles"].as_array().expect("cycles"));
        let seeds = all.filter(|cycle| cycle["seed"].is_string()).count();
        (seeds == CYCLES).then_some(pages)
    })
    .await;
    assert!(
        pages
            .iter()
            .all(|page| page["cycles"].as_array().is_some_and(|all| all.len() <= 200))
    );
    let epochs = pages.iter().map(|page| page["epochs"].as_array().map_or(0, Vec::len));
    assert_eq!(epochs.collect::<Vec<_>>(), [1, 0, 0]);
    let all = pages.iter().flat_map(|page| page["cycles"].as_array().expect("cycles"));
    let all: Vec<_> = all.collect();
    assert!(
        all.iter()
            .map(|cycle| cycle["cycle"].as_u64())
            .eq((0..=CYCLES as u64).map(Some))
    );
    assert!(
        all[..CYCLES]
            .iter()
            .all(|cycle| cycle["trigger_amount"] == 2 && cycle["ended_by"] == "must-hit")
    );
    assert_eq!(all[CYCLES]["ended_at"], Value::Null);
}

/// A hit has rank 0, as nothing has.
#[tokio::test]
async fn the_list_of_entries_shows_a_hit_as_its_answer_did() {
    let service = Service::start().await;
    service
        .put("/v1/jackpots/listed", document("listed", &by_amount(1, 2)))
        .await;
    let mut outcomes = Vec::new();
    for entry in ["e0", "e1"] {
        let body = json!({"entry_id": entry, "player_id": "p", "stake": 1});
        let taken = service.post("/v1/jackpots/listed/entries", body).await;
        outcomes.push(taken.body["outcome"].clone());
    }
    assert_eq!(outcomes[1]["prize"], "must-hit", "{outcomes:?}");
    let listed = eventually(PATIENCE, "the ledger has both", async || {
        let page = service.get("/v1/entries?player_id=p").await.body;
        let rows = page["items"].as_array().filter(|rows| rows.len() == 2)?;
        // Newest first.
        Some(rows.iter().rev().map(|row| row["outcome"].clone()).collect::<Vec<_>>())
    })
    .await;
    assert_eq!(listed, outcomes);
}

/// What an instance did itself is not hidden by what it has just shown.
#[tokio::test]
async fn a_cycle_that_an_entry_ends_is_shown_as_ended_at_once() {
    let service = Service::start().await;
    let mut change = by_amount(1, 2);
    change["public_meter"] = json!(true);
    service.put("/v1/jackpots/shown", document("shown", &change)).await;
    for round in 1..=3 {
        let shown = service.get("/v1/jackpots/shown/fairness").await.body;
        let cycles = shown["cycles"].as_array().expect("cycles");
        assert_eq!(cycles.len(), round, "{shown}");
        assert_eq!(cycles[round - 1]["seed"], Value::Null);
        assert!(
            cycles[..round - 1].iter().all(|cycle| cycle["ended_by"] == "must-hit"),
            "{shown}"
        );
        for entry in 0..2 {
            let body = json!({"entry_id": format!("e{round}-{entry}"), "player_id": "p", "stake": 1});
            let taken = service.post("/v1/jackpots/shown/entries", body).await;
            assert_eq!(taken.body["draw"]["must_hit"].is_object(), entry == 1, "{}", taken.text);
        }
    }
}
