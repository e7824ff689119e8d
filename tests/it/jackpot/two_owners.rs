//! Money that leaves a jackpot needs two owners: what waits, what small steps add up to, and what `verify` finds.

use jackpot::jackpot::scripts::{
    Adjust, Adjusted, Approves, Expect, Expected, Give, Given, Holds, Withdrawn, adjust, approve_adjustment,
    transfer_expect, transfer_give, withdraw,
};
use jackpot::operator::Operator;
use jackpot::proof::verify::Place;
use jackpot_api::jackpot::Status;
use jackpot_api::ledger::AdjustmentState;
use jackpot_core::currency::Currency;
use jackpot_core::ids::Id;
use jackpot_core::jackpot::leaving::Leaving;
use jackpot_core::money::Minor;

use crate::jackpot::fixture::{JackpotFixture, funding, operator};
use crate::jackpot::transfer::Pair;
use crate::proof::names;
use crate::proof::story::{Story, export};
use crate::support::prelude::*;

fn id(text: &str) -> Id {
    Id::parse(text).expect("an id")
}

fn key(owner: &str) -> Operator {
    Operator {
        who: format!("key-of-{owner}"),
        owner: owner.to_owned(),
        request_id: "r".to_owned(),
    }
}

/// Money that leaves the pool.
fn out(adjustment_id: &str, owner: &str, amount: u64) -> Adjust {
    Adjust {
        from: Some("pool"),
        to: None,
        by: Operator {
            owner: owner.to_owned(),
            ..operator()
        },
        ..funding(adjustment_id, amount)
    }
}

/// A jackpot with 5,000 in its pool, where 1,000 need two owners.
async fn guarded() -> JackpotFixture {
    let limited = json!({"settlement": "tracked", "approval_above": 1000});
    let fixture = JackpotFixture::with(&limited).await;
    fixture.fund("in", 5000).await;
    fixture
}

async fn ask(fixture: &JackpotFixture, wish: Adjust) -> Adjusted {
    let (known, view) = fixture.fresh().await;
    let (fence, tiers) = (known.fence(&view), view.definition.tiers());
    let asked = adjust(&fixture.store, &known.keys, &fence, tiers, &wish).await;
    asked.expect("a reply").1
}

async fn approve(fixture: &JackpotFixture, adjustment_id: &str, owner: &str) -> Adjusted {
    let (known, view) = fixture.fresh().await;
    let (fence, tiers, by) = (known.fence(&view), view.definition.tiers(), key(owner));
    let wish = Approves {
        id: &id(adjustment_id),
        reason: "a test",
        by: &by,
    };
    let approved = approve_adjustment(&fixture.store, &known.keys, &fence, tiers, &wish).await;
    approved.expect("a reply").1
}

async fn take_back(fixture: &JackpotFixture, of: Leaving) -> Withdrawn {
    let (known, view) = fixture.fresh().await;
    let (fence, by) = (known.fence(&view), key("bob"));
    let withdrawn = withdraw(&fixture.store, &known.keys, &fence, &of, "a test", &by).await;
    withdrawn.expect("a reply").1
}

fn is_done(adjusted: &Adjusted) -> bool {
    matches!(adjusted, Adjusted::Done { now: true, .. })
}

fn is_held(adjusted: &Adjusted) -> bool {
    matches!(adjusted, Adjusted::Held { now: true, .. })
}

#[tokio::test]
async fn what_leaves_from_the_limit_on_is_made_once_by_another_owner_or_never() {
    let fixture = guarded().await;
    for (adjustment_id, amount) in [("a", 1000), ("b", 4500), ("c", 2000)] {
        assert!(is_held(&ask(&fixture, out(adjustment_id, "anna", amount)).await));
    }
    let before = fixture.dump().await;
    let again = ask(&fixture, out("a", "anna", 1000)).await;
    assert!(matches!(again, Adjusted::Held { now: false, .. }), "{again:?}");
    assert_eq!(ask(&fixture, out("a", "anna", 1001)).await, Adjusted::Reused);
    assert_eq!(ask(&fixture, out("d", "anna", 5001)).await, Adjusted::BelowZero(5000));
    assert_eq!(approve(&fixture, "a", "anna").await, Adjusted::SameOwner);
    assert_eq!(approve(&fixture, "unknown", "carol").await, Adjusted::Missing);
    assert_eq!(approve(&fixture, "in", "carol").await, Adjusted::NotHeld);
    assert_eq!(fixture.dump().await, before);
    assert_eq!(fixture.money().await.0, 5000, "what waits moves nothing");

    assert!(is_done(&approve(&fixture, "c", "carol").await));
    let repeat = approve(&fixture, "c", "carol").await;
    assert!(matches!(repeat, Adjusted::Done { now: false, .. }), "{repeat:?}");
    assert_eq!(approve(&fixture, "b", "carol").await, Adjusted::BelowZero(3000));
    let of = |adjustment_id: &str| Leaving::Adjustment(id(adjustment_id));
    assert_eq!(take_back(&fixture, of("a")).await, Withdrawn::Done);
    let event = fixture.last_event("withdraw").await;
    let told = ["adjustment", "owner", "reason", "who", "request_id"].map(|field| event[field].as_str());
    assert_eq!(told, ["a", "bob", "a test", "key-of-bob", "r"]);
    assert_eq!(take_back(&fixture, of("c")).await, Withdrawn::Left);
    assert_eq!(take_back(&fixture, of("unknown")).await, Withdrawn::Missing);
    for owner in ["carol", "bob"] {
        let ended = approve(&fixture, "a", owner).await;
        assert!(matches!(ended, Adjusted::Withdrawn(_)), "{ended:?}");
    }
    let repeat = fixture.operate.adjust(&fixture.id, &out("a", "anna", 1000)).await;
    assert_eq!(repeat.expect("a repeat").state, AdjustmentState::Withdrawn);
    assert_eq!(fixture.money().await.0, 3000);
    fixture.assert_rebuilds().await;
}

#[tokio::test]
async fn small_steps_of_one_owner_add_up_to_the_limit() {
    let fixture = guarded().await;
    for (adjustment_id, owner, amount, is_alone) in [
        ("a", "anna", 600, true),
        ("b", "anna", 400, false),
        ("c", "anna", 399, true),
        ("d", "anna", 1, false),
        ("e", "bob", 999, true),
    ] {
        let adjusted = ask(&fixture, out(adjustment_id, owner, amount)).await;
        assert_eq!(
            (is_done(&adjusted), is_held(&adjusted)),
            (is_alone, !is_alone),
            "{adjustment_id}"
        );
    }
    // What another owner approved does not count as taken alone, and a move within the jackpot never does.
    assert!(is_done(&approve(&fixture, "b", "carol").await));
    let moved = Adjust {
        to: Some("overflow"),
        ..out("f", "anna", 2000)
    };
    assert!(is_done(&ask(&fixture, moved).await));
    let took: String = fixture.field("took").await;
    let took: Vec<_> = took.split(';').filter_map(|row| row.split_once(' ')).collect();
    assert_eq!(
        took.iter().map(|row| row.0).collect::<Vec<_>>(),
        ["anna", "anna", "bob"]
    );
    fixture.assert_rebuilds().await;
}

/// One call of the script that gives.
async fn give(pair: &Pair, owner: &str, holds: Option<&Holds>, is_approval: bool) -> Given {
    let (known, view) = pair.source.fresh().await;
    let by = key(owner);
    let tiers = [(id("grand"), id("grand"))];
    let wish = Give {
        transfer_id: &id("t"),
        digest: if is_approval { "" } else { "content" },
        to: &pair.target.id,
        tiers: if is_approval { &[] } else { &tiers },
        expected: holds,
        is_approval,
        reason: "a test",
        by: &by,
    };
    let (fence, own) = (known.fence(&view), view.definition.tiers());
    let given = transfer_give(&pair.source.store, &known.keys, &fence, own, &wish).await;
    given.expect("a reply").1
}

async fn look(pair: &Pair, owner: &str, is_approval: bool) -> Holds {
    match give(pair, owner, None, is_approval).await {
        Given::Holds(holds) => holds,
        other => panic!("{other:?}"),
    }
}

async fn expect(pair: &Pair, holds: &Holds) -> Expected {
    let (known, view) = pair.target.fresh().await;
    let wish = Expect {
        source: &pair.source.id,
        transfer_id: &id("t"),
        digest: "digest",
        parts: &holds.parts,
        currency: Currency::parse("KRW").expect("a code"),
        limit: holds.limit,
        looks: holds.waits,
        reason: "a test",
        by: &key("anna"),
    };
    let (fence, own) = (known.fence(&view), view.definition.tiers());
    let expected = transfer_expect(&pair.target.store, &known.keys, &fence, own, &wish).await;
    expected.expect("a reply").1
}

#[tokio::test]
async fn a_large_transfer_waits_and_gives_at_most_what_was_asked_for() {
    let limited = json!({"settlement": "tracked", "approval_above": 1000});
    let pair = Pair::with(&limited, &limited).await;
    pair.source.fund("in", 1500).await;
    pair.source.status(Status::Paused).await;
    let holds = look(&pair, "anna", false).await;
    assert!(holds.waits && holds.limit == Minor::try_from(1000).ok(), "{holds:?}");
    let before = pair.target.dump().await;
    assert_eq!(expect(&pair, &holds).await, Expected::Made);
    assert_eq!(pair.target.dump().await, before, "a look makes no room");
    let held = give(&pair, "anna", Some(&holds), false).await;
    assert!(matches!(held, Given::Held { now: true, .. }), "{held:?}");
    assert_eq!(pair.source.money().await.0, 1500);
    assert_eq!(give(&pair, "anna", None, true).await, Given::SameOwner);
    pair.source.fund("more", 1).await;
    assert_eq!(give(&pair, "carol", None, true).await, Given::More);
    assert!(is_done(&ask(&pair.source, out("less", "bob", 1)).await));

    let approved = look(&pair, "carol", true).await;
    assert!(!approved.waits);
    assert_eq!(expect(&pair, &approved).await, Expected::Made);
    let given = give(&pair, "carol", Some(&approved), true).await;
    assert!(matches!(given, Given::Done { now: true, .. }), "{given:?}");
    assert_eq!(pair.source.money().await.0, 0);
    assert_eq!(
        take_back(&pair.source, Leaving::Transfer(id("t"))).await,
        Withdrawn::Left
    );
    pair.source.assert_rebuilds().await;
    let report = export(&pair.source).await.verify();
    assert!(report.is_right(), "{report}");
}

#[tokio::test]
async fn money_goes_only_where_as_much_needs_two_owners() {
    let limited = |settlement: &str, above: Option<u64>| json!({"settlement": settlement, "approval_above": above});
    let (same, lower) = (limited("tracked", Some(1000)), limited("tracked", Some(999)));
    for (target, is_right) in [
        (same.clone(), true),
        (lower, true),
        (limited("tracked", Some(1001)), false),
        (limited("tracked", None), false),
        (limited("none", Some(1000)), false),
        (json!({}), false),
    ] {
        let pair = Pair::with(&same, &target).await;
        pair.source.fund("in", 10).await;
        pair.source.status(Status::Paused).await;
        let holds = look(&pair, "anna", false).await;
        let expected = if is_right { Expected::Made } else { Expected::Weaker };
        assert_eq!(expect(&pair, &holds).await, expected, "{target}");
    }
}

/// A story of small and large steps.
async fn story() -> Story {
    let fixture = guarded().await;
    for (adjustment_id, amount) in [("a", 600), ("b", 1000), ("c", 399), ("d", 1000)] {
        ask(&fixture, out(adjustment_id, "anna", amount)).await;
    }
    approve(&fixture, "b", "carol").await;
    take_back(&fixture, Leaving::Adjustment(id("d"))).await;
    export(&fixture).await
}

#[tokio::test]
async fn verify_names_money_that_left_by_one_owner() {
    let story = story().await;
    let report = story.verify();
    assert!(report.is_right(), "{report}");
    let of = |kind: &str, adjustment_id: &str| {
        let (kind, of) = (
            format!("\"type\":\"{kind}\""),
            format!("\"adjustment\":\"{adjustment_id}\""),
        );
        story.all(|body| body.contains(&kind) && body.contains(&of))[0]
    };
    let (small, approved, withdrawn) = (of("adjust", "c"), of("adjust", "b"), of("withdraw", "d"));
    for (n, field, value, finding) in [
        (small, "owner", "", "does not say whose key"),
        (approved, "asked", "", "made without one"),
        (approved, "owner", "anna", "the owner who asked approves it"),
        (approved, "asked", "bob", "nothing like it waits"),
        (withdrawn, "adjustment", "e", "does not wait"),
    ] {
        let mut forged = story.clone();
        forged.edit(n, |fields| {
            fields.insert(field.to_owned(), value.to_owned());
        });
        forged.close();
        names(&forged.verify(), &Place::Event(n), finding);
    }
    // As if the limit had been passed alone: the large one is not approved by anyone.
    let mut forged = story.clone();
    let asks = of("ask", "b");
    forged.edit(asks, |fields| {
        fields.insert("adjustment".to_owned(), "other".to_owned());
    });
    forged.edit(approved, |fields| {
        fields.insert("asked".to_owned(), String::new());
    });
    forged.close();
    names(
        &forged.verify(),
        &Place::Event(approved),
        "from 1000 on it needs a second owner",
    );
}
