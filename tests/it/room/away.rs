//! While Redis or all instances are away, nobody can ask. The queue is there afterwards.

use std::sync::Arc;

use jackpot::room::scripts::{End, Seen, Visit};
use jackpot::room::ticket::Ticket;
use jackpot_core::clock::rfc3339;

use crate::room::fixture::{RoomFixture, ahead, ended, is_in, seen, users};
use crate::support::prelude::*;

async fn look_at(fixture: &RoomFixture, tickets: impl IntoIterator<Item = Ticket>) -> Vec<Seen> {
    let visits: Vec<_> = tickets.into_iter().map(Visit::Look).collect();
    fixture.visit(&visits).await.replies.into_iter().map(seen).collect()
}

async fn grace(fixture: &RoomFixture) -> i64 {
    fixture.hash(&fixture.keys.state).await["grace"]
        .parse()
        .expect("a time")
}

#[tokio::test]
async fn who_waits_behind_an_outage_has_the_whole_time_to_be_seen() {
    let fixture = RoomFixture::with(&json!({"capacity": 0, "waiting_timeout_s": 1_000})).await;
    let joined = fixture.joined(["a", "b", "c"]).await;
    let tickets: Vec<_> = joined.iter().map(|seen| seen.ticket).collect();
    for _ in 0..2 {
        fixture.away(3_600).await;
        let visited = fixture.tick().await;
        assert_eq!((visited.counts.waiting, visited.counts.abandoned), (3, 0));
        let due = visited.next_due_ms.expect("something is due");
        let at = visited.now_ms + 1_000_000;
        assert!(
            (at - 60_000..=at).contains(&due),
            "not at once, which would be a hot loop"
        );
        assert!(!visited.more);
        fixture.pass(800).await;
        assert_eq!(fixture.tick().await.counts.abandoned, 0);
    }
    // The second user is not seen in that time either.
    let kept = look_at(&fixture, [tickets[0], tickets[2]]).await;
    assert_eq!(kept.iter().map(ahead).collect::<Vec<_>>(), [0, 2]);
    fixture.pass(300).await;
    assert_eq!(fixture.tick().await.counts.abandoned, 1);
    assert_eq!(ended(&look_at(&fixture, [tickets[1]]).await[0]), End::Abandoned);
    fixture.pass(1_000).await;
    assert_eq!(fixture.tick().await.counts.abandoned, 3, "by then it is as ever");
}

/// Otherwise the first to join again would get the best place.
#[tokio::test]
async fn the_order_before_the_opening_outlasts_an_outage() {
    let now_ms = i64::try_from(std::time::UNIX_EPOCH.elapsed().expect("past 1970").as_millis()).expect("small");
    let opens_at = rfc3339(now_ms + 100_000);
    let fixture = RoomFixture::with(&json!({"capacity": 3, "waiting_timeout_s": 30, "opens_at": opens_at})).await;
    let names = users(1, 10);
    let mut tickets = Vec::new();
    for user in &names {
        tickets.push(fixture.one(fixture.join(user)).await.ticket);
    }
    tickets.sort_by_key(|ticket| fixture.seed().order(*ticket));
    fixture.away(80).await;
    assert_eq!(fixture.tick().await.counts.abandoned, 0);
    let places = look_at(&fixture, tickets.iter().copied()).await;
    assert_eq!(
        places.iter().map(ahead).collect::<Vec<_>>(),
        (0..10).collect::<Vec<_>>()
    );
    // This outage lasts until the room opens.
    fixture.away(40).await;
    let places = look_at(&fixture, tickets.iter().copied()).await;
    let expected: Vec<_> = (0..10).map(|i| i < 3).collect();
    assert_eq!(places.iter().map(is_in).collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn an_empty_line_and_a_clock_that_goes_back_are_no_outage() {
    let fixture = RoomFixture::with(&json!({"capacity": 1, "waiting_timeout_s": 60})).await;
    let inside = fixture.joined(["a", "b"]).await.remove(0);
    fixture.pass(61).await;
    let visited = fixture.tick().await;
    assert_eq!((visited.counts.abandoned, visited.counts.waiting), (1, 0));
    // For a long time nobody waits.
    fixture.away(200).await;
    let [_, waits] = fixture.joined(["a", "c"]).await.try_into().expect("two");
    fixture.tick().await;
    assert_eq!((grace(&fixture).await, ahead(&waits), is_in(&inside)), (0, 0, true));
    let ahead_of_time: i64 = fixture.hash(&fixture.keys.state).await["stepped"]
        .parse()
        .expect("a time");
    let mut later = redis::cmd("HSET");
    later
        .arg(&fixture.keys.state)
        .arg("stepped")
        .arg(ahead_of_time + 600_000);
    fixture.raw::<()>(&mut later).await;
    fixture.tick().await;
    assert_eq!(grace(&fixture).await, 0);
    fixture.pass(61).await;
    assert_eq!(
        fixture.tick().await.counts.abandoned,
        2,
        "it is seen by the clock that there is"
    );
}

#[tokio::test]
async fn what_was_not_there_for_all_the_time_is_waited_for_by_a_service_too() {
    let redis = Arc::new(TestRedis::own(&[]).await);
    let fixture = RoomFixture::on(redis, &json!({"capacity": 0, "waiting_timeout_s": 40})).await;
    let joined = fixture.joined(["a", "b"]).await;
    fixture.away(3_600).await;
    let service = service_on(fixture.redis.url(), &[]).await;
    let path = |seen: &Seen| format!("/v1/rooms/{}/tickets/{}", fixture.id, seen.ticket);
    for (position, seen) in (1..).zip(&joined) {
        let answer = service.get(&path(seen)).await;
        answer.is(200);
        assert_has!(answer.body, {"status": "waiting", "position": position});
    }
    // Each instance steps a room where somebody waits, so that nothing else looks like an outage.
    let stepped = async || fixture.hash(&fixture.keys.state).await["stepped"].clone();
    let before = stepped().await;
    eventually(PATIENCE, "its worker steps", async || {
        (stepped().await != before).then_some(())
    })
    .await;
}

/// Leaves the room as after a call that failed, or that no replica confirmed.
fn doubt(fixture: &RoomFixture) {
    drop(fixture.known.visiting());
}

#[tokio::test]
async fn steps_of_callers_that_were_not_confirmed_are_no_steps() {
    let fixture = RoomFixture::with(&json!({"capacity": 0, "waiting_timeout_s": 20})).await;
    let joined = fixture.joined(["a", "b"]).await;
    let stepped = async || fixture.hash(&fixture.keys.state).await["stepped"].clone();
    // Each time nothing is confirmed for two seconds, while an instance keeps stepping.
    for _ in 0..2 {
        fixture.away(2).await;
        let before = stepped().await;
        doubt(&fixture);
        let visited = fixture.tick().await;
        assert_eq!(stepped().await, before, "it is no step");
        let left = grace(&fixture).await - visited.now_ms;
        assert!((2_000..3_000).contains(&left), "as long again: {left}");
        fixture.tick().await;
        assert_ne!(stepped().await, before, "the next one is");
    }
    // One doubt follows the other, as while a shard has no replica. This is an outage, whichever instance steps
    // meanwhile.
    for _ in 0..9 {
        fixture.away(3).await;
        doubt(&fixture);
        assert_eq!(fixture.tick().await.counts.abandoned, 0);
    }
    let visited = fixture.tick().await;
    assert_eq!(visited.counts.abandoned, 0);
    let left = grace(&fixture).await - visited.now_ms;
    assert!((19_000..=20_000).contains(&left), "the whole time from now on: {left}");
    let kept = look_at(&fixture, [joined[0].ticket]).await;
    assert_eq!(ahead(&kept[0]), 0);
    fixture.pass(21).await;
    assert_eq!(fixture.tick().await.counts.abandoned, 2, "by then it is as ever");
}

#[tokio::test]
async fn in_doubt_nobody_comes_in_out_of_the_line() {
    let fixture = RoomFixture::with(&json!({"capacity": 1})).await;
    let [inside, waits] = fixture.joined(["a", "b"]).await.try_into().expect("two");
    doubt(&fixture);
    let visited = fixture
        .visit(&[
            Visit::Leave(inside.ticket),
            Visit::Look(waits.ticket),
            fixture.join("c"),
        ])
        .await;
    assert_eq!((visited.counts.active, visited.counts.waiting), (0, 2));
    assert!(visited.more, "the next call does it");
    let visited = fixture.tick().await;
    assert_eq!((visited.counts.active, visited.counts.waiting), (1, 1));
    assert!(is_in(&look_at(&fixture, [waits.ticket]).await[0]));
    // Where nobody waits, nobody can be passed over.
    let empty = RoomFixture::with(&json!({"capacity": 1})).await;
    doubt(&empty);
    let joined = empty.joined(["a", "b"]).await;
    assert_eq!(joined.iter().map(is_in).collect::<Vec<_>>(), [true, false]);
}
