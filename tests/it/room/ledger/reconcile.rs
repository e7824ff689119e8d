//! A room in Redis beside its ledger: agreement is clean, and a difference suspends the room. When both agree again, it
//! is open.

use jackpot::ledger::reconcile::now::Reconciled;
use jackpot::room::scripts::VisitReply;

use crate::room::fixture::is_in;
use crate::room::ledger::fixture::{RoomLedger, live};
use crate::support::prelude::*;

on_both_databases!(
    under_load_it_is_clean,
    a_number_by_hand_suspends_it_until_it_is_put_right,
    a_text_by_hand_suspends_it_too,
    one_on_a_busy_room_is_found_too,
    a_key_that_cannot_be_read_is_found,
);

async fn under_load_it_is_clean(db: LedgerDb) {
    let fixture = RoomLedger::with(db, &json!({"opens_at": "2099-01-01T00:00:00Z"})).await;
    let mut projector = fixture.own_projector();
    let play = async {
        live(&fixture).await;
        for n in 0..60 {
            let user = format!("u{n}");
            fixture.joined([user.as_str()]).await;
            fixture
                .define(&json!({"capacity": 2 + n, "session_s": 1 + n % 7}))
                .await;
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
    projector.finish().await;
    fixture.assert_complete().await;
    assert_eq!(fixture.metric("reconciliation_mismatches"), "");
    fixture.assert_suspended_by_hand_alone().await;
}

async fn a_number_by_hand_suspends_it_until_it_is_put_right(db: LedgerDb) {
    let fixture = RoomLedger::with(db, &json!({"admissions_per_minute": 30})).await;
    let (before, inside) = (fixture.join("u1"), fixture.joined(["u2"]).await.remove(0));
    assert!(is_in(&inside));
    fixture.project().await;
    for (field, fault) in [
        ("version", "version is 2 in Redis and 1 in the ledger"),
        ("capacity", "capacity is 3 in Redis and 2 in the ledger"),
        ("session", "session_ms is 300001 in Redis and 300000 in the ledger"),
        ("waiting_timeout", "waiting_timeout_ms is 60001 in Redis and 60000"),
        ("rate", "admissions_per_minute is 31 in Redis and 30 in the ledger"),
        ("opens", "opens_ms is "),
        ("passes_until", "passes_until_ms is 1 in Redis and 0 in the ledger"),
    ] {
        let tamper = async |by: i64| {
            let mut add = redis::cmd("HINCRBY");
            add.arg(&fixture.keys.state).arg(field).arg(by);
            fixture.raw::<i64>(&mut add).await;
        };
        tamper(1).await;
        fixture.assert_found(fault).await;
        let refused = fixture.visit(std::slice::from_ref(&before)).await;
        assert_eq!(refused.replies, [VisitReply::Suspended], "nobody joins");
        tamper(-1).await;
        fixture.assert_opened().await;
    }
    assert!(is_in(&fixture.one(before).await));
}

async fn a_text_by_hand_suspends_it_too(db: LedgerDb) {
    let fixture = RoomLedger::with(db, &json!({})).await;
    fixture.project().await;
    let state = fixture.hash(&fixture.keys.state).await;
    for (field, wrong, fault) in [
        ("commitment", "5f", "commitment is 5f in Redis"),
        ("collected_sha256", "a0", "pre_queue_sha256 is a0 in Redis"),
        ("rate", "7", "admissions_per_minute is 7 in Redis"),
    ] {
        let put = async |value: &str| {
            let mut set = redis::cmd("HSET");
            set.arg(&fixture.keys.state).arg(field).arg(value);
            fixture.raw::<()>(&mut set).await;
        };
        put(wrong).await;
        fixture.assert_found(fault).await;
        put(&state[field]).await;
        fixture.assert_opened().await;
    }
}

async fn one_on_a_busy_room_is_found_too(db: LedgerDb) {
    let fixture = RoomLedger::with(db, &json!({})).await;
    let mut projector = fixture.own_projector();
    projector.catch_up().await;
    let mut add = redis::cmd("HINCRBY");
    add.arg(&fixture.keys.state).arg("capacity").arg(1);
    fixture.raw::<i64>(&mut add).await;
    let Reconciled::Report(n, report) = fixture.reconcile(&mut projector).await else {
        panic!("compared");
    };
    assert!(!report.clean && n >= 2, "{n}: {report:?}");
    projector.catch_up().await;
    assert_eq!(fixture.status_held().await, "suspended");
    assert_ne!(fixture.metric("reconciliation_mismatches_total"), "");
    projector.finish().await;
}

async fn a_key_that_cannot_be_read_is_found(db: LedgerDb) {
    let fixture = RoomLedger::with(db, &json!({})).await;
    fixture.project().await;
    let waiting = &fixture.keys.waiting;
    fixture.raw::<()>(redis::cmd("SET").arg(waiting).arg("rubbish")).await;
    fixture.assert_found("readable is").await;
    fixture.raw::<()>(redis::cmd("DEL").arg(waiting)).await;
    fixture.assert_opened().await;
}
