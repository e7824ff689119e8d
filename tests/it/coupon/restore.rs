//! `lua/coupon/restore_end.lua` on a real Redis, after the begin and the records that it shares with jackpots.

use std::collections::BTreeMap;

use jackpot::coupon::scripts::{Part, RestoredState, ScriptError, restore_end};
use jackpot::operator::Operator;
use jackpot::subject::restore::{RestoreBegun, RestoreEnded, restore_begin, restore_records};
use jackpot_api::coupon::Status;
use jackpot_core::mark::Mark;

use crate::coupon::fixture::{CouponFixture, code, definition, letters};
use crate::support::prelude::*;

fn state(written: &[(Part, u64)]) -> RestoredState {
    let definition = definition(&json!({"per_user_window_s": 60}));
    RestoredState {
        n: 7,
        restores: 2,
        status: Status::Open,
        held: None,
        history: "0123456789abcdef".to_owned(),
        version: 3,
        json: definition.to_json(),
        definition,
        sequence: 1,
        voided: 0,
        redeemed: 0,
        arrivals: 2,
        retention_s: 7_200,
        puts: "abc created 1;".to_owned(),
        written: written.iter().copied().collect::<BTreeMap<_, _>>(),
    }
}

async fn begin(fixture: &CouponFixture, token: &str, expected: Option<Mark>) -> RestoreBegun {
    let begun = restore_begin(&fixture.store, fixture.keys.all(), token, expected, None).await;
    begun.expect("a reply")
}

async fn write(fixture: &CouponFixture, token: &str, part: Part, pairs: &[(&str, &str)]) -> bool {
    let pairs: Vec<_> = pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
    let (state, key) = (&fixture.keys.state, part.key(&fixture.keys));
    let written = restore_records(&fixture.store, state, key, token, part.is_sorted(), &pairs).await;
    written.expect("a reply")
}

async fn end(fixture: &CouponFixture, token: &str, state: &RestoredState) -> Result<RestoreEnded, ScriptError> {
    let by = Operator {
        who: "tester".to_owned(),
        owner: "tester".to_owned(),
        request_id: "r".to_owned(),
    };
    restore_end(&fixture.store, &fixture.keys, token, state, &by, "a test").await
}

/// Writes three requests: one issued, one in the queue, one dead.
async fn write_all(fixture: &CouponFixture, token: &str) -> RestoredState {
    let issued = format!("i 1 5 {} u1", code());
    let requests = [("a", issued.as_str()), ("q", "q 2 0 - 6 u2"), ("d", "d 1 3 6 u3")];
    assert!(write(fixture, token, Part::Requests, &requests).await);
    assert!(write(fixture, token, Part::Users, &[("u1", "a 5;")]).await);
    assert!(write(fixture, token, Part::Queue, &[("q", "2")]).await);
    assert!(write(fixture, token, Part::Dead, &[("d", "1")]).await);
    state(&[(Part::Requests, 3), (Part::Users, 1), (Part::Queue, 1), (Part::Dead, 1)])
}

#[tokio::test]
async fn a_restored_coupon_goes_on_and_a_repeat_of_its_end_changes_nothing() {
    let fixture = CouponFixture::with(&json!({})).await;
    fixture.now("lost", "u9").await;
    let seen = fixture.snapshot().await.mark;
    assert!(matches!(
        begin(&fixture, "t", Some(seen)).await,
        RestoreBegun::Begun { .. }
    ));
    let state = write_all(&fixture, "t").await;
    let mark = Mark::new(3, 8).expect("a mark");
    assert_eq!(
        end(&fixture, "t", &state).await.expect("a reply"),
        RestoreEnded::Done(mark)
    );
    let kept = fixture.hash(&fixture.keys.state).await;
    for (field, value) in [
        ("window", "60000"),
        ("starts", ""),
        ("stock", "10"),
        ("puts", "abc created 1;"),
    ] {
        assert_eq!(kept[field], value, "{field}");
    }
    assert!(!kept.contains_key("restore_from") && !kept.contains_key("consumer"));
    let (kind, event) = fixture.events().await.pop().expect("an event");
    assert_eq!(kind, "restore");
    for (field, value) in [
        ("n", "8"),
        ("from_n", "2"),
        ("restores", "3"),
        ("records", "3"),
        ("status", "open"),
    ] {
        assert_eq!(event[field], value, "{field}");
    }
    let before = fixture.dump().await;
    assert_eq!(
        end(&fixture, "t", &state).await.expect("a reply"),
        RestoreEnded::Done(mark)
    );
    assert_eq!(fixture.dump().await, before);
    assert!(!write(&fixture, "t", Part::Requests, &[("late", "o 1 u")]).await);
    assert_eq!(fixture.dump().await, before);
    let snapshot = fixture.snapshot().await;
    assert_eq!(
        (snapshot.mark, snapshot.issued, snapshot.queued, snapshot.dead),
        (mark, 1, 1, 1)
    );
    assert_eq!(fixture.join("new", "u4").await, 1, "behind the one in the queue");
    assert_eq!(letters(&[fixture.now("a", "u1").await]), "i");
}

#[tokio::test]
async fn what_is_refused_leaves_everything_as_it_was() {
    let fixture = CouponFixture::with(&json!({})).await;
    fixture.now("a", "u1").await;
    let (seen, before) = (fixture.snapshot().await.mark, fixture.dump().await);
    let older = Mark::new(0, 1).expect("a mark");
    for expected in [None, Some(older)] {
        assert_eq!(begin(&fixture, "t", expected).await, RestoreBegun::Changed(seen));
    }
    assert_eq!(
        end(&fixture, "t", &state(&[])).await.expect("a reply"),
        RestoreEnded::Other
    );
    assert!(!write(&fixture, "t", Part::Dead, &[("d", "1")]).await);
    assert_eq!(fixture.dump().await, before);

    assert!(matches!(
        begin(&fixture, "t", Some(seen)).await,
        RestoreBegun::Begun { .. }
    ));
    let whole = write_all(&fixture, "t").await;
    let before = fixture.dump().await;
    for part in [Part::Requests, Part::Users, Part::Queue, Part::Dead] {
        let mut lacking = whole.clone();
        *lacking.written.entry(part).or_default() += 1;
        let ended = end(&fixture, "t", &lacking).await.expect("a reply");
        assert_eq!(ended, RestoreEnded::Incomplete, "{part:?}");
    }
    assert_eq!(
        end(&fixture, "other", &whole).await.expect("a reply"),
        RestoreEnded::Other
    );
    let beyond = RestoredState {
        sequence: 1 << 53,
        ..whole.clone()
    };
    end(&fixture, "t", &beyond)
        .await
        .expect_err("a number that Lua does not hold");
    let last = RestoredState {
        restores: 8_191,
        ..whole.clone()
    };
    end(&fixture, "t", &last)
        .await
        .expect_err("no number of a restore is left");
    assert_eq!(fixture.dump().await, before);

    // Another restore takes over what was begun, whatever is there.
    assert!(matches!(
        begin(&fixture, "next", None).await,
        RestoreBegun::Begun { .. }
    ));
    assert!(
        !write(&fixture, "t", Part::Users, &[("u", "a 1;")]).await,
        "the first writes no more"
    );
    let ended = end(&fixture, "next", &state(&[])).await.expect("a reply");
    assert_eq!(ended, RestoreEnded::Done(Mark::new(3, 8).expect("a mark")));
    assert_eq!(fixture.snapshot().await.queued, 0, "nothing of the first is left");
}

#[tokio::test]
async fn while_it_is_restored_every_other_script_says_so() {
    let fixture = CouponFixture::with(&json!({})).await;
    let seen = fixture.snapshot().await.mark;
    begin(&fixture, "t", Some(seen)).await;
    let (store, keys) = (&fixture.store, &fixture.keys);
    let refused = [
        jackpot::coupon::scripts::snapshot(store, keys, seen).await.map(drop),
        jackpot::coupon::scripts::checkpoint(store, keys, seen).await.map(drop),
        jackpot::coupon::scripts::lookup(store, keys, seen, "a").await.map(drop),
    ];
    for refused in refused {
        assert!(matches!(refused, Err(ScriptError::Restoring)), "{refused:?}");
    }
    let unknown = CouponFixture::undefined(fixture.redis.clone()).await;
    let ended = end(&unknown, "t", &state(&[])).await;
    assert!(matches!(ended, Err(ScriptError::Unknown)), "{ended:?}");
}
