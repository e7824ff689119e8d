//! A whole service projects and compares a coupon, and rebuilds what Redis lost; the commands do the same.

use std::process::Output;
use std::sync::Arc;

use jackpot::coupon::known::Registry;
use jackpot::coupon::status::Status;
use jackpot_core::ids::Id;
use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::coupon::fixture::{CouponBench, letters};
use crate::fault::ledger_support::COMPARED_OFTEN;
use crate::fault::support::{PATIENCE, service_on};
use crate::support::eventually;
use crate::support::redis::TestRedis;
use crate::support::service::Service;

/// A coupon with three requests, one of them refused, one voided.
async fn coupon() -> (CouponBench, Id) {
    let bench = CouponBench::on(Arc::new(TestRedis::own(&[]).await), &json!({"stock": 2})).await;
    let id = Id::parse(bench.keys.state.split(['{', '}']).nth(1).expect("a hash tag")).expect("an id");
    let registry = Registry::new(bench.store.clone());
    registry
        .add_to_index(std::slice::from_ref(&id))
        .await
        .expect("in the index");
    for (request, user) in [("a", "u1"), ("b", "u1"), ("c", "u2")] {
        bench.now(request, user).await;
    }
    bench.void("a").await;
    (bench, id)
}

async fn service(bench: &CouponBench, auto_restore: &str) -> Service {
    let restore = ("JACKPOT__LEDGER__AUTO_RESTORE", auto_restore);
    service_on(bench.redis.url(), &[COMPARED_OFTEN, restore]).await
}

async fn compared(service: &Service, id: &Id) -> (StatusCode, Value) {
    let answer = service.get("/v1/reconciliation").await;
    let coupons = answer.body["coupons"].as_array().cloned().unwrap_or_default();
    let own = coupons.into_iter().find(|coupon| coupon["coupon_id"] == id.as_str());
    (answer.status, own.unwrap_or_default())
}

async fn until_clean(service: &Service, bench: &CouponBench, id: &Id) {
    eventually(PATIENCE, "the ledger has all of the coupon, and agrees", async || {
        let (status, own) = compared(service, id).await;
        let last = bench.snapshot().await.mark.n();
        let clean = own["clean"] == true && own["lag"] == 0 && own["event"].as_u64() == Some(last);
        (status == StatusCode::OK && clean).then_some(())
    })
    .await;
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_service_compares_a_coupon_and_rebuilds_a_lost_one() {
    let (bench, id) = coupon().await;
    let service = service(&bench, "on").await;
    until_clean(&service, &bench, &id).await;
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
    assert!(
        metrics.contains(&format!("jackpot_ledger_lag_events{{coupon=\"{id}\"}} 0")),
        "{metrics}"
    );
    let url = service.url("");
    let clean = service.command(&["reconcile", "--url", &url, "--coupon", id.as_str()]);
    assert!(clean.status.success(), "{}", told(&clean));
    assert!(
        told(&clean).starts_with(&format!("coupon {id} at event ")),
        "{}",
        told(&clean)
    );

    bench.raw::<()>(&mut redis::cmd("FLUSHALL")).await;
    eventually(PATIENCE, "the coupon is rebuilt", async || {
        let restores: Option<u64> = bench
            .raw(redis::cmd("HGET").arg(&bench.keys.state).arg("restores"))
            .await;
        let status: Option<String> = bench.raw(redis::cmd("HGET").arg(&bench.keys.state).arg("status")).await;
        (restores == Some(1) && status.as_deref() == Some("open")).then_some(())
    })
    .await;
    let again = [
        bench.now("a", "u1").await,
        bench.now("b", "u1").await,
        bench.now("c", "u2").await,
    ];
    assert_eq!(letters(&again), "vai");
    until_clean(&service, &bench, &id).await;

    let voided = |by: i64| {
        redis::cmd("HINCRBY")
            .arg(&bench.keys.state)
            .arg("voided")
            .arg(by)
            .to_owned()
    };
    bench.raw::<i64>(&mut voided(1)).await;
    let status = async |wanted: Status| {
        eventually(PATIENCE, "the coupon's status follows", async || {
            (bench.snapshot().await.status == wanted).then_some(())
        })
        .await;
    };
    status(Status::Suspended).await;
    let wrong = service.command(&["reconcile", "--url", &url]);
    assert_eq!(wrong.status.code(), Some(1), "{}", told(&wrong));
    assert!(
        told(&wrong).contains("voided is 2 in Redis and 1 in the ledger"),
        "{}",
        told(&wrong)
    );
    assert_eq!(compared(&service, &id).await.0, StatusCode::CONFLICT);
    bench.raw::<i64>(&mut voided(-1)).await;
    status(Status::Open).await;
    until_clean(&service, &bench, &id).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_command_rebuilds_a_coupon_of_a_service_that_does_not() {
    let (bench, id) = coupon().await;
    let mut service = service(&bench, "off").await;
    until_clean(&service, &bench, &id).await;
    assert!(service.stop().await.success());
    let whole = service.command(&["restore", "--coupon", id.as_str()]);
    assert_eq!(whole.status.code(), Some(1), "{}", told(&whole));
    assert!(
        told(&whole).contains("NOT restored: Redis has all its events"),
        "{}",
        told(&whole)
    );
    bench.raw::<()>(&mut redis::cmd("FLUSHALL")).await;
    service.restart().await;
    let nothing = bench.dump().await.values().all(Option::is_none);
    assert!(nothing, "nothing is made anew by a start");
    assert!(service.stop().await.success());
    let restored = service.command(&["restore"]);
    assert!(restored.status.success(), "{}", told(&restored));
    let line = format!("coupon:{id}: restored, event 6 after 1 restores, 3 requests remembered");
    assert!(told(&restored).contains(&line), "{}", told(&restored));
    let other = service.command(&["restore", "--coupon", "none"]);
    assert!(
        told(&other).contains("the ledger has no event of coupon 'none'"),
        "{}",
        told(&other)
    );
    let table = service.command(&["reconcile", "--coupon", id.as_str()]);
    assert!(table.status.success(), "{}", told(&table));
    assert!(
        told(&table).contains("stock = remaining + issued - voided"),
        "{}",
        told(&table)
    );
    service.restart().await;
    until_clean(&service, &bench, &id).await;
    assert_eq!(letters(&[bench.now("b", "u1").await]), "a");
}
