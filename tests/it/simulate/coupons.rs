//! `jackpot simulate --coupons`, as a user sees it. A crowd meets a private service that is killed. In another service
//! another client takes a unit, which the run must notice.

use std::process::Command;

use serde_json::json;

use super::support::Scenario;
use crate::fault::support::embedded;
use crate::support::service::output_text;

const COUPONS: Scenario = Scenario {
    option: "--coupons",
    rules: 13,
    shown: &[
        "<title>Simulation of a coupon</title>",
        "Units known to be out",
        "once per user",
        "Definition of the coupon",
    ],
};

#[test]
fn a_crowd_gets_the_stock_though_the_service_is_killed() {
    let numbers = COUPONS.honest("--users 300 --stock 80 --connections 24 --voids 6 --kills 1");
    assert_eq!((&numbers["calls"], &numbers["requests"]), (&json!(900), &json!(600)));
    let issued = numbers["issued"].as_u64().expect("a count");
    assert!((80..=86).contains(&issued), "{numbers}");
    assert_eq!((&numbers["voided"], &numbers["kills"]), (&json!(6), &json!(1)));
    assert_eq!(numbers["queued"], 0);
}

#[test]
fn a_queue_is_served_though_the_service_and_redis_are_killed() {
    let numbers = COUPONS.honest("--users 300 --stock 80 --connections 24 --queued --kills 1 --kill-redis --seed 2");
    assert_eq!((&numbers["calls"], &numbers["issued"]), (&json!(900), &json!(80)));
    assert_eq!(numbers["kills"], 1);
    assert!(numbers["queued"].as_u64().expect("a count") >= 300, "{numbers}");
    assert!(numbers["queue_latency"]["max_us"].is_u64());
}

/// Another client takes a unit: the users' answers are not all that was issued.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_does_not_add_up_is_violated() {
    let (service, _) = embedded(&[("JACKPOT__LEDGER__RECONCILE_INTERVAL_S", "1")]).await;
    COUPONS
        .violated(
            &service,
            "--coupon shared --users 1000 --stock 900 --connections 8",
            "/v1/coupons/shared/issues",
            json!({"request_id": "other", "user_id": "somebody"}),
            &["counts", "ledger"],
        )
        .await;
    let ended = service.get("/v1/coupons/shared").await;
    assert!(
        ended.body["ends_at"].is_string(),
        "the run ends its coupon: {}",
        ended.body
    );
}

#[test]
fn options_that_make_no_sense_end_with_2() {
    COUPONS.assert_refused(&[
        ("--voids 11 --stock 10", "--voids"),
        ("--players 3", "--players"),
        ("--kill-redis", "--kill-redis"),
    ]);
    let alone = Command::new(env!("CARGO_BIN_EXE_jackpot"))
        .args(["simulate", "--users", "3"])
        .output()
        .expect("the program starts");
    assert_eq!(alone.status.code(), Some(2));
    assert!(output_text(&alone).contains("--coupons"));
}
