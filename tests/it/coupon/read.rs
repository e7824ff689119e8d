//! `lua/coupon/lookup.lua`, `view.lua`, `dead.lua`, `status.lua` and `checkpoint.lua` on a real Redis.

use jackpot::coupon::scripts::{self, Redeemed, ScriptError, SetStatus, StatusSet};
use jackpot_api::coupon::Status;
use jackpot_core::mark::Mark;

use crate::coupon::fixture::{CouponFixture, ask_queue, letters, record};
use crate::support::given::operator;
use crate::support::prelude::*;

#[tokio::test]
async fn a_request_is_looked_up_with_what_belongs_to_it() {
    let fixture = CouponFixture::with(&json!({"stock": 1})).await;
    let issued = fixture.now("a", "u").await;
    let already = fixture.now("b", "u").await;
    fixture.join("c", "v").await;
    fixture.join("d", "w").await;
    let before = fixture.dump().await;
    let found = fixture.lookup("a").await.expect("a record");
    assert_eq!((&found.record, found.fresh), (&issued.record, false));
    let found = fixture.lookup("b").await.expect("a record");
    assert_eq!((&found.record, &found.first), (&already.record, &already.first));
    assert_eq!(found.first.expect("the first issue").1, *record(&issued));
    assert_eq!(fixture.lookup("d").await.expect("a record").place, Some(1));
    assert_eq!(fixture.lookup("nobody").await, None);
    assert_eq!(fixture.dump().await, before);
}

#[tokio::test]
async fn what_is_damaged_is_told_by_the_one_who_reads_it() {
    let fixture = CouponFixture::with(&json!({})).await;
    fixture
        .raw::<()>(redis::cmd("HSET").arg(&fixture.keys.requests).arg("a").arg("no record"))
        .await;
    assert!(fixture.lookup("a").await.expect("an answer").record.is_err());
    fixture
        .raw::<()>(redis::cmd("HDEL").arg(&fixture.keys.state).arg("json"))
        .await;
    let view = scripts::snapshot(&fixture.store, &fixture.keys, Mark::ZERO).await;
    assert!(matches!(view, Err(ScriptError::Store(_))), "{view:?}");
    let behind = scripts::lookup(&fixture.store, &fixture.keys, Mark::new(0, 9).expect("a mark"), "a").await;
    assert!(matches!(behind, Err(ScriptError::Behind { .. })), "{behind:?}");
    fixture.raw::<()>(redis::cmd("DEL").arg(&fixture.keys.state)).await;
    let unknown = scripts::lookup(&fixture.store, &fixture.keys, Mark::ZERO, "a").await;
    assert!(matches!(unknown, Err(ScriptError::Unknown)), "{unknown:?}");
}

#[tokio::test]
async fn a_view_tells_the_counts_of_one_instant() {
    let fixture = CouponFixture::with(&json!({"stock": 3})).await;
    for (id, user) in [("a", "u"), ("b", "v"), ("c", "v")] {
        fixture.now(id, user).await;
    }
    fixture.void("a").await;
    fixture.join("d", "w").await;
    fixture.wear_out().await;
    fixture.join("e", "x").await;
    let before = fixture.dump().await;
    let view = fixture.snapshot().await;
    assert_eq!((view.stock, view.issued, view.voided, view.remaining()), (3, 2, 1, 2));
    assert_eq!((view.queued, view.dead, view.arrivals), (1, 1, 2));
    assert!(view.now_ms > 1_700_000_000_000);
    assert_eq!(fixture.dump().await, before);
}

#[tokio::test]
async fn a_view_and_a_checkpoint_tell_what_a_suspension_holds_and_what_was_redeemed() {
    let fixture = CouponFixture::with(&json!({})).await;
    let told = async |name: &str| {
        scripts::checkpoint(&fixture.store, &fixture.keys, Mark::ZERO)
            .await
            .expect("a reply");
        let state = fixture.last_event("checkpoint").await["state"].clone();
        let lines = state.lines().filter_map(|line| line.split_once(' '));
        let line = lines.filter(|line| line.0 == name).map(|line| line.1.to_owned()).next();
        assert_eq!(fixture.snapshot().await.held.get(name).cloned(), line);
        line
    };
    assert_eq!((told("held").await, told("redeemed").await), (None, None));
    fixture.now("a", "u").await;
    let redeemed = fixture.redeem("a", "till-1", "x").await;
    assert!(matches!(redeemed, Redeemed::Done(_)), "{redeemed:?}");
    fixture.operated(Status::Paused).await;
    fixture.status(Status::Suspended).await;
    assert_eq!(
        (told("held").await.as_deref(), told("redeemed").await.as_deref()),
        (Some("paused"), Some("1"))
    );
}

#[tokio::test]
async fn dead_letters_are_listed_page_by_page() {
    let fixture = CouponFixture::with(&json!({})).await;
    let requests = ["a", "b", "c"].map(|id| ask_queue(id, "u"));
    fixture.answers(&requests).await;
    fixture.wear_out().await;
    fixture
        .raw::<()>(redis::cmd("HSET").arg(&fixture.keys.requests).arg("b").arg("no record"))
        .await;
    let before = fixture.dump().await;
    let page = async |after, limit| {
        scripts::dead_letters(&fixture.store, &fixture.keys, Mark::ZERO, after, limit)
            .await
            .expect("a page")
    };
    let first = page(0, 2).await;
    let ids = first.letters.iter().map(|letter| letter.request_id.as_str());
    assert_eq!((ids.collect::<Vec<_>>(), first.last), (vec!["a", "b"], Some(2)));
    assert!(first.letters[0].record.is_ok() && first.letters[1].record.is_err());
    let second = page(2, 2).await;
    assert_eq!((second.letters.len(), second.last), (1, Some(3)));
    let end = page(3, 2).await;
    assert_eq!((end.letters.len(), end.last), (0, None));
    assert_eq!(fixture.dump().await, before);
}

#[tokio::test]
async fn the_service_suspends_and_opens_again_and_says_why() {
    let fixture = CouponFixture::with(&json!({})).await;
    assert!(matches!(fixture.status(Status::Suspended).await, StatusSet::Done(mark) if mark.n() == 2));
    let (kind, fields) = fixture.events().await.pop().expect("an event");
    let told = ["before", "after", "reason", "who", "request_id"].map(|field| fields[field].as_str());
    assert_eq!(
        (kind.as_str(), told),
        ("status", ["open", "suspended", "a test", "tester", "r"])
    );
    let before = fixture.dump().await;
    assert!(matches!(fixture.status(Status::Suspended).await, StatusSet::Done(_)));
    assert_eq!(fixture.dump().await, before);
    assert_eq!(
        fixture.define(&json!({"name": "x"})).await,
        scripts::Defined::Changed(2)
    );
    assert_eq!(fixture.snapshot().await.status, Status::Suspended);
    assert!(matches!(fixture.status(Status::Open).await, StatusSet::Done(_)));
    assert_eq!(letters(&[fixture.now("a", "u").await]), "i");
    let wish = SetStatus {
        wanted: Status::Ended,
        reason: String::new(),
        by: operator(),
        reconciled: false,
        keep_waiting: false,
    };
    let before = fixture.dump().await;
    let ended = scripts::set_status(&fixture.store, &fixture.keys, Mark::ZERO, &wish).await;
    assert!(
        matches!(ended, Err(ScriptError::Store(_))),
        "only retire ends it: {ended:?}"
    );
    assert_eq!(fixture.dump().await, before);
}

#[tokio::test]
async fn a_checkpoint_tells_what_redis_holds_and_changes_nothing_else() {
    let fixture = CouponFixture::with(&json!({"stock": 5})).await;
    for (id, user) in [("a", "u"), ("b", "v")] {
        fixture.now(id, user).await;
    }
    fixture.void("a").await;
    fixture.join("c", "w").await;
    fixture.wear_out().await;
    fixture.join("d", "x").await;
    fixture.status(Status::Suspended).await;
    let before = fixture.dump().await;
    let mark = scripts::checkpoint(&fixture.store, &fixture.keys, Mark::ZERO)
        .await
        .expect("done");
    assert_eq!(mark.n(), u64::try_from(fixture.events().await.len()).expect("few"));
    let told = &fixture.last_event("checkpoint").await["state"];
    let told: Vec<_> = told.lines().filter(|line| !line.starts_with("n ")).collect();
    let expected = [
        "restores 0",
        "version 1",
        "stock 5",
        "per_user 1",
        "window ",
        "starts ",
        "ends ",
        "seq 2",
        "voided 1",
        "arrivals 2",
        "retention 7200",
        "history 0123456789abcdef",
        "status suspended",
        "requests 4",
        "users 1",
        "queued 1",
        "dead 1",
    ];
    assert_eq!(told, expected);
    let after = fixture.dump().await;
    for (key, bytes) in &before {
        let changes = [&fixture.keys.state, &fixture.keys.events].contains(&key);
        assert_eq!(after[key] != *bytes, changes, "{key}");
    }
}
