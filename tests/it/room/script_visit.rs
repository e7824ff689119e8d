//! `lua/room/visit.lua` on a real Redis: users come, wait, come in and go.

use jackpot::room::scripts::{End, Place, Visit, VisitReply};
use jackpot::room::ticket::Ticket;
use jackpot_api::room::Status;
use jackpot_core::ids::PersonId;

use crate::room::fixture::{RoomFixture, ahead, end_of, ended, is_in, seen};
use crate::support::prelude::*;

#[tokio::test]
async fn who_finds_room_is_in_at_once_and_the_others_wait_in_order() {
    let fixture = RoomFixture::with(&json!({"session_s": 300})).await;
    let visits: Vec<Visit> = ["a", "b", "c", "d"].map(|user| fixture.join(user)).into();
    let visited = fixture.visit(&visits).await;
    let places: Vec<_> = visited.replies.iter().cloned().map(seen).collect();
    assert!(
        places
            .iter()
            .all(|seen| seen.new && seen.joined_ms == Some(visited.now_ms))
    );
    assert_eq!(places.iter().map(is_in).collect::<Vec<_>>(), [true, true, false, false]);
    assert_eq!([ahead(&places[2]), ahead(&places[3])], [0, 1]);
    let end = end_of(&places[0]);
    assert_eq!(
        (end % 1_000, (end - visited.now_ms - 300_000) / 1_000),
        (0, 0),
        "the next whole second"
    );
    let counts = visited.counts;
    assert_eq!(
        (counts.active, counts.waiting, counts.admitted, counts.promoted),
        (2, 2, 2, 0)
    );
    assert_eq!((visited.passes, visited.revocations, visited.more), (2, 0, false));
    assert_eq!(
        visited.next_due_ms,
        Some(visited.now_ms + 60_000),
        "c is abandoned then"
    );
    assert_eq!((visited.session_ms, visited.waiting_timeout_ms), (300_000, 60_000));
    assert_eq!(
        (visited.capacity, visited.rate, visited.opens_ms, visited.hold_ms),
        (2, None, None, None)
    );
    assert_eq!(fixture.snapshot().await.counts, counts);
    let users = fixture.hash(&fixture.keys.users).await;
    let tickets: Vec<_> = places.iter().map(|seen| seen.ticket.to_string()).collect();
    assert_eq!(users.into_values().collect::<Vec<_>>(), tickets);
}

#[tokio::test]
async fn a_join_is_answered_by_the_ticket_that_the_user_has() {
    let fixture = RoomFixture::with(&json!({"capacity": 1})).await;
    let first = fixture.joined(["in", "waits", "in", "waits"]).await;
    assert_eq!(
        first.iter().map(|seen| seen.new).collect::<Vec<_>>(),
        [true, true, false, false]
    );
    assert_eq!((first[0].ticket, first[1].ticket), (first[2].ticket, first[3].ticket));
    let again = fixture.joined(["waits", "in"]).await;
    assert_eq!((again[0].ticket, again[1].ticket), (first[1].ticket, first[0].ticket));
    assert!(!again[0].new && !again[1].new);
    let counts = fixture.tick().await.counts;
    assert_eq!((counts.active, counts.waiting, counts.admitted), (1, 1, 1));
}

#[tokio::test]
async fn the_same_join_sent_twice_says_the_same() {
    let fixture = RoomFixture::with(&json!({"capacity": 1})).await;
    let visits = [fixture.join("a"), fixture.join("b")];
    let first = fixture.visit(&visits).await;
    let (before, state) = (fixture.dump().await, fixture.hash(&fixture.keys.state).await);
    let again = fixture.visit(&visits).await;
    assert_eq!(again.replies, first.replies);
    let after = fixture.dump().await;
    let changed: Vec<_> = before.iter().filter(|(key, bytes)| after[*key] != **bytes).collect();
    let may = [&fixture.keys.seen, &fixture.keys.state];
    assert!(changed.iter().all(|(key, _)| may.contains(key)), "{changed:?}");
    let mut now = fixture.hash(&fixture.keys.state).await;
    for time in ["clock", "stepped"] {
        assert!(now.insert(time.to_owned(), state[time].clone()).is_some());
    }
    assert_eq!(now, state, "but for the time");
    // The same when the ticket is over by then, and the user has another.
    let ticket = seen(first.replies[1].clone()).ticket;
    fixture.one(Visit::Leave(ticket)).await;
    let late = fixture.one(visits[1].clone()).await;
    assert_eq!((late.ticket, ended(&late), late.new), (ticket, End::Left, true));
}

#[tokio::test]
async fn who_leaves_makes_room_and_within_a_call_each_sees_what_came_of_it() {
    let fixture = RoomFixture::with(&json!({"capacity": 1})).await;
    let [a, b, c] = fixture.joined(["a", "b", "c"]).await.try_into().expect("three");
    let visits = [Visit::Look(c.ticket), Visit::Leave(a.ticket), Visit::Look(b.ticket)];
    let visited = fixture.visit(&visits).await;
    let places: Vec<_> = visited.replies.iter().cloned().map(seen).collect();
    assert_eq!(ahead(&places[0]), 0, "behind the leave, though asked before");
    assert_eq!((ended(&places[1]), is_in(&places[2])), (End::Left, true));
    let counts = visited.counts;
    assert_eq!(
        (
            counts.active,
            counts.waiting,
            counts.admitted,
            counts.promoted,
            counts.left
        ),
        (1, 1, 2, 1, 1)
    );
    assert_eq!(
        places[1].place,
        Place::Ended {
            how: End::Left,
            at_ms: visited.now_ms
        }
    );
    // A second leave, or a look, says the same and changes nothing.
    let before = fixture.dump().await;
    let again = fixture.visit(&[Visit::Leave(a.ticket), Visit::Look(a.ticket)]).await;
    assert_eq!(again.replies, [visited.replies[1].clone(), visited.replies[1].clone()]);
    assert_eq!(fixture.dump().await, before);
    // A user who left may come again, with another ticket, behind everyone who waits.
    let anew = fixture.one(fixture.join("a")).await;
    assert!(anew.ticket != a.ticket && ahead(&anew) == 1);
}

#[tokio::test]
async fn a_renewal_is_for_those_who_are_in() {
    let fixture = RoomFixture::with(&json!({"capacity": 1})).await;
    let [a, b] = fixture.joined(["a", "b"]).await.try_into().expect("two");
    fixture.pass(50).await;
    let visits = [Visit::Renew(a.ticket), Visit::Renew(b.ticket), Visit::Look(a.ticket)];
    let visited = fixture.visit(&visits).await;
    let renewed = seen(visited.replies[0].clone());
    assert!(end_of(&renewed) >= visited.now_ms + 300_000);
    assert_eq!(visited.replies[2], visited.replies[0]);
    assert!(matches!(&visited.replies[1], VisitReply::NotAdmitted(seen) if ahead(seen) == 0));
    assert_eq!(visited.passes, 2);
    // A renewal does not cut a session when sessions were made shorter.
    fixture.define(&json!({"capacity": 1, "session_s": 1})).await;
    assert_eq!(end_of(&fixture.one(Visit::Renew(a.ticket)).await), end_of(&renewed));
    fixture.one(Visit::Leave(a.ticket)).await;
    let late = fixture.visit(&[Visit::Renew(a.ticket)]).await;
    assert!(matches!(&late.replies[0], VisitReply::NotAdmitted(seen) if ended(seen) == End::Left));
}

#[tokio::test]
async fn sessions_end_and_silent_waiters_are_abandoned() {
    let fixture = RoomFixture::with(&json!({"capacity": 1, "session_s": 50})).await;
    let [a, b, c, d] = fixture.joined(["a", "b", "c", "d"]).await.try_into().expect("four");
    fixture.pass(30).await;
    fixture.visit(&[Visit::Look(c.ticket)]).await;
    fixture.pass(31).await;
    let visited = fixture
        .visit(&[a.ticket, b.ticket, c.ticket, d.ticket].map(Visit::Look))
        .await;
    let places: Vec<_> = visited.replies.iter().cloned().map(seen).collect();
    assert_eq!(
        [&places[0], &places[1], &places[3]].map(ended),
        [End::Expired, End::Abandoned, End::Abandoned]
    );
    assert!(is_in(&places[2]), "the only one who was seen");
    let Place::Ended { at_ms, .. } = places[0].place else {
        panic!()
    };
    assert_eq!(
        at_ms,
        end_of(&a) - 61_000,
        "the end of the session, not when that was noticed"
    );
    let counts = visited.counts;
    assert_eq!((counts.expired, counts.abandoned, counts.promoted), (1, 2, 1));
    assert!((61_000..70_000).contains(&counts.waited_ms), "{counts:?}");
    assert_eq!((counts.active, counts.waiting), (1, 0));
    let users = fixture.hash(&fixture.keys.users).await;
    assert_eq!(users.into_keys().collect::<Vec<_>>(), ["c"]);
}

/// No script leaves one. It is no place in the queue, and does not wait for ever.
#[tokio::test]
async fn a_ticket_whose_record_is_lost_leaves_the_queue_in_its_time() {
    let fixture = RoomFixture::with(&json!({"capacity": 1})).await;
    let [_, lost] = fixture.joined(["a", "b"]).await.try_into().expect("two");
    let mut forget = redis::cmd("HDEL");
    forget.arg(&fixture.keys.tickets).arg(lost.ticket.to_string());
    assert_eq!(fixture.raw::<i64>(&mut forget).await, 1);
    fixture.pass(61).await;
    fixture.tick().await;
    for key in [&fixture.keys.waiting, &fixture.keys.seen] {
        assert!(fixture.sorted::<i64>(key).await.is_empty(), "{key}");
    }
}

#[tokio::test]
async fn a_record_goes_a_retention_behind_its_end() {
    let fixture = RoomFixture::with(&json!({})).await;
    let gone = fixture.one(fixture.join("a")).await.ticket;
    fixture.one(Visit::Leave(gone)).await;
    fixture.pass(599).await;
    assert_eq!(ended(&fixture.one(Visit::Look(gone)).await), End::Left);
    fixture.pass(1).await;
    let visited = fixture
        .visit(&[Visit::Look(gone), Visit::Leave(gone), Visit::Renew(gone)])
        .await;
    assert_eq!(visited.replies, [const { VisitReply::Unknown }; 3]);
    assert!(fixture.hash(&fixture.keys.tickets).await.is_empty());
    assert!(fixture.sorted::<i64>(&fixture.keys.ended).await.is_empty());
    let never = Visit::Look(Ticket::random().expect("random"));
    assert_eq!(fixture.visit(&[never]).await.replies, [VisitReply::Unknown]);
}

#[tokio::test]
async fn a_suspended_room_takes_nobody_and_answers_those_it_knows() {
    let fixture = RoomFixture::with(&json!({"capacity": 1})).await;
    let [a, b] = fixture.joined(["a", "b"]).await.try_into().expect("two");
    fixture.status(Status::Suspended).await;
    let visits = [
        Visit::Renew(a.ticket),
        fixture.join("b"),
        fixture.join("c"),
        Visit::Leave(a.ticket),
        Visit::Look(b.ticket),
    ];
    let visited = fixture.visit(&visits).await;
    assert_eq!(
        (visited.status, &visited.replies[2]),
        (Status::Suspended, &VisitReply::Suspended)
    );
    assert_eq!(
        ahead(&seen(visited.replies[4].clone())),
        0,
        "not admitted, though there is room"
    );
    assert_eq!(
        (visited.counts.active, visited.counts.waiting, visited.counts.left),
        (0, 1, 1)
    );
    fixture.status(Status::Open).await;
    assert_eq!(fixture.tick().await.counts.active, 1);
}

#[tokio::test]
async fn a_capacity_that_changes_ends_no_session() {
    let fixture = RoomFixture::with(&json!({"capacity": 3})).await;
    fixture.joined(["a", "b", "c", "d", "e"]).await;
    fixture.define(&json!({"capacity": 1})).await;
    let counts = fixture.tick().await.counts;
    assert_eq!((counts.active, counts.waiting), (3, 2));
    let users = fixture.hash(&fixture.keys.users).await;
    let leave = |user: &str| Visit::Leave(Ticket::parse(&users[user]).expect("a ticket"));
    fixture.visit(&[leave("a"), leave("b")]).await;
    assert_eq!(fixture.tick().await.counts.active, 1, "nobody came in yet");
    fixture.visit(&[leave("c")]).await;
    assert_eq!(fixture.tick().await.counts.active, 1, "the next did");
    fixture.define(&json!({"capacity": 0})).await;
    fixture.visit(&[leave("d")]).await;
    assert_eq!(fixture.tick().await.counts.active, 0);
    fixture.define(&json!({"capacity": 5})).await;
    let counts = fixture.tick().await.counts;
    assert_eq!((counts.active, counts.waiting, counts.promoted), (1, 0, 2));
}

#[tokio::test]
async fn a_ticket_of_another_user_is_refused_before_anything_is_written() {
    let fixture = RoomFixture::with(&json!({})).await;
    let of_a = fixture.one(fixture.join("a")).await.ticket;
    let before = fixture.dump().await;
    let user = PersonId::parse("b").expect("an id");
    let stolen = Visit::Join {
        user,
        ticket: of_a,
        order: -1,
        nonce: String::new(),
    };
    let refused = fixture.try_visit(&[fixture.join("c"), stolen]).await;
    refused.expect_err("refused").to_string().says("JP_ARGUMENT ticket");
    assert_eq!(fixture.dump().await, before);
}
