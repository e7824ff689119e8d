//! The path of a batch, on a real Redis: what is refused before Redis is asked, and what is drawn again.

use std::sync::Arc;

use jackpot::jackpot::batch::{Batch, BatchPlayed};
use jackpot::jackpot::error::PlayError;
use jackpot::jackpot::ledger::event::Kind;
use jackpot::jackpot::metrics::PlayMetrics;
use jackpot::jackpot::play::Play;
use jackpot::jackpot::view::Views;
use jackpot::telemetry::Metrics;
use jackpot_api::jackpot::Status;
use jackpot_core::money::MAX_MINOR;
use jackpot_core::secret::MasterSecret;

use crate::jackpot::batch::support::{batch, play};
use crate::jackpot::fixture::{JackpotFixture, SECRET, rank, sent, tier};
use crate::support::prelude::*;

async fn enter(fixture: &JackpotFixture, batch: &Arc<Batch>) -> Result<BatchPlayed, PlayError> {
    play(fixture, u64::MAX).enter_batch(&fixture.id, batch, "").await
}

fn stakes(batch_id: &str, stakes: &[u64]) -> Arc<Batch> {
    batch(
        batch_id,
        &stakes.iter().map(|stake| sent("p", *stake)).collect::<Vec<_>>(),
    )
}

/// Another instance, which has read the jackpot as it is now.
async fn play_apart(fixture: &JackpotFixture) -> Play {
    let views = Arc::new(Views::new(fixture.store.clone(), MasterSecret::new(SECRET)));
    views.view(&fixture.id).await.expect("readable");
    let metrics = PlayMetrics::new(Arc::new(Metrics::new()));
    crate::support::given::play(&fixture.store, views, metrics, u64::MAX)
}

fn no_prizes() -> Value {
    json!({"total": 1, "ranks": []})
}

/// One of two entries takes all.
fn half_wins() -> Value {
    json!({"total": 2, "ranks": [rank(1, &json!({"pool": {"tier": "grand", "take": "all"}}))]})
}

#[tokio::test]
async fn a_stake_beyond_the_limit_refuses_the_batch_and_names_the_entry() {
    let fixture = JackpotFixture::with(&json!({"max_stake": 100})).await;
    let before = fixture.dump().await;
    let refused = enter(&fixture, &stakes("b", &[100, 101, 1, 500])).await;
    let Err(PlayError::Invalid(wrong)) = refused else {
        panic!("{refused:?}")
    };
    let fields = wrong
        .iter()
        .map(|violation| violation.field.as_str())
        .collect::<Vec<_>>();
    assert_eq!(fields, ["entries[1].stake", "entries[3].stake"]);
    assert_eq!(fixture.dump().await, before);
    // A limit that another instance has raised refuses no entry.
    let late = play_apart(&fixture).await;
    fixture.define(&json!({"max_stake": 500})).await;
    assert!(
        late.enter_batch(&fixture.id, &stakes("b", &[100, 101, 1, 500]), "")
            .await
            .is_ok()
    );
}

#[tokio::test]
async fn new_batches_wait_for_the_ledger_and_repeats_do_not() {
    let fixture = JackpotFixture::with(&json!({"odds": no_prizes()})).await;
    let (old, new) = (stakes("old", &[1, 2]), stakes("new", &[1]));
    enter(&fixture, &old).await.expect("taken");
    fixture.take("more", 0).await;
    let known = fixture.operate.views.registry.known(&fixture.id);
    known.set_ledger_n(Some(0));
    let play = play(&fixture, 1);
    let before = fixture.dump().await;
    let refused = play.enter_batch(&fixture.id, &new, "").await;
    assert!(matches!(refused, Err(PlayError::Backlog { waiting: 3 })), "{refused:?}");
    assert!(
        play.enter_batch(&fixture.id, &old, "")
            .await
            .expect("answered as before")
            .replayed
    );
    assert_eq!(fixture.dump().await, before);
    known.set_ledger_n(Some(2));
    assert!(!play.enter_batch(&fixture.id, &new, "").await.expect("taken").replayed);
}

#[tokio::test]
async fn other_content_under_the_same_id_is_refused_also_by_a_paused_jackpot() {
    let fixture = JackpotFixture::with(&json!({"odds": no_prizes()})).await;
    let first = batch("b", &[sent("p", 1), sent("q", 2)]);
    enter(&fixture, &first).await.expect("taken");
    let before = fixture.dump().await;
    for other in [
        vec![sent("p", 1)],
        vec![sent("q", 2), sent("p", 1)],
        vec![sent("p", 1), sent("q", 3)],
    ] {
        let refused = enter(&fixture, &batch("b", &other)).await;
        assert!(
            matches!(&refused, Err(PlayError::BatchIdReused(id)) if id == "b"),
            "{refused:?}"
        );
    }
    assert_eq!(fixture.dump().await, before);
    fixture.status(Status::Paused).await;
    assert!(enter(&fixture, &first).await.expect("answered").replayed);
    let refused = enter(&fixture, &batch("b", &[sent("p", 1)])).await;
    assert!(matches!(refused, Err(PlayError::BatchIdReused(_))), "{refused:?}");
    let refused = enter(&fixture, &batch("new", &[sent("p", 1)])).await;
    assert!(
        matches!(refused, Err(PlayError::Stopped(Status::Paused))),
        "{refused:?}"
    );
}

#[tokio::test]
async fn sums_beyond_the_largest_amount_are_refused_and_repeats_answered_all_the_same() {
    let whole = json!({"contribution": {"rate_ppm": 1_000_000}, "odds": no_prizes()});
    let fixture = JackpotFixture::with(&json!({"contribution": {"fixed": 1}, "odds": no_prizes()})).await;
    let largest = stakes("largest", &[MAX_MINOR, MAX_MINOR]);
    enter(&fixture, &largest).await.expect("two units");
    fixture.status(Status::Paused).await;
    fixture.define(&whole).await;
    fixture.status(Status::Open).await;
    let before = fixture.dump().await;
    let refused = enter(&fixture, &stakes("new", &[MAX_MINOR, MAX_MINOR])).await;
    assert!(matches!(refused, Err(PlayError::AmountTooLarge)), "{refused:?}");
    let refused = enter(&fixture, &stakes("new", &[MAX_MINOR - 1])).await;
    assert!(matches!(refused, Err(PlayError::AmountTooLarge)), "{refused:?}");
    assert!(enter(&fixture, &largest).await.expect("answered").replayed);
    assert_eq!(fixture.dump().await, before);
    enter(&fixture, &stakes("new", &[MAX_MINOR - 2]))
        .await
        .expect("to the unit");
    fixture.assert_rebuilds().await;
}

#[tokio::test]
async fn an_instance_that_is_behind_the_definition_draws_again() {
    let fixture = JackpotFixture::with(&json!({"odds": no_prizes()})).await;
    let behind = play_apart(&fixture).await;
    fixture
        .define(&json!({"contribution": {"fixed": 5}, "odds": no_prizes()}))
        .await;
    let played = behind
        .enter_batch(&fixture.id, &stakes("b", &[1, 1]), "")
        .await
        .expect("taken");
    assert_eq!(played.record.totals[0].amount, 10);
    fixture.assert_rebuilds().await;
}

#[tokio::test]
async fn a_win_that_puts_a_definition_in_force_splits_the_batch_there() {
    let first = json!({"odds": half_wins(), "tiers": [tier("grand", 1_000_000, &json!({}))]});
    let fixture = JackpotFixture::with(&first).await;
    fixture.take("live", 0).await;
    let mut next = first.clone();
    next["contribution"] = json!({"fixed": 5});
    fixture.define(&next).await;
    let played = enter(&fixture, &stakes("b", &[1; 50])).await.expect("taken");
    let events = fixture.events().await;
    let calls = events.iter().filter_map(|event| match &event.kind {
        Kind::Enter(enter) if enter.batch().is_some() => Some(&enter.call),
        _ => None,
    });
    let calls = calls.collect::<Vec<_>>();
    let first_winner = played.winners[0].index;
    assert_eq!((calls.len(), calls[0].version, calls[0].entries.len()), (1, 1, 50));
    let split = calls[0].split.expect("another definition came into force");
    assert_eq!((split.place, split.version), (first_winner, 2));
    assert!(played.winners.len() > 10, "half of them win");
    let added = first_winner as u64 + 5 * (50 - first_winner) as u64;
    assert_eq!(played.record.totals[0].amount, added);
    fixture.assert_rebuilds().await;

    // The limit of the definition that comes into force applies to the entries after it.
    next["contribution"] = json!({"fixed": 3});
    next["max_stake"] = json!(1);
    fixture.take("live2", 0).await;
    fixture.define(&next).await;
    let before = fixture.stream().await;
    let refused = enter(&fixture, &stakes("c", &[2; 50])).await;
    let Err(PlayError::Invalid(wrong)) = refused else {
        panic!("{refused:?}")
    };
    assert_ne!(wrong[0].field, "entries[0].stake", "the first may still have it");
    assert_eq!(wrong[wrong.len() - 1].field, "entries[49].stake");
    assert_eq!(fixture.stream().await, before);
}

/// A hundred ranks all refuse. The work of one call has a bound; smaller batches are taken.
#[tokio::test]
async fn a_batch_of_too_many_refused_claims_is_refused_by_name() {
    let ranks = (1..=100).map(|i| rank(i, &json!({"fixed": {"tier": "grand", "amount": 1_000_000}})));
    let odds = json!({"total": 100, "ranks": ranks.collect::<Vec<_>>()});
    let fixture = JackpotFixture::with(&json!({"odds": odds, "max_redraws": 100})).await;
    let before = fixture.dump().await;
    let refused = enter(&fixture, &stakes("many", &vec![1; 2_500])).await;
    let Err(PlayError::Invalid(wrong)) = refused else {
        panic!("{refused:?}")
    };
    assert_eq!(wrong[0].field, "entries");
    assert_eq!(fixture.dump().await, before);
    let played = enter(&fixture, &stakes("few", &[1; 20])).await.expect("taken");
    assert_eq!((played.record.winners.len(), played.winners.len()), (20, 0));
    fixture.assert_rebuilds().await;
}
