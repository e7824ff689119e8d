//! A room before its opening, and the users who come in when it opens.

use jackpot::room::scripts::{self, Reordered, Seen, Visit, VisitReply};
use jackpot::room::ticket::Ticket;
use jackpot_core::clock::rfc3339;
use jackpot_core::mark::Mark;

use crate::room::fixture::{RoomFixture, ahead, is_in, seen, users};
use crate::support::prelude::*;

/// A room for three that opens in a hundred seconds.
fn opening() -> Value {
    opens_in(100)
}

fn opens_in(seconds: i64) -> Value {
    let now_ms = i64::try_from(std::time::UNIX_EPOCH.elapsed().expect("past 1970").as_millis()).expect("small");
    json!({"capacity": 3, "waiting_timeout_s": 1_000, "opens_at": rfc3339(now_ms + seconds * 1_000)})
}

async fn publish(fixture: &RoomFixture, joined: u64, sha256: &str) -> bool {
    let published = scripts::publish(&fixture.store, &fixture.keys, Mark::ZERO, joined, sha256).await;
    published.expect("a reply").1
}

#[tokio::test]
async fn before_the_opening_the_seed_orders_and_nobody_comes_in() {
    let fixture = RoomFixture::with(&opening()).await;
    let names = users(1, 20);
    let mut joined: Vec<Ticket> = Vec::new();
    for user in &names {
        let seen = fixture.one(fixture.join(user)).await;
        let before = joined
            .iter()
            .filter(|other| fixture.seed().order(**other) < fixture.seed().order(seen.ticket));
        assert_eq!(ahead(&seen), before.count() as u64);
        joined.push(seen.ticket);
    }
    let visited = fixture.tick().await;
    assert_eq!((visited.counts.active, visited.counts.waiting), (0, 20));
    assert!(visited.opens_ms.is_some() && !visited.unpublished);
    assert_eq!(visited.next_due_ms, visited.opens_ms);
    let page = fixture.collected().await;
    assert_eq!(page.opens_ms, visited.opens_ms);
    assert_eq!(page.items, (1..).zip(joined.iter().copied()).collect::<Vec<_>>());
    assert!(!publish(&fixture, 20, &"a".repeat(64)).await, "not before the opening");

    fixture.pass(101).await;
    let late = fixture.one(fixture.join("late")).await;
    assert_eq!(ahead(&late), 17, "behind all of them");
    let mut order = joined.clone();
    order.sort_by_key(|ticket| fixture.seed().order(*ticket));
    let looks: Vec<_> = order.iter().copied().map(Visit::Look).collect();
    let visited = fixture.visit(&looks).await;
    let places: Vec<_> = visited.replies.into_iter().map(seen).collect();
    assert!(places[..3].iter().all(is_in));
    for (i, seen) in (0..).zip(&places[3..]) {
        assert_eq!(ahead(seen), i);
    }
    // After a user leaves, the next in the seed's order comes in.
    fixture.one(Visit::Leave(order[1])).await;
    assert!(is_in(&fixture.one(Visit::Look(order[3])).await));
    assert!(fixture.tick().await.unpublished);
}

/// Otherwise a user could leave and come back until his place is the first.
#[tokio::test]
async fn before_the_opening_everybody_has_one_chance() {
    let fixture = RoomFixture::with(&opening()).await;
    let others = users(1, 5);
    for user in &others {
        fixture.one(fixture.join(user)).await;
    }
    let first = fixture.one(fixture.join("again")).await;
    for round in 0..4 {
        let held = fixture.one(fixture.join("again")).await;
        fixture.one(Visit::Leave(held.ticket)).await;
        let back = fixture.one(fixture.join("again")).await;
        assert!(back.new && back.ticket != held.ticket, "a new ticket");
        assert_eq!(ahead(&back), 5, "round {round}: behind all who stayed");
    }
    // A user who was not seen has had his chance too.
    let held = fixture.one(fixture.join("again")).await;
    fixture
        .raw::<()>(
            redis::cmd("ZADD")
                .arg(&fixture.keys.seen)
                .arg(1)
                .arg(held.ticket.to_string()),
        )
        .await;
    assert_eq!(fixture.tick().await.counts.abandoned, 1);
    assert_eq!(ahead(&fixture.one(fixture.join("again")).await), 5);
    let next = fixture.one(fixture.join("next")).await;
    let collected = fixture.collected().await.items;
    let numbers: Vec<_> = collected.iter().map(|(number, _)| *number).collect();
    assert_eq!(numbers, [1, 2, 3, 4, 5, 6, 7], "none is missing");
    assert_eq!(
        (collected[5].1, collected[6].1),
        (first.ticket, next.ticket),
        "the one that was made first is on the list"
    );
    // Neither the records nor the users of tickets that are over outlast their time.
    fixture.pass(101).await;
    fixture.settle().await;
    fixture.pass(1_100).await;
    fixture.settle().await;
    fixture.pass(601).await;
    fixture.settle().await;
    let left: u64 = fixture
        .raw(redis::cmd("EXISTS").arg(&fixture.keys.tickets).arg(&fixture.keys.users))
        .await;
    assert_eq!(left, 0);
}

#[tokio::test]
async fn the_list_is_published_once_and_kept_for_a_retention() {
    let fixture = RoomFixture::with(&opening()).await;
    let joined = fixture.joined(["a", "b", "c"]).await;
    fixture.one(Visit::Leave(joined[1].ticket)).await;
    fixture.pass(101).await;
    assert!(fixture.tick().await.unpublished);
    let sha256 = "b".repeat(64);
    assert!(!publish(&fixture, 2, &sha256).await, "another list than there is");
    fixture.jump(2).await;
    assert!(publish(&fixture, 3, &sha256).await);
    let event = fixture.last_event("opened").await;
    fixture.assert_kept_time(&event).await;
    assert_eq!(
        (event["joined"].as_str(), event["sha256"].as_str()),
        ("3", sha256.as_str())
    );
    let before = fixture.dump().await;
    assert!(publish(&fixture, 3, &"c".repeat(64)).await, "it is published");
    assert_eq!(fixture.dump().await, before);
    let snapshot = fixture.snapshot().await;
    assert_eq!(
        (snapshot.collected, snapshot.collected_sha256.clone()),
        (3, Some(sha256))
    );
    assert!(!fixture.tick().await.unpublished);
    fixture.pass(596).await;
    fixture.tick().await;
    assert_eq!(
        fixture.collected().await.items.len(),
        3,
        "who left is on it all the same"
    );
    fixture.pass(2).await;
    fixture.tick().await;
    assert_eq!(fixture.snapshot().await.collected, 0);
}

#[tokio::test]
async fn a_list_of_one_is_published_and_dropped_too() {
    let fixture = RoomFixture::with(&opening()).await;
    fixture.joined(["a"]).await;
    fixture.pass(101).await;
    assert!(fixture.tick().await.unpublished);
    assert!(publish(&fixture, 1, &"b".repeat(64)).await);
    fixture.pass(600).await;
    fixture.tick().await;
    assert_eq!(fixture.snapshot().await.collected, 0);
}

/// The tickets in the order of the room's seed.
fn ordered(fixture: &RoomFixture, joined: &[Seen]) -> Vec<Ticket> {
    let mut order: Vec<_> = joined.iter().map(|seen| seen.ticket).collect();
    order.sort_by_key(|ticket| fixture.seed().order(*ticket));
    order
}

async fn positions(fixture: &RoomFixture, order: &[Ticket]) -> Vec<Seen> {
    let looks: Vec<_> = order.iter().copied().map(Visit::Look).collect();
    fixture.visit(&looks).await.replies.into_iter().map(seen).collect()
}

#[tokio::test]
async fn an_opening_that_is_moved_has_an_order_of_its_own_and_one_that_is_taken_away_keeps_it() {
    let fixture = RoomFixture::with(&opening()).await;
    let joined = fixture.joined(users(1, 12).iter().map(String::as_str)).await;
    let left = fixture.one(fixture.join("left")).await;
    fixture.one(Visit::Leave(left.ticket)).await;
    fixture.one(fixture.join("left")).await;
    let (before, stale) = (fixture.snapshot().await.values.order, fixture.join("late"));
    let mut later = opening();
    later["opens_at"] = json!("2096-01-01T00:00:00Z");
    fixture.define(&later).await;
    let moved = fixture.snapshot().await.values.order;
    assert!(moved.nonce != before.nonce && moved.commitment != before.commitment);
    assert_eq!(moved.commitment, fixture.seed().commitment());
    let visited = fixture.visit(&[stale]).await;
    assert!(visited.unordered && visited.replies == [VisitReply::OtherNonce]);
    assert_eq!(
        fixture.known.order().as_deref(),
        Some(&moved),
        "so that it can join by that"
    );
    fixture.reorder().await;
    let order = ordered(&fixture, &joined);
    let places = positions(&fixture, &order).await;
    assert_eq!(
        places.iter().map(ahead).collect::<Vec<_>>(),
        (0..12).collect::<Vec<_>>()
    );
    assert!(!fixture.tick().await.unordered);
    assert_eq!(ahead(&fixture.one(fixture.join("left")).await), 12, "he had his chance");
    // A PUT that does not set another opening leaves the order as it is, and so does a repeat of one that did.
    later["capacity"] = json!(4);
    fixture.define(&later).await;
    fixture.pass(101).await;
    assert_eq!(fixture.tick().await.counts.active, 0);
    later["opens_at"] = Value::Null;
    fixture.define(&later).await;
    assert_eq!(fixture.snapshot().await.order, moved);
    assert_eq!(fixture.known.order(), Some(moved.into()), "as it was last heard");
    let places = positions(&fixture, &order).await;
    assert!(places[..4].iter().all(is_in) && !places[4..].iter().any(is_in));
    assert_eq!(fixture.known.order(), None, "it has opened");
    assert!(publish(&fixture, 13, &"b".repeat(64)).await);
}

#[tokio::test]
async fn nobody_comes_in_before_all_have_their_order() {
    let fixture = RoomFixture::with(&opening()).await;
    let joined = fixture.joined(users(1, 8).iter().map(String::as_str)).await;
    fixture.define(&opens_in(50)).await;
    fixture.pass(51).await;
    let visited = fixture.tick().await;
    assert!(visited.unordered && visited.opens_ms.is_none() && visited.counts.active == 0);
    assert!(!visited.more, "not at once, which would be a hot loop");
    assert!(!publish(&fixture, 8, &"b".repeat(64)).await);
    let (seed, nonce) = (fixture.seed(), fixture.snapshot().await.values.order.nonce);
    let page = async |nonce: &str, after: usize, upto: usize| {
        let orders: Vec<_> = joined[after..upto]
            .iter()
            .map(|seen| (seen.ticket, seed.order(seen.ticket)))
            .collect();
        let after = after as u64;
        let done = scripts::reorder(&fixture.store, &fixture.keys, Mark::ZERO, nonce, after, &orders).await;
        done.expect("a reply").1
    };
    let up_to = |ordered| Reordered::UpTo { ordered, to_order: 8 };
    assert_eq!(page("other", 0, 3).await, Reordered::OtherNonce);
    assert_eq!(page(&nonce, 0, 3).await, up_to(3));
    for (after, upto) in [(0, 3), (5, 8)] {
        assert_eq!(page(&nonce, after, upto).await, up_to(3), "others have come to there");
        assert_eq!(fixture.tick().await.counts.active, 0);
    }
    assert_eq!(page(&nonce, 3, 8).await, up_to(8));
    assert_eq!(fixture.tick().await.counts.active, 3);
    let order = ordered(&fixture, &joined);
    let places = positions(&fixture, &order).await;
    assert!(places[..3].iter().all(is_in) && !places[3..].iter().any(is_in));
    assert!(publish(&fixture, 8, &"b".repeat(64)).await);
}

/// The record that a user has had a chance stays; others are dropped in their time. A user who joins and leaves again
/// and again fills nothing.
#[tokio::test]
async fn when_all_have_left_only_what_is_needed_is_kept_until_the_opening() {
    let fixture = RoomFixture::with(&opens_in(5_000)).await;
    fixture.one(fixture.join("other")).await;
    for _ in 0..20 {
        let held = fixture.one(fixture.join("a")).await;
        fixture.one(Visit::Leave(held.ticket)).await;
        // A user leaves as often as allowed.
        fixture.pass(10).await;
    }
    assert_eq!(fixture.hash(&fixture.keys.tickets).await.len(), 21);
    let last = fixture.hash(&fixture.keys.users).await["a"].clone();
    let last = last.split(' ').next().expect("a ticket").to_owned();
    fixture.pass(1_001).await;
    fixture.settle().await;
    fixture.pass(700).await;
    let visited = fixture.settle().await;
    assert_eq!(visited.next_due_ms, visited.opens_ms, "nothing is due before");
    let held = fixture.hash(&fixture.keys.tickets).await;
    assert_eq!((held.len(), held.contains_key(&last)), (2, true));
    fixture.one(fixture.join("next")).await;
    assert_eq!(ahead(&fixture.one(fixture.join("a")).await), 1, "he had his chance");
    fixture.pass(3_300).await;
    fixture.settle().await;
    fixture.pass(1_601).await;
    fixture.settle().await;
    assert!(fixture.hash(&fixture.keys.tickets).await.is_empty());
}

/// An operator may set the clock right, or another node may have another clock.
#[tokio::test]
async fn what_has_opened_stays_open_when_the_clock_goes_back() {
    let fixture = RoomFixture::with(&opening()).await;
    let joined = fixture.joined(["a", "b", "c", "d"]).await;
    fixture.pass(101).await;
    assert_eq!(fixture.tick().await.counts.active, 3);
    // As if the clock now showed the hour before that step.
    let mut back = redis::cmd("HINCRBY");
    back.arg(&fixture.keys.state).arg("opens").arg(3_600_000);
    fixture.raw::<i64>(&mut back).await;
    let late = fixture.one(fixture.join("late")).await;
    assert_eq!(ahead(&late), 1, "not by the seed, which is known");
    assert_eq!(fixture.collected().await.items.len(), 4);
    fixture.one(Visit::Leave(joined[3].ticket)).await;
    for seen in &joined[..3] {
        fixture.one(Visit::Leave(seen.ticket)).await;
    }
    let visited = fixture.tick().await;
    assert_eq!(
        (visited.counts.active, visited.opens_ms, visited.unpublished),
        (1, None, false)
    );
    assert_eq!(fixture.snapshot().await.opens_ms, None);
    assert!(!publish(&fixture, 4, &"b".repeat(64)).await, "by the clock");
    assert_eq!(
        fixture.define(&opens_in(500)).await,
        scripts::Defined::Refused(scripts::DefineRefusal::Opened)
    );
}

#[tokio::test]
async fn a_key_of_a_wrong_type_ends_a_call_before_it_writes_also_before_the_opening() {
    let fixture = RoomFixture::with(&opening()).await;
    let waits = fixture.one(fixture.join("a")).await;
    fixture
        .raw::<()>(redis::cmd("SET").arg(&fixture.keys.ended).arg("x"))
        .await;
    let before = fixture.dump().await;
    for visit in [fixture.join("b"), Visit::Leave(waits.ticket)] {
        assert!(fixture.try_visit(&[visit]).await.is_err());
        assert_eq!(fixture.dump().await, before);
    }
}
