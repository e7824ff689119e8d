//! An event that cannot be applied stops its stream, loudly, and no other one.

use jackpot::jackpot::scripts::Refusal;
use jackpot::ledger::restore::Replace;
use jackpot::subject::Reason;
use jackpot_api::jackpot::Status;

use crate::jackpot::fixture::{JackpotFixture, entry, operator};
use crate::jackpot::ledger::fixture::JackpotLedger;
use crate::support::fixture::Stream;
use crate::support::prelude::*;

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

fn set(events: &mut Stream, at: usize, field: &str, value: &str) {
    events[at].1.insert(field.to_owned(), value.to_owned());
}

/// Two jackpots with five events each. `projected`: the ledger has them.
async fn two(db: LedgerDb, projected: bool) -> (JackpotLedger, JackpotFixture) {
    let fixture = JackpotLedger::with(db, &json!({})).await;
    let good = JackpotFixture::on(fixture.redis.clone(), &json!({})).await;
    for jackpot in [&fixture, &good] {
        for n in 0..4 {
            jackpot.take(&format!("e{n}"), 0).await;
        }
    }
    if projected {
        fixture.project().await;
    }
    (fixture, good)
}

/// The stream is stopped at event `n` because of `reason`, and the other one goes on. A restore repairs it.
async fn assert_stopped(fixture: &JackpotLedger, good: &JackpotFixture, n: u64, reason: &str) {
    let id = &fixture.id;
    good.take("goes-on", 0).await;
    let mut projector = fixture.own_projector();
    projector.catch_up().await;
    let stopped = fixture.place_of(id, "stopped").await;
    stopped.says(reason);
    assert_eq!(fixture.n().await, n, "no event after it is written");
    assert_eq!(fixture.metric_of(id, "ledger_stopped"), "1");
    let refused = fixture.enter(&[entry("refused", 0)]).await.refusal;
    assert_eq!(refused, Some(Refusal::Suspended));
    let refused = fixture.operate.views.registry.known(id).refusal(None);
    assert_eq!(refused.map(|(reason, _)| reason), Some(Reason::LedgerStopped));

    assert_eq!(fixture.events_of(&good.id).await.len(), 6);
    assert_eq!(fixture.place_of(&good.id, "stopped").await, "");
    good.take("goes-on-still", 0).await;
    projector.finish().await;
    assert_eq!(fixture.events_of(&good.id).await.len(), 7);
    assert_eq!(good.snapshot().await.status.as_str(), "open");

    fixture.restore(Replace::Ahead).await.expect("rebuilt");
    // Clients got answers that it does not hold any more, so an operator must open it.
    assert_eq!(fixture.snapshot().await.status, Status::Paused);
    let (reason, by) = ("repaired".to_owned(), operator());
    let open = fixture.operate.set_status(id, Status::Open, reason, &by).await;
    open.expect("open");
    fixture.take("after-the-repair", 0).await;
    fixture.project().await;
    assert_eq!(fixture.place_of(id, "stopped").await, "");
    assert_eq!(fixture.metric_of(id, "ledger_stopped"), "0");
    fixture.assert_complete().await;
}

async fn an_event_that_is_missing_stops_the_stream(db: LedgerDb) {
    let (fixture, good) = two(db, false).await;
    let key = &fixture.operate.views.registry.known(&fixture.id).keys.events;
    assert_eq!(fixture.raw::<u64>(redis::cmd("XDEL").arg(key).arg("3-4")).await, 1);
    assert_stopped(&fixture, &good, 3, "event 5 comes after event 3").await;
}

async fn one_that_is_unreadable_does(db: LedgerDb) {
    let (fixture, good) = two(db, false).await;
    fixture.rewrite(|events| set(events, 2, "type", "rubbish")).await;
    assert_stopped(&fixture, &good, 2, "event 3: field 'type'").await;
}

async fn one_that_makes_money_does(db: LedgerDb) {
    let (fixture, good) = two(db, false).await;
    fixture
        .rewrite(|events| {
            set(events, 3, "meters", "grand pool:2,contributed:1;");
        })
        .await;
    assert_stopped(&fixture, &good, 3, "do not sum to zero: 1000000 millionths").await;
}

async fn a_stream_that_was_deleted_does(db: LedgerDb) {
    let (fixture, good) = two(db, true).await;
    fixture.take("lost", 0).await;
    fixture.rewrite(Vec::clear).await;
    assert_stopped(&fixture, &good, 5, "has none after event 5").await;
}

async fn another_event_under_the_last_number_does(db: LedgerDb) {
    let (fixture, good) = two(db, true).await;
    fixture.rewrite(|events| set(events, 4, "at", "1700000000000")).await;
    assert_stopped(
        &fixture,
        &good,
        5,
        "event 5 in Redis is another one than event 5 in the ledger",
    )
    .await;
}

/// It does so also while it is read, even though each event follows from the one before.
async fn another_history_that_has_gone_on_does(db: LedgerDb) {
    let (fixture, good) = two(db, true).await;
    let mut reading = fixture.own_projector();
    reading.catch_up().await;
    fixture.rewrite(|events| set(events, 4, "block", "other p 100 -")).await;
    fixture.take("more", 0).await;
    reading.finish().await;
    assert_eq!(fixture.n().await, 5);
    assert_stopped(&fixture, &good, 5, "event 5 in Redis is another one").await;
}

async fn a_row_that_is_there_already_does(db: LedgerDb) {
    let (fixture, good) = two(db, true).await;
    fixture
        .change(&format!(
            "INSERT INTO adjustments (jackpot_id, adjustment_id, n, at_ms, digest) VALUES ('{}', 'twice', 1, 1, 'd')",
            fixture.id
        ))
        .await;
    fixture.fund("twice", 10).await;
    good.take("together", 0).await;
    good.take("and-more", 0).await;
    let mut projector = fixture.own_projector();
    projector.catch_up().await;
    projector.finish().await;
    let stopped = fixture.place("stopped").await;
    stopped.says("the database refuses its next events");
    assert_eq!((fixture.n().await, fixture.events_of(&good.id).await.len()), (5, 7));
    assert_eq!(fixture.snapshot().await.status.as_str(), "suspended");
}

/// Redis has SQL's last event again and nothing more: without a new event, and with a new holder of the lease.
async fn another_redis_for_a_moment_stops_nothing_for_good(db: LedgerDb) {
    let (fixture, _) = two(db, true).await;
    let known = fixture.operate.views.registry.known(&fixture.id);
    let right = [&known.keys.state, &known.keys.events].map(|key| (key, format!("{key}:right")));
    for (key, kept) in &right {
        fixture.raw::<u64>(redis::cmd("COPY").arg(key).arg(kept)).await;
    }
    fixture.rewrite(|events| set(events, 4, "at", "1700000000000")).await;
    // This is another instance than the one below: it has seen an event of the other Redis.
    fixture.projector().finish().await;
    fixture.place("stopped").await.says("another one");
    for (key, kept) in &right {
        fixture.raw::<()>(redis::cmd("RENAME").arg(kept).arg(key)).await;
    }
    fixture.project().await;
    assert_eq!(fixture.place("stopped").await, "");
    assert_eq!(fixture.metric("ledger_stopped"), "0");
    assert_eq!(fixture.snapshot().await.status.as_str(), "open");
}

async fn damaged_rows_do(db: LedgerDb) {
    let (fixture, good) = two(db, true).await;
    let id = &fixture.id;
    fixture
        .change(&format!(
            "UPDATE events SET body = body || ' ' WHERE kind = 'jackpot' AND id = '{id}' AND n = 3"
        ))
        .await;
    fixture.take("not-on-top-of-it", 0).await;
    good.take("goes-on", 0).await;
    fixture.project().await;
    let stopped = fixture.place_of(id, "stopped").await;
    stopped.says("event 3 in table events");
    assert_eq!(
        (fixture.n().await, fixture.metric_of(id, "ledger_stopped")),
        (5, "1".to_owned())
    );
    assert_eq!(fixture.snapshot().await.status.as_str(), "suspended");
    assert_eq!(fixture.events_of(&good.id).await.len(), 6);
}

async fn bytes_that_are_no_text_do(db: LedgerDb) {
    let (fixture, good) = two(db, true).await;
    let key = &fixture.operate.views.registry.known(&fixture.id).keys.events;
    fixture.raw::<()>(redis::cmd("DEL").arg(key)).await;
    let mut add = redis::cmd("XADD");
    add.arg(key).arg("4-5").arg("n").arg(&b"5\xff"[..]);
    fixture.raw::<String>(&mut add).await;
    assert_stopped(&fixture, &good, 5, "does not hold event 5").await;
}

#[tokio::test]
async fn rows_that_are_no_text_stop_their_jackpot_only() {
    let (fixture, good) = two(LedgerDb::sqlite(), true).await;
    let id = &fixture.id;
    fixture
        .change(&format!(
            "UPDATE events SET body = CAST(x'7bff' AS TEXT) WHERE kind = 'jackpot' AND id = '{id}' AND n = 5"
        ))
        .await;
    good.take("goes-on", 0).await;
    fixture.project().await;
    let stopped = fixture.place_of(id, "stopped").await;
    stopped.says("is damaged");
    assert_eq!(fixture.events_of(&good.id).await.len(), 6);
}
