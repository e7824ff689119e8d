//! Entries that are taken by `enter_expected.lua`: what it writes is what `enter` writes, and it writes nothing into a state
//! that is not the expected one.

use std::sync::Arc;

use futures_util::future::join_all;
use jackpot::jackpot::error::PlayError;
use jackpot::jackpot::play::By;
use jackpot::jackpot::scripts::EnterEntry;
use jackpot::jackpot::scripts::LUA;
use jackpot::store::keys::JackpotKeys;
use jackpot_api::jackpot::Status;
use jackpot_core::ids::Id;
use jackpot_core::jackpot::record::Sent;
use jackpot_core::money::MAX_MINOR;

use crate::jackpot::combiner::fixture::{Instance, nobody_wins, sequences};
use crate::jackpot::fixture::{JackpotFixture, entry, sent};
use crate::support::given::{operator, tier};
use crate::support::prelude::*;

/// Entries of each call: alone, too few for a run, the fewest of a run, many.
const CALLS: [usize; 9] = [1, 1, 2, 3, 4, 5, 33, 1, 256];

fn definitions() -> Vec<Value> {
    let odds = json!({"total": 1_000_000, "ranks": []});
    vec![
        nobody_wins(),
        json!({"contribution": {"rate_ppm": 15_001}, "odds": odds}),
        json!({"contribution": {"rate_ppm": 333_333}, "odds": odds, "tiers": [
            tier("mini", 300_000, &json!({"cap": 900, "min_payout": 1})),
            tier("major", 333_333, &json!({"seed": 50, "reserve_ppm": 250_001})),
            tier("grand", 200_000, &json!({"reserve_ppm": 1_000_000})),
        ]}),
        json!({"contribution": {"fixed": 7}, "odds": odds, "tiers": [
            tier("grand", 500_000, &json!({"cap": 10, "min_payout": 1})),
            tier("mini", 1, &json!({"reserve_ppm": 3})),
        ]}),
        json!({"contribution": {"rate_ppm": 15_001}, "odds": odds, "sources": {
            "lobby": {}, "vip": {"contribution": {"fixed": 5}}, "slot": {"contribution": {"rate_ppm": 7_777}}}}),
        json!({"odds": odds, "tiers": [
            tier("grand", 500_000, &json!({"must_hit_by": {"amount": {"low": 1_000_000, "high": 2_000_000}}})),
            tier("mini", 500_000, &json!({"must_hit_by": {"time": {"after_s": 80_000, "within_s": 86_400}}})),
        ]}),
    ]
}

/// A call's entries, with stakes that differ or are all the same.
fn call(number: usize, size: usize) -> Vec<EnterEntry> {
    let stake = |i: usize| match number % 3 {
        0 => 100,
        _ => (i * 7_919 + number * 104_729) as u64 % 5_000,
    };
    // A jackpot without sources only records them.
    let source = |i: usize| match number % 4 {
        0 => "vip",
        _ => ["lobby", "vip", "slot"][(i + number) % 3],
    };
    let one = |i: usize| EnterEntry {
        sent: Sent {
            source: Some(Id::parse(source(i)).expect("an id")),
            ..sent("p", stake(i))
        },
        ..entry(&format!("e{number}-{i}"), 0)
    };
    (0..size).map(one).collect()
}

async fn enter_all(instance: &Instance, entries: &[EnterEntry]) {
    let each = entries.iter().map(|entry| {
        let id = Id::parse(&entry.entry_id).expect("an id");
        async move {
            instance
                .play
                .enter(&instance.fixture.id, &id, entry.sent.clone(), By::default())
                .await
        }
    });
    for played in join_all(each).await {
        played.expect("taken");
    }
}

/// Everything that entries write.
async fn written(fixture: &JackpotFixture) -> impl PartialEq + std::fmt::Debug + use<> {
    let keys = &fixture.keys;
    let mut events = fixture.stream().await.split_off(1);
    for event in &mut events {
        event.remove("at").expect("every event has a time");
    }
    let state: Vec<Vec<u8>> = fixture
        .raw(redis::cmd("HMGET").arg(&keys.state).arg(&["n", "status", "meters"]))
        .await;
    let mut pools: Vec<(String, String)> = Vec::new();
    for tier in fixture.fresh().await.1.definition.tiers() {
        let pool = keys.pool(&tier.tier);
        pools.push((pool.clone(), fixture.raw(redis::cmd("GET").arg(&pool)).await));
    }
    (
        events,
        state,
        pools,
        fixture.hash(&keys.seen_a).await,
        fixture.hash(&keys.seen_b).await,
    )
}

#[tokio::test]
async fn what_it_writes_is_what_enter_writes() {
    for definition in definitions() {
        let instance = Instance::with(&definition).await;
        let twin = JackpotFixture::twin(Arc::new(TestRedis::own(&[]).await), &instance.fixture, &definition).await;
        for (number, size) in CALLS.into_iter().enumerate() {
            let entries = call(number, size);
            enter_all(&instance, &entries).await;
            twin.enter(&entries).await;
            assert_eq!(
                written(&instance.fixture).await,
                written(&twin).await,
                "call {number} under {definition}"
            );
        }
        assert_eq!(
            (instance.calls("enter"), instance.calls("enter_expected")),
            (1, CALLS.len() - 1),
            "after the first call, what it left is expected"
        );
        instance.fixture.assert_rebuilds().await;
    }
}

/// Ways to change the state behind the back of an instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    Entry,
    Funds,
    Pause,
    PauseAndResume,
    Definition,
    Rotation,
    Generation,
}

impl Change {
    async fn make(self, fixture: &JackpotFixture) {
        match self {
            Self::Entry => drop(fixture.take("other", 0).await),
            Self::Funds => fixture.fund("f", 5).await,
            Self::Pause => fixture.status(Status::Paused).await,
            Self::PauseAndResume => {
                fixture.status(Status::Paused).await;
                fixture.status(Status::Open).await;
            }
            Self::Definition => {
                fixture
                    .define(&json!({"contribution": {"fixed": 3}, "odds": nobody_wins()["odds"]}))
                    .await;
            }
            Self::Rotation => {
                let by = operator();
                let end = fixture.operate.end_epoch(&fixture.id, "a test".to_owned(), &by);
                end.await.expect("done");
            }
            Self::Generation => drop(fixture.operate.rotate_by_retention(&fixture.id, 0).await.expect("done")),
        }
    }
}

#[tokio::test]
async fn whatever_changed_the_state_the_next_entry_is_taken_as_by_enter() {
    use Change::{Definition, Entry, Funds, Generation, Pause, PauseAndResume, Rotation};
    for change in [Entry, Funds, Pause, PauseAndResume, Definition, Rotation, Generation] {
        let instance = Instance::with(&nobody_wins()).await;
        for id in ["a", "b"] {
            instance.enter(id).await.expect("taken");
        }
        assert_eq!(instance.calls("enter_expected"), 1, "the second was expected");
        change.make(&instance.fixture).await;
        let sequence = 3 + u64::from(change == Entry);
        match instance.enter("c").await {
            Ok(played) => assert_eq!(
                (played.record.sequence, played.replayed),
                (sequence, false),
                "{change:?}"
            ),
            Err(PlayError::Stopped(Status::Paused)) if change == Pause => {
                instance.fixture.status(Status::Open).await;
                instance.enter("c").await.expect("taken");
            }
            Err(error) => panic!("{change:?}: {error}"),
        }
        let expected = instance.calls("enter_expected");
        instance.enter("d").await.expect("taken");
        instance.enter("e").await.expect("taken");
        assert!(
            instance.calls("enter_expected") > expected,
            "{change:?}: it is expected again"
        );
        for repeat in ["a", "c", "e"] {
            assert!(
                instance.enter(repeat).await.expect("answered").replayed,
                "{change:?} {repeat}"
            );
        }
        instance.fixture.assert_rebuilds().await;
    }
}

/// Not even where nothing else tells that state from the expected one: each value is compared by itself.
#[tokio::test]
async fn a_state_that_another_program_changed_in_one_place_is_not_the_expected_one() {
    for field in ["n", "status", "terms", "meters", "a pool"] {
        let instance = Instance::with(&nobody_wins()).await;
        let (fixture, keys) = (&instance.fixture, &instance.fixture.keys);
        instance.enter("a").await.expect("taken");
        let earlier: Vec<u8> = fixture.raw(redis::cmd("HGET").arg(&keys.state).arg("meters")).await;
        instance.enter("b").await.expect("taken");
        let set = async |value: &[u8]| {
            let mut command = redis::cmd("HSET");
            command.arg(&keys.state).arg(field).arg(value);
            fixture.raw::<()>(&mut command).await;
        };
        match field {
            "n" => set(b"9").await,
            "status" => set(b"paused").await,
            "meters" => set(&earlier).await,
            "terms" => {
                let twin = instance.another(&json!({"contribution": {"fixed": 3}})).await;
                let mut copy = redis::cmd("HGET");
                copy.arg(&JackpotKeys::new(&twin).state).arg(field);
                let terms: Vec<u8> = fixture.raw(&mut copy).await;
                set(&terms).await;
            }
            _ => {
                let pool = keys.pool(&Id::parse("grand").expect("an id"));
                fixture.raw::<()>(redis::cmd("INCRBY").arg(pool).arg(1)).await;
            }
        }
        let taken = async || {
            let events = fixture.stream().await;
            events.iter().filter(|event| event["type"] == "enter").count()
        };
        let (before, enter) = (taken().await, instance.calls("enter"));
        let entered = instance.enter("c").await;
        assert!(instance.calls("enter") > enter, "{field}: it was asked again");
        assert_eq!(
            taken().await - before,
            usize::from(entered.is_ok()),
            "{field}: {entered:?}"
        );
    }
}

/// Redis would refuse the records after the first write.
#[tokio::test]
async fn a_call_without_whole_records_ends_before_it_reads_the_state() {
    let script = LUA.script("enter_expected", "", "enter_expected");
    let redis = TestRedis::start().await;
    let mut connection = redis.connection().await;
    let keys = ["state", "seen:a", "seen:b", "events", "pool"].map(|key| format!("{}:{key}", TestRedis::id("e")));
    // With one tier, 12 values come before the records.
    for (values, is_whole) in [
        (11, false),
        (12, false),
        (13, true),
        (14, false),
        (15, true),
        (16, false),
    ] {
        let empty = vec![0xa0_u8; values]; // MessagePack
        let mut eval = redis::cmd("EVAL");
        eval.arg(script.sources()[0]).arg(keys.len()).arg(&keys).arg(empty);
        let reply: redis::RedisResult<u8> = eval.query_async(&mut connection).await;
        match reply {
            Ok(taken) => assert!(is_whole && taken == 0, "{values}"),
            Err(error) => assert!(
                !is_whole && error.to_string().contains("JP_ARGUMENT"),
                "{values}: {error}"
            ),
        }
    }
}

#[tokio::test]
async fn repeats_and_winners_among_the_entries_of_a_call_get_their_own_answers() {
    let odds =
        json!({"total": 2, "ranks": [{"rank": 1, "weight": 1, "prize": {"fixed": {"tier": "grand", "amount": 1}}}]});
    let instance = Instance::with(&json!({"odds": odds})).await;
    instance.fixture.fund("f", 100).await;
    let (lose, win) = (
        instance.drawing("lose", 0, 20).await,
        instance.drawing("win", 1, 2).await,
    );
    for id in &lose[..2] {
        instance.enter(id).await.expect("taken");
    }
    assert_eq!(instance.calls("enter_expected"), 1);
    let mixed = [&lose[2..8], &lose[..1], &win[..], &lose[5..6]].concat();
    let answers = instance.enter_all(&mixed).await;
    assert_eq!(sequences(&answers), [3, 4, 5, 6, 7, 8, 1, 9, 10, 6]);
    let replayed = answers
        .iter()
        .map(|answer| answer.as_ref().expect("an answer").replayed);
    assert_eq!(replayed.filter(|replayed| *replayed).count(), 2);
    let repeats = instance.enter_all(&[&lose[8..12], &lose[2..3]].concat()).await;
    assert_eq!(sequences(&repeats), [11, 12, 13, 14, 3]);
    instance.fixture.assert_rebuilds().await;
}

#[tokio::test]
async fn an_amount_that_a_meter_cannot_hold_is_refused_as_by_enter() {
    let definition = json!({"contribution": {"rate_ppm": 1_000_000}, "odds": nobody_wins()["odds"]});
    let instance = Instance::with(&definition).await;
    for id in ["a", "b"] {
        instance.enter_as(id, "p", 1).await.expect("taken");
    }
    let refused = instance.enter_as("large", "p", MAX_MINOR - 1).await;
    assert!(matches!(refused, Err(PlayError::AmountTooLarge)), "{refused:?}");
    instance.enter_as("c", "p", MAX_MINOR - 2).await.expect("it just fits");
    instance.fixture.assert_rebuilds().await;
}

#[tokio::test]
async fn a_pool_changed_by_hand_is_found() {
    let instance = Instance::with(&nobody_wins()).await;
    for id in ["a", "b"] {
        instance.enter(id).await.expect("taken");
    }
    let grand = Id::parse("grand").expect("an id");
    let pool = instance.fixture.keys.pool(&grand);
    let _: () = instance.fixture.raw(redis::cmd("SET").arg(&pool).arg(1_000_000)).await;
    let before = instance.sequence().await;
    instance
        .enter("c")
        .await
        .expect_err("nothing is decided by such a pool");
    assert_eq!(instance.sequence().await, before);
    assert_eq!(instance.fixture.snapshot().await.status, Status::Suspended);
}

#[tokio::test]
async fn two_instances_on_one_jackpot_stop_expecting_and_lose_nothing() {
    const ROUNDS: usize = 100;
    let instance = Instance::with(&nobody_wins()).await;
    let other = Instance::beside(&instance).await;
    for n in 0..ROUNDS {
        for (who, instance) in [("one", &instance), ("other", &other)] {
            instance.enter(&format!("{who}-{n}")).await.expect("taken");
        }
    }
    assert_eq!(instance.sequence().await, 2 * ROUNDS as u64);
    for instance in [&instance, &other] {
        let expected = instance.calls("enter_expected");
        assert!((2..20).contains(&expected), "{expected} of {ROUNDS} calls missed");
    }
    instance.fixture.assert_rebuilds().await;
    for n in 0..ROUNDS {
        instance.enter(&format!("alone-{n}")).await.expect("taken");
    }
    let expected = instance.calls("enter_expected");
    assert!(expected > ROUNDS / 4, "{expected}: alone, it expects again");
    instance.fixture.assert_rebuilds().await;
}

#[tokio::test]
async fn arguments_of_another_form_are_refused_before_the_first_write() {
    let fixture = JackpotFixture::with(&nobody_wins()).await;
    fixture.take("a", 0).await;
    let keys = &fixture.keys;
    let state = "local state = redis.call('HMGET', KEYS[1], 'n', 'terms', 'meters') \
                 return { state[1], redis.sha1hex(state[2]), state[3] }";
    let state: Vec<Vec<u8>> = fixture.raw(redis::cmd("EVAL").arg(state).arg(1).arg(&keys.state)).await;
    let before = fixture.dump().await;
    let text = |text: &str| Packed::Text(text.as_bytes().to_vec());
    let given = state.iter().cloned().map(Packed::Text);
    let event = ["2-3", "4:type5:enter1:n1:32:at", ""].map(text);
    let after = [text("3"), Packed::Text(state[2].clone()), text("")];
    let pool_and_record = ["1", "1", "id", "2 1 1 f 2+1"].map(text);
    let good: Vec<_> = given.chain(event).chain(after).chain(pool_and_record).collect();
    let (after_meters, due, added, record) = (7, 8, 10, 12);
    let mut all = vec![(due, Some(text("soon")), "time")];
    for amount in ["1.5", "01", "-1", "", "9007199254740991", "99999999999999999999"] {
        all.push((added, Some(text(amount)), "amount"));
    }
    for place in [after_meters, record] {
        all.push((place, Some(Packed::True), "entries"));
    }
    all.push((record, None, "entries"));
    for (place, wrong, what) in all {
        let mut values = good.clone();
        let shown = format!("{place} {wrong:?}");
        match wrong {
            Some(wrong) => values[place] = wrong,
            None => drop(values.remove(place)),
        }
        let refused = enter_expected(&fixture, &values).await.expect_err(&shown);
        assert_eq!(refused.code(), Some("JP_ARGUMENT"), "{shown}");
        let detail = refused.detail().unwrap_or_default();
        assert!(detail.starts_with(what), "{shown}: {refused}");
        assert_eq!(fixture.dump().await, before, "{shown}");
    }
    assert_eq!(
        enter_expected(&fixture, &good).await.expect("taken"),
        1,
        "the others were refused for their fault alone"
    );
}

/// A packed value.
#[derive(Debug, Clone)]
enum Packed {
    Text(Vec<u8>),
    True,
}

/// Calls the script as no caller does.
async fn enter_expected(fixture: &JackpotFixture, values: &[Packed]) -> redis::RedisResult<i64> {
    let mut packed = Vec::new();
    for value in values {
        match value {
            Packed::Text(text) => {
                let length = u32::try_from(text.len()).expect("short");
                rmp::encode::write_str_len(&mut packed, length).expect("written");
                packed.extend_from_slice(text);
            }
            Packed::True => rmp::encode::write_bool(&mut packed, true).expect("written"),
        }
    }
    let keys = &fixture.keys;
    let pool = keys.pool(&Id::parse("grand").expect("an id"));
    let script = LUA.script("enter_expected", "", "enter_expected");
    let [source, _] = script.sources();
    let mut eval = redis::cmd("EVAL");
    eval.arg(source)
        .arg(5)
        .arg(&[&keys.state, &keys.seen_a, &keys.seen_b, &keys.events, &pool])
        .arg(&packed);
    eval.query_async(&mut fixture.connection()).await
}
