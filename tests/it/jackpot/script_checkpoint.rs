//! `lua/jackpot/checkpoint.lua`, and suspension by `status.lua`, on a real Redis.

use jackpot::jackpot::error::PlayError;
use jackpot::jackpot::ledger::event::Kind;
use jackpot::jackpot::scripts::{self, ScriptError};
use jackpot::jackpot::view::Status;
use jackpot_core::mark::Mark;
use serde_json::json;

use crate::jackpot::fixture::{Bench, operator, tier};

async fn set(bench: &Bench, wanted: Status) -> Result<(), PlayError> {
    let by = operator();
    bench
        .operate
        .set_status(&bench.id, wanted, "a test".to_owned(), &by)
        .await
}

#[tokio::test]
async fn a_checkpoint_tells_what_redis_holds_and_changes_nothing_else() {
    let bench =
        Bench::with(&json!({"tiers": [tier("grand", 1_000_000, &json!({"min_payout": 100, "cap": 70}))]})).await;
    bench.fund("f", 60).await;
    bench.take("e", 1).await;
    bench.take("e2", 3).await;
    bench.define(&json!({"contribution": {"fixed": 2}})).await;
    let before = bench.dump().await;
    let mark = bench.operate.checkpoint(&bench.id).await.expect("done");
    assert_eq!(mark, Mark::new(0, 6).expect("a mark"));
    let event = bench.events().await.pop().expect("an event");
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
    let (after, keys) = (bench.dump().await, &bench.operate.views.registry.known(&bench.id).keys);
    for (key, bytes) in &before {
        let changes = *key == keys.state || *key == keys.events;
        assert_eq!(after[key] != *bytes, changes, "{key}");
    }
    bench.assert_rebuilds().await;
}

#[tokio::test]
async fn a_checkpoint_is_fenced() {
    let bench = Bench::with(&json!({})).await;
    let (known, view) = bench.fresh().await;
    let before = bench.dump().await;
    let call = async |fence: &scripts::Fence| {
        scripts::checkpoint(&bench.store, &known.keys, fence, view.definition.tiers()).await
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
    assert_eq!(bench.dump().await, before);
}

#[tokio::test]
async fn a_suspended_jackpot_is_resumed_only_after_it_was_reconciled() {
    let bench = Bench::with(&json!({})).await;
    for from in [Status::Open, Status::Paused] {
        set(&bench, from).await.expect("done");
        set(&bench, Status::Suspended).await.expect("done");
        let before = bench.dump().await;
        set(&bench, Status::Suspended).await.expect("done before");
        for refused in [Status::Open, Status::Paused] {
            let refused = set(&bench, refused).await;
            assert!(
                matches!(refused, Err(PlayError::Stopped(Status::Suspended))),
                "{refused:?}"
            );
        }
        let entered = bench.enter(&[crate::jackpot::fixture::entry("e", 0)]).await;
        assert_eq!(entered.refusal, Some(scripts::Refusal::Suspended));
        assert_eq!(bench.dump().await, before);
        let resume = async || {
            bench
                .operate
                .resume_suspended(&bench.id, "agrees".to_owned(), &operator())
                .await
        };
        resume().await.expect("done");
        assert_eq!(bench.snapshot().await.status, Status::Open);
        let before = bench.dump().await;
        resume().await.expect("done before");
        assert_eq!(bench.dump().await, before);
    }
    set(&bench, Status::Suspended).await.expect("done");
    set(&bench, Status::Closed).await.expect("stopped for good");
    for refused in [
        set(&bench, Status::Suspended).await,
        bench
            .operate
            .resume_suspended(&bench.id, "x".to_owned(), &operator())
            .await,
    ] {
        assert!(
            matches!(refused, Err(PlayError::Stopped(Status::Closed))),
            "{refused:?}"
        );
    }
    bench.assert_rebuilds().await;
}
