//! `lua/coupon/define.lua` on a real Redis.

use std::sync::Arc;

use jackpot::coupon::scripts::{self, Defined, ScriptError, Wanted};
use jackpot_api::coupon::Status;
use jackpot_core::mark::Mark;

use crate::coupon::fixture::{CouponFixture, definition};
use crate::support::given::operator;
use crate::support::prelude::*;

#[tokio::test]
async fn a_coupon_is_created_as_it_was_defined() {
    let change = json!({"stock": 7, "per_user": 2, "per_user_window_s": 60,
        "starts_at": "2026-01-01T00:00:00Z", "ends_at": "2036-01-01T00:00:00Z"});
    let fixture = CouponFixture::with(&change).await;
    let snapshot = fixture.snapshot().await;
    assert_eq!(snapshot.definition, definition(&change).to_json());
    assert_eq!(
        (snapshot.status, snapshot.version, snapshot.stock, snapshot.issued),
        (Status::Open, 1, 7, 0)
    );
    assert_eq!((snapshot.mark.n(), snapshot.remaining()), (1, 7));
    let state = fixture.hash(&fixture.keys.state).await;
    let numbers = ["per_user", "window", "starts", "ends"].map(|field| state[field].as_str());
    assert_eq!(numbers, ["2", "60000", "1767225600000", "2082758400000"]);
    let (_, fields) = fixture.events().await.remove(0);
    let told = ["mode", "version", "json", "who", "request_id", "nonce"].map(|field| fields[field].as_str());
    assert_eq!(told, ["created", "1", &snapshot.definition, "tester", "r", "n0"]);
}

#[tokio::test]
async fn a_change_is_in_force_at_once_and_the_same_again_changes_nothing() {
    let fixture = CouponFixture::with(&json!({})).await;
    fixture.now("a", "u").await;
    let change = json!({"stock": 1, "per_user": 3});
    assert_eq!(fixture.define(&change).await, Defined::Changed(2));
    let snapshot = fixture.snapshot().await;
    assert_eq!((snapshot.version, snapshot.stock, snapshot.issued), (2, 1, 1));
    assert_eq!(fixture.last_event("define").await["mode"], "changed");
    let before = fixture.dump().await;
    assert_eq!(fixture.define(&change).await, Defined::Changed(2));
    let unexpected = fixture.put(&change, Wanted::Versions(vec![9]), Some(1), "other").await;
    assert_eq!(unexpected.expect("a reply"), Defined::Changed(2));
    assert_eq!(fixture.dump().await, before);
}

#[tokio::test]
async fn a_repeat_of_a_put_answers_as_the_first_did_also_after_others() {
    let fixture = CouponFixture::with(&json!({})).await;
    for (name, version) in [("b", 2), ("c", 3)] {
        let put = fixture
            .put(&json!({"name": name}), Wanted::Present, Some(version - 1), name)
            .await;
        assert_eq!(put.expect("a reply"), Defined::Changed(version));
    }
    let before = fixture.dump().await;
    let created = fixture.put(&json!({}), Wanted::Absent, None, "n0").await;
    assert_eq!(created.expect("a reply"), Defined::Created(1));
    let changed = fixture.put(&json!({"name": "b"}), Wanted::Present, Some(1), "b").await;
    assert_eq!(changed.expect("a reply"), Defined::Changed(2));
    assert_eq!(fixture.dump().await, before);
}

#[tokio::test]
async fn what_was_wanted_and_what_was_read_must_be_there() {
    let fixture = CouponFixture::with(&json!({})).await;
    let other = json!({"name": "other"});
    let before = fixture.dump().await;
    for wanted in [Wanted::Absent, Wanted::Versions(vec![2, 11])] {
        let put = fixture.put(&other, wanted, Some(1), "x").await;
        assert_eq!(put.expect("a reply"), Defined::Mismatch);
    }
    for read in [None, Some(2)] {
        let stale = fixture.put(&other, Wanted::Any, read, "x").await;
        assert!(matches!(stale, Err(ScriptError::Stale)), "{stale:?}");
    }
    assert_eq!(fixture.dump().await, before);
    let put = fixture.put(&other, Wanted::Versions(vec![9, 1]), Some(1), "x").await;
    assert_eq!(put.expect("a reply"), Defined::Changed(2));

    let nothing = CouponFixture::undefined(Arc::clone(&fixture.redis)).await;
    let before = nothing.dump().await;
    for wanted in [Wanted::Present, Wanted::Versions(vec![1])] {
        let put = nothing.put(&other, wanted, None, "x").await;
        assert_eq!(put.expect("a reply"), Defined::Mismatch);
    }
    assert_eq!(nothing.dump().await, before);
}

#[tokio::test]
async fn the_stock_is_never_below_what_is_out() {
    let fixture = CouponFixture::with(&json!({})).await;
    for i in 0..4 {
        fixture.now(&format!("r{i}"), &format!("u{i}")).await;
    }
    fixture.void("r0").await;
    let before = fixture.dump().await;
    let put = fixture.put(&json!({"stock": 2}), Wanted::Any, Some(1), "x").await;
    assert_eq!(
        put.expect("a reply"),
        Defined::Refused(scripts::DefineRefusal::Below { out: 3 })
    );
    assert_eq!(fixture.dump().await, before);
    assert_eq!(fixture.define(&json!({"stock": 3})).await, Defined::Changed(2));
    assert_eq!(fixture.snapshot().await.remaining(), 0);
    assert_eq!(
        fixture.define(&json!({"stock": 9_007_199_254_740_991_u64})).await,
        Defined::Changed(3)
    );
    assert_eq!(fixture.snapshot().await.remaining(), 9_007_199_254_740_988);
}

#[tokio::test]
async fn a_redis_that_lost_the_coupon_gets_no_new_one_of_its_name() {
    let fixture = CouponFixture::undefined(Arc::new(TestRedis::start().await)).await;
    let definition = definition(&json!({}));
    let wish = scripts::Define {
        definition: &definition,
        wanted: Wanted::Any,
        last_version: None,
        nonce: "x",
        history: "0123456789abcdef",
        by: &operator(),
    };
    let known = Mark::new(0, 5).expect("a mark");
    let put = scripts::define(&fixture.store, &fixture.keys, known, &wish, 7_200).await;
    assert!(
        matches!(put, Err(ScriptError::Behind { at: Mark::ZERO, .. })),
        "{put:?}"
    );
    assert!(fixture.dump().await.is_empty());
}

#[tokio::test]
async fn a_damaged_state_is_told_and_left_as_it_is() {
    let fixture = CouponFixture::with(&json!({})).await;
    for field in ["n", "stock", "seq", "window"] {
        let sound: String = fixture
            .raw(redis::cmd("HGET").arg(&fixture.keys.state).arg(field))
            .await;
        fixture
            .raw::<()>(redis::cmd("HSET").arg(&fixture.keys.state).arg(field).arg("1e3"))
            .await;
        let before = fixture.dump().await;
        let put = fixture.put(&json!({"name": "x"}), Wanted::Any, Some(1), "x").await;
        assert!(matches!(put, Err(ScriptError::Store(_))), "{put:?}");
        assert_eq!(fixture.dump().await, before);
        fixture
            .raw::<()>(redis::cmd("HSET").arg(&fixture.keys.state).arg(field).arg(sound))
            .await;
    }
    fixture.raw::<()>(redis::cmd("DEL").arg(&fixture.keys.events)).await;
    fixture
        .raw::<()>(redis::cmd("SET").arg(&fixture.keys.events).arg("no stream"))
        .await;
    let before = fixture.dump().await;
    let put = fixture.put(&json!({"name": "x"}), Wanted::Any, Some(1), "x").await;
    assert!(matches!(put, Err(ScriptError::Store(_))), "{put:?}");
    assert_eq!(fixture.dump().await, before, "the event is written first");
}
