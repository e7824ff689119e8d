//! `jackpot doctor` says what is wrong and what to do, beside a running service or without one, and changes nothing.

use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::process::Output;

use crate::support::free_port;
use crate::support::prelude::*;
use crate::support::service::MASTER_SECRET;

/// The findings of a check that are not `ok`.
fn wrong(output: &Output, check: &str) -> Vec<Value> {
    let text = String::from_utf8(output.stdout.clone()).expect("text");
    let all = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON lines"));
    all.filter(|one| one["check"] == check && one["verdict"] != "ok")
        .collect()
}

#[test]
fn a_first_start_can_work_and_nothing_is_made_for_it() {
    let data = Service::directory();
    let place = data.path().join("none");
    let listen = format!("127.0.0.1:{}", free_port());
    let environment = [
        ("JACKPOT__DATA_DIR", place.to_str().expect("UTF-8")),
        ("JACKPOT__HTTP__LISTEN", &listen),
    ];
    let output = Service::command_in(data.path(), &environment, &["doctor", "--json"]);
    output.done();
    for check in ["settings", "directory", "address", "redis", "ledger"] {
        assert!(wrong(&output, check).is_empty(), "{output:?}");
    }
    assert!(!place.exists(), "it made the data directory");
}

#[tokio::test]
async fn beside_a_running_service_it_finds_everything_in_order() {
    let service = Service::start().await;
    let output = service.command_beside(&["doctor", "--json"]).await;
    output.done();
    for check in ["service", "keys", "redis", "ledger", "pair", "clocks"] {
        assert!(wrong(&output, check).is_empty(), "{output:?}");
    }
}

#[tokio::test]
async fn what_is_wrong_is_named_with_what_to_do() {
    let data = Service::directory();
    let taken = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let redis = own_redis(&["--appendfsync", "everysec"]).await;
    let place = data.path().join("open");
    std::fs::create_dir(&place).expect("made");
    std::fs::set_permissions(&place, PermissionsExt::from_mode(0o777)).expect("opened");
    let listen = taken.local_addr().expect("an address").to_string();
    let environment = [
        ("JACKPOT__DATA_DIR", place.to_str().expect("UTF-8")),
        ("JACKPOT__HTTP__LISTEN", &listen),
        ("JACKPOT__REDIS__MODE", "standalone"),
        ("JACKPOT__REDIS__URLS", redis.url()),
        ("JACKPOT__FAIRNESS__MASTER_SECRET", MASTER_SECRET),
        ("JACKPOT__LEDGER__URL", "postgres://nobody@127.0.0.1:1/none"),
    ];
    let output = Service::command_in(data.path(), &environment, &["doctor", "--json"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    for check in ["files", "address", "redis", "ledger"] {
        let found = wrong(&output, check);
        assert!(!found.is_empty(), "{check}: {output:?}");
        let text = found[0].to_string();
        assert!(text.len() > 20, "{text}");
    }
    wrong(&output, "redis")[0].to_string().says("appendfsync");

    let environment = [("JACKPOT__HTTP__WORKERS", "many")];
    let output = Service::command_in(data.path(), &environment, &["doctor"]);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    text.says("http.workers");
}
