//! The projector of coupons: every kind of event reaches its tables once, in any batches. A contradiction stops it.

use std::collections::BTreeMap;
use std::sync::Arc;

use jackpot::coupon::ledger::projector::Coupons;
use jackpot::coupon::status::Status;
use jackpot::ledger::projector::batch::{Batch, Raw};
use jackpot::ledger::projector::lease::Leases;
use jackpot::ledger::projector::load;
use jackpot::ledger::projector::stream::Stream;
use jackpot::ledger::projector::write::{self, WriteError};
use jackpot::subject::kinds::COUPON;
use serde_json::json;

use crate::coupon::fixture::{CouponBench, ask, code, issue_of};
use crate::coupon::ledger::fixture::{CouponKit, live};
use crate::support::ledger_db::{LedgerDb, on_both_databases};

on_both_databases!(
    every_kind_of_event_reaches_its_tables,
    batches_of_any_size_give_the_same_rows,
    a_request_that_comes_twice_stops_the_stream,
    a_void_that_hits_no_issue_stops_the_stream,
    many_coupons_are_read_at_once,
    instances_that_take_it_from_each_other_write_each_event_once,
);

async fn every_kind_of_event_reaches_its_tables(db: LedgerDb) {
    let kit = CouponKit::with(db, &json!({})).await;
    live(&kit.bench).await;
    kit.project().await;
    kit.assert_complete().await;
    let types = kit.table("events", "type", "n").await;
    for kind in ["define", "issue", "serve", "redrive", "void", "status", "checkpoint"] {
        assert!(types.iter().any(|row| row[0] == kind), "{kind}: {types:?}");
    }
    let issue = issue_of(&kit.bench.lookup("a").await.expect("known"));
    let rows = kit
        .table(
            "coupon_issues",
            "sequence request_id user_id code issued_at_ms voided_n",
            "sequence",
        )
        .await;
    let at = issue.at_ms.to_string();
    assert_eq!(rows[0][..5], ["1", "a", "u1", &issue.code.to_string(), &at]);
    assert_ne!(rows[0][5], "0", "voided");
    assert!(rows[1..].iter().all(|row| row[5] == "0"));
    assert!(rows.iter().any(|row| row[1] == "q1"), "out of the line: {rows:?}");
    let audit = kit.table("audit", "action target who", "n").await;
    let done = |action: &str, target: &str| {
        let target = format!("{}{target}", kit.id);
        audit.contains(&vec![action.to_owned(), target, "tester".to_owned()])
    };
    for (action, target) in [
        ("define", ""),
        ("void", "/a"),
        ("redrive", "/q2"),
        ("suspend", ""),
        ("resume", ""),
    ] {
        assert!(done(action, target), "{action} {target}: {audit:?}");
    }
    assert_eq!(kit.table("definitions", "version", "version").await.len(), 4);
    let report = kit.report().await;
    assert!(report.clean, "{report:?}");
    assert_eq!(kit.metric("ledger_lag_events"), "0");
}

/// Projects what is in the stream in batches of these sizes, with a new holder of the lease for each.
async fn project_in(kit: &CouponKit, sizes: &[usize]) {
    let events = redis::cmd("XRANGE")
        .arg(&kit.bench.keys.events)
        .arg("-")
        .arg("+")
        .to_owned();
    let raw: Vec<(String, BTreeMap<String, String>)> = kit.bench.raw(&mut events.clone()).await;
    let raw: Vec<_> = raw.into_iter().map(Raw::from).collect();
    let leases = Leases::of(COUPON, kit.ledger.sql.clone(), "a test".to_owned(), 60_000);
    leases.add(&kit.id).await.expect("added");
    let (mut rest, mut token, mut sizes) = (&raw[..], 0, sizes.iter().cycle());
    while !rest.is_empty() {
        let (now, later) = rest.split_at((*sizes.next().expect("endless")).min(rest.len()));
        rest = later;
        let stale = token;
        token = leases.take(&kit.id, token).await.expect("an answer").expect("taken");
        let loaded = load::load::<Coupons>(&kit.ledger.sql, &kit.id).await.expect("loaded");
        let mut stream = Stream::new(kit.id.clone(), token, loaded);
        let batch = Batch::build(&stream.start(()), now);
        assert!(batch.stop.is_none(), "{:?}", batch.stop);
        let refused = write::commit(&kit.ledger.sql, &[(&batch, stale)]).await;
        assert!(
            matches!(refused, Err(WriteError::Moved(_))),
            "a lease that is over: {refused:?}"
        );
        let done = write::commit(&kit.ledger.sql, &[(&batch, token)]).await;
        done.expect("committed");
        let again = write::commit(&kit.ledger.sql, &[(&batch, token)]).await;
        assert!(matches!(again, Err(WriteError::Moved(_))), "twice: {again:?}");
        stream.advance(batch, 0);
    }
}

async fn batches_of_any_size_give_the_same_rows(db: LedgerDb) {
    let mut kit = CouponKit::with(db, &json!({})).await;
    live(&kit.bench).await;
    let redis = Arc::clone(&kit.bench.redis);
    let bench = std::mem::replace(&mut kit.bench, CouponBench::without(redis).await);
    let at_once = CouponKit::of(LedgerDb::sqlite(), bench).await;
    project_in(&at_once, &[usize::MAX]).await;
    let expected = at_once.everything().await;
    assert!(expected["coupon_issues"].len() > 6, "{expected:?}");
    (kit.id, kit.bench) = (at_once.id, at_once.bench);
    project_in(&kit, &[1, 3, 2, 5]).await;
    kit.assert_complete().await;
    assert_eq!(kit.everything().await, expected);
}

/// Appends an event that no script would, under the next number.
async fn append(kit: &CouponKit, issues: i64, fields: &[(&str, &str)]) {
    let (bench, state) = (&kit.bench, &kit.bench.keys.state);
    let n: i64 = bench.raw(redis::cmd("HINCRBY").arg(state).arg("n").arg(1)).await;
    let seq: i64 = bench.raw(redis::cmd("HINCRBY").arg(state).arg("seq").arg(issues)).await;
    let history: String = bench.raw(redis::cmd("HGET").arg(state).arg("history")).await;
    let mut event = redis::cmd("XADD");
    event.arg(&bench.keys.events).arg(format!("{seq}-{n}"));
    event.arg("n").arg(n).arg("at").arg(1).arg("history").arg(history);
    for (name, value) in fields {
        event.arg(name).arg(value);
    }
    bench.raw::<String>(&mut event).await;
}

async fn assert_stopped(kit: &CouponKit, before: u64, why: &str) {
    kit.project().await;
    assert_eq!(kit.place("n").await, before.to_string(), "nothing behind it");
    let stopped = kit.place("stopped").await;
    assert!(stopped.contains(why), "{stopped}");
    assert_eq!(kit.status().await, Status::Suspended);
    let reason = kit.bench.last_event("status", "reason").await;
    assert!(reason.contains(why), "{reason}");
    assert_eq!(kit.metric("ledger_stopped"), "1");
    kit.project().await;
    assert_eq!(
        kit.status().await,
        Status::Suspended,
        "and not opened while it is stopped"
    );
}

async fn a_request_that_comes_twice_stops_the_stream(db: LedgerDb) {
    let kit = CouponKit::with(db, &json!({})).await;
    kit.bench.now("a", "u1").await;
    kit.project().await;
    let block = format!("a u2 i 2 {}", code());
    append(&kit, 1, &[("type", "issue"), ("block", &block)]).await;
    assert_stopped(&kit, 2, "the database refuses its next events").await;
    assert_eq!(
        kit.table("coupon_issues", "request_id user_id", "sequence").await,
        [["a", "u1"]]
    );
}

async fn a_void_that_hits_no_issue_stops_the_stream(db: LedgerDb) {
    let kit = CouponKit::with(db, &json!({})).await;
    for (request, user) in [("a", "u1"), ("b", "u2")] {
        kit.bench.now(request, user).await;
    }
    kit.bench.void("a").await;
    kit.project().await;
    let void = [
        ("type", "void"),
        ("request", "a"),
        ("user", "u1"),
        ("seq", "1"),
        ("who", "x"),
        ("request_id", "r"),
    ];
    append(&kit, 0, &void).await;
    assert_stopped(&kit, 4, "event 5 voids request 'a' of user 'u1' as issue 1").await;
}

async fn many_coupons_are_read_at_once(db: LedgerDb) {
    let kit = CouponKit::with(db, &json!({})).await;
    let mut ids = vec![kit.id.clone()];
    let mut benches = Vec::new();
    for _ in 0..40 {
        let bench = CouponBench::on(Arc::clone(&kit.bench.redis), &json!({})).await;
        let id = bench
            .keys
            .state
            .split(['{', '}'])
            .nth(1)
            .expect("a hash tag")
            .to_owned();
        ids.push(jackpot_core::ids::Id::parse(&id).expect("an id"));
        bench.now("a", "u1").await;
        benches.push(bench);
    }
    kit.registry.add_to_index(&ids).await.expect("in the index");
    kit.project().await;
    let rows = kit.rows("SELECT coupon_id FROM coupon_issues".to_owned()).await;
    assert_eq!(rows.len(), benches.len());
}

async fn instances_that_take_it_from_each_other_write_each_event_once(db: LedgerDb) {
    let mut kit = CouponKit::with(db, &json!({"stock": 500})).await;
    kit.settings.lease_ms = 1;
    let mut first = kit.projector_of(kit.other_instance(), false);
    let mut second = kit.projector_of(kit.other_instance(), false);
    for round in 0..25 {
        let requests: Vec<_> = (0..20)
            .map(|i| ask(&format!("r{round}-{i}"), &format!("u{}", i * round)))
            .collect();
        kit.bench.answers(&requests).await;
        if round > 0 {
            kit.bench.void(&format!("r{round}-1")).await;
        }
        // Both look at all leases in each round. The one that comes when the other's lease has ended takes over.
        tokio::join!(first.catch_up(), second.catch_up());
    }
    drop(first);
    drop(second);
    kit.project().await;
    kit.assert_complete().await;
    let holders: i64 = kit.place("lease_token").await.parse().expect("a number");
    assert!(holders > 2, "taken over {holders} times");
    assert_eq!(kit.place("stopped").await, "");
}
