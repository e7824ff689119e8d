//! Batches from the script into SQL and back: projector, look-up of a single entry, restore, export.

use std::sync::Arc;

use jackpot::jackpot::batch::Batch;
use jackpot::jackpot::ledger::lookup::entry_taken;
use jackpot::jackpot::metrics::PlayMetrics;
use jackpot::jackpot::play::Play;
use jackpot_core::jackpot::record::{Record, Sent};

use crate::jackpot::batch::ledger::{entries, eventful};
use crate::jackpot::batch::support::{batch, play};
use crate::jackpot::fixture::{JackpotFixture, operator};
use crate::jackpot::ledger::fixture::JackpotLedger;
use crate::proof::story::export;
use crate::support::prelude::*;

on_both_databases!(
    batches_reach_their_tables_and_every_entry_is_found,
    a_restored_redis_answers_a_batch_as_before,
);

const COUNT: u64 = 150;

/// Three batches; within the first one a definition comes into force.
async fn enter(fixture: &JackpotFixture) -> Vec<Arc<Batch>> {
    fixture.fund("first", 30).await;
    fixture.define(&eventful(60)).await;
    let batches: Vec<_> = ["b1", "b2", "b3"].map(|id| batch(id, &entries(COUNT))).into();
    for batch in &batches {
        let played = play(fixture, u64::MAX).enter_batch(&fixture.id, batch, "").await;
        assert!(!played.expect("taken").replayed);
    }
    let own = fixture
        .stream()
        .await
        .into_iter()
        .filter(|fields| fields.contains_key("batch"));
    let splits: Vec<_> = own
        .map(|fields| (fields["batch"].clone(), !fields["split"].is_empty()))
        .collect();
    let of = |id: &str, splits| (id.to_owned(), splits);
    assert_eq!(splits, [of("b1", true), of("b2", false), of("b3", false)]);
    batches
}

/// Every entry of the batch as a look-up finds it, through the stream or through SQL.
async fn looked_up(fixture: &JackpotLedger, play: &Play, batch_id: &str) -> Vec<(Sent, Record)> {
    let mut all = Vec::new();
    for index in 1..=COUNT {
        let (id, entry_id) = (&fixture.id, format!("{batch_id}:{index}"));
        let found = play.look_up(id, &entry_id).await.expect("remembered");
        all.push(match (found.sent, found.record) {
            (Some(sent), Some(record)) => (sent, record),
            (_, record) => {
                let taken = entry_taken(&fixture.ledger.sql, id, &entry_id, found.sequence)
                    .await
                    .expect("in SQL");
                (taken.sent, record.unwrap_or(taken.record))
            }
        });
    }
    all
}

async fn batches_reach_their_tables_and_every_entry_is_found(db: LedgerDb) {
    let mut fixture = JackpotLedger::with(db, &eventful(300)).await;
    enter(&fixture).await;
    fixture.project().await;
    fixture.assert_complete().await;
    let indexed = fixture.indexed().await;
    assert_eq!(indexed.len() as u64, 3 * COUNT);
    assert!(indexed.iter().all(|row| row[11] == "1"), "all are settled");
    let play = play(&fixture, u64::MAX);
    let (from_stream, sent) = (looked_up(&fixture, &play, "b1").await, entries(COUNT));
    assert_eq!(
        from_stream.iter().map(|(sent, _)| sent.clone()).collect::<Vec<_>>(),
        sent
    );
    for (index, (sent, record)) in (1_u64..).zip(&from_stream) {
        assert_eq!((record.sequence, &record.fingerprint), (index, &sent.fingerprint()));
        // Its draw agrees with its record: a loser drew nothing, a winner what it won.
        let entry_id = format!("b1:{index}");
        let answer = play.answer(&fixture.id, &entry_id, sent.clone(), record.clone()).await;
        assert_eq!(&answer.expect("answered").record, record);
    }
    for missing in ["b1:0", "b1:151", "b1:01", "b1:99999999999999999999", "b4:1"] {
        assert!(play.look_up(&fixture.id, missing).await.is_err(), "{missing}");
    }
    // The same once the stream has nothing of it any more.
    fixture.settings.trim_margin_events = 0;
    fixture
        .raw::<()>(redis::cmd("CONFIG").arg("SET").arg("stream-node-max-entries").arg(1))
        .await;
    let key = &fixture.operate.views.registry.known(&fixture.id).keys.events;
    fixture
        .raw::<u64>(redis::cmd("XTRIM").arg(key).arg("MAXLEN").arg(1))
        .await;
    let found = play.look_up(&fixture.id, "b1:1").await.expect("remembered");
    assert!(found.sent.is_none(), "{found:?}");
    assert_eq!(looked_up(&fixture, &play, "b1").await, from_stream);
}

async fn a_restored_redis_answers_a_batch_as_before(db: LedgerDb) {
    let fixture = JackpotLedger::with(db, &eventful(300)).await;
    let batches = enter(&fixture).await;
    fixture.project().await;
    let before = answers(&fixture, &batches).await;
    fixture.raw::<()>(&mut redis::cmd("FLUSHALL")).await;
    fixture.heal().await;
    fixture.assert_complete().await;
    assert_eq!(answers(&fixture, &batches).await, before);
}

async fn answers(fixture: &JackpotLedger, batches: &[Arc<Batch>]) -> Vec<String> {
    let views = Arc::clone(&fixture.other_instance().operate.views);
    let play = crate::support::given::play(
        &fixture.store,
        views,
        PlayMetrics::new(Arc::clone(&fixture.metrics)),
        u64::MAX,
    );
    let mut answers = Vec::new();
    for batch in batches {
        let played = play.enter_batch(&fixture.id, batch, "").await.expect("answered");
        assert!(played.replayed);
        let winners = played
            .winners
            .iter()
            .map(|w| format!("{} {} {:?};", w.index, w.record.sequence, w.record.state));
        answers.push(format!("{} {}", played.record, winners.collect::<String>()));
    }
    answers
}

#[tokio::test]
async fn an_export_of_real_batches_is_right() {
    let fixture = JackpotFixture::with(&eventful(300)).await;
    enter(&fixture).await;
    let by = operator();
    let end = fixture.operate.end_epoch(&fixture.id, "a test".to_owned(), &by);
    end.await.expect("rotated");
    let report = export(&fixture).await.verify();
    assert!(report.is_right(), "{report}");
    assert_eq!((report.counts.entries, report.counts.draws), (3 * COUNT, 3 * COUNT));
}
