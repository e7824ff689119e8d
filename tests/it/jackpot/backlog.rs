//! New entries are refused while the ledger is too far behind, and repeats are still answered.

use std::sync::Arc;

use jackpot::jackpot::error::PlayError;
use jackpot::jackpot::metrics::PlayMetrics;
use jackpot::jackpot::play::Play;
use jackpot::jackpot::scripts::ScriptError;
use jackpot::telemetry::Metrics;
use jackpot_core::ids::Id;
use jackpot_core::mark::Mark;
use serde_json::json;

use crate::jackpot::fixture::Bench;
use crate::support::given::sent;

const MAX_BACKLOG: u64 = 3;

fn play(bench: &Bench) -> Play {
    let metrics = PlayMetrics::new(Arc::new(Metrics::new()));
    let views = Arc::clone(&bench.operate.views);
    crate::support::given::play(&bench.store, views, metrics, MAX_BACKLOG)
}

async fn enter(bench: &Bench, entry_id: &str) -> Result<bool, PlayError> {
    let id = Id::parse(entry_id).expect("an id");
    let played = play(bench).enter(&bench.id, &id, sent("p", 100), None).await?;
    Ok(played.replayed)
}

#[tokio::test]
async fn new_entries_wait_for_the_ledger_and_repeats_do_not() {
    let bench = Bench::with(&json!({"odds": {"total": 1_000_000, "ranks": []}})).await;
    for n in 0..5 {
        assert!(
            !enter(&bench, &format!("e{n}")).await.expect("taken"),
            "nothing is known of the ledger"
        );
    }
    let known = bench
        .operate
        .views
        .registry
        .observe(&bench.id, Mark::new(0, 2).expect("a mark"));
    assert_eq!(known.mark().n(), 6, "what was seen stays");
    known.set_ledger_n(Some(2));
    let before = bench.dump().await;
    for _ in 0..2 {
        let refused = enter(&bench, "new").await;
        assert!(matches!(refused, Err(PlayError::Backlog { waiting: 4 })), "{refused:?}");
    }
    assert!(enter(&bench, "e3").await.expect("answered as before"));
    assert_eq!(bench.dump().await, before);
    known.set_ledger_n(Some(3));
    assert!(!enter(&bench, "new").await.expect("taken"));
}

#[tokio::test]
async fn a_redis_that_has_less_than_the_ledger_is_not_played_on() {
    let bench = Bench::with(&json!({})).await;
    let ahead = Mark::new(0, 2).expect("a mark");
    let known = bench.operate.views.registry.observe(&bench.id, ahead);
    let before = bench.dump().await;
    let refused = enter(&bench, "e").await;
    assert!(
        matches!(refused, Err(PlayError::Script(ScriptError::Behind { .. }))),
        "{refused:?}"
    );
    assert!(known.is_lost());
    assert!(
        !bench.operate.views.registry.recheck(&bench.id).await.expect("a reply"),
        "nothing was restored"
    );
    assert_eq!(bench.dump().await, before);
}

#[tokio::test]
async fn a_jackpot_that_only_the_ledger_knows_is_lost_and_not_unknown() {
    let bench = Bench::with(&json!({})).await;
    let gone = Id::parse("gone-from-redis").expect("an id");
    bench
        .operate
        .views
        .registry
        .observe(&gone, Mark::new(0, 1).expect("a mark"));
    let view = bench.operate.views.view(&gone).await.map(|_| ());
    assert!(
        matches!(view, Err(PlayError::Script(ScriptError::Behind { .. }))),
        "{view:?}"
    );
}
