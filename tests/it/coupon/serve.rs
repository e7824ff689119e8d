//! `lua/coupon/serve.lua` on a real Redis: what it serves and takes.

use jackpot::coupon::record::State;
use jackpot::coupon::scripts::{self, Refusal, ScriptError, Serve, Served, Taken};
use jackpot_api::coupon::Status;
use jackpot_core::mark::Mark;

use crate::coupon::fixture::{
    CouponFixture, LEASE_MS, ask, ask_queue, code, issue_of, letters, record, state_of, user_id, with_codes,
};
use crate::support::prelude::*;

fn taken(request_id: &str, user: &str, attempts: u32) -> Taken {
    Taken {
        request_id: request_id.to_owned(),
        user: user_id(user).into(),
        attempts,
    }
}

/// A coupon of two units and a queue of four: u, v, u again, w.
async fn lined_up() -> CouponFixture {
    let fixture = CouponFixture::with(&json!({"stock": 2})).await;
    for (id, user) in [("a", "u"), ("b", "v"), ("c", "u"), ("d", "w")] {
        fixture.join(id, user).await;
    }
    fixture
}

#[tokio::test]
async fn the_queue_is_served_in_its_order_by_the_rules_of_issue() {
    let fixture = lined_up().await;
    let (answers, first) = fixture.served("one", "t1", &[], 3).await;
    assert_eq!((answers.len(), first.len()), (0, 3));
    assert_eq!(first[2], taken("c", "u", 1));
    assert_eq!(fixture.events().await.len(), 5, "taking has no event");
    let served = with_codes(["a", "b", "c"]);
    let Served::Done {
        mark,
        answers,
        taken: next,
        waiting,
    } = fixture.serve("one", "t2", &served, 3).await
    else {
        panic!("not done");
    };
    assert_eq!((mark.n(), waiting, next), (6, 1, vec![taken("d", "w", 1)]));
    let answers = answers.into_iter().map(Option::unwrap).collect::<Vec<_>>();
    assert_eq!(letters(&answers), "iia");
    assert!(answers.iter().all(|answer| answer.fresh));
    assert_eq!(
        (issue_of(&answers[1]).sequence, issue_of(&answers[1]).code),
        (2, served[1].1)
    );
    let (id, first) = answers[2].first.clone().expect("the first issue");
    assert_eq!((id.as_str(), &first), ("a", record(&answers[0])));
    let block = format!("a u i 1 {}\nb v i 2 {}\nc u a a", served[0].1, served[1].1);
    assert_eq!(fixture.last_event("serve").await["block"], block);
    let (answers, none) = fixture.served("one", "t3", &with_codes(["d"]), 3).await;
    assert_eq!(letters(&[answers[0].clone().expect("a record")]), "o");
    assert_eq!((none, fixture.snapshot().await.queued), (vec![], 0));
    assert_eq!(letters(&[fixture.now("e", "x").await]), "o", "decided at once again");
}

#[tokio::test]
async fn a_repeat_of_a_step_serves_nothing_twice_and_counts_no_try() {
    let fixture = lined_up().await;
    fixture.served("one", "t1", &[], 2).await;
    let served = with_codes(["a", "b"]);
    let (answers, next) = fixture.served("one", "t2", &served, 2).await;
    let (requests, events) = (fixture.hash(&fixture.keys.requests).await, fixture.events().await);
    let other_codes = with_codes(["a", "b"]);
    let (again, next_again) = fixture.served("one", "t2", &other_codes, 2).await;
    assert_eq!(next_again, next);
    for (again, first) in again.iter().zip(&answers) {
        let (again, first) = (again.as_ref().expect("a record"), first.as_ref().expect("a record"));
        assert_eq!(
            (again.fresh, &again.record),
            (false, &first.record),
            "the first code stands"
        );
    }
    assert_eq!(fixture.hash(&fixture.keys.requests).await, requests);
    assert_eq!(fixture.events().await, events);
}

#[tokio::test]
async fn nobody_in_the_queue_means_nothing_is_written() {
    let fixture = CouponFixture::with(&json!({})).await;
    let before = fixture.dump().await;
    let (answers, taken) = fixture.served("one", "t1", &[], 256).await;
    assert_eq!((answers, taken, fixture.dump().await), (vec![], vec![], before));
}

#[tokio::test]
async fn one_consumer_serves_at_a_time_until_its_lease_ends_or_is_given_back() {
    let fixture = lined_up().await;
    fixture.served("one", "t1", &[], 2).await;
    let before = fixture.dump().await;
    let held = fixture.serve("two", "t2", &with_codes(["a"]), 2).await;
    let Served::Held { free_in_ms, .. } = held else {
        panic!("{held:?}");
    };
    assert!((LEASE_MS - 60_000..=LEASE_MS).contains(&free_in_ms), "{free_in_ms}");
    assert_eq!(fixture.dump().await, before);

    // As if its lease had just ended: the next consumer takes the same requests again.
    fixture
        .raw::<()>(redis::cmd("HSET").arg(&fixture.keys.state).arg("consumer").arg("one 1"))
        .await;
    let (_, next) = fixture.served("two", "t2", &[], 2).await;
    assert_eq!(
        next,
        [taken("a", "u", 2)],
        "those that were tried before come one at a time"
    );
    let held = fixture.serve("one", "t3", &with_codes(["a", "b"]), 2).await;
    assert!(matches!(held, Served::Held { .. }), "{held:?}");

    let giving = Serve {
        token: "two",
        lease_ms: 0,
        take_id: "t4",
        served: &with_codes(["a"]),
        next: 0,
    };
    let given = scripts::serve(&fixture.store, &fixture.keys, Mark::ZERO, &giving).await;
    let Ok(Served::Done {
        answers,
        taken: none,
        waiting: 3,
        ..
    }) = given
    else {
        panic!("{given:?}");
    };
    assert_eq!(letters(&[answers[0].clone().expect("a record")]), "i");
    assert_eq!(none, []);
    let (_, next) = fixture.served("one", "t5", &[], 2).await;
    assert_eq!(next, [taken("b", "v", 2)]);
}

#[tokio::test]
async fn only_the_head_of_the_queue_is_served() {
    let fixture = lined_up().await;
    fixture.served("one", "t1", &[], 1).await;
    let mut requests = fixture.hash(&fixture.keys.requests).await;
    let (answers, none) = fixture.served("one", "t2", &with_codes(["b", "a", "nobody"]), 0).await;
    assert_eq!(none, []);
    for (answer, place) in answers.iter().zip([Some(1), Some(0), None]) {
        assert_eq!(answer.as_ref().and_then(|answer| answer.place), place);
        assert!(answer.as_ref().is_none_or(|answer| !answer.fresh));
    }
    // Its consumer is alive and did not serve it: that was not a try.
    let taken = requests.get_mut("a").expect("its record");
    *taken = taken.replace(" 1 t1 ", " 0 - ");
    assert_eq!(fixture.hash(&fixture.keys.requests).await, requests);
    assert_eq!(fixture.events().await.len(), 5);
}

#[tokio::test]
async fn a_request_that_was_taken_three_times_becomes_a_dead_letter_and_the_queue_moves_on() {
    let fixture = lined_up().await;
    for attempts in 1..=3 {
        let (_, next) = fixture.served("one", &format!("t{attempts}"), &[], 1).await;
        assert_eq!(next, [taken("a", "u", attempts)]);
    }
    let (_, next) = fixture.served("one", "t4", &[], 2).await;
    assert_eq!(next, [taken("b", "v", 1)], "the dead letter counts among the two");
    assert_eq!(fixture.last_event("serve").await["block"], "a u d 3");
    let answer = fixture.lookup("a").await.expect("a record");
    let State::Dead {
        arrival: 1,
        attempts: 3,
        ..
    } = state_of(&answer, "u")
    else {
        panic!("{answer:?}");
    };
    assert_eq!(fixture.sorted(&fixture.keys.dead).await, [("a".to_owned(), 1)]);
    let snapshot = fixture.snapshot().await;
    assert_eq!((snapshot.queued, snapshot.dead, snapshot.issued), (3, 1, 0));
    let again = fixture.now("a", "u").await;
    assert!(!again.fresh && matches!(state_of(&again, "u"), State::Dead { .. }));
    let (answers, _) = fixture.served("one", "t5", &with_codes(["a", "b"]), 0).await;
    let answers = answers.into_iter().map(Option::unwrap).collect::<Vec<_>>();
    assert_eq!(letters(&answers), "di", "what is dead is not served");
}

#[tokio::test]
async fn who_is_taken_with_others_brings_them_not_down_with_it() {
    let fixture = lined_up().await;
    let (_, all) = fixture.served("one", "t0", &[], 4).await;
    assert_eq!(all.len(), 4);
    // Each consumer dies with the requests that it took.
    for (take, attempts) in [("t1", 2), ("t2", 3)] {
        let (_, next) = fixture.served("one", take, &[], 4).await;
        assert_eq!(next, [taken("a", "u", attempts)]);
    }
    let (_, next) = fixture.served("one", "t3", &[], 4).await;
    assert_eq!(next, [taken("b", "v", 2)]);
    let (_, next) = fixture.served("one", "t4", &with_codes(["b"]), 4).await;
    assert_eq!(next, [taken("c", "u", 2)]);
    let snapshot = fixture.snapshot().await;
    assert_eq!((snapshot.dead, snapshot.queued, snapshot.issued), (1, 2, 1));
}

#[tokio::test]
async fn a_redriven_request_in_front_costs_those_behind_it_no_try() {
    let fixture = lined_up().await;
    for take in ["t1", "t2", "t3", "t4"] {
        fixture.served("one", take, &[], 1).await;
    }
    fixture.served("one", "t5", &[], 3).await;
    fixture.redrive("a").await;
    let (answers, next) = fixture.served("one", "t6", &with_codes(["b", "c", "d"]), 3).await;
    assert!(answers.iter().flatten().all(|answer| answer.place.is_some()));
    assert_eq!(answers.len(), 3);
    assert_eq!(next, [taken("a", "u", 1), taken("b", "v", 1), taken("c", "u", 1)]);
}

/// A request on its last try, whose consumer is alive, does not become a dead letter. The requests that come back in
/// front of it do not change that, nor does the careful step that takes it later.
#[tokio::test]
async fn who_could_not_be_served_keeps_its_tries_also_when_it_is_not_taken_at_once() {
    let fixture = lined_up().await;
    for take in ["t1", "t2", "t3", "t4"] {
        fixture.served("one", take, &[], 1).await;
    }
    for take in ["u1", "u2", "u3"] {
        fixture.served("one", take, &[], 1).await;
    }
    fixture.redrive("a").await;
    let codes = with_codes(["b"]);
    for _ in 0..2 {
        let (_, next) = fixture.served("one", "v1", &codes, 3).await;
        assert_eq!(
            next,
            [taken("a", "u", 1)],
            "b comes behind it, alone; and a repeat changes nothing"
        );
    }
    let (_, next) = fixture.served("one", "v2", &with_codes(["a"]), 3).await;
    assert_eq!(next, [taken("b", "v", 3)], "its third try still");
    assert_eq!(fixture.snapshot().await.dead, 0);
}

#[tokio::test]
async fn a_stopped_coupon_serves_nobody() {
    let fixture = lined_up().await;
    fixture.served("one", "t1", &[], 2).await;
    fixture.status(Status::Suspended).await;
    let before = fixture.dump().await;
    let stopped = fixture.serve("one", "t2", &with_codes(["a", "b"]), 2).await;
    let Served::Stopped { refusal, .. } = stopped else {
        panic!("{stopped:?}");
    };
    assert_eq!((refusal, fixture.dump().await), (Refusal::Suspended, before));
    fixture.status(Status::Open).await;
    let (answers, _) = fixture.served("one", "t2", &with_codes(["a", "b"]), 2).await;
    assert!(answers.iter().flatten().all(|answer| answer.fresh));
}

#[tokio::test]
async fn a_request_whose_user_cannot_be_read_becomes_a_dead_letter() {
    let fixture = lined_up().await;
    fixture
        .raw::<()>(redis::cmd("HSET").arg(&fixture.keys.users).arg("v").arg("no record"))
        .await;
    fixture.served("one", "t1", &[], 3).await;
    let (answers, next) = fixture.served("one", "t2", &with_codes(["a", "b", "c"]), 3).await;
    let answers = answers.into_iter().map(Option::unwrap).collect::<Vec<_>>();
    assert_eq!(letters(&answers), "iqq");
    assert_eq!(next, [taken("b", "v", 2)], "c could be served, but not before b");
    for (take, attempts) in [("t3", 3), ("t4", 1)] {
        let (_, next) = fixture.served("one", take, &with_codes(["b"]), 3).await;
        assert_eq!(next[0].attempts, attempts, "{next:?}");
    }
    let snapshot = fixture.snapshot().await;
    assert_eq!((snapshot.dead, snapshot.queued, snapshot.issued), (1, 2, 1));
}

#[tokio::test]
async fn damage_stops_the_queue_before_anything_is_written() {
    let fixture = lined_up().await;
    fixture.served("one", "t1", &[], 2).await;
    let keys = &fixture.keys;
    let wish = Serve {
        token: "one",
        lease_ms: LEASE_MS,
        take_id: "t2",
        served: &with_codes(["a", "b"]),
        next: 2,
    };
    let sound: String = fixture.raw(redis::cmd("HGET").arg(&keys.requests).arg("c")).await;
    let set = async |text: &str| {
        fixture
            .raw::<()>(redis::cmd("HSET").arg(&keys.requests).arg("c").arg(text))
            .await;
    };
    let fails = async |what: &str| {
        let before = fixture.dump().await;
        let served = scripts::serve(&fixture.store, keys, Mark::ZERO, &wish).await;
        assert!(matches!(served, Err(ScriptError::Store(_))), "{what}: {served:?}");
        assert_eq!(fixture.dump().await, before, "{what}");
    };
    set("no record").await;
    fails("the record of one that is to be taken").await;
    set(&sound).await;
    for key in [&keys.users, &keys.dead] {
        fixture.raw::<()>(redis::cmd("SET").arg(key).arg("a string")).await;
        fails(key).await;
        fixture.raw::<()>(redis::cmd("DEL").arg(key)).await;
    }
    let served = scripts::serve(&fixture.store, keys, Mark::ZERO, &wish).await;
    assert!(matches!(served, Ok(Served::Done { .. })), "{served:?}");
}

#[tokio::test]
async fn the_largest_step_serves_and_takes_256() {
    let fixture = CouponFixture::with(&json!({"stock": 1_000})).await;
    let requests = (0..600).map(|i| ask_queue(&format!("r{i}"), &format!("u{i}")));
    fixture.answers(&requests.collect::<Vec<_>>()).await;
    let (mut served, mut count, mut takes) = (Vec::new(), 0, 0);
    loop {
        let (answers, next) = fixture.served("one", &format!("t{takes}"), &served, 256).await;
        count += answers.len();
        takes += 1;
        if next.is_empty() {
            break;
        }
        served = next.into_iter().map(|taken| (taken.request_id, code())).collect();
    }
    assert_eq!((count, takes, fixture.snapshot().await.issued), (600, 4, 600));
    let sequence = issue_of(&fixture.now("r599", "u599").await).sequence;
    assert_eq!(sequence, 600, "in the order of arrival");
    assert_eq!(letters(&fixture.answers(&[ask("new", "x")]).await), "i");
}
