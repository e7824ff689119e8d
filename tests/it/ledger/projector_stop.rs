//! An event that cannot be applied stops its stream, loudly, and no other one.

use std::collections::BTreeMap;

use jackpot::jackpot::scripts::Refusal;
use jackpot::jackpot::view::Status;
use jackpot::ledger::restore::Replace;
use jackpot::subject::Reason;
use serde_json::json;

use crate::jackpot::fixture::{Bench, entry, operator};
use crate::jackpot::ledger::fixture::Kit;
use crate::support::ledger_db::{LedgerDb, on_both_databases};

on_both_databases!(
    an_event_that_is_missing_stops_the_stream,
    one_that_is_unreadable_does,
    bytes_that_are_no_text_do,
    one_that_makes_money_does,
    a_stream_that_was_deleted_does,
    another_event_under_the_last_number_does,
    another_history_that_has_gone_on_does,
    a_row_that_is_there_already_does,
    damaged_rows_do,
    another_redis_for_a_moment_stops_nothing_for_good,
);

type Stream = Vec<(String, BTreeMap<String, String>)>;

/// Rewrites the stream with changed events.
async fn rewrite(bench: &Bench, change: impl FnOnce(&mut Stream)) {
    let key = &bench.operate.views.registry.known(&bench.id).keys.events;
    let mut events: Stream = bench.raw(redis::cmd("XRANGE").arg(key).arg("-").arg("+")).await;
    change(&mut events);
    bench.raw::<()>(redis::cmd("DEL").arg(key)).await;
    for (id, fields) in events {
        bench
            .raw::<String>(redis::cmd("XADD").arg(key).arg(id).arg(fields))
            .await;
    }
}

fn set(events: &mut Stream, at: usize, field: &str, value: &str) {
    events[at].1.insert(field.to_owned(), value.to_owned());
}

/// Two jackpots with five events each. `projected`: the ledger has them.
async fn two(db: LedgerDb, projected: bool) -> (Kit, Bench) {
    let kit = Kit::with(db, &json!({})).await;
    let good = Bench::on(kit.redis.clone(), &json!({})).await;
    for bench in [&kit.bench, &good] {
        for n in 0..4 {
            bench.take(&format!("e{n}"), 0).await;
        }
    }
    if projected {
        kit.project().await;
    }
    (kit, good)
}

/// The stream is stopped at event `n` because of `reason`, and the other one goes on. A restore repairs it.
async fn assert_stopped(kit: &Kit, good: &Bench, n: u64, reason: &str) {
    let id = &kit.bench.id;
    good.take("goes-on", 0).await;
    let mut projector = kit.projector_of(&kit.bench.operate, false);
    projector.catch_up().await;
    let stopped = kit.place(id, "stopped").await;
    assert!(stopped.contains(reason), "{stopped}");
    assert_eq!(kit.n().await, n, "nothing behind it is written");
    assert_eq!(kit.metric("ledger_stopped", id), "1");
    let refused = kit.bench.enter(&[entry("refused", 0)]).await.refusal;
    assert_eq!(refused, Some(Refusal::Suspended));
    let refused = kit.bench.operate.views.registry.known(id).refusal(None);
    assert_eq!(refused.map(|(reason, _)| reason), Some(Reason::LedgerStopped));

    assert_eq!(kit.events_of(&good.id).await.len(), 6);
    assert_eq!(kit.place(&good.id, "stopped").await, "");
    good.take("goes-on-still", 0).await;
    projector.finish().await;
    assert_eq!(kit.events_of(&good.id).await.len(), 7);
    assert_eq!(good.snapshot().await.status.as_str(), "open");

    kit.restore(Replace::Ahead).await.expect("rebuilt");
    // Clients got answers that it does not hold any more, so an operator must open it.
    assert_eq!(kit.bench.snapshot().await.status, Status::Paused);
    let (reason, by) = ("repaired".to_owned(), operator());
    let open = kit.bench.operate.set_status(id, Status::Open, reason, &by).await;
    open.expect("open");
    kit.bench.take("after-the-repair", 0).await;
    kit.project().await;
    assert_eq!(kit.place(id, "stopped").await, "");
    assert_eq!(kit.metric("ledger_stopped", id), "0");
    kit.assert_complete().await;
}

async fn an_event_that_is_missing_stops_the_stream(db: LedgerDb) {
    let (kit, good) = two(db, false).await;
    let key = &kit.bench.operate.views.registry.known(&kit.bench.id).keys.events;
    assert_eq!(kit.bench.raw::<u64>(redis::cmd("XDEL").arg(key).arg("3-4")).await, 1);
    assert_stopped(&kit, &good, 3, "event 5 comes after event 3").await;
}

async fn one_that_is_unreadable_does(db: LedgerDb) {
    let (kit, good) = two(db, false).await;
    rewrite(&kit.bench, |events| set(events, 2, "type", "rubbish")).await;
    assert_stopped(&kit, &good, 2, "event 3: field 'type'").await;
}

async fn one_that_makes_money_does(db: LedgerDb) {
    let (kit, good) = two(db, false).await;
    rewrite(&kit.bench, |events| {
        set(events, 3, "meters", "grand pool:2 contributed:1;");
    })
    .await;
    assert_stopped(&kit, &good, 3, "do not sum to zero: 1000000 millionths").await;
}

async fn a_stream_that_was_deleted_does(db: LedgerDb) {
    let (kit, good) = two(db, true).await;
    kit.bench.take("lost", 0).await;
    rewrite(&kit.bench, Vec::clear).await;
    assert_stopped(&kit, &good, 5, "has none after event 5").await;
}

async fn another_event_under_the_last_number_does(db: LedgerDb) {
    let (kit, good) = two(db, true).await;
    rewrite(&kit.bench, |events| set(events, 4, "at", "1700000000000")).await;
    assert_stopped(
        &kit,
        &good,
        5,
        "event 5 in Redis is another one than event 5 in the ledger",
    )
    .await;
}

/// It does so also while it is read, even though each event follows from the one before.
async fn another_history_that_has_gone_on_does(db: LedgerDb) {
    let (kit, good) = two(db, true).await;
    let mut reading = kit.projector_of(&kit.bench.operate, false);
    reading.catch_up().await;
    rewrite(&kit.bench, |events| set(events, 4, "block", "other p 100 -")).await;
    kit.bench.take("more", 0).await;
    reading.finish().await;
    assert_eq!(kit.n().await, 5);
    assert_stopped(&kit, &good, 5, "event 5 in Redis is another one").await;
}

async fn a_row_that_is_there_already_does(db: LedgerDb) {
    let (kit, good) = two(db, true).await;
    kit.change(&format!(
        "INSERT INTO adjustments (jackpot_id, adjustment_id, n, at_ms, digest) VALUES ('{}', 'twice', 1, 1, 'd')",
        kit.bench.id
    ))
    .await;
    kit.bench.fund("twice", 10).await;
    good.take("together", 0).await;
    good.take("and-more", 0).await;
    let mut projector = kit.projector_of(&kit.bench.operate, false);
    projector.catch_up().await;
    projector.finish().await;
    let stopped = kit.place(&kit.bench.id, "stopped").await;
    assert!(stopped.contains("the database refuses its next events"), "{stopped}");
    assert_eq!((kit.n().await, kit.events_of(&good.id).await.len()), (5, 7));
    assert_eq!(kit.bench.snapshot().await.status.as_str(), "suspended");
}

/// Redis has SQL's last event again and nothing more: without a new event, and with a new holder of the lease.
async fn another_redis_for_a_moment_stops_nothing_for_good(db: LedgerDb) {
    let (kit, _) = two(db, true).await;
    let known = kit.bench.operate.views.registry.known(&kit.bench.id);
    let right = [&known.keys.state, &known.keys.events].map(|key| (key, format!("{key}:right")));
    for (key, kept) in &right {
        kit.bench.raw::<u64>(redis::cmd("COPY").arg(key).arg(kept)).await;
    }
    rewrite(&kit.bench, |events| set(events, 4, "at", "1700000000000")).await;
    // This is another instance than the one below: it has seen an event of the other Redis.
    kit.projector().finish().await;
    assert!(kit.place(&kit.bench.id, "stopped").await.contains("another one"));
    for (key, kept) in &right {
        kit.bench.raw::<()>(redis::cmd("RENAME").arg(kept).arg(key)).await;
    }
    kit.project().await;
    assert_eq!(kit.place(&kit.bench.id, "stopped").await, "");
    assert_eq!(kit.metric("ledger_stopped", &kit.bench.id), "0");
    assert_eq!(kit.bench.snapshot().await.status.as_str(), "open");
}

async fn damaged_rows_do(db: LedgerDb) {
    let (kit, good) = two(db, true).await;
    let id = &kit.bench.id;
    kit.change(&format!(
        "UPDATE events SET body = body || ' ' WHERE kind = 'jackpot' AND id = '{id}' AND n = 3"
    ))
    .await;
    kit.bench.take("not-on-top-of-it", 0).await;
    good.take("goes-on", 0).await;
    kit.project().await;
    let stopped = kit.place(id, "stopped").await;
    assert!(stopped.contains("event 3 in table events"), "{stopped}");
    assert_eq!((kit.n().await, kit.metric("ledger_stopped", id)), (5, "1".to_owned()));
    assert_eq!(kit.bench.snapshot().await.status.as_str(), "suspended");
    assert_eq!(kit.events_of(&good.id).await.len(), 6);
}

async fn bytes_that_are_no_text_do(db: LedgerDb) {
    let (kit, good) = two(db, true).await;
    let key = &kit.bench.operate.views.registry.known(&kit.bench.id).keys.events;
    kit.bench.raw::<()>(redis::cmd("DEL").arg(key)).await;
    let mut add = redis::cmd("XADD");
    add.arg(key).arg("4-5").arg("n").arg(&b"5\xff"[..]);
    kit.bench.raw::<String>(&mut add).await;
    assert_stopped(&kit, &good, 5, "does not hold event 5").await;
}

#[tokio::test]
async fn rows_that_are_no_text_stop_their_jackpot_only() {
    let (kit, good) = two(LedgerDb::sqlite(), true).await;
    let id = &kit.bench.id;
    kit.change(&format!(
        "UPDATE events SET body = CAST(x'7bff' AS TEXT) WHERE kind = 'jackpot' AND id = '{id}' AND n = 5"
    ))
    .await;
    good.take("goes-on", 0).await;
    kit.project().await;
    let stopped = kit.place(id, "stopped").await;
    assert!(stopped.contains("is damaged"), "{stopped}");
    assert_eq!(kit.events_of(&good.id).await.len(), 6);
}
