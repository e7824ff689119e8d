//! `lua/subject/emergency.lua` and `emergency_decision.lua` on a real Redis.

use std::collections::BTreeMap;

use jackpot::coupon::scripts::{Ask, Mode, Refusal};
use jackpot::store::Store;
use jackpot::subject::Registry;
use jackpot::subject::emergency::{Decision, Obedience, Obeys as _, last_in_redis, next_order, write_in_redis};
use jackpot::subject::engine::Operated;
use jackpot::subject::restore::{RestoreBegun, restore_begin};
use jackpot::{coupon, jackpot as jackpots, room};
use jackpot_core::ids::PersonId;
use jackpot_core::mark::Mark;

use crate::coupon::fixture::{CouponFixture, code};
use crate::jackpot::fixture::JackpotFixture;
use crate::room::fixture::RoomFixture;
use crate::support::fixture::{Capability, Fields, Fixture};
use crate::support::prelude::*;

fn decision(order: u64) -> Decision {
    Decision {
        order,
        reason: format!("reason {order}"),
        at_ms: 1_000,
        who: "tester".to_owned(),
        request_id: "r".to_owned(),
    }
}

/// A subject and what an instance knows of its kind.
struct Given<K, C> {
    fixture: Fixture<C>,
    registry: Registry<K>,
}

impl<K: Operated, C: Capability> Given<K, C> {
    fn of(fixture: Fixture<C>) -> Self {
        let registry = Registry::new(fixture.store.clone());
        Self { fixture, registry }
    }

    async fn obey(&self, order: u64) -> Obedience {
        let decision = decision(order);
        self.registry.obey(&self.fixture.id, &decision).await.expect("a reply")
    }

    /// Status, decision and number of the last event.
    async fn state(&self) -> [String; 3] {
        let state = self.fixture.state().await;
        ["status", "emergency", "n"].map(|field| state.get(field).cloned().unwrap_or_default())
    }

    async fn unchanged(&self, order: u64, expected: Obedience) {
        let before = self.fixture.dump().await;
        assert_eq!(self.obey(order).await, expected, "{order}");
        assert_eq!(self.fixture.dump().await, before, "{order}");
    }
}

fn texts(texts: [&str; 3]) -> [String; 3] {
    texts.map(str::to_owned)
}

async fn obeys<K: Operated, C: Capability>(fixture: Fixture<C>) {
    let given = Given::<K, C>::of(fixture);
    assert_eq!(given.state().await, texts(["open", "", "1"]));
    // Nothing stops it: a start needs no event.
    assert_eq!(given.obey(2).await, Obedience::Obeys);
    assert_eq!(given.state().await, texts(["open", "2 reason 2", "1"]));
    given.unchanged(1, Obedience::Newer).await;

    assert_eq!(given.obey(3).await, Obedience::Obeys);
    assert_eq!(given.state().await, texts(["stopped open", "3 reason 3", "2"]));
    let event = given.fixture.last_event("emergency").await;
    let of = |names: [&str; 5]| names.map(|name| event[name].clone());
    assert_eq!(
        of(["stopped", "decision", "reason", "who", "request_id"]),
        ["1", "3", "reason 3", "tester", "r"].map(str::to_owned)
    );
    given.unchanged(3, Obedience::Obeys).await;
    given.unchanged(2, Obedience::Newer).await;
    // Another reason.
    assert_eq!(given.obey(5).await, Obedience::Obeys);
    assert_eq!(given.state().await, texts(["stopped open", "5 reason 5", "3"]));

    assert_eq!(given.obey(6).await, Obedience::Obeys);
    assert_eq!(given.state().await, texts(["open", "6 reason 6", "4"]));
    assert_eq!(given.fixture.last_event("emergency").await["stopped"], "0");
    given.unchanged(6, Obedience::Obeys).await;
    given.unchanged(5, Obedience::Newer).await;
    assert_eq!(
        given.registry.known(&given.fixture.id).mark(),
        Mark::new(0, 4).expect("a mark"),
        "an instance remembers the mark of the event"
    );
    lost(&given).await;
}

/// A subject that lost events takes nothing, and gets no event that could have the number of a lost one.
async fn lost<K: Operated, C: Capability>(given: &Given<K, C>) {
    let seen = Mark::new(0, 9).expect("a mark");
    given.registry.observe(&given.fixture.id, seen);
    assert_eq!(given.obey(7).await, Obedience::Obeys);
    assert_eq!(given.state().await, texts(["stopped open", "7 reason 7", "4"]));

    // A restore keeps the last decision, here the one that the ledger knows.
    let keys = given.fixture.stream_keys();
    let at = Mark::new(0, 4).expect("a mark");
    let of_ledger = decision(8);
    let begun = restore_begin(
        &given.fixture.store,
        [keys.state, keys.events],
        "t",
        Some(at),
        Some(&of_ledger),
    );
    assert!(matches!(begun.await.expect("a reply"), RestoreBegun::Begun { .. }));
    assert_eq!(given.state().await, texts(["restoring", "8 reason 8", "4"]));
    // A later one reaches it in the middle of it.
    assert_eq!(given.obey(9).await, Obedience::Obeys);
    assert_eq!(given.state().await, texts(["restoring", "9 reason 9", "4"]));
    let again = restore_begin(
        &given.fixture.store,
        [keys.state, keys.events],
        "u",
        None,
        Some(&of_ledger),
    );
    assert!(matches!(again.await.expect("a reply"), RestoreBegun::Begun { .. }));
    assert_eq!(given.state().await, texts(["restoring", "9 reason 9", "4"]));
}

/// The name of a subject that does not exist obeys, and the subject begins stopped. A restore takes the name for nothing.
async fn begins_stopped<K: Operated, C: Capability>(undefined: Fixture<C>) -> Given<K, C> {
    let given = Given::<K, C>::of(undefined);
    assert_eq!(given.obey(1).await, Obedience::Obeys);
    let all: Fields = BTreeMap::from([("emergency".to_owned(), "1 reason 1".to_owned())]);
    assert_eq!(given.fixture.state().await, all);
    assert_eq!(given.registry.count_used(), 0, "a name is no subject");
    given
}

#[tokio::test]
async fn a_jackpot_obeys() {
    obeys::<jackpots::known::Known, _>(JackpotFixture::with(&json!({})).await).await;
    let given = begins_stopped::<jackpots::known::Known, _>(JackpotFixture::undefined(redis().await).await).await;
    given.fixture.define(&json!({})).await;
    assert_eq!(given.state().await, texts(["stopped open", "1 reason 1", "1"]));
}

#[tokio::test]
async fn a_coupon_obeys() {
    obeys::<coupon::known::Known, _>(CouponFixture::with(&json!({})).await).await;
    let given = begins_stopped::<coupon::known::Known, _>(CouponFixture::undefined(redis().await).await).await;
    given.fixture.define(&json!({})).await;
    assert_eq!(given.state().await, texts(["stopped open", "1 reason 1", "1"]));
}

#[tokio::test]
async fn a_room_obeys() {
    obeys::<room::known::Known, _>(RoomFixture::with(&json!({})).await).await;
    let given = begins_stopped::<room::known::Known, _>(RoomFixture::undefined(redis().await).await).await;
    given.fixture.define(&json!({})).await;
    assert_eq!(given.state().await, texts(["stopped open", "1 reason 1", "1"]));
}

#[tokio::test]
async fn a_marked_name_is_restored_like_one_that_redis_has_nothing_of() {
    let given = begins_stopped::<coupon::known::Known, _>(CouponFixture::undefined(redis().await).await).await;
    let keys = given.fixture.keys.all();
    let begun = restore_begin(&given.fixture.store, keys, "t", None, None).await;
    assert!(matches!(begun.expect("a reply"), RestoreBegun::Begun { .. }));
    assert_eq!(given.state().await, texts(["restoring", "1 reason 1", "0"]));
}

async fn redis() -> std::sync::Arc<TestRedis> {
    std::sync::Arc::new(TestRedis::start().await)
}

#[tokio::test]
async fn a_closed_jackpot_needs_no_stop() {
    let given = Given::<jackpots::known::Known, _>::of(JackpotFixture::with(&json!({})).await);
    given
        .fixture
        .raw::<()>(&mut crate::jackpot::by_hand::set(
            given.fixture.keys.state.as_str(),
            "status",
            "closed",
        ))
        .await;
    given.unchanged(1, Obedience::Obeys).await;
}

#[tokio::test]
async fn a_stopped_coupon_issues_what_draws_owe_and_nothing_else() {
    let given = Given::<coupon::known::Known, _>::of(CouponFixture::with(&json!({})).await);
    let (fixture, mark) = (&given.fixture, Mark::ZERO);
    given.obey(1).await;
    let ask = |request: &str, mode| Ask {
        request_id: request.to_owned(),
        user: PersonId::parse(request).expect("an id").into(),
        code: code(),
        mode,
    };
    let before = fixture.dump().await;
    for mode in [Mode::Now, Mode::Line] {
        let asked = coupon::scripts::issue(&fixture.store, &fixture.keys, mark, &[ask("a", mode)]).await;
        assert_eq!(asked.expect("a reply").refusal, Some(Refusal::Emergency));
    }
    assert_eq!(fixture.dump().await, before, "a refused request leaves no trace");
    let owed = coupon::scripts::issue_owed(&fixture.store, &fixture.keys, mark, &[ask("owed", Mode::Now)]).await;
    assert_eq!(owed.expect("a reply").refusal, None);
    // A client's repeat of it is answered.
    let again = coupon::scripts::issue(&fixture.store, &fixture.keys, mark, &[ask("owed", Mode::Now)]).await;
    assert_eq!(again.expect("a reply").refusal, None);
}

#[tokio::test]
async fn redis_keeps_the_decision_with_the_highest_order() {
    let redis = TestRedis::own(&[]).await;
    let directory = tempfile::tempdir().expect("a directory");
    let settings = crate::support::given::standalone(redis.url());
    let store = Store::open(&settings, directory.path()).await.expect("the store opens");
    assert_eq!(last_in_redis(&store).await.expect("a reply"), None);
    let mut last = 0;
    for stops in [true, false, true] {
        let next = decision(next_order(last, stops));
        for _repeat in 0..2 {
            assert!(write_in_redis(&store, &next).await.expect("a reply"));
            assert_eq!(last_in_redis(&store).await.expect("a reply").as_ref(), Some(&next));
        }
        let other = Decision {
            reason: "of another operator".to_owned(),
            ..next.clone()
        };
        assert!(
            !write_in_redis(&store, &other).await.expect("a reply"),
            "the same order"
        );
        assert!(last == 0 || !write_in_redis(&store, &decision(last)).await.expect("a reply"));
        assert_eq!(last_in_redis(&store).await.expect("a reply"), Some(next.clone()));
        last = next.order;
    }
}
