//! The projector of coupons: every kind of event reaches its tables once, in any batches. A contradiction stops it.

use std::sync::Arc;

use jackpot::coupon::ledger::projector::Coupons;
use jackpot::ledger::projector::batch::{Batch, Raw, With};
use jackpot::ledger::projector::lease::Leases;
use jackpot::ledger::projector::load;
use jackpot::ledger::projector::stream::Stream;
use jackpot::ledger::projector::write::{self, WriteError};
use jackpot::subject::kinds::COUPON;

use crate::coupon::fixture::{CouponFixture, ask, code, issue_of};
use crate::coupon::ledger::fixture::{CouponLedger, live};
use crate::support::fixture::by_name;
use crate::support::prelude::*;

on_both_databases!(
    every_kind_of_event_reaches_its_tables,
    batches_of_any_size_give_the_same_rows,
    a_request_that_comes_twice_stops_the_stream,
    a_void_that_hits_no_issue_stops_the_stream,
    many_coupons_are_read_at_once,
    instances_that_take_it_from_each_other_write_each_event_once,
);

async fn every_kind_of_event_reaches_its_tables(db: LedgerDb) {
    let fixture = CouponLedger::with(db, &json!({})).await;
    live(&fixture).await;
    fixture.project().await;
    fixture.assert_complete().await;
    let types = fixture.own_rows("events", "type", "n").await;
    for kind in ["define", "issue", "serve", "redrive", "void", "status", "checkpoint"] {
        assert!(types.iter().any(|row| row[0] == kind), "{kind}: {types:?}");
    }
    let issue = issue_of(&fixture.lookup("a").await.expect("known"));
    let rows = fixture
        .own_rows(
            "coupon_issues",
            "sequence request_id user_id code issued_at_ms voided_n",
            "sequence",
        )
        .await;
    let at = issue.at_ms.to_string();
    assert_eq!(rows[0][..5], ["1", "a", "u1", &issue.code.to_string(), &at]);
    assert_ne!(rows[0][5], "0", "voided");
    assert!(rows[1..].iter().all(|row| row[5] == "0"));
    assert!(rows.iter().any(|row| row[1] == "q1"), "out of the queue: {rows:?}");
    let audit = fixture.own_rows("audit", "action target who", "n").await;
    let done = |action: &str, target: &str| {
        let target = format!("{}{target}", fixture.id);
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
    assert_eq!(fixture.own_rows("definitions", "version", "version").await.len(), 4);
    let report = fixture.report().await;
    assert!(report.clean, "{report:?}");
    assert_eq!(fixture.metric("ledger_lag_events"), "0");
}

/// Projects what is in the stream in batches of these sizes, with a new holder of the lease for each.
async fn project_in(fixture: &CouponLedger, sizes: &[usize]) {
    let events = redis::cmd("XRANGE")
        .arg(&fixture.keys.events)
        .arg("-")
        .arg("+")
        .to_owned();
    let raw = by_name(fixture.raw(&mut events.clone()).await);
    let raw: Vec<_> = raw
        .iter()
        .map(|(id, fields)| Raw::from((id.clone(), fields.into())))
        .collect();
    let leases = Leases::of(COUPON, fixture.ledger.sql.clone(), "a test".to_owned(), 60_000);
    leases.add(std::slice::from_ref(&fixture.id)).await.expect("added");
    let (mut rest, mut token, mut sizes) = (&raw[..], 0, sizes.iter().cycle());
    while !rest.is_empty() {
        let (now, later) = rest.split_at((*sizes.next().expect("endless")).min(rest.len()));
        rest = later;
        let stale = token;
        token = leases.take(&fixture.id).await.expect("an answer").expect("there");
        let loaded = load::load::<Coupons>(&fixture.ledger.sql, &fixture.id)
            .await
            .expect("loaded");
        let mut stream = Stream::new(fixture.id.clone(), token, loaded);
        let key = fixture.ledger.signing.current();
        let with = With {
            key: &key,
            index_entries: true,
        };
        let batch = Batch::build(&stream.start(with), now);
        assert!(batch.stop.is_none(), "{:?}", batch.stop);
        let refused = write::commit(&fixture.ledger.sql, &[(&batch, stale)]).await;
        assert!(
            matches!(refused, Err(WriteError::Moved(_))),
            "a lease that is over: {refused:?}"
        );
        let done = write::commit(&fixture.ledger.sql, &[(&batch, token)]).await;
        done.expect("committed");
        let again = write::commit(&fixture.ledger.sql, &[(&batch, token)]).await;
        assert!(matches!(again, Err(WriteError::Moved(_))), "twice: {again:?}");
        stream.advance(batch, 0);
    }
}

async fn batches_of_any_size_give_the_same_rows(db: LedgerDb) {
    let mut fixture = CouponLedger::with(db, &json!({})).await;
    live(&fixture).await;
    let redis = Arc::clone(&fixture.redis);
    let subject = std::mem::replace(&mut fixture.subject, CouponFixture::undefined(redis).await);
    let at_once = CouponLedger::of(LedgerDb::sqlite(), subject).await;
    project_in(&at_once, &[usize::MAX]).await;
    let expected = at_once.everything().await;
    assert!(expected["coupon_issues"].len() > 6, "{expected:?}");
    fixture.subject = at_once.subject;
    project_in(&fixture, &[1, 3, 2, 5]).await;
    fixture.assert_complete().await;
    assert_eq!(fixture.everything().await, expected);
}

/// Appends an event that no script would, under the next number.
async fn append(fixture: &CouponLedger, issues: i64, fields: &[(&str, &str)]) {
    let state = &fixture.keys.state;
    let n: i64 = fixture.raw(redis::cmd("HINCRBY").arg(state).arg("n").arg(1)).await;
    let seq: i64 = fixture
        .raw(redis::cmd("HINCRBY").arg(state).arg("seq").arg(issues))
        .await;
    let history: String = fixture.raw(redis::cmd("HGET").arg(state).arg("history")).await;
    let mut event = redis::cmd("XADD");
    event.arg(&fixture.keys.events).arg(format!("{seq}-{n}"));
    event.arg("n").arg(n).arg("at").arg(1).arg("history").arg(history);
    for (name, value) in fields {
        event.arg(name).arg(value);
    }
    fixture.raw::<String>(&mut event).await;
}

async fn a_request_that_comes_twice_stops_the_stream(db: LedgerDb) {
    let fixture = CouponLedger::with(db, &json!({})).await;
    fixture.now("a", "u1").await;
    fixture.project().await;
    let block = format!("a u2 i 2 {}", code());
    append(&fixture, 1, &[("type", "issue"), ("block", &block)]).await;
    fixture.assert_stopped(2, "the database refuses its next events").await;
    assert_eq!(
        fixture
            .own_rows("coupon_issues", "request_id user_id", "sequence")
            .await,
        [["a", "u1"]]
    );
}

async fn a_void_that_hits_no_issue_stops_the_stream(db: LedgerDb) {
    let fixture = CouponLedger::with(db, &json!({})).await;
    for (request, user) in [("a", "u1"), ("b", "u2")] {
        fixture.now(request, user).await;
    }
    fixture.void("a").await;
    fixture.project().await;
    let void = [
        ("type", "void"),
        ("request", "a"),
        ("user", "u1"),
        ("seq", "1"),
        ("who", "x"),
        ("request_id", "r"),
    ];
    append(&fixture, 0, &void).await;
    fixture
        .assert_stopped(4, "event 5 voids request 'a' of user 'u1' as issue 1")
        .await;
}

async fn many_coupons_are_read_at_once(db: LedgerDb) {
    let fixture = CouponLedger::with(db, &json!({})).await;
    let mut ids = vec![fixture.id.clone()];
    let mut coupons = Vec::new();
    for _ in 0..40 {
        let coupon = CouponFixture::on(Arc::clone(&fixture.redis), &json!({})).await;
        let id = coupon
            .keys
            .state
            .split(['{', '}'])
            .nth(1)
            .expect("a hash tag")
            .to_owned();
        ids.push(jackpot_core::ids::Id::parse(&id).expect("an id"));
        coupon.now("a", "u1").await;
        coupons.push(coupon);
    }
    fixture.kind.registry.add_to_index(&ids).await.expect("in the index");
    fixture.project().await;
    let rows = fixture.rows("SELECT coupon_id FROM coupon_issues".to_owned()).await;
    assert_eq!(rows.len(), coupons.len());
}

async fn instances_that_take_it_from_each_other_write_each_event_once(db: LedgerDb) {
    let mut fixture = CouponLedger::with(db, &json!({"stock": 500})).await;
    fixture.settings.lease_ms = 1;
    let mut first = fixture.projector();
    let mut second = fixture.projector();
    for round in 0..25 {
        let requests: Vec<_> = (0..20)
            .map(|i| ask(&format!("r{round}-{i}"), &format!("u{}", i * round)))
            .collect();
        fixture.answers(&requests).await;
        if round > 0 {
            fixture.void(&format!("r{round}-1")).await;
        }
        // Both look at all leases in each round. The one that comes when the other's lease has ended takes over.
        tokio::join!(first.catch_up(), second.catch_up());
    }
    drop(first);
    drop(second);
    fixture.project().await;
    fixture.assert_complete().await;
    let holders: i64 = fixture.place("lease_token").await.parse().expect("a number");
    assert!(holders > 2, "taken over {holders} times");
    assert_eq!(fixture.place("stopped").await, "");
}
