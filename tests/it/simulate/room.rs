//! `jackpot simulate --room`, as a user sees it. A crowd goes through a private service that is killed. In another
//! service another client takes a place, which the run must notice.

use serde_json::{Value, json};

use super::support::Scenario;
use crate::support::service::Service;

const ROOM: Scenario = Scenario {
    option: "--room",
    rules: 12,
    shown: &[
        "Active sessions over time",
        "Waiting and admitted over time",
        "nobody lost",
        "Definition of the room",
    ],
};

fn count(numbers: &Value, name: &str) -> u64 {
    numbers[name].as_u64().expect("a count")
}

#[test]
fn a_crowd_of_all_kinds_goes_through_the_room() {
    let numbers = ROOM.honest(
        "--users 160 --capacity 20 --session-s 3 --waiting-timeout-s 4 --connections 16 --stay-ms 100 --listen 30 \
         --twice 20 --renew 10 --leave 10 --abandon 10 --die 10",
    );
    let ended: u64 = ["left", "expired", "abandoned"]
        .map(|how| count(&numbers, how))
        .iter()
        .sum();
    assert_eq!(ended, 160);
    for what in [
        "left",
        "expired",
        "abandoned",
        "renewed",
        "promoted",
        "looks",
        "events",
        "samples",
    ] {
        assert!(count(&numbers, what) > 0, "{what}: {numbers}");
    }
    for freed in ["expired", "left"] {
        assert!(numbers["promotion_lag"][freed]["p99_us"].is_u64(), "{numbers}");
    }
    let early = 144;
    assert_eq!((count(&numbers, "joins"), count(&numbers, "waiting")), (early, early));
    assert!(count(&numbers, "joins_again") > 0, "{numbers}");
    assert_eq!((count(&numbers, "missed"), count(&numbers, "kills")), (0, 0));
}

#[test]
fn a_crowd_goes_through_though_the_service_and_redis_are_killed() {
    let numbers = ROOM.honest(
        "--users 120 --capacity 40 --session-s 10 --waiting-timeout-s 30 --connections 16 --stay-ms 100 --renew 0 \
         --abandon 0 --die 5 --kills 2 --kill-redis --seed 2",
    );
    assert_eq!(count(&numbers, "kills"), 2);
    assert_eq!(count(&numbers, "abandoned"), 0);
}

#[test]
fn a_rate_is_kept() {
    let numbers = ROOM.honest(
        "--users 40 --capacity 40 --rate 600 --session-s 5 --waiting-timeout-s 10 --connections 8 --stay-ms 0 --renew 0 \
         --abandon 0 --die 0",
    );
    assert!(count(&numbers, "admitted") > 20);
    let lag = &numbers["promotion_lag"];
    assert!(
        lag["expired"].is_null() && lag["left"].is_null(),
        "there places are free on purpose"
    );
}

/// Another client joins: places and counts are not those in the answers to the users of the run.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_does_not_add_up_is_violated() {
    let service = Service::start().await;
    ROOM.violated(
        &service,
        "--room-id shared --users 400 --capacity 200 --connections 8 --stay-ms 0 --session-s 3 --waiting-timeout-s 3 \
         --renew 0 --die 0 --abandon 0 --late 0",
        "/v1/rooms/shared/tickets",
        json!({"user_id": "somebody"}),
        &["counts"],
    )
    .await;
    let closed = service.get("/v1/rooms/shared").await;
    assert_eq!(closed.body["capacity"], 0, "the run closes its room: {}", closed.body);
}

#[test]
fn options_that_make_no_sense_end_with_2() {
    ROOM.assert_refused(&[
        ("--renew 60 --die 60", "--renew"),
        ("--stay-ms 9000", "--stay-ms"),
        ("--players 3", "--players"),
        ("--coupons", "--coupons"),
        ("--kill-redis", "--kill-redis"),
    ]);
}
