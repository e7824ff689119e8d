//! A room in Redis beside its ledger: agreement is clean, and a difference suspends the room. When both agree again, it
//! is open.

use std::cell::Cell;

use jackpot::ledger::projector::Projector;
use jackpot::ledger::reconcile::now::Reconciled;
use jackpot::room::ledger::projector::Rooms;
use jackpot::room::scripts::VisitReply;
use jackpot::room::status::Status;
use serde_json::json;

use crate::room::fixture::is_in;
use crate::room::ledger::fixture::{RoomKit, live};
use crate::support::ledger_db::{LedgerDb, on_both_databases};

on_both_databases!(
    under_load_it_is_clean,
    a_number_by_hand_suspends_it_until_it_is_put_right,
    a_text_by_hand_suspends_it_too,
    one_on_a_busy_room_is_found_too,
    a_key_that_cannot_be_read_is_found,
);

/// A requested reconciliation, while a projector reads.
async fn reconcile(kit: &RoomKit, projector: &mut Projector<Rooms>) -> Reconciled {
    let ended = Cell::new(false);
    let rooms = kit.rooms();
    let asked = async {
        let reconciled = kit.ledger.reconcile(&rooms, &kit.bench.id).await;
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
    let kit = RoomKit::with(db, &json!({"opens_at": "2099-01-01T00:00:00Z"})).await;
    let mut projector = kit.projector_of(kit.rooms(), false);
    let play = async {
        live(&kit.bench).await;
        for n in 0..60 {
            let user = format!("u{n}");
            kit.bench.joined([user.as_str()]).await;
            kit.bench
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
    let Reconciled::Report(_, report) = reconcile(&kit, &mut projector).await else {
        panic!("compared");
    };
    assert!(report.clean, "{report:?}");
    projector.finish().await;
    kit.assert_complete().await;
    assert_eq!(kit.metric("reconciliation_mismatches"), "");
    let suspended = kit.table("audit", "who").await;
    assert!(suspended.iter().all(|row| row[0] == "tester"), "{suspended:?}");
}

/// The fault suspends the room with a reason; its repair opens the room again.
async fn assert_found(kit: &RoomKit, fault: &str) {
    kit.project().await;
    assert_eq!(kit.status().await, Status::Suspended);
    let report = kit.report().await;
    let faults = report.faults().join("; ");
    assert!(!report.clean && faults.contains(fault), "{report:?}");
    kit.project().await;
    let status = kit.status().await;
    assert_eq!(status, Status::Suspended, "for as long as it does not agree");
    let last = kit.table("audit", "action reason who").await.pop().expect("audited");
    assert_eq!((last[0].as_str(), last[2].as_str()), ("suspend", "service"));
    assert!(last[1].contains(fault), "{last:?}");
}

async fn assert_opened(kit: &RoomKit) {
    kit.project().await;
    assert_eq!(kit.status().await, Status::Open);
    kit.project().await;
    assert!(kit.report().await.clean);
    let last = kit.table("audit", "action who").await.pop().expect("audited");
    assert_eq!(last, ["resume", "service"]);
    kit.assert_complete().await;
}

async fn a_number_by_hand_suspends_it_until_it_is_put_right(db: LedgerDb) {
    let kit = RoomKit::with(db, &json!({"admissions_per_minute": 30})).await;
    let (before, inside) = (kit.bench.join("u1"), kit.bench.joined(["u2"]).await.remove(0));
    assert!(is_in(&inside));
    kit.project().await;
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
            add.arg(&kit.bench.keys.state).arg(field).arg(by);
            kit.bench.raw::<i64>(&mut add).await;
        };
        tamper(1).await;
        assert_found(&kit, fault).await;
        let refused = kit.bench.visit(std::slice::from_ref(&before)).await;
        assert_eq!(refused.replies, [VisitReply::Suspended], "nobody joins");
        tamper(-1).await;
        assert_opened(&kit).await;
    }
    assert!(is_in(&kit.bench.one(before).await));
}

async fn a_text_by_hand_suspends_it_too(db: LedgerDb) {
    let kit = RoomKit::with(db, &json!({})).await;
    kit.project().await;
    let state = kit.bench.hash(&kit.bench.keys.state).await;
    for (field, wrong, fault) in [
        ("commitment", "5f", "commitment is 5f in Redis"),
        ("collected_sha256", "a0", "pre_queue_sha256 is a0 in Redis"),
        ("rate", "7", "admissions_per_minute is 7 in Redis"),
    ] {
        let put = async |value: &str| {
            let mut set = redis::cmd("HSET");
            set.arg(&kit.bench.keys.state).arg(field).arg(value);
            kit.bench.raw::<()>(&mut set).await;
        };
        put(wrong).await;
        assert_found(&kit, fault).await;
        put(&state[field]).await;
        assert_opened(&kit).await;
    }
}

async fn one_on_a_busy_room_is_found_too(db: LedgerDb) {
    let kit = RoomKit::with(db, &json!({})).await;
    let mut projector = kit.projector_of(kit.rooms(), false);
    projector.catch_up().await;
    let mut add = redis::cmd("HINCRBY");
    add.arg(&kit.bench.keys.state).arg("capacity").arg(1);
    kit.bench.raw::<i64>(&mut add).await;
    let Reconciled::Report(n, report) = reconcile(&kit, &mut projector).await else {
        panic!("compared");
    };
    assert!(!report.clean && n >= 2, "{n}: {report:?}");
    projector.catch_up().await;
    assert_eq!(kit.status().await, Status::Suspended);
    assert_ne!(kit.metric("reconciliation_mismatches_total"), "");
    projector.finish().await;
}

async fn a_key_that_cannot_be_read_is_found(db: LedgerDb) {
    let kit = RoomKit::with(db, &json!({})).await;
    kit.project().await;
    let waiting = &kit.bench.keys.waiting;
    kit.bench.raw::<()>(redis::cmd("SET").arg(waiting).arg("rubbish")).await;
    assert_found(&kit, "readable is").await;
    kit.bench.raw::<()>(redis::cmd("DEL").arg(waiting)).await;
    assert_opened(&kit).await;
}
