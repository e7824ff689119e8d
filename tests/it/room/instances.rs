//! Rooms of whole services: the case of ten places, and two instances, one of them killed.

use crate::room::http::support::{create, enter, jackpot, joined, leave, look};
use crate::support::local::LocalServer;
use crate::support::postgres_local::PrivatePostgres;
use crate::support::prelude::*;

fn ms(ticket: &Value, field: &str) -> i64 {
    let text = ticket[field].as_str().expect("a time");
    jackpot_core::clock::parse_rfc3339(text).expect("RFC 3339")
}

#[tokio::test]
async fn behind_those_who_abandoned_and_those_who_expired_the_last_ten_come_in() {
    let service = Service::start().await;
    create(&service, "ten", 10, &json!({"session_s": 5, "waiting_timeout_s": 2})).await;
    let mut tickets = Vec::new();
    for user in 1..=30 {
        tickets.push(joined(&service, "ten", &format!("u{user}")).await);
    }
    let (first, rest) = tickets.split_at(10);
    let (silent, last) = rest.split_at(10);
    assert!(first.iter().all(|ticket| ticket["status"] == "admitted"));
    assert!(rest.iter().all(|ticket| ticket["status"] == "waiting"));
    let admitted = eventually(PATIENCE, "all of the last ten are in", async || {
        let mut admitted = Vec::new();
        for ticket in last {
            let seen = look(&service, "ten", ticket).await;
            assert_ne!(seen["status"], "abandoned", "{seen}");
            admitted.extend(Some(seen).filter(|seen| seen["status"] == "admitted"));
        }
        (admitted.len() == 10).then_some(admitted)
    })
    .await;
    // The time, by Redis' clock, from which nothing stood in their way.
    let mut free_ms = 0;
    for (tickets, how) in [(silent, "abandoned"), (first, "expired")] {
        for ticket in tickets {
            let seen = look(&service, "ten", ticket).await;
            assert_eq!(seen["status"], how, "{seen}");
            free_ms = free_ms.max(ms(&seen, "ended_at"));
        }
    }
    for ticket in &admitted {
        // Below 0 when the first ten joined in two different seconds: this ticket has a place of the first second.
        let behind_ms = ms(ticket, "admitted_at") - free_ms;
        assert!(behind_ms <= 2_000, "{behind_ms} ms behind: {ticket}");
    }
    let room = service.get("/v1/rooms/ten").await.body;
    assert_has!(room, {"admitted": 20, "expired": 10, "abandoned": 10});
    assert_has!(room, {"active": 10, "waiting": 0});
}

/// Two services on one Redis and one database, each with a data directory and signing keys of its own.
struct Pair {
    one: Service,
    other: Service,
    _redis: LocalServer,
    _postgres: PrivatePostgres,
}

async fn pair() -> Pair {
    let postgres = PrivatePostgres::start().await.expect("apt-get install postgresql");
    let redis = own_redis(&[]).await;
    let url = postgres.url();
    let ledger = [("JACKPOT__LEDGER__URL", url.as_str())];
    Pair {
        one: service_on(redis.url(), &ledger).await,
        other: service_on(redis.url(), &ledger).await,
        _redis: redis,
        _postgres: postgres,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pass_of_one_instance_is_good_at_the_other_until_its_user_leaves() {
    let pair = pair().await;
    create(&pair.one, "shared", 1, &json!({})).await;
    jackpot(&pair.one, "behind", &json!("shared")).await.is(201);
    let ticket = joined(&pair.one, "shared", "ann").await;
    let taken = enter(&pair.other, "behind", "e1", "ann", &ticket["pass"]).await;
    assert_eq!(taken.0, 201, "{taken:?}");
    // Both instances answer with the same ticket. The pass of the other one is signed with its own key.
    let there = joined(&pair.other, "shared", "ann").await;
    assert_eq!(there["ticket"], ticket["ticket"]);
    let taken = enter(&pair.one, "behind", "e2", "ann", &there["pass"]).await;
    assert_eq!(taken.0, 201, "{taken:?}");
    leave(&pair.one, "shared", &ticket).await;
    let mut tried = 0;
    eventually(PATIENCE, "the other one knows that she left", async || {
        tried += 1;
        let (status, code, _) = enter(&pair.other, "behind", &format!("t{tried}"), "ann", &ticket["pass"]).await;
        assert!(
            status == 201 || (status, code.as_str()) == (403, "pass-expired"),
            "{status} {code}"
        );
        (status == 403).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn when_one_instance_is_killed_the_other_lets_in_also_those_who_ask_nobody() {
    let mut pair = pair().await;
    create(&pair.one, "shared", 1, &json!({"session_s": 2})).await;
    joined(&pair.one, "shared", "first").await;
    let asks_nobody = joined(&pair.one, "shared", "second").await;
    let third = joined(&pair.one, "shared", "third").await;
    assert_eq!((&asks_nobody["position"], &third["position"]), (&json!(1), &json!(2)));
    pair.one.kill9();
    eventually(
        PATIENCE,
        "the other instance lets the second in, then the third",
        async || {
            let room = pair.other.get("/v1/rooms/shared").await.body;
            (room["admitted"] == 3).then_some(())
        },
    )
    .await;
    let seen = look(&pair.other, "shared", &asks_nobody).await;
    assert_eq!(seen["status"], "expired", "{seen}");
    pair.one.restart().await;
    let seen = look(&pair.one, "shared", &asks_nobody).await;
    assert_eq!(seen["status"], "expired", "{seen}");
}
