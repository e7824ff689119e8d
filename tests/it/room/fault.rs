//! A whole service projects and compares a room, and rebuilds what Redis lost; the commands do the same.

use std::sync::Arc;

use jackpot_api::room::Status;

use crate::fault::ledger_support::{compared, service_beside, until_it_agrees};
use crate::room::fixture::{Room, RoomFixture, is_in};
use crate::support::ledger_fixture::InLedger;
use crate::support::prelude::*;

/// A room with one user in and one waiting; sessions last a second.
async fn room() -> RoomFixture {
    let redis = Arc::new(TestRedis::own(&[]).await);
    let fixture = RoomFixture::on(redis, &json!({"capacity": 1, "session_s": 1})).await;
    Room::known(&fixture).await;
    let joined = fixture.joined(["u1", "u2"]).await;
    assert!(is_in(&joined[0]) && !is_in(&joined[1]));
    fixture
}

/// Waits until the first to join is let in, once no earlier pass is valid any more.
async fn until_let_in(fixture: &RoomFixture) {
    eventually(PATIENCE, "the first is let in", async || {
        let joined = fixture.joined(["u3", "u4"]).await;
        is_in(&joined[0]).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_service_compares_a_room_and_rebuilds_a_lost_one() {
    let fixture = room().await;
    let id = fixture.id.as_str();
    let service = service_beside(&fixture, "on").await;
    until_it_agrees(&service, &fixture).await;
    let audit = service.get(&format!("/v1/audit?room_id={id}")).await;
    let first = &audit.body["items"][0];
    assert_has!(first, {"action": "define", "target": id, "who": "tester", "before": null});
    assert_eq!(first["after"]["definition"]["capacity"], 1, "{audit:?}");
    let ready = service.get("/readyz").await;
    assert_eq!(ready.body["refused"]["rooms"], 0, "{ready:?}");
    let metrics = service.get("/metrics").await.text;
    metrics.says(&format!("jackpot_ledger_lag_events{{room=\"{id}\"}} 0"));
    let url = service.url("");
    let clean = service.command(&["reconcile", "--url", &url, "--room", id]);
    clean.done();
    assert!(
        clean.words().starts_with(&format!("room {id} at event ")),
        "{}",
        clean.words()
    );

    fixture.raw::<()>(&mut redis::cmd("FLUSHALL")).await;
    eventually(PATIENCE, "the room is rebuilt", async || {
        let (restores, status): (Option<u64>, Option<String>) =
            (fixture.field("restores").await, fixture.field("status").await);
        (restores == Some(1) && status.as_deref() == Some("open")).then_some(())
    })
    .await;
    until_let_in(&fixture).await;
    until_it_agrees(&service, &fixture).await;

    let tamper = async |by: i64| {
        let mut add = redis::cmd("HINCRBY");
        add.arg(&fixture.keys.state).arg("capacity").arg(by);
        fixture.raw::<i64>(&mut add).await;
    };
    let status = async |wanted: Status| {
        eventually(PATIENCE, "the room's status follows", async || {
            (fixture.snapshot().await.status == wanted).then_some(())
        })
        .await;
    };
    tamper(1).await;
    status(Status::Suspended).await;
    let wrong = service.command(&["reconcile", "--url", &url]);
    assert_eq!(wrong.status.code(), Some(1), "{}", wrong.words());
    let fault = "capacity is 2 in Redis and 1 in the ledger";
    wrong.says(fault);
    assert_eq!(compared(&service, &fixture).await.0, StatusCode::CONFLICT);
    tamper(-1).await;
    status(Status::Open).await;
    until_it_agrees(&service, &fixture).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_command_rebuilds_a_room_of_a_service_that_does_not() {
    let fixture = room().await;
    let id = fixture.id.as_str();
    let mut service = service_beside(&fixture, "off").await;
    until_it_agrees(&service, &fixture).await;
    assert!(service.stop().await.success());
    let events = fixture.snapshot().await.mark.n();
    let whole = service.command(&["restore", "--room", id]);
    assert_eq!(whole.status.code(), Some(1), "{}", whole.words());
    whole.says("NOT restored: Redis has all its events");
    fixture.raw::<()>(&mut redis::cmd("FLUSHALL")).await;
    service.restart().await;
    let nothing = fixture.dump().await.is_empty();
    assert!(nothing, "nothing is made anew by a start");
    assert!(service.stop().await.success());
    let restored = service.command(&["restore"]);
    restored.done();
    let line = format!("room:{id}: restored, event {} after 1 restores\n", events + 1);
    restored.says(&line);
    let other = service.command(&["restore", "--room", "none"]);
    let unknown = "the ledger has no event of room 'none'";
    other.says(unknown);
    let table = service.command(&["reconcile", "--room", id]);
    table.done();
    table.says("capacity");
    service.restart().await;
    until_let_in(&fixture).await;
    until_it_agrees(&service, &fixture).await;
}
