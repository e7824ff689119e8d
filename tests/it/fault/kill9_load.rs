//! `kill -9` of the embedded Redis, and of the service, while players enter.

use rustix::process::{Signal, kill_process};

use crate::fault::load::{Load, assert_each_counted_once};
use crate::fault::support::{create, embedded, lively};
use crate::support::prelude::*;

const JACKPOT: &str = "struck";
const PLAYERS: usize = 12;
const KILLS: usize = 3;
/// Entries acknowledged before each kill, so that the load is on and something can be lost.
const BETWEEN: usize = 100;

#[tokio::test]
async fn heavy_no_acknowledged_entry_is_lost_when_the_embedded_redis_is_killed_under_load() {
    let (service, url) = embedded(&[]).await;
    create(&service, lively(JACKPOT)).await;
    let load = Load::start(&service, JACKPOT, PLAYERS);
    for _ in 0..KILLS {
        load.until_answered(BETWEEN).await;
        let [killed] = service.redis_pids()[..] else {
            panic!("one Redis runs")
        };
        kill_process(killed, Signal::KILL).expect("it can be killed");
        eventually(PATIENCE, "another Redis runs", async || {
            matches!(service.redis_pids()[..], [pid] if pid != killed).then_some(())
        })
        .await;
    }
    load.until_answered(BETWEEN).await;
    let played = load.finish().await;
    assert_each_counted_once(&service, &url, JACKPOT, &played).await;
}

#[tokio::test]
async fn heavy_no_acknowledged_entry_is_lost_when_the_service_is_killed_under_load() {
    let (mut service, url) = embedded(&[]).await;
    create(&service, lively(JACKPOT)).await;
    let redis = service.redis_pids();
    assert_eq!(redis.len(), 1);
    let load = Load::start(&service, JACKPOT, PLAYERS);
    for _ in 0..KILLS {
        load.until_answered(BETWEEN).await;
        service.kill9();
        load.until_cut(1).await;
        service.restart().await;
        assert_eq!(service.redis_pids(), redis, "the Redis that was left is adopted");
    }
    load.until_answered(BETWEEN).await;
    let played = load.finish().await;
    assert!(played.iter().any(|one| !one.at_once), "no player was ever interrupted");
    assert_each_counted_once(&service, &url, JACKPOT, &played).await;
}

#[tokio::test]
async fn heavy_entries_go_on_after_a_kill_of_both_the_service_and_its_redis() {
    let (mut service, url) = embedded(&[]).await;
    create(&service, lively(JACKPOT)).await;
    let load = Load::start(&service, JACKPOT, PLAYERS);
    load.until_answered(BETWEEN).await;
    let left = service.redis_pids();
    service.kill9();
    for pid in &left {
        kill_process(*pid, Signal::KILL).expect("it can be killed");
    }
    eventually(PATIENCE, "nothing runs any more", async || {
        service.redis_pids().is_empty().then_some(())
    })
    .await;
    service.restart().await;
    load.until_answered(BETWEEN).await;
    let played = load.finish().await;
    assert_each_counted_once(&service, &url, JACKPOT, &played).await;
}
