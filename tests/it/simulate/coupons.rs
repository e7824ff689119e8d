//! `jackpot simulate --coupons`, as a user sees it. A crowd meets a private service that is killed. In another service
//! another client takes a unit, which the run must notice.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::fault::support::embedded;
use crate::support::eventually;

/// Time limit of a run in a debug build, beside others.
const LIMIT: Duration = Duration::from_mins(1);

fn command(directory: &Path, line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_jackpot"));
    command
        .args(["simulate", "--coupons", "--json", "run.json", "--report", "run.html"])
        .args(line.split_whitespace())
        .current_dir(directory)
        .stdin(Stdio::null());
    command
}

/// Runs it to a verdict without a violation, with every check made, and returns its numbers.
fn honest(line: &str) -> Value {
    let directory = tempfile::tempdir().expect("a directory");
    let output = command(directory.path(), line).output().expect("the program starts");
    assert_eq!(output.status.code(), Some(0), "{line}: {}", text(&output));
    let run: Value = serde_json::from_slice(&std::fs::read(directory.path().join("run.json")).expect("its numbers"))
        .expect("they are JSON");
    let findings = run["run"]["findings"].as_array().expect("findings");
    assert_eq!(findings.len(), 13);
    for finding in findings {
        assert_eq!(finding["result"], "held", "{line}: {finding}");
    }
    let page = std::fs::read_to_string(directory.path().join("run.html")).expect("its report");
    for part in [
        "No violation",
        "<svg",
        "Units out over time",
        "once per user",
        "Definition of the coupon",
    ] {
        assert!(page.contains(part), "{part}");
    }
    assert!(
        !page.contains("href=\"http") && !page.contains("src=\"http"),
        "nothing from outside"
    );
    run["run"]["numbers"].clone()
}

fn text(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

#[test]
fn a_crowd_gets_the_stock_though_the_service_is_killed() {
    let numbers = honest("--users 300 --stock 80 --connections 24 --voids 6 --kills 1");
    assert_eq!((&numbers["calls"], &numbers["requests"]), (&json!(900), &json!(600)));
    let issued = numbers["issued"].as_u64().expect("a count");
    assert!((80..=86).contains(&issued), "{numbers}");
    assert_eq!((&numbers["voided"], &numbers["kills"]), (&json!(6), &json!(1)));
    assert_eq!(numbers["in_line"], 0);
}

#[test]
fn a_line_is_served_though_the_service_and_redis_are_killed() {
    let numbers = honest("--users 300 --stock 80 --connections 24 --queued --kills 1 --kill-redis --seed 2");
    assert_eq!((&numbers["calls"], &numbers["issued"]), (&json!(900), &json!(80)));
    assert_eq!(numbers["kills"], 1);
    assert!(numbers["in_line"].as_u64().expect("a count") >= 300, "{numbers}");
    assert!(numbers["line_latency"]["max_us"].is_u64());
}

/// Another client takes a unit: the users' answers are not all that was issued.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_does_not_add_up_is_violated() {
    let (service, _) = embedded(&[("JACKPOT__LEDGER__RECONCILE_INTERVAL_S", "1")]).await;
    let directory = tempfile::tempdir().expect("a directory");
    let key = std::fs::read_to_string(service.data_dir().join("operator.key")).expect("an operator's key");
    let line = format!(
        "--url {} --key {} --coupon shared --users 1000 --stock 900 --connections 8",
        service.url(""),
        key.trim()
    );
    let mut command = command(directory.path(), &line);
    let run = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let other = json!({"request_id": "other", "user_id": "somebody"});
    eventually(LIMIT, "somebody else is issued a unit", async || {
        let answer = service.post("/v1/coupons/shared/issues", other.clone()).await;
        (answer.status == StatusCode::CREATED).then_some(())
    })
    .await;
    let output = tokio::task::spawn_blocking(|| run.wait_with_output()).await;
    let output = output.expect("it is waited for").expect("it ends");
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    let last = told.lines().last().expect("a verdict");
    assert!(last.starts_with("VIOLATED: "), "{last}");
    for rule in ["counts", "ledger"] {
        let line = told.lines().find(|line| line.contains(&format!(" {rule} ")));
        assert!(line.is_some_and(|line| line.contains('✗')), "{rule}: {told}");
    }
    let ended = service.get("/v1/coupons/shared").await;
    assert!(
        ended.body["ends_at"].is_string(),
        "the run ends its coupon: {}",
        ended.body
    );
}

#[test]
fn options_that_make_no_sense_end_with_2() {
    let directory = tempfile::tempdir().expect("a directory");
    for (line, named) in [
        ("--voids 11 --stock 10", "--voids"),
        ("--players 3", "--players"),
        ("--kill-redis", "--kill-redis"),
    ] {
        let output = command(directory.path(), line).output().expect("the program starts");
        assert_eq!(output.status.code(), Some(2), "{line}");
        assert!(text(&output).contains(named), "{}", text(&output));
    }
    let alone = Command::new(env!("CARGO_BIN_EXE_jackpot"))
        .args(["simulate", "--users", "3"])
        .output()
        .expect("the program starts");
    assert_eq!(alone.status.code(), Some(2));
    assert!(text(&alone).contains("--coupons"));
}
