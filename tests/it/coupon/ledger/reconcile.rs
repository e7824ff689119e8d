//! A coupon in Redis beside its ledger: agreement is clean under load, and a difference suspends the coupon. When both
//! agree again, it is open.

use jackpot::ledger::reconcile::now::Reconciled;

use crate::coupon::fixture::ask;
use crate::coupon::ledger::fixture::{CouponLedger, live};
use crate::support::prelude::*;

on_both_databases!(
    under_load_it_is_clean,
    a_number_by_hand_suspends_it_until_it_is_put_right,
    rows_that_are_gone_suspend_it_until_they_are_back,
    one_on_a_busy_coupon_is_found_too,
    a_key_that_cannot_be_read_is_found,
);

async fn under_load_it_is_clean(db: LedgerDb) {
    let fixture = CouponLedger::with(db, &json!({})).await;
    let mut projector = fixture.own_projector();
    let play = async {
        live(&fixture).await;
        fixture.define(&json!({"stock": 60})).await;
        let keys = &fixture.keys;
        fixture
            .raw::<()>(redis::cmd("HDEL").arg(&keys.state).arg("consumer"))
            .await;
        for n in 0..80 {
            fixture
                .answers(&[
                    ask(&format!("x{n}"), &format!("v{n}")),
                    ask(&format!("y{n}"), &format!("v{n}")),
                ])
                .await;
            let (_, taken) = fixture.served("consumer", &format!("take-{n}"), &[], 3).await;
            let taken = taken.iter().map(|taken| taken.request_id.as_str());
            let codes = crate::coupon::fixture::with_codes(taken);
            fixture.served("consumer", &format!("serve-{n}"), &codes, 0).await;
            if n % 9 == 0 {
                fixture.void(&format!("x{}", n / 2)).await;
            }
        }
    };
    let read = async {
        for _ in 0..40 {
            projector.catch_up().await;
            tokio::task::yield_now().await;
        }
    };
    tokio::join!(play, read);
    let Reconciled::Report(_, report) = fixture.reconcile(&mut projector).await else {
        panic!("compared");
    };
    assert!(report.clean, "{report:?}");
    let names: Vec<_> = report.state.iter().map(|row| row.name.as_str()).collect();
    for name in ["issued rows", "voided rows", "stock = remaining + issued - voided"] {
        assert!(names.contains(&name), "{names:?}");
    }
    projector.finish().await;
    fixture.assert_complete().await;
    assert_eq!(fixture.metric("reconciliation_mismatches"), "");
    fixture.assert_suspended_by_hand_alone().await;
}

async fn a_number_by_hand_suspends_it_until_it_is_put_right(db: LedgerDb) {
    let fixture = CouponLedger::with(db, &json!({})).await;
    live(&fixture).await;
    fixture.project().await;
    for (field, fault) in [
        ("voided", "voided is"),
        ("stock", "stock is"),
        ("arrivals", "arrivals is"),
    ] {
        let tamper = |by: i64| {
            redis::cmd("HINCRBY")
                .arg(&fixture.keys.state)
                .arg(field)
                .arg(by)
                .to_owned()
        };
        fixture.raw::<i64>(&mut tamper(1)).await;
        fixture.assert_found(fault).await;
        fixture.raw::<i64>(&mut tamper(-1)).await;
        fixture.assert_opened().await;
    }
    let (member, score) = fixture.sorted::<u64>(&fixture.keys.dead).await.remove(0);
    fixture
        .raw::<i64>(redis::cmd("ZREM").arg(&fixture.keys.dead).arg(&member))
        .await;
    fixture.assert_found("dead is 0 in Redis and 1 in the ledger").await;
    let put_back = redis::cmd("ZADD")
        .arg(&fixture.keys.dead)
        .arg(score)
        .arg(&member)
        .to_owned();
    fixture.raw::<i64>(&mut put_back.clone()).await;
    fixture.assert_opened().await;

    for (field, fault) in [
        ("per_user", "per_user is 7 in Redis"),
        ("window", "window is 7 in Redis"),
        ("starts", "starts is 7 in Redis"),
        ("ends", "ends is 7 in Redis"),
        ("retention", "retention is 7 in Redis"),
    ] {
        let was: String = fixture
            .raw(redis::cmd("HGET").arg(&fixture.keys.state).arg(field))
            .await;
        let set = |value: &str| {
            redis::cmd("HSET")
                .arg(&fixture.keys.state)
                .arg(field)
                .arg(value)
                .to_owned()
        };
        fixture.raw::<u64>(&mut set("7")).await;
        fixture.assert_found(fault).await;
        fixture.raw::<u64>(&mut set(&was)).await;
        fixture.assert_opened().await;
    }
    let (users, away) = (&fixture.keys.users, format!("{}:aside", fixture.keys.users));
    let rename = |from: &str, to: &str| redis::cmd("RENAME").arg(from).arg(to).to_owned();
    fixture.raw::<()>(&mut rename(users, &away)).await;
    fixture.assert_found("users is 0 in Redis").await;
    fixture.raw::<()>(&mut rename(&away, users)).await;
    fixture.assert_opened().await;

    // The records that answer repeats are all gone, while the counts stay as they were.
    let (requests, aside) = (&fixture.keys.requests, format!("{}:aside", fixture.keys.requests));
    let rename = |from: &str, to: &str| redis::cmd("RENAME").arg(from).arg(to).to_owned();
    fixture.raw::<()>(&mut rename(requests, &aside)).await;
    fixture.assert_found("requests is 0 in Redis").await;
    fixture.raw::<()>(&mut rename(&aside, requests)).await;
    fixture.assert_opened().await;
}

async fn rows_that_are_gone_suspend_it_until_they_are_back(db: LedgerDb) {
    let fixture = CouponLedger::with(db, &json!({})).await;
    live(&fixture).await;
    fixture.project().await;
    let of = format!("coupon_id = '{}' AND sequence = 2", fixture.id);
    fixture
        .change(&format!("UPDATE coupon_issues SET coupon_id = 'elsewhere' WHERE {of}"))
        .await;
    fixture.assert_found("issued rows is").await;
    let back = format!(
        "UPDATE coupon_issues SET coupon_id = '{}' WHERE coupon_id = 'elsewhere'",
        fixture.id
    );
    fixture.change(&back).await;
    fixture.assert_opened().await;
    fixture
        .change(&format!("UPDATE coupon_issues SET voided_n = 3 WHERE {of}"))
        .await;
    fixture.assert_found("voided rows is").await;
    fixture
        .change(&format!("UPDATE coupon_issues SET voided_n = 0 WHERE {of}"))
        .await;
    fixture.assert_opened().await;
}

async fn one_on_a_busy_coupon_is_found_too(db: LedgerDb) {
    let fixture = CouponLedger::with(db, &json!({})).await;
    fixture.now("a", "u1").await;
    let mut projector = fixture.own_projector();
    projector.catch_up().await;
    fixture
        .raw::<i64>(redis::cmd("HINCRBY").arg(&fixture.keys.state).arg("voided").arg(1))
        .await;
    let Reconciled::Report(n, report) = fixture.reconcile(&mut projector).await else {
        panic!("compared");
    };
    assert!(!report.clean && n >= 3, "{n}: {report:?}");
    projector.catch_up().await;
    assert_eq!(fixture.status_held().await, "suspended");
    assert_ne!(fixture.metric("reconciliation_mismatches_total"), "");
    projector.finish().await;
}

async fn a_key_that_cannot_be_read_is_found(db: LedgerDb) {
    let fixture = CouponLedger::with(db, &json!({})).await;
    fixture.now("a", "u1").await;
    fixture.project().await;
    fixture
        .raw::<()>(redis::cmd("SET").arg(&fixture.keys.dead).arg("rubbish"))
        .await;
    fixture.assert_found("readable is").await;
    fixture.raw::<()>(redis::cmd("DEL").arg(&fixture.keys.dead)).await;
    fixture.assert_opened().await;
}
