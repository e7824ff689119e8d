//! Clocks that jump: Redis' clock is moved by shifting every time that a script has stored.

use jackpot::coupon::record::State;
use jackpot::coupon::scripts::{Retired, Served};
use jackpot::jackpot::scripts::{self, Rotate, Rotated};
use jackpot_core::mark::Mark;

use crate::coupon::fixture::{CouponFixture, ask_queue, letters, state_of, with_codes};
use crate::coupon::http::support as coupons;
use crate::fault::support::{create, lively};
use crate::jackpot::by_hand;
use crate::jackpot::fixture::JackpotFixture;
use crate::support::prelude::*;

const HOURS_9_MS: i64 = 9 * 3_600_000;

/// Adds `by_ms` to every time in ms in a text field. To the scripts the clock then jumps the other way.
fn shifted(text: &str, by_ms: i64) -> String {
    let is_time = |number: i64| number > 1_500_000_000_000;
    let mut out = String::new();
    for part in text.split_inclusive([' ', ';']) {
        let number = part.trim_end_matches([' ', ';']);
        match number.parse::<i64>() {
            Ok(time) if is_time(time) => {
                out.push_str(&(time + by_ms).to_string());
                out.push_str(&part[number.len()..]);
            }
            _ => out.push_str(part),
        }
    }
    out
}

/// Shifts the times in the state of a jackpot.
async fn shift_state(raw: &mut redis::aio::MultiplexedConnection, state: &str, by_ms: i64) {
    let all: Vec<(String, String)> = by_hand::all(state).query_async(raw).await.expect("a state");
    for (name, text) in all {
        let set = by_hand::set(state, &name, &shifted(&text, by_ms));
        set.exec_async(raw).await.expect("set");
    }
}

/// Shifts the times in all values of a hash.
async fn shift(raw: &mut redis::aio::MultiplexedConnection, key: &str, by_ms: i64) {
    let all: Vec<(String, String)> = redis::cmd("HGETALL").arg(key).query_async(raw).await.expect("a hash");
    for (field, text) in all {
        redis::cmd("HSET")
            .arg(key)
            .arg(field)
            .arg(shifted(&text, by_ms))
            .exec_async(raw)
            .await
            .expect("HSET");
    }
}

async fn rotate(fixture: &JackpotFixture, retention_s: u64) -> Rotated {
    let (known, view) = fixture.fresh().await;
    let next = fixture
        .operate
        .views
        .opening(&fixture.id, view.epoch + 1)
        .expect("randomness");
    let why = Rotate::Retention { retention_s };
    scripts::rotate(&fixture.store, &known.keys, &known.fence(&view), &next, &why)
        .await
        .expect("a reply")
        .1
}

#[tokio::test]
async fn a_consumers_lease_that_ends_later_than_it_can_is_over() {
    let fixture = CouponFixture::with(&json!({})).await;
    fixture.issue(&[ask_queue("a", "u")]).await;
    fixture.served("one", "t1", &[], 1).await;
    let held = fixture.serve("two", "t2", &[], 1).await;
    assert!(matches!(held, Served::Held { .. }), "{held:?}");
    // The clock was set back by nine hours, and its consumer died.
    shift(&mut fixture.connection(), &fixture.keys.state, HOURS_9_MS).await;
    let (_, taken) = fixture.served("two", "t2", &[], 1).await;
    assert_eq!(taken.len(), 1);
    fixture.served("two", "t3", &with_codes(["a"]), 0).await;
    assert!(fixture.lookup("a").await.is_some());
    assert_eq!(fixture.snapshot().await.issued, 1);
}

#[tokio::test]
async fn a_pending_entry_from_the_future_is_old_enough_to_be_finished() {
    let fixture = JackpotFixture::with(&json!({})).await;
    fixture.take("e", 3).await;
    let keys = &fixture.keys;
    let found = async |age_ms| {
        let page = scripts::pending(&fixture.store, keys, Mark::ZERO, 0, age_ms, 100).await;
        page.expect("a page").entries.len()
    };
    assert_eq!((found(0).await, found(60_000).await), (1, 0));
    shift(&mut fixture.connection(), &keys.seen_a, HOURS_9_MS).await;
    assert_eq!(found(60_000).await, 1, "the clock was set back");
    shift(&mut fixture.connection(), &keys.seen_a, -HOURS_9_MS - 60_000).await;
    assert_eq!(found(60_000).await, 1, "a minute later");
}

/// A clock that was set back gives nobody two units within a window. Nobody waits for the hours of the jump either.
#[tokio::test]
async fn an_issue_from_the_future_counts_from_when_it_is_seen() {
    let fixture = CouponFixture::with(&json!({"per_user_window_s": 60})).await;
    fixture.now("a", "u").await;
    shift(&mut fixture.connection(), &fixture.keys.users, HOURS_9_MS).await;
    let refused = fixture.now("b", "u").await;
    assert_eq!(letters(std::slice::from_ref(&refused)), "a");
    assert!(matches!(state_of(&refused, "u"), State::AlreadyIssued { first, .. } if first == "a"));
    // By that clock it is a minute later.
    shift(&mut fixture.connection(), &fixture.keys.users, -60_000).await;
    let issued = fixture.now("c", "u").await;
    assert_eq!(letters(&[issued]), "i");
    let held = fixture.hash(&fixture.keys.users).await;
    assert!(held["u"].starts_with("c ") && !held["u"].contains("a "), "{held:?}");

    // The same in the queue.
    fixture.issue(&[ask_queue("d", "v"), ask_queue("e", "v")]).await;
    fixture.served("one", "t1", &[], 2).await;
    fixture.served("one", "t2", &with_codes(["d"]), 0).await;
    shift(&mut fixture.connection(), &fixture.keys.users, HOURS_9_MS).await;
    fixture.served("one", "t3", &[], 1).await;
    fixture.served("one", "t4", &with_codes(["e"]), 0).await;
    shift(&mut fixture.connection(), &fixture.keys.users, -60_000).await;
    assert_eq!(letters(&[fixture.now("f", "v").await]), "i");
    assert_eq!(letters(&[fixture.now("g", "v").await]), "a");
}

#[tokio::test]
async fn an_instance_with_a_shorter_retention_drops_nothing_early() {
    let fixture = JackpotFixture::with(&json!({})).await;
    fixture.take("e", 0).await;
    let keys = &fixture.keys;
    assert_eq!(rotate(&fixture, 7_200).await, Rotated::Raised(0));
    for _ in 0..3 {
        rotate(&fixture, 60).await;
        shift_state(&mut fixture.connection(), &keys.state, -60_000).await;
    }
    let early = rotate(&fixture, 60).await;
    assert!(!matches!(early, Rotated::Opened(_)), "{early:?}");
    assert_eq!(fixture.snapshot().await.epoch, 1);
}

#[tokio::test]
async fn a_clock_that_jumps_drops_no_record_early() {
    let fixture = JackpotFixture::with(&json!({})).await;
    fixture.take("e", 0).await;
    let keys = &fixture.keys;
    rotate(&fixture, 7_200).await;
    rotate(&fixture, 7_200).await;
    shift_state(&mut fixture.connection(), &keys.state, -3 * 3_600_000).await;
    for _ in 0..2 {
        let early = rotate(&fixture, 7_200).await;
        // Each look counts a minute at most: both together count two.
        assert!(
            matches!(early, Rotated::Early { left_ms, .. } if left_ms >= 7_080_000),
            "{early:?}"
        );
    }
    // A clock that goes back does not either: it only delays.
    shift_state(&mut fixture.connection(), &keys.state, 9 * 3_600_000).await;
    let early = rotate(&fixture, 7_200).await;
    assert!(
        matches!(early, Rotated::Early { left_ms, .. } if left_ms >= 7_080_000),
        "{early:?}"
    );
    for _ in 0..120 {
        shift_state(&mut fixture.connection(), &keys.state, -60_000).await;
        rotate(&fixture, 7_200).await;
    }
    assert_eq!(fixture.snapshot().await.epoch, 2, "two hours in steps of a minute");
}

#[tokio::test]
async fn neither_does_a_coupons() {
    let fixture = CouponFixture::with(&json!({})).await;
    fixture.now("a", "u").await;
    fixture.define(&json!({"ends_at": "2020-01-01T00:00:00Z"})).await;
    let retire = async |retention_s| {
        let n = fixture.snapshot().await.mark.n();
        let keys = &fixture.keys;
        jackpot::coupon::scripts::retire(&fixture.store, keys, Mark::ZERO, n, retention_s)
            .await
            .expect("a reply")
            .1
    };
    retire(7_200).await;
    shift(&mut fixture.connection(), &fixture.keys.state, -3 * 3_600_000).await;
    for (shorter, left) in [(7_200, 7_140_000), (60, 7_080_000), (60, 7_020_000)] {
        let early = retire(shorter).await;
        let is_left = |ms: u64| (left - 10_000..=left).contains(&ms);
        assert!(
            matches!(early, Retired::NotOver { left_ms: Some(ms), retention_s: 7_200 } if is_left(ms)),
            "{early:?}"
        );
        shift(&mut fixture.connection(), &fixture.keys.state, -60_000).await;
    }
    assert!(fixture.lookup("a").await.is_some());
    // The clock jumps back and forth again.
    shift(&mut fixture.connection(), &fixture.keys.state, HOURS_9_MS).await;
    for _ in 0..117 {
        retire(60).await;
        shift(&mut fixture.connection(), &fixture.keys.state, -60_000).await;
    }
    assert_eq!(retire(60).await, Retired::Done, "two hours in steps of a minute");
}

/// The setting of an instance raises what a jackpot and a coupon promise, and never lowers it.
#[tokio::test]
async fn the_longest_setting_of_any_instance_is_kept_in_redis() {
    const SETTINGS: [&str; 2] = ["JACKPOT__FAIRNESS__RETENTION_S", "JACKPOT__COUPONS__RETENTION_S"];
    let redis = own_redis(&[]).await;
    let mut service = service_on(redis.url(), &SETTINGS.map(|name| (name, "7200"))).await;
    create(&service, lively("kept")).await;
    coupons::create(&service, "kept", 3, &json!({})).await;
    let kept = async |retention: &str| {
        for state in ["jp:{kept}:state", "cp:{kept}:state"] {
            eventually(PATIENCE, &format!("{state} has {retention}"), async || {
                let get = by_hand::get(state, "retention");
                let found: String = get.query_async(&mut redis.connection().await).await.expect("HGET");
                (found == retention).then_some(())
            })
            .await;
        }
    };
    kept("7200").await;
    for name in SETTINGS {
        service.set(name, "60");
    }
    assert!(service.stop().await.success());
    service.restart().await;
    eventually(PATIENCE, "both warn, with both numbers", async || {
        let log = service.log();
        let warned = |own: &str| {
            log.lines().any(|line| {
                line.contains("longer than this instance's setting") && line.contains(own) && line.contains("7200")
            })
        };
        (warned("fairness_retention_s") && warned("coupons_retention_s")).then_some(())
    })
    .await;
    kept("7200").await;
    for name in SETTINGS {
        service.set(name, "86400");
    }
    assert!(service.stop().await.success());
    service.restart().await;
    kept("86400").await;
    let reconciled = service.get("/v1/reconciliation").await;
    assert_eq!(reconciled.status, reqwest::StatusCode::OK, "{}", reconciled.text);
}
