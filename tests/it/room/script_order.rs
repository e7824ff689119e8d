//! Who comes in, in which order and how many: the case of the issue, rates, crowds.

use std::collections::BTreeSet;
use std::sync::Arc;

use jackpot::room::scripts::{self, End, Visit};
use jackpot::room::ticket::Ticket;
use jackpot::subject::Subject;

use crate::room::fixture::{RETENTION_MS, RoomFixture, ahead, ended, is_in, seen, users};
use crate::support::prelude::*;

async fn looks(fixture: &RoomFixture, tickets: &[Ticket]) -> Vec<scripts::Seen> {
    let visits: Vec<_> = tickets.iter().copied().map(Visit::Look).collect();
    fixture.visit(&visits).await.replies.into_iter().map(seen).collect()
}

#[tokio::test]
async fn thirty_join_ten_are_in_ten_go_silent_and_the_last_ten_follow() {
    let fixture = RoomFixture::with(&json!({"capacity": 10, "session_s": 50, "waiting_timeout_s": 30})).await;
    let mut tickets = Vec::new();
    for (i, user) in (1..).zip(users(1, 30)) {
        let seen = fixture.one(fixture.join(&user)).await;
        assert_eq!(is_in(&seen), i <= 10, "{user}");
        assert!(i <= 10 || ahead(&seen) == i - 11);
        tickets.push(seen.ticket);
    }
    fixture.pass(29).await;
    let last = looks(&fixture, &tickets[20..]).await;
    assert!((10..).zip(&last).all(|(i, seen)| ahead(seen) == i));
    fixture.pass(2).await;
    let silent = looks(&fixture, &tickets[10..20]).await;
    assert!(silent.iter().all(|seen| ended(seen) == End::Abandoned));
    let last = looks(&fixture, &tickets[20..]).await;
    assert!((0..).zip(&last).all(|(i, seen)| ahead(seen) == i));
    fixture.pass(20).await;
    let visited = fixture.tick().await;
    assert_eq!((visited.counts.active, visited.counts.waiting), (10, 0));
    assert_eq!(
        (
            visited.counts.expired,
            visited.counts.abandoned,
            visited.counts.admitted
        ),
        (10, 10, 20)
    );
    assert!(looks(&fixture, &tickets[20..]).await.iter().all(is_in));
    assert!(
        looks(&fixture, &tickets[..10])
            .await
            .iter()
            .all(|seen| ended(seen) == End::Expired)
    );
}

#[tokio::test]
async fn those_who_wait_come_in_one_by_one_as_places_are_left() {
    let fixture = RoomFixture::with(&json!({"capacity": 1})).await;
    let names = users(1, 6);
    let tickets: Vec<_> = fixture
        .joined(names.iter().map(String::as_str))
        .await
        .iter()
        .map(|seen| seen.ticket)
        .collect();
    for (i, ticket) in tickets.iter().enumerate() {
        assert!(is_in(&fixture.one(Visit::Look(*ticket)).await), "{i}");
        let behind = looks(&fixture, &tickets[i + 1..]).await;
        assert!((0..).zip(&behind).all(|(i, seen)| ahead(seen) == i));
        fixture.one(Visit::Leave(*ticket)).await;
    }
}

#[tokio::test]
async fn a_rate_holds_in_any_minute() {
    let rule = |rate: Option<u64>| json!({"capacity": 100, "waiting_timeout_s": 1_000, "admissions_per_minute": rate});
    let fixture = RoomFixture::with(&rule(Some(3))).await;
    let admitted = async || fixture.tick().await.counts.admitted;
    let names = users(1, 60);
    let first = fixture.joined(["one"]).await;
    assert!(is_in(&first[0]));
    fixture.pass(40).await;
    fixture.joined(names.iter().map(String::as_str)).await;
    let visited = fixture.tick().await;
    assert_eq!((visited.counts.admitted, visited.rate), (3, Some(3)));
    assert_eq!(
        visited.counts.promoted, 0,
        "two found room, and were let in as they came"
    );
    let due = visited.next_due_ms.expect("somebody waits");
    assert!(
        (15_000..=20_001).contains(&(due - visited.now_ms)),
        "a minute behind the first, not the second"
    );
    fixture.pass(19).await;
    assert_eq!(admitted().await, 3);
    fixture.pass(1).await;
    // The first is 60 s old and some ms, or will be in a moment.
    crate::support::wait::eventually(std::time::Duration::from_secs(10), "the fourth", async || {
        (admitted().await == 4).then_some(())
    })
    .await;
    fixture.pass(39).await;
    assert_eq!(admitted().await, 4);
    fixture.pass(2).await;
    assert_eq!(admitted().await, 6);

    // Raised: what was admitted in the last minute counts.
    fixture.define(&rule(Some(5))).await;
    assert_eq!(admitted().await, 6 + 2);
    // Lowered: nobody is admitted until fewer than that were admitted within a minute.
    fixture.define(&rule(Some(1))).await;
    assert_eq!(admitted().await, 8);
    fixture.pass(30).await;
    fixture.define(&rule(Some(5))).await;
    assert_eq!(
        admitted().await,
        8 + 1,
        "raised again: the fourth is gone by now, the others count"
    );
    fixture.define(&rule(Some(1))).await;
    fixture.pass(61).await;
    assert_eq!(admitted().await, 10);
    fixture.define(&rule(None)).await;
    assert_eq!(admitted().await, 61);
}

#[tokio::test]
async fn the_next_admission_is_due_a_millisecond_after_the_minute_of_the_one_that_counts() {
    let fixture =
        RoomFixture::with(&json!({"capacity": 9, "waiting_timeout_s": 1_000, "admissions_per_minute": 1})).await;
    let visited = fixture.visit(&["a", "b"].map(|user| fixture.join(user))).await;
    let due = Some(visited.now_ms + 60_001);
    assert_eq!((visited.counts.active, visited.next_due_ms), (1, due));
    assert_eq!(fixture.tick().await.next_due_ms, due);
}

/// A step forgets at most 16 more than it admits, and here those are all too old: the next one still counts.
#[tokio::test]
async fn no_admission_that_the_rate_counts_is_forgotten_with_the_old_ones() {
    let fixture = RoomFixture::with(&json!({"capacity": 99, "admissions_per_minute": 30})).await;
    fixture.joined(users(1, 17).iter().map(String::as_str)).await;
    fixture.pass(30).await;
    fixture.joined(users(18, 20).iter().map(String::as_str)).await;
    fixture.pass(31).await;
    fixture.joined(["last"]).await;
    let kept: u64 = fixture.raw(redis::cmd("LLEN").arg(&fixture.keys.recent)).await;
    assert_eq!(kept, 3 + 1);
}

#[tokio::test]
async fn what_the_rate_counts_no_more_is_forgotten() {
    let rule = json!({"capacity": 1_000, "waiting_timeout_s": 1_000, "admissions_per_minute": 50});
    let fixture = RoomFixture::with(&rule).await;
    let names = users(1, 150);
    fixture.joined(names.iter().map(String::as_str)).await;
    for _ in 0..2 {
        fixture.pass(61).await;
        fixture.tick().await;
    }
    let recent: u64 = fixture.raw(redis::cmd("LLEN").arg(&fixture.keys.recent)).await;
    assert_eq!((recent, fixture.tick().await.counts.admitted), (50, 150));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn joins_at_once_give_each_user_one_ticket_and_fill_the_room_exactly() {
    const CALLERS: usize = 16;
    const USERS: usize = 100;
    let fixture = Arc::new(RoomFixture::with(&json!({"capacity": 30})).await);
    let mut callers = tokio::task::JoinSet::new();
    for caller in 0..CALLERS {
        let fixture = Arc::clone(&fixture);
        callers.spawn(async move {
            // The joins come from another instance, which knows nothing yet; half of them in calls of many.
            let known = jackpot::room::known::Known::new(&fixture.id);
            let mut joins: Vec<_> = users(1, USERS).iter().map(|user| fixture.join(user)).collect();
            joins.rotate_left(caller * 7 % USERS);
            let size = if caller % 2 == 0 { 1 } else { 9 };
            let mut got = Vec::new();
            for part in joins.chunks(size) {
                let visited = scripts::visit(&fixture.store, &known, RETENTION_MS, part)
                    .await
                    .expect("a reply");
                assert!(visited.counts.active <= 30);
                got.extend(visited.replies.into_iter().map(seen));
            }
            got
        });
    }
    let all: Vec<_> = callers.join_all().await.into_iter().flatten().collect();
    assert_eq!(all.iter().filter(|seen| seen.new).count(), USERS);
    let pairs: BTreeSet<_> = all.iter().map(|seen| (seen.user.clone(), seen.ticket)).collect();
    assert_eq!(pairs.len(), USERS);
    let inside: BTreeSet<_> = all.iter().filter(|seen| is_in(seen)).map(|seen| seen.ticket).collect();
    assert_eq!(inside.len(), 30);
    let counts = fixture.tick().await.counts;
    assert_eq!((counts.active, counts.waiting, counts.admitted), (30, 70, 30));
}
