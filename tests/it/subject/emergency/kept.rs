//! A decision that only Redis has, because SQL answered too late, reaches SQL with the first event of a subject that
//! obeyed. So it outlives a Redis that loses everything.

use jackpot::ledger::emergency::last_in_sql;
use jackpot::ledger::kind::Kind as _;
use jackpot::subject::emergency::{Decision, Obedience, last_in_redis, next_order, write_in_redis};

use crate::coupon::ledger::fixture::CouponLedger;
use crate::jackpot::ledger::fixture::JackpotLedger;
use crate::room::ledger::fixture::RoomLedger;
use crate::support::ledger_fixture::{InLedger, LedgerFixture};
use crate::support::prelude::*;

on_both_databases!(
    what_a_jackpot_obeyed_is_in_sql,
    what_a_coupon_obeyed_is_in_sql,
    what_a_room_obeyed_is_in_sql,
);

/// Decides as an operator whose instance dies before it writes to SQL. The subject obeys.
async fn decide<C: InLedger>(fixture: &LedgerFixture<C>, last: u64, stops: bool) -> Decision {
    let order = next_order(last, stops);
    let decision = Decision {
        order,
        reason: format!("reason {order}"),
        at_ms: 1_000,
        who: "tester".to_owned(),
        request_id: "r".to_owned(),
    };
    assert!(write_in_redis(&fixture.store, &decision).await.expect("a reply"));
    let obeyed = fixture.kind.obeys().obey(&fixture.id, &decision).await;
    assert_eq!(obeyed.expect("a reply"), Obedience::Obeys);
    decision
}

async fn in_sql<C: InLedger>(fixture: &LedgerFixture<C>) -> Option<Decision> {
    last_in_sql(&fixture.ledger.sql).await.expect("SQL answers")
}

async fn outlives_a_lost_redis<C: InLedger>(fixture: LedgerFixture<C>) {
    fixture.project().await;
    assert_eq!(in_sql(&fixture).await, None);
    let mut last = 0;
    for stops in [true, false, true] {
        let decision = decide(&fixture, last, stops).await;
        fixture.project().await;
        let kept = in_sql(&fixture).await.expect("a decision");
        let at_ms: i64 = fixture.last_event("emergency").await["at"].parse().expect("a time");
        assert_eq!(kept, Decision { at_ms, ..decision }, "its time is that of the event");
        last = kept.order;
        fixture.wipe().await;
        assert_eq!(last_in_redis(&fixture.store).await.expect("a reply"), None);
        fixture.heal().await;
        let expected = if stops { "stopped open" } else { "open" };
        assert_eq!(fixture.status_held().await, expected);
        fixture.project().await;
    }
    let rows = fixture.table("emergency_decisions", "decision").await;
    assert_eq!(rows, [["1"], ["2"], ["3"]]);
}

async fn what_a_jackpot_obeyed_is_in_sql(db: LedgerDb) {
    outlives_a_lost_redis(JackpotLedger::with(db, &json!({})).await).await;
}

async fn what_a_coupon_obeyed_is_in_sql(db: LedgerDb) {
    outlives_a_lost_redis(CouponLedger::with(db, &json!({})).await).await;
}

async fn what_a_room_obeyed_is_in_sql(db: LedgerDb) {
    outlives_a_lost_redis(RoomLedger::with(db, &json!({})).await).await;
}
