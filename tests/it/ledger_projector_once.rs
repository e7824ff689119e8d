//! Each event is in the ledger once, whatever becomes of the projectors that read it.

use std::sync::Arc;
use std::time::Duration;

use jackpot::ledger::projector::Projector;
use serde_json::json;

use crate::bench::{Bench, entry};
use crate::ledger_kit::Kit;
use crate::support::ledger_db::{LedgerDb, on_both_databases};

on_both_databases!(
    a_projector_that_dies_anywhere_loses_and_repeats_nothing,
    two_at_once_take_each_event_once,
    a_stalled_holder_that_wakes_up_writes_nothing,
    a_stalled_holder_does_not_take_what_was_trimmed_for_a_gap,
    a_lease_ends_with_its_time_or_when_it_is_given_back,
);

/// Losers, winners and refused ones in some calls.
async fn play(bench: &Bench, name: &str, calls: usize) {
    for call in 0..calls {
        let entries = (0..7_u32).map(|i| entry(&format!("{name}-{call}-{i}"), if i == 3 { 2 } else { i % 2 }));
        bench.enter(&entries.collect::<Vec<_>>()).await;
    }
}

async fn a_projector_that_dies_anywhere_loses_and_repeats_nothing(db: LedgerDb) {
    let mut kit = Kit::with(db, &json!({})).await;
    // The next one need not wait for the end of a dead one's lease.
    kit.settings.lease_ms = 0;
    let (mut died, mut ended) = (0, 0);
    for round in 0..60 {
        play(&kit.bench, &format!("r{round}"), 3).await;
        let mut projector = kit.projector();
        // Up to the time of a whole round: it dies before, in or behind a transaction.
        let life = Duration::from_micros(100 + round * 2_731 % 25_000);
        match tokio::time::timeout(life, projector.round()).await {
            Ok(round) => ended += usize::from(round.is_ok()),
            Err(_) => died += 1,
        }
    }
    assert!(died > 5, "{died} died, {ended} did not");
    kit.project().await;
    kit.assert_complete().await;
    assert_eq!(kit.table("reconciliations", "clean").await, [["1"]]);
}

async fn two_at_once_take_each_event_once(db: LedgerDb) {
    let kit = Kit::with(db, &json!({})).await;
    let mut two = [kit.projector(), kit.projector()];
    let [one, other] = &mut two;
    let rounds = async |projector: &mut Projector| {
        for _ in 0..40 {
            projector.catch_up().await;
        }
    };
    tokio::join!(rounds(one), rounds(other), play(&kit.bench, "e", 60));
    one.catch_up().await;
    other.catch_up().await;
    kit.assert_complete().await;
    let token: u64 = kit.place(&kit.bench.id, "lease_token").await.parse().expect("a number");
    assert_eq!(token, 1, "the stream never changed hands");
    for projector in two {
        projector.finish().await;
    }
}

/// Another instance has taken the stream over, though the first does not know yet.
async fn take_over(kit: &Kit, holder: &str, for_ms: i64) {
    kit.change(&format!(
        "UPDATE jackpots SET holder = '{holder}', lease_token = lease_token + 1, lease_until_ms = {} + {for_ms}",
        kit.ledger.sql.now_ms()
    ))
    .await;
}

async fn a_stalled_holder_that_wakes_up_writes_nothing(db: LedgerDb) {
    let kit = Kit::with(db, &json!({})).await;
    let mut stalled = kit.projector_of(&kit.bench.operate, false);
    play(&kit.bench, "before", 2).await;
    stalled.catch_up().await;
    take_over(&kit, "another", 60_000).await;
    play(&kit.bench, "behind", 2).await;
    let before = kit.everything().await;
    for _ in 0..3 {
        stalled.round().await.expect("SQL answers");
    }
    stalled.finish().await;
    assert_eq!(kit.everything().await, before);
    assert_eq!(kit.place(&kit.bench.id, "holder").await, "another");
    take_over(&kit, "", -1).await;
    kit.project().await;
    kit.assert_complete().await;
}

async fn a_stalled_holder_does_not_take_what_was_trimmed_for_a_gap(db: LedgerDb) {
    let kit = Kit::with(db, &json!({})).await;
    let mut stalled = kit.projector_of(&kit.bench.operate, false);
    stalled.catch_up().await;
    play(&kit.bench, "e", 4).await;
    take_over(&kit, "", -1).await;
    kit.project().await;
    let (known, last) = (
        kit.bench.operate.views.known(&kit.bench.id),
        kit.place(&kit.bench.id, "stream_id").await,
    );
    kit.bench
        .raw::<()>(redis::cmd("XTRIM").arg(&known.keys.events).arg("MINID").arg(&last))
        .await;
    stalled.round().await.expect("SQL answers");
    assert_eq!(kit.bench.snapshot().await.status.as_str(), "open");
    assert_eq!(kit.place(&kit.bench.id, "stopped").await, "");
    stalled.finish().await;
    play(&kit.bench, "more", 1).await;
    kit.project().await;
    kit.assert_complete().await;
}

async fn a_lease_ends_with_its_time_or_when_it_is_given_back(db: LedgerDb) {
    let kit = Arc::new(Kit::with(db, &json!({})).await);
    let (mut one, mut other) = (kit.projector(), kit.projector());
    one.catch_up().await;
    let n = kit.n().await;
    play(&kit.bench, "a", 1).await;
    other.catch_up().await;
    assert_eq!(kit.n().await, n, "one has it");
    kit.change("UPDATE jackpots SET lease_until_ms = 1").await;
    other.catch_up().await;
    assert_eq!(kit.n().await, n + 1, "its time was over");
    play(&kit.bench, "b", 1).await;
    one.catch_up().await;
    assert_eq!(kit.n().await, n + 1, "the other has it");
    other.finish().await;
    one.catch_up().await;
    let until: i64 = kit
        .place(&kit.bench.id, "lease_until_ms")
        .await
        .parse()
        .expect("a time");
    assert!(kit.n().await >= n + 2 && until > 1);
    one.finish().await;
    assert_eq!(kit.place(&kit.bench.id, "holder").await, "");
    kit.assert_complete().await;
}
