//! Users ask three times each, five times as many as there are units, while the service and Redis are killed. Exactly the stock
//! is issued, no user gets two units, and the ledger has them in the order of issue.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use futures_util::{StreamExt, stream};
use tokio::task::JoinSet;

use crate::coupon::fault::support::{Answered, Client, Crowd, assert_sold_out, requests};
use crate::fault::support::embedded;
use crate::support::fixture::by_name;
use crate::support::local::LocalServer;
use crate::support::prelude::*;
use crate::support::proxy::ChaosProxy;
use crate::support::size;

const EACH: usize = 3;
/// Users for each unit.
const USERS: usize = 5;

/// Units in all.
fn stock() -> usize {
    size(200, 1_000)
}

/// Requests at a time: so few that units are left at each kill.
fn workers() -> usize {
    stock() / 5
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stampede_with_kills_gets_exactly_the_stock() {
    let (stock, users) = (stock(), USERS * stock());
    let (mut service, _) = embedded(&[]).await;
    let client = Client::of(&service);
    client.define("rush", stock as u64).await;
    let crowd = Crowd::new(&client, "rush", requests(users, EACH), workers());
    crowd.until_answered(stock / 3).await;
    service.kill9();
    service.restart().await;
    crowd.until_answered(stock * 2 / 3).await;
    for pid in service.redis_pids() {
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).expect("a Redis of its own");
    }
    let answers = crowd.answers().await;
    assert_eq!(answers.len(), users * EACH);
    assert_sold_out(&client, "rush", stock, &answers).await;
}

/// The queue is filled while another consumer seems to hold it. Then its consumer is killed with a reply of Redis on
/// its way to it, three times in different places, and Redis once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_queue_whose_consumer_is_killed_serves_everyone_once_in_the_order_of_arrival() {
    // The first two kills come while units are left, and in different calls, of at most 256 requests.
    let stock = size(500, 1_000);
    let users = USERS * stock;
    let mut redis = own_redis(&[]).await;
    let proxy = ChaosProxy::in_front_of(redis.url()).await;
    let lease = [("JACKPOT__COUPONS__CONSUMER_LEASE_MS", "1000")];
    let mut service = service_on(proxy.url(), &lease).await;
    let client = Client::of(&service);
    client.define("line", stock as u64).await;
    hold_queue(&redis).await;
    fill(&client, users).await;
    let arrivals = arrivals(&redis).await;
    assert_eq!(arrivals.len(), users * EACH, "each joined once");
    let at = |place: usize| arrivals[&(place as u64)].clone();

    // The lost reply is that of the call that serves this request. The request is served, and its consumer does not know.
    let lose_at = |place: usize| proxy.lose_reply_and_go_down(&["FCALL", &format!("\n{}\r", at(place))], 0);
    let places = [stock * 3 / 10, stock * 9 / 10, stock * 9];
    lose_at(places[0]);
    free_queue(&redis).await;
    for kill in 0..places.len() {
        eventually(PATIENCE, "a reply is lost", async || {
            (proxy.lost() > kill).then_some(())
        })
        .await;
        service.kill9();
        if kill == 1 {
            redis.kill9();
            redis.restart().await;
        }
        // Before the next consumer begins: a short queue is soon served.
        if let Some(place) = places.get(kill + 1) {
            lose_at(*place);
        }
        proxy.pass();
        service.restart().await;
    }
    eventually(PATIENCE, "the queue is empty", async || {
        let shown = client.get("/v1/coupons/line").await;
        (shown["queued"] == 0).then_some(())
    })
    .await;

    let look = |(request_id, user): (String, String)| {
        let client = client.clone();
        async move {
            let body = client.result("line", &request_id).await;
            let result = body["result"].as_str().expect("a result").to_owned();
            Answered {
                request_id,
                user,
                result,
                body,
            }
        }
    };
    let answers: Vec<Answered> = stream::iter(requests(users, EACH))
        .map(look)
        .buffered(workers())
        .collect()
        .await;
    assert_sold_out(&client, "line", stock, &answers).await;
    let places: BTreeMap<&String, u64> = arrivals
        .iter()
        .map(|(place, request_id)| (request_id, *place))
        .collect();
    let mut served: Vec<_> = answers.iter().filter(|answer| answer.result == "issued").collect();
    served.sort_by_key(|answer| answer.body["sequence"].as_u64());
    let order: Vec<u64> = served.iter().map(|answer| places[&answer.request_id]).collect();
    assert!(order.is_sorted(), "the first that came are the first that got one");
}

/// Writes into the state that another consumer holds the queue.
async fn hold_queue(redis: &LocalServer) {
    consumer(redis, "another 99999999999999 99999999999999").await;
}

async fn free_queue(redis: &LocalServer) {
    consumer(redis, "another 0").await;
}

async fn consumer(redis: &LocalServer, text: &str) {
    let mut connection = redis.connection().await;
    let set = redis::cmd("HSET")
        .arg("cp:{line}:state")
        .arg("consumer")
        .arg(text)
        .to_owned();
    set.exec_async(&mut connection).await.expect("HSET");
}

async fn fill(client: &Client, users: usize) {
    let all = Arc::new(requests(users, EACH));
    let next = Arc::new(AtomicUsize::new(0));
    let mut joining = JoinSet::new();
    for _ in 0..workers() {
        let (client, all, next) = (client.clone(), Arc::clone(&all), Arc::clone(&next));
        joining.spawn(async move {
            while let Some((request_id, user)) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
                client.join("line", request_id, user).await;
            }
        });
    }
    joining.join_all().await;
}

/// Request ids by their place in the queue.
async fn arrivals(redis: &LocalServer) -> BTreeMap<u64, String> {
    let mut connection = redis.connection().await;
    let events = redis::cmd("XRANGE")
        .arg("cp:{line}:events")
        .arg("-")
        .arg("+")
        .to_owned();
    let events = by_name(events.query_async(&mut connection).await.expect("XRANGE"));
    let blocks = events.iter().filter_map(|(_, fields)| fields.get("block"));
    let mut places = BTreeMap::new();
    for line in blocks.flat_map(|block| block.lines().map(str::to_owned).collect::<Vec<_>>()) {
        let parts: Vec<_> = line.split(' ').collect();
        if let [request_id, _, "q", arrival] = parts[..] {
            places.insert(arrival.parse().expect("a number"), request_id.to_owned());
        }
    }
    places
}

/// Issues of a small stock race with the voids of what was issued. At no instant are more units out than the
/// stock has.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn issues_and_voids_race_and_the_stock_holds_throughout() {
    const UNITS: u64 = 20;
    let asked: u64 = size(2_000, 10_000);
    let (service, _) = embedded(&[]).await;
    let client = Client::of(&service);
    client.define("race", UNITS).await;
    let next = Arc::new(AtomicU64::new(0));
    let mut racing = JoinSet::new();
    for worker in 0..40 {
        let (client, next) = (client.clone(), Arc::clone(&next));
        racing.spawn(async move {
            let mut voided = 0;
            loop {
                let n = next.fetch_add(1, Ordering::Relaxed);
                if n >= asked {
                    return voided;
                }
                // There are few users, so that issues of the same user race too.
                let answers = client
                    .ask("race", &format!("r{n}"), &format!("u{}", (n * 7 + worker) % 60))
                    .await;
                if answers.result == "issued" {
                    let path = format!("/v1/coupons/race/issues/r{n}");
                    let (status, body) = client.call(Method::DELETE, &path, None, true).await;
                    assert_eq!(status, StatusCode::OK, "{body}");
                    voided += 1;
                }
            }
        });
    }
    let over = Arc::new(AtomicBool::new(false));
    let watching = {
        let (client, over) = (client.clone(), Arc::clone(&over));
        tokio::spawn(async move {
            let mut looks = 0;
            while !over.load(Ordering::Relaxed) {
                let shown = client.get("/v1/coupons/race").await;
                let [issued, voided, remaining] =
                    ["issued", "voided", "remaining"].map(|name| shown[name].as_u64().expect("a count"));
                assert_eq!(remaining + issued, UNITS + voided, "{shown}");
                assert!(issued - voided <= UNITS, "{shown}");
                looks += 1;
            }
            looks
        })
    };
    let voided: u64 = racing.join_all().await.into_iter().sum();
    over.store(true, Ordering::Relaxed);
    let looks: u64 = watching.await.expect("it holds at every look");
    let shown = client.get("/v1/coupons/race").await;
    let counts = ["issued", "voided", "remaining"].map(|name| shown[name].as_u64());
    assert_eq!(counts, [voided, voided, UNITS].map(Some), "{shown}");
    assert!(voided > UNITS && looks > 10, "{voided} voided, {looks} looks");
    drop(service);
}
