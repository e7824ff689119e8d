//! A whole service projects and compares a room, and rebuilds what Redis lost; the commands do the same.

use std::process::Output;
use std::sync::Arc;

use jackpot::room::known::Registry;
use jackpot::room::status::Status;
use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::fault::ledger_support::COMPARED_OFTEN;
use crate::fault::support::{PATIENCE, service_on};
use crate::room::fixture::{RoomBench, is_in};
use crate::support::eventually;
use crate::support::redis::TestRedis;
use crate::support::service::Service;

/// A room with one user in and one waiting; sessions last a second.
async fn room() -> RoomBench {
    let redis = Arc::new(TestRedis::own(&[]).await);
    let bench = RoomBench::on(redis, &json!({"capacity": 1, "session_s": 1})).await;
    let registry = Registry::new(bench.store.clone());
    let ids = std::slice::from_ref(&bench.id);
    registry.add_to_index(ids).await.expect("in the index");
    let joined = bench.joined(["u1", "u2"]).await;
    assert!(is_in(&joined[0]) && !is_in(&joined[1]));
    bench
}

async fn service(bench: &RoomBench, auto_restore: &str) -> Service {
    let restore = ("JACKPOT__LEDGER__AUTO_RESTORE", auto_restore);
    service_on(bench.redis.url(), &[COMPARED_OFTEN, restore]).await
}

async fn compared(service: &Service, bench: &RoomBench) -> (StatusCode, Value) {
    let answer = service.get("/v1/reconciliation").await;
    let rooms = answer.body["rooms"].as_array().cloned().unwrap_or_default();
    let own = rooms.into_iter().find(|room| room["room_id"] == bench.id.as_str());
    (answer.status, own.unwrap_or_default())
}

async fn until_clean(service: &Service, bench: &RoomBench) {
    eventually(PATIENCE, "the ledger has all of the room, and agrees", async || {
        let (status, own) = compared(service, bench).await;
        let last = bench.snapshot().await.mark.n();
        let clean = own["clean"] == true && own["lag"] == 0 && own["event"].as_u64() == Some(last);
        (status == StatusCode::OK && clean).then_some(())
    })
    .await;
}

/// Waits until the first to join is let in, once no earlier pass is valid any more.
async fn until_let_in(bench: &RoomBench) {
    eventually(PATIENCE, "the first is let in", async || {
        let joined = bench.joined(["u3", "u4"]).await;
        is_in(&joined[0]).then_some(())
    })
    .await;
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_service_compares_a_room_and_rebuilds_a_lost_one() {
    let bench = room().await;
    let id = bench.id.as_str();
    let service = service(&bench, "on").await;
    until_clean(&service, &bench).await;
    let audit = service.get(&format!("/v1/audit?room_id={id}")).await;
    let first = &audit.body["items"][0];
    assert_eq!(
        (&first["action"], &first["target"], &first["who"], &first["before"]),
        (&json!("define"), &json!(id), &json!("tester"), &Value::Null)
    );
    assert_eq!(first["after"]["definition"]["capacity"], 1, "{audit:?}");
    let ready = service.get("/readyz").await;
    assert_eq!(ready.body["refused"]["rooms"], 0, "{ready:?}");
    let metrics = service.get("/metrics").await.text;
    assert!(
        metrics.contains(&format!("jackpot_ledger_lag_events{{room=\"{id}\"}} 0")),
        "{metrics}"
    );
    let url = service.url("");
    let clean = service.command(&["reconcile", "--url", &url, "--room", id]);
    assert!(clean.status.success(), "{}", told(&clean));
    assert!(
        told(&clean).starts_with(&format!("room {id} at event ")),
        "{}",
        told(&clean)
    );

    bench.raw::<()>(&mut redis::cmd("FLUSHALL")).await;
    eventually(PATIENCE, "the room is rebuilt", async || {
        let state = bench.hash(&bench.keys.state).await;
        let is = |field: &str, value: &str| state.get(field).is_some_and(|held| held == value);
        (is("restores", "1") && is("status", "open")).then_some(())
    })
    .await;
    until_let_in(&bench).await;
    until_clean(&service, &bench).await;

    let tamper = async |by: i64| {
        let mut add = redis::cmd("HINCRBY");
        add.arg(&bench.keys.state).arg("capacity").arg(by);
        bench.raw::<i64>(&mut add).await;
    };
    let status = async |wanted: Status| {
        eventually(PATIENCE, "the room's status follows", async || {
            (bench.snapshot().await.status == wanted).then_some(())
        })
        .await;
    };
    tamper(1).await;
    status(Status::Suspended).await;
    let wrong = service.command(&["reconcile", "--url", &url]);
    assert_eq!(wrong.status.code(), Some(1), "{}", told(&wrong));
    let fault = "capacity is 2 in Redis and 1 in the ledger";
    assert!(told(&wrong).contains(fault), "{}", told(&wrong));
    assert_eq!(compared(&service, &bench).await.0, StatusCode::CONFLICT);
    tamper(-1).await;
    status(Status::Open).await;
    until_clean(&service, &bench).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_command_rebuilds_a_room_of_a_service_that_does_not() {
    let bench = room().await;
    let id = bench.id.as_str();
    let mut service = service(&bench, "off").await;
    until_clean(&service, &bench).await;
    assert!(service.stop().await.success());
    let events = bench.snapshot().await.mark.n();
    let whole = service.command(&["restore", "--room", id]);
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
    let line = format!("room:{id}: restored, event {} after 1 restores\n", events + 1);
    assert!(told(&restored).contains(&line), "{}", told(&restored));
    let other = service.command(&["restore", "--room", "none"]);
    let unknown = "the ledger has no event of room 'none'";
    assert!(told(&other).contains(unknown), "{}", told(&other));
    let table = service.command(&["reconcile", "--room", id]);
    assert!(table.status.success(), "{}", told(&table));
    assert!(told(&table).contains("capacity"), "{}", told(&table));
    service.restart().await;
    until_let_in(&bench).await;
    until_clean(&service, &bench).await;
}
