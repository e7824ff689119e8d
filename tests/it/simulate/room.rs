//! `jackpot simulate --room`, as a user sees it. A crowd goes through a private service that is killed. In another
//! service another client takes a place, which the run must notice.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::support::eventually;
use crate::support::service::Service;

/// Time limit of a run in a debug build, beside others.
const LIMIT: Duration = Duration::from_mins(1);

fn command(directory: &Path, line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_jackpot"));
    command
        .args(["simulate", "--room", "--json", "run.json", "--report", "run.html"])
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
    assert_eq!(findings.len(), 12);
    for finding in findings {
        assert_eq!(finding["result"], "held", "{line}: {finding}");
    }
    let page = std::fs::read_to_string(directory.path().join("run.html")).expect("its report");
    for part in [
        "No violation",
        "<svg",
        "Active sessions over time",
        "Waiting and admitted over time",
        "nobody lost",
        "Definition of the room",
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

fn count(numbers: &Value, name: &str) -> u64 {
    numbers[name].as_u64().expect("a count")
}

#[test]
fn a_crowd_of_all_kinds_goes_through_the_room() {
    let numbers = honest(
        "--users 160 --capacity 20 --session-s 3 --waiting-timeout-s 4 --connections 16 --stay-ms 100 --listen 30 \
         --twice 20 --renew 10 --leave 10 --abandon 10 --die 10",
    );
    let ended: u64 = ["left", "expired", "abandoned"]
        .map(|how| count(&numbers, how))
        .iter()
        .sum();
    assert_eq!(ended, 160);
    for what in [
        "left",
        "expired",
        "abandoned",
        "renewed",
        "promoted",
        "looks",
        "events",
        "samples",
    ] {
        assert!(count(&numbers, what) > 0, "{what}: {numbers}");
    }
    for freed in ["expired", "left"] {
        assert!(numbers["promotion_lag"][freed]["p99_us"].is_u64(), "{numbers}");
    }
    let early = 144;
    assert_eq!((count(&numbers, "joins"), count(&numbers, "waiting")), (early, early));
    assert!(count(&numbers, "joins_again") > 0, "{numbers}");
    assert_eq!((count(&numbers, "missed"), count(&numbers, "kills")), (0, 0));
}

#[test]
fn a_crowd_goes_through_though_the_service_and_redis_are_killed() {
    let numbers = honest(
        "--users 120 --capacity 40 --session-s 10 --waiting-timeout-s 30 --connections 16 --stay-ms 100 --renew 0 \
         --abandon 0 --die 5 --kills 2 --kill-redis --seed 2",
    );
    assert_eq!(count(&numbers, "kills"), 2);
    assert_eq!(count(&numbers, "abandoned"), 0);
}

#[test]
fn a_rate_is_kept() {
    let numbers = honest(
        "--users 40 --capacity 40 --rate 600 --session-s 5 --waiting-timeout-s 10 --connections 8 --stay-ms 0 --renew 0 \
         --abandon 0 --die 0",
    );
    assert!(count(&numbers, "admitted") > 20);
    let lag = &numbers["promotion_lag"];
    assert!(
        lag["expired"].is_null() && lag["left"].is_null(),
        "there places are free on purpose"
    );
}

/// Another client joins: places and counts are not those in the answers to the users of the run.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_does_not_add_up_is_violated() {
    let service = Service::start().await;
    let directory = tempfile::tempdir().expect("a directory");
    let key = std::fs::read_to_string(service.data_dir().join("operator.key")).expect("an operator's key");
    let line = format!(
        "--url {} --key {} --room-id shared --users 400 --capacity 200 --connections 8 --stay-ms 0 --session-s 3 \
         --waiting-timeout-s 3 --renew 0 --die 0 --abandon 0 --late 0",
        service.url(""),
        key.trim()
    );
    let mut command = command(directory.path(), &line);
    let run = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let other = json!({"user_id": "somebody"});
    eventually(LIMIT, "somebody else joins", async || {
        let answer = service.post("/v1/rooms/shared/tickets", other.clone()).await;
        (answer.status == StatusCode::CREATED).then_some(())
    })
    .await;
    let output = tokio::task::spawn_blocking(|| run.wait_with_output()).await;
    let output = output.expect("it is waited for").expect("it ends");
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    let last = told.lines().last().expect("a verdict");
    assert!(last.starts_with("VIOLATED: "), "{last}");
    let line = told.lines().find(|line| line.contains(" counts "));
    assert!(line.is_some_and(|line| line.contains('✗')), "{told}");
    let closed = service.get("/v1/rooms/shared").await;
    assert_eq!(closed.body["capacity"], 0, "the run closes its room: {}", closed.body);
}

#[test]
fn options_that_make_no_sense_end_with_2() {
    let directory = tempfile::tempdir().expect("a directory");
    for (line, named) in [
        ("--renew 60 --die 60", "--renew"),
        ("--stay-ms 9000", "--stay-ms"),
        ("--players 3", "--players"),
        ("--coupons", "--coupons"),
        ("--kill-redis", "--kill-redis"),
    ] {
        let output = command(directory.path(), line).output().expect("the program starts");
        assert_eq!(output.status.code(), Some(2), "{line}");
        assert!(text(&output).contains(named), "{}", text(&output));
    }
}
