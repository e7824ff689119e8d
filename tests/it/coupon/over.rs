//! A coupon that ended long ago: the worker drops its records once the ledger has all of it.

use jackpot::coupon::coupons::DrawAnswer;
use jackpot::coupon::error::CouponError;
use jackpot::coupon::queue_worker::QueueWorker;
use jackpot::coupon::scripts::Mode;
use jackpot::settings;
use jackpot::stopping::Stopping;
use jackpot_api::coupon::Status;

use crate::coupon::instance::{Instance, id};
use crate::support::given::person;
use crate::support::prelude::*;

#[tokio::test]
async fn what_is_over_is_dropped_once_the_ledger_has_it_and_takes_nobody_any_more() {
    let instance = Instance::with(5, &json!({"ends_at": "2001-01-01T00:00:00Z"}), 100).await;
    let (coupons, prize) = (&instance.coupons, &instance.id);
    coupons
        .issue(prize, &id("r1"), &person("u1").into(), Mode::Now)
        .await
        .expect("refused for good");
    let settings = settings::Coupons {
        retention_s: 0,
        ..instance.settings.clone()
    };
    instance
        .raw(&["HSET", &format!("cp:{{{prize}}}:state"), "retention", "0"])
        .await;
    let stopping = Stopping::default();
    let worker = QueueWorker::new(coupons.clone(), settings).expect("a worker");
    let working = tokio::spawn(worker.run(stopping.clone()));
    let known = coupons.registry.known(prize);
    let looked = instance.calls("coupon_view");
    eventually(PATIENCE, "the worker looks", async || {
        (instance.calls("coupon_view") > looked + 1).then_some(())
    })
    .await;
    let status = async || coupons.snapshot(prize).await.expect("readable").status;
    assert_eq!(status().await, Status::Open, "nothing is known of the ledger");
    known.set_ledger_n(Some(known.mark().n()));
    eventually(PATIENCE, "its records are dropped", async || {
        (status().await == Status::Ended).then_some(())
    })
    .await;
    let asked = coupons.issue(prize, &id("r2"), &person("u2").into(), Mode::Now).await;
    assert!(matches!(asked, Err(CouponError::Ended)), "{asked:?}");
    let owed = coupons.issue_for_draw(prize, "draw:spring:e1", &person("p1")).await;
    assert_eq!(owed.expect("an answer"), DrawAnswer::NotOpen);
    stopping.begin();
    working.await.expect("the worker ends");
}
