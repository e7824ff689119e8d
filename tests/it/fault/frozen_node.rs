//! One node of a cluster freezes: its jackpots answer 503 in time, and those of the other nodes are not affected.

use std::time::Instant;

use futures_util::future::join_all;
use tokio::task::JoinSet;

use crate::fault::support::{
    ANSWERED_WITHIN, assert_unavailable, balanced, create, enter, entry, key, lively, until_nothing_is_pending,
};
use crate::support::cluster::TestCluster;
use crate::support::local::connect;
use crate::support::prelude::*;
use crate::support::service::LIMITS;

/// Enough jackpots that each of three nodes has some.
const JACKPOTS: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];
/// Entries at the same time on each jackpot of the frozen node.
const AT_ONCE: usize = 8;

/// A cluster that serves what it can when a node is gone. By default it would refuse all slots.
pub async fn cluster() -> TestCluster {
    let cluster = TestCluster::start().await;
    for url in cluster.urls() {
        redis::cmd("CONFIG")
            .arg("SET")
            .arg("cluster-require-full-coverage")
            .arg("no")
            .exec_async(&mut connect(&url).await.expect("the node answers"))
            .await
            .expect("CONFIG SET");
    }
    cluster
}

pub async fn service_on(cluster: &TestCluster) -> Service {
    let urls = cluster.urls().join(",");
    let mode = [
        ("JACKPOT__REDIS__MODE", "cluster"),
        ("JACKPOT__REDIS__URLS", urls.as_str()),
    ];
    Service::start_with(&[&LIMITS[..], &mode].concat()).await
}

/// Freezes the node that holds `frozen_key`, and looks at the jackpots on it and beside it.
async fn with_a_frozen_node(frozen_key: &str) {
    let mut cluster = cluster().await;
    let service = service_on(&cluster).await;
    let owner = cluster.node_of(frozen_key).await.url().to_owned();
    let (mut on_it, mut beside) = (Vec::new(), Vec::new());
    for jackpot in JACKPOTS {
        create(&service, lively(jackpot)).await;
        enter(&service, jackpot, "before").await.is(201);
        let its = cluster.node_of(&key(jackpot, "state")).await.url() == owner;
        if its { &mut on_it } else { &mut beside }.push(jackpot);
    }
    assert!(!on_it.is_empty() && !beside.is_empty(), "{on_it:?} {beside:?}");

    let mut neighbour = cluster.connection_to(&key(beside[0], "state")).await;
    cluster.node_at(&owner).freeze();
    let mut stuck = JoinSet::new();
    for jackpot in &on_it {
        for n in 0..AT_ONCE {
            let (caller, path) = (service.caller(), format!("/v1/jackpots/{jackpot}/entries"));
            stuck.spawn(async move {
                let began_at = Instant::now();
                let answer = caller
                    .post(&path, &entry(&format!("during{n}")))
                    .await
                    .expect("an answer");
                assert_unavailable(&answer, began_at.elapsed());
            });
        }
    }
    // These are played while the others wait for their limit, and after the cluster has given the node up.
    for round in 0..20 {
        for jackpot in &beside {
            let began_at = Instant::now();
            let answer = enter(&service, jackpot, &format!("during{round}")).await;
            assert_eq!(answer.status, StatusCode::CREATED, "{jackpot}: {:?}", answer.body);
            assert!(
                began_at.elapsed() < ANSWERED_WITHIN,
                "{jackpot}: {:?}",
                began_at.elapsed()
            );
        }
    }
    stuck.join_all().await;
    eventually(PATIENCE, "the other nodes have given the node up", async || {
        let nodes: String = redis::cmd("CLUSTER")
            .arg("NODES")
            .query_async(&mut neighbour)
            .await
            .ok()?;
        nodes.lines().any(|line| line.contains("fail ")).then_some(())
    })
    .await;
    for jackpot in &beside {
        let answer = enter(&service, jackpot, "given-up").await;
        assert_eq!(answer.status, StatusCode::CREATED, "{jackpot}: {:?}", answer.body);
    }
    for jackpot in &on_it {
        let began_at = Instant::now();
        let answer = enter(&service, jackpot, "during0").await;
        assert_unavailable(&answer, began_at.elapsed());
    }

    cluster.node_at(&owner).thaw();
    for jackpot in &on_it {
        let ids: Vec<String> = (0..AT_ONCE).map(|n| format!("during{n}")).collect();
        join_all(ids.iter().map(|id| answered(&service, jackpot, id))).await;
        let meter = balanced(&service, jackpot).await;
        assert_eq!(meter["contributed"], AT_ONCE + 1, "{jackpot}: each id is one entry");
        enter(&service, jackpot, "before").await.is(200);
    }
    for jackpot in &beside {
        assert_eq!(balanced(&service, jackpot).await["contributed"], 22, "{jackpot}");
    }
    for jackpot in JACKPOTS {
        let mut owner = cluster.connection_to(&key(jackpot, "state")).await;
        until_nothing_is_pending(&mut owner, jackpot).await;
    }
}

/// Repeats the same id until it is answered: taken now, or found taken while the node was frozen.
async fn answered(service: &Service, jackpot: &str, id: &str) {
    eventually(PATIENCE, "the same id is answered", async || {
        let answer = enter(service, jackpot, id).await;
        if answer.status == StatusCode::SERVICE_UNAVAILABLE {
            return None;
        }
        answer.done();
        Some(())
    })
    .await;
}

#[tokio::test]
async fn heavy_jackpots_on_other_nodes_go_on_while_a_node_is_frozen() {
    with_a_frozen_node(&key("b", "state")).await;
}

#[tokio::test]
async fn heavy_jackpots_go_on_while_the_node_with_the_index_of_jackpots_is_frozen() {
    with_a_frozen_node("jp:index").await;
}
