//! The index of entries by player follows the events with a separate cursor, and misses nothing in the end.

use std::time::Duration;

use jackpot::jackpot::ledger::projector::Jackpots;
use jackpot::ledger::projector::Projector;

use crate::jackpot::fixture::entry;
use crate::jackpot::ledger::fixture::JackpotLedger;
use crate::jackpot::ledger::projector::{live, project_in};
use crate::support::ledger_fixture::Texts;
use crate::support::prelude::*;

on_both_databases!(
    what_a_dead_projector_left_is_indexed_by_the_next,
    entries_wait_for_the_index_and_a_stop_writes_them,
    a_stalled_holder_that_wakes_up_indexes_nothing,
    the_cursor_goes_along_while_there_is_no_index,
    an_index_ahead_of_its_events_is_damage,
);

/// Deadline of what takes about a second.
const DEADLINE: Duration = Duration::from_secs(30);

/// The cursors of events and index.
async fn cursors(fixture: &JackpotLedger) -> (u64, u64) {
    let indexed = fixture.place("indexed_n").await;
    (fixture.n().await, indexed.parse().expect("a number"))
}

fn ids(rows: &[Texts]) -> Vec<&str> {
    let mut ids: Vec<_> = rows.iter().map(|row| row[4].as_str()).collect();
    ids.sort_unstable();
    ids
}

async fn what_a_dead_projector_left_is_indexed_by_the_next(db: LedgerDb) {
    let mut fixture = JackpotLedger::with(db, &json!({})).await;
    live(&fixture).await;
    project_in(&fixture, &[2, 3]).await;
    let (n, indexed) = cursors(&fixture).await;
    assert!(0 < indexed && indexed < n, "{indexed} of {n}");
    assert!(fixture.indexed().await.is_empty());
    fixture.change("UPDATE streams SET holder = ''").await;
    fixture.project().await;
    let (n, indexed) = cursors(&fixture).await;
    assert_eq!(n, indexed);
    let after_a_crash = fixture.indexed().await;
    assert_eq!(
        ids(&after_a_crash),
        [
            "a",
            "b",
            "ended",
            "pending",
            "refused",
            "under-another-definition",
            "win"
        ]
    );
    let settled: Vec<_> = after_a_crash.iter().filter(|row| row[11] == "0").collect();
    assert_eq!(
        settled.len(),
        1,
        "only the pending one is not settled: {after_a_crash:?}"
    );

    fixture = JackpotLedger::of(LedgerDb::sqlite(), fixture.subject).await;
    fixture.project().await;
    assert_eq!(fixture.indexed().await, after_a_crash, "as without a crash");
}

/// Plays until a commit leaves its entries to a later write of the index; returns the number of entries.
async fn until_some_wait(fixture: &JackpotLedger, projector: &mut Projector<Jackpots>) -> usize {
    let mut played = 0;
    eventually(DEADLINE, "entries wait for the index", async || {
        fixture.enter(&[entry(&format!("e{played}"), 0)]).await;
        played += 1;
        projector.round().await.expect("SQL answers");
        let (n, indexed) = cursors(fixture).await;
        (indexed < n).then_some(())
    })
    .await;
    played
}

async fn entries_wait_for_the_index_and_a_stop_writes_them(db: LedgerDb) {
    let fixture = JackpotLedger::with(db, &json!({})).await;
    let mut projector = fixture.own_projector();
    let played = until_some_wait(&fixture, &mut projector).await;
    assert!(fixture.indexed().await.len() < played);
    eventually(DEADLINE, "the index follows while nothing is played", async || {
        projector.round().await.expect("SQL answers");
        (fixture.indexed().await.len() == played).then_some(())
    })
    .await;
    let (n, indexed) = cursors(&fixture).await;
    assert_eq!(n, indexed);
    fixture.enter(&[entry("last", 0)]).await;
    projector.finish().await;
    assert_eq!(fixture.indexed().await.len(), played + 1);
}

async fn a_stalled_holder_that_wakes_up_indexes_nothing(db: LedgerDb) {
    let fixture = JackpotLedger::with(db, &json!({})).await;
    let mut stalled = fixture.own_projector();
    let played = until_some_wait(&fixture, &mut stalled).await;
    fixture.change("UPDATE streams SET holder = ''").await;
    fixture.project().await;
    assert_eq!(
        fixture.indexed().await.len(),
        played,
        "the other one has indexed what waited"
    );
    let before = fixture.everything().await;
    stalled.catch_up().await;
    stalled.finish().await;
    assert_eq!(fixture.everything().await, before);
    assert_eq!(fixture.place("stopped").await, "");
    fixture.assert_complete().await;
}

async fn the_cursor_goes_along_while_there_is_no_index(db: LedgerDb) {
    let mut fixture = JackpotLedger::with(db, &json!({})).await;
    let days = std::mem::take(&mut fixture.settings.entry_index_days);
    fixture.take("without", 0).await;
    fixture.project().await;
    let (n, indexed) = cursors(&fixture).await;
    assert_eq!(n, indexed);
    fixture.settings.entry_index_days = days;
    fixture.take("with", 0).await;
    fixture.project().await;
    assert_eq!(
        ids(&fixture.indexed().await),
        ["with"],
        "what was played without stays out"
    );
}

async fn an_index_ahead_of_its_events_is_damage(db: LedgerDb) {
    let fixture = JackpotLedger::with(db, &json!({})).await;
    fixture.take("e", 0).await;
    fixture.project().await;
    fixture.change("UPDATE streams SET indexed_n = n + 1").await;
    fixture.project().await;
    let stopped = fixture.place("stopped").await;
    stopped.says("index of entries");
}
