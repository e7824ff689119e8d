//! A cluster of three primaries, made of local processes: no container image has a cluster that could be broken as
//! well.

use std::time::Duration;

use redis::aio::MultiplexedConnection;
use tokio::process::Command;

use super::local::{LocalServer, connect};
use super::{eventually, free_port};

const NODES: usize = 3;
const FORM_DEADLINE: Duration = Duration::from_secs(30);
/// Number of tries with other ports, when someone took one between the check and the start.
const START_ATTEMPTS: usize = 5;
/// Milliseconds without an answer after which the other nodes see a node as failed.
const NODE_TIMEOUT_MS: &str = "2000";

/// Three nodes that cover all slots. Dropping this ends the processes.
pub struct TestCluster {
    nodes: Vec<LocalServer>,
}

impl TestCluster {
    /// Starts the nodes and waits until each of them calls the cluster healthy.
    ///
    /// # Panics
    /// When `redis-server` or `redis-cli` is not installed, or the cluster does not form in 30 s.
    pub async fn start() -> Self {
        let mut nodes = Vec::with_capacity(NODES);
        while nodes.len() < NODES {
            nodes.push(start_node().await);
        }
        let cluster = Self { nodes };
        cluster.form(0).await;
        cluster
    }

    /// The same with a replica for each node, in step with it. A node that is gone does not fail the slots of the
    /// others.
    ///
    /// # Panics
    /// As [`start`](Self::start).
    pub async fn with_replicas() -> Self {
        let mut nodes = Vec::with_capacity(2 * NODES);
        while nodes.len() < 2 * NODES {
            nodes.push(start_node().await);
        }
        let cluster = Self { nodes };
        cluster.form(1).await;
        for node in &cluster.nodes {
            let mut set = redis::cmd("CONFIG");
            set.arg("SET").arg("cluster-require-full-coverage").arg("no");
            let _: String = ask(node, &set).await;
            eventually(FORM_DEADLINE, "every node replicates", async || {
                let info: String = ask(node, redis::cmd("INFO").arg("replication")).await;
                let in_step = info.contains("master_link_status:up") || info.contains("state=online");
                in_step.then_some(())
            })
            .await;
        }
        cluster
    }

    /// A new replica of the node that holds `key`, in step with it.
    ///
    /// # Panics
    /// When it is not in step within 30 s.
    pub async fn add_replica_of(&mut self, key: &str) {
        let primary = self.node_of(key).await;
        let (host, port) = primary
            .url()
            .trim_start_matches("redis://")
            .split_once(':')
            .map(|(host, port)| (host.to_owned(), port.to_owned()))
            .expect("an address");
        let id: String = ask(primary, redis::cmd("CLUSTER").arg("MYID")).await;
        let replica = start_node().await;
        let mut meet = redis::cmd("CLUSTER");
        let _: String = ask(&replica, meet.arg("MEET").arg(host).arg(port)).await;
        eventually(FORM_DEADLINE, "the replica has heard of its primary", async || {
            let mut replicate = redis::cmd("CLUSTER");
            replicate
                .arg("REPLICATE")
                .arg(&id)
                .exec_async(&mut replica.connection().await)
                .await
                .ok()
        })
        .await;
        eventually(FORM_DEADLINE, "the replica is in step", async || {
            let info: String = ask(&replica, redis::cmd("INFO").arg("replication")).await;
            info.contains("master_link_status:up").then_some(())
        })
        .await;
        self.nodes.push(replica);
    }

    /// Kills the node that holds `key`, waits until its replica is in charge, and starts it again. Then it is a
    /// replica, in step.
    ///
    /// # Panics
    /// When one of these takes longer than 30 s.
    pub async fn fail_over(&mut self, key: &str) {
        let killed = self.node_of(key).await;
        let url = killed.url().to_owned();
        killed.kill9();
        eventually(FORM_DEADLINE, "its replica is in charge", async || {
            (self.node_of(key).await.url() != url).then_some(())
        })
        .await;
        self.restart_at(&url).await;
        eventually(FORM_DEADLINE, "the killed node is a replica in step", async || {
            let mut node = connect(&url).await.ok()?;
            let mut info = redis::cmd("INFO");
            let info: String = info.arg("replication").query_async(&mut node).await.ok()?;
            info.contains("master_link_status:up").then_some(())
        })
        .await;
    }

    /// The nodes' URLs, for `redis.urls`.
    pub fn urls(&self) -> Vec<String> {
        self.nodes.iter().map(|node| node.url().to_owned()).collect()
    }

    /// The node that clients reach by `url`. This asks no node, so it works while one is frozen.
    ///
    /// # Panics
    /// When no node has that URL.
    pub fn node_at(&self, url: &str) -> &LocalServer {
        let node = self.nodes.iter().find(|node| node.url() == url);
        node.expect("the URL is that of a node")
    }

    /// Starts the node that clients reach by `url` again, after it was killed.
    ///
    /// # Panics
    /// When no node has that URL.
    pub async fn restart_at(&mut self, url: &str) {
        let node = self.nodes.iter_mut().find(|node| node.url() == url);
        node.expect("the URL is that of a node").restart().await;
    }

    /// The node that holds `key`, to be frozen, killed or looked into.
    pub async fn node_of(&mut self, key: &str) -> &mut LocalServer {
        let mut living = None;
        for node in &self.nodes {
            // Some nodes may have been killed.
            living = living.or(connect(node.url()).await.ok());
        }
        let mut living = living.expect("a node answers");
        let slot: u16 = redis::cmd("CLUSTER")
            .arg("KEYSLOT")
            .arg(key)
            .query_async(&mut living)
            .await
            .expect("a slot");
        let ranges: Vec<Vec<redis::Value>> = redis::cmd("CLUSTER")
            .arg("SLOTS")
            .query_async(&mut living)
            .await
            .expect("the slots");
        let owner = ranges
            .into_iter()
            .find(|range| {
                let bound = |at: usize| redis::from_redis_value::<u16>(range[at].clone()).expect("a slot");
                (bound(0)..=bound(1)).contains(&slot)
            })
            .expect("all slots are covered");
        let (_, port, ..): (String, u16, String, redis::Value) =
            redis::from_redis_value(owner[2].clone()).expect("CLUSTER SLOTS names host, port and id");
        let end = format!(":{port}");
        self.nodes
            .iter_mut()
            .find(|node| node.url().ends_with(&end))
            .expect("the owner was started here")
    }

    /// A connection to the node that holds `key`.
    pub async fn connection_to(&mut self, key: &str) -> MultiplexedConnection {
        self.node_of(key).await.connection().await
    }

    async fn form(&self, replicas: usize) {
        let output = Command::new("redis-cli")
            .args(["--cluster", "create"])
            .args(self.nodes.iter().map(|node| node.url().trim_start_matches("redis://")))
            .args(["--cluster-replicas", &replicas.to_string(), "--cluster-yes"])
            .output()
            .await
            .expect("redis-cli is not installed: apt-get install redis-tools");
        assert!(
            output.status.success(),
            "the cluster was not made: {}",
            String::from_utf8_lossy(&output.stdout)
        );
        for node in &self.nodes {
            eventually(FORM_DEADLINE, "every node calls the cluster healthy", async || {
                let info: String = ask(node, redis::cmd("CLUSTER").arg("INFO")).await;
                info.contains("cluster_state:ok").then_some(())
            })
            .await;
        }
    }
}

async fn ask<T: redis::FromRedisValue>(node: &LocalServer, command: &redis::Cmd) -> T {
    command
        .query_async(&mut node.connection().await)
        .await
        .expect("a node of the test's cluster answers")
}

async fn start_node() -> LocalServer {
    let options = ["--cluster-enabled", "yes", "--cluster-node-timeout", NODE_TIMEOUT_MS];
    let mut last = None;
    for _ in 0..START_ATTEMPTS {
        match LocalServer::on_port("redis-server", free_port(), &options).await {
            Ok(node) => return node,
            Err(error) => last = Some(error),
        }
    }
    panic!("no cluster node started (apt-get install redis-server?): {last:?}");
}

#[tokio::test]
async fn heavy_a_cluster_serves_every_slot_and_survives_a_frozen_node() {
    let mut cluster = TestCluster::start().await;
    let client = redis::cluster::ClusterClient::new(cluster.urls()).expect("the URLs are valid");
    let mut connection = client.get_async_connection().await.expect("the cluster answers");
    let mut owners = std::collections::BTreeSet::new();
    for id in ["a", "b", "c", "d", "e", "f", "g", "h"] {
        let key = format!("{{{id}}}:k");
        redis::cmd("SET")
            .arg(&key)
            .arg(id)
            .exec_async(&mut connection)
            .await
            .expect("SET works on every slot");
        let mut owner = cluster.connection_to(&key).await;
        let value: String = redis::cmd("GET")
            .arg(&key)
            .query_async(&mut owner)
            .await
            .expect("the owner has it");
        assert_eq!(value, id);
        owners.insert(cluster.node_of(&key).await.url().to_owned());
    }
    assert_eq!(owners.len(), NODES, "the keys lie on all nodes");

    let frozen = cluster.node_of("{a}:k").await;
    let mut direct = frozen.connection().await;
    frozen.freeze();
    let asked = tokio::time::timeout(Duration::from_millis(200), redis::cmd("PING").exec_async(&mut direct)).await;
    assert!(!matches!(asked, Ok(Ok(()))), "a frozen node does not answer");
    frozen.thaw();
    eventually(Duration::from_secs(10), "a thawed node answers", async || {
        let mut again = frozen.connection().await;
        redis::cmd("PING").exec_async(&mut again).await.ok()
    })
    .await;
}
