//! A batch has exactly the result of its entries one after the other. Random definitions and entries are played singly
//! on one Redis and as a batch on another, with the same draws. The test compares everything that both leave.

use std::collections::BTreeMap;
use std::sync::Arc;

use jackpot_core::ids::{ClientSeed, Id};
use jackpot_core::jackpot::ranks::Ranks;
use jackpot_core::jackpot::record::Sent;
use proptest::prelude::*;
use proptest::test_runner::{TestCaseError, TestRunner};

use crate::jackpot::batch::oracle::{batched, play_singly};
use crate::jackpot::batch::support::{batch, play};
use crate::jackpot::fixture::{JackpotFixture, rank, sent, tier};
use crate::support::cases;
use crate::support::fixture::Fields;
use crate::support::prelude::*;

/// Definitions tried.
const CASES: u32 = 50;
/// Entries of a batch, at most.
const ENTRIES: usize = 60;

#[derive(Debug, Clone)]
struct Case {
    definition: Value,
    waiting: Option<Value>,
    funding: u64,
    batches: Vec<Vec<Sent>>,
}

fn one_tier(name: &'static str) -> impl Strategy<Value = Value> {
    let cap = prop::option::of(20..400_u64);
    (0..=500_000_u32, 0..=1_000_000_u32, 0..60_u64, 0..40_u64, cap).prop_map(
        move |(share, reserve_ppm, min_payout, seed, cap)| {
            let seed = cap.map_or(seed, |cap| seed.min(cap));
            let of = json!({"min_payout": min_payout, "seed": seed, "cap": cap, "reserve_ppm": reserve_ppm});
            tier(name, share, &of)
        },
    )
}

/// Odds under which more or fewer entries win; at the smallest `total` every entry wins.
fn odds() -> impl Strategy<Value = Value> {
    (4..40_u64, 0..200_000_u32, 1..150_u64).prop_map(|(total, share, amount)| {
        json!({"total": total, "ranks": [
            rank(1, &json!({"pool": {"tier": "grand", "take": "all"}})),
            rank(2, &json!({"pool": {"tier": "mini", "take": {"share_ppm": share + 1}}})),
            rank(3, &json!({"fixed": {"tier": "grand", "amount": amount}})),
            rank(5, &json!({"pool": {"tier": "mini", "take": "all"}}))]})
    })
}

fn contribution() -> impl Strategy<Value = Value> {
    prop_oneof![
        (0..1_000_000_u32).prop_map(|rate| json!({"rate_ppm": rate})),
        (0..30_u64).prop_map(|amount| json!({"fixed": amount})),
    ]
}

/// Sources with contributions of their own and without; the last one draws for itself.
fn sources() -> impl Strategy<Value = Value> {
    let own = || prop::option::of(contribution());
    (own(), own()).prop_map(|(vip, slot)| {
        json!({"lobby": {}, "vip": {"contribution": vip}, "slot": {"contribution": slot, "draw": "external", "keys": ["game"]}})
    })
}

fn definition() -> impl Strategy<Value = Value> {
    (
        one_tier("grand"),
        one_tier("mini"),
        any::<bool>(),
        contribution(),
        odds(),
        0..6_u32,
        prop::option::of(sources()),
    )
        .prop_map(
            |(grand, mut mini, complete, contribution, odds, max_redraws, sources)| {
                let sources = sources.unwrap_or_else(|| json!({}));
                if complete {
                    let share = grand["share_ppm"].as_u64().expect("a share");
                    mini["share_ppm"] = json!(1_000_000 - share);
                }
                json!({"tiers": [grand, mini], "contribution": contribution, "odds": odds, "max_redraws": max_redraws,
                "min_stake": 0, "sources": sources})
            },
        )
}

/// The same tiers in another order, and one more.
fn waiting() -> impl Strategy<Value = Value> {
    (definition(), one_tier("added"), any::<bool>()).prop_map(|(mut definition, mut added, turned)| {
        let mut tiers = definition["tiers"].as_array().expect("tiers").clone();
        for tier in &mut tiers {
            tier["share_ppm"] = json!(tier["share_ppm"].as_u64().expect("a share") / 2);
        }
        if turned {
            tiers.reverse();
            added["share_ppm"] = json!(100_000);
            tiers.insert(1, added);
        }
        definition["tiers"] = json!(tiers);
        definition
    })
}

fn entry() -> impl Strategy<Value = Sent> {
    let stake = prop_oneof![4 => Just(100_u64), 4 => 0..50_u64, 1 => 0..5_000_u64];
    let ranks = Just(vec![1, 2, 3, 5])
        .prop_shuffle()
        .prop_flat_map(|ranks| (Just(ranks), 0..5_usize, any::<bool>()));
    let seed = prop::option::weighted(0.2, "[a-z]{1,8}");
    (0..5_u8, stake, seed, 0..3_usize, ranks).prop_map(|(player, stake, seed, source, (mut ranks, count, ends))| {
        ranks.truncate(count);
        if ends || ranks.is_empty() {
            ranks.push(0);
        }
        let source = ["lobby", "vip", "slot"][source];
        Sent {
            client_seed: seed.map(|seed| ClientSeed::parse(&seed).expect("a seed")),
            source: Some(Id::parse(source).expect("an id")),
            ranks: (source == "slot").then(|| Ranks::new(ranks).expect("ranks")),
            ..sent(&format!("p{player}"), stake)
        }
    })
}

fn case() -> impl Strategy<Value = Case> {
    let batches = prop::collection::vec(prop::collection::vec(entry(), 1..ENTRIES), 1..3);
    (definition(), prop::option::of(waiting()), 0..300_u64, batches).prop_map(
        |(definition, mut waiting, funding, mut batches)| {
            // Both definitions take what was sent.
            if let Some(waiting) = &mut waiting {
                waiting["sources"] = definition["sources"].clone();
            }
            let redraws = |of: &Value| of["max_redraws"].as_u64().expect("a number");
            let last = waiting.iter().map(redraws).chain([redraws(&definition)]).min();
            let most = usize::try_from(last.unwrap_or_default()).expect("small") + 1;
            let has_sources = definition["sources"].as_object().is_some_and(|all| !all.is_empty());
            for sent in batches.iter_mut().flatten() {
                let ranks = sent.ranks.take().filter(|_| has_sources);
                sent.ranks = ranks.map(|ranks| {
                    let some = ranks.all().iter().copied().take(most);
                    Ranks::new(some.collect()).expect("ranks")
                });
            }
            Case {
                definition,
                waiting,
                funding,
                batches,
            }
        },
    )
}

fn named(case: &Case) -> impl Iterator<Item = (String, &Vec<Sent>)> {
    (0..).map(|i| format!("b{i}")).zip(&case.batches)
}

/// The events of a batch in one form, because callers and scripts may order stakes and meters differently.
fn comparable(events: &[Fields], batch_id: &str) -> Vec<Fields> {
    let sorted = |text: &str, between: char| {
        let mut parts = text.split_terminator(between).map(str::to_owned).collect::<Vec<_>>();
        parts.sort_unstable();
        parts.join(";")
    };
    let one = |fields: &Fields| {
        let mut fields = fields.clone();
        for name in ["at", "n"] {
            fields.remove(name);
        }
        let rows = fields["meters"].split_terminator(';').map(|row| {
            let (tier, changes) = row.split_once(' ').expect("a tier and its changes");
            format!("{tier} {}", sorted(changes, ','))
        });
        fields.insert("meters".to_owned(), sorted(&rows.collect::<Vec<_>>().join("|"), '|'));
        let amounts = fields["amounts"].split('|').map(|amounts| sorted(amounts, ';'));
        let amounts = amounts.collect::<Vec<_>>().join("|");
        fields.insert("amounts".to_owned(), amounts);
        fields
    };
    let of_this = |fields: &&Fields| fields.get("batch").is_some_and(|id| id == batch_id);
    events.iter().filter(of_this).map(one).collect()
}

/// What Redis holds besides events: the state and the meters, without the fields about events and times.
async fn held(fixture: &JackpotFixture) -> BTreeMap<String, String> {
    let mut state = fixture.state().await;
    for field in ["n", "puts", "gen_opened", "gen_looked"] {
        state.remove(field);
    }
    state
}

async fn prepared(fixture: &JackpotFixture, case: &Case) {
    if case.funding > 0 {
        let cap = case.definition["tiers"][0]["cap"].as_u64().unwrap_or(u64::MAX);
        fixture.fund("f", case.funding.min(cap)).await;
    }
    fixture.take("live", 0).await;
    if let Some(waiting) = &case.waiting {
        fixture.define(waiting).await;
    }
}

async fn compare(redis: &[Arc<TestRedis>; 2], case: &Case) {
    let single = JackpotFixture::on(redis[0].clone(), &case.definition).await;
    let whole = JackpotFixture::twin(redis[1].clone(), &single, &case.definition).await;
    prepared(&single, case).await;
    prepared(&whole, case).await;
    for (batch_id, sent) in named(case) {
        play_singly(&single, &batch_id, sent, &BTreeMap::new()).await;
        let batch = batch(&batch_id, sent);
        let played = play(&whole, u64::MAX).enter_batch(&whole.id, &batch, "game").await;
        let played = played.expect("taken");
        let again = play(&whole, u64::MAX).enter_batch(&whole.id, &batch, "game").await;
        let again = again.expect("answered");
        assert!(!played.replayed && again.replayed);
        assert_eq!(
            (&played.record, format!("{:?}", played.winners)),
            (&again.record, format!("{:?}", again.winners))
        );
    }
    let (singles, wholes) = (single.stream().await, whole.stream().await);
    for (batch_id, _) in named(case) {
        let expected = batched(&singles, &batch_id);
        assert_eq!(comparable(&wholes, &batch_id), comparable(&expected, &batch_id));
    }
    assert_eq!(held(&single).await, held(&whole).await);
    assert_eq!(single.snapshot().await.meters, whole.snapshot().await.meters);
    whole.assert_rebuilds().await;
}

#[test]
fn a_batch_is_exactly_its_entries_one_after_the_other() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    // The removal of a container needs the runtime, also at the end of this test.
    let _entered = runtime.enter();
    let redis = [(), ()].map(|()| Arc::new(runtime.block_on(TestRedis::own(&[]))));
    let result = TestRunner::new(cases(CASES)).run(&case(), |case| {
        let tried = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            runtime.block_on(compare(&redis, &case));
        }));
        tried.map_err(|panic| {
            let text = panic.downcast_ref::<String>().cloned();
            TestCaseError::fail(text.unwrap_or_else(|| "a panic".to_owned()))
        })
    });
    if let Err(error) = result {
        panic!("{error}");
    }
}
