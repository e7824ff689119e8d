//! Memory is full: what was begun is completed, and nothing new begins.

use std::sync::Arc;

use jackpot::coupon::scripts::{self, Acted};
use jackpot_api::coupon::Status;
use jackpot_core::mark::Mark;

use crate::coupon::fixture::{CouponFixture, answered, ask, letters, with_codes};
use crate::support::prelude::*;

async fn limit(fixture: &CouponFixture, bytes: u64) {
    fixture
        .raw::<()>(redis::cmd("CONFIG").arg("SET").arg("maxmemory").arg(bytes))
        .await;
}

#[tokio::test]
async fn when_memory_is_full_the_queue_is_served_and_nothing_new_is_taken() {
    let redis = Arc::new(TestRedis::own(&["--maxmemory-policy", "noeviction"]).await);
    let fixture = CouponFixture::on(redis, &json!({})).await;
    fixture.now("a", "u").await;
    fixture.join("b", "v").await;
    fixture.served("one", "t1", &[], 1).await;
    limit(&fixture, 1).await;

    let before = fixture.dump().await;
    let refused = scripts::issue(&fixture.store, &fixture.keys, Mark::ZERO, &[ask("c", "w")]).await;
    assert!(refused.is_err(), "{refused:?}");
    let refused = scripts::checkpoint(&fixture.store, &fixture.keys, Mark::ZERO).await;
    assert!(refused.is_err(), "{refused:?}");
    assert_eq!(fixture.dump().await, before);

    assert!(fixture.lookup("a").await.is_some());
    let (answers, _) = fixture.served("one", "t2", &with_codes(["b"]), 1).await;
    assert_eq!(letters(&[answers[0].clone().expect("a record")]), "i");
    assert!(matches!(fixture.void("a").await, Acted::Done(answer) if answer.fresh));
    let owed = [ask("draw:spring:e1", "w")];
    let owed = scripts::issue_owed(&fixture.store, &fixture.keys, Mark::ZERO, &owed).await;
    let answer = answered(owed.expect("a reply").answers.remove(0));
    assert_eq!(letters(&[answer]), "i");
    fixture.status(Status::Suspended).await;
    fixture.status(Status::Open).await;

    limit(&fixture, 0).await;
    assert_eq!(letters(&[fixture.now("c", "x").await]), "i");
    assert_eq!(fixture.snapshot().await.issued, 4);
}
