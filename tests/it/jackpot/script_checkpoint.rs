//! `lua/jackpot/checkpoint.lua`, and suspension by `status.lua`, on a real Redis.

use jackpot::jackpot::error::PlayError;
use jackpot::jackpot::ledger::event::Kind;
use jackpot::jackpot::scripts::{self, ScriptError};
use jackpot_api::jackpot::Status;
use jackpot_core::mark::Mark;

use crate::jackpot::fixture::{JackpotFixture, operator, tier};
use crate::support::prelude::*;

async fn set(fixture: &JackpotFixture, wanted: Status) -> Result<(), PlayError> {
    let by = operator();
    fixture
        .operate
        .set_status(&fixture.id, wanted, "a test".to_owned(), &by)
        .await
}

#[tokio::test]
async fn a_checkpoint_tells_what_redis_holds_and_changes_nothing_else() {
    let fixture =
        JackpotFixture::with(&json!({"tiers": [tier("grand", 1_000_000, &json!({"min_payout": 100, "cap": 70}))]}))
            .await;
    fixture.fund("f", 60).await;
    fixture.take("e", 1).await;
    fixture.take("e2", 3).await;
    fixture.define(&json!({"contribution": {"fixed": 2}})).await;
    let before = fixture.dump().await;
    let mark = fixture.operate.checkpoint(&fixture.id).await.expect("done");
    assert_eq!(mark, Mark::new(0, 6).expect("a mark"));
    let event = fixture.events().await.pop().expect("an event");
    let Kind::Checkpoint(held) = event.kind else {
        panic!("{event:?}");
    };
    assert_eq!((event.n, event.changes, event.applied), (6, vec![], None));
    let meters = held.meters.clone();
    let of = |name: &str| held.held[name].as_str();
    let state = ["status", "version", "next", "seq", "order", "epoch", "pending", "tiers"].map(of);
    assert_eq!(state, ["open", "1", "2", "2", "1", "1", "1", "grand 0 70;"]);
    let counts = ["seen_a", "seen_b", "definitions", "adjustments", "retention"].map(of);
    assert_eq!(counts, ["2", "0", "2", "1", "0"]);
    assert_eq!(meters["grand:pool_written"], meters["grand:pool"]);
    let read = [
        "pool",
        "reserve",
        "overflow",
        "contributed",
        "funded",
        "paid",
        "wins",
        "pool_micro",
    ];
    let read = read.map(|name| meters[&format!("grand:{name}")]);
    assert_eq!((read, meters.len()), ([55, 0, 0, 2, 60, 7, 0, 0], 11));
    let (after, keys) = (fixture.dump().await, &fixture.keys);
    for (key, bytes) in &before {
        let changes = *key == keys.state || *key == keys.events;
        assert_eq!(after[key] != *bytes, changes, "{key}");
    }
    fixture.assert_rebuilds().await;
}

#[tokio::test]
async fn a_checkpoint_is_fenced() {
    let fixture = JackpotFixture::with(&json!({})).await;
    let (known, view) = fixture.fresh().await;
    let before = fixture.dump().await;
    let call = async |fence: &scripts::Fence| {
        scripts::checkpoint(&fixture.store, &known.keys, fence, view.definition.tiers()).await
    };
    let fence = || known.fence(&view);
    let (commitment, known_mark) = ("00".repeat(32), Mark::new(0, 2).expect("a mark"));
    let other_epoch = call(&scripts::Fence { commitment, ..fence() }).await;
    assert!(matches!(other_epoch, Err(ScriptError::Stale)), "{other_epoch:?}");
    let stale = call(&scripts::Fence {
        definition: "9 x".to_owned(),
        ..fence()
    })
    .await;
    assert!(matches!(stale, Err(ScriptError::Stale)), "{stale:?}");
    let behind = call(&scripts::Fence {
        known: known_mark,
        ..fence()
    })
    .await;
    assert!(matches!(behind, Err(ScriptError::Behind { .. })), "{behind:?}");
    assert_eq!(fixture.dump().await, before);
}

#[tokio::test]
async fn a_suspended_jackpot_is_resumed_only_after_it_was_reconciled() {
    let fixture = JackpotFixture::with(&json!({})).await;
    for from in [Status::Open, Status::Paused] {
        set(&fixture, from).await.expect("done");
        set(&fixture, Status::Suspended).await.expect("done");
        let before = fixture.dump().await;
        set(&fixture, Status::Suspended).await.expect("done before");
        for refused in [Status::Open, Status::Paused] {
            let refused = set(&fixture, refused).await;
            assert!(
                matches!(refused, Err(PlayError::Stopped(Status::Suspended))),
                "{refused:?}"
            );
        }
        let entered = fixture.enter(&[crate::jackpot::fixture::entry("e", 0)]).await;
        assert_eq!(entered.refusal, Some(scripts::Refusal::Suspended));
        assert_eq!(fixture.dump().await, before);
        let resume = async || {
            fixture
                .operate
                .resume_suspended(&fixture.id, "agrees".to_owned(), &operator())
                .await
        };
        resume().await.expect("done");
        assert_eq!(fixture.snapshot().await.status, Status::Open);
        let before = fixture.dump().await;
        resume().await.expect("done before");
        assert_eq!(fixture.dump().await, before);
    }
    set(&fixture, Status::Suspended).await.expect("done");
    set(&fixture, Status::Closed).await.expect("stopped for good");
    for refused in [
        set(&fixture, Status::Suspended).await,
        fixture
            .operate
            .resume_suspended(&fixture.id, "x".to_owned(), &operator())
            .await,
    ] {
        assert!(
            matches!(refused, Err(PlayError::Stopped(Status::Closed))),
            "{refused:?}"
        );
    }
    fixture.assert_rebuilds().await;
}
