//! `lua/coupon/retire.lua` on a real Redis.

use jackpot::coupon::scripts::{self, Acted, AskReply, DefineRefusal, Defined, Refusal, Retired, Served, StatusSet};
use jackpot_api::coupon::Status;
use jackpot_core::mark::Mark;

use crate::coupon::fixture::{CouponFixture, ask, with_codes};
use crate::support::prelude::*;

const OVER: &str = "2020-01-01T00:00:00Z";

async fn retire(fixture: &CouponFixture, ledger_n: u64, retention_s: u64) -> Retired {
    scripts::retire(&fixture.store, &fixture.keys, Mark::ZERO, ledger_n, retention_s)
        .await
        .expect("a reply")
        .1
}

async fn last_n(fixture: &CouponFixture) -> u64 {
    fixture.snapshot().await.mark.n()
}

#[tokio::test]
async fn a_coupon_that_is_over_leaves_its_state_and_its_stream() {
    let fixture = CouponFixture::with(&json!({})).await;
    fixture.drop_at_once().await;
    fixture.now("a", "u").await;
    fixture.join("b", "v").await;
    fixture.wear_out().await;
    fixture.define(&json!({"ends_at": OVER})).await;
    let n = last_n(&fixture).await;
    assert_eq!(retire(&fixture, n, 0).await, Retired::Done);
    let (kind, fields) = fixture.events().await.pop().expect("an event");
    let told = ["n", "requests", "queued", "dead"].map(|field| fields[field].clone());
    assert_eq!(
        (kind.as_str(), told),
        ("retire", [(n + 1).to_string(), "2".into(), "0".into(), "1".into()])
    );
    let dump = fixture.dump().await;
    assert_eq!(
        dump.keys().collect::<Vec<_>>(),
        [&fixture.keys.events, &fixture.keys.state]
    );
    let snapshot = fixture.snapshot().await;
    assert_eq!((snapshot.status, snapshot.issued, snapshot.dead), (Status::Ended, 1, 0));

    // It is retired for good, and every request gets that answer.
    let asked = fixture.issue(&[ask("a", "u")]).await;
    assert_eq!(
        (asked.refusal, &asked.answers[0]),
        (Some(Refusal::Ended), &AskReply::NotTaken)
    );
    assert_eq!(
        fixture.define(&json!({"name": "again"})).await,
        Defined::Refused(DefineRefusal::Ended)
    );
    assert_eq!(fixture.void("a").await, Acted::Stopped(Refusal::Ended));
    assert_eq!(fixture.redrive("b").await, Acted::Stopped(Refusal::Ended));
    assert_eq!(fixture.lookup("a").await, None);
    let served = fixture.serve("one", "t", &with_codes(["b"]), 1).await;
    assert!(
        matches!(
            served,
            Served::Stopped {
                refusal: Refusal::Ended,
                ..
            }
        ),
        "{served:?}"
    );
    for wanted in [Status::Open, Status::Suspended] {
        assert!(matches!(
            fixture.status(wanted).await,
            StatusSet::Stays(_, Status::Ended)
        ));
    }
    assert_eq!(retire(&fixture, n, 0).await, Retired::Done, "again");
    assert_eq!(fixture.dump().await, dump);
}

#[tokio::test]
async fn nothing_is_dropped_too_early() {
    let fixture = CouponFixture::with(&json!({})).await;
    fixture.drop_at_once().await;
    fixture.now("a", "u").await;
    let before = fixture.dump().await;
    let endless = Retired::NotOver {
        left_ms: None,
        retention_s: 0,
    };
    assert_eq!(retire(&fixture, 2, 0).await, endless, "without an end");
    assert_eq!(fixture.dump().await, before);

    fixture.define(&json!({"ends_at": "2990-01-01T00:00:00Z"})).await;
    let early = retire(&fixture, 3, 0).await;
    assert!(
        matches!(early, Retired::NotOver { left_ms: Some(ms), .. } if ms > 1_000_000),
        "{early:?}"
    );
    fixture.join("b", "v").await;
    fixture.define(&json!({"ends_at": OVER})).await;
    let n = last_n(&fixture).await;
    let before = fixture.dump().await;
    assert_eq!(retire(&fixture, n, 0).await, Retired::Line(1));
    assert_eq!(fixture.dump().await, before);

    fixture.served("one", "t", &with_codes(["b"]), 0).await;
    let before = fixture.dump().await;
    for ledger_n in [n, n + 2] {
        assert_eq!(retire(&fixture, ledger_n, 0).await, Retired::Ledger, "{ledger_n}");
    }
    assert_eq!(fixture.dump().await, before);
    fixture.status(Status::Suspended).await;
    let before = fixture.dump().await;
    assert_eq!(retire(&fixture, n + 2, 0).await, Retired::Suspended);
    assert_eq!(fixture.dump().await, before);
    fixture.status(Status::Open).await;
    assert_eq!(retire(&fixture, n + 3, 0).await, Retired::Done);
}

/// The retention does not count from the end. An end that was put into the past drops nothing that was answered a
/// moment ago.
#[tokio::test]
async fn the_retention_is_counted_from_when_this_definition_was_found_over() {
    const HOUR_S: u64 = 3_600;
    let fixture = CouponFixture::with(&json!({})).await;
    fixture.drop_at_once().await;
    fixture.now("a", "u").await;
    fixture.define(&json!({"ends_at": OVER})).await;
    let look = async |retention_s| retire(&fixture, last_n(&fixture).await, retention_s).await;
    let left = async || match look(HOUR_S).await {
        Retired::NotOver {
            left_ms: Some(left),
            retention_s: HOUR_S,
        } => left,
        other => panic!("{other:?}"),
    };
    assert_eq!(look(HOUR_S).await, Retired::Raised(0));
    assert_eq!(left().await, HOUR_S * 1_000, "found now");
    assert!(left().await <= HOUR_S * 1_000);
    // The time since the last look counts, and of a long one a minute.
    let before = left().await;
    for (looked_s, counted_ms) in [(30, 30_000..40_000), (3_600, 60_000..60_001)] {
        let held = left().await;
        let mut back = redis::cmd("HINCRBY");
        back.arg(&fixture.keys.state).arg("over_looked").arg(-1_000 * looked_s);
        fixture.raw::<i64>(&mut back).await;
        assert!(counted_ms.contains(&(held - left().await)), "{looked_s} s");
    }
    assert!(left().await <= before - 90_000);
    assert!(fixture.lookup("a").await.is_some());

    // The count starts anew with another definition, and with one that is not over for a while.
    let age = |ms: u64| {
        let state = &fixture.keys.state;
        redis::cmd("HSET").arg(state).arg("over_age").arg(ms).to_owned()
    };
    fixture.raw::<u64>(&mut age(HOUR_S * 1_000 - 60_000)).await;
    assert!(left().await <= 60_000);
    fixture.define(&json!({"ends_at": "2021-01-01T00:00:00Z"})).await;
    assert_eq!(left().await, HOUR_S * 1_000);
    fixture.raw::<u64>(&mut age(HOUR_S * 1_000 - 60_000)).await;
    fixture.define(&json!({"ends_at": "2990-01-01T00:00:00Z"})).await;
    left().await;
    assert!(!fixture.hash(&fixture.keys.state).await.contains_key("over_age"));
    fixture.define(&json!({"ends_at": OVER})).await;
    fixture.raw::<u64>(&mut age(0)).await;
    assert_eq!(left().await, HOUR_S * 1_000);
    fixture.raw::<u64>(&mut age(HOUR_S * 1_000)).await;
    assert_eq!(
        look(60).await,
        Retired::Done,
        "whatever a shorter setting says, it is over now"
    );
}
