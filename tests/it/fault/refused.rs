//! `/readyz`, the metrics and the log report what an instance refuses. An instance is ready when something on it can be
//! played.

use crate::coupon::http::support as coupons;
use crate::fault::ledger_support::COMPARED_OFTEN;
use crate::fault::support::{connection, create, enter, key, redrawing};
use crate::support::postgres_local::PrivatePostgres;
use crate::support::prelude::*;
use crate::support::service::LIMITS;

const REFUSED: &str = "jackpot_refused_subjects{kind=\"jackpot\",reason=\"lost\"}";

#[tokio::test]
async fn one_jackpot_that_is_refused_is_counted_named_to_readers_and_stops_no_instance() {
    let redis = own_redis(&[]).await;
    let service = service_on(redis.url(), &[]).await;
    for jackpot in ["gone", "played"] {
        create(&service, redrawing(jackpot)).await;
        enter(&service, jackpot, "e1").await.is(201);
    }
    let state = redis::cmd("DEL").arg(key("gone", "state")).to_owned();
    state.exec_async(&mut connection(redis.url()).await).await.expect("DEL");
    let ready = eventually(PATIENCE, "it is refused", async || {
        let ready = service.get("/readyz").await;
        (ready.body["refused"]["jackpots"] == 1).then_some(ready)
    })
    .await;
    assert_answer!(ready, 200, {"status": "ready"});
    let subject = &ready.body["refused_subjects"][0];
    assert_has!(subject, {"kind": "jackpot", "id": "gone", "reason": "lost"});
    subject["detail"].says("it lost events");
    enter(&service, "played", "e2").await.is(201);
    assert_eq!(enter(&service, "gone", "e2").await.body["code"], "jackpot-suspended");

    let stranger = http_client()
        .get(service.url("/readyz"))
        .send()
        .await
        .expect("an answer");
    let stranger: serde_json::Value = stranger.json().await.expect("JSON");
    assert_eq!(stranger["refused"]["jackpots"], 1);
    stranger.to_string().hides("gone");
    eventually(PATIENCE, "the metric counts it", async || {
        let metrics = service.get("/metrics").await.text;
        metrics.contains(&format!("{REFUSED} 1")).then_some(())
    })
    .await;
    let lines = |text: &str| service.log().matches(text).count();
    assert_eq!(lines("refused from now on"), 1, "once");
}

/// SQL is away: each instance reports the lag, whichever of them holds the stream. A coupon over its backlog stops no
/// instance.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn heavy_every_instance_tells_the_lag_and_a_coupon_over_its_backlog_stops_none() {
    const LIMIT: usize = 1_000;
    let mut postgres = PrivatePostgres::start().await.expect("apt-get install postgresql");
    let (redis, url, limit) = (own_redis(&[]).await, postgres.url(), LIMIT.to_string());
    let environment = [
        ("JACKPOT__REDIS__MODE", "standalone"),
        ("JACKPOT__REDIS__URLS", redis.url()),
        ("JACKPOT__LEDGER__URL", &url),
        ("JACKPOT__LEDGER__MAX_BACKLOG_EVENTS", &limit),
        COMPARED_OFTEN,
    ];
    let environment = [&LIMITS[..], &environment].concat();
    let one = Service::start_with(&environment).await;
    create(&one, redrawing("played")).await;
    coupons::create(&one, "busy", 100_000, &json!({})).await;
    let other = Service::start_with(&environment).await;
    // Otherwise the other instance would know neither of them.
    other
        .until("/v1/reconciliation", "SQL has both", |told| {
            told["items"][0]["event"].is_u64() && told["coupons"][0]["event"].is_u64()
        })
        .await;
    postgres.stop_immediate();
    let mut issued = 0;
    eventually(2 * PATIENCE, "the coupon is refused", async || {
        for _ in 0..100 {
            issued += 1;
            let request = format!("r{issued}");
            if coupons::ask(&one, "busy", &request, &request).await.status == StatusCode::SERVICE_UNAVAILABLE {
                return Some(());
            }
        }
        None
    })
    .await;
    assert!(issued > LIMIT, "{issued}");
    let ready = one.get("/readyz").await;
    ready.is(200); // the jackpot is played
    assert_eq!(ready.body["refused"], json!({"jackpots": 0, "coupons": 1, "rooms": 0}));
    assert_eq!(ready.body["refused_subjects"][0]["reason"], "backlog", "{}", ready.text);
    enter(&one, "played", "e1").await.is(201);
    for service in [&one, &other] {
        eventually(PATIENCE, "it tells the lag", async || {
            let ready = service.get("/readyz").await;
            let lag = ready.body["ledger"]["lag_events"].as_u64()?;
            (ready.status == StatusCode::OK && lag >= LIMIT as u64).then_some(())
        })
        .await;
    }
}
