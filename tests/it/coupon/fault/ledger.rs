//! A whole service projects and compares a coupon, and rebuilds what Redis lost; the commands do the same.

use std::sync::Arc;

use jackpot_api::coupon::Status;

use crate::coupon::fixture::{Coupon, CouponFixture, letters};
use crate::fault::ledger_support::{compared, service_beside, until_it_agrees};
use crate::support::ledger_fixture::InLedger;
use crate::support::prelude::*;

/// A coupon with three requests, one of them refused, one voided.
async fn coupon() -> CouponFixture {
    let fixture = CouponFixture::on(Arc::new(TestRedis::own(&[]).await), &json!({"stock": 2})).await;
    Coupon::known(&fixture).await;
    for (request, user) in [("a", "u1"), ("b", "u1"), ("c", "u2")] {
        fixture.now(request, user).await;
    }
    fixture.void("a").await;
    fixture
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_service_compares_a_coupon_and_rebuilds_a_lost_one() {
    let fixture = coupon().await;
    let id = fixture.id.as_str();
    let service = service_beside(&fixture, "on").await;
    until_it_agrees(&service, &fixture).await;
    let issues = service.get(&format!("/v1/coupons/{id}/issues")).await;
    let rows: Vec<_> = issues.body["items"].as_array().expect("a list").iter().collect();
    assert_eq!(rows.len(), 2, "{issues:?}");
    assert_eq!(
        (&rows[0]["request_id"], &rows[1]["request_id"]),
        (&json!("a"), &json!("c"))
    );
    assert!(
        rows[0]["voided_at"].is_string() && rows[1]["voided_at"].is_null(),
        "{rows:?}"
    );
    let ready = service.get("/readyz").await;
    assert_eq!(ready.body["refused"]["coupons"], 0, "{ready:?}");
    let metrics = service.get("/metrics").await.text;
    metrics.says(&format!("jackpot_ledger_lag_events{{coupon=\"{id}\"}} 0"));
    let url = service.url("");
    let clean = service.command(&["reconcile", "--url", &url, "--coupon", id]);
    clean.done();
    assert!(
        clean.words().starts_with(&format!("coupon {id} at event ")),
        "{}",
        clean.words()
    );

    fixture.raw::<()>(&mut redis::cmd("FLUSHALL")).await;
    eventually(PATIENCE, "the coupon is rebuilt", async || {
        let (restores, status): (Option<u64>, Option<String>) =
            (fixture.field("restores").await, fixture.field("status").await);
        (restores == Some(1) && status.as_deref() == Some("open")).then_some(())
    })
    .await;
    let again = [
        fixture.now("a", "u1").await,
        fixture.now("b", "u1").await,
        fixture.now("c", "u2").await,
    ];
    assert_eq!(letters(&again), "vai");
    until_it_agrees(&service, &fixture).await;

    let voided = |by: i64| {
        redis::cmd("HINCRBY")
            .arg(&fixture.keys.state)
            .arg("voided")
            .arg(by)
            .to_owned()
    };
    fixture.raw::<i64>(&mut voided(1)).await;
    let status = async |wanted: Status| {
        eventually(PATIENCE, "the coupon's status follows", async || {
            (fixture.snapshot().await.status == wanted).then_some(())
        })
        .await;
    };
    status(Status::Suspended).await;
    let wrong = service.command(&["reconcile", "--url", &url]);
    assert_eq!(wrong.status.code(), Some(1), "{}", wrong.words());
    wrong.says("voided is 2 in Redis and 1 in the ledger");
    assert_eq!(compared(&service, &fixture).await.0, StatusCode::CONFLICT);
    fixture.raw::<i64>(&mut voided(-1)).await;
    status(Status::Open).await;
    until_it_agrees(&service, &fixture).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_command_rebuilds_a_coupon_of_a_service_that_does_not() {
    let fixture = coupon().await;
    let id = fixture.id.as_str();
    let mut service = service_beside(&fixture, "off").await;
    until_it_agrees(&service, &fixture).await;
    assert!(service.stop().await.success());
    let whole = service.command(&["restore", "--coupon", id]);
    assert_eq!(whole.status.code(), Some(1), "{}", whole.words());
    whole.says("NOT restored: Redis has all its events");
    fixture.raw::<()>(&mut redis::cmd("FLUSHALL")).await;
    service.restart().await;
    let nothing = fixture.dump().await.is_empty();
    assert!(nothing, "nothing is made anew by a start");
    assert!(service.stop().await.success());
    let restored = service.command(&["restore"]);
    restored.done();
    let line = format!("coupon:{id}: restored, event 6 after 1 restores, 3 requests remembered");
    restored.says(&line);
    let other = service.command(&["restore", "--coupon", "none"]);
    other.says("the ledger has no event of coupon 'none'");
    let table = service.command(&["reconcile", "--coupon", id]);
    table.done();
    table.says("stock = remaining + issued - voided");
    service.restart().await;
    until_it_agrees(&service, &fixture).await;
    assert_eq!(letters(&[fixture.now("b", "u1").await]), "a");
}
