//! Cycles of must-hit rules in the ledger.

use std::sync::Arc;

use futures_util::StreamExt as _;
use jackpot::jackpot::kept;
use jackpot::jackpot::ledger::event::Kind;
use jackpot::jackpot::view::Status;
use jackpot::proof::export::Export;
use jackpot::proof::verify::Place;
use jackpot_core::jackpot::cycle::CycleSeed;
use serde_json::{Value, json};

use crate::jackpot::batch::support::{batch, play};
use crate::jackpot::fixture::sent;
use crate::jackpot::ledger::fixture::JackpotLedger;
use crate::jackpot::must_hit::{by_amount, cycles, enter, expected, hit, open, play_apart, ruled, seed};
use crate::proof::story::Story;
use crate::support::ledger_db::{LedgerDb, on_both_databases};

on_both_databases!(
    after_a_restore_inside_a_cycle_another_one_is_open_and_its_crossing_entry_hits,
    a_restore_leaves_no_number_for_a_later_rule_that_was_seen,
    each_cycle_has_a_row_and_its_seed_once_it_has_ended,
    verify_recomputes_each_trigger_of_an_export,
);

async fn rebuild(fixture: &JackpotLedger) {
    fixture.project().await;
    fixture.wipe().await;
    fixture.heal().await;
}

/// The ledger may be older than what was published, so the cycle that it has open may be public.
async fn after_a_restore_inside_a_cycle_another_one_is_open_and_its_crossing_entry_hits(db: LedgerDb) {
    let fixture = JackpotLedger::with(db, &by_amount(50, 150)).await;
    let play = play_apart(&fixture);
    for i in 1..=20 {
        enter(&play, &fixture, &format!("before{i}")).await;
    }
    let before = open(&fixture).await;
    rebuild(&fixture).await;
    let after = open(&fixture).await;
    assert!(after.cycle >= before.cycle + 1_000);
    assert_ne!((&after.nonce, &after.commitment), (&before.nonce, &before.commitment));
    assert_eq!((after.low.0, after.high.0, after.reversed), (Some(50), Some(150), 0));
    let (play, mut hits) = (play_apart(&fixture), Vec::new());
    for index in 1..=400 {
        let played = enter(&play, &fixture, &format!("after{index}")).await;
        hits.extend(hit(&played.record.state).map(|hit| (index, hit.cycle, hit.trigger)));
    }
    assert!(hits.len() > 1);
    assert_eq!(hits, expected(&fixture, &after, &mut 20, 400));
    fixture.project().await;
    fixture.assert_complete().await;
    rebuild(&fixture).await;
    assert!(open(&fixture).await.cycle >= hits[hits.len() - 1].1 + 1_000);
    fixture.project().await;
    fixture.assert_complete().await;
}

async fn a_restore_leaves_no_number_for_a_later_rule_that_was_seen(db: LedgerDb) {
    let rule = json!({"amount": {"low": 50, "high": 150}});
    let fixture = JackpotLedger::with(db, &ruled(&rule)).await;
    let before = open(&fixture).await;
    fixture.status(Status::Paused).await;
    fixture.define(&ruled(&Value::Null)).await;
    let ended = cycles(&fixture).await;
    assert!(!ended.rows[0].is_open());
    rebuild(&fixture).await;
    let renewed = cycles(&fixture).await.rows.remove(0);
    assert!(!renewed.is_open());
    assert!(renewed.cycle >= before.cycle + 1_000);
    assert_ne!(renewed.nonce, before.nonce);
    fixture.define(&ruled(&rule)).await;
    let next = open(&fixture).await;
    assert_eq!((next.cycle, &next.nonce), (renewed.cycle + 1, &renewed.nonce));
    fixture.project().await;
    fixture.assert_complete().await;
    assert!(matches!(
        fixture.events().await.last().map(|event| &event.kind),
        Some(Kind::Define(_))
    ));
}

/// More cycles than one page of seeds, in batches and one by one, also such that begin and end in one commit.
async fn each_cycle_has_a_row_and_its_seed_once_it_has_ended(db: LedgerDb) {
    let fixture = JackpotLedger::with(db, &by_amount(1, 4)).await;
    let play = play(&fixture, u64::MAX);
    for index in 1..=10 {
        enter(&play, &fixture, &format!("e{index}")).await;
    }
    fixture.project().await;
    for run in 0..2 {
        let batch = batch(&format!("b{run}"), &vec![sent("p", 100); 2_000]);
        play.enter_batch(&fixture.id, &batch, "").await.expect("taken");
    }
    fixture.project().await;
    fixture.project().await;
    let open = open(&fixture).await;
    let kept = kept::cycles(&fixture.ledger.sql, &fixture.id, None, u64::MAX, 10_000)
        .await
        .expect("rows");
    assert!(kept.len() > 1_000);
    assert_eq!(kept.len() as u64, open.cycle + 1);
    for (number, cycle) in kept.iter().enumerate() {
        assert_eq!(cycle.row.cycle, number as u64);
        let own = seed(&fixture, &cycle.row, cycle.row.cycle);
        assert_eq!(cycle.row.commitment.0, Some(own.commitment()));
        let is_open = cycle.row.cycle == open.cycle;
        assert_eq!(
            cycle.ended.as_ref().map(|(_, by)| by.as_str()),
            (!is_open).then_some("must-hit")
        );
        assert_eq!(
            cycle.seed.as_ref().map(CycleSeed::reveal),
            (!is_open).then(|| own.reveal())
        );
    }
    fixture.assert_complete().await;
}

/// The export of the ledger, as a story that can be changed.
pub async fn exported(fixture: &JackpotLedger) -> Story {
    let keys = Arc::clone(&fixture.ledger.signing);
    let key = keys.current();
    let export = Export::begin(fixture.ledger.sql.clone(), fixture.id.clone(), &key);
    let lines = export.await.expect("an export").lines(|_, _| None);
    let lines = lines.map(|line| serde_json::from_slice(&line.expect("a line")).expect("JSON"));
    Story {
        id: fixture.id.clone(),
        keys,
        lines: lines.collect().await,
    }
}

/// Hits of entries that came one by one and in batches, by amount and by time; takes by the odds, restarts, a rotation, a
/// restore.
async fn verify_recomputes_each_trigger_of_an_export(db: LedgerDb) {
    let rule = json!({"amount": {"low": 5, "high": 15}, "time": {"after_s": 0, "within_s": 86_400}});
    let mut change = ruled(&rule);
    change["odds"] =
        json!({"total": 40, "ranks": [{"rank": 1, "weight": 1, "prize": {"pool": {"tier": "grand", "take": "all"}}}]});
    change["tiers"][0]["min_payout"] = json!(1);
    let fixture = JackpotLedger::with(db, &change).await;
    let play = play(&fixture, u64::MAX);
    for index in 1..=60 {
        enter(&play, &fixture, &format!("e{index}")).await;
    }
    fixture.status(Status::Paused).await;
    fixture.status(Status::Open).await;
    for run in 0..3 {
        let batch = batch(&format!("b{run}"), &vec![sent("p", 100); 100]);
        play.enter_batch(&fixture.id, &batch, "").await.expect("taken");
    }
    let by = crate::jackpot::fixture::operator();
    let end = fixture
        .operate
        .end_epoch_with(&fixture.id, "a test".to_owned(), &by, true);
    end.await.expect("rotated");
    fixture.project().await;
    rebuild(&fixture).await;
    fixture.project().await;
    fixture.project().await;
    let story = exported(&fixture).await;
    let report = story.verify();
    assert!(report.is_right(), "{report}");
    let events = fixture.events_of(&fixture.id).await;
    let hits = events.iter().map(|event| match &event.kind {
        Kind::Enter(enter) => enter.hits.iter().flatten().count() as u64,
        _ => 0,
    });
    let hits = hits.sum::<u64>();
    assert!(hits > 20);
    assert_eq!(report.counts.hits, hits);
    let cycles = story.lines.iter().filter(|line| line["kind"] == "cycle").count() as u64;
    assert_eq!(report.counts.cycles, cycles - 1, "the last one is open");
    assert!(!report.to_string().contains("had to hit"), "{report}");

    let n = story.find(|body| body.contains("\"hits\""));
    let mut forged = story.clone();
    forged.edit(n, |fields| {
        let hits = fields.get_mut("hits").expect("hits");
        *hits = hits.replacen(" amount ", " amount 1", 1);
    });
    forged.close();
    let found = forged.verify().problems;
    assert!(
        found
            .iter()
            .any(|p| p.place == Place::Event(n) && p.what.contains("hits cycle")),
        "{found:?}"
    );

    let mut forged = story.clone();
    let of_cycles = forged.lines.iter_mut().filter(|line| line["kind"] == "cycle");
    for line in of_cycles.take(1) {
        line["seed"] = json!("00".repeat(32));
    }
    let found = forged.verify().problems;
    assert!(
        found.iter().any(|p| p.what.contains("its seed is not the one")),
        "{found:?}"
    );
}
