//! New entries are refused while the ledger is too far behind, and repeats are still answered.

use std::sync::Arc;

use jackpot::jackpot::error::PlayError;
use jackpot::jackpot::metrics::PlayMetrics;
use jackpot::jackpot::play::{By, Play};
use jackpot::jackpot::scripts::ScriptError;
use jackpot::telemetry::Metrics;
use jackpot_core::ids::Id;
use jackpot_core::mark::Mark;

use crate::jackpot::fixture::JackpotFixture;
use crate::support::given::sent;
use crate::support::prelude::*;

const MAX_BACKLOG: u64 = 3;

fn play(fixture: &JackpotFixture) -> Play {
    let metrics = PlayMetrics::new(Arc::new(Metrics::new()));
    let views = Arc::clone(&fixture.operate.views);
    crate::support::given::play(&fixture.store, views, metrics, MAX_BACKLOG)
}

async fn enter(fixture: &JackpotFixture, entry_id: &str) -> Result<bool, PlayError> {
    let id = Id::parse(entry_id).expect("an id");
    let played = play(fixture)
        .enter(&fixture.id, &id, sent("p", 100), By::default())
        .await?;
    Ok(played.replayed)
}

#[tokio::test]
async fn new_entries_wait_for_the_ledger_and_repeats_do_not() {
    let fixture = JackpotFixture::with(&json!({"odds": {"total": 1_000_000, "ranks": []}})).await;
    for n in 0..5 {
        assert!(
            !enter(&fixture, &format!("e{n}")).await.expect("taken"),
            "nothing is known of the ledger"
        );
    }
    let known = fixture
        .operate
        .views
        .registry
        .observe(&fixture.id, Mark::new(0, 2).expect("a mark"));
    assert_eq!(known.mark().n(), 6, "what was seen stays");
    known.set_ledger_n(Some(2));
    let before = fixture.dump().await;
    for _ in 0..2 {
        let refused = enter(&fixture, "new").await;
        assert!(matches!(refused, Err(PlayError::Backlog { waiting: 4 })), "{refused:?}");
    }
    assert!(enter(&fixture, "e3").await.expect("answered as before"));
    assert_eq!(fixture.dump().await, before);
    known.set_ledger_n(Some(3));
    assert!(!enter(&fixture, "new").await.expect("taken"));
}

#[tokio::test]
async fn a_redis_that_has_less_than_the_ledger_is_not_played_on() {
    let fixture = JackpotFixture::with(&json!({})).await;
    let ahead = Mark::new(0, 2).expect("a mark");
    let known = fixture.operate.views.registry.observe(&fixture.id, ahead);
    let before = fixture.dump().await;
    let refused = enter(&fixture, "e").await;
    assert!(
        matches!(refused, Err(PlayError::Script(ScriptError::Behind { .. }))),
        "{refused:?}"
    );
    assert!(known.is_lost());
    assert!(
        !fixture
            .operate
            .views
            .registry
            .recheck(&fixture.id)
            .await
            .expect("a reply"),
        "nothing was restored"
    );
    assert_eq!(fixture.dump().await, before);
}

#[tokio::test]
async fn a_jackpot_that_only_the_ledger_knows_is_lost_and_not_unknown() {
    let fixture = JackpotFixture::with(&json!({})).await;
    let gone = Id::parse("gone-from-redis").expect("an id");
    fixture
        .operate
        .views
        .registry
        .observe(&gone, Mark::new(0, 1).expect("a mark"));
    let view = fixture.operate.views.view(&gone).await.map(|_| ());
    assert!(
        matches!(view, Err(PlayError::Script(ScriptError::Behind { .. }))),
        "{view:?}"
    );
}
