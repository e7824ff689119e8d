//! `lua/subject/tail.lua` on a real Redis.

use std::sync::Arc;

use jackpot::jackpot::ledger::event::Event;
use jackpot::subject::{self, ScriptError, Tail, TailWish};
use jackpot_api::jackpot::Status;
use jackpot_core::mark::Mark;

use crate::jackpot::fixture::JackpotFixture;
use crate::support::prelude::*;

const ALL: TailWish = TailWish {
    after: None,
    max_events: 1_000,
    max_bytes: 1_000_000,
    trim_before: None,
};

async fn read(fixture: &JackpotFixture, known: Mark, wish: &TailWish<'_>) -> Result<Tail, ScriptError> {
    let keys = &fixture.keys;
    subject::tail(&fixture.store, keys.stream(), known, wish).await
}

async fn tail(fixture: &JackpotFixture, wish: TailWish<'_>) -> Tail {
    read(fixture, Mark::ZERO, &wish).await.expect("a reply")
}

fn ids(tail: &Tail) -> Vec<&str> {
    tail.events.iter().map(|(id, _)| id.as_str()).collect()
}

#[tokio::test]
async fn the_events_behind_one_are_read_in_order_and_as_they_are() {
    let fixture = JackpotFixture::with(&json!({})).await;
    for n in 0..40 {
        fixture.take(&format!("e{n}"), 0).await;
    }
    fixture.status(Status::Paused).await;
    let before = fixture.dump().await;
    let all = tail(&fixture, ALL).await;
    assert_eq!(all.mark, Mark::new(0, 42).expect("a mark"));
    let parsed = all
        .events
        .iter()
        .map(|(_, fields)| Event::parse(fields).expect("readable"));
    assert_eq!(parsed.collect::<Vec<_>>(), fixture.events().await);
    assert_eq!(ids(&all)[..2], ["0-1", "1-2"]);
    let (after, max_events) = (Some("20-21"), 18);
    let some = tail(
        &fixture,
        TailWish {
            after,
            max_events,
            ..ALL
        },
    )
    .await;
    assert_eq!(some.mark, all.mark, "that of the jackpot, whatever was read");
    assert_eq!(some.events, all.events[21..39]);
    let after = Some("40-42");
    assert_eq!(ids(&tail(&fixture, TailWish { after, ..ALL }).await), [""; 0]);
    assert_eq!(fixture.dump().await, before, "reading writes nothing");
    fixture.status(Status::Closed).await;
    assert_eq!(ids(&tail(&fixture, TailWish { after, ..ALL }).await), ["40-43"]);
}

#[tokio::test]
async fn a_batch_is_bounded_in_bytes_but_never_empty() {
    let fixture = JackpotFixture::with(&json!({})).await;
    for n in 0..20 {
        fixture.take(&format!("e{n:02}"), 0).await;
    }
    let all = tail(&fixture, ALL).await;
    let bytes = |tail: &Tail| {
        let sizes = tail.events.iter().map(|(_, fields)| fields.bytes());
        sizes.sum::<usize>()
    };
    let one = TailWish { max_bytes: 1, ..ALL };
    assert_eq!(ids(&tail(&fixture, one).await), ["0-1"]);
    let (max_bytes, mut after, mut seen) = (1_000, None::<String>, Vec::new());
    loop {
        let wish = TailWish {
            max_bytes,
            after: after.as_deref(),
            ..ALL
        };
        let batch = tail(&fixture, wish).await;
        assert!(bytes(&batch) <= max_bytes || batch.events.len() == 1, "{batch:?}");
        let Some((last, _)) = batch.events.last() else {
            break;
        };
        after = Some(last.clone());
        seen.extend(batch.events);
    }
    assert_eq!(seen, all.events);
}

#[tokio::test]
async fn only_what_may_go_is_dropped() {
    let fixture = JackpotFixture::on(Arc::new(TestRedis::own(&[]).await), &json!({})).await;
    fixture
        .raw::<()>(redis::cmd("CONFIG").arg("SET").arg("stream-node-max-entries").arg(10))
        .await;
    for n in 0..99 {
        fixture.take(&format!("e{n}"), 0).await;
    }
    let trim_before = Some("55-56");
    let after = Some("98-99");
    let batch = tail(
        &fixture,
        TailWish {
            trim_before,
            after,
            ..ALL
        },
    )
    .await;
    assert_eq!(ids(&batch), ["99-100"]);
    let kept = tail(&fixture, ALL).await;
    assert_eq!(ids(&kept)[0], "50-51", "whole nodes of ten");
    assert_eq!(kept.events.len(), 50);
}

#[tokio::test]
async fn the_backlog_is_read_and_dropped_when_memory_is_full() {
    let fixture = JackpotFixture::on(Arc::new(TestRedis::own(&[]).await), &json!({})).await;
    fixture.take("e", 0).await;
    fixture
        .raw::<()>(redis::cmd("CONFIG").arg("SET").arg("maxmemory").arg("1mb"))
        .await;
    let trim_before = Some("1-2");
    let full = fixture
        .operate
        .adjust(&fixture.id, &crate::jackpot::fixture::funding("a", 1))
        .await;
    assert!(full.is_err(), "{full:?}");
    assert_eq!(
        ids(&tail(&fixture, TailWish { trim_before, ..ALL }).await),
        ["0-1", "1-2"]
    );
}

#[tokio::test]
async fn a_redis_that_lost_events_gives_none() {
    let fixture = JackpotFixture::with(&json!({})).await;
    let ahead = Mark::new(0, 2).expect("a mark");
    assert!(matches!(
        read(&fixture, ahead, &ALL).await,
        Err(ScriptError::Behind { known, .. }) if known == ahead
    ));
    let keys = &fixture.keys;
    fixture.raw::<()>(redis::cmd("DEL").arg(&keys.state)).await;
    assert!(matches!(
        read(&fixture, ahead, &ALL).await,
        Err(ScriptError::Behind { .. })
    ));
    assert!(matches!(
        read(&fixture, Mark::ZERO, &ALL).await,
        Err(ScriptError::Unknown)
    ));
}
