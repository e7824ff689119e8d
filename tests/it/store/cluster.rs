//! A cluster of real nodes: some freeze, primaries fail over, slots move.

use std::process::Command;
use std::time::{Duration, Instant};

use jackpot::settings::RedisMode;
use jackpot::store::{Store, StoreError};
use redis::cluster_routing::Slot;
use rustix::process::Signal;
use tempfile::TempDir;

use crate::store::support::{MARGIN_MS, SAFE, Server, call, call_here, eventually, get, open, put, refusal, settings};
use crate::support::prelude::*;

struct Nodes {
    nodes: Vec<Server>,
}

fn node(extra: &[&str]) -> Server {
    let mut args = SAFE.to_vec();
    args.extend(["--cluster-enabled", "yes", "--cluster-require-full-coverage", "no"]);
    args.extend(extra);
    Server::start(&args).ready()
}

fn redis_cli(args: &[&str]) {
    let output = Command::new("redis-cli")
        .args(args)
        .output()
        .expect("redis-cli is needed on PATH");
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

impl Nodes {
    async fn start(node_timeout_ms: &str) -> Self {
        let nodes: Vec<Server> = (0..3)
            .map(|_| node(&["--cluster-node-timeout", node_timeout_ms]))
            .collect();
        let addresses: Vec<String> = nodes.iter().map(|node| format!("127.0.0.1:{}", node.port)).collect();
        let mut args = vec!["--cluster", "create"];
        args.extend(addresses.iter().map(String::as_str));
        args.push("--cluster-yes");
        redis_cli(&args);
        let all = Self { nodes };
        for node in &all.nodes {
            eventually("every node sees the whole cluster", || async {
                let info: String = redis::cmd("CLUSTER").arg("INFO").query(&mut node.connection()).unwrap();
                (info.contains("cluster_state:ok") && info.contains("cluster_slots_ok:16384")).then_some(())
            })
            .await;
        }
        all
    }

    fn urls(&self) -> Vec<String> {
        self.nodes.iter().map(Server::url).collect()
    }

    fn id_of(&self, node: usize) -> String {
        redis::cmd("CLUSTER")
            .arg("MYID")
            .query(&mut self.nodes[node].connection())
            .unwrap()
    }

    /// A new replica of the first node, in step with it.
    async fn replica_of_first(&self, node_timeout_ms: &str) -> Server {
        let replica = node(&["--cluster-node-timeout", node_timeout_ms]);
        let (new, known) = (
            format!("127.0.0.1:{}", replica.port),
            format!("127.0.0.1:{}", self.nodes[0].port),
        );
        redis_cli(&[
            "--cluster",
            "add-node",
            &new,
            &known,
            "--cluster-slave",
            "--cluster-master-id",
            &self.id_of(0),
        ]);
        let mut beside = self.nodes[0].connection();
        eventually("the replica is in step", || {
            let count: i64 = redis::cmd("WAIT").arg(1).arg(50).query(&mut beside).unwrap();
            async move { (count == 1).then_some(()) }
        })
        .await;
        replica
    }
}

/// A key that this node owns; `redis-cli --cluster create` deals the slots out in order, a third to each.
fn key_of(node: u16) -> String {
    let owned: Vec<Slot> = (node * 5461 + 10..node * 5461 + 5000).filter_map(Slot::new).collect();
    (0..1000)
        .map(|n| format!("jp:{{j{n}}}:k"))
        .find(|key| owned.contains(&Slot::for_key(key)))
        .unwrap()
}

#[tokio::test]
async fn a_frozen_node_fails_its_own_calls_in_time_and_no_others() {
    let cluster = Nodes::start("60000").await;
    let settings = settings(RedisMode::Cluster, &cluster.urls());
    let (store, _dir) = open(&settings).await;
    let script = put();
    let keys: Vec<String> = (0..3).map(key_of).collect();
    for key in &keys {
        call(&store, &script, key, "v").await.unwrap();
    }
    cluster.nodes[0].signal(Signal::STOP);
    let began_at = Instant::now();
    let frozen = {
        let (store, key) = (store.clone(), keys[0].clone());
        tokio::spawn(async move { call(&store, &put(), &key, "w").await })
    };
    let mut slowest = Duration::ZERO;
    let mut answered = 0;
    while !frozen.is_finished() {
        for key in &keys[1..] {
            let one = Instant::now();
            call(&store, &script, key, "w").await.unwrap();
            slowest = slowest.max(one.elapsed());
            answered += 1;
        }
    }
    assert!(matches!(frozen.await.unwrap(), Err(StoreError::Unavailable { .. })));
    assert!(
        began_at.elapsed() < Duration::from_millis(settings.total_timeout_ms + MARGIN_MS),
        "{:?}",
        began_at.elapsed()
    );
    assert!(
        slowest < Duration::from_millis(settings.response_timeout_ms),
        "{slowest:?} of {answered} calls"
    );
    eventually("the watcher names the frozen node", || async { store.health().cause }).await;
    assert!(store.health().up && !store.health().refuse_entries);
    redis::cmd("FUNCTION")
        .arg("FLUSH")
        .exec(&mut cluster.nodes[1].connection())
        .unwrap();
    call(&store, &script, &keys[1], "x").await.unwrap();
    cluster.nodes[0].signal(Signal::CONT);
    eventually("it answers again", || async {
        call(&store, &script, &keys[0], "x").await.ok()
    })
    .await;
    store.close().await;
}

#[tokio::test]
async fn the_replica_of_a_frozen_primary_is_found() {
    let cluster = Nodes::start("1000").await;
    let (store, _dir) = open(&settings(RedisMode::Cluster, &cluster.urls())).await;
    let script = put();
    let key = key_of(0);
    call(&store, &script, &key, "before").await.unwrap();
    let _replica = cluster.replica_of_first("1000").await;
    cluster.nodes[0].signal(Signal::STOP);
    eventually("a call reaches the promoted replica", || async {
        call(&store, &script, &key, "after").await.ok()
    })
    .await;
    assert_eq!(get(&store, &key).await.unwrap().as_deref(), Some("after"));
    store.close().await;
}

/// The old primary answers us all the while. After it forgets its peers, it ignores them for a minute (they are on its
/// list of banned nodes). It misses the promotion and everybody else's slots, as if it were cut off.
#[tokio::test]
async fn an_isolated_primary_is_left_for_its_promoted_replica() {
    let cluster = Nodes::start("60000").await;
    let (store, _dir) = open(&settings(RedisMode::Cluster, &cluster.urls()[..1])).await;
    let (script, key) = (put(), key_of(0));
    call(&store, &script, &key, "before").await.unwrap();
    let replica = cluster.replica_of_first("60000").await;
    let mut old = cluster.nodes[0].connection();
    redis::cmd("CONFIG")
        .arg("SET")
        .arg("cluster-require-full-coverage")
        .arg("yes")
        .exec(&mut old)
        .unwrap();
    let id_of_replica: String = redis::cmd("CLUSTER")
        .arg("MYID")
        .query(&mut replica.connection())
        .unwrap();
    for peer in [cluster.id_of(1), cluster.id_of(2), id_of_replica] {
        redis::cmd("CLUSTER").arg("FORGET").arg(peer).exec(&mut old).unwrap();
    }
    eventually("the watcher names the isolated primary", || async {
        store
            .health()
            .cause
            .filter(|cause| cause.contains("cluster_state is fail"))
    })
    .await;
    assert!(store.health().up && !store.health().refuse_entries);
    call(&store, &script, &key_of(1), "other shard").await.unwrap();
    redis::cmd("CLUSTER")
        .arg("FAILOVER")
        .arg("TAKEOVER")
        .exec(&mut replica.connection())
        .unwrap();
    eventually("a call reaches the promoted replica", || async {
        call(&store, &script, &key, "after").await.ok()
    })
    .await;
    let there: Option<String> = redis::cmd("GET").arg(&key).query(&mut replica.connection()).unwrap();
    assert_eq!(there.as_deref(), Some("after"));
    eventually("the watcher sees a whole cluster", || async {
        store.health().cause.is_none().then_some(())
    })
    .await;
    let info: String = redis::cmd("CLUSTER").arg("INFO").query(&mut old).unwrap();
    info.says("cluster_state:fail");
    store.close().await;
}

#[tokio::test]
async fn a_slot_is_followed_while_it_moves_and_after() {
    let cluster = Nodes::start("60000").await;
    let (store, _dir) = open(&settings(RedisMode::Cluster, &cluster.urls())).await;
    let script = put();
    let key = key_of(0);
    let mut nodes: Vec<redis::Connection> = cluster.nodes.iter().map(Server::connection).collect();
    let slot: u16 = redis::cmd("CLUSTER")
        .arg("KEYSLOT")
        .arg(&key)
        .query(&mut nodes[0])
        .unwrap();
    let set_slot = |node: &mut redis::Connection, what: &str, id: &str| {
        redis::cmd("CLUSTER")
            .arg("SETSLOT")
            .arg(slot)
            .arg(what)
            .arg(id)
            .exec(node)
            .unwrap();
    };
    let (from, to) = (cluster.id_of(0), cluster.id_of(1));
    set_slot(&mut nodes[1], "IMPORTING", &from);
    set_slot(&mut nodes[0], "MIGRATING", &to);
    call_here(&store, &script, &key, "while it moves").await.unwrap();
    call(&store, &script, &key, "while it moves").await.unwrap();
    for node in [1, 0, 2] {
        set_slot(&mut nodes[node], "NODE", &to);
    }
    call_here(&store, &script, &key, "moved").await.unwrap();
    assert_eq!(get(&store, &key).await.unwrap().as_deref(), Some("moved"));
    call(&store, &script, &key, "after").await.unwrap();
    let there: Option<String> = redis::cmd("GET").arg(&key).query(&mut nodes[1]).unwrap();
    assert_eq!(there.as_deref(), Some("after"));
    store.close().await;
}

#[tokio::test]
async fn every_primary_is_checked() {
    let cluster = Nodes::start("60000").await;
    redis::cmd("CONFIG")
        .arg("SET")
        .arg("appendonly")
        .arg("no")
        .exec(&mut cluster.nodes[2].connection())
        .unwrap();
    let message = refusal(&settings(RedisMode::Cluster, &cluster.urls()[..1])).await;
    message.says(&cluster.nodes[2].port.to_string());
    message.says("CONFIG SET appendonly yes");
}

#[tokio::test]
async fn a_cluster_that_is_down_is_unavailable_within_the_total_limit() {
    let cluster = Nodes::start("60000").await;
    let settings = settings(RedisMode::Cluster, &cluster.urls());
    let dir = TempDir::new().unwrap();
    let store = Store::open(&settings, dir.path()).await.unwrap();
    let (script, key) = (put(), key_of(0));
    for node in &cluster.nodes {
        let mut node = node.connection();
        redis::cmd("CONFIG")
            .arg("SET")
            .arg("cluster-require-full-coverage")
            .arg("yes")
            .exec(&mut node)
            .unwrap();
        redis::cmd("CLUSTER")
            .arg("DELSLOTSRANGE")
            .arg(16000)
            .arg(16383)
            .exec(&mut node)
            .unwrap();
    }
    let began_at = Instant::now();
    let error = eventually("the cluster is down", || async {
        call(&store, &script, &key, "v").await.err()
    })
    .await;
    assert!(
        matches!(&error, StoreError::Unavailable { cause, .. } if cause.to_lowercase().contains("cluster")),
        "{error:?}"
    );
    assert!(began_at.elapsed() < Duration::from_millis(settings.total_timeout_ms * 2 + MARGIN_MS));
    store.close().await;
}

#[tokio::test]
async fn reads_together_are_answered_in_order_by_every_node_but_a_frozen_one() {
    let cluster = Nodes::start("60000").await;
    let (store, _dir) = open(&settings(RedisMode::Cluster, &cluster.urls())).await;
    let keys: Vec<String> = (0..3).map(key_of).collect();
    for key in &keys {
        call(&store, &put(), key, key).await.unwrap();
    }
    // More than a pipeline has; every fourth is of another type, which is an error at its place alone.
    let of = |i: usize| if i % 4 == 3 { "ZCARD" } else { "GET" };
    let reads: Vec<redis::Cmd> = (0..1_000)
        .map(|i| redis::cmd(of(i)).arg(&keys[i % 3]).to_owned())
        .collect();
    let check = |answers: Vec<Result<redis::Value, StoreError>>, frozen: Option<usize>| {
        assert_eq!(answers.len(), reads.len());
        for (i, answer) in answers.into_iter().enumerate() {
            let is_error = match answer {
                Ok(value) => {
                    assert_eq!(redis::from_redis_value::<String>(value).unwrap(), keys[i % 3]);
                    None
                }
                Err(error) => Some(error),
            };
            match is_error {
                Some(StoreError::Unavailable { .. }) => assert_eq!(frozen, Some(i % 3), "{i}"),
                Some(StoreError::Script { code, .. }) => assert!(code == "WRONGTYPE" && i % 4 == 3, "{i}: {code}"),
                Some(other) => panic!("{i}: {other}"),
                None => assert!(frozen != Some(i % 3) && i % 4 != 3, "{i}"),
            }
        }
    };
    check(store.read_together(&reads).await, None);
    assert_eq!(store.clocks().await.len(), 3);
    cluster.nodes[1].signal(Signal::STOP);
    let began_at = Instant::now();
    check(store.read_together(&reads).await, Some(1));
    // One time-out, and a look for another owner.
    assert!(
        began_at.elapsed() < Duration::from_millis(MARGIN_MS),
        "{:?}",
        began_at.elapsed()
    );
    assert_eq!(store.clocks().await.len(), 2);
    cluster.nodes[1].signal(Signal::CONT);
    eventually("it answers again", || async {
        store.read_together(&reads[1..2]).await.remove(0).ok()
    })
    .await;
    store.shut(Some("a test"));
    let shut = store.read_together(&reads[..1]).await;
    assert!(matches!(shut[..], [Err(StoreError::Unavailable { .. })]), "{shut:?}");
    store.close().await;
}
