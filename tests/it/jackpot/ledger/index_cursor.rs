//! The index of entries by player follows the events with a separate cursor, and misses nothing in the end.

use std::time::Duration;

use jackpot::jackpot::ledger::projector::Jackpots;
use jackpot::ledger::projector::Projector;
use serde_json::json;

use crate::jackpot::fixture::entry;
use crate::jackpot::ledger::fixture::{Kit, Texts};
use crate::jackpot::ledger::projector::{live, project_in};
use crate::support::eventually;
use crate::support::ledger_db::{LedgerDb, on_both_databases};

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
async fn cursors(kit: &Kit) -> (u64, u64) {
    let indexed = kit.place(&kit.bench.id, "indexed_n").await;
    (kit.n().await, indexed.parse().expect("a number"))
}

fn ids(rows: &[Texts]) -> Vec<&str> {
    let mut ids: Vec<_> = rows.iter().map(|row| row[4].as_str()).collect();
    ids.sort_unstable();
    ids
}

async fn what_a_dead_projector_left_is_indexed_by_the_next(db: LedgerDb) {
    let mut kit = Kit::with(db, &json!({})).await;
    live(&kit.bench).await;
    project_in(&kit, &[2, 3]).await;
    let (n, indexed) = cursors(&kit).await;
    assert!(0 < indexed && indexed < n, "{indexed} of {n}");
    assert!(kit.indexed().await.is_empty());
    kit.change("UPDATE streams SET holder = '', lease_until_ms = 0").await;
    kit.project().await;
    let (n, indexed) = cursors(&kit).await;
    assert_eq!(n, indexed);
    let after_a_crash = kit.indexed().await;
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

    let redis = kit.redis.clone();
    kit = Kit::of(LedgerDb::sqlite(), redis, kit.bench).await;
    kit.project().await;
    assert_eq!(kit.indexed().await, after_a_crash, "as without a crash");
}

/// Plays until a commit leaves its entries to a later write of the index; returns the number of entries.
async fn until_some_wait(kit: &Kit, projector: &mut Projector<Jackpots>) -> usize {
    let mut played = 0;
    eventually(DEADLINE, "entries wait for the index", async || {
        kit.bench.enter(&[entry(&format!("e{played}"), 0)]).await;
        played += 1;
        projector.round().await.expect("SQL answers");
        let (n, indexed) = cursors(kit).await;
        (indexed < n).then_some(())
    })
    .await;
    played
}

async fn entries_wait_for_the_index_and_a_stop_writes_them(db: LedgerDb) {
    let kit = Kit::with(db, &json!({})).await;
    let mut projector = kit.projector_of(&kit.bench.operate, false);
    let played = until_some_wait(&kit, &mut projector).await;
    assert!(kit.indexed().await.len() < played);
    eventually(DEADLINE, "the index follows while nothing is played", async || {
        projector.round().await.expect("SQL answers");
        (kit.indexed().await.len() == played).then_some(())
    })
    .await;
    let (n, indexed) = cursors(&kit).await;
    assert_eq!(n, indexed);
    kit.bench.enter(&[entry("last", 0)]).await;
    projector.finish().await;
    assert_eq!(kit.indexed().await.len(), played + 1);
}

async fn a_stalled_holder_that_wakes_up_indexes_nothing(db: LedgerDb) {
    let kit = Kit::with(db, &json!({})).await;
    let mut stalled = kit.projector_of(&kit.bench.operate, false);
    let played = until_some_wait(&kit, &mut stalled).await;
    kit.change("UPDATE streams SET holder = '', lease_until_ms = 0").await;
    kit.project().await;
    assert_eq!(
        kit.indexed().await.len(),
        played,
        "the other one has indexed what waited"
    );
    let before = kit.everything().await;
    stalled.catch_up().await;
    stalled.finish().await;
    assert_eq!(kit.everything().await, before);
    assert_eq!(kit.place(&kit.bench.id, "stopped").await, "");
    kit.assert_complete().await;
}

async fn the_cursor_goes_along_while_there_is_no_index(db: LedgerDb) {
    let mut kit = Kit::with(db, &json!({})).await;
    let days = std::mem::take(&mut kit.settings.entry_index_days);
    kit.bench.take("without", 0).await;
    kit.project().await;
    let (n, indexed) = cursors(&kit).await;
    assert_eq!(n, indexed);
    kit.settings.entry_index_days = days;
    kit.bench.take("with", 0).await;
    kit.project().await;
    assert_eq!(ids(&kit.indexed().await), ["with"], "what was played without stays out");
}

async fn an_index_ahead_of_its_events_is_damage(db: LedgerDb) {
    let kit = Kit::with(db, &json!({})).await;
    kit.bench.take("e", 0).await;
    kit.project().await;
    kit.change("UPDATE streams SET indexed_n = n + 1").await;
    kit.project().await;
    let stopped = kit.place(&kit.bench.id, "stopped").await;
    assert!(stopped.contains("index of entries"), "{stopped}");
}
