//! `--compare`: each usual way goes wrong in its staged play as it must, and the service never does.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::postgres::TestPostgres;
use crate::support::service::output_text;

/// The comparison of a run, and its report.
fn compared(options: &[&str]) -> (Value, String, String) {
    let directory = tempfile::tempdir().expect("a directory");
    let output = Command::new(env!("CARGO_BIN_EXE_jackpot"))
        .args(["simulate", "--compare", "--json", "run.json", "--report", "run.html"])
        .args(options)
        .current_dir(directory.path())
        .output()
        .expect("the program starts");
    assert_eq!(output.status.code(), Some(0), "{}", output_text(&output));
    let read = |name: &str| fs::read_to_string(directory.path().join(name)).expect("it is written");
    let run: Value = serde_json::from_str(&read("run.json")).expect("it is JSON");
    let findings = run["run"]["findings"].as_array().expect("findings");
    let last = findings.last().expect("a finding");
    assert_eq!((&last["rule"], &last["result"]), (&json!("comparison"), &json!("held")));
    (run["run"]["comparison"].clone(), read("run.html"), output_text(&output))
}

/// The result of a way in a play.
fn wrongs(comparison: &Value, name: &str, play: &str) -> Value {
    let all = comparison["approaches"].as_array().expect("approaches");
    let found = all.iter().find(|one| one["name"] == name);
    found.unwrap_or_else(|| panic!("{name}: {comparison}"))[play].clone()
}

fn counts(over: u64, twice: u64, lost: u64, undecided: u64) -> Value {
    json!({"over": over, "twice": twice, "lost": lost, "undecided": undecided})
}

/// What holds for every comparison: the names, the exact ways in both plays, and all of it in report and terminal.
fn check(comparison: &Value, page: &str, text: &str, names: &[&str], exact: &[&str]) {
    let all = comparison["approaches"].as_array().expect("approaches");
    assert_eq!(all.iter().map(|one| &one["name"]).collect::<Vec<_>>(), names);
    for one in all.iter().filter(|one| one.get("not_measured").is_none()) {
        assert!(one["asks_per_s"].as_f64().expect("a rate") > 0.0, "{one}");
    }
    for name in exact {
        for play in ["staged", "crowd"] {
            assert_eq!(wrongs(comparison, name, play), counts(0, 0, 0, 0), "{name} {play}");
        }
    }
    assert!(page.contains("Beside the usual approaches"));
    for name in names {
        assert!(page.contains(name) && text.contains(name), "{name}: {text}");
    }
}

const COUPONS: [&str; 8] = [
    "INCR past the stock",
    "SCARD, then SADD",
    "lock that expires",
    "lock that is renewed",
    "row lock in PostgreSQL",
    "consumer with retries in memory",
    "this service",
    "this service, queued",
];

#[tokio::test]
async fn each_usual_way_of_a_coupon_goes_wrong_as_it_must_and_ours_never() {
    let postgres = TestPostgres::start().await;
    let url = postgres.url().to_owned();
    let run = move || {
        compared(&[
            "--coupons",
            "--users",
            "120",
            "--stock",
            "30",
            "--connections",
            "12",
            "--postgres",
            &url,
        ])
    };
    let (comparison, page, text) = tokio::task::spawn_blocking(run).await.expect("it ends");
    let exact = ["row lock in PostgreSQL", "this service", "this service, queued"];
    check(&comparison, &page, &text, &COUPONS, &exact);
    for (name, expected) in [
        // The counter stays at 8: it is lowered once, and the unit that came back is never given again.
        ("INCR past the stock", counts(0, 0, 1, 0)),
        // Eight read that nobody has one.
        ("SCARD, then SADD", counts(7, 0, 0, 0)),
        // Two read that one is left.
        ("lock that expires", counts(1, 0, 0, 0)),
        ("lock that is renewed", counts(1, 0, 0, 0)),
        // One request has two units. One is tried ten times and never given up, and one waits after it.
        ("consumer with retries in memory", counts(0, 1, 0, 2)),
    ] {
        assert_eq!(wrongs(&comparison, name, "staged"), expected, "{name}");
    }
    // Also without a hold: more users asked than came back units, so all three of them are lost.
    assert_eq!(wrongs(&comparison, "INCR past the stock", "crowd"), counts(0, 0, 3, 0));
    assert_eq!(
        (&comparison["size"]["users"], &comparison["size"]["connections"]),
        (&json!(120), &json!(12))
    );
}

#[test]
fn a_row_lock_without_a_database_is_said_to_be_left_out() {
    let (comparison, page, text) = compared(&["--coupons", "--users", "20", "--stock", "5", "--connections", "4"]);
    check(
        &comparison,
        &page,
        &text,
        &COUPONS,
        &["this service", "this service, queued"],
    );
    let all = comparison["approaches"].as_array().expect("approaches");
    let left_out = all.iter().find(|one| one.get("not_measured").is_some());
    let left_out = left_out.expect("one is not measured");
    assert_eq!(left_out["name"], "row lock in PostgreSQL");
    assert!(text.contains("not measured: --postgres names no database"), "{text}");
}

#[test]
fn each_usual_way_of_a_room_goes_wrong_as_it_must_and_ours_never() {
    let (comparison, page, text) = compared(&[
        "--room",
        "--users",
        "60",
        "--capacity",
        "15",
        "--connections",
        "10",
        "--session-s",
        "3",
        "--stay-ms",
        "50",
        "--waiting-timeout-s",
        "4",
        "--abandon",
        "0",
        "--die",
        "0",
    ]);
    let names = [
        "counter that is read, then raised",
        "counter that expiry never lowers",
        "this service",
    ];
    check(&comparison, &page, &text, &names, &["this service"]);
    assert_eq!(
        wrongs(&comparison, "counter that is read, then raised", "staged"),
        counts(7, 0, 0, 0)
    );
    // All sessions have expired, and the room is full: with one place, and with fifteen.
    for (play, places) in [("staged", 1), ("crowd", 15)] {
        assert_eq!(
            wrongs(&comparison, "counter that expiry never lowers", play),
            counts(0, 0, places, 0)
        );
    }
}
