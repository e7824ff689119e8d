//! What leaves the stream is in SQL; and what happens while SQL is away.

use std::sync::Arc;

use jackpot::jackpot::error::PlayError;
use jackpot::jackpot::ledger::lookup::entry_taken;
use jackpot::jackpot::metrics::PlayMetrics;
use jackpot::jackpot::play::{By, Play};
use jackpot::ledger::Ledger;
use jackpot_core::ids::Id;

use crate::jackpot::fixture::JackpotFixture;
use crate::jackpot::ledger::fixture::JackpotLedger;
use crate::support::given::sent;
use crate::support::prelude::*;

on_both_databases!(
    only_what_sql_has_less_a_margin_is_trimmed,
    while_sql_is_away_nothing_is_lost_and_the_backlog_is_bounded,
);

const MARGIN: u64 = 15;
const MAX_BACKLOG: u64 = 10;

async fn length(fixture: &JackpotFixture) -> u64 {
    let key = &fixture.keys.events;
    fixture.raw(redis::cmd("XLEN").arg(key)).await
}

/// Makes the nodes of the stream small, because only whole nodes are trimmed.
async fn small_nodes(fixture: &JackpotFixture) {
    fixture
        .raw::<()>(redis::cmd("CONFIG").arg("SET").arg("stream-node-max-entries").arg(5))
        .await;
}

async fn only_what_sql_has_less_a_margin_is_trimmed(db: LedgerDb) {
    let mut fixture = JackpotLedger::with(db, &json!({})).await;
    fixture.settings.trim_margin_events = MARGIN;
    small_nodes(&fixture).await;
    let mut projector = fixture.own_projector();
    for n in 0..100 {
        fixture.take(&format!("e{n}"), 0).await;
        projector.round().await.expect("SQL answers");
        assert!(length(&fixture).await >= MARGIN.min(n + 2), "the margin stays");
    }
    let left = length(&fixture).await;
    assert!(left <= MARGIN + 10, "{left} are left");
    projector.finish().await;
    fixture.assert_complete().await;
    // Its event is gone from Redis, and a look-up still finds it.
    let play = play(&fixture);
    let found = play.look_up(&fixture.id, "e3").await.expect("remembered");
    assert_eq!((&found.sent, found.sequence), (&None, 4));
    let taken = entry_taken(&fixture.ledger.sql, &fixture.id, "e3", found.sequence).await;
    let taken = taken.expect("in the ledger");
    assert_eq!((taken.sent, Some(taken.record)), (sent("p", 100), found.record));
}

fn play(fixture: &JackpotLedger) -> Play {
    let metrics = PlayMetrics::new(Arc::clone(&fixture.metrics));
    let views = Arc::clone(&fixture.operate.views);
    crate::support::given::play(&fixture.store, views, metrics, MAX_BACKLOG)
}

async fn enter(play: &Play, fixture: &JackpotFixture, entry_id: &str) -> Result<bool, PlayError> {
    let id = Id::parse(entry_id).expect("an id");
    Ok(play
        .enter(&fixture.id, &id, sent("p", 100), By::default())
        .await?
        .replayed)
}

async fn while_sql_is_away_nothing_is_lost_and_the_backlog_is_bounded(db: LedgerDb) {
    let mut fixture = JackpotLedger::with(db, &json!({"odds": {"total": 1_000, "ranks": []}})).await;
    fixture.settings.trim_margin_events = 0;
    small_nodes(&fixture).await;
    let mut projector = fixture.own_projector();
    let play = play(&fixture);
    enter(&play, &fixture, "first").await.expect("taken");
    projector.catch_up().await;
    fixture.ledger.sql.close().await;
    let before = length(&fixture).await;
    let mut taken = 0;
    let refused = loop {
        match enter(&play, &fixture, &format!("e{taken}")).await {
            Ok(replayed) => {
                assert!(!replayed);
                taken += 1;
            }
            Err(error) => break error,
        }
        assert!(projector.round().await.is_err(), "SQL is away");
    };
    assert!(
        matches!(refused, PlayError::Backlog { waiting } if waiting == MAX_BACKLOG + 1),
        "{refused:?}"
    );
    assert_eq!(u64::try_from(taken).expect("few"), MAX_BACKLOG + 1);
    assert_eq!(
        fixture.operate.views.registry.known(&fixture.id).backlog(),
        MAX_BACKLOG + 1
    );
    assert!(enter(&play, &fixture, "e0").await.expect("answered"), "repeats are");
    assert_eq!(length(&fixture).await, before + MAX_BACKLOG + 1, "nothing is trimmed");

    fixture.ledger = Ledger::open(&fixture.settings, fixture.db.data_dir())
        .await
        .expect("SQL is back");
    fixture.change("UPDATE streams SET holder = ''").await;
    fixture.own_projector().finish().await;
    assert!(!enter(&play, &fixture, "more").await.expect("taken again"));
    fixture.project().await;
    fixture.assert_complete().await;
}
