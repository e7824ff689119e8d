//! `lua/coupon/lookup.lua`, `view.lua`, `dead.lua`, `status.lua` and `checkpoint.lua` on a real Redis.

use jackpot::coupon::scripts::{self, ScriptError, SetStatus, StatusSet};
use jackpot::coupon::status::Status;
use jackpot_core::mark::Mark;
use serde_json::json;

use crate::coupon::fixture::{CouponBench, ask_line, letters, record};

#[tokio::test]
async fn a_request_is_looked_up_with_what_belongs_to_it() {
    let bench = CouponBench::with(&json!({"stock": 1})).await;
    let issued = bench.now("a", "u").await;
    let already = bench.now("b", "u").await;
    bench.join("c", "v").await;
    bench.join("d", "w").await;
    let before = bench.dump().await;
    let found = bench.lookup("a").await.expect("a record");
    assert_eq!((&found.record, found.fresh), (&issued.record, false));
    let found = bench.lookup("b").await.expect("a record");
    assert_eq!((&found.record, &found.first), (&already.record, &already.first));
    assert_eq!(found.first.expect("the first issue").1, *record(&issued));
    assert_eq!(bench.lookup("d").await.expect("a record").place, Some(1));
    assert_eq!(bench.lookup("nobody").await, None);
    assert_eq!(bench.dump().await, before);
}

#[tokio::test]
async fn what_is_damaged_is_told_by_the_one_who_reads_it() {
    let bench = CouponBench::with(&json!({})).await;
    bench
        .raw::<()>(redis::cmd("HSET").arg(&bench.keys.requests).arg("a").arg("no record"))
        .await;
    assert!(bench.lookup("a").await.expect("an answer").record.is_err());
    bench
        .raw::<()>(redis::cmd("HDEL").arg(&bench.keys.state).arg("json"))
        .await;
    let view = scripts::snapshot(&bench.store, &bench.keys, Mark::ZERO).await;
    assert!(matches!(view, Err(ScriptError::Store(_))), "{view:?}");
    let behind = scripts::lookup(&bench.store, &bench.keys, Mark::new(0, 9).expect("a mark"), "a").await;
    assert!(matches!(behind, Err(ScriptError::Behind { .. })), "{behind:?}");
    bench.raw::<()>(redis::cmd("DEL").arg(&bench.keys.state)).await;
    let unknown = scripts::lookup(&bench.store, &bench.keys, Mark::ZERO, "a").await;
    assert!(matches!(unknown, Err(ScriptError::Unknown)), "{unknown:?}");
}

#[tokio::test]
async fn a_view_tells_the_counts_of_one_instant() {
    let bench = CouponBench::with(&json!({"stock": 3})).await;
    for (id, user) in [("a", "u"), ("b", "v"), ("c", "v")] {
        bench.now(id, user).await;
    }
    bench.void("a").await;
    bench.join("d", "w").await;
    bench.wear_out().await;
    bench.join("e", "x").await;
    let before = bench.dump().await;
    let view = bench.snapshot().await;
    assert_eq!((view.stock, view.issued, view.voided, view.remaining()), (3, 2, 1, 2));
    assert_eq!((view.queued, view.dead, view.arrivals), (1, 1, 2));
    assert!(view.now_ms > 1_700_000_000_000);
    assert_eq!(bench.dump().await, before);
}

#[tokio::test]
async fn dead_letters_are_listed_page_by_page() {
    let bench = CouponBench::with(&json!({})).await;
    let requests = ["a", "b", "c"].map(|id| ask_line(id, "u"));
    bench.answers(&requests).await;
    bench.wear_out().await;
    bench
        .raw::<()>(redis::cmd("HSET").arg(&bench.keys.requests).arg("b").arg("no record"))
        .await;
    let before = bench.dump().await;
    let page = async |after, limit| {
        scripts::dead_letters(&bench.store, &bench.keys, Mark::ZERO, after, limit)
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
    assert_eq!(bench.dump().await, before);
}

#[tokio::test]
async fn the_service_suspends_and_opens_again_and_says_why() {
    let bench = CouponBench::with(&json!({})).await;
    assert!(matches!(bench.status(Status::Suspended).await, StatusSet::Done(mark) if mark.n() == 2));
    let (kind, fields) = bench.events().await.pop().expect("an event");
    let told = ["before", "after", "reason", "who", "request_id"].map(|field| fields[field].as_str());
    assert_eq!(
        (kind.as_str(), told),
        ("status", ["open", "suspended", "a test", "tester", "r"])
    );
    let before = bench.dump().await;
    assert!(matches!(bench.status(Status::Suspended).await, StatusSet::Done(_)));
    assert_eq!(bench.dump().await, before);
    assert_eq!(bench.define(&json!({"name": "x"})).await, scripts::Defined::Changed(2));
    assert_eq!(bench.snapshot().await.status, Status::Suspended);
    assert!(matches!(bench.status(Status::Open).await, StatusSet::Done(_)));
    assert_eq!(letters(&[bench.now("a", "u").await]), "i");
    let wish = SetStatus {
        wanted: Status::Ended,
        reason: String::new(),
        who: String::new(),
        request_id: String::new(),
        reconciled: false,
    };
    let before = bench.dump().await;
    let ended = scripts::set_status(&bench.store, &bench.keys, Mark::ZERO, &wish).await;
    assert!(
        matches!(ended, Err(ScriptError::Store(_))),
        "only retire ends it: {ended:?}"
    );
    assert_eq!(bench.dump().await, before);
}

#[tokio::test]
async fn a_checkpoint_tells_what_redis_holds_and_changes_nothing_else() {
    let bench = CouponBench::with(&json!({"stock": 5})).await;
    for (id, user) in [("a", "u"), ("b", "v")] {
        bench.now(id, user).await;
    }
    bench.void("a").await;
    bench.join("c", "w").await;
    bench.wear_out().await;
    bench.join("d", "x").await;
    bench.status(Status::Suspended).await;
    let before = bench.dump().await;
    let mark = scripts::checkpoint(&bench.store, &bench.keys, Mark::ZERO)
        .await
        .expect("done");
    assert_eq!(mark.n(), u64::try_from(bench.events().await.len()).expect("few"));
    let told = bench.last_event("checkpoint", "state").await;
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
    let after = bench.dump().await;
    for (key, bytes) in &before {
        let changes = [&bench.keys.state, &bench.keys.events].contains(&key);
        assert_eq!(after[key] != *bytes, changes, "{key}");
    }
}
