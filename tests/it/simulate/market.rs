//! `jackpot simulate --scenario`, as a user sees it: a market day whose service is killed, and one that another client
//! spoils.

use std::fs;
use std::process::Command;

use serde_json::json;

use super::support::Scenario;
use crate::fault::support::embedded;
use crate::support::service::output_text;

const DAY: &str = include_str!("market.toml");
const MARKET: Scenario = Scenario {
    option: concat!(
        "--scenario=",
        env!("CARGO_MANIFEST_DIR"),
        "/tests/it/simulate/market.toml"
    ),
    rules: 11,
    shown: &[
        "<title>Simulation of a market</title>",
        "Pools over time",
        "cycles of network mystery",
        "events that a subscriber got",
        "lag after the last play",
        "Definition of the market",
    ],
};

#[test]
fn a_market_day_adds_up_though_service_and_redis_are_killed() {
    let numbers = MARKET.honest("--kills 2 --kill-redis");
    assert_eq!((&numbers["plays"], &numbers["kills"]), (&json!(1_500), &json!(2)));
    let count = |name: &str| numbers[name].as_u64().expect("a count");
    assert!(count("entries") + count("refused") > 1_500, "some feed both: {numbers}");
    for counted in ["replayed", "cancelled", "payouts", "stopped_ms"] {
        assert!(numbers[counted].as_u64().expect("a count") > 0, "{counted}: {numbers}");
    }
    assert!(!numbers["hits"].as_array().expect("hits").is_empty());
    let transfer = &numbers["transfers"][0];
    assert_eq!(
        (&transfer["from"], &transfer["to"]),
        (&json!("mini"), &json!("network"))
    );
    assert!(transfer["amount"].as_i64().expect("an amount") > 100);
    let events = &numbers["events"];
    assert!(events["delivered"].as_u64() > Some(100), "{events}");
    assert_eq!(events["subscriber_kills"], 2);
}

/// A run against a service that sends nothing to this machine says so, in its table, its report and its last line.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_service_that_refuses_the_subscriber_is_named() {
    let (service, _) = embedded(&[]).await;
    let run = MARKET.run_on(&service, "").await;
    assert_eq!(run.code, 0, "{}", run.shown);
    assert!(run.last().ends_with("not checked: events-out"), "{}", run.shown);
    let words = run.shown.split_whitespace().collect::<Vec<_>>().join(" ");
    for named in [
        "no subscriber",
        "/v1/subscriptions/simulation-s1",
        "422",
        "target.webhook.url",
    ] {
        assert!(words.contains(named), "{named}: {}", run.shown);
    }
    assert!(run.page.contains("was refused with 422"));
}

/// The receiver of the run is deleted with its jackpots, and one that an earlier run left is not taken.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_subscriber_of_a_given_service_is_made_and_deleted() {
    let (service, _) = embedded(&[("JACKPOT__EVENTS__ALLOW_PRIVATE_TARGETS", "true")]).await;
    let run = MARKET.run_on(&service, "").await;
    assert_eq!((run.code, run.last()), (0, "no violation"), "{}", run.shown);
    let left = service.get("/v1/subscriptions").await.body;
    assert_eq!(left["items"], json!([]));
}

/// Another client plays: the players' answers are not all entries.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_day_that_does_not_add_up_is_violated() {
    let (service, _) = embedded(&[("JACKPOT__EVENTS__ALLOW_PRIVATE_TARGETS", "true")]).await;
    let entry = json!({"entry_id": "other", "player_id": "somebody", "stake": 100});
    let path = "/v1/jackpots/network/entries";
    MARKET
        .violated(&service, "", path, entry, &["sequence", "contributions", "events-out"])
        .await;
    for id in ["mini", "network"] {
        let ended = service.get(&format!("/v1/jackpots/{id}")).await;
        assert_eq!(
            ended.body["status"], "closed",
            "the run ends its jackpots: {}",
            ended.body
        );
    }
}

#[test]
fn a_file_that_makes_no_sense_ends_with_2() {
    MARKET.assert_refused(&[
        ("--players 3", "--players"),
        ("--coupons", "--coupons"),
        ("--kill-redis", "--kill-redis"),
    ]);
    let directory = tempfile::tempdir().expect("a directory");
    for (text, named) in [
        (
            DAY.replace("at = 300", "at = 3000"),
            "events[0].at: must be an integer from 0 to 1500",
        ),
        (DAY.replace("weight = 2", "wait = 2"), "wait"),
        (
            DAY.replace("plays = 1_500", "plays = 1_500\nkills = 1"),
            "kills of the file",
        ),
    ] {
        let file = directory.path().join("day.toml");
        fs::write(&file, text).expect("a file");
        let output = Command::new(env!("CARGO_BIN_EXE_jackpot"))
            .args(["simulate", "--url", "http://127.0.0.1:1", "--key", "k", "--scenario"])
            .arg(&file)
            .output()
            .expect("the program starts");
        assert_eq!(output.status.code(), Some(2), "{}", output_text(&output));
        assert!(
            output_text(&output).contains(named),
            "{named}: {}",
            output_text(&output)
        );
    }
    let missing = Command::new(env!("CARGO_BIN_EXE_jackpot"))
        .args(["simulate", "--scenario", "no/such/file.toml"])
        .output()
        .expect("the program starts");
    assert!(
        output_text(&missing).contains("no/such/file.toml"),
        "{}",
        output_text(&missing)
    );
}
