//! The projector of rooms: every kind of event reaches its tables once. A contradiction stops it.

use std::sync::Arc;

use jackpot::room::scripts;
use jackpot_core::mark::Mark;

use crate::room::fixture::RoomFixture;
use crate::room::ledger::fixture::{RoomLedger, live, sha256};
use crate::support::prelude::*;

on_both_databases!(
    every_kind_of_event_reaches_its_tables,
    a_second_opening_stops_the_stream,
    a_restore_that_forgets_passes_stops_the_stream,
    only_what_sql_has_less_a_margin_is_trimmed,
    many_rooms_are_read_at_once,
    instances_that_take_it_from_each_other_write_each_event_once,
);

async fn every_kind_of_event_reaches_its_tables(db: LedgerDb) {
    let fixture = RoomLedger::with(db, &json!({"opens_at": "2099-01-01T00:00:00Z"})).await;
    live(&fixture).await;
    fixture.project().await;
    fixture.assert_complete().await;
    let types = fixture.own_rows("events", "type", "n").await.concat();
    let all = [
        "define",
        "define",
        "define",
        "define",
        "opened",
        "define",
        "status",
        "status",
        "checkpoint",
    ];
    assert_eq!(types, all);
    let id = fixture.id.as_str();
    let audit = fixture
        .own_rows("audit", "action target who request_id reason before after", "n")
        .await;
    let told: Vec<_> = audit.iter().map(|row| row[..4].join(" ")).collect();
    let by = |action: &str| format!("{action} {id} tester r");
    let defines = vec![by("define"); 5];
    assert_eq!(told, [defines, vec![by("suspend"), by("resume")]].concat());
    let [before, after] = [&audit[4][5], &audit[4][6]].map(|json| serde_json::from_str::<Value>(json).expect("JSON"));
    assert_eq!((&before["version"], &after["version"]), (&json!(4), &json!(5)));
    assert_eq!(
        (&before["definition"]["capacity"], &after["definition"]["capacity"]),
        (&json!(2), &json!(1))
    );
    assert_eq!(
        (&audit[0][5], &audit[5][5], &audit[5][6]),
        (&"null".to_owned(), &"\"open\"".to_owned(), &"\"suspended\"".to_owned())
    );
    let report = fixture.report().await;
    assert!(report.clean, "{report:?}");
    let names: Vec<_> = report.state.iter().map(|row| row.name.as_str()).collect();
    let all = [
        "status",
        "version",
        "capacity",
        "session_ms",
        "waiting_timeout_ms",
        "admissions_per_minute",
        "opens_ms",
        "passes_until_ms",
        "commitment",
        "pre_queue_sha256",
    ];
    assert_eq!(names, all);
    assert_ne!(report.state[7].ledger, "0", "passes may be out of the session before");
    assert_eq!(fixture.metric("ledger_lag_events"), "0");
}

/// Appends an event that no script would write.
async fn append(fixture: &RoomLedger, fields: &[(&str, &str)]) {
    let keys = &fixture.keys;
    let n: u64 = fixture
        .raw(redis::cmd("HINCRBY").arg(&keys.state).arg("n").arg(1))
        .await;
    let history: String = fixture.raw(redis::cmd("HGET").arg(&keys.state).arg("history")).await;
    // A restore begins another history.
    let begins = fields.contains(&("type", "restore"));
    let mut event = redis::cmd("XADD");
    event.arg(&keys.events).arg(format!("{n}-{n}"));
    event
        .arg("n")
        .arg(n)
        .arg("at")
        .arg(4_000_000_000_000_u64)
        .arg("clock")
        .arg(0)
        .arg("history")
        .arg(if begins { "00000000000000bb" } else { &history });
    for (name, value) in fields {
        event.arg(name).arg(value);
    }
    fixture.raw::<String>(&mut event).await;
}

async fn a_second_opening_stops_the_stream(db: LedgerDb) {
    let fixture = RoomLedger::with(db, &json!({})).await;
    let none = sha256(&[]);
    let published = scripts::publish(&fixture.store, &fixture.keys, Mark::ZERO, 0, &none).await;
    assert!(published.expect("a reply").1);
    fixture.project().await;
    append(&fixture, &[("type", "opened"), ("joined", "1"), ("sha256", &none)]).await;
    fixture.assert_stopped(2, "its list is published twice").await;
}

async fn a_restore_that_forgets_passes_stops_the_stream(db: LedgerDb) {
    let fixture = RoomLedger::with(db, &json!({})).await;
    fixture.define(&json!({"session_s": 5})).await;
    fixture.project().await;
    let restore = [
        ("type", "restore"),
        ("from_n", ""),
        ("restores", "1"),
        ("records", "0"),
        ("status", "open"),
        ("passes_until", "0"),
        ("order_nonce", "0a"),
        ("commitment", &"5f".repeat(32)),
    ];
    append(&fixture, &restore).await;
    fixture
        .assert_stopped(2, "passes that were out before are forgotten")
        .await;
}

async fn only_what_sql_has_less_a_margin_is_trimmed(db: LedgerDb) {
    const MARGIN: u64 = 15;
    let mut fixture = RoomLedger::with(db, &json!({})).await;
    fixture.settings.trim_margin_events = MARGIN;
    fixture.settings.reconcile_interval_s = 30;
    // Makes the nodes of the stream small, because only whole nodes are trimmed.
    let mut small = redis::cmd("CONFIG");
    small.arg("SET").arg("stream-node-max-entries").arg(5);
    fixture.raw::<()>(&mut small).await;
    let mut projector = fixture.own_projector();
    let length = async || -> u64 { fixture.raw(redis::cmd("XLEN").arg(&fixture.keys.events)).await };
    for capacity in 3..103 {
        fixture.define(&json!({"capacity": capacity})).await;
        projector.catch_up().await;
        assert!(length().await >= MARGIN.min(capacity - 1), "the margin stays");
    }
    let left = length().await;
    assert!(left <= MARGIN + 10, "{left} are left");
    projector.finish().await;
    fixture.assert_complete().await;
}

async fn many_rooms_are_read_at_once(db: LedgerDb) {
    let fixture = RoomLedger::with(db, &json!({})).await;
    let (mut ids, mut rooms) = (vec![fixture.id.clone()], Vec::new());
    for _ in 0..40 {
        let room = RoomFixture::on(Arc::clone(&fixture.redis), &json!({})).await;
        ids.push(room.id.clone());
        rooms.push(room);
    }
    fixture.kind.registry.add_to_index(&ids).await.expect("in the index");
    fixture.project().await;
    let count: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM events WHERE kind = 'room' AND type = 'define'")
        .fetch_one(fixture.ledger.sql.reader())
        .await
        .expect("a number");
    assert_eq!(usize::try_from(count).expect("not below zero"), ids.len());
}

async fn instances_that_take_it_from_each_other_write_each_event_once(db: LedgerDb) {
    let mut fixture = RoomLedger::with(db, &json!({})).await;
    fixture.settings.lease_ms = 1;
    let mut first = fixture.projector();
    let mut second = fixture.projector();
    for capacity in 3..23 {
        fixture.define(&json!({"capacity": capacity})).await;
        // Both look at all leases in each round. The one that comes when the other's lease has ended takes over.
        tokio::join!(first.catch_up(), second.catch_up());
    }
    drop(first);
    drop(second);
    fixture.project().await;
    fixture.assert_complete().await;
    let holders: i64 = fixture.place("lease_token").await.parse().expect("a number");
    assert!(holders > 2, "taken over {holders} times");
    assert_eq!(fixture.place("stopped").await, "");
}
