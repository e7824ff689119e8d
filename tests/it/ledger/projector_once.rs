//! Each event is in the ledger once, whatever happens to the projectors that read it.

use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

use jackpot::jackpot::ledger::projector::Jackpots;
use jackpot::ledger::Ledger;
use jackpot::ledger::projector::Projector;
use jackpot::ledger::projector::lease::Leases;
use jackpot::subject::kinds::JACKPOT;
use jackpot_core::ids::Id;

use crate::jackpot::fixture::{JackpotFixture, entry};
use crate::jackpot::ledger::fixture::JackpotLedger;
use crate::support::prelude::*;

on_both_databases!(
    a_projector_that_dies_anywhere_loses_and_repeats_nothing,
    two_at_once_take_each_event_once,
    a_start_does_not_wait_for_what_others_play_meanwhile,
    a_stalled_holder_that_wakes_up_writes_nothing,
    a_stalled_holder_does_not_take_what_was_trimmed_for_a_gap,
    a_lease_ends_with_its_time_or_when_it_is_given_back,
    a_lease_is_kept_during_what_takes_longer,
    a_command_takes_a_stream_that_a_service_took_since_it_looked,
    a_clock_that_was_set_back_keeps_no_dead_holders_lease,
    a_database_that_was_put_back_gets_the_rest_again,
    a_few_busy_jackpots_do_not_hold_up_the_others,
);

/// Plays losers, winners and refused entries in `calls` calls.
async fn play(fixture: &JackpotFixture, name: &str, calls: usize) {
    for call in 0..calls {
        let entries = (0..7_u32).map(|i| entry(&format!("{name}-{call}-{i}"), if i == 3 { 2 } else { i % 2 }));
        fixture.enter(&entries.collect::<Vec<_>>()).await;
    }
}

async fn a_projector_that_dies_anywhere_loses_and_repeats_nothing(db: LedgerDb) {
    let mut fixture = JackpotLedger::with(db, &json!({})).await;
    // The next projector need not wait until the lease of a dead one ends.
    fixture.settings.lease_ms = 0;
    let (mut died, mut ended) = (0, 0);
    for round in 0..60 {
        play(&fixture, &format!("r{round}"), 3).await;
        let mut projector = fixture.projector();
        // Up to the time of a whole round: the projector dies before, in or after a transaction.
        let life = Duration::from_micros(100 + round * 2_731 % 25_000);
        match tokio::time::timeout(life, projector.round()).await {
            Ok(round) => ended += usize::from(round.is_ok()),
            Err(_) => died += 1,
        }
    }
    assert!(died > 5, "{died} died, {ended} did not");
    // What the last one had sent to SQL before it died may be committed beside a round, which then writes nothing.
    eventually(PATIENCE, "SQL has all events", async || {
        fixture.project().await;
        let last = fixture.stream().await.pop().expect("an event");
        (fixture.place("n").await == last["n"]).then_some(())
    })
    .await;
    fixture.assert_complete().await;
    assert_eq!(fixture.indexed().await.len(), 60 * 3 * 7);
    assert_eq!(fixture.table("reconciliations", "clean").await, [["1"]]);
}

async fn two_at_once_take_each_event_once(db: LedgerDb) {
    let fixture = JackpotLedger::with(db, &json!({})).await;
    let mut two = [fixture.projector(), fixture.projector()];
    let [one, other] = &mut two;
    let rounds = async |projector: &mut Projector<Jackpots>| {
        for _ in 0..40 {
            projector.catch_up().await;
        }
    };
    tokio::join!(rounds(one), rounds(other), play(&fixture, "e", 60));
    one.catch_up().await;
    other.catch_up().await;
    fixture.assert_complete().await;
    let token: u64 = fixture.place("lease_token").await.parse().expect("a number");
    assert_eq!(token, 1, "the stream never changed hands");
    for projector in two {
        projector.finish().await;
    }
}

/// An instance takes the stream over at its start, while another one plays in each of its rounds. Each round compares here,
/// and appends a checkpoint beside play. So the checkpoints count the rounds.
async fn a_start_does_not_wait_for_what_others_play_meanwhile(db: LedgerDb) {
    /// Fewer events than one read takes, so that no round is behind, however long it lasts.
    const MOST_CALLS: usize = 900;
    let mut fixture = JackpotLedger::with(db, &json!({})).await;
    fixture.settings.reconcile_interval_s = 0;
    play(&fixture, "before", 3).await;
    let (last, ended) = (fixture.snapshot().await.mark.n(), Cell::new(false));
    let mut projector = fixture.projector();
    let start = async {
        projector.catch_up().await;
        ended.set(true);
        fixture.n().await
    };
    let others = async {
        let mut calls = 0;
        while !ended.get() && calls < MOST_CALLS {
            play(&fixture, &format!("meanwhile-{calls}"), 1).await;
            calls += 1;
        }
        calls
    };
    let (n, calls) = tokio::join!(start, others);
    assert!(n >= last && calls > 0, "event {n} of {last}, {calls} calls meanwhile");
    let events = fixture.stream().await;
    let checkpoints = events.iter().filter(|event| event["type"] == "checkpoint").count();
    assert!(checkpoints <= 2, "{checkpoints} rounds");
    projector.finish().await;
    fixture.assert_complete().await;
}

/// Another instance has taken the stream over, though the first does not know yet.
async fn take_over(fixture: &JackpotLedger, holder: &str, for_ms: i64) {
    let until = format!("{} + {for_ms}", fixture.ledger.sql.now_ms());
    fixture
        .change(&format!("INSERT INTO holders VALUES ('jackpot', '{holder}', {until})"))
        .await;
    fixture
        .change(&format!(
            "UPDATE streams SET holder = '{holder}', lease_token = lease_token + 1"
        ))
        .await;
}

async fn a_stalled_holder_that_wakes_up_writes_nothing(db: LedgerDb) {
    let fixture = JackpotLedger::with(db, &json!({})).await;
    let mut stalled = fixture.own_projector();
    play(&fixture, "before", 2).await;
    stalled.catch_up().await;
    take_over(&fixture, "another", 60_000).await;
    play(&fixture, "behind", 2).await;
    let before = fixture.everything().await;
    for _ in 0..3 {
        stalled.round().await.expect("SQL answers");
    }
    stalled.finish().await;
    assert_eq!(fixture.everything().await, before);
    assert_eq!(fixture.place("holder").await, "another");
    take_over(&fixture, "", -1).await;
    fixture.project().await;
    fixture.assert_complete().await;
}

async fn a_stalled_holder_does_not_take_what_was_trimmed_for_a_gap(db: LedgerDb) {
    let fixture = JackpotLedger::with(db, &json!({})).await;
    let mut stalled = fixture.own_projector();
    stalled.catch_up().await;
    play(&fixture, "e", 4).await;
    take_over(&fixture, "", -1).await;
    fixture.project().await;
    let (known, last) = (
        fixture.operate.views.registry.known(&fixture.id),
        fixture.place("stream_id").await,
    );
    fixture
        .raw::<()>(redis::cmd("XTRIM").arg(&known.keys.events).arg("MINID").arg(&last))
        .await;
    stalled.round().await.expect("SQL answers");
    assert_eq!(fixture.snapshot().await.status.as_str(), "open");
    assert_eq!(fixture.place("stopped").await, "");
    stalled.finish().await;
    play(&fixture, "more", 1).await;
    fixture.project().await;
    fixture.assert_complete().await;
}

async fn a_lease_ends_with_its_time_or_when_it_is_given_back(db: LedgerDb) {
    let fixture = Arc::new(JackpotLedger::with(db, &json!({})).await);
    let (mut one, mut other) = (fixture.projector(), fixture.projector());
    one.catch_up().await;
    let n = fixture.n().await;
    play(&fixture, "a", 1).await;
    other.catch_up().await;
    assert_eq!(fixture.n().await, n, "one has it");
    fixture.change("UPDATE holders SET until_ms = 1").await;
    other.catch_up().await;
    assert_eq!(fixture.n().await, n + 1, "its time was over");
    play(&fixture, "b", 1).await;
    one.catch_up().await;
    assert_eq!(fixture.n().await, n + 1, "the other has it");
    other.finish().await;
    one.catch_up().await;
    assert!(fixture.n().await >= n + 2);
    one.finish().await;
    assert_eq!(fixture.place("holder").await, "");
    fixture.assert_complete().await;
}

fn leases(fixture: &JackpotLedger, holder: &str, lease_ms: u64) -> Leases {
    Leases::of(JACKPOT, fixture.ledger.sql.clone(), holder.to_owned(), lease_ms)
}

/// Whether another instance may take the stream.
async fn is_free(fixture: &JackpotLedger) -> bool {
    let places = leases(fixture, "another", 0).places().await.expect("an answer");
    places[0].free
}

/// A restore, for example, takes longer than a lease.
async fn a_lease_is_kept_during_what_takes_longer(db: LedgerDb) {
    let fixture = JackpotLedger::with(db, &json!({})).await;
    let lease_ms = 2_000;
    let own = leases(&fixture, "own", lease_ms);
    own.add(std::slice::from_ref(&fixture.id)).await.expect("added");
    own.take(&fixture.id).await.expect("an answer").expect("there");
    let ends = async || {
        fixture.ledger.sql.holders().await.expect("an answer")[0]
            .until_ms
            .unsigned_abs()
    };
    let first = ends().await;
    // Renewed until it lasts a whole lease longer than at first. A disk that stalls for most of a lease may let it end in between.
    let work = eventually(PATIENCE, "the lease is renewed", async || {
        (ends().await >= first + lease_ms && !is_free(&fixture).await).then_some(())
    });
    own.during(work).await;
}

/// The service takes a stream again as soon as a command has let go of it.
async fn a_command_takes_a_stream_that_a_service_took_since_it_looked(db: LedgerDb) {
    let fixture = JackpotLedger::with(db, &json!({})).await;
    let (command, service) = (leases(&fixture, "command", 60_000), leases(&fixture, "service", 60_000));
    command.add(std::slice::from_ref(&fixture.id)).await.expect("added");
    let looked = command.places().await.expect("an answer")[0].token;
    let taken = service.take_free(&[(fixture.id.clone(), looked)]).await;
    let [(_, old)] = taken.expect("an answer")[..] else {
        panic!("it was free");
    };
    let new = command.take(&fixture.id).await.expect("an answer").expect("there");
    assert!(command.holds(&fixture.id, new).await.expect("an answer"));
    assert!(!service.holds(&fixture.id, old).await.expect("an answer"));
    let other = Id::parse("nobody").expect("an id");
    assert_eq!(command.take(&other).await.expect("an answer"), None);
}

async fn a_clock_that_was_set_back_keeps_no_dead_holders_lease(db: LedgerDb) {
    let fixture = JackpotLedger::with(db, &json!({})).await;
    let dead = leases(&fixture, "dead", 300_000);
    dead.add(std::slice::from_ref(&fixture.id)).await.expect("added");
    dead.take(&fixture.id).await.expect("an answer").expect("there");
    assert!(!is_free(&fixture).await, "the longest lease that settings allow");
    fixture.change("UPDATE holders SET until_ms = until_ms + 3600000").await;
    assert!(is_free(&fixture).await);
}

#[tokio::test]
async fn nobody_waits_for_the_end_of_a_lease_on_a_file_of_its_own() {
    let fixture = JackpotLedger::with(LedgerDb::sqlite(), &json!({})).await;
    let dead = leases(&fixture, "dead", 60_000);
    dead.add(std::slice::from_ref(&fixture.id)).await.expect("added");
    dead.take(&fixture.id).await.expect("an answer").expect("there");
    fixture.ledger.sql.close().await;
    let ledger = Ledger::open(&fixture.settings, fixture.db.data_dir())
        .await
        .expect("a ledger");
    let places = Leases::of(JACKPOT, ledger.sql.clone(), "new".to_owned(), 0)
        .places()
        .await;
    assert!(places.expect("an answer")[0].free);
    ledger.sql.close().await;
}

/// A promoted replica lacks the last transactions, and the projector goes on.
async fn a_database_that_was_put_back_gets_the_rest_again(db: LedgerDb) {
    let mut fixture = JackpotLedger::with(db, &json!({})).await;
    (fixture.settings.entry_index_days, fixture.settings.trim_margin_events) = (0, 0);
    let mut projector = fixture.projector();
    fixture.take("before", 0).await;
    projector.catch_up().await;
    let columns = ["n", "hash", "stream_id", "books", "indexed_n"];
    let mut row = Vec::new();
    for column in columns {
        row.push(fixture.place(column).await);
    }
    fixture.take("behind", 0).await;
    projector.catch_up().await;
    assert_eq!(fixture.n().await, 3);
    let delete = sqlx::query("DELETE FROM events WHERE n > 2");
    fixture.ledger.sql.execute(delete).await.expect("deleted");
    fixture
        .change(&format!(
            "UPDATE streams SET n = {}, hash = '{}', stream_id = '{}', books = '{}', indexed_n = {}",
            row[0], row[1], row[2], row[3], row[4]
        ))
        .await;
    for _ in 0..2 {
        projector.catch_up().await;
    }
    fixture.assert_complete().await;
    assert_eq!(fixture.n().await, 3);
    assert_eq!(fixture.place("stopped").await, "");
}

async fn a_few_busy_jackpots_do_not_hold_up_the_others(db: LedgerDb) {
    let fixture = JackpotLedger::with(db, &json!({})).await;
    let mut all = Vec::new();
    for _ in 0..6 {
        all.push(JackpotFixture::on(Arc::clone(&fixture.redis), &json!({})).await);
    }
    let fill = async |jackpot: &JackpotFixture| {
        for _ in 0..1_100 {
            jackpot.operate.checkpoint(&jackpot.id).await.expect("done");
        }
    };
    futures_util::future::join_all(all.iter().map(&fill)).await;
    let mut projector = fixture.projector();
    projector.round().await.expect("SQL answers");
    let n =
        async |jackpot: &JackpotFixture| -> u64 { fixture.place_of(&jackpot.id, "n").await.parse().expect("a number") };
    let (mut begun, mut waiting) = (Vec::new(), Vec::new());
    for jackpot in &all {
        if n(jackpot).await > 0 { &mut begun } else { &mut waiting }.push(jackpot);
    }
    assert!((3..=4).contains(&begun.len()), "{}", begun.len());
    futures_util::future::join_all(begun.into_iter().map(&fill)).await;
    projector.round().await.expect("SQL answers");
    for jackpot in waiting {
        assert!(n(jackpot).await > 0);
    }
    projector.finish().await;
    for jackpot in &all {
        assert_eq!(n(jackpot).await, jackpot.snapshot().await.mark.n());
    }
}
