//! Redis' clock is put back or jumps. No pass becomes good again, nobody is let in beyond the capacity, and the room
//! goes on at its pace.

use std::sync::Arc;

use jackpot::room::scripts::Visit;
use redis::aio::MultiplexedConnection;

use crate::room::fixture::{RoomFixture, ahead, end_of, is_in, users};
use crate::room::http::support::{create, enter, jackpot, joined, leave};
use crate::support::prelude::*;
use crate::support::shifted_clock::ShiftedClock;

const HOUR_S: i64 = 3_600;

fn refused() -> (u16, String, bool) {
    (403, "pass-expired".to_owned(), false)
}

const TAKEN: (u16, String, bool) = (201, String::new(), false);

/// A service on a Redis by this clock, with a jackpot `behind` the room `door`.
async fn behind_a_door(clock: &Arc<ShiftedClock>, capacity: u64, session_s: u64) -> (TestRedis, Service) {
    let redis = TestRedis::by(clock).await;
    let service = service_on(redis.url(), &[]).await;
    create(&service, "door", capacity, &json!({"session_s": session_s})).await;
    jackpot(&service, "behind", &json!("door")).await;
    (redis, service)
}

/// Number of these tickets with which their users may play now.
async fn playing(service: &Service, round: &str, tickets: &[(String, Value)]) -> usize {
    let mut taken = 0;
    for (user, ticket) in tickets {
        let entered = enter(service, "behind", &format!("{round}-{user}"), user, &ticket["pass"]).await;
        assert!(entered == TAKEN || entered == refused(), "{entered:?}");
        taken += usize::from(entered == TAKEN);
    }
    taken
}

async fn all_join(service: &Service, users: Vec<String>) -> Vec<(String, Value)> {
    let mut tickets = Vec::new();
    for user in users {
        let ticket = joined(service, "door", &user).await;
        assert_eq!(ticket["status"], "admitted", "{ticket}");
        tickets.push((user, ticket));
    }
    tickets
}

#[tokio::test]
async fn five_seconds_back_revive_no_pass() {
    let clock = Arc::new(ShiftedClock::new());
    let (_redis, mut service) = behind_a_door(&clock, 5, 60).await;
    let first = all_join(&service, users(1, 5)).await;
    assert_eq!(playing(&service, "first", &first).await, 5);
    clock.set_s(62);
    let second = all_join(&service, users(6, 10)).await;
    let mut round = 0;
    eventually(PATIENCE, "the door knows that their sessions are over", async || {
        round += 1;
        (playing(&service, &format!("over-{round}"), &first).await == 0).then_some(())
    })
    .await;
    clock.set_s(57);
    for round in ["back", "restarted"] {
        let both = (
            playing(&service, &format!("old-{round}"), &first).await,
            playing(&service, &format!("new-{round}"), &second).await,
        );
        assert_eq!(both, (0, 5), "{round}");
        // A restarted instance saw nothing of the jump.
        service.restart().await;
    }
}

#[tokio::test]
async fn an_hour_forward_and_back_revives_no_pass_of_one_who_left() {
    let clock = Arc::new(ShiftedClock::new());
    let (redis, mut service) = behind_a_door(&clock, 5, 300).await;
    let gone = joined(&service, "door", "gone").await;
    leave(&service, "door", &gone).await;
    let mut connection = redis.connection().await;
    let revoked = async |connection: &mut MultiplexedConnection| -> usize {
        let mut count = redis::cmd("ZCARD");
        count.arg("room:{door}:revoked");
        count.query_async(connection).await.expect("a reply")
    };
    assert_eq!(revoked(&mut connection).await, 1);
    clock.set_s(HOUR_S);
    eventually(
        PATIENCE,
        "its pass is over, and not kept in mind any longer",
        async || (revoked(&mut connection.clone()).await == 0).then_some(()),
    )
    .await;
    clock.set_s(0);
    service.restart().await;
    let entered = enter(&service, "behind", "e1", "gone", &gone["pass"]).await;
    assert_eq!(entered, refused());
    // A user who comes now plays.
    let comes = joined(&service, "door", "comes").await;
    assert_eq!(enter(&service, "behind", "e2", "comes", &comes["pass"]).await, TAKEN);
}

#[tokio::test]
async fn a_room_whose_clock_was_put_back_goes_on() {
    let clock = Arc::new(ShiftedClock::new());
    let (_redis, service) = behind_a_door(&clock, 1, 3).await;
    clock.set_s(HOUR_S);
    let first = joined(&service, "door", "first").await;
    assert_eq!(first["status"], "admitted");
    clock.set_s(0);
    let waits = joined(&service, "door", "next").await;
    assert_eq!(waits["status"], "waiting");
    let path = format!("/v1/rooms/door/tickets/{}", waits["ticket"].as_str().expect("a ticket"));
    let came_in = service
        .until(&path, "the session of the first ends", |ticket| {
            ticket["status"] == "admitted"
        })
        .await;
    assert_eq!(enter(&service, "behind", "e1", "next", &came_in["pass"]).await, TAKEN);
    assert_eq!(
        enter(&service, "behind", "e2", "first", &first["pass"]).await,
        refused()
    );
}

/// A room on a Redis by this clock.
async fn room(clock: &Arc<ShiftedClock>, change: &Value) -> RoomFixture {
    RoomFixture::on(Arc::new(TestRedis::by(clock).await), change).await
}

#[tokio::test]
async fn what_began_in_a_jump_ends_in_its_time_behind_it() {
    let clock = Arc::new(ShiftedClock::new());
    let rules = json!({"capacity": 2, "session_s": 100, "waiting_timeout_s": 50, "admissions_per_minute": 2});
    let fixture = room(&clock, &rules).await;
    fixture.tick().await;
    clock.set_s(HOUR_S);
    let [a, b, _, _] = fixture.joined(["a", "b", "c", "d"]).await.try_into().expect("four");
    let ahead_of_time = fixture.tick().await.now_ms;
    clock.set_s(0);
    let back = fixture.tick().await;
    assert!(back.now_ms >= ahead_of_time, "its time does not go back");
    assert!(back.now_ms < ahead_of_time + 30_000, "nor on by itself");
    // A freed place goes to the next user, once the rate allows.
    fixture.one(Visit::Leave(b.ticket)).await;
    assert_eq!(fixture.tick().await.counts.active, 1);
    fixture.pass(40).await;
    let c = fixture.one(fixture.join("c")).await;
    assert_eq!(ahead(&c), 0);
    fixture.pass(21).await;
    let visited = fixture.tick().await;
    assert_eq!(
        (visited.counts.active, visited.counts.waiting),
        (2, 0),
        "the rate goes on"
    );
    assert_eq!(visited.counts.abandoned, 1, "who was not seen for 50 s");
    assert!(is_in(&fixture.one(Visit::Look(c.ticket)).await));
    fixture.pass(41).await;
    let visited = fixture.tick().await;
    assert_eq!(
        (visited.counts.expired, visited.counts.active),
        (1, 1),
        "{:?}",
        end_of(&a)
    );
}

#[tokio::test]
async fn a_hold_and_a_grace_that_began_in_a_jump_end_behind_it() {
    let clock = Arc::new(ShiftedClock::new());
    let fixture = room(
        &clock,
        &json!({"capacity": 1, "session_s": 20, "waiting_timeout_s": 30}),
    )
    .await;
    fixture.known.hear_passes(5);
    let waits = fixture.one(fixture.join("a")).await;
    clock.set_s(HOUR_S);
    // This step is an hour after the last one. As after an outage, everybody has the whole time to be seen.
    fixture.known.hear_passes(9);
    let visited = fixture.tick().await;
    assert_eq!((visited.counts.waiting, visited.counts.abandoned), (1, 0));
    let hold_ms = visited.hold_ms.expect("a hold");
    assert!(hold_ms <= visited.now_ms + 21_000);
    clock.set_s(0);
    fixture.pass(22).await;
    assert_eq!(fixture.tick().await.counts.active, 1, "the hold is over");
    let next = fixture.one(fixture.join("b")).await;
    assert_eq!(ahead(&next), 0);
    fixture.one(Visit::Look(waits.ticket)).await;
    fixture.pass(31).await;
    let visited = fixture.tick().await;
    assert_eq!((visited.counts.abandoned, visited.counts.expired), (1, 1));
}

/// The time that an instance has seen counts, also where the node that is asked now does not know it.
#[tokio::test]
async fn the_time_that_an_instance_has_seen_is_not_gone_with_a_node() {
    let clock = Arc::new(ShiftedClock::new());
    let fixture = room(&clock, &json!({"capacity": 1, "session_s": 100})).await;
    clock.set_s(HOUR_S);
    let seen_ms = fixture.revoked(0).await.now_ms;
    clock.set_s(0);
    let before = fixture.snapshot().await.now_ms;
    assert!(before < seen_ms, "that was only read: {before}");
    let a = fixture.one(fixture.join("a")).await;
    assert!(end_of(&a) >= seen_ms + 100_000, "a pass that is good there");
    assert!(fixture.revoked(0).await.now_ms >= seen_ms);
}

#[tokio::test]
async fn rooms_open_by_the_clock_that_there_is() {
    let clock = Arc::new(ShiftedClock::new());
    let redis = Arc::new(TestRedis::by(&clock).await);
    let now_ms = i64::try_from(std::time::UNIX_EPOCH.elapsed().expect("past 1970").as_millis()).expect("small");
    let opens_at = jackpot_core::clock::rfc3339(now_ms + 2 * HOUR_S * 1_000);
    let fixture = RoomFixture::on(redis, &json!({"opens_at": opens_at, "waiting_timeout_s": 86_400})).await;
    fixture.joined(["a"]).await;
    clock.set_s(HOUR_S + 1_800);
    fixture.tick().await;
    clock.set_s(0);
    fixture.tick().await;
    clock.set_s(HOUR_S);
    assert_eq!(fixture.tick().await.counts.active, 0, "an hour is left");
    clock.set_s(2 * HOUR_S + 1);
    assert_eq!(fixture.tick().await.counts.active, 1);
    clock.set_s(0);
    fixture.one(fixture.join("b")).await;
    assert_eq!(fixture.tick().await.counts.active, 2, "it has opened");
}
