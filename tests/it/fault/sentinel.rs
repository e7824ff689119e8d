//! Primaries that Sentinels watch are killed while players enter.

use jackpot::settings::{Durability, RedisMode};

use crate::fault::load::{Load, assert_each_counted_once};
use crate::fault::support::{create, lively};
use crate::store::support::{call, get, open, put, refusal, settings};
use crate::support::prelude::*;
use crate::support::sentinel::{NAME, TestSentinels};
use crate::support::service::LIMITS;
use crate::support::size;

const JACKPOT: &str = "watched";
const PLAYERS: usize = 12;
/// Entries acknowledged before each kill, so that the load is on and something can be lost.
const BETWEEN: usize = 100;

fn primary_url() -> String {
    format!("redis://{NAME}")
}

async fn service_on(sentinels: &TestSentinels) -> Service {
    let (urls, primary) = (sentinels.urls().join(","), primary_url());
    let mode = [
        ("JACKPOT__REDIS__MODE", "sentinel"),
        ("JACKPOT__REDIS__URLS", urls.as_str()),
        ("JACKPOT__REDIS__PRIMARY_URL", primary.as_str()),
        ("JACKPOT__REDIS__DURABILITY", "replicated"),
    ];
    Service::start_with(&[&LIMITS[..], &mode].concat()).await
}

#[tokio::test]
async fn heavy_no_acknowledged_entry_is_lost_in_failovers() {
    let mut sentinels = TestSentinels::start().await;
    let service = service_on(&sentinels).await;
    create(&service, lively(JACKPOT)).await;
    let load = Load::start(&service, JACKPOT, PLAYERS);
    let mut primary = sentinels.primary().await;
    for _ in 0..size(2, 10) {
        load.until_answered(BETWEEN).await;
        let now = sentinels.fail_over().await;
        assert_ne!(now, primary);
        primary = now;
    }
    load.until_answered(BETWEEN).await;
    let played = load.finish().await;
    assert_each_counted_once(&service, &primary, JACKPOT, &played).await;
}

#[tokio::test]
async fn heavy_the_store_follows_the_primary_with_one_sentinel_dead() {
    let mut sentinels = TestSentinels::start().await;
    let mut settings = settings(RedisMode::Sentinel, &sentinels.urls());
    settings.primary_url = primary_url();
    refusal(&settings).await.says("redis.durability = \"replicated\""); // a failover would lose entries
    settings.durability = Durability::Replicated;
    let (store, _data) = open(&settings).await;
    call(&store, &put(), "k", "v").await.expect("written");
    sentinels.kill_sentinel(0);
    sentinels.fail_over().await;
    eventually(PATIENCE, "the new primary is asked", async || {
        (get(&store, "k").await.ok()?.as_deref() == Some("v")).then_some(())
    })
    .await;
    call(&store, &put(), "k", "w")
        .await
        .expect("written to the new primary");
    store.close().await;

    settings.primary_url = "redis://another-name".to_owned();
    let message = refusal(&settings).await;
    message.says("No such master with that name");
    settings.urls = vec![sentinels.primary().await];
    settings.primary_url = primary_url();
    let message = refusal(&settings).await;
    message.says("unknown command");
    settings.mode = RedisMode::Standalone;
    settings.urls = sentinels.urls()[1..2].to_vec();
    let message = refusal(&settings).await;
    message.says("redis.mode = \"sentinel\"");
}
