//! `lua/jackpot/define.lua`, `status.lua`, `adjust.lua` and `rotate.lua` on a real Redis.

use jackpot::ids::Id;
use jackpot::jackpot::error::PlayError;
use jackpot::jackpot::scripts::{Adjust, Rotate, Rotated, ScriptError, Wanted};
use jackpot::jackpot::view::Status;
use jackpot::money::{MAX_MINOR, Minor};
use serde_json::{Value, json};

use crate::bench::{Bench, definition, document, funding, operator, tier};

async fn put(bench: &Bench, change: &Value, wanted: Wanted) -> Result<bool, PlayError> {
    let definition = definition(document(bench.id.as_str(), change));
    bench
        .operate
        .define(&bench.id, &definition, wanted, Status::Open, &operator())
        .await
}

fn rule_of(result: Result<impl std::fmt::Debug, PlayError>) -> String {
    match result {
        Err(PlayError::Invalid(wrong)) => wrong[0].field.clone(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn the_same_definition_again_changes_nothing() {
    let bench = Bench::with(&json!({})).await;
    let before = bench.dump().await;
    assert!(!put(&bench, &json!({}), Wanted::Any).await.expect("done"));
    assert_eq!(bench.dump().await, before);
}

#[tokio::test]
async fn a_definition_is_put_only_on_the_version_that_was_expected() {
    let bench = Bench::with(&json!({})).await;
    let other = json!({"name": "other"});
    let before = bench.dump().await;
    for wanted in [Wanted::Absent, Wanted::Version(7)] {
        assert!(matches!(
            put(&bench, &other, wanted).await,
            Err(PlayError::PreconditionFailed)
        ));
    }
    assert_eq!(bench.dump().await, before);
    for wanted in [Wanted::Version(1), Wanted::Present] {
        assert!(put(&bench, &other, wanted).await.is_ok());
    }
    let nobody = Id::parse("nobody-at-all").expect("an id");
    let definition = definition(document("nobody-at-all", &json!({})));
    let put = bench
        .operate
        .define(&nobody, &definition, Wanted::Version(1), Status::Open, &operator())
        .await;
    assert!(matches!(put, Err(PlayError::PreconditionFailed)), "{put:?}");
}

#[tokio::test]
async fn what_touches_no_money_applies_to_a_live_pool_and_what_does_waits() {
    let bench = Bench::with(&json!({})).await;
    bench.take("e", 0).await;
    put(&bench, &json!({"name": "renamed", "max_stake": 5}), Wanted::Any)
        .await
        .expect("done");
    let snapshot = bench.snapshot().await;
    assert_eq!((snapshot.version, snapshot.waiting), (2, None));
    put(&bench, &json!({"contribution": {"fixed": 2}}), Wanted::Any)
        .await
        .expect("done");
    put(&bench, &json!({"contribution": {"fixed": 3}}), Wanted::Any)
        .await
        .expect("done");
    let snapshot = bench.snapshot().await;
    assert_eq!(
        (snapshot.version, snapshot.last_version),
        (2, 4),
        "the last PUT replaces the one that waited"
    );
    assert!(snapshot.waiting.expect("waits").contains("\"fixed\":3"));
    bench.fund("f", 100).await;
    bench.take("w", 1).await;
    assert_eq!(bench.snapshot().await.version, 4);
    assert_eq!(bench.take("next", 0).await.contributions[0].amount, 3);
    bench.assert_rebuilds().await;
}

#[tokio::test]
async fn a_share_or_a_fixed_prize_lets_nothing_in() {
    let bench = Bench::with(&json!({})).await;
    bench.fund("f", 1_000).await;
    put(&bench, &json!({"contribution": {"fixed": 2}}), Wanted::Any)
        .await
        .expect("done");
    bench.take("half", 2).await;
    bench.take("seven", 3).await;
    assert_eq!(bench.snapshot().await.version, 1);
    bench.take("all", 1).await;
    assert_eq!(bench.snapshot().await.version, 2);
}

#[tokio::test]
async fn putting_the_definition_in_force_again_takes_the_waiting_one_back() {
    let bench = Bench::with(&json!({})).await;
    bench.take("e", 0).await;
    put(&bench, &json!({"contribution": {"fixed": 2}}), Wanted::Any)
        .await
        .expect("done");
    put(&bench, &json!({}), Wanted::Any).await.expect("done");
    let snapshot = bench.snapshot().await;
    assert_eq!((snapshot.waiting, snapshot.version), (None, 3));
    assert!(snapshot.definition.contains("\"fixed\":1"));
    bench.assert_rebuilds().await;
}

#[tokio::test]
async fn tiers_are_added_but_not_removed_and_the_currency_stays() {
    let bench = Bench::with(&json!({})).await;
    let two = json!([tier("mini", 400_000, &json!({})), tier("grand", 600_000, &json!({}))]);
    put(&bench, &json!({"currency": "EUR"}), Wanted::Any)
        .await
        .expect("no money has been there");
    put(&bench, &json!({"currency": "EUR", "tiers": two}), Wanted::Any)
        .await
        .expect("done");
    bench.take("e", 0).await;
    let meters = bench.snapshot().await.meters;
    assert_eq!(
        meters.iter().map(|m| m.tier.to_string()).collect::<Vec<_>>(),
        ["mini", "grand"]
    );
    let before = bench.dump().await;
    assert_eq!(
        rule_of(put(&bench, &json!({"currency": "EUR"}), Wanted::Any).await),
        "tiers"
    );
    assert_eq!(
        rule_of(put(&bench, &json!({"tiers": two}), Wanted::Any).await),
        "currency"
    );
    assert_eq!(bench.dump().await, before);
    bench.assert_rebuilds().await;
}

#[tokio::test]
async fn a_tier_that_waits_is_empty_until_its_definition_is_in_force() {
    let bench = Bench::with(&json!({})).await;
    bench.fund("f", 200).await;
    let two = json!({"tiers": [tier("mini", 500_000, &json!({})), tier("grand", 500_000, &json!({}))]});
    put(&bench, &two, Wanted::Any).await.expect("done");
    assert_eq!(bench.snapshot().await.meters.len(), 1);
    bench.take("w", 1).await;
    let record = bench.take("e", 0).await;
    assert_eq!(record.contributions.len(), 2);
    bench.take("e2", 0).await;
    let pools = bench.snapshot().await.meters.iter().map(|m| m.pool).collect::<Vec<_>>();
    assert_eq!(pools, [1, 1], "two entries of one unit, half each");
    bench.assert_rebuilds().await;
}

#[tokio::test]
async fn a_closed_jackpot_stays_closed() {
    let bench = Bench::with(&json!({})).await;
    bench.status(Status::Closed).await;
    bench.status(Status::Closed).await;
    let before = bench.dump().await;
    for wanted in [Status::Open, Status::Paused] {
        let again = bench
            .operate
            .set_status(&bench.id, wanted, "a test".to_owned(), &operator())
            .await;
        assert!(matches!(again, Err(PlayError::Stopped(Status::Closed))), "{again:?}");
    }
    assert!(matches!(
        put(&bench, &json!({"name": "x"}), Wanted::Any).await,
        Err(PlayError::Stopped(Status::Closed))
    ));
    assert_eq!(bench.dump().await, before);
}

#[tokio::test]
async fn an_adjustment_is_made_once_and_its_id_means_one_thing() {
    let bench = Bench::with(&json!({})).await;
    bench.fund("a", 500).await;
    let before = bench.dump().await;
    assert!(
        !bench
            .operate
            .adjust(&bench.id, &funding("a", 500))
            .await
            .expect("done")
            .0
    );
    let reused = bench.operate.adjust(&bench.id, &funding("a", 501)).await;
    assert!(matches!(reused, Err(PlayError::AdjustmentIdReused(_))));
    assert_eq!(bench.dump().await, before);
    bench.assert_rebuilds().await;
}

#[tokio::test]
async fn a_meter_is_never_below_zero_above_its_cap_or_past_the_largest_amount() {
    let bench = Bench::with(&json!({"tiers": [tier("grand", 1_000_000, &json!({"cap": 50}))]})).await;
    bench.fund("a", 50).await;
    let adjust = async |change: Adjust| bench.operate.adjust(&bench.id, &change).await;
    let out = Adjust {
        from: Some("pool"),
        to: None,
        ..funding("b", 51)
    };
    let before = bench.dump().await;
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
    assert_eq!(bench.dump().await, before);
    let moved = Adjust {
        from: Some("pool"),
        to: Some("reserve"),
        ..funding("c", 20)
    };
    assert!(adjust(moved).await.expect("done").0);
    assert_eq!(bench.money().await, (30, 20, 0));
    let taken = Adjust {
        amount: Minor::try_from(30).expect("in range"),
        ..out
    };
    assert!(adjust(taken).await.expect("done").0);
    assert_eq!(bench.snapshot().await.meters[0].funded, 20);
    bench.assert_rebuilds().await;
}

#[tokio::test]
async fn an_epoch_is_closed_once_by_callers_who_saw_it_open() {
    let bench = Bench::with(&json!({})).await;
    bench.take("e", 0).await;
    let (known, view) = bench.fresh().await;
    let next = bench.operate.views.seed(&bench.id, 2).commitment();
    let by_retention = Rotate::Retention { retention_s: 3_600 };
    let rotate = async |why: &Rotate| {
        jackpot::jackpot::scripts::rotate(&bench.store, &known.keys, &known.fence(&view), &next, why).await
    };
    let before = bench.dump().await;
    assert!(matches!(rotate(&by_retention).await.expect("a reply").1, Rotated::Early(ms) if ms <= 3_600_000));
    assert_eq!(bench.dump().await, before);
    let by_hand = Rotate::Operator {
        reason: "a test".to_owned(),
        who: "tester".to_owned(),
        request_id: "r".to_owned(),
    };
    assert_eq!(rotate(&by_hand).await.expect("a reply").1, Rotated::Opened(2));
    assert!(matches!(rotate(&by_hand).await, Err(ScriptError::Stale)));
    let epochs = bench.operate.epochs(&bench.id).await.expect("readable");
    assert_eq!(
        epochs
            .iter()
            .map(|e| (e.epoch, e.closed_ms.is_some()))
            .collect::<Vec<_>>(),
        [(1, true), (2, false)]
    );
    assert_eq!(epochs[1].commitment, next);
    assert_eq!(bench.take("e2", 0).await.epoch, 2);
    bench.assert_rebuilds().await;
}

#[tokio::test]
async fn definitions_are_kept_as_long_as_an_entry_is_remembered_under_them() {
    let bench = Bench::with(&json!({})).await;
    let versions = async || {
        let key = &bench.operate.views.known(&bench.id).keys.definitions;
        let mut versions: Vec<u64> = bench.raw(redis::cmd("HKEYS").arg(key)).await;
        versions.sort_unstable();
        versions
    };
    let rotate = async || {
        bench.operate.views.refresh(&bench.id).await.expect("readable");
        bench.operate.rotate_by_retention(&bench.id, 0).await.expect("done")
    };
    bench.take("under-1", 0).await;
    put(&bench, &json!({"name": "two"}), Wanted::Any).await.expect("done");
    bench.take("under-2", 0).await;
    assert_eq!(rotate().await, Some(Rotated::Opened(2)));
    assert_eq!(versions().await, [1, 2]);
    put(&bench, &json!({"name": "three"}), Wanted::Any).await.expect("done");
    assert_eq!(rotate().await, Some(Rotated::Opened(3)));
    assert_eq!(
        versions().await,
        [2, 3],
        "the entries under 1 are forgotten, and so is it"
    );
    bench.assert_rebuilds().await;
}
