//! Cycles of must-hit rules in the ledger.

use std::sync::Arc;

use futures_util::StreamExt as _;
use jackpot::jackpot::error::PlayError;
use jackpot::jackpot::kept;
use jackpot::jackpot::ledger::event::Kind;
use jackpot::jackpot::operate::Operate;
use jackpot::jackpot::scripts::Rotated;
use jackpot::jackpot::view::Views;
use jackpot::proof::export::Export;
use jackpot::proof::verify::Place;
use jackpot_api::jackpot::Status;
use jackpot_core::jackpot::cycle::CycleSeed;
use jackpot_core::secret::{MasterSecret, Secrets};

use crate::jackpot::batch::support::{batch, play};
use crate::jackpot::fixture::{SECRET, operator, rank, sent};
use crate::jackpot::ledger::fixture::JackpotLedger;
use crate::jackpot::must_hit::{by_amount, cycles, enter, expected, four_ruled, hit, open, play_apart, ruled, seed};
use crate::proof::story::Story;
use crate::support::prelude::*;

on_both_databases!(
    after_a_restore_inside_a_cycle_another_one_is_open_and_its_crossing_entry_hits,
    a_restore_leaves_no_number_for_a_later_rule_that_was_seen,
    each_cycle_has_a_row_and_its_seed_once_it_has_ended,
    verify_recomputes_each_trigger_of_an_export,
    an_export_of_four_ruled_tiers_over_restores_is_right,
    each_seed_that_an_export_lacks_is_named,
    closing_ends_the_epoch_and_all_cycles_and_their_seeds_come_out,
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
    fixture.status(Status::Paused).await;
    fixture.define(&ruled(&Value::Null)).await;
    let begin = open(&fixture).await;
    rebuild(&fixture).await;
    let before = open(&fixture).await;
    assert!(before.cycle >= begin.cycle + 1_000);
    assert_eq!(
        (before.low, before.high),
        (begin.low, begin.high),
        "until a take, under its own rule"
    );
    fixture.status(Status::Open).await;
    let entries = batch("b", &vec![sent("p", 100); 150]);
    let played = play_apart(&fixture).enter_batch(&fixture.id, &entries, "").await;
    assert_eq!(played.expect("taken").winners.len(), 1);
    assert!(!cycles(&fixture).await.rows[0].is_open());
    fixture.status(Status::Paused).await;
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
    let secrets = fixture.operate.views.secrets.clone();
    let lines = export.await.expect("an export").lines(secrets, |_, _| false);
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
    report.to_string().hides("had to hit");

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

/// All tiers of a restore and of a rotation share one fresh nonce; no nonce of an earlier event comes again.
async fn an_export_of_four_ruled_tiers_over_restores_is_right(db: LedgerDb) {
    let fixture = JackpotLedger::with(db, &four_ruled()).await;
    for round in 0..3 {
        let play = play_apart(&fixture);
        for index in 0..20 {
            enter(&play, &fixture, &format!("e{round}-{index}")).await;
        }
        let by = operator();
        let end = fixture
            .operate
            .end_epoch_with(&fixture.id, "a test".to_owned(), &by, true);
        end.await.expect("rotated");
        fixture.status(Status::Paused).await;
        fixture.status(Status::Open).await;
        rebuild(&fixture).await;
    }
    let both = Secrets::new(MasterSecret::new([0x17; 32]), [MasterSecret::new(SECRET)]);
    let views = Arc::new(Views::new(fixture.store.clone(), both));
    let operate = Operate::new(fixture.store.clone(), views);
    operate.leave_other_secrets(&fixture.id).await.expect("left");
    fixture.project().await;
    fixture.project().await;
    let story = exported(&fixture).await;
    let report = story.verify();
    assert!(report.is_right(), "{report}");
    assert!(report.counts.hits >= 6 && report.counts.cycles >= 24, "{report}");
    assert_eq!((report.counts.secrets, &report.lacking), (2, &Vec::new()), "{report}");

    let first = story.all(|body| body.contains("\"cycles\":\"b "))[0];
    let nonce_in = |n: u64| {
        let cycles = story.field(n, "cycles");
        let row = cycles
            .split(';')
            .find_map(|change| change.strip_prefix("b "))
            .expect("a begin");
        row.split(' ').nth(2).expect("a nonce").to_owned()
    };
    for renews in ["restore", "rotate"] {
        let n = story.all(|body| body.contains(&format!("\"type\":\"{renews}\"")))[1];
        let mut story = story.clone();
        story.edit(n, |fields| {
            let cycles = fields["cycles"].replace(&nonce_in(n), &nonce_in(first));
            fields.insert("cycles".to_owned(), cycles);
        });
        story.close();
        let report = story.verify();
        assert!(
            report
                .problems
                .iter()
                .any(|p| p.place == Place::Event(n) && p.what.contains("its nonce was there before")),
            "{renews}: {report}"
        );
    }
}

/// Who has the key can change a trigger, leave its seed out, and chain and sign all of it again.
async fn each_seed_that_an_export_lacks_is_named(db: LedgerDb) {
    let fixture = JackpotLedger::with(db, &by_amount(4, 9)).await;
    let play = play_apart(&fixture);
    for index in 0..30 {
        enter(&play, &fixture, &format!("e{index}")).await;
    }
    let end = fixture
        .operate
        .end_epoch(&fixture.id, "a test".to_owned(), &operator())
        .await;
    end.expect("rotated");
    fixture.project().await;
    let story = exported(&fixture).await;
    let report = story.verify();
    assert!(report.is_right() && report.lacking.is_empty(), "{report}");

    let mut cheat = story.clone();
    let n = cheat.find(|body| body.contains("\"hits\""));
    cheat.edit(n, |fields| {
        let hit: Vec<_> = fields["hits"].trim_end_matches(';').split(' ').collect();
        let trigger = hit[4].parse::<u64>().expect("an amount") - 1;
        let hits = format!("{} {trigger};", hit[..4].join(" "));
        fields.insert("hits".to_owned(), hits);
    });
    cheat.close();
    assert!(!cheat.verify().is_right(), "the seed shows it");
    let stated = cheat
        .lines
        .iter_mut()
        .filter(|line| line["kind"] == "cycle" || line["kind"] == "epoch");
    for line in stated.filter(|line| line["cycle"] == 0 || line["epoch"] == 1) {
        line["seed"] = Value::Null;
    }
    let report = cheat.verify();
    assert!(report.is_right(), "{report}");
    assert_eq!(report.lacking, [Place::Epoch(1), Place::Cycle("grand".to_owned(), 0)]);

    let directory = tempfile::tempdir().expect("a directory");
    for (story, code) in [(&story, 0), (&cheat, 3)] {
        let file = directory.path().join("export");
        std::fs::write(&file, story.text()).expect("written");
        let verified = std::process::Command::new(env!("CARGO_BIN_EXE_jackpot"))
            .arg("verify")
            .arg(&file)
            .output();
        let verified = verified.expect("it runs");
        let told = verified.words();
        assert_eq!(verified.status.code(), Some(code), "{told}");
        for lacking in ["epoch 1 of jackpot", "cycle 0 of tier 'grand' of jackpot"] {
            assert_eq!(told.contains(lacking), code == 3, "{told}");
        }
    }
}

/// What is pending is finished first. Nothing opens again, whatever happens to a closed jackpot.
async fn closing_ends_the_epoch_and_all_cycles_and_their_seeds_come_out(db: LedgerDb) {
    let mut change = four_ruled();
    // A millionth of the pool is nothing, so the draw is refused and the entry pending.
    let refused = json!({"pool": {"tier": "grand", "take": {"share_ppm": 1}}});
    change["odds"] = json!({"total": 1, "ranks": [rank(1, &refused)]});
    let fixture = JackpotLedger::with(db, &change).await;
    fixture.take("owed", 1).await;
    fixture.status(Status::Closed).await;
    let rotated = fixture
        .operate
        .end_epoch_with(&fixture.id, "a test".to_owned(), &operator(), true)
        .await;
    assert!(
        matches!(rotated, Err(PlayError::Stopped(Status::Closed))),
        "{rotated:?}"
    );
    fixture.project().await;
    let seed = async || {
        kept::published_seed(&fixture.ledger.sql, &fixture.id, 1)
            .await
            .expect("a look")
    };
    assert_eq!(seed().await, None, "an entry of it is pending");
    enter(&play_apart(&fixture), &fixture, "owed").await;
    fixture.project().await;
    assert!(seed().await.is_some());
    let held = cycles(&fixture).await;
    assert!(held.rows.len() == 4 && held.rows.iter().all(|row| !row.is_open()));
    let all = kept::cycles(&fixture.ledger.sql, &fixture.id, None, u64::MAX, 10)
        .await
        .expect("rows");
    let ends = all
        .iter()
        .map(|cycle| (cycle.ended.as_ref().map(|(_, by)| by.as_str()), cycle.seed.is_some()));
    assert_eq!(ends.collect::<Vec<_>>(), [(Some("close"), true); 4]);
    let closed = fixture.dump().await;
    fixture
        .operate
        .leave_other_secrets(&fixture.id)
        .await
        .expect("nothing is left");
    assert_eq!(fixture.dump().await, closed);

    let rotated = fixture.operate.rotate_by_retention(&fixture.id, 0).await.expect("done");
    assert_eq!(rotated, Some(Rotated::Opened(2)), "the older records go");
    rebuild(&fixture).await;
    fixture.project().await;
    fixture.assert_complete().await;
    let epochs = fixture.operate.epochs(&fixture.id).await.expect("epochs");
    assert!(
        epochs.len() == 3 && epochs.iter().all(|epoch| epoch.closed_ms.is_some()),
        "{epochs:?}"
    );
    assert!(cycles(&fixture).await.rows.iter().all(|row| !row.is_open()));
    let story = exported(&fixture).await;
    let report = story.verify();
    assert!(report.is_right() && report.lacking.is_empty(), "{report}");
    report.to_string().hides("it is open");

    // An entry in the closed epoch, or an epoch that is said to be another one.
    let n = story.find(|body| body.contains("\"ended_epoch\""));
    let mut forged = story.clone();
    forged.edit(n, |fields| {
        fields.insert("ended_epoch".to_owned(), "7".to_owned());
    });
    forged.close();
    let found = forged.verify().problems;
    assert!(
        found
            .iter()
            .any(|p| p.place == Place::Event(n) && p.what.contains("which is not open")),
        "{found:?}"
    );
}
