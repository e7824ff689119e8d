use super::*;

fn connection() -> (Rc<ConnectionState>, Rc<Cell<Tick>>) {
    let clock = Rc::new(Cell::new(0));
    let state = ConnectionState::new([127, 0, 0, 1].into(), false, Rc::clone(&clock));
    state.opened(false);
    (Rc::new(state), clock)
}

const TIMES: Times = Times {
    head: 40,
    idle: 300,
    stalled: 120,
    linger: 8,
};

fn read_all(state: &ConnectionState) -> u64 {
    let mut all = 0;
    while let Permit::UpTo(left) = state.permit() {
        state.has_read(usize::try_from(left).unwrap());
        all += left;
    }
    all
}

#[test]
fn a_head_is_bounded_and_then_refused() {
    let (state, _) = connection();
    assert_eq!(read_all(&state), HEAD_BYTES, "then what came is worked on");
    assert_eq!(state.permit(), Permit::Spoil);
    assert_eq!(state.fault(), Some(Fault::TooLarge));
    assert_eq!(state.permit(), Permit::End);
    assert!(state.leaves_unread());
}

#[test]
fn many_small_requests_at_once_go_on() {
    let (state, _) = connection();
    assert_eq!(read_all(&state), HEAD_BYTES);
    drop(state.begin());
    assert_eq!(state.permit(), Permit::UpTo(HEAD_BYTES));
    assert_eq!(state.fault(), None);
}

#[test]
fn a_body_waits_until_it_is_asked_for() {
    let (state, _) = connection();
    let request = state.begin();
    assert_eq!(read_all(&state), HEAD_BYTES);
    assert_eq!(state.permit(), Permit::Wait);
    let receiving = state.receive(Asked::Sized(1_000_000));
    assert_eq!(read_all(&state), 1_000_000);
    assert_eq!(state.permit(), Permit::Wait);
    drop((receiving, request));
    assert_eq!(state.permit(), Permit::UpTo(HEAD_BYTES));
}

#[test]
fn an_answer_that_leaves_a_body_unread_ends_the_reading_when_it_is_out() {
    let (state, _) = connection();
    let request = state.begin();
    state.end_after_answer();
    assert!(!state.has_flushed(), "the answer goes on");
    drop(request);
    assert!(matches!(state.permit(), Permit::UpTo(_)));
    assert!(state.has_flushed());
    assert_eq!(state.permit(), Permit::End);
    assert!(state.leaves_unread());
}

#[test]
fn a_connection_of_http2_waits_and_gets_a_little_with_time() {
    let (state, _) = connection();
    state.opened(true);
    assert_eq!(read_all(&state), H2_REQUEST_BYTES);
    assert_eq!(state.permit(), Permit::Wait);
    state.refill(7);
    assert_eq!(state.permit(), Permit::UpTo(7));
    let _request = state.begin();
    assert_eq!(state.permit(), Permit::UpTo(H2_REQUEST_BYTES + 7));
}

#[test]
fn requests_of_one_connection_are_bounded_over_http2() {
    let (state, _) = connection();
    state.opened(true);
    let mut requests: Vec<_> = (0..H2_REQUESTS).map(|_| state.begin()).collect();
    assert!(!state.is_crowded());
    requests.push(state.begin());
    assert!(state.is_crowded() && !state.is_killed());
    requests.extend((0..H2_REQUESTS).map(|_| state.begin()));
    assert!(state.is_killed());
}

#[test]
fn time_ends_what_waits_for_the_client_and_nothing_else() {
    let (state, clock) = connection();
    state.has_read(1);
    clock.set(39);
    assert_eq!(state.check(&TIMES, false), None);
    assert_eq!(state.fault(), None);
    clock.set(40);
    assert_eq!(state.check(&TIMES, false), None);
    assert_eq!(state.fault(), Some(Fault::Slow), "refused with an answer");
    clock.set(48);
    assert_eq!(state.check(&TIMES, false), Some("slow_head"));
    assert!(state.is_killed());

    let (state, clock) = connection();
    let request = state.begin();
    clock.set(10_000);
    assert_eq!(state.check(&TIMES, false), None, "in flight");
    state.has_written(false);
    clock.set(10_120);
    assert_eq!(state.check(&TIMES, false), Some("not_read"));
    drop(request);

    let (state, clock) = connection();
    drop(state.begin());
    clock.set(299);
    assert_eq!(state.check(&TIMES, false), None);
    clock.set(300);
    assert_eq!(state.check(&TIMES, false), Some("idle"));

    let (state, clock) = connection();
    drop(state.begin());
    clock.set(299);
    state.has_written(true);
    clock.set(500);
    assert_eq!(state.check(&TIMES, false), None, "a long answer goes on");
}

#[test]
fn who_waits_for_the_client_is_expendable_and_who_works_is_not() {
    let (state, clock) = connection();
    assert_eq!(state.expendable(), None, "just come");
    clock.set(1);
    assert_eq!(state.expendable(), Some((1, 1)), "idle");
    let request = state.begin();
    clock.set(100);
    assert_eq!(state.expendable(), None, "worked on");
    let _receiving = state.receive(Asked::Sized(10));
    assert_eq!(state.expendable(), Some((3, 99)), "its body does not come");
    drop(request);
    clock.set(103);
    assert_eq!(state.expendable(), None, "used within a second");
    clock.set(104);
    assert_eq!(state.expendable(), Some((2, 4)), "idle again");
    state.has_read(1);
    clock.set(108);
    assert_eq!(state.expendable(), Some((0, 4)), "part of a head");
    state.has_written(false);
    clock.set(127);
    assert_eq!(state.expendable(), None, "not read for a moment");
    clock.set(128);
    assert_eq!(state.expendable(), Some((0, 24)), "not read for 5 s");
}
