//! An instance starts while a node of the cluster is away: its subjects answer 503 until it is back, all others play.

use crate::fault::frozen_node::cluster;
use crate::fault::support::{balanced, create, enter, enter_unavailable, key, lively};
use crate::support::cluster::TestCluster;
use crate::support::prelude::*;
use crate::support::service::LIMITS;

/// Enough jackpots that each of three nodes has some.
const JACKPOTS: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];
/// The keys that belong to no subject (`crates/kernel/src/store/keys.rs`): the ledger's name, and the indexes.
const LEDGER: &str = "jp:ledger";
const INDEX: &str = "jp:index";
/// A jackpot on a node with neither of them, by the slots that `redis-cli --cluster create` gives to three nodes.
const SUBJECTS_ALONE: &str = "c";

async fn service_on(cluster: &TestCluster) -> Service {
    let urls = cluster.urls().join(",");
    let mode = [
        ("JACKPOT__REDIS__MODE", "cluster"),
        ("JACKPOT__REDIS__URLS", urls.as_str()),
    ];
    Service::start_with(&[&LIMITS[..], &mode].concat()).await
}

/// The jackpots on the node with this URL, and the others.
async fn placed(cluster: &mut TestCluster, url: &str) -> (Vec<&'static str>, Vec<&'static str>) {
    let (mut on_it, mut beside) = (Vec::new(), Vec::new());
    for jackpot in JACKPOTS {
        let its = cluster.node_of(&key(jackpot, "state")).await.url() == url;
        if its { &mut on_it } else { &mut beside }.push(jackpot);
    }
    (on_it, beside)
}

/// Kills the node of a key between two starts of an instance.
async fn starts_without(lost_key: &str) {
    let mut cluster = cluster().await;
    let mut service = service_on(&cluster).await;
    for jackpot in JACKPOTS {
        create(&service, lively(jackpot)).await;
        enter(&service, jackpot, "before").await.is(201);
    }
    let lost = cluster.node_of(lost_key).await.url().to_owned();
    let (on_it, beside) = placed(&mut cluster, &lost).await;
    assert!(!on_it.is_empty() && !beside.is_empty(), "{on_it:?} {beside:?}");
    let neighbour = key(beside[0], "state");
    service.stop().await;
    cluster.node_of(lost_key).await.kill9();
    let mut asked = cluster.connection_to(&neighbour).await;
    eventually(PATIENCE, "the others have given the node up", async || {
        let nodes: String = redis::cmd("CLUSTER").arg("NODES").query_async(&mut asked).await.ok()?;
        nodes.lines().any(|line| line.contains("fail ")).then_some(())
    })
    .await;

    service.restart().await;
    for jackpot in &beside {
        let answer = enter(&service, jackpot, "during").await;
        assert_eq!(answer.status, StatusCode::CREATED, "{jackpot}: {:?}", answer.body);
    }
    for jackpot in &on_it {
        enter_unavailable(&service, jackpot, "during").await;
    }
    cluster.restart_at(&lost).await;
    for jackpot in JACKPOTS {
        eventually(PATIENCE, "each jackpot is played again", async || {
            let status = enter(&service, jackpot, "during").await.status;
            (status == StatusCode::OK || status == StatusCode::CREATED).then_some(())
        })
        .await;
        assert_eq!(balanced(&service, jackpot).await["contributed"], 2, "{jackpot}");
    }
}

#[tokio::test]
async fn heavy_an_instance_starts_without_a_node_of_subjects() {
    starts_without(&key(SUBJECTS_ALONE, "state")).await;
}

#[tokio::test]
async fn heavy_an_instance_starts_without_the_node_of_the_index() {
    starts_without(INDEX).await;
}

#[tokio::test]
async fn heavy_without_the_name_of_its_ledger_an_instance_waits_for_it() {
    let mut cluster = cluster().await;
    let mut service = service_on(&cluster).await;
    create(&service, lively("a")).await;
    service.stop().await;
    let lost = cluster.node_of(LEDGER).await.url().to_owned();
    cluster.node_of(LEDGER).await.kill9();
    service.restart_begun().await;
    eventually(PATIENCE, "it says what it waits for", async || {
        service
            .log()
            .contains("waiting for the node that says which ledger")
            .then_some(())
    })
    .await;
    service.get("/healthz").await.is(200);
    service.get("/readyz").await.is(503);
    cluster.restart_at(&lost).await;
    service.wait_until_ready().await;
    enter(&service, "a", "after").await.is(201);
}
