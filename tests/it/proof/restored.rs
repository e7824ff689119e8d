//! What `jackpot verify` says about an export that spans restores: epochs, nonces and histories.

use std::collections::BTreeMap;

use jackpot::proof::verify::Place;

use super::names;
use super::story::{Story, export_of};
use crate::jackpot::fixture::operator;
use crate::jackpot::ledger::fixture::JackpotLedger;
use crate::support::prelude::*;

on_both_databases!(an_export_over_two_restores_is_right_and_nothing_comes_twice);

async fn wipe_and_restore(fixture: &JackpotLedger) {
    fixture.project().await;
    fixture.wipe().await;
    fixture.heal().await;
}

/// Epochs 1, 2, and one of each of two restores.
async fn restored_twice(db: LedgerDb) -> Story {
    let fixture = JackpotLedger::with(db, &json!({})).await;
    let id = &fixture.id;
    fixture.fund("f", 500).await;
    fixture.take("a", 3).await;
    fixture
        .operate
        .end_epoch(id, "a test".to_owned(), &operator())
        .await
        .expect("done");
    fixture.take("b", 3).await;
    for entry_id in ["c", "d"] {
        wipe_and_restore(&fixture).await;
        fixture.take(entry_id, 3).await;
    }
    fixture.project().await;
    let rows = fixture
        .rows(format!(
            "SELECT body FROM events WHERE kind = 'jackpot' AND id = '{id}'"
        ))
        .await;
    let parsed = rows.iter().map(|row| serde_json::from_str(&row[0]).expect("JSON"));
    let mut events: Vec<BTreeMap<String, String>> = parsed.collect();
    events.sort_by_key(|fields| fields["n"].parse::<u64>().expect("a number"));
    let mut story = export_of(&fixture, events).await;
    // Ranks were given, not drawn. Without seeds the draws are not checked.
    for line in &mut story.lines {
        if line["kind"] == "epoch" {
            line["seed"] = Value::Null;
        }
    }
    story
}

async fn an_export_over_two_restores_is_right_and_nothing_comes_twice(db: LedgerDb) {
    let story = restored_twice(db).await;
    let report = story.verify();
    assert!(report.is_right(), "{report}");
    assert_eq!((report.counts.opened, report.counts.secrets), (4, 1));
    assert_eq!((report.counts.receipts, report.counts.events), (4, story.events()));

    let restores: Vec<u64> = story.all(|body| body.contains("\"type\":\"restore\""));
    let (first, second) = (restores[0], restores[1]);
    let tampered = |n: u64, change: &dyn Fn(&mut BTreeMap<String, String>), what: &str| {
        let mut story = story.clone();
        story.edit(n, change);
        story.close();
        names(&story.verify(), &Place::Event(n), what);
    };
    let of = |n: u64, field: &str| story.field(n, field);
    let set = |field: &'static str, value: String| {
        move |fields: &mut BTreeMap<String, String>| {
            fields.insert(field.to_owned(), value.clone());
        }
    };
    // The history before the restore goes on, or comes again; another one in the middle.
    tampered(second, &set("history", of(first, "history")), "which was there before");
    tampered(second, &set("history", of(1, "history")), "which was there before");
    tampered(second + 1, &set("history", of(1, "history")), "goes on there");
    // A nonce, and with it a seed, that was published.
    tampered(
        second,
        &set("epoch_nonce", of(1, "epoch_nonce")),
        "has the nonce of epoch 1",
    );
    // A number that is not above all numbers that the lost future may have used.
    let near = of(second, "closed").parse::<u64>().expect("a number") + 1;
    tampered(second, &set("epoch", near.to_string()), "neither 1,000 above");
    tampered(second, &set("epoch", "99999999999".to_owned()), "neither 1,000 above");
    tampered(second, &set("epoch", "2".to_owned()), "higher number");
}
