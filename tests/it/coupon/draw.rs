//! The answers that a draw gets about a coupon, within the service.

use jackpot::coupon::code::Code;
use jackpot::coupon::coupons::DrawAnswer;
use jackpot::coupon::error::CouponError;
use jackpot::coupon::queue_worker::QueueWorker;
use jackpot::coupon::scripts::Mode;
use jackpot::stopping::Stopping;

use crate::coupon::http::support::{hold, release};
use crate::coupon::instance::{Instance, id};
use crate::support::given::{operator, person};
use crate::support::prelude::*;

impl Instance {
    async fn draw(&self, entry: &str, player: &str) -> Result<DrawAnswer, CouponError> {
        let request = format!("draw:spring:{entry}");
        self.coupons.issue_for_draw(&self.id, &request, &person(player)).await
    }

    async fn issued(&self, entry: &str, player: &str) -> (u64, Code) {
        match self.draw(entry, player).await {
            Ok(DrawAnswer::Issued { sequence, code }) => (sequence, code),
            other => panic!("{entry}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn a_draw_gets_a_unit_or_the_reason_and_the_same_when_it_asks_again() {
    let instance = Instance::with(2, &json!({}), 100).await;
    let first = instance.issued("e1", "p1").await;
    assert_eq!(first.0, 1);
    assert_eq!(
        instance.draw("e2", "p1").await.expect("an answer"),
        DrawAnswer::AlreadyIssued
    );
    instance.issued("b1:3", "p2").await;
    assert_eq!(
        instance.draw("e3", "p3").await.expect("an answer"),
        DrawAnswer::OutOfStock
    );
    // The reasons are gone, and the answers stay, also for a unit that was voided.
    instance
        .coupons
        .void(&instance.id, "draw:spring:e1", &operator())
        .await
        .expect("voided");
    assert_eq!(instance.issued("e1", "p1").await, first);
    assert_eq!(
        instance.draw("e2", "p1").await.expect("an answer"),
        DrawAnswer::AlreadyIssued
    );
    assert_eq!(
        instance.draw("e3", "p3").await.expect("an answer"),
        DrawAnswer::OutOfStock
    );
    assert_eq!(instance.issued("e4", "p1").await.0, 3);
}

#[tokio::test]
async fn a_coupon_that_is_over_or_is_none_is_not_open() {
    let instance = Instance::with(2, &json!({"ends_at": "2001-01-01T00:00:00Z"}), 100).await;
    assert_eq!(instance.draw("e1", "p1").await.expect("an answer"), DrawAnswer::NotOpen);
    let none = instance
        .coupons
        .issue_for_draw(&id("none"), "draw:spring:e1", &person("p1"))
        .await;
    assert_eq!(none.expect("an answer"), DrawAnswer::NotOpen);
    assert!(
        !instance.coupons.registry.is_used(&id("none")),
        "nothing is remembered of it"
    );
}

#[tokio::test]
async fn a_draw_waits_for_its_turn_and_finds_it_later() {
    let instance = Instance::with(5, &json!({}), 300).await;
    hold(&instance.redis, "prize").await;
    let (coupons, prize) = (&instance.coupons, &instance.id);
    coupons
        .issue(prize, &id("q1"), &person("u1").into(), Mode::Line)
        .await
        .expect("in the queue");
    let waiting = instance.draw("e1", "p1").await;
    assert!(matches!(waiting, Err(CouponError::Waiting(_))), "{waiting:?}");
    let stopping = Stopping::default();
    let line = QueueWorker::new(coupons.clone(), instance.settings.clone()).expect("a worker");
    let working = tokio::spawn(line.run(stopping.clone()));
    assert!(
        matches!(instance.draw("e1", "p1").await, Err(CouponError::Waiting(_))),
        "another instance serves"
    );
    release(&instance.redis, "prize").await;
    let patient = eventually(PATIENCE, "its turn comes", async || {
        instance.draw("e1", "p1").await.ok()
    })
    .await;
    assert!(
        matches!(patient, DrawAnswer::Issued { sequence: 2, .. }),
        "behind the one who came first: {patient:?}"
    );
    stopping.begin();
    working.await.expect("the worker ends");
}

#[tokio::test]
async fn a_coupon_that_redis_lost_is_an_error_and_not_a_refusal() {
    let instance = Instance::with(5, &json!({}), 100).await;
    instance.issued("e1", "p1").await;
    instance.raw(&["FLUSHALL"]).await;
    let lost = instance.draw("e2", "p2").await;
    assert!(matches!(lost, Err(CouponError::Script(_))), "{lost:?}");
}
