//! A cluster with `replicated` durability loses the primary of a room. Its replica, now in charge, has no replica, so
//! nothing can be confirmed. What users ask is applied all the same, and nobody loses a place for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

use crate::room::http::support::{create, joined, path};
use crate::support::cluster::TestCluster;
use crate::support::prelude::*;
use crate::support::service::LIMITS;

const ROOM: &str = "lobby";
const TIMEOUT_S: u64 = 8;
const USERS: usize = 30;

async fn service_on(cluster: &TestCluster) -> Service {
    let urls = cluster.urls().join(",");
    let replicated = [
        ("JACKPOT__REDIS__MODE", "cluster"),
        ("JACKPOT__REDIS__URLS", urls.as_str()),
        ("JACKPOT__REDIS__DURABILITY", "replicated"),
    ];
    Service::start_with(&[&LIMITS[..], &replicated].concat()).await
}

/// A number of the room's state, as its node has it, confirmed or not.
async fn number(cluster: &mut TestCluster, field: &str) -> u64 {
    let state = format!("room:{{{ROOM}}}:state");
    let mut connection = cluster.connection_to(&state).await;
    let mut get = redis::cmd("HGET");
    let text: String = get
        .arg(&state)
        .arg(field)
        .query_async(&mut connection)
        .await
        .expect("the field");
    text.parse().expect("a number")
}

/// Asks for each ticket all the time, as impatient pages do, until `stop` is set.
fn ask(service: &Service, tickets: &[Value], stop: &Arc<AtomicBool>) -> JoinSet<()> {
    let mut asking = JoinSet::new();
    for ticket in tickets {
        let (caller, path, stop) = (service.caller(), path(ROOM, ticket), Arc::clone(stop));
        asking.spawn(async move {
            while !stop.load(Ordering::Relaxed) {
                let answer = caller.get(&path).await.expect("an answer");
                assert!(
                    [StatusCode::OK, StatusCode::SERVICE_UNAVAILABLE].contains(&answer.status),
                    "{}",
                    answer.text
                );
            }
        });
    }
    asking
}

#[tokio::test]
async fn heavy_nobody_is_abandoned_while_no_replica_confirms_that_he_asked() {
    let mut cluster = TestCluster::with_replicas().await;
    let service = service_on(&cluster).await;
    create(
        &service,
        ROOM,
        1,
        &json!({"session_s": 3_600, "waiting_timeout_s": TIMEOUT_S}),
    )
    .await;
    let inside = joined(&service, ROOM, "inside").await;
    let mut tickets = Vec::new();
    for user in 0..USERS {
        tickets.push(joined(&service, ROOM, &format!("u{user}")).await);
    }
    let stop = Arc::new(AtomicBool::new(false));
    let mut asking = ask(&service, &tickets, &stop);

    let state = format!("room:{{{ROOM}}}:state");
    let killed = cluster.node_of(&state).await;
    let before = killed.url().to_owned();
    killed.kill9();
    eventually(PATIENCE, "its replica is in charge", async || {
        (cluster.node_of(&state).await.url() != before).then_some(())
    })
    .await;
    // Longer than a user may be silent.
    let until = Instant::now() + Duration::from_secs(2 * TIMEOUT_S);
    sleep_until(until).await;
    assert_eq!(
        number(&mut cluster, "abandoned").await,
        0,
        "all of them asked all the time"
    );

    // One user goes away now. While nothing is confirmed this does no harm; afterwards it counts.
    stop.store(true, Ordering::Relaxed);
    while let Some(asked) = asking.join_next().await {
        asked.expect("it asked");
    }
    let stop = Arc::new(AtomicBool::new(false));
    let mut asking = ask(&service, &tickets[1..], &stop);
    cluster.add_replica_of(&state).await;
    for (position, ticket) in (1..).zip(&tickets[1..]) {
        let found = eventually(PATIENCE, "a confirmed answer", async || {
            let answer = service.get(&path(ROOM, ticket)).await;
            (answer.status == StatusCode::OK).then_some(answer.body)
        })
        .await;
        assert_eq!(found["status"], "waiting", "{found}");
        let place = found["position"].as_u64().expect("a position");
        assert!([position, position + 1].contains(&place), "{found}");
    }
    service
        .until(&format!("/v1/rooms/{ROOM}"), "who went away is abandoned", |room| {
            room["abandoned"] == 1
        })
        .await;
    stop.store(true, Ordering::Relaxed);
    while let Some(asked) = asking.join_next().await {
        asked.expect("it asked");
    }
    let room = service.get(&format!("/v1/rooms/{ROOM}")).await.body;
    assert_eq!(
        [&room["abandoned"], &room["active"], &room["waiting"]],
        [1, 1, USERS - 1]
    );
    let inside = service.get(&path(ROOM, &inside)).await.body;
    assert_eq!(inside["status"], "admitted");
}
