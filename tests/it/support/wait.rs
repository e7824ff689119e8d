//! Waits for a condition, with a deadline; and finds a free port.

use std::time::Duration;

use tokio::time::{Instant, MissedTickBehavior, interval};

/// Longest wait of a test for any condition.
pub const PATIENCE: Duration = Duration::from_mins(1);

const POLL_EVERY: Duration = Duration::from_millis(20);

/// Calls `check` until it answers `Some`, and returns that.
///
/// # Panics
/// When `deadline` has passed, naming `what` was waited for.
pub async fn eventually<T>(deadline: Duration, what: &str, mut check: impl AsyncFnMut() -> Option<T>) -> T {
    let end = Instant::now() + deadline;
    let mut poll = interval(POLL_EVERY);
    poll.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        poll.tick().await;
        if let Some(value) = check().await {
            return value;
        }
        assert!(Instant::now() < end, "not within {deadline:?}: {what}");
    }
}

/// A TCP port of the loopback address that is this process' until its end.
pub fn free_port() -> u16 {
    jackpot_simulate::free_port().expect("the loopback address has a free port")
}

#[tokio::test]
async fn eventually_returns_the_first_answer_and_stops_asking() {
    let mut asked = 0;
    let answer = eventually(Duration::from_secs(5), "three questions", async || {
        asked += 1;
        (asked == 3).then_some(asked)
    })
    .await;
    assert_eq!((answer, asked), (3, 3));
}

#[tokio::test]
#[should_panic(expected = "not within 50ms: the impossible")]
async fn eventually_names_what_did_not_happen() {
    eventually(Duration::from_millis(50), "the impossible", async || None::<()>).await;
}
