//! The way out of a stuck stream of a coupon or a room.

use jackpot::coupon::ledger::books::Books;
use jackpot::coupon::ledger::event::Event;
use jackpot::ledger::Ledger;
use jackpot::ledger::projector::lease::Leases;
use jackpot::ledger::restore::Replace;
use jackpot::ledger::stuck::{self, At, Skip, Skips};
use jackpot::store::Store;
use jackpot_core::ids::Id;
use jackpot_core::mark::Mark;

use crate::coupon::ledger::fixture::{self as coupons, CouponLedger};
use crate::jackpot::fixture::operator;
use crate::room::ledger::fixture::{self as rooms, RoomLedger};
use crate::support::fixture::Fields;
use crate::support::prelude::*;

on_both_databases!(a_room_goes_on_behind_an_event_that_nobody_can_read);

/// Leaves nothing of an event but its number.
fn rubbish(fields: &mut Fields) {
    fields.clear();
    fields.insert("n".to_owned(), "\u{0}".to_owned());
}

/// Skips the stuck event of a stream.
async fn skip<K: Skips>(kind: &K, ledger: &Ledger, store: &Store, id: &Id, n: u64) {
    let leases = Leases::of(K::NAME, ledger.sql.clone(), "a-test".to_owned(), 10_000);
    let token = leases.take(id).await.expect("an answer").expect("there");
    let at = At {
        ledger,
        store,
        id,
        token,
        index: false,
        skip: None,
    };
    let (found, plan) = stuck::plan(kind, &at).await.expect("found");
    assert_eq!(found.stuck.as_ref().map(|stuck| stuck.n), Some(n));
    let plan = plan.expect("a plan");
    let (_, stop) = stuck::outlook(&at, &found, &plan);
    assert_eq!(stop, None, "event {n}: {:?}", plan.lines);
    let wish = Skip {
        n,
        by: &operator(),
        reason: "a test",
    };
    let done = stuck::skip(&at, &found, plan, &wish, 1).await;
    done.unwrap_or_else(|error| panic!("event {n} is not skipped: {error}"));
    leases.release().await.expect("given back");
}

/// The n-th event of a coupon's life.
fn nth(n: usize) -> impl Fn(&[(String, Fields)]) -> usize {
    move |_| n - 1
}

/// An event of a coupon's life, chosen by its place among them, is skipped: Redis and the ledger agree, and a restore
/// brings all of it back.
async fn coupon(db: LedgerDb, choose: impl Fn(&[(String, Fields)]) -> usize) {
    let fixture = CouponLedger::with(db, &json!({"stock": 3, "per_user": 2})).await;
    coupons::live(&fixture).await;
    let at = choose(&fixture.events().await);
    let n = at as u64 + 1;
    fixture.rewrite(|events| rubbish(&mut events[at].1)).await;
    fixture.project().await;
    assert_eq!(fixture.place("n").await, (n - 1).to_string());
    assert_eq!(fixture.status_held().await, "suspended");
    skip(&fixture.kind, &fixture.ledger, &fixture.store, &fixture.id, n).await;
    fixture.heal().await;
    assert_eq!(fixture.place("stopped").await, "", "event {n}");
    let report = fixture.report().await;
    assert!(report.clean, "event {n}: {:?}", report.faults());
    let mut books = Books::default();
    for row in fixture.own_rows("events", "n body", "n").await {
        let fields = serde_json::from_str(&row[1]).expect("an object");
        books.apply(&Event::parse(&fields).expect("readable")).expect("follows");
    }
    let sequences = fixture.own_rows("coupon_issues", "sequence", "sequence").await;
    assert_eq!(sequences.len() as u64, books.sequence, "every unit has its row");
    let redemptions = fixture
        .own_rows("coupon_redemptions", "redemption_id reference", "sequence")
        .await;
    assert_eq!(
        redemptions,
        [["till-1", "receipt 1"]; 2],
        "event {n}: every redemption has its row"
    );
    let before = fixture.contents().await;
    // As if an instance had seen one event more. Otherwise a coupon that agrees with the ledger is open and is not
    // replaced.
    let mark = fixture.snapshot().await.mark;
    let seen = Mark::new(mark.restores(), mark.n() + 1).expect("a mark");
    fixture.restore(Replace::Seen(seen)).await.expect("rebuilt");
    let after = fixture.contents().await;
    // Requests, users, the queue and the dead letters.
    assert_eq!(after[1..], before[1..], "event {n}");
}

#[tokio::test]
async fn any_event_of_a_coupon_can_be_skipped_and_no_issue_is_lost() {
    for n in (2..=24).step_by(2) {
        coupon(LedgerDb::sqlite(), nth(n)).await;
    }
}

/// The first redemption is of a unit without metadata that was issued at once, the other of one with metadata that the
/// queue's consumer issued.
#[tokio::test]
async fn an_event_that_redeems_can_be_skipped_and_its_redemption_is_not_lost() {
    for which in 0..2 {
        let redeems = |events: &[(String, Fields)]| {
            let all = events.iter().enumerate();
            let mut own = all.filter(|(_, (kind, _))| kind == "redeem").map(|(at, _)| at);
            own.nth(which).expect("two of them")
        };
        coupon(LedgerDb::sqlite(), redeems).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_event_of_a_coupon_can_be_skipped_on_postgres() {
    coupon(LedgerDb::postgres().await, nth(3)).await;
}

async fn a_room_goes_on_behind_an_event_that_nobody_can_read(db: LedgerDb) {
    let fixture = RoomLedger::with(db, &json!({"opens_at": "2099-01-01T00:00:00Z"})).await;
    rooms::live(&fixture).await;
    let at = fixture.stream().await.len() - 2;
    let n = at as u64 + 1;
    fixture.rewrite(|events| rubbish(&mut events[at].1)).await;
    fixture.project().await;
    assert_eq!(fixture.place("n").await, (n - 1).to_string());
    skip(&fixture.kind, &fixture.ledger, &fixture.store, &fixture.id, n).await;
    fixture.heal().await;
    assert_eq!(fixture.place("stopped").await, "");
    let report = fixture.report().await;
    assert!(report.clean, "{:?}", report.faults());
}
