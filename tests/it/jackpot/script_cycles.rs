//! `lua/jackpot/cycles.lua` on a real Redis: its arithmetic beside that of the service, and the scripts that may end a cycle
//! when their caller did not bring the next one.

use jackpot::jackpot::scripts::LUA;
use jackpot::jackpot::scripts::{self, Fence, Give, Granted, Rotate, ScriptError, SetStatus};
use jackpot::store::Script;
use jackpot_api::jackpot::Status;
use jackpot_core::ids::Id;
use jackpot_core::jackpot::record::Reason;

use crate::jackpot::fixture::{JackpotFixture, drawn, operator, rank, tier};
use crate::jackpot::must_hit::{cycles, open};
use crate::support::prelude::*;

/// The generator `SplitMix64`.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut word = *state;
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

/// The caller sends words, and the script takes the rest of the division by a bound that only it knows.
#[tokio::test]
async fn the_index_of_words_is_exact_for_every_bound_and_refuses_the_words_above_its_multiples() {
    let body = "
        local found = {}
        for i = 2, #ARGV do
          found[#found + 1] = num(index_of_words(ARGV[i], tonumber(ARGV[1])))
        end
        return found";
    let parts = [LUA.text("subject/events"), LUA.text("cycles"), body];
    let script = Script::new("index_of_words", "no-writes", &parts);
    let redis = TestRedis::start().await;
    let mut connection = redis.connection().await;
    let mut state = 1;
    let mut bounds = vec![
        1,
        2,
        3,
        4,
        7,
        59,
        64,
        86_400,
        u64::from(u32::MAX),
        1 << 32,
        (1 << 53) - 2,
        (1 << 53) - 1,
    ];
    bounds.extend((0..20).map(|_| (next(&mut state) >> 11 >> (next(&mut state) % 50)).max(1)));
    for bound in bounds {
        let rejected = (u64::MAX % bound + 1) % bound;
        let first_refused = u64::MAX - rejected;
        let mut words = vec![0, 1, bound - 1, bound, bound + 1, (1 << 32) - 1, 1 << 32, 1 << 63];
        words.extend([
            first_refused - 1,
            first_refused,
            first_refused.saturating_add(1),
            u64::MAX,
        ]);
        words.extend((0..20).map(|_| next(&mut state)));
        // The second of each two is one that no bound refuses.
        let sent = words
            .iter()
            .map(|word| format!("{}.{}/0.12345", word >> 32, word & u64::from(u32::MAX)));
        let mut eval = redis::cmd("EVAL");
        eval.arg(script.sources()[0])
            .arg(0)
            .arg(bound)
            .arg(sent.collect::<Vec<_>>());
        let found: Vec<u64> = eval.query_async(&mut connection).await.expect("a reply");
        let expected = words.iter().map(|word| {
            if *word <= first_refused {
                word % bound
            } else {
                12_345 % bound
            }
        });
        assert_eq!(found, expected.collect::<Vec<_>>(), "{bound} {words:?}");
    }
}

/// Without this no call that they make could be answered: the next cycle has a commitment that only the caller knows.
#[tokio::test]
async fn no_script_that_may_end_a_cycle_does_anything_without_the_next_one() {
    let all = json!({"pool": {"tier": "grand", "take": "all"}});
    let rule = json!({"amount": {"low": 500, "high": 600}, "time": {"after_s": 80_000, "within_s": 86_400}});
    let change = json!({
        "tiers": [tier("grand", 1_000_000, &json!({"must_hit_by": rule, "min_payout": 100}))],
        "odds": {"total": 1_000, "ranks": [rank(1, &all), rank(2, &all)]},
    });
    let fixture = JackpotFixture::with(&change).await;
    fixture.take("waits", 1).await;
    let lacks = async || {
        let (known, view) = fixture.fresh().await;
        let prepared = String::new();
        (
            Fence {
                prepared,
                ..known.fence(&view)
            },
            view,
        )
    };
    let before = fixture.dump().await;
    let (fence, view) = lacks().await;
    let (tiers, prize) = (
        view.definition.tiers(),
        view.definition.money_prize(2).expect("a prize").clone(),
    );
    let finished = scripts::finish(&fixture.store, &fixture.keys, &fence, tiers, "waits", 1).await;
    assert!(matches!(finished, Err(ScriptError::Stale)), "{finished:?}");
    let claimed = scripts::claim(
        &fixture.store,
        &fixture.keys,
        &fence,
        tiers,
        drawn("waits", 1, 2),
        &prize,
    )
    .await;
    assert!(matches!(claimed, Err(ScriptError::Stale)), "{claimed:?}");
    let (coffee, refused) = (
        Id::parse("coffee").expect("an id"),
        Granted::Refused(Reason::OutOfStock),
    );
    let recorded = scripts::record_coupon(
        &fixture.store,
        &fixture.keys,
        &fence,
        tiers,
        drawn("waits", 1, 2),
        &coffee,
        &refused,
    )
    .await;
    assert!(matches!(recorded, Err(ScriptError::Stale)), "{recorded:?}");
    assert_eq!(fixture.dump().await, before);

    fixture.finish("waits", 1).await;
    fixture.status(Status::Paused).await;
    let before = fixture.dump().await;
    let (fence, view) = lacks().await;
    let tiers = view.definition.tiers();
    let resume = SetStatus::new(Status::Open, "a test".to_owned(), &operator());
    let resumed = scripts::set_status(&fixture.store, &fixture.keys, &fence, tiers, &resume).await;
    assert!(matches!(resumed, Err(ScriptError::Stale)), "{resumed:?}");
    let (grand, transfer_id) = (Id::parse("grand").expect("an id"), Id::parse("t").expect("an id"));
    let mut wish = Give {
        transfer_id: &transfer_id,
        digest: "content",
        to: &grand,
        tiers: &[(grand.clone(), grand.clone())],
        expected: None,
        is_approval: false,
        reason: "a test",
        by: &operator(),
    };
    let looked = scripts::transfer_give(&fixture.store, &fixture.keys, &fence, tiers, &wish).await;
    let Ok((_, scripts::Given::Holds(holds))) = looked else {
        panic!("{looked:?}");
    };
    wish.expected = Some(&holds);
    let given = scripts::transfer_give(&fixture.store, &fixture.keys, &fence, tiers, &wish).await;
    assert!(matches!(given, Err(ScriptError::Stale)), "{given:?}");
    assert_eq!(fixture.dump().await, before);
    assert_eq!((open(&fixture).await.cycle, cycles(&fixture).await.rows.len()), (0, 1));
}

/// The next cycles that it brings are those of another definition.
#[tokio::test]
async fn a_rotation_ends_no_cycle_without_the_next_one_of_its_own_rule() {
    let ruled = |low: u64| {
        let rule = json!({"must_hit_by": {"amount": {"low": low, "high": 600}}});
        json!({"tiers": [tier("grand", 1_000_000, &rule)]})
    };
    let (fixture, other) = (
        JackpotFixture::with(&ruled(500)).await,
        JackpotFixture::with(&ruled(400)).await,
    );
    let (known, view) = fixture.fresh().await;
    let (others, others_view) = other.fresh().await;
    let before = fixture.dump().await;
    let next = fixture.operate.views.opening(&fixture.id, view.epoch + 1);
    let why = Rotate::Operator {
        reason: "a test".to_owned(),
        by: operator(),
    };
    let (next, theirs) = (next.expect("an opening"), others.fence(&others_view).prepared);
    let cycles = Some((view.definition.tiers(), theirs.as_str()));
    let (store, keys) = (&fixture.store, &fixture.keys);
    let rotated = scripts::rotate_with(store, keys, &known.fence(&view), &next, &why, cycles).await;
    assert!(matches!(rotated, Err(ScriptError::Stale)), "{rotated:?}");
    assert_eq!(fixture.dump().await, before);
}
