//! The rate of messages beside that of requests over HTTP. It measures and holds nothing, so it runs only when it is asked for:
//! `cargo nextest run --test it intake::rate --run-ignored only --no-capture`, with a release build as `JACKPOT_TEST_BINARY`.

use std::time::Instant;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use serde_json::{Value, json};

use super::bus::Bus;
use super::{DEADLINE, entry, service};
use crate::support::eventually;
use crate::support::service::Service;

const COUNT: usize = 20_000;
/// Connections over HTTP.
const CONNECTIONS: usize = 64;

async fn pool(service: &Service) -> u64 {
    let meter: Value = service.get("/v1/jackpots/spring/meter").await.body;
    meter["meters"][0]["pool"].as_u64().unwrap_or(0)
}

#[expect(clippy::cast_precision_loss, reason = "for a person to read")]
fn rate(began: Instant) -> f64 {
    COUNT as f64 / began.elapsed().as_secs_f64()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "it measures"]
async fn messages_beside_requests() {
    let bus = Bus::start().await;
    let mut service = service(&bus.environment(), &[]).await;
    for round in 0..3 {
        let began = Instant::now();
        let post = async |i: usize| {
            let body = json!({"entry_id": format!("h{round}-{i}"), "player_id": format!("p{i}"), "stake": 100});
            service.post("/v1/jackpots/spring/entries", body).await
        };
        let mut next = 0..COUNT;
        let mut posts: FuturesUnordered<_> = next.by_ref().take(CONNECTIONS).map(post).collect();
        while posts.next().await.is_some() {
            posts.extend(next.next().map(post));
        }
        let over_http = rate(began);
        drop(posts);
        let before = pool(&service).await;
        assert!(service.stop().await.success());
        let messages = (0..COUNT).map(|i| (Some(format!("p{i}")), entry("spring", &format!("m{round}-{i}"), "p1")));
        bus.send(messages).await;
        service.restart().await;
        eventually(DEADLINE, "it begins", async || {
            (pool(&service).await > before).then_some(())
        })
        .await;
        let began = Instant::now();
        eventually(DEADLINE, "all are taken", async || {
            (pool(&service).await >= before + COUNT as u64).then_some(())
        })
        .await;
        let of_messages = rate(began);
        println!(
            "entries/s: HTTP {over_http:.0}, messages {of_messages:.0}, ratio {:.2}",
            of_messages / over_http
        );
    }
}
