//! What leaves the stream is in SQL; and what happens while SQL is away.

use std::sync::Arc;

use jackpot::jackpot::error::PlayError;
use jackpot::jackpot::metrics::PlayMetrics;
use jackpot::jackpot::play::Play;
use jackpot::ledger::Ledger;
use jackpot_core::ids::Id;
use serde_json::json;

use crate::jackpot::fixture::Bench;
use crate::jackpot::ledger::fixture::Kit;
use crate::support::given::sent;
use crate::support::ledger_db::{LedgerDb, on_both_databases};

on_both_databases!(
    only_what_sql_has_less_a_margin_is_trimmed,
    while_sql_is_away_nothing_is_lost_and_the_backlog_is_bounded,
);

const MARGIN: u64 = 15;
const MAX_BACKLOG: u64 = 10;

async fn length(bench: &Bench) -> u64 {
    let key = &bench.operate.views.registry.known(&bench.id).keys.events;
    bench.raw(redis::cmd("XLEN").arg(key)).await
}

/// Makes the nodes of the stream small, because only whole nodes are trimmed.
async fn small_nodes(bench: &Bench) {
    bench
        .raw::<()>(redis::cmd("CONFIG").arg("SET").arg("stream-node-max-entries").arg(5))
        .await;
}

async fn only_what_sql_has_less_a_margin_is_trimmed(db: LedgerDb) {
    let mut kit = Kit::with(db, &json!({})).await;
    kit.settings.trim_margin_events = MARGIN;
    small_nodes(&kit.bench).await;
    let mut projector = kit.projector_of(&kit.bench.operate, false);
    for n in 0..100 {
        kit.bench.take(&format!("e{n}"), 0).await;
        projector.round().await.expect("SQL answers");
        assert!(length(&kit.bench).await >= MARGIN.min(n + 2), "the margin stays");
    }
    let left = length(&kit.bench).await;
    assert!(left <= MARGIN + 10, "{left} are left");
    projector.finish().await;
    kit.assert_complete().await;
    // Its event is gone from Redis, and a look-up still finds it.
    let play = play(&kit);
    let found = play.look_up(&kit.bench.id, "e3").await.expect("remembered");
    assert_eq!((&found.sent, found.sequence), (&None, 4));
    let taken = kit.ledger.taken(&kit.bench.id, "e3", found.sequence).await;
    let taken = taken.expect("in the ledger");
    assert_eq!((taken.sent, Some(taken.record)), (sent("p", 100), found.record));
}

fn play(kit: &Kit) -> Play {
    let metrics = PlayMetrics::new(Arc::clone(&kit.metrics));
    let views = Arc::clone(&kit.bench.operate.views);
    crate::support::given::play(&kit.bench.store, views, metrics, MAX_BACKLOG)
}

async fn enter(play: &Play, bench: &Bench, entry_id: &str) -> Result<bool, PlayError> {
    let id = Id::parse(entry_id).expect("an id");
    Ok(play.enter(&bench.id, &id, sent("p", 100), None).await?.replayed)
}

async fn while_sql_is_away_nothing_is_lost_and_the_backlog_is_bounded(db: LedgerDb) {
    let mut kit = Kit::with(db, &json!({"odds": {"total": 1_000, "ranks": []}})).await;
    kit.settings.trim_margin_events = 0;
    small_nodes(&kit.bench).await;
    let mut projector = kit.projector_of(&kit.bench.operate, false);
    let play = play(&kit);
    enter(&play, &kit.bench, "first").await.expect("taken");
    projector.catch_up().await;
    kit.ledger.sql.close().await;
    let before = length(&kit.bench).await;
    let mut taken = 0;
    let refused = loop {
        match enter(&play, &kit.bench, &format!("e{taken}")).await {
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
        kit.bench.operate.views.registry.known(&kit.bench.id).backlog(),
        MAX_BACKLOG + 1
    );
    assert!(enter(&play, &kit.bench, "e0").await.expect("answered"), "repeats are");
    assert_eq!(length(&kit.bench).await, before + MAX_BACKLOG + 1, "nothing is trimmed");

    kit.ledger = Ledger::open(&kit.settings, kit.data_dir()).await.expect("SQL is back");
    kit.change("UPDATE streams SET lease_until_ms = 1").await;
    kit.projector_of(&kit.bench.operate, false).finish().await;
    assert!(!enter(&play, &kit.bench, "more").await.expect("taken again"));
    kit.project().await;
    kit.assert_complete().await;
}
