//! `lua/coupon/redeem.lua` on a real Redis, what the ledger keeps of it, and what a restore gives back.

use jackpot::coupon::record::State;
use jackpot::coupon::scripts::{self, Acted, Redeemed, Refusal, ScriptError};
use jackpot_api::coupon::Status;
use jackpot_core::mark::Mark;

use crate::coupon::fixture::{CouponFixture, issue_of, letters, record, redemption, state_of};
use crate::coupon::ledger::fixture::CouponLedger;
use crate::support::prelude::*;

on_both_databases!(
    the_ledger_has_each_redemption_and_a_restore_gives_it_back,
    a_row_that_is_missing_or_too_many_is_found,
    a_void_of_a_redeemed_unit_stops_the_stream,
    a_retired_coupon_redeems_only_what_the_ledger_shows_unused,
);

#[tokio::test]
async fn a_unit_is_redeemed_once_and_still_counts() {
    let fixture = CouponFixture::with(&json!({"stock": 1})).await;
    let issued = issue_of(&fixture.now("a", "u").await);
    let Redeemed::Done(answer) = fixture.redeem("a", "till-1", "receipt 7").await else {
        panic!("not redeemed");
    };
    let State::Redeemed(issue, used) = state_of(&answer, "u") else {
        panic!("{answer:?}");
    };
    assert_eq!((issue, answer.fresh), (&issued, true));
    assert_eq!(
        (used.redemption.as_str(), used.reference.as_str()),
        ("till-1", "receipt 7")
    );
    assert!(used.redeemed_ms >= issued.at_ms);
    let (kind, fields) = fixture.events().await.pop().expect("an event");
    let told = ["request", "user", "seq", "redemption", "reference", "who", "request_id"];
    assert_eq!(kind, "redeem");
    assert_eq!(
        told.map(|field| fields[field].as_str()),
        ["a", "u", "1", "till-1", "cmVjZWlwdCA3", "till", "r"]
    );
    let before = fixture.dump().await;
    let Redeemed::Done(again) = fixture.redeem("a", "till-1", "receipt 7").await else {
        panic!("no repeat");
    };
    assert_eq!((again.fresh, &again.record), (false, &answer.record));
    assert_eq!(fixture.redeem("a", "till-1", "receipt 8").await, Redeemed::Reused);
    assert_eq!(fixture.redeem("a", "till-2", "receipt 7").await, Redeemed::Before);
    assert_eq!(fixture.void("a").await, Acted::Redeemed);
    assert_eq!(fixture.dump().await, before, "no refusal writes");
    let asked = fixture.answers(&[crate::coupon::fixture::ask("a", "u")]).await;
    assert_eq!(letters(&asked), "r", "its request is answered as before");
    let others = [fixture.now("b", "u").await, fixture.now("c", "v").await];
    assert_eq!(letters(&others), "ao", "it counts for its user and the stock");
    assert_eq!(others[0].first.as_ref().map(|(id, _)| id.as_str()), Some("a"));
    let snapshot = fixture.snapshot().await;
    assert_eq!((snapshot.issued, snapshot.voided, snapshot.remaining()), (1, 0, 0));
    assert_eq!(snapshot.held["redeemed"], "1");
}

#[tokio::test]
async fn only_a_unit_that_is_out_is_redeemed() {
    let fixture = CouponFixture::with(&json!({"stock": 2})).await;
    fixture.now("voided", "u").await;
    fixture.void("voided").await;
    fixture.now("issued", "u").await;
    fixture.now("already", "u").await;
    fixture.now("last", "x").await;
    fixture.now("out", "v").await;
    fixture.join("dead", "w").await;
    fixture.wear_out().await;
    fixture.join("queued", "w").await;
    let before = fixture.dump().await;
    for (id, letter) in [
        ("voided", "v"),
        ("already", "a"),
        ("out", "o"),
        ("queued", "q"),
        ("dead", "d"),
    ] {
        let Redeemed::NotIssued(answer) = fixture.redeem(id, "till-1", "x").await else {
            panic!("{id}");
        };
        assert_eq!(letters(std::slice::from_ref(&answer)), letter);
    }
    assert_eq!(fixture.redeem("nobody", "till-1", "x").await, Redeemed::Missing);
    assert_eq!(fixture.dump().await, before);
    fixture.status(Status::Suspended).await;
    let before = fixture.dump().await;
    assert_eq!(
        fixture.redeem("issued", "till-1", "x").await,
        Redeemed::Stopped(Refusal::Suspended)
    );
    assert_eq!(fixture.dump().await, before);
    fixture.status(Status::Open).await;
    for (status, id) in [(Status::Paused, "issued"), (Status::Closed, "last")] {
        fixture.operated(status).await;
        let Redeemed::Done(answer) = fixture.redeem(id, "till-1", "x").await else {
            panic!("{status:?}");
        };
        assert!(answer.fresh, "its user has it: {status:?}");
    }
    fixture.status(Status::Suspended).await;
    let Redeemed::Done(answer) = fixture.redeem("issued", "till-1", "x").await else {
        panic!("a repeat is answered");
    };
    assert!(!answer.fresh);
}

#[tokio::test]
async fn damage_leaves_a_unit_as_it_is() {
    let fixture = CouponFixture::with(&json!({})).await;
    fixture.now("a", "u").await;
    let keys = &fixture.keys;
    let fails = async |what: &str| {
        let before = fixture.dump().await;
        let wish = redemption("a", "till-1", "x");
        let redeemed = scripts::redeem(&fixture.store, keys, Mark::ZERO, &wish, None).await;
        assert!(matches!(redeemed, Err(ScriptError::Store(_))), "{what}: {redeemed:?}");
        assert_eq!(fixture.dump().await, before, "{what}");
    };
    let set = |key: &str, field: &str, value: &str| redis::cmd("HSET").arg(key).arg(field).arg(value).to_owned();
    fixture.raw::<()>(&mut set(&keys.state, "redeemed", "many")).await;
    fails("the count").await;
    fixture
        .raw::<()>(redis::cmd("HDEL").arg(&keys.state).arg("redeemed"))
        .await;
    for record in ["i 1 broken", "r 1 2 AAAAAA-AAAAAA-AAAAAA u"] {
        fixture.raw::<()>(&mut set(&keys.requests, "a", record)).await;
        fails(record).await;
    }
}

async fn the_ledger_has_each_redemption_and_a_restore_gives_it_back(db: LedgerDb) {
    let fixture = CouponLedger::with(db, &json!({"per_user": 2})).await;
    for (request, user) in [("a", "u"), ("b", "u"), ("c", "v"), ("d", "w")] {
        fixture.now(request, user).await;
    }
    fixture.redeem("b", "till-1", "receipt 7, two coffees").await;
    fixture.project().await;
    fixture.redeem("c", "till-1", "영수증 2").await;
    fixture.void("d").await;
    fixture.redeem("c", "till-2", "no").await;
    fixture.project().await;
    fixture.assert_complete().await;
    let columns = "sequence n redemption_id reference";
    let rows = fixture.own_rows("coupon_redemptions", columns, "sequence").await;
    assert_eq!(
        rows,
        [
            ["2", "6", "till-1", "receipt 7, two coffees"],
            ["3", "7", "till-1", "영수증 2"]
        ]
    );
    let before = fixture.contents().await;
    fixture.wipe().await;
    fixture.heal().await;
    assert_eq!(fixture.contents().await, before);
    let Redeemed::Done(again) = fixture.redeem("b", "till-1", "receipt 7, two coffees").await else {
        panic!("no repeat");
    };
    assert!(!again.fresh);
    assert_eq!(fixture.redeem("c", "till-2", "x").await, Redeemed::Before);
    assert_eq!(fixture.void("c").await, Acted::Redeemed);
    let Redeemed::Done(answer) = fixture.redeem("a", "till-2", "x").await else {
        panic!("what was not redeemed still can be");
    };
    assert!(answer.fresh);
    fixture.project().await;
    fixture.assert_complete().await;
    let report = fixture.report().await;
    let row = report.state.iter().find(|row| row.name == "redeemed rows");
    let row = row.expect("compared");
    assert_eq!((row.redis.as_str(), row.ledger.as_str()), ("3", "3"));
    assert!(report.clean, "{report:?}");
}

async fn a_row_that_is_missing_or_too_many_is_found(db: LedgerDb) {
    let fixture = CouponLedger::with(db, &json!({})).await;
    fixture.now("a", "u").await;
    fixture.redeem("a", "till-1", "x").await;
    fixture.project().await;
    assert!(fixture.report().await.clean, "{:?}", fixture.report().await);
    fixture
        .change("UPDATE coupon_redemptions SET coupon_id = coupon_id || '.away'")
        .await;
    fixture
        .assert_found("redeemed rows is 1 in Redis and 0 in the ledger")
        .await;
    fixture
        .change("UPDATE coupon_redemptions SET coupon_id = REPLACE(coupon_id, '.away', '')")
        .await;
    fixture.assert_opened().await;
    fixture
        .change("INSERT INTO coupon_redemptions SELECT coupon_id, 99, n, at_ms, 'forged', 'x' FROM coupon_redemptions")
        .await;
    fixture
        .assert_found("redeemed rows is 1 in Redis and 2 in the ledger")
        .await;
    fixture
        .change("DELETE FROM coupon_redemptions WHERE redemption_id = 'forged'")
        .await;
    fixture.assert_opened().await;
}

async fn a_void_of_a_redeemed_unit_stops_the_stream(db: LedgerDb) {
    let fixture = CouponLedger::with(db, &json!({})).await;
    fixture.now("a", "u").await;
    fixture.now("b", "v").await;
    fixture.redeem("a", "till-1", "x").await;
    fixture.project().await;
    let n = fixture.n().await;
    // Someone puts the record of the time before into Redis: the next void contradicts the ledger.
    let issued = record(&fixture.lookup("a").await.expect("a record")).clone();
    let State::Redeemed(issue, _) = issued.state else {
        panic!("{issued:?}")
    };
    let forged = jackpot::coupon::record::Record {
        state: State::Issued(issue),
        ..issued
    };
    let set = &mut redis::cmd("HSET");
    fixture
        .raw::<()>(set.arg(&fixture.keys.requests).arg("a").arg(forged.to_string()))
        .await;
    assert!(matches!(fixture.void("a").await, Acted::Done(_)));
    fixture.assert_stopped(n, "no such issue is out").await;
}

async fn a_retired_coupon_redeems_only_what_the_ledger_shows_unused(db: LedgerDb) {
    let fixture = CouponLedger::with(db, &json!({})).await;
    for (request, user) in [("a", "u"), ("b", "v"), ("c", "w")] {
        fixture.now(request, user).await;
    }
    let kept = record(&fixture.lookup("a").await.expect("a record")).clone();
    let other = record(&fixture.lookup("b").await.expect("a record")).clone();
    fixture.operated(Status::Closed).await;
    fixture.project().await;
    let n = fixture.snapshot().await.mark.n();
    let retention = async |seconds: u64| {
        let mut set = redis::cmd("HSET");
        let set = set.arg(&fixture.keys.state).arg("retention").arg(seconds);
        fixture.raw::<()>(set).await;
    };
    retention(0).await;
    let retired = scripts::retire(&fixture.store, &fixture.keys, Mark::ZERO, n, 0).await;
    assert_eq!(retired.expect("a reply").1, scripts::Retired::Done);
    retention(7_200).await; // the ledger knows no other
    fixture.project().await;
    assert_eq!(
        fixture.redeem("a", "till-1", "x").await,
        Redeemed::Stopped(Refusal::Ended),
        "the ledger has the record"
    );
    let n = fixture.n().await;
    let before = fixture.dump().await;
    for early in [0, n - 1, n + 1] {
        let redeemed = fixture.redeem_kept("a", "till-1", early, &kept).await;
        assert_eq!(redeemed, Redeemed::LedgerBehind, "{early} of {n}");
    }
    assert_eq!(fixture.dump().await, before);
    let Redeemed::Done(answer) = fixture.redeem_kept("a", "till-1", n, &kept).await else {
        panic!("not redeemed");
    };
    assert!(answer.fresh);
    // Both read the ledger before the first of them redeemed: the second must read again.
    assert_eq!(
        fixture.redeem_kept("a", "till-2", n, &kept).await,
        Redeemed::LedgerBehind
    );
    assert_eq!(
        fixture.redeem_kept("b", "till-2", n, &other).await,
        Redeemed::LedgerBehind
    );
    fixture.project().await;
    let used = record(&answer).clone();
    let after = fixture.n().await;
    let Redeemed::Done(again) = fixture.redeem_kept("a", "till-1", after, &used).await else {
        panic!("no repeat");
    };
    assert!(!again.fresh);
    assert_eq!(
        fixture.redeem_kept("a", "till-2", 0, &used).await,
        Redeemed::Before,
        "what is final needs no newer ledger"
    );
    fixture.wipe().await;
    fixture.heal().await;
    fixture.project().await;
    let after = fixture.n().await;
    assert!(matches!(
        fixture.redeem_kept("b", "till-2", after, &other).await,
        Redeemed::Done(_)
    ));
    fixture.project().await;
    fixture.assert_complete().await;
    assert_eq!(fixture.snapshot().await.held["redeemed"], "2");
    let rows = fixture.own_rows("coupon_redemptions", "sequence", "sequence").await;
    assert_eq!(rows, [["1"], ["2"]]);
}
