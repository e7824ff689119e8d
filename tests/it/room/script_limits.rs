//! Bounds: more work than one call does, memory that is full, keys that another program wrote.

use std::sync::Arc;

use jackpot::room::scripts::{self, End, MAX_VISITS, ScriptError, Visit, VisitReply};
use jackpot::store::StoreError;
use jackpot_api::room::Status;
use jackpot_core::mark::Mark;

use crate::room::fixture::{RoomFixture, ended, is_in, seen, users};
use crate::support::prelude::*;

/// Joins of `count` users, in as many calls as needed.
async fn crowd(fixture: &RoomFixture, count: usize) -> Vec<scripts::Seen> {
    let mut all = Vec::new();
    for part in users(1, count).chunks(MAX_VISITS) {
        all.extend(fixture.joined(part.iter().map(String::as_str)).await);
    }
    all
}

#[tokio::test]
async fn of_many_who_are_over_each_call_takes_some_and_none_is_too_many_inside() {
    let fixture = RoomFixture::with(&json!({"capacity": 600, "session_s": 100, "waiting_timeout_s": 1_000})).await;
    let all = crowd(&fixture, 1_500).await;
    fixture.pass(101).await;
    let mut calls = 0;
    let mut admitted = 600;
    loop {
        let visited = fixture.tick().await;
        calls += 1;
        assert!(
            visited.counts.active <= 600,
            "those that were not taken yet keep their places occupied"
        );
        assert!(visited.counts.admitted - admitted <= 512);
        admitted = visited.counts.admitted;
        if !visited.more {
            break;
        }
    }
    assert!((3..=5).contains(&calls), "{calls}");
    let counts = fixture.snapshot().await.counts;
    assert_eq!((counts.active, counts.waiting, counts.expired), (600, 300, 600));
    let visits: Vec<_> = [599, 600, 1_199, 1_200]
        .map(|i: usize| Visit::Look(all[i].ticket))
        .into();
    let places: Vec<_> = fixture.visit(&visits).await.replies.into_iter().map(seen).collect();
    assert_eq!(
        (ended(&places[0]), is_in(&places[1]), is_in(&places[2])),
        (End::Expired, true, true)
    );
    assert!(!is_in(&places[3]));
}

#[tokio::test]
async fn who_is_over_is_told_so_though_a_call_did_not_come_to_it() {
    let fixture = RoomFixture::with(&json!({"capacity": 300, "session_s": 100, "waiting_timeout_s": 50})).await;
    let all = crowd(&fixture, 700).await;
    fixture.pass(101).await;
    // These are the last by score: 256 of each kind are reaped before them.
    let (last_in, last_waiting) = (all[299].ticket, all[699].ticket);
    let visits = [
        Visit::Renew(last_in),
        Visit::Look(last_waiting),
        fixture.join("u700"),
        fixture.join("new"),
    ];
    let visited = fixture.visit(&visits).await;
    assert!(visited.more);
    let over = |reply: &VisitReply| match reply {
        VisitReply::NotAdmitted(seen) | VisitReply::Seen(seen) => ended(seen),
        other => panic!("{other:?}"),
    };
    assert_eq!(
        [&visited.replies[0], &visited.replies[1]].map(over),
        [End::Expired, End::Abandoned]
    );
    let joined = seen(visited.replies[2].clone());
    assert!(joined.new && joined.ticket != last_waiting);
    let visited = fixture.settle().await;
    assert_eq!(
        (visited.counts.expired, visited.counts.abandoned),
        (300, 400),
        "none of the silent came in"
    );
    assert_eq!((visited.counts.active, visited.counts.waiting), (2, 0));
    assert_eq!(visited.counts.admitted, 302);
}

#[tokio::test]
async fn records_and_passes_that_are_over_go_in_parts() {
    let fixture = RoomFixture::with(&json!({"capacity": 600, "session_s": 100})).await;
    let all = crowd(&fixture, 600).await;
    for part in all.chunks(MAX_VISITS) {
        let leaves: Vec<_> = part.iter().map(|seen| Visit::Leave(seen.ticket)).collect();
        fixture.visit(&leaves).await;
    }
    assert_eq!(fixture.revoked(0).await.items.len(), 600);
    fixture.pass(601).await;
    let visited = fixture.tick().await;
    assert!(visited.more);
    assert_eq!(fixture.revoked(0).await.items.len(), 600 - 256);
    fixture.settle().await;
    fixture.tick().await;
    assert!(fixture.revoked(0).await.items.is_empty());
    let left: u64 = fixture
        .raw(redis::cmd("EXISTS").arg(&fixture.keys.tickets).arg(&fixture.keys.ended))
        .await;
    assert_eq!(left, 0);
}

/// More than the arguments that one call of Redis takes.
#[tokio::test]
async fn thousands_without_a_record_go_and_hold_up_nobody() {
    const GHOSTS: usize = 10_000;
    let fixture = RoomFixture::with(&json!({"capacity": 1})).await;
    let [inside, waits] = fixture.joined(["a", "b"]).await.try_into().expect("two");
    for key in [&fixture.keys.waiting, &fixture.keys.seen] {
        let mut add = redis::cmd("ZADD");
        add.arg(key);
        for ghost in 0..GHOSTS {
            // These are in front of all others, and were seen not long ago.
            let score = if key == &fixture.keys.waiting {
                -1
            } else {
                i64::MAX / 4_096
            };
            add.arg(score).arg(format!("{ghost:032x}"));
        }
        fixture.raw::<()>(&mut add).await;
    }
    let visited = fixture.visit(&[Visit::Leave(inside.ticket), fixture.join("c")]).await;
    assert!(visited.more, "as many as one call may look at");
    let visited = fixture.settle().await;
    assert_eq!((visited.counts.active, visited.counts.waiting), (1, 1));
    assert!(is_in(&fixture.one(Visit::Look(waits.ticket)).await));
}

#[tokio::test]
async fn when_memory_is_full_nobody_joins_and_all_else_goes_on() {
    let redis = Arc::new(TestRedis::own(&["--maxmemory-policy", "noeviction"]).await);
    let fixture = RoomFixture::on(redis, &json!({"capacity": 1})).await;
    let [a, b] = fixture.joined(["a", "b"]).await.try_into().expect("two");
    let limit = async |bytes: u64| {
        let mut command = redis::cmd("CONFIG");
        fixture.raw::<()>(command.arg("SET").arg("maxmemory").arg(bytes)).await;
    };
    limit(1).await;
    let before = fixture.dump().await;
    let refused = fixture.try_visit(&[Visit::Leave(a.ticket), fixture.join("c")]).await;
    let of_memory =
        |error: &scripts::ScriptError| matches!(error, scripts::ScriptError::Store(StoreError::OutOfMemory));
    assert!(of_memory(&refused.expect_err("refused")));
    assert_eq!(fixture.dump().await, before);
    fixture.tick().await;
    let visits = [Visit::Renew(a.ticket), Visit::Look(b.ticket), Visit::Leave(a.ticket)];
    let replies = fixture.visit(&visits).await.replies;
    assert!(is_in(&seen(replies[1].clone())), "b comes in where a left");
    assert_eq!(fixture.revoked(0).await.items.len(), 1);
    fixture.snapshot().await;
    fixture.status(Status::Suspended).await;
    fixture.status(Status::Open).await;
    limit(0).await;
    assert_eq!(fixture.joined(["c"]).await.len(), 1);
}

#[tokio::test]
async fn a_key_of_a_wrong_type_ends_every_call_before_it_writes() {
    let fixture = RoomFixture::with(&json!({"capacity": 1, "admissions_per_minute": 9})).await;
    let [a, b] = fixture.joined(["a", "b"]).await.try_into().expect("two");
    fixture.one(Visit::Leave(a.ticket)).await;
    let keys = fixture.keys.clone();
    let all = [
        &keys.tickets,
        &keys.users,
        &keys.waiting,
        &keys.seen,
        &keys.active,
        &keys.ended,
        &keys.revoked,
        &keys.recent,
        &keys.collected,
    ];
    for key in all {
        let spare = format!("{key}:spare");
        let held: u64 = fixture.raw(redis::cmd("EXISTS").arg(key)).await;
        if held == 1 {
            fixture.raw::<()>(redis::cmd("RENAME").arg(key).arg(&spare)).await;
        }
        fixture.raw::<()>(redis::cmd("SET").arg(key).arg("x")).await;
        let before = fixture.dump().await;
        for visits in [vec![], vec![fixture.join("c"), Visit::Leave(b.ticket)]] {
            let error = fixture.try_visit(&visits).await.expect_err(key).to_string();
            assert!(error.contains("WRONGTYPE") || error.contains("wrong kind"), "{error}");
        }
        assert_eq!(fixture.dump().await, before, "{key}");
        fixture.raw::<()>(redis::cmd("DEL").arg(key)).await;
        if held == 1 {
            fixture.raw::<()>(redis::cmd("RENAME").arg(&spare).arg(key)).await;
        }
    }
    for (field, wrong) in [("capacity", "many"), ("passes", "1.5"), ("hold", "")] {
        let right: String = fixture.raw(redis::cmd("HGET").arg(&keys.state).arg(field)).await;
        let set = async |value: &str| {
            let mut command = redis::cmd("HSET");
            fixture.raw::<()>(command.arg(&keys.state).arg(field).arg(value)).await;
        };
        set(wrong).await;
        let error = fixture.try_visit(&[]).await.expect_err(field).to_string();
        error.says("JP_DAMAGED state");
        let read = scripts::snapshot(&fixture.store, &keys, Mark::ZERO).await;
        assert!(read.is_err(), "{field}");
        set(&right).await;
    }
    assert!(is_in(&fixture.one(Visit::Look(b.ticket)).await), "all is as it was");
}

#[tokio::test]
async fn a_ticket_whose_record_is_lost_holds_nobody_up() {
    let fixture = RoomFixture::with(&json!({"capacity": 1, "session_s": 100, "waiting_timeout_s": 1_000})).await;
    let [a, b, c] = fixture.joined(["a", "b", "c"]).await.try_into().expect("three");
    let (tickets, lost) = (&fixture.keys.tickets, a.ticket.to_string());
    fixture.raw::<()>(redis::cmd("HDEL").arg(tickets).arg(lost)).await;
    let mut command = redis::cmd("HSET");
    fixture
        .raw::<()>(command.arg(tickets).arg(b.ticket.to_string()).arg("w x"))
        .await;
    let visited = fixture
        .visit(&[Visit::Look(a.ticket), Visit::Look(b.ticket), fixture.join("b")])
        .await;
    assert_eq!(visited.replies[..2], [VisitReply::Unknown, VisitReply::Unknown]);
    let again = seen(visited.replies[2].clone());
    assert!(again.new, "the user joins again");
    assert_eq!(
        visited.counts.active, 1,
        "the place stays occupied to its end: the pass is out"
    );
    fixture.pass(101).await;
    let visited = fixture.settle().await;
    assert_eq!((visited.counts.active, visited.counts.waiting), (1, 1));
    assert!(is_in(&fixture.one(Visit::Look(c.ticket)).await), "behind the lost one");
    assert_eq!(
        fixture.sorted(&fixture.keys.waiting).await,
        [(again.ticket.to_string(), 4)]
    );
}

fn wait_of(reply: &VisitReply) -> u64 {
    match reply {
        VisitReply::Limited { wait_ms } => *wait_ms,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn who_leaves_too_often_waits_and_what_was_answered_is_answered_again() {
    let fixture = RoomFixture::with(&json!({"capacity": 1})).await;
    let mut joins = Vec::new();
    for _ in 0..6 {
        let join = fixture.join("restless");
        let ticket = fixture.one(join.clone()).await.ticket;
        fixture.one(Visit::Leave(ticket)).await;
        // A repeated leave removes nobody and does not count.
        fixture.one(Visit::Leave(ticket)).await;
        joins.push(join);
    }
    let before = fixture.dump().await;
    let refused = fixture.visit(&[fixture.join("restless")]).await.replies;
    assert!((9_000..=10_000).contains(&wait_of(&refused[0])), "{refused:?}");
    assert_eq!(fixture.dump().await, before, "nothing was changed");
    assert_eq!(ended(&fixture.one(joins[5].clone()).await), End::Left);
    assert!(is_in(&fixture.one(fixture.join("calm")).await));
    fixture.pass(4).await;
    let refused = fixture.visit(&[fixture.join("restless")]).await.replies;
    assert!((5_000..=6_000).contains(&wait_of(&refused[0])), "{refused:?}");
    fixture.pass(6).await;
    let waits = fixture.one(fixture.join("restless")).await;
    assert!(!is_in(&waits));
    fixture.one(Visit::Leave(waits.ticket)).await;
    wait_of(&fixture.visit(&[fixture.join("restless")]).await.replies[0]);
    // A time that no clock of the service made counts as the longest.
    let now_ms = fixture.tick().await.now_ms;
    let mut set = redis::cmd("HSET");
    set.arg(&fixture.keys.users)
        .arg("restless")
        .arg(format!("- {}", now_ms + 10_000_000));
    fixture.raw::<()>(&mut set).await;
    let wait = wait_of(&fixture.visit(&[fixture.join("restless")]).await.replies[0]);
    assert!((9_000..=10_000).contains(&wait), "{wait}");
    // Nothing stays of a user who is gone.
    fixture
        .raw::<()>(redis::cmd("HDEL").arg(&fixture.keys.users).arg("restless"))
        .await;
    let ticket = fixture.one(fixture.join("restless")).await.ticket;
    fixture.one(Visit::Leave(ticket)).await;
    assert!(fixture.hash(&fixture.keys.users).await.contains_key("restless"));
    fixture.pass(601).await;
    fixture.settle().await;
    fixture.pass(601).await;
    fixture.settle().await;
    assert_eq!(fixture.hash(&fixture.keys.users).await.len(), 0);
}

#[tokio::test]
async fn a_session_to_its_end_makes_up_for_earlier_leaves_and_time_does_too() {
    let fixture = RoomFixture::with(&json!({"capacity": 1, "session_s": 1, "waiting_timeout_s": 5})).await;
    let leave = async || {
        let ticket = fixture.one(fixture.join("restless")).await.ticket;
        fixture.one(Visit::Leave(ticket)).await;
    };
    let held = async || fixture.hash(&fixture.keys.users).await;
    for _ in 0..3 {
        leave().await;
    }
    assert!(held().await["restless"].starts_with("- "), "half a minute counts");
    assert!(is_in(&fixture.one(fixture.join("restless")).await));
    fixture.pass(3).await;
    fixture.settle().await;
    assert!(held().await.is_empty(), "nothing counts any more");
    // After its time a leave counts no more, and is not kept beside a new ticket.
    leave().await;
    fixture.pass(11).await;
    let ticket = fixture.one(fixture.join("restless")).await.ticket;
    assert_eq!(held().await["restless"], ticket.to_string());
}

/// The step ends as many as it may, and the join ends the session of the user who comes back.
#[tokio::test]
async fn earlier_leaves_count_no_more_for_a_user_whose_session_a_join_ends() {
    let fixture = RoomFixture::with(&json!({"capacity": 300, "session_s": 10, "waiting_timeout_s": 1_000})).await;
    crowd(&fixture, 299).await;
    fixture.pass(2).await;
    for _ in 0..5 {
        let ticket = fixture.one(fixture.join("restless")).await.ticket;
        fixture.one(Visit::Leave(ticket)).await;
    }
    assert!(is_in(&fixture.one(fixture.join("restless")).await));
    fixture.pass(12).await;
    let back = fixture.visit(&[fixture.join("restless")]).await;
    assert!(back.more, "others are over too");
    let ticket = seen(back.replies[0].clone()).ticket;
    assert_eq!(fixture.hash(&fixture.keys.users).await["restless"], ticket.to_string());
}

/// Instances remember each such pass until it expires.
#[tokio::test]
async fn with_very_many_passes_taken_back_nobody_is_admitted() {
    const MOST: u64 = 1_000_000;
    let redis = Arc::new(TestRedis::own(&[]).await);
    let fixture = RoomFixture::on(redis, &json!({"capacity": 2})).await;
    let now_ms = fixture.tick().await.now_ms;
    let fill = redis::Script::new(
        "for i = ARGV[1], ARGV[1] + 49999 do
           redis.call('ZADD', KEYS[1], i, string.format('%032x', i) .. ARGV[2])
         end",
    );
    for first in (1..MOST).step_by(50_000) {
        fill.key(&fixture.keys.revoked)
            .arg(first)
            .arg(format!(" {} {now_ms}", now_ms + 280_000))
            .invoke_async::<()>(&mut fixture.redis.connection().await)
            .await
            .expect("filled");
    }
    let [waits] = fixture.joined(["a"]).await.try_into().expect("one");
    assert!(!is_in(&waits));
    let visited = fixture.tick().await;
    let due = visited.next_due_ms.expect("it is looked at again");
    assert!(
        !visited.more && due > visited.now_ms,
        "not at once, which would be a hot loop"
    );
    let mut drop = redis::cmd("ZREMRANGEBYRANK");
    fixture.raw::<()>(drop.arg(&fixture.keys.revoked).arg(0).arg(0)).await;
    assert_eq!(fixture.tick().await.counts.active, 1, "one expired");
}

#[tokio::test]
async fn a_room_that_redis_has_not_gets_no_status() {
    let fixture = RoomFixture::with(&json!({})).await;
    fixture.raw::<()>(redis::cmd("DEL").arg(&fixture.keys.state)).await;
    let refused = fixture.try_status(Status::Suspended).await;
    assert!(matches!(refused, Err(ScriptError::Unknown)), "{refused:?}");
}
