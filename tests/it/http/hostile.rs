//! A crowd of hostile connections beside a client with a key: no entry fails. `make bench-hostile` does the same at full
//! size and measures it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::raw::connect_from;
use crate::support::prelude::*;
use crate::support::service::PATIENT;

/// Hostile connections, from eight addresses.
const CROWD: usize = 800;
/// Entries beside them.
const ENTRIES: usize = 400;
/// Time after which a hostile connection gives up an act that is stuck.
const STUCK: Duration = Duration::from_millis(20);

const KINDS: [(&str, &str); 8] = [
    (
        "GET /healthz HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n",
        "4000\r\n",
    ),
    (
        "POST /v1/jackpots/h/entries HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n",
        "4000\r\n",
    ),
    (
        "POST /v1/jackpots/h/entries HTTP/1.1\r\nhost: x\r\ncontent-length: 60000\r\n\r\n",
        "",
    ),
    ("GET /healthz HTTP/1.1\r\nhost: x\r\na: ", "a"),
    ("GET /healthz HTTP/1.1\r\nhost: x\r\n\r\nGET /hea", "a"),
    ("", ""),
    ("GET /v1/jackpots/h/meter/stream HTTP/1.1\r\nhost: x\r\n\r\n", ""),
    (
        "GET /v1/jackpots/h HTTP/1.1\r\nhost: x\r\nauthorization: Bearer wrong\r\n\r\n",
        "GET /v1/jackpots/h HTTP/1.1\r\nhost: x\r\n\r\n",
    ),
];

/// Connects, sends its first bytes and then the others again and again, and reconnects when the service closes the
/// connection.
async fn hostile(number: usize, to: SocketAddr, stop: Arc<AtomicBool>, came: Arc<AtomicU64>) {
    let (first, then) = KINDS[number % KINDS.len()];
    let then = if then == "4000\r\n" {
        format!("{then}{}\r\n", "x".repeat(0x4000))
    } else {
        then.to_owned()
    };
    let last = 2 + u8::try_from(number / KINDS.len() % 8).unwrap();
    let mut pause = tokio::time::interval(Duration::from_millis(400));
    while !stop.load(Ordering::Relaxed) {
        pause.tick().await;
        let Ok(mut connection) = connect_from(last, to).await else {
            continue;
        };
        came.fetch_add(1, Ordering::Relaxed);
        let mut sent = connection.write_all(first.as_bytes()).await.is_ok();
        let mut bytes = [0; 4096];
        while sent && !stop.load(Ordering::Relaxed) {
            pause.tick().await;
            sent = !matches!(timeout(STUCK, connection.write_all(then.as_bytes())).await, Ok(Err(_)));
            let read = timeout(STUCK, connection.read(&mut bytes)).await;
            sent &= !matches!(read, Ok(Ok(0) | Err(_)));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn heavy_a_crowd_of_strangers_fails_no_entry_of_a_client_with_a_key() {
    attack(&[]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn heavy_a_crowd_through_a_trusted_proxy_fails_no_entry_either() {
    // Trusted are all addresses of the crowd, and the client's own. There are fewer places than connections.
    attack(&[
        ("JACKPOT__HTTP__TRUSTED_PROXIES", "127.0.0.0/8"),
        ("JACKPOT__HTTP__MAX_CONNECTIONS", "600"),
    ])
    .await;
}

async fn attack(environment: &[(&str, &str)]) {
    let mut environment = environment.to_vec();
    environment.push(("JACKPOT__HTTP__WORKERS", "1"));
    environment.extend(PATIENT);
    let service = Service::start_with(&environment).await;
    let definition = json!({
        "id": "h", "name": "h", "currency": "KRW", "status": "open", "contribution": {"fixed": 1},
        "tiers": [{"tier": "grand", "share_ppm": 1_000_000, "min_payout": 100, "seed": 0, "reserve_ppm": 0,
                   "cap": null, "must_hit_by": null}],
        "odds": {"total": 1000, "ranks": []}, "public_meter": true,
    });
    service.put("/v1/jackpots/h", definition).await.is(201);
    let to: SocketAddr = service.url("").trim_start_matches("http://").parse().unwrap();
    let (stop, came) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let mut crowd = JoinSet::new();
    for number in 0..CROWD {
        crowd.spawn(hostile(number, to, Arc::clone(&stop), Arc::clone(&came)));
    }
    crate::support::eventually(Duration::from_secs(30), "the crowd", async || {
        (came.load(Ordering::Relaxed) >= CROWD as u64 / 2).then_some(())
    })
    .await;
    let caller = service.caller();
    let mut pace = tokio::time::interval(Duration::from_millis(10));
    for number in 0..ENTRIES {
        pace.tick().await;
        let entry = json!({"entry_id": format!("e{number}"), "player_id": "p", "stake": 100});
        let answer = service
            .try_call(Method::POST, "/v1/jackpots/h/entries", Some(entry))
            .await;
        let answer = answer.unwrap_or_else(|error| panic!("entry {number}: {error}"));
        assert_eq!(answer.status, StatusCode::CREATED, "entry {number}: {}", answer.text);
        if number % 100 == 0 {
            let alive = caller.get_alone("/healthz").await;
            assert_eq!(alive.expect("a newcomer is answered"), StatusCode::OK);
        }
    }
    stop.store(true, Ordering::Relaxed);
    while crowd.join_next().await.is_some() {}
    let log = service.log();
    log.hides("ERROR");
}
