//! `lua/jackpot/coupon.lua` on a real Redis: it records a coupon's answer to the request of an entry.

use jackpot::jackpot::ledger::event::{ClaimResult, Kind};
use jackpot::jackpot::scripts::{self, Finished, Granted, ScriptError};
use jackpot_api::jackpot::Status;
use jackpot_core::ids::Id;
use jackpot_core::jackpot::record::{CouponUnit, Reason, Record, State};

use crate::jackpot::fixture::{JackpotFixture, drawn};
use crate::support::given::rank;
use crate::support::prelude::*;

async fn fixture() -> JackpotFixture {
    let ranks = [
        rank(1, &json!({"pool": {"tier": "grand", "take": "all"}})),
        rank(4, &json!({"coupon": {"coupon_id": "coffee"}})),
        rank(5, &json!({"coupon": {"coupon_id": "tea"}})),
    ];
    JackpotFixture::with(&json!({"odds": {"total": 1000, "ranks": ranks}})).await
}

fn coffee() -> Id {
    Id::parse("coffee").expect("an id")
}

fn unit(sequence: u64) -> Granted {
    Granted::Issued {
        sequence,
        code: "7Q2M9K-4TZX0B-C8WRH5".to_owned(),
    }
}

async fn try_record(
    fixture: &JackpotFixture,
    entry_id: &str,
    attempt: u32,
    rank: u32,
    granted: &Granted,
) -> Result<Finished, ScriptError> {
    let (known, view) = fixture.fresh().await;
    let (fence, tiers) = (known.fence(&view), view.definition.tiers());
    scripts::record_coupon(
        &fixture.store,
        &known.keys,
        &fence,
        tiers,
        drawn(entry_id, attempt, rank),
        &coffee(),
        granted,
    )
    .await
}

async fn grant(fixture: &JackpotFixture, entry_id: &str, attempt: u32, rank: u32, granted: &Granted) -> Finished {
    try_record(fixture, entry_id, attempt, rank, granted)
        .await
        .expect("a reply")
}

fn record(finished: Finished) -> Record {
    finished.record.expect("remembered")
}

#[tokio::test]
async fn an_entry_gets_its_coupon_once_whoever_repeats_it() {
    let fixture = fixture().await;
    let pending = fixture.take("e", 4).await;
    assert!(matches!(&pending.state, State::Pending { refusals, .. } if refusals.is_empty()));
    let first = grant(&fixture, "e", 0, 4, &unit(17)).await;
    assert!(first.done_now);
    let first = record(first);
    let expected = CouponUnit {
        rank: 4,
        coupon_id: coffee(),
        sequence: 17,
        code: "7Q2M9K-4TZX0B-C8WRH5".to_owned(),
    };
    assert!(matches!(&first.state, State::Issued { unit, refusals } if *unit == expected && refusals.is_empty()));
    let before = fixture.dump().await;
    for granted in [unit(17), Granted::Refused(Reason::OutOfStock)] {
        let again = grant(&fixture, "e", 0, 4, &granted).await;
        assert!(!again.done_now);
        assert_eq!(record(again), first);
    }
    assert_eq!(record(fixture.claim("e", 1, 1).await), first, "nothing more is won");
    assert_eq!(record(fixture.finish("e", 5).await), first);
    assert_eq!(fixture.dump().await, before);
    assert_eq!(fixture.snapshot().await.pending, 0);
    fixture.assert_rebuilds().await;
}

#[tokio::test]
async fn a_refusal_is_final_for_its_rank_and_the_entry_goes_on() {
    let fixture = fixture().await;
    fixture.fund("f", 500).await;
    for (entry, reason) in [
        ("a", Reason::OutOfStock),
        ("b", Reason::AlreadyIssued),
        ("c", Reason::NotOpen),
    ] {
        fixture.take(entry, 4).await;
        let refused = record(grant(&fixture, entry, 0, 4, &Granted::Refused(reason)).await);
        assert_eq!(
            refused
                .refusals()
                .iter()
                .map(|r| (r.rank, r.reason))
                .collect::<Vec<_>>(),
            [(4, reason)]
        );
        let before = fixture.dump().await;
        let again = grant(&fixture, entry, 2, 4, &unit(1)).await;
        assert!(!again.done_now, "a rank that refused refuses again");
        assert_eq!(record(again), refused);
        assert_eq!(fixture.dump().await, before);
    }
    let paid = record(fixture.claim("a", 1, 1).await);
    assert!(matches!(&paid.state, State::Paid { refusals, .. } if refusals.len() == 1));
    let other = record(grant(&fixture, "b", 1, 5, &unit(3)).await);
    assert!(matches!(&other.state, State::Issued { refusals, .. } if refusals.len() == 1));
    fixture.finish("c", 1).await;
    let events = fixture.events().await;
    let refusals = events.iter().filter_map(|event| match &event.kind {
        Kind::Claim { claim, .. } => claim.result.refusal(),
        _ => None,
    });
    assert_eq!(
        refusals.collect::<Vec<_>>(),
        [Reason::OutOfStock, Reason::AlreadyIssued, Reason::NotOpen]
    );
    assert!(events.iter().any(|event| {
        let Kind::Claim { claim, .. } = &event.kind else {
            return false;
        };
        matches!(&claim.result, ClaimResult::Issued { sequence: 3, coupon_id, .. } if *coupon_id == coffee())
    }));
    fixture.assert_rebuilds().await;
}

#[tokio::test]
async fn what_a_coupon_gave_is_recorded_on_a_closed_jackpot_too() {
    let fixture = fixture().await;
    fixture.take("e", 4).await;
    fixture.status(Status::Closed).await;
    let done = grant(&fixture, "e", 0, 4, &unit(1)).await;
    assert!(done.done_now);
    assert!(matches!(record(done).state, State::Issued { .. }));
    fixture.assert_rebuilds().await;
}

#[tokio::test]
async fn the_coupon_of_the_last_pending_entry_of_a_paused_jackpot_lets_the_waiting_definition_in() {
    let fixture = fixture().await;
    fixture.take("a", 4).await;
    fixture.take("b", 4).await;
    fixture.status(Status::Paused).await;
    fixture.define(&json!({"contribution": {"fixed": 2}})).await;
    grant(&fixture, "a", 0, 4, &unit(1)).await;
    assert!(fixture.snapshot().await.waiting.is_some(), "another entry is pending");
    grant(&fixture, "b", 0, 4, &unit(2)).await;
    let snapshot = fixture.snapshot().await;
    assert_eq!((snapshot.waiting, snapshot.version), (None, 2));
    fixture.assert_rebuilds().await;
}

#[tokio::test]
async fn what_is_unknown_or_stale_leaves_no_trace() {
    let fixture = fixture().await;
    fixture.take("e", 4).await;
    let (known, view) = fixture.fresh().await;
    let before = fixture.dump().await;
    assert_eq!(grant(&fixture, "nobody", 0, 4, &unit(1)).await.record, None);
    let mut fence = known.fence(&view);
    fence.definition.push('x');
    let (coupon, granted) = (coffee(), unit(1));
    let recording = scripts::record_coupon(
        &fixture.store,
        &known.keys,
        &fence,
        view.definition.tiers(),
        drawn("e", 0, 4),
        &coupon,
        &granted,
    );
    assert!(matches!(recording.await, Err(ScriptError::Stale)));
    assert_eq!(fixture.dump().await, before);
}

#[tokio::test]
async fn the_last_pending_entry_of_a_paused_jackpot_puts_the_waiting_definition_in_force() {
    let fixture = fixture().await;
    fixture.fund("f", 500).await;
    fixture.take("e", 4).await;
    fixture.define(&json!({"max_redraws": 3})).await;
    fixture.status(Status::Paused).await;
    assert!(fixture.snapshot().await.waiting.is_some(), "something is pending");
    grant(&fixture, "e", 0, 4, &Granted::Refused(Reason::OutOfStock)).await;
    assert!(fixture.snapshot().await.waiting.is_some(), "it is still");
    fixture.finish("e", 1).await;
    assert!(fixture.snapshot().await.waiting.is_none());
    fixture.define(&json!({})).await;
    fixture.assert_rebuilds().await;
}
