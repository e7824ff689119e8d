//! The consumer of the queue: killed, stopped by what it finds, or replaced.

use std::time::Duration;

use tokio::time::Instant;

use crate::coupon::http::support::{ask, create, hold, join, look, release, until};
use crate::support::local::LocalServer;
use crate::support::prelude::*;
use crate::support::proxy::ChaosProxy;

const LEASE: Duration = Duration::from_millis(4_321);
const LEASE_SETTING: (&str, &str) = ("JACKPOT__COUPONS__CONSUMER_LEASE_MS", "4321");
/// Time for the sweep that finds the queue, and for a machine that runs other tests at the same time.
const MARGIN: Duration = Duration::from_secs(4);

async fn raw(redis: &LocalServer, command: &[&str]) {
    redis::cmd(command[0])
        .arg(&command[1..])
        .exec_async(&mut redis.connection().await)
        .await
        .expect("the command is done");
}

async fn consumer(redis: &LocalServer, id: &str) -> Option<String> {
    redis::cmd("HGET")
        .arg(format!("cp:{{{id}}}:state"))
        .arg("consumer")
        .query_async(&mut redis.connection().await)
        .await
        .expect("HGET")
}

/// All `count` requests were issued in the order in which they joined.
async fn assert_in_order(service: &Service, id: &str, count: u64) {
    until(service, id, &format!("q{count}"), "issued").await;
    for i in 1..=count {
        let found = look(service, id, &format!("q{i}")).await.body;
        assert_has!(found, {"result": "issued", "sequence": i});
    }
    let shown = service.get(&format!("/v1/coupons/{id}")).await.body;
    let counts = ["issued", "queued", "dead"].map(|field| shown[field].as_u64());
    assert_eq!(counts, [Some(count), Some(0), Some(0)], "{shown}");
}

/// Kills an instance after an unanswered call of its consumer. Another instance serves the queue within the lease.
async fn killed_behind(calls_before: usize) {
    const WAITING: u64 = 12;
    let redis = own_redis(&[]).await;
    let ledger = LedgerDb::postgres().await;
    let proxy = ChaosProxy::in_front_of(redis.url()).await;
    let settings = [ledger.environment(), LEASE_SETTING];
    let mut first = service_on(proxy.url(), &settings).await;
    create(&first, "killed", 100, &json!({})).await;
    // No other call has the lease among its arguments.
    proxy.lose_reply_and_go_down(&["FCALL", "cp:{killed}:queue", "4321"], calls_before);
    join(&first, "killed", "q1", "u1").await;
    eventually(PATIENCE, "its consumer's call is lost", async || {
        (proxy.lost() > 0).then_some(())
    })
    .await;
    assert!(consumer(&redis, "killed").await.is_some(), "it holds the lease");
    let other = service_on(redis.url(), &settings).await;
    for i in 2..=WAITING {
        join(&other, "killed", &format!("q{i}"), &format!("u{i}")).await;
    }
    first.kill9();
    let killed_at = Instant::now();
    until(&other, "killed", &format!("q{WAITING}"), "issued").await;
    let took = killed_at.elapsed();
    assert!(took < LEASE + MARGIN, "another one took over after {took:?}");
    assert_in_order(&other, "killed", WAITING).await;
}

#[tokio::test]
async fn heavy_the_queue_goes_on_when_its_consumer_is_killed_behind_its_first_take() {
    killed_behind(0).await;
}

#[tokio::test]
async fn heavy_the_queue_goes_on_when_its_consumer_is_killed_behind_a_service_that_nobody_heard_of() {
    killed_behind(1).await;
}

#[tokio::test]
async fn an_instance_that_stops_gives_its_queue_to_another_at_once() {
    let redis = own_redis(&[]).await;
    let ledger = LedgerDb::postgres().await;
    let settings = [ledger.environment(), ("JACKPOT__COUPONS__CONSUMER_LEASE_MS", "60000")];
    let mut first = service_on(redis.url(), &settings).await;
    let other = service_on(redis.url(), &settings).await;
    create(&first, "given", 2_000, &json!({})).await;
    for i in 1..=40 {
        join(&first, "given", &format!("q{i}"), &format!("u{i}")).await;
    }
    assert!(first.stop().await.success());
    for i in 41..=50 {
        join(&other, "given", &format!("q{i}"), &format!("u{i}")).await;
    }
    let began_at = Instant::now();
    assert_in_order(&other, "given", 50).await;
    assert!(
        began_at.elapsed() < Duration::from_secs(30),
        "not behind the lease of a minute"
    );
}

async fn dead_letters(service: &Service, id: &str) -> Vec<Value> {
    let page = service.get(&format!("/v1/coupons/{id}/dead-letters")).await;
    page.is(200);
    page.body["items"].as_array().expect("items").clone()
}

#[tokio::test]
async fn one_that_cannot_be_served_becomes_a_dead_letter_and_is_issued_once_it_is_returned() {
    let redis = own_redis(&[]).await;
    let service = service_on(redis.url(), &[]).await;
    create(&service, "poison", 9, &json!({})).await;
    hold(&redis, "poison").await;
    for (request, user) in [("q1", "u1"), ("q2", "bad"), ("q3", "u3"), ("q4", "worse"), ("q5", "u5")] {
        join(&service, "poison", request, user).await;
    }
    let users = "cp:{poison}:users";
    raw(&redis, &["HSET", users, "bad", "broken", "worse", "x 1"]).await;
    release(&redis, "poison").await;
    for (request, sequence) in [("q1", 1), ("q3", 2), ("q5", 3)] {
        assert_eq!(until(&service, "poison", request, "issued").await["sequence"], sequence);
    }
    let dead = until(&service, "poison", "q2", "dead").await;
    assert_has!(dead, {"attempts": 3, "user_id": "bad"});
    until(&service, "poison", "q4", "dead").await;
    let letters = dead_letters(&service, "poison").await;
    let shown = letters
        .iter()
        .map(|letter| (&letter["request_id"], &letter["arrival"], &letter["attempts"]));
    assert_eq!(
        shown.collect::<Vec<_>>(),
        [
            (&json!("q2"), &json!(2), &json!(3)),
            (&json!("q4"), &json!(4), &json!(3))
        ]
    );
    let page = service.get("/v1/coupons/poison/dead-letters?limit=1").await.body;
    let next = format!(
        "/v1/coupons/poison/dead-letters?cursor={}",
        page["next_cursor"].as_str().expect("more")
    );
    assert_eq!(service.get(&next).await.body["items"][0]["request_id"], "q4");
    let again = ask(&service, "poison", "q2", "bad").await;
    assert_answer!(again, 200, {"result": "dead"});
    let shown = service.get("/v1/coupons/poison").await.body;
    assert_has!(shown, {"dead": 2, "queued": 0, "issued": 3});
    eventually(PATIENCE, "the metric says so", async || {
        let text = service.get("/metrics").await.text;
        text.contains("jackpot_coupon_dead_letters{coupon=\"poison\"} 2")
            .then_some(())
    })
    .await;

    // A request that was not repaired becomes a dead letter again; a repaired one is issued.
    let redrive = async |request: &str| {
        let path = format!("/v1/coupons/poison/dead-letters/{request}/redrive");
        service.post(&path, json!(null)).await
    };
    redrive("q2").await.is(200);
    until(&service, "poison", "q2", "dead").await;
    raw(&redis, &["HDEL", users, "bad"]).await;
    let returned = redrive("q2").await;
    assert!(
        ["queued", "issued"].contains(&returned.body["result"].as_str().expect("a result")),
        "{}",
        returned.text
    );
    assert_eq!(until(&service, "poison", "q2", "issued").await["sequence"], 4);
    let again = redrive("q2").await;
    assert_answer!(again, 200, {"result": "issued"}, "a repeat tells what it is");
    redrive("nobody").await.is(404);
    assert_eq!(dead_letters(&service, "poison").await.len(), 1);
}

#[tokio::test]
async fn who_is_before_a_request_that_cannot_be_read_is_served_and_who_is_behind_it_later() {
    const Q3: [&str; 3] = ["HSET", "cp:{unread}:requests", "q3"];
    let redis = own_redis(&[]).await;
    let service = service_on(redis.url(), &[]).await;
    create(&service, "unread", 9, &json!({})).await;
    hold(&redis, "unread").await;
    for i in 1..=4 {
        join(&service, "unread", &format!("q{i}"), &format!("u{i}")).await;
    }
    let record: String = redis::cmd("HGET")
        .arg(&Q3[1..])
        .query_async(&mut redis.connection().await)
        .await
        .expect("HGET");
    raw(&redis, &[&Q3[..], &["junk"]].concat()).await;
    release(&redis, "unread").await;
    for (request, sequence) in [("q1", 1), ("q2", 2)] {
        let found = until(&service, "unread", request, "issued").await;
        assert_eq!(found["sequence"], sequence);
    }
    eventually(PATIENCE, "an operator is called", async || {
        service.log().contains("it waits for an operator").then_some(())
    })
    .await;
    assert_eq!(look(&service, "unread", "q4").await.body["result"], "queued");
    look(&service, "unread", "q3").await.is(500);
    raw(&redis, &[&Q3[..], &[record.as_str()]].concat()).await;
    for (request, sequence) in [("q3", 3), ("q4", 4)] {
        assert_eq!(until(&service, "unread", request, "issued").await["sequence"], sequence);
    }
    assert_eq!(service.get("/v1/coupons/unread").await.body["dead"], 0);
}

#[tokio::test]
async fn many_lines_are_served_beside_each_other() {
    const COUPONS: usize = 80;
    let redis = own_redis(&[]).await;
    let service = service_on(redis.url(), &[]).await;
    for i in 0..COUPONS {
        let id = format!("many-{i}");
        create(&service, &id, 2, &json!({})).await;
        // A request that cannot be served does not delay the others.
        if i == 0 {
            hold(&redis, &id).await;
        }
        for request in ["q1", "q2", "q3"] {
            let (status, _, answer) = join(&service, &id, request, request).await;
            assert!(status.is_success(), "{id} {request}: {status} {answer}");
        }
    }
    for i in 1..COUPONS {
        until(&service, &format!("many-{i}"), "q3", "out-of-stock").await;
    }
    assert_eq!(look(&service, "many-0", "q1").await.body["result"], "queued");
    release(&redis, "many-0").await;
    until(&service, "many-0", "q3", "out-of-stock").await;
}
