//! TLS: the store accepts a server whose certificate our authority signed, and no other.

use std::collections::BTreeSet;
use std::process::Command;

use jackpot::settings::RedisMode;
use tempfile::TempDir;

use crate::store::support::{SAFE, Server, call, eventually, free_port, get, open, put, refusal, settings};
use crate::support::certificates::Certificates;
use crate::support::prelude::*;

/// A server that speaks TLS alone.
fn server(files: &Certificates, extra: &[&str]) -> Server {
    let port = free_port();
    let (port_text, ca, cert, key) = (
        port.to_string(),
        files.path("ca.pem"),
        files.path("cert.pem"),
        files.path("key.pem"),
    );
    let mut args = vec!["--port", "0", "--tls-port", &port_text, "--tls-auth-clients", "no"];
    args.extend([
        "--tls-ca-cert-file",
        &ca,
        "--tls-cert-file",
        &cert,
        "--tls-key-file",
        &key,
    ]);
    args.extend(SAFE);
    args.extend(extra);
    Server::start_with(port, TempDir::new().unwrap(), &args).ready()
}

#[tokio::test]
async fn a_server_is_trusted_by_our_authority_alone() {
    let files = Certificates::new();
    let server = server(&files, &[]);
    let mut settings = settings(RedisMode::Standalone, &[format!("rediss://127.0.0.1:{}", server.port)]);
    settings.tls_ca_file = files.path("ca.pem");
    let (store, _data) = open(&settings).await;
    call(&store, &put(), "k", "v").await.unwrap();
    assert_eq!(get(&store, "k").await.unwrap().as_deref(), Some("v"));
    store.close().await;

    settings.tls_ca_file = files.path("other.pem");
    refusal(&settings).await.says("does not answer");
    settings.tls_ca_file = files.path("missing.pem");
    refusal(&settings).await.says("redis.tls_ca_file");
}

#[tokio::test]
async fn heavy_every_node_of_a_cluster_is_reached_by_tls() {
    let files = Certificates::new();
    let nodes: Vec<Server> = (0..3)
        .map(|_| server(&files, &["--cluster-enabled", "yes", "--tls-cluster", "yes"]))
        .collect();
    let addresses: Vec<String> = nodes.iter().map(|node| format!("127.0.0.1:{}", node.port)).collect();
    let ca = files.path("ca.pem");
    let cli = |args: &[&str]| {
        let output = Command::new("redis-cli")
            .args(["--tls", "--cacert", &ca])
            .args(args)
            .output();
        let output = output.expect("redis-cli is needed on PATH: apt-get install redis-tools");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            output.status.success(),
            "{text}{}",
            String::from_utf8_lossy(&output.stderr)
        );
        text
    };
    let mut create = vec!["--cluster", "create"];
    create.extend(addresses.iter().map(String::as_str));
    create.push("--cluster-yes");
    cli(&create);
    for node in &nodes {
        eventually("every node sees the whole cluster", || async {
            let info = cli(&["-p", &node.port.to_string(), "CLUSTER", "INFO"]);
            (info.contains("cluster_state:ok") && info.contains("cluster_slots_ok:16384")).then_some(())
        })
        .await;
    }

    let mut settings = settings(RedisMode::Cluster, &[format!("rediss://{}", addresses[0])]);
    settings.tls_ca_file = ca.clone();
    let (store, _data) = open(&settings).await;
    let mut reached = BTreeSet::new();
    for key in ["{a}", "{b}", "{c}", "{d}", "{e}", "{f}"] {
        call(&store, &put(), key, "v").await.unwrap();
        assert_eq!(get(&store, key).await.unwrap().as_deref(), Some("v"));
        reached.extend(store.node_of(key));
    }
    assert_eq!(reached.len(), nodes.len(), "{reached:?}");
    store.close().await;
    settings.tls_ca_file = files.path("other.pem");
    refusal(&settings).await.says("does not answer");
}
