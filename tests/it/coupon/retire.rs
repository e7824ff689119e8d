//! `lua/coupon/retire.lua` on a real Redis.

use jackpot::coupon::scripts::{
    self, AskReply, DefineRefusal, Defined, Redriven, Refusal, Retired, Served, StatusSet, Voided,
};
use jackpot::coupon::status::Status;
use jackpot_core::mark::Mark;
use serde_json::json;

use crate::coupon::fixture::{CouponBench, ask, with_codes};

const OVER: &str = "2020-01-01T00:00:00Z";

async fn retire(bench: &CouponBench, ledger_n: u64, retention_s: u64) -> Retired {
    scripts::retire(&bench.store, &bench.keys, Mark::ZERO, ledger_n, retention_s)
        .await
        .expect("a reply")
        .1
}

async fn last_n(bench: &CouponBench) -> u64 {
    bench.snapshot().await.mark.n()
}

#[tokio::test]
async fn a_coupon_that_is_over_leaves_its_state_and_its_stream() {
    let bench = CouponBench::with(&json!({})).await;
    bench.drop_at_once().await;
    bench.now("a", "u").await;
    bench.join("b", "v").await;
    bench.wear_out().await;
    bench.define(&json!({"ends_at": OVER})).await;
    let n = last_n(&bench).await;
    assert_eq!(retire(&bench, n, 0).await, Retired::Done);
    let (kind, fields) = bench.events().await.pop().expect("an event");
    let told = ["n", "requests", "queued", "dead"].map(|field| fields[field].clone());
    assert_eq!(
        (kind.as_str(), told),
        ("retire", [(n + 1).to_string(), "2".into(), "0".into(), "1".into()])
    );
    let dump = bench.dump().await;
    let left = dump
        .iter()
        .filter(|(_, bytes)| bytes.is_some())
        .map(|(key, _)| key.clone());
    assert_eq!(
        left.collect::<Vec<_>>(),
        [bench.keys.events.clone(), bench.keys.state.clone()]
    );
    let snapshot = bench.snapshot().await;
    assert_eq!((snapshot.status, snapshot.issued, snapshot.dead), (Status::Ended, 1, 0));

    // It is retired for good, and every request gets that answer.
    let asked = bench.issue(&[ask("a", "u")]).await;
    assert_eq!(
        (asked.refusal, &asked.answers[0]),
        (Some(Refusal::Ended), &AskReply::NotTaken)
    );
    assert_eq!(
        bench.define(&json!({"name": "again"})).await,
        Defined::Refused(DefineRefusal::Ended)
    );
    assert_eq!(bench.void("a").await, Voided::Stopped(Refusal::Ended));
    assert_eq!(bench.redrive("b").await, Redriven::Stopped(Refusal::Ended));
    assert_eq!(bench.lookup("a").await, None);
    let served = bench.serve("one", "t", &with_codes(["b"]), 1).await;
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
        assert!(matches!(bench.status(wanted).await, StatusSet::Stays(_, Status::Ended)));
    }
    assert_eq!(retire(&bench, n, 0).await, Retired::Done, "again");
    assert_eq!(bench.dump().await, dump);
}

#[tokio::test]
async fn nothing_is_dropped_too_early() {
    let bench = CouponBench::with(&json!({})).await;
    bench.drop_at_once().await;
    bench.now("a", "u").await;
    let before = bench.dump().await;
    let endless = Retired::NotOver {
        left_ms: None,
        retention_s: 0,
    };
    assert_eq!(retire(&bench, 2, 0).await, endless, "without an end");
    assert_eq!(bench.dump().await, before);

    bench.define(&json!({"ends_at": "2990-01-01T00:00:00Z"})).await;
    let early = retire(&bench, 3, 0).await;
    assert!(
        matches!(early, Retired::NotOver { left_ms: Some(ms), .. } if ms > 1_000_000),
        "{early:?}"
    );
    bench.join("b", "v").await;
    bench.define(&json!({"ends_at": OVER})).await;
    let n = last_n(&bench).await;
    let before = bench.dump().await;
    assert_eq!(retire(&bench, n, 0).await, Retired::Line(1));
    assert_eq!(bench.dump().await, before);

    bench.served("one", "t", &with_codes(["b"]), 0).await;
    let before = bench.dump().await;
    for ledger_n in [n, n + 2] {
        assert_eq!(retire(&bench, ledger_n, 0).await, Retired::Ledger, "{ledger_n}");
    }
    assert_eq!(bench.dump().await, before);
    bench.status(Status::Suspended).await;
    let before = bench.dump().await;
    assert_eq!(retire(&bench, n + 2, 0).await, Retired::Suspended);
    assert_eq!(bench.dump().await, before);
    bench.status(Status::Open).await;
    assert_eq!(retire(&bench, n + 3, 0).await, Retired::Done);
}

/// The retention does not count from the end. An end that was put into the past drops nothing that was answered a
/// moment ago.
#[tokio::test]
async fn the_retention_is_counted_from_when_this_definition_was_found_over() {
    const HOUR_S: u64 = 3_600;
    let bench = CouponBench::with(&json!({})).await;
    bench.drop_at_once().await;
    bench.now("a", "u").await;
    bench.define(&json!({"ends_at": OVER})).await;
    let look = async |retention_s| retire(&bench, last_n(&bench).await, retention_s).await;
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
    assert!(bench.lookup("a").await.is_some());

    // The count starts anew with another definition, and with one that is not over for a while.
    let age = |ms: u64| {
        let state = &bench.keys.state;
        redis::cmd("HSET").arg(state).arg("over_age").arg(ms).to_owned()
    };
    bench.raw::<u64>(&mut age(HOUR_S * 1_000 - 60_000)).await;
    assert!(left().await <= 60_000);
    bench.define(&json!({"ends_at": "2021-01-01T00:00:00Z"})).await;
    assert_eq!(left().await, HOUR_S * 1_000);
    bench.raw::<u64>(&mut age(HOUR_S * 1_000 - 60_000)).await;
    bench.define(&json!({"ends_at": "2990-01-01T00:00:00Z"})).await;
    left().await;
    assert!(!bench.hash(&bench.keys.state).await.contains_key("over_age"));
    bench.define(&json!({"ends_at": OVER})).await;
    bench.raw::<u64>(&mut age(0)).await;
    assert_eq!(left().await, HOUR_S * 1_000);
    bench.raw::<u64>(&mut age(HOUR_S * 1_000)).await;
    assert_eq!(
        look(60).await,
        Retired::Done,
        "whatever a shorter setting says, it is over now"
    );
}
