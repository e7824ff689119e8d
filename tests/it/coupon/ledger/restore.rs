//! Redis rebuilt from the ledger, after it lost all or some of a coupon.

use jackpot::coupon::scripts::{self, Define, ScriptError, Wanted};
use jackpot::ledger::restore::{Replace, RestoreError};
use jackpot::subject::restore::{RestoreBegun, restore_begin, restore_records};
use jackpot_api::coupon::Status;
use jackpot_core::mark::Mark;

use crate::coupon::fixture::{CouponFixture, ask, definition, letters};
use crate::coupon::ledger::fixture::{CouponLedger, live};
use crate::support::given::operator;
use crate::support::prelude::*;

on_both_databases!(
    a_redis_that_lost_all_is_rebuilt_as_it_was,
    an_older_copy_is_brought_up_to_date,
    a_restore_that_died_at_any_step_is_ended_by_the_next,
    a_lost_coupon_never_issues,
    what_is_not_lost_is_not_replaced,
    a_coupon_that_is_over_stays_so,
    a_ledger_that_lacks_an_issue_restores_nothing,
);

async fn a_redis_that_lost_all_is_rebuilt_as_it_was(db: LedgerDb) {
    let fixture = CouponLedger::with(db, &json!({})).await;
    live(&fixture).await;
    for restores in 1..=2_u64 {
        fixture.project().await;
        let before = fixture.contents().await;
        assert!(
            before.iter().all(|part| !part.is_empty()),
            "something of each: {before:?}"
        );
        fixture.wipe().await;
        fixture.heal().await;
        assert_eq!(fixture.contents().await, before);
        fixture.assert_complete().await;
        assert_eq!(fixture.snapshot().await.mark.restores(), restores);
        assert_eq!(fixture.metric("ledger_restores_total"), restores.to_string());
        assert_eq!(
            fixture.kind.registry.ids(None, 9).await.expect("readable"),
            std::slice::from_ref(&fixture.id)
        );
    }
    let audit = fixture.own_rows("audit", "action target", "n").await;
    let restored = audit
        .iter()
        .filter(|row| row[0] == "restore" && row[1] == fixture.id.to_string());
    assert_eq!(restored.count(), 2, "{audit:?}");
    // The coupon goes on as if nothing had happened: repeats are known, and the requests in the queue are served first.
    let repeats = [
        ("a", "u1"),
        ("c", "u1"),
        ("h", "u5"),
        ("early", "u6"),
        ("q3", "u9"),
        ("q4", "u1"),
    ];
    let repeats = fixture
        .answers(&repeats.map(|(request, user)| ask(request, user)))
        .await;
    assert_eq!(letters(&repeats), "vaondq");
    let (_, taken) = fixture.served("consumer", "again", &[], 5).await;
    let taken: Vec<_> = taken.iter().map(|taken| taken.request_id.as_str()).collect();
    assert_eq!(taken, ["q2", "q4", "behind"]);
    let codes = crate::coupon::fixture::with_codes(taken);
    fixture.served("consumer", "last", &codes, 0).await;
    fixture.project().await;
    fixture.assert_complete().await;
    assert!(fixture.report().await.clean);
}

async fn an_older_copy_is_brought_up_to_date(db: LedgerDb) {
    let fixture = CouponLedger::with(db, &json!({"stock": 3})).await;
    fixture.now("a", "u1").await;
    fixture.project().await;
    let older = fixture.dump().await;
    fixture.void("a").await;
    for (request, user) in [("b", "u2"), ("c", "u1"), ("d", "u3")] {
        fixture.now(request, user).await;
    }
    fixture.heal().await;
    let before = fixture.contents().await;
    fixture.put_back(&older).await;
    fixture.heal().await;
    assert_eq!(fixture.contents().await, before);
    fixture.assert_complete().await;
    assert!(!fixture.kind.registry.known(&fixture.id).is_lost());
    let refused = fixture.now("e", "u4").await;
    assert_eq!(letters(&[refused]), "o", "no unit is given twice");
}

async fn a_restore_that_died_at_any_step_is_ended_by_the_next(db: LedgerDb) {
    let fixture = CouponLedger::with(db, &json!({})).await;
    live(&fixture).await;
    fixture.project().await;
    let (keys, before) = (&fixture.keys, fixture.contents().await);
    for steps in 0..3 {
        fixture.wipe().await;
        let begun = restore_begin(&fixture.store, keys.all(), "dead", None, None).await;
        assert!(matches!(begun.expect("a reply"), RestoreBegun::Begun { .. }));
        let half = [("a".to_owned(), "1".to_owned()), ("half".to_owned(), "2".to_owned())];
        for (key, sorted) in [(&keys.requests, false), (&keys.queue, true)].into_iter().take(steps) {
            let written = restore_records(&fixture.store, &keys.state, key, "dead", sorted, &half).await;
            assert!(written.expect("a reply"));
        }
        let refused = scripts::issue(&fixture.store, keys, Mark::ZERO, &[ask("new", "u20")]).await;
        assert!(matches!(refused, Err(ScriptError::Restoring)), "{refused:?}");
        fixture.heal().await;
        let stalled = restore_records(&fixture.store, &keys.state, &keys.requests, "dead", false, &half).await;
        assert!(!stalled.expect("a reply"), "it writes nothing into the next one");
        assert_eq!(fixture.contents().await, before);
        fixture.assert_complete().await;
    }
}

async fn a_lost_coupon_never_issues(db: LedgerDb) {
    let fixture = CouponLedger::with(db, &json!({"stock": 1})).await;
    fixture.now("a", "u1").await;
    fixture.own_projector().finish().await;
    fixture.wipe().await;
    // Another instance has it from the ledger alone.
    let started = fixture.other_instance();
    let known = started
        .registry
        .observe(&fixture.id, Mark::new(0, 2).expect("a mark"))
        .mark();
    for coupons in [fixture.kind.clone(), started] {
        assert_eq!(coupons.registry.known(&fixture.id).mark(), known);
        fixture.projector_of(coupons.clone(), false).finish().await;
        assert!(coupons.registry.known(&fixture.id).is_lost() && coupons.registry.known(&fixture.id).whole().is_err());
        let (store, keys, definition) = (&fixture.store, &fixture.keys, definition(&json!({})));
        let issued = scripts::issue(store, keys, known, &[ask("b", "u2")]).await;
        assert!(matches!(issued, Err(ScriptError::Behind { .. })), "{issued:?}");
        let wish = Define {
            definition: &definition,
            wanted: Wanted::Any,
            last_version: None,
            nonce: "again",
            history: "0123456789abcdef",
            by: &operator(),
        };
        let created = scripts::define(store, keys, known, &wish, 7_200).await;
        assert!(matches!(created, Err(ScriptError::Behind { .. })), "{created:?}");
    }
    assert!(fixture.dump().await.is_empty(), "nothing was made anew");
    let done = fixture.restore(Replace::Lost).await.expect("rebuilt");
    assert_eq!((done.mark, done.records), (Mark::new(1, 3).expect("a mark"), 1));
    fixture.own_projector().finish().await;
    assert!(
        !fixture.kind.registry.known(&fixture.id).is_lost(),
        "found out by itself"
    );
    assert_eq!(letters(&[fixture.now("b", "u2").await]), "o");
}

async fn what_is_not_lost_is_not_replaced(db: LedgerDb) {
    let fixture = CouponLedger::with(db, &json!({})).await;
    fixture.now("a", "u1").await;
    fixture.project().await;
    let seen = fixture.snapshot().await.mark;
    for replace in [Replace::Lost, Replace::Stopped, Replace::Seen(seen)] {
        let refused = fixture.restore(replace).await;
        assert!(matches!(refused, Err(RestoreError::NotLost)), "{refused:?}");
    }
    fixture.now("b", "u2").await;
    let ahead = fixture.restore(Replace::Stopped).await;
    assert!(matches!(ahead, Err(RestoreError::Ahead { .. })), "{ahead:?}");
    let done = fixture.restore(Replace::Ahead).await.expect("given up");
    assert_eq!(done.records, 1);
    assert_eq!(fixture.status_held().await, "suspended");
    fixture.status(Status::Open).await;
    assert_eq!(
        letters(&[fixture.now("b", "u2").await]),
        "i",
        "it is not known any more"
    );
    fixture.project().await;
    fixture.assert_complete().await;
    // What no script can read is replaced, whatever the type of the key.
    let keys = &fixture.keys;
    let queue = redis::cmd("SET").arg(&keys.queue).arg("rubbish").to_owned();
    let state = redis::cmd("HSET").arg(&keys.state).arg("seq").arg("rubbish").to_owned();
    for mut damage in [queue, state] {
        fixture.raw::<()>(&mut damage).await;
        fixture.restore(Replace::Stopped).await.expect("rebuilt");
        fixture.project().await;
        fixture.assert_complete().await;
    }
}

async fn a_coupon_that_is_over_stays_so(db: LedgerDb) {
    let fixture = CouponLedger::with(db, &json!({"ends_at": "2001-01-01T00:00:00Z"})).await;
    fixture.now("late", "u1").await;
    let n = fixture.snapshot().await.mark.n();
    let long_ago = [("over_version", "1"), ("over_age", "999999999"), ("over_looked", "1")];
    let mut set = redis::cmd("HSET");
    fixture.raw::<()>(set.arg(&fixture.keys.state).arg(&long_ago)).await;
    scripts::retire(&fixture.store, &fixture.keys, Mark::ZERO, n, 0)
        .await
        .expect("a reply");
    fixture.project().await;
    fixture.assert_complete().await;
    let before = fixture.contents().await;
    fixture.wipe().await;
    fixture.heal().await;
    assert_eq!(
        (fixture.contents().await, fixture.status_held().await),
        (before, "ended".to_owned())
    );
    fixture.assert_complete().await;
    assert!(fixture.report().await.clean);
}

async fn a_ledger_that_lacks_an_issue_restores_nothing(db: LedgerDb) {
    let fixture = CouponLedger::with(db, &json!({})).await;
    for (request, user) in [("a", "u1"), ("b", "u2")] {
        fixture.now(request, user).await;
    }
    fixture.project().await;
    fixture.wipe().await;
    fixture
        .change(&format!(
            "DELETE FROM coupon_issues WHERE coupon_id = '{}' AND sequence = 1",
            fixture.id
        ))
        .await;
    let refused = fixture.restore(Replace::Lost).await;
    assert!(
        refused
            .as_ref()
            .is_err_and(|error| error.to_string().contains("it has 1 requests")),
        "{refused:?}"
    );
    let asked = scripts::issue(&fixture.store, &fixture.keys, Mark::ZERO, &[ask("c", "u3")]).await;
    assert!(matches!(asked, Err(ScriptError::Restoring)), "{asked:?}");
}

/// A second Redis restored from the same ledger is the same, key by key.
#[tokio::test]
async fn records_of_thousands_of_requests_come_back_in_pages() {
    let fixture = CouponLedger::with(LedgerDb::sqlite(), &json!({"stock": 2_000})).await;
    issue_many(&fixture, 2_500).await;
    fixture.project().await;
    let before = fixture.contents().await;
    fixture.wipe().await;
    fixture.heal().await;
    assert_eq!(fixture.contents().await, before);
    fixture.assert_complete().await;
    let snapshot = fixture.snapshot().await;
    assert_eq!((snapshot.issued, snapshot.remaining()), (2_000, 0));
}

async fn issue_many(fixture: &CouponFixture, requests: usize) {
    let all: Vec<_> = (0..requests).map(|i| ask(&format!("r{i}"), &format!("u{i}"))).collect();
    for part in all.chunks(1_000) {
        fixture.answers(part).await;
    }
}
