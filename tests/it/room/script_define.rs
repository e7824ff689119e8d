//! `lua/room/define.lua`, `view.lua`, `status.lua` and `checkpoint.lua` on a real Redis.

use jackpot::room::scripts::{self, DefineRefusal, Defined, ScriptError, Wanted};
use jackpot_api::room::Status;
use jackpot_core::clock::rfc3339;
use jackpot_core::mark::Mark;

use crate::room::fixture::{RoomFixture, definition};
use crate::support::prelude::*;

#[tokio::test]
async fn a_room_is_created_as_it_was_defined() {
    let change = json!({"capacity": 7, "admissions_per_minute": 9, "opens_at": "2096-01-01T00:00:00Z"});
    let fixture = RoomFixture::with(&change).await;
    let snapshot = fixture.snapshot().await;
    assert_eq!(snapshot.definition, definition(&change).to_json());
    assert_eq!(snapshot.order.commitment, fixture.seed().commitment());
    assert_eq!(
        (snapshot.status, snapshot.version, snapshot.mark.n()),
        (Status::Open, 1, 1)
    );
    assert_eq!((snapshot.defined, snapshot.hold_ms), (1, None));
    assert_eq!((snapshot.collected, snapshot.collected_sha256.clone()), (0, None));
    assert_eq!(snapshot.opens_ms, Some(3_976_214_400_000));
    let fields = fixture.last_event("define").await;
    let told = [
        "mode",
        "version",
        "json",
        "commitment",
        "who",
        "request_id",
        "nonce",
        "order_nonce",
    ];
    let told = told.map(|field| fields[field].as_str());
    let (json, commitment) = (snapshot.definition.as_str(), snapshot.order.commitment.as_str());
    assert_eq!(told, ["created", "1", json, commitment, "tester", "r", "n0", "n0"]);
}

#[tokio::test]
async fn a_change_is_in_force_at_once_and_the_same_again_changes_nothing() {
    let fixture = RoomFixture::with(&json!({})).await;
    let change = json!({"capacity": 5, "session_s": 10});
    assert_eq!(fixture.define(&change).await, Defined::Changed(2));
    let snapshot = fixture.snapshot().await;
    assert_eq!((snapshot.version, snapshot.defined), (2, 1), "it opened by the first");
    let until: i64 = fixture.hash(&fixture.keys.state).await["passes_until"]
        .parse()
        .expect("a time");
    let longer = snapshot.now_ms + 300_000;
    assert!(
        (longer - 5_000..=longer + 1_000).contains(&until),
        "longer ones may be out"
    );
    assert_eq!(fixture.tick().await.session_ms, 10_000);
    let before = fixture.dump().await;
    assert_eq!(fixture.define(&change).await, Defined::Changed(2));
    assert_eq!(fixture.dump().await, before);
    assert_eq!(fixture.define(&json!({"session_s": 600})).await, Defined::Changed(3));
}

#[tokio::test]
async fn a_put_that_is_repeated_stale_or_not_wanted_changes_nothing() {
    let fixture = RoomFixture::with(&json!({})).await;
    fixture.define(&json!({"capacity": 3})).await;
    let before = fixture.dump().await;
    let put = async |change, wanted, last, nonce: &str| fixture.put(&change, wanted, last, nonce).await;
    let repeated = put(json!({}), Wanted::Absent, None, "n0").await;
    assert_eq!(repeated.expect("a reply"), Defined::Created(1));
    let stale = put(json!({"capacity": 4}), Wanted::Any, Some(1), "x").await;
    assert!(matches!(stale, Err(ScriptError::Stale)), "{stale:?}");
    for wanted in [Wanted::Absent, Wanted::Versions(vec![1])] {
        let put = put(json!({"capacity": 4}), wanted, Some(2), "x").await;
        assert_eq!(put.expect("a reply"), Defined::Mismatch);
    }
    assert_eq!(fixture.dump().await, before);
}

#[tokio::test]
async fn a_room_opens_once() {
    let in_an_hour = |now_ms: i64| rfc3339(now_ms + 3_600_000);
    let fixture = RoomFixture::with(&json!({"opens_at": "2096-01-01T00:00:00Z"})).await;
    let now_ms = fixture.snapshot().await.now_ms;
    let moved = json!({"opens_at": in_an_hour(now_ms)});
    assert_eq!(fixture.define(&moved).await, Defined::Changed(2));
    assert_eq!(fixture.snapshot().await.defined, 2);
    fixture.pass(3_601).await;
    let opened = fixture.snapshot().await;
    assert_eq!(opened.opens_ms, None);
    let again = json!({"opens_at": in_an_hour(now_ms + 5_000)});
    assert_eq!(fixture.define(&again).await, Defined::Refused(DefineRefusal::Opened));
    assert_eq!(fixture.define(&json!({"opens_at": null})).await, Defined::Changed(3));
    assert_eq!(fixture.snapshot().await.defined, 2, "by that it opened");
    assert_eq!(fixture.define(&again).await, Defined::Refused(DefineRefusal::Opened));
    // A room whose opening was taken away has opened with that; so has one that never had an opening.
    let fixture = RoomFixture::with(&moved).await;
    assert_eq!(fixture.define(&json!({"opens_at": null})).await, Defined::Changed(2));
    assert_eq!(fixture.snapshot().await.opens_ms, None);
    assert_eq!(fixture.define(&moved).await, Defined::Refused(DefineRefusal::Opened));
    let fixture = RoomFixture::with(&json!({})).await;
    assert_eq!(fixture.define(&moved).await, Defined::Refused(DefineRefusal::Opened));
}

#[tokio::test]
async fn an_opening_that_stays_as_it_is_may_stand_in_a_later_put() {
    let past = json!({"opens_at": "2020-01-01T00:00:00Z"});
    let fixture = RoomFixture::with(&past).await;
    assert_eq!(fixture.snapshot().await.opens_ms, None);
    let wider = json!({"opens_at": "2020-01-01T00:00:00Z", "capacity": 9});
    assert_eq!(fixture.define(&wider).await, Defined::Changed(2));
    assert_eq!(fixture.tick().await.capacity, 9);
}

#[tokio::test]
async fn the_service_suspends_opens_and_writes_down_what_redis_holds() {
    let fixture = RoomFixture::with(&json!({})).await;
    fixture.status(Status::Suspended).await;
    let event = fixture.last_event("status").await;
    assert_eq!(
        (event["before"].as_str(), event["after"].as_str()),
        ("open", "suspended")
    );
    let before = fixture.dump().await;
    fixture.status(Status::Suspended).await;
    assert_eq!(fixture.dump().await, before);
    let mark = scripts::checkpoint(&fixture.store, &fixture.keys, Mark::ZERO).await;
    assert_eq!(mark.expect("a reply").n(), 3);
    let state = fixture.hash(&fixture.keys.state).await;
    let held = format!(
        "suspended 1 2 300000 60000 - {} 0 {} -",
        state["opens"], state["commitment"]
    );
    assert_eq!(fixture.last_event("checkpoint").await["state"], held);
    assert_eq!(fixture.snapshot().await.decides, held);
    fixture.define(&json!({"capacity": 9})).await;
    assert_eq!(fixture.snapshot().await.status, Status::Suspended);
    fixture.status(Status::Open).await;
    assert_eq!(fixture.snapshot().await.status, Status::Open);
}
