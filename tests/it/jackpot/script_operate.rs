//! `lua/jackpot/status.lua`, `adjust.lua` and `rotate.lua` on a real Redis.

use jackpot::jackpot::error::PlayError;
use jackpot::jackpot::scripts::{Adjust, Rotate, Rotated, ScriptError, Wanted};
use jackpot_api::jackpot::Status;
use jackpot_core::ids::Id;
use jackpot_core::mark::Mark;
use jackpot_core::money::{MAX_MINOR, Minor};

use crate::jackpot::fixture::{JackpotFixture, funding, operator, put, rule_of, tier};
use crate::support::prelude::*;

#[tokio::test]
async fn a_redis_that_lost_the_jackpot_or_some_of_its_events_is_not_played_on() {
    let fixture = JackpotFixture::with(&json!({})).await;
    fixture.take("e", 0).await;
    let keys = fixture.operate.views.registry.known(&fixture.id).keys.clone();
    let state: Vec<u8> = fixture.raw(redis::cmd("DUMP").arg(&keys.state)).await;
    fixture.raw::<()>(redis::cmd("DEL").arg(&keys.state)).await;
    let lost = fixture.operate.views.snapshot(&fixture.id).await;
    assert!(
        matches!(lost, Err(PlayError::Script(ScriptError::Behind { at: Mark::ZERO, .. }))),
        "{lost:?}"
    );
    fixture
        .raw::<()>(redis::cmd("RESTORE").arg(&keys.state).arg(0).arg(state))
        .await;
    let again = fixture.operate.views.view(&fixture.id).await;
    let suspended = matches!(again, Err(PlayError::Script(ScriptError::Behind { .. })));
    assert!(suspended, "this instance stays away, whatever Redis says now");
}

#[tokio::test]
async fn a_closed_jackpot_stays_closed() {
    let fixture = JackpotFixture::with(&json!({})).await;
    fixture.status(Status::Closed).await;
    fixture.status(Status::Closed).await;
    let before = fixture.dump().await;
    for wanted in [Status::Open, Status::Paused] {
        let again = fixture
            .operate
            .set_status(&fixture.id, wanted, "a test".to_owned(), &operator())
            .await;
        assert!(matches!(again, Err(PlayError::Stopped(Status::Closed))), "{again:?}");
    }
    assert!(matches!(
        put(&fixture, &json!({"name": "x"}), Wanted::Any).await,
        Err(PlayError::Stopped(Status::Closed))
    ));
    assert_eq!(fixture.dump().await, before);
}

#[tokio::test]
async fn an_adjustment_is_made_once_and_its_id_means_one_thing() {
    let fixture = JackpotFixture::with(&json!({})).await;
    fixture.fund("a", 500).await;
    let before = fixture.dump().await;
    assert!(
        !fixture
            .operate
            .adjust(&fixture.id, &funding("a", 500))
            .await
            .expect("done")
            .now
    );
    let reused = fixture.operate.adjust(&fixture.id, &funding("a", 501)).await;
    assert!(matches!(reused, Err(PlayError::AdjustmentIdReused(_))));
    assert_eq!(fixture.dump().await, before);
    fixture.assert_rebuilds().await;
}

#[tokio::test]
async fn a_meter_is_never_below_zero_above_its_cap_or_past_the_largest_amount() {
    let fixture = JackpotFixture::with(&json!({"tiers": [tier("grand", 1_000_000, &json!({"cap": 50}))]})).await;
    fixture.fund("a", 50).await;
    let adjust = async |change: Adjust| fixture.operate.adjust(&fixture.id, &change).await;
    let out = Adjust {
        from: Some("pool"),
        to: None,
        ..funding("b", 51)
    };
    let before = fixture.dump().await;
    assert_eq!(rule_of(adjust(out.clone()).await), "amount");
    assert_eq!(rule_of(adjust(funding("b", 1)).await), "amount");
    let tier = Id::parse("mini").expect("an id");
    assert_eq!(
        rule_of(
            adjust(Adjust {
                tier,
                ..funding("b", 1)
            })
            .await
        ),
        "tier"
    );
    let most = Minor::try_from(MAX_MINOR).expect("in range");
    let overflow = Adjust {
        to: Some("overflow"),
        amount: most,
        ..funding("b", 1)
    };
    assert!(matches!(adjust(overflow).await, Err(PlayError::AmountTooLarge)));
    assert_eq!(fixture.dump().await, before);
    let moved = Adjust {
        from: Some("pool"),
        to: Some("reserve"),
        ..funding("c", 20)
    };
    assert!(adjust(moved).await.expect("done").now);
    assert_eq!(fixture.money().await, (30, 20, 0));
    let taken = Adjust {
        amount: Minor::try_from(30).expect("in range"),
        ..out
    };
    assert!(adjust(taken).await.expect("done").now);
    assert_eq!(fixture.snapshot().await.meters[0].funded, 20);
    fixture.assert_rebuilds().await;
}

#[tokio::test]
async fn an_epoch_is_closed_once_by_callers_who_saw_it_open() {
    let fixture = JackpotFixture::with(&json!({})).await;
    fixture.take("e", 0).await;
    let (known, view) = fixture.fresh().await;
    let next = fixture.operate.views.opening(&fixture.id, 2).expect("an opening");
    let by_retention = Rotate::Retention { retention_s: 3_600 };
    let rotate = async |why: &Rotate| {
        jackpot::jackpot::scripts::rotate(&fixture.store, &known.keys, &known.fence(&view), &next, why).await
    };
    assert_eq!(rotate(&by_retention).await.expect("a reply").1, Rotated::Raised(0));
    let before = fixture.dump().await;
    let early = rotate(&by_retention).await.expect("a reply").1;
    assert!(
        matches!(early, Rotated::Early { left_ms, retention_s: 3_600 } if left_ms <= 3_600_000),
        "{early:?}"
    );
    let after = fixture.dump().await;
    let changed: Vec<_> = before.keys().filter(|key| after[*key] != before[*key]).collect();
    assert_eq!(changed, [&known.keys.state], "it looks, and that is all");
    let by_hand = Rotate::Operator {
        reason: "a test".to_owned(),
        by: operator(),
    };
    assert_eq!(rotate(&by_hand).await.expect("a reply").1, Rotated::Opened(2));
    assert!(matches!(rotate(&by_hand).await, Err(ScriptError::Stale)));
    let epochs = fixture.operate.epochs(&fixture.id).await.expect("readable");
    assert_eq!(
        epochs
            .iter()
            .map(|e| (e.epoch, e.closed_ms.is_some()))
            .collect::<Vec<_>>(),
        [(1, true), (2, false)]
    );
    assert_eq!(epochs[1].opening, next);
    assert_eq!(fixture.take("e2", 0).await.epoch, 2);
    fixture.assert_rebuilds().await;
}
