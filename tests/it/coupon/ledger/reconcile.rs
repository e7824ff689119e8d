//! A coupon in Redis beside its ledger: agreement is clean under load, and a difference suspends the coupon. When both
//! agree again, it is open.

use std::cell::Cell;

use jackpot::coupon::ledger::projector::Coupons;
use jackpot::coupon::status::Status;
use jackpot::ledger::projector::Projector;
use jackpot::ledger::reconcile::now::Reconciled;
use serde_json::json;

use crate::coupon::fixture::ask;
use crate::coupon::ledger::fixture::{CouponKit, live};
use crate::support::ledger_db::{LedgerDb, on_both_databases};

on_both_databases!(
    under_load_it_is_clean,
    a_number_by_hand_suspends_it_until_it_is_put_right,
    rows_that_are_gone_suspend_it_until_they_are_back,
    one_on_a_busy_coupon_is_found_too,
    a_key_that_cannot_be_read_is_found,
);

/// A requested reconciliation, while a projector reads.
async fn reconcile(kit: &CouponKit, projector: &mut Projector<Coupons>) -> Reconciled {
    let ended = Cell::new(false);
    let coupons = kit.coupons();
    let asked = async {
        let reconciled = kit.ledger.reconcile(&coupons, &kit.id).await;
        ended.set(true);
        reconciled.expect("an answer")
    };
    let reading = async {
        while !ended.get() {
            projector.catch_up().await;
            tokio::task::yield_now().await;
        }
    };
    tokio::join!(asked, reading).0
}

async fn under_load_it_is_clean(db: LedgerDb) {
    let kit = CouponKit::with(db, &json!({})).await;
    let mut projector = kit.projector_of(kit.coupons(), false);
    let play = async {
        live(&kit.bench).await;
        kit.bench.define(&json!({"stock": 60})).await;
        let keys = &kit.bench.keys;
        kit.bench
            .raw::<()>(redis::cmd("HDEL").arg(&keys.state).arg("consumer"))
            .await;
        for n in 0..80 {
            kit.bench
                .answers(&[
                    ask(&format!("x{n}"), &format!("v{n}")),
                    ask(&format!("y{n}"), &format!("v{n}")),
                ])
                .await;
            let (_, taken) = kit.bench.served("consumer", &format!("take-{n}"), &[], 3).await;
            let taken = taken.iter().map(|taken| taken.request_id.as_str());
            let codes = crate::coupon::fixture::with_codes(taken);
            kit.bench.served("consumer", &format!("serve-{n}"), &codes, 0).await;
            if n % 9 == 0 {
                kit.bench.void(&format!("x{}", n / 2)).await;
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
    let Reconciled::Report(_, report) = reconcile(&kit, &mut projector).await else {
        panic!("compared");
    };
    assert!(report.clean, "{report:?}");
    let names: Vec<_> = report.state.iter().map(|row| row.name.as_str()).collect();
    for name in ["issued rows", "voided rows", "stock = remaining + issued - voided"] {
        assert!(names.contains(&name), "{names:?}");
    }
    projector.finish().await;
    kit.assert_complete().await;
    assert_eq!(kit.metric("reconciliation_mismatches"), "");
    let suspended = kit.table("audit", "who", "n").await;
    assert!(suspended.iter().all(|row| row[0] == "tester"), "{suspended:?}");
}

/// The fault suspends the coupon with a reason; its repair opens the coupon again.
async fn assert_found(kit: &CouponKit, fault: &str) {
    kit.project().await;
    assert_eq!(kit.status().await, Status::Suspended);
    let report = kit.report().await;
    assert!(
        !report.clean && report.faults().join("; ").contains(fault),
        "{report:?}"
    );
    kit.project().await;
    assert_eq!(
        kit.status().await,
        Status::Suspended,
        "for as long as it does not agree"
    );
    let last = kit
        .table("audit", "action reason who", "n")
        .await
        .pop()
        .expect("audited");
    assert_eq!((last[0].as_str(), last[2].as_str()), ("suspend", "service"));
    assert!(last[1].contains(fault), "{last:?}");
}

async fn assert_opened(kit: &CouponKit) {
    kit.project().await;
    assert_eq!(kit.status().await, Status::Open);
    kit.project().await;
    assert!(kit.report().await.clean);
    let last = kit.table("audit", "action who", "n").await.pop().expect("audited");
    assert_eq!(last, ["resume", "service"]);
    kit.assert_complete().await;
}

async fn a_number_by_hand_suspends_it_until_it_is_put_right(db: LedgerDb) {
    let kit = CouponKit::with(db, &json!({})).await;
    live(&kit.bench).await;
    kit.project().await;
    for (field, fault) in [
        ("voided", "voided is"),
        ("stock", "stock is"),
        ("arrivals", "arrivals is"),
    ] {
        let tamper = |by: i64| {
            redis::cmd("HINCRBY")
                .arg(&kit.bench.keys.state)
                .arg(field)
                .arg(by)
                .to_owned()
        };
        kit.bench.raw::<i64>(&mut tamper(1)).await;
        assert_found(&kit, fault).await;
        kit.bench.raw::<i64>(&mut tamper(-1)).await;
        assert_opened(&kit).await;
    }
    let (member, score) = kit.bench.by_arrival(&kit.bench.keys.dead).await.remove(0);
    kit.bench
        .raw::<i64>(redis::cmd("ZREM").arg(&kit.bench.keys.dead).arg(&member))
        .await;
    assert_found(&kit, "dead is 0 in Redis and 1 in the ledger").await;
    let put_back = redis::cmd("ZADD")
        .arg(&kit.bench.keys.dead)
        .arg(score)
        .arg(&member)
        .to_owned();
    kit.bench.raw::<i64>(&mut put_back.clone()).await;
    assert_opened(&kit).await;

    for (field, fault) in [
        ("per_user", "per_user is 7 in Redis"),
        ("window", "window is 7 in Redis"),
        ("starts", "starts is 7 in Redis"),
        ("ends", "ends is 7 in Redis"),
        ("retention", "retention is 7 in Redis"),
    ] {
        let was: String = kit
            .bench
            .raw(redis::cmd("HGET").arg(&kit.bench.keys.state).arg(field))
            .await;
        let set = |value: &str| {
            redis::cmd("HSET")
                .arg(&kit.bench.keys.state)
                .arg(field)
                .arg(value)
                .to_owned()
        };
        kit.bench.raw::<u64>(&mut set("7")).await;
        assert_found(&kit, fault).await;
        kit.bench.raw::<u64>(&mut set(&was)).await;
        assert_opened(&kit).await;
    }
    let (users, away) = (&kit.bench.keys.users, format!("{}:aside", kit.bench.keys.users));
    let rename = |from: &str, to: &str| redis::cmd("RENAME").arg(from).arg(to).to_owned();
    kit.bench.raw::<()>(&mut rename(users, &away)).await;
    assert_found(&kit, "users is 0 in Redis").await;
    kit.bench.raw::<()>(&mut rename(&away, users)).await;
    assert_opened(&kit).await;

    // The records that answer repeats are all gone, while the counts stay as they were.
    let (requests, aside) = (&kit.bench.keys.requests, format!("{}:aside", kit.bench.keys.requests));
    let rename = |from: &str, to: &str| redis::cmd("RENAME").arg(from).arg(to).to_owned();
    kit.bench.raw::<()>(&mut rename(requests, &aside)).await;
    assert_found(&kit, "requests is 0 in Redis").await;
    kit.bench.raw::<()>(&mut rename(&aside, requests)).await;
    assert_opened(&kit).await;
}

async fn rows_that_are_gone_suspend_it_until_they_are_back(db: LedgerDb) {
    let kit = CouponKit::with(db, &json!({})).await;
    live(&kit.bench).await;
    kit.project().await;
    let of = format!("coupon_id = '{}' AND sequence = 2", kit.id);
    kit.change(&format!("UPDATE coupon_issues SET coupon_id = 'elsewhere' WHERE {of}"))
        .await;
    assert_found(&kit, "issued rows is").await;
    let back = format!(
        "UPDATE coupon_issues SET coupon_id = '{}' WHERE coupon_id = 'elsewhere'",
        kit.id
    );
    kit.change(&back).await;
    assert_opened(&kit).await;
    kit.change(&format!("UPDATE coupon_issues SET voided_n = 3 WHERE {of}"))
        .await;
    assert_found(&kit, "voided rows is").await;
    kit.change(&format!("UPDATE coupon_issues SET voided_n = 0 WHERE {of}"))
        .await;
    assert_opened(&kit).await;
}

async fn one_on_a_busy_coupon_is_found_too(db: LedgerDb) {
    let kit = CouponKit::with(db, &json!({})).await;
    kit.bench.now("a", "u1").await;
    let mut projector = kit.projector_of(kit.coupons(), false);
    projector.catch_up().await;
    kit.bench
        .raw::<i64>(redis::cmd("HINCRBY").arg(&kit.bench.keys.state).arg("voided").arg(1))
        .await;
    let Reconciled::Report(n, report) = reconcile(&kit, &mut projector).await else {
        panic!("compared");
    };
    assert!(!report.clean && n >= 3, "{n}: {report:?}");
    projector.catch_up().await;
    assert_eq!(kit.status().await, Status::Suspended);
    assert_ne!(kit.metric("reconciliation_mismatches_total"), "");
    projector.finish().await;
}

async fn a_key_that_cannot_be_read_is_found(db: LedgerDb) {
    let kit = CouponKit::with(db, &json!({})).await;
    kit.bench.now("a", "u1").await;
    kit.project().await;
    kit.bench
        .raw::<()>(redis::cmd("SET").arg(&kit.bench.keys.dead).arg("rubbish"))
        .await;
    assert_found(&kit, "readable is").await;
    kit.bench.raw::<()>(redis::cmd("DEL").arg(&kit.bench.keys.dead)).await;
    assert_opened(&kit).await;
}
