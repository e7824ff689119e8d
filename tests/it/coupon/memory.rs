//! Memory is full: what was begun is completed, and nothing new begins.

use std::sync::Arc;

use jackpot::coupon::scripts::{self, Voided};
use jackpot::coupon::status::Status;
use jackpot_core::mark::Mark;
use serde_json::json;

use crate::coupon::fixture::{CouponBench, answered, ask, letters, with_codes};
use crate::support::redis::TestRedis;

async fn limit(bench: &CouponBench, bytes: u64) {
    bench
        .raw::<()>(redis::cmd("CONFIG").arg("SET").arg("maxmemory").arg(bytes))
        .await;
}

#[tokio::test]
async fn when_memory_is_full_the_line_is_served_and_nothing_new_is_taken() {
    let redis = Arc::new(TestRedis::own(&["--maxmemory-policy", "noeviction"]).await);
    let bench = CouponBench::on(redis, &json!({})).await;
    bench.now("a", "u").await;
    bench.join("b", "v").await;
    bench.served("one", "t1", &[], 1).await;
    limit(&bench, 1).await;

    let before = bench.dump().await;
    let refused = scripts::issue(&bench.store, &bench.keys, Mark::ZERO, &[ask("c", "w")]).await;
    assert!(refused.is_err(), "{refused:?}");
    let refused = scripts::checkpoint(&bench.store, &bench.keys, Mark::ZERO).await;
    assert!(refused.is_err(), "{refused:?}");
    assert_eq!(bench.dump().await, before);

    assert!(bench.lookup("a").await.is_some());
    let (answers, _) = bench.served("one", "t2", &with_codes(["b"]), 1).await;
    assert_eq!(letters(&[answers[0].clone().expect("a record")]), "i");
    assert!(matches!(bench.void("a").await, Voided::Done(answer) if answer.fresh));
    let owed = [ask("draw:spring:e1", "w")];
    let owed = scripts::issue_owed(&bench.store, &bench.keys, Mark::ZERO, &owed).await;
    let answer = answered(owed.expect("a reply").answers.remove(0));
    assert_eq!(letters(&[answer]), "i");
    bench.status(Status::Suspended).await;
    bench.status(Status::Open).await;

    limit(&bench, 0).await;
    assert_eq!(letters(&[bench.now("c", "x").await]), "i");
    assert_eq!(bench.snapshot().await.issued, 4);
}
