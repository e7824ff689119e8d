//! What nobody may do to an open cycle of a must-hit rule: steer the pool to its trigger, put the trigger out of reach, let a due
//! pool wait, or move a drop to another day. Each jackpot is also checked by the code of the verifier.

use jackpot::jackpot::error::PlayError;
use jackpot::jackpot::scripts::Adjust;
use jackpot::proof::verify::Place;
use jackpot::subject::emergency::{Obedience, Obeys as _};
use jackpot_api::jackpot::Status;
use jackpot_core::ids::Id;
use jackpot_core::jackpot::cycle::{CycleRow, Cycles};
use jackpot_core::jackpot::record::State;
use jackpot_core::wire::Field as _;

use crate::jackpot::batch::support::batch;
use crate::jackpot::combiner::fixture::Instance;
use crate::jackpot::fixture::{JackpotFixture, funding, operator, rank, sent, tier};
use crate::jackpot::must_hit::{by_amount, cycles, decision, enter, expected, hit, open, play_apart, ruled, seed};
use crate::jackpot::transfer::Pair;
use crate::proof::names;
use crate::proof::story::export;
use crate::support::prelude::*;

/// The events follow, also by the code of the verifier.
async fn verified(fixture: &JackpotFixture) {
    fixture.assert_rebuilds().await;
    let report = export(fixture).await.verify();
    assert!(report.is_right(), "{report}");
}

/// The trigger is compared with the pool and what was reversed out of it, so the guard of what is no contribution is too.
#[tokio::test]
async fn cancelled_rounds_are_no_way_to_a_trigger() {
    let pair = Pair::with(&json!({}), &by_amount(50, 100)).await;
    let (steered, begin) = (&pair.target, open(&pair.target).await);
    let move_of = |id: &str, from: Option<&'static str>, to: &'static str, amount: u64| Adjust {
        from,
        to: Some(to),
        ..funding(id, amount)
    };
    for i in 0..50 {
        steered.take(&format!("a{i}"), 0).await;
    }
    let down = move_of("down", Some("pool"), "overflow", 50);
    steered.operate.adjust(&steered.id, &down).await.expect("done");
    for i in 0..50 {
        steered.take(&format!("b{i}"), 0).await;
    }
    for i in 0..50 {
        steered
            .reverse(&format!("b{i}"), &format!("r{i}"))
            .await
            .expect("reversed");
    }
    assert_eq!((open(steered).await.cycle, open(steered).await.reversed), (0, 50));
    let before = steered.dump().await;
    for (id, from) in [("up", Some("overflow")), ("gift", None)] {
        let refused = steered.operate.adjust(&steered.id, &move_of(id, from, "pool", 1)).await;
        assert!(matches!(refused, Err(PlayError::MustHitOpen)), "{refused:?}");
    }
    assert_eq!(steered.dump().await, before);
    pair.source.fund("f", 7).await;
    pair.source.status(Status::Paused).await;
    pair.transfer("t", &[("grand", "grand")]).await;
    assert_eq!(steered.money().await, (0, 0, 57), "it goes to the overflow");
    let trigger = begin.trigger_amount(&seed(steered, &begin, 0)).expect("an amount");
    for index in 51..=trigger {
        let record = steered.take(&format!("c{index}"), 0).await;
        assert_eq!(hit(&record.state).is_some(), index == trigger);
    }
    verified(steered).await;
    let mut story = export(steered).await;
    let n = story.find(|body| body.contains("\"adjustment\":\"down\""));
    story.edit(n, |fields| {
        fields.insert("from".to_owned(), "overflow".to_owned());
        fields.insert("to".to_owned(), "pool".to_owned());
    });
    names(
        &story.verify(),
        &Place::Event(n),
        "above what its open must-hit cycle allows",
    );
}

/// Two tiers, of which `mini` is taken by rank 1 and `grand` by rank 2. Each entry adds 10.
fn crossed(grand: &Value) -> Value {
    json!({"tiers": [tier("mini", 100_000, &json!({"min_payout": 1})), tier("grand", 900_000, grand)],
        "odds": {"total": 1_000, "ranks": [rank(1, &json!({"pool": {"tier": "mini", "take": "all"}})),
            rank(2, &json!({"pool": {"tier": "grand", "take": "all"}}))]},
        "contribution": {"fixed": 10}})
}

async fn open_grand(fixture: &JackpotFixture) -> CycleRow {
    let grand = Id::parse("grand").expect("an id");
    cycles(fixture).await.open(&grand).expect("an open cycle").clone()
}

/// Pool and overflow of `grand`, the second tier.
async fn held_of_grand(fixture: &JackpotFixture) -> (u64, u64) {
    let meter = &fixture.snapshot().await.meters[1];
    (meter.pool, meter.overflow)
}

/// The take of another tier puts a lower cap and a higher minimum in force. Both count from the next cycle.
#[tokio::test]
async fn an_open_cycle_keeps_cap_and_minimum_whatever_comes_into_force() {
    let grand = |cap: u64, min: u64, low: u64| {
        crossed(&json!({"cap": cap, "min_payout": min, "must_hit_by": {"amount": {"low": low, "high": cap}}}))
    };
    let fixture = JackpotFixture::with(&grand(900, 1, 450)).await;
    let begin = open_grand(&fixture).await;
    let trigger = begin.trigger_amount(&seed(&fixture, &begin, 0)).expect("an amount");
    for i in 0..20 {
        fixture.take(&format!("a{i}"), 0).await;
    }
    fixture.define(&grand(100, 60, 60)).await;
    fixture.take("mini", 1).await;
    assert_eq!(fixture.snapshot().await.version, 2);
    assert_eq!(open_grand(&fixture).await, begin);
    assert_eq!(held_of_grand(&fixture).await, (189, 0), "no pool shrinks");
    for i in 22..=trigger.div_ceil(9) {
        let record = fixture.take(&format!("b{i}"), 0).await;
        assert_eq!(hit(&record.state).is_some(), i == trigger.div_ceil(9), "{i}");
    }
    let next = open_grand(&fixture).await;
    let pins = |row: &CycleRow| row.pins.0.map(|pins| (pins.cap.0, pins.version));
    assert_eq!(
        (pins(&begin), pins(&next)),
        (Some((Some(900), 1)), Some((Some(100), 2)))
    );
    assert_eq!((next.low.0, next.high.0, next.min), (Some(60), Some(100), 60));
    verified(&fixture).await;
}

/// The first takes of one that pays its whole pool and of one that pays a share are refused below the pinned minimum, and not
/// by that of the definition in force.
#[tokio::test]
async fn a_prize_of_a_pool_needs_the_minimum_of_the_open_cycle() {
    let with = |min: u64| {
        json!({"tiers": [tier("grand", 1_000_000, &json!({"min_payout": min, "must_hit_by": {"amount": {"low": 99, "high": 200}}}))],
            "odds": {"total": 1_000, "ranks": [rank(1, &json!({"pool": {"tier": "grand", "take": "all"}})),
                rank(2, &json!({"pool": {"tier": "grand", "take": {"share_ppm": 500_000}}}))]},
            "contribution": {"fixed": 10}})
    };
    let fixture = JackpotFixture::with(&with(10)).await;
    fixture.take("a", 0).await;
    fixture.status(Status::Paused).await;
    fixture.define(&with(99)).await;
    fixture.status(Status::Open).await;
    for (entry, rank, amount) in [("b", 2, 10), ("c", 1, 20)] {
        let record = fixture.take(entry, rank).await;
        let State::Paid { payout, .. } = &record.state else {
            panic!("{record:?}");
        };
        assert_eq!(payout.amount, amount);
    }
    let record = fixture.take("d", 1).await;
    assert!(matches!(record.state, State::Pending { .. }), "{record:?}");
    fixture.claim("d", 1, 2).await;
    verified(&fixture).await;
}

/// Else null and back would draw a trigger anew.
#[tokio::test]
async fn a_rule_that_is_taken_away_ends_its_cycle_with_the_next_take() {
    let amount = json!({"amount": {"low": 5, "high": 15}, "time": {"after_s": 80_000, "within_s": 86_400}});
    let fixture = JackpotFixture::with(&ruled(&amount)).await;
    let begin = open(&fixture).await;
    fixture.take("a", 0).await;
    fixture.status(Status::Paused).await;
    fixture.define(&ruled(&Value::Null)).await;
    assert_eq!(open(&fixture).await, begin, "it goes on under its own rule");
    fixture.status(Status::Open).await;
    let restarted = open(&fixture).await;
    assert_eq!(
        (restarted.cycle, restarted.deadline),
        (1, begin.deadline),
        "its time can't be waited out"
    );
    assert_eq!(
        (restarted.low, restarted.high, restarted.pins.0.map(|pins| pins.version)),
        (begin.low, begin.high, Some(1))
    );
    let trigger = restarted
        .trigger_amount(&seed(&fixture, &restarted, 1))
        .expect("an amount");
    let play = play_apart(&fixture);
    let entries = batch("b", &vec![sent("p", 100); 40]);
    let played = play.enter_batch(&fixture.id, &entries, "").await.expect("taken");
    let hits = played
        .winners
        .iter()
        .map(|winner| (winner.index as u64, hit(&winner.record.state)));
    let hits: Vec<_> = hits.map(|(index, hit)| (index, hit.map(|hit| hit.trigger))).collect();
    assert_eq!(hits, [(trigger - 1, Some(trigger))], "none after it");
    assert!(!cycles(&fixture).await.rows[0].is_open());
    verified(&fixture).await;
    let mut story = export(&fixture).await;
    let n = story.find(|body| body.contains("\"type\":\"define\"") && body.contains("\"version\":\"2\""));
    story.edit(n, |fields| {
        fields.insert("cycles".to_owned(), "e grand 0 restart;".to_owned());
    });
    names(&story.verify(), &Place::Event(n), "ends without a take");
}

/// `mini` is due with every entry, and `grand` from some entry on.
#[tokio::test]
async fn no_due_tier_waits_while_another_hits_again_and_again() {
    for order in [["mini", "grand"], ["grand", "mini"]] {
        let rules = |name: &str| match name {
            "mini" => tier(
                "mini",
                500_000,
                &json!({"min_payout": 1, "must_hit_by": {"amount": {"low": 1, "high": 5}}}),
            ),
            _ => tier(
                "grand",
                500_000,
                &json!({"min_payout": 1, "must_hit_by": {"amount": {"low": 60, "high": 100}}}),
            ),
        };
        let change =
            json!({"tiers": order.map(rules), "odds": {"total": 1, "ranks": []}, "contribution": {"fixed": 10}});
        let fixture = JackpotFixture::with(&change).await;
        let begin = open_grand(&fixture).await;
        let trigger = begin.trigger_amount(&seed(&fixture, &begin, 0)).expect("an amount");
        let mut of_grand = Vec::new();
        for i in 1..=21 {
            let record = fixture.take(&format!("e{i}"), 0).await;
            let hit = hit(&record.state).expect("mini at least is due");
            of_grand.extend((hit.tier.as_str() == "grand").then_some(i));
        }
        assert_eq!(of_grand[0], trigger.div_ceil(5), "at once: its cycle began first");
        verified(&fixture).await;
    }
}

/// A pause moves no drop to another day.
#[tokio::test]
async fn a_restart_keeps_the_deadline_and_counts_from_the_later_floor() {
    let restarted = async |rule: Value| {
        let fixture = JackpotFixture::with(&ruled(&rule)).await;
        let first = open(&fixture).await;
        fixture.status(Status::Paused).await;
        fixture.status(Status::Open).await;
        let second = open(&fixture).await;
        verified(&fixture).await;
        (first, second, fixture)
    };
    let (first, second, fixture) = restarted(json!({"time": {"after_s": 1_800, "within_s": 3_600}})).await;
    assert_eq!(
        (second.cycle, second.deadline, second.floor()),
        (1, first.deadline, first.floor())
    );
    let by = operator();
    let rotated = fixture
        .operate
        .end_epoch_with(&fixture.id, "a test".to_owned(), &by, true);
    rotated.await.expect("done");
    let third = open(&fixture).await;
    assert_eq!(
        (third.cycle, third.deadline, third.floor()),
        (2, first.deadline, first.floor())
    );
    verified(&fixture).await;
    let (first, second, _) = restarted(json!({"daily": {"at": "20:00", "zone": "Asia/Seoul"}})).await;
    let second_of = |row: &CycleRow| row.began / 1_000;
    let at = first.deadline.0.expect("a deadline").max(second_of(&second) + 60);
    assert_eq!(second.deadline.0, Some(at));
    assert_eq!(second.floor(), Some(second_of(&second)));
    // The deadline is nearer than a minute: it comes within the next one.
    let (_, second, fixture) = restarted(json!({"time": {"after_s": 0, "within_s": 20}})).await;
    assert_eq!(
        (second.after.0, second.deadline.0),
        (Some(0), Some(second_of(&second) + 60))
    );
    let mut story = export(&fixture).await;
    let n = *story
        .all(|body| body.contains("\"type\":\"status\""))
        .last()
        .expect("a resume");
    story.edit(n, |fields| {
        fields.insert("cycles".to_owned(), String::new());
    });
    names(&story.verify(), &Place::Event(n), "its time can be waited out");
}

/// In the forged export the cycle goes on after the stop, and nothing else is wrong: it states no later cycle, and no seed.
#[tokio::test]
async fn verify_names_a_time_that_went_on_after_an_emergency_stop() {
    let fixture = JackpotFixture::with(&ruled(&json!({"time": {"after_s": 1_800, "within_s": 3_600}}))).await;
    enter(&play_apart(&fixture), &fixture, "before").await;
    for order in [1, 2] {
        let obeyed = fixture.operate.views.obey(&fixture.id, &decision(order)).await;
        assert_eq!(obeyed.expect("a reply"), Obedience::Obeys);
    }
    enter(&play_apart(&fixture), &fixture, "after").await;
    assert_eq!(open(&fixture).await.cycle, 1);
    verified(&fixture).await;
    let mut story = export(&fixture).await;
    let n = story.find(|body| body.contains("\"type\":\"emergency\"") && body.contains("\"stopped\":\"0\""));
    story.edit(n, |fields| {
        fields.insert("cycles".to_owned(), String::new());
    });
    story.lines.retain(|line| line["cycle"] != 1);
    for line in story.lines.iter_mut().filter(|line| line["kind"] == "cycle") {
        line["seed"] = Value::Null;
    }
    story.close();
    let report = story.verify();
    names(&report, &Place::Event(n), "its time can be waited out");
    assert_eq!(report.problems.len(), 1, "{report}");
}

/// Redis may hold cycles that an earlier version of the service began: without a cap, a version and a sequence. The values of
/// the definition count for them, as they did.
#[tokio::test]
async fn a_cycle_of_an_earlier_version_goes_on() {
    let fixture = JackpotFixture::with(&by_amount(5, 15)).await;
    let begin = open(&fixture).await;
    let pins = begin.pins.0.expect("pinned");
    let pins = format!(" {} {} {}", pins.cap.text(), pins.version, pins.sequence);
    let text = cycles(&fixture).await.text();
    let earlier = text.replace(&pins, "");
    assert_ne!(earlier, text);
    assert_eq!(Cycles::parse(&earlier).expect("cycles").text(), earlier);
    let () = fixture
        .raw(redis::cmd("HSET").arg(&fixture.keys.state).arg("cycles").arg(&earlier))
        .await;
    let play = play_apart(&fixture);
    let mut hits = Vec::new();
    for index in 1..=40 {
        let played = enter(&play, &fixture, &format!("e{index}")).await;
        hits.extend(hit(&played.record.state).map(|hit| (index, hit.cycle, hit.trigger)));
    }
    assert_eq!(hits, expected(&fixture, &begin, &mut 0, 40));
    assert!(open(&fixture).await.pins.0.is_some());
}

/// The cap of the definition in force is lower than the one that the open cycle pins.
#[tokio::test]
async fn expected_entries_add_up_to_the_pinned_cap() {
    let with = |low: u64, cap: u64| {
        let rule = json!({"amount": {"low": low, "high": cap}});
        json!({"tiers": [tier("grand", 1_000_000, &json!({"must_hit_by": rule, "cap": cap}))], "odds": {"total": 1, "ranks": []}})
    };
    let instance = Instance::with(&with(40, 60)).await;
    instance.fixture.status(Status::Paused).await;
    instance.fixture.define(&with(10, 20)).await;
    instance.fixture.status(Status::Open).await;
    for index in 1..=40 {
        let played = instance.enter(&format!("e{index}")).await.expect("taken");
        assert_eq!(hit(&played.record.state), None);
    }
    assert_eq!(instance.fixture.money().await, (40, 0, 0));
    assert!(instance.calls("enter_expected") >= 30);
    verified(&instance.fixture).await;
}
