//! Redeeming units over HTTP.

use super::support::{ask, create, definition, look, send, service_and_redis, void};
use crate::keys::http::support::key;
use crate::support::prelude::*;

async fn redeem(service: &Service, request: &str, redemption: &str, reference: &str) -> Answer {
    let body = json!({"redemption_id": redemption, "reference": reference});
    let path = format!("/v1/coupons/coffee/issues/{request}/redeem");
    service.post(&path, body).await
}

#[tokio::test]
async fn a_unit_is_redeemed_once_and_every_view_shows_it() {
    let service = Service::start().await;
    create(&service, "coffee", 5, &json!({})).await;
    let issued = ask(&service, "coffee", "r1", "u1").await;
    ask(&service, "coffee", "r2", "u2").await;
    void(&service, "coffee", "r2").await;
    ask(&service, "coffee", "r3", "u1").await;
    let first = redeem(&service, "r1", "till-1", "=receipt 7").await;
    first.is(201);
    let used = &first.body["redeemed"];
    assert_eq!(
        (&first.body["result"], &used["redemption_id"], &used["reference"]),
        (&json!("issued"), &json!("till-1"), &json!("=receipt 7"))
    );
    assert!(used["at"].as_str().is_some_and(|at| at.ends_with('Z')), "{used}");
    let again = redeem(&service, "r1", "till-1", "=receipt 7").await;
    assert_eq!(again.is(200), &first.body);
    assert!(again.is_replay());
    redeem(&service, "r1", "till-1", "other")
        .await
        .refused(422, "redemption-id-reused");
    redeem(&service, "r1", "till-2", "=receipt 7")
        .await
        .refused(409, "redeemed");
    redeem(&service, "r2", "till-1", "x").await.refused(409, "not-issued");
    redeem(&service, "r3", "till-1", "x").await.refused(409, "not-issued");
    redeem(&service, "nobody", "till-1", "x")
        .await
        .refused(404, "issue-not-found");
    void(&service, "coffee", "r1").await.refused(409, "redeemed");
    for (body, field) in [
        (json!({"redemption_id": "a b", "reference": "x"}), "redemption_id"),
        (json!({"redemption_id": "a", "reference": ""}), "reference"),
        (json!({"redemption_id": "a"}), "reference"),
    ] {
        let wrong = service.post("/v1/coupons/coffee/issues/r1/redeem", body).await;
        wrong.refused(422, "invalid-request");
        assert_eq!(wrong.body["errors"][0]["field"], field, "{}", wrong.text);
    }
    assert_eq!(look(&service, "coffee", "r1").await.body, first.body);
    let repeat = ask(&service, "coffee", "r1", "u1").await;
    assert_eq!(repeat.is(200), &issued.body, "as it was answered");
    let row = eventually(PATIENCE, "the list shows it", async || {
        let list = service.get("/v1/coupons/coffee/issues").await.body;
        let row = list["items"].as_array()?.first()?.clone();
        row["redeemed"].is_object().then_some(row)
    })
    .await;
    assert_eq!(row["redeemed"], *used);
    let csv = [("accept", "text/csv")];
    let (_, _, text) = send(&service, reqwest::Method::GET, "/v1/coupons/coffee/issues", &csv, "").await;
    assert!(text.lines().any(|line| line.contains("till-1,'=receipt 7")), "{text}");
    let metrics = service.get("/metrics").await.text;
    for (result, count) in [("redeemed", 1), ("replayed", 1), ("refused", 5)] {
        let line = format!("jackpot_coupon_redemptions_total{{coupon=\"coffee\",result=\"{result}\"}} {count}");
        metrics.says(&line);
    }
}

#[tokio::test]
async fn a_unit_is_redeemed_also_while_the_coupon_takes_nothing() {
    let service = Service::start().await;
    create(&service, "coffee", 5, &json!({})).await;
    for n in 1..=3 {
        ask(&service, "coffee", &format!("r{n}"), &format!("u{n}")).await;
    }
    let reason = || json!({"reason": "a test"});
    service.post("/v1/coupons/coffee/pause", reason()).await;
    redeem(&service, "r1", "till-1", "x").await.is(201);
    let stopped = service.post("/v1/emergency-stop", reason()).await;
    stopped.done();
    eventually(PATIENCE, "the stop holds it", async || {
        let refused = ask(&service, "coffee", "new", "u9").await;
        (refused.body["code"] == "stopped").then_some(())
    })
    .await;
    redeem(&service, "r2", "till-1", "x").await.is(201);
    service.post("/v1/emergency-start", reason()).await;
    service.post("/v1/coupons/coffee/close", reason()).await;
    redeem(&service, "r3", "till-1", "x").await.is(201);
}

#[tokio::test]
async fn a_till_needs_a_play_key_that_may_name_the_coupon() {
    let service = Service::start().await;
    create(&service, "coffee", 5, &json!({})).await;
    for n in 1..=2 {
        ask(&service, "coffee", &format!("r{n}"), &format!("u{n}")).await;
    }
    for (name, options, status) in [
        ("reader", &["--role", "read"][..], 403),
        ("other", &["--role", "play", "--only", "coupon:tea"], 403),
        ("till", &["--role", "play", "--only", "coupon:coffee"], 201),
        ("any", &["--role", "play"], 201),
    ] {
        let asking = key(&service, name, options).await;
        let request = if name == "any" { "r2" } else { "r1" };
        let path = format!("/v1/coupons/coffee/issues/{request}/redeem");
        let body = json!({"redemption_id": "till-1", "reference": "x"});
        let answer = asking.request(reqwest::Method::POST, &path).json(&body).send().await;
        assert_eq!(answer.expect("an answer").status().as_u16(), status, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_unit_of_a_retired_coupon_is_redeemed_once_from_the_ledger() {
    let (service, redis) = service_and_redis(&[]).await;
    create(&service, "coffee", 5, &json!({})).await;
    for n in 1..=4 {
        ask(&service, "coffee", &format!("r{n}"), &format!("u{n}")).await;
    }
    void(&service, "coffee", "r3").await;
    let before = redeem(&service, "r1", "till-1", "x").await;
    let ends = definition(5, &json!({"ends_at": "2020-01-01T00:00:00Z"}));
    service.put("/v1/coupons/coffee", ends).await.is(200);
    let mut connection = redis.connection().await;
    eventually(PATIENCE, "its records are gone", async || {
        redis::cmd("HSET")
            .arg("cp:{coffee}:state")
            .arg(&["over_version", "2", "over_age", "999999999", "over_looked", "1"])
            .exec_async(&mut connection)
            .await
            .expect("HSET");
        let records = redis::cmd("EXISTS").arg("cp:{coffee}:requests").to_owned();
        let records: u64 = records.query_async(&mut connection).await.expect("EXISTS");
        (records == 0).then_some(())
    })
    .await;
    let again = redeem(&service, "r1", "till-1", "x").await;
    assert_eq!(again.is(200), &before.body);
    redeem(&service, "r1", "till-1", "y")
        .await
        .refused(422, "redemption-id-reused");
    redeem(&service, "r1", "till-2", "x").await.refused(409, "redeemed");
    redeem(&service, "r3", "till-1", "x").await.refused(409, "not-issued");
    redeem(&service, "nobody", "till-1", "x")
        .await
        .refused(404, "issue-not-found");
    void(&service, "coffee", "r1").await.refused(409, "redeemed");
    // Eight tills want two units at once.
    let tills = (0..8).map(|till| {
        let (service, request) = (&service, format!("r{}", 2 + 2 * (till % 2)));
        async move {
            eventually(PATIENCE, "the till is answered", async || {
                let answer = redeem(service, &request, &format!("till-{till}"), "x").await;
                (answer.status != StatusCode::SERVICE_UNAVAILABLE).then_some((request.clone(), answer))
            })
            .await
        }
    });
    let answers = futures_util::future::join_all(tills).await;
    for request in ["r2", "r4"] {
        let of = answers.iter().filter(|(of, _)| of == request).map(|(_, answer)| answer);
        let (won, lost): (Vec<_>, Vec<_>) = of.partition(|answer| answer.status == StatusCode::CREATED);
        assert_eq!((won.len(), lost.len()), (1, 3), "{request}");
        for answer in lost {
            answer.refused(409, "redeemed");
        }
        let shown: Value = eventually(PATIENCE, "the ledger has it", async || {
            let shown = look(&service, "coffee", request).await.body;
            shown["redeemed"].is_object().then_some(shown)
        })
        .await;
        assert_eq!(shown, won[0].body);
    }
}
