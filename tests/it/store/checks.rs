//! The store refuses a server that would lose money, and names the setting to change.

use std::time::{Duration, Instant};

use jackpot::settings::{CheckConfig, Durability, RedisMode};
use jackpot::store::Store;
use jackpot::store::rights::{IN_SCRIPTS, KEYS, OUTSIDE, When, grant};

use crate::store::support::{
    MARGIN_MS, SAFE, Server, call, eventually, exact_rights, free_port, open, put, refusal, settings,
};
use crate::support::prelude::*;
use crate::support::wait;

async fn refused_with(args: &[&str]) -> String {
    let server = Server::start(args).ready();
    refusal(&settings(RedisMode::Standalone, &[server.url()])).await
}

#[tokio::test]
async fn each_setting_that_would_lose_money_is_refused() {
    for (name, bad, good) in [
        ("maxmemory-policy", "allkeys-lru", "noeviction"),
        ("appendonly", "no", "yes"),
        ("appendfsync", "everysec", "always"),
        ("no-appendfsync-on-rewrite", "yes", "no"),
    ] {
        let option = format!("--{name}");
        let mut args = SAFE.to_vec();
        args.extend([option.as_str(), bad]);
        let message = refused_with(&args).await;
        message.says(&format!("CONFIG SET {name} {good}"));
        message.says(bad);
    }
}

#[tokio::test]
async fn a_replica_and_a_cluster_node_are_refused_in_standalone_mode() {
    let mut args = SAFE.to_vec();
    args.extend(["--replicaof", "127.0.0.1", "1"]);
    refused_with(&args).await.says("this is a replica");
    let mut args = SAFE.to_vec();
    args.extend(["--cluster-enabled", "yes"]);
    refused_with(&args).await.says("set redis.mode = \"cluster\"");
    let server = Server::start(&SAFE).ready();
    let message = refusal(&settings(RedisMode::Cluster, &[server.url()])).await;
    message.says("set redis.mode = \"standalone\"");
}

#[tokio::test]
async fn replicas_need_replicated_durability() {
    let primary = Server::start(&SAFE).ready();
    let _replica = primary.replica().await;
    let mut settings = settings(RedisMode::Standalone, &[primary.url()]);
    refusal(&settings).await.says("redis.durability = \"replicated\"");
    settings.durability = Durability::Replicated;
    let (store, _dir) = open(&settings).await;
    store.close().await;
}

#[tokio::test]
async fn an_acl_user_works_and_a_missing_right_is_named() {
    let server = Server::start(&SAFE).ready();
    let mut beside = server.connection();
    let user = |beside: &mut redis::Connection, rules: &[&str]| {
        let fixed = ["reset", "on", ">s3cret-word", "~jp:*", "~cp:*", "~room:*"];
        redis::cmd("ACL")
            .arg("SETUSER")
            .arg("jackpot")
            .arg(&fixed)
            .arg(rules)
            .exec(beside)
            .unwrap();
    };
    let url = |password: &str| format!("redis://jackpot:{password}@127.0.0.1:{}", server.port);
    let settings = settings(RedisMode::Standalone, &[url("s3cret-word")]);

    user(&mut beside, &["+@read", "+@write", "+@scripting"]);
    refusal(&settings).await.says("+info");
    user(&mut beside, &["+@read", "+@write", "+@scripting", "+info"]);
    refusal(&settings).await.says("+config|get");
    user(
        &mut beside,
        &["+@read", "+@write", "-function|load", "+info", "+config|get"],
    );
    refusal(&settings).await.says("+function|load");
    user(&mut beside, &["+@read", "+@write", "+info", "+config|get"]);
    refusal(&settings).await.says("+fcall");
    user(&mut beside, &["+@read", "+@write", "+info", "+config|get", "+fcall"]);
    refusal(&settings).await.says("+eval");
    user(
        &mut beside,
        &[
            "+@read",
            "+@write",
            "+@scripting",
            "+info",
            "+config|get",
            "+ping",
            "+dbsize",
            "+time",
        ],
    );
    let (store, _dir) = open(&settings).await;
    call(&store, &put(), "jp:{a}:k", "v").await.unwrap();
    store.close().await;

    let mut wrong = settings.clone();
    wrong.urls = vec![url("wr0ng-word")];
    let message = refusal(&wrong).await;
    message.hides("wr0ng-word");
    message.hides("s3cret-word");
}

#[tokio::test]
async fn each_missing_right_is_named_and_all_of_them_at_once() {
    let server = Server::start(&SAFE).ready();
    let mut beside = server.connection();
    let mut lacking = |rules: &[String]| {
        let mut user = redis::cmd("ACL");
        user.arg("SETUSER").arg("jackpot").arg(&["reset", "on", ">s3cret-word"]);
        user.arg(exact_rights()).arg(rules).exec(&mut beside).unwrap();
    };
    let url = format!("redis://jackpot:s3cret-word@127.0.0.1:{}", server.port);
    let settings = settings(RedisMode::Standalone, &[url]);
    lacking(&[]);
    open(&settings).await.0.close().await;

    let used = OUTSIDE
        .iter()
        .filter(|(_, when)| matches!(when, When::Always | When::ChecksConfig));
    for command in used.map(|(command, _)| *command).chain(IN_SCRIPTS) {
        let grant = grant(command);
        lacking(&[grant.replacen('+', "-", 1)]);
        let message = refusal(&settings).await;
        message.says(command);
        message.says(&grant);
    }
    for pattern in KEYS {
        let others = KEYS
            .iter()
            .filter(|other| **other != pattern)
            .map(|other| format!("~{other}"));
        lacking(
            &std::iter::once("resetkeys".to_owned())
                .chain(others)
                .collect::<Vec<_>>(),
        );
        let message = refusal(&settings).await;
        message.says(&format!("write the keys {pattern};"));
    }
    lacking(
        &[
            "-decrby",
            "-config|get",
            "-info",
            "-function|load",
            "resetkeys",
            "~jp:*",
        ]
        .map(str::to_owned),
    );
    let message = refusal(&settings).await;
    let grants = "grant it by ACL SETUSER <user> ~cp:* ~room:* +config|get +decrby +function|load +info";
    message.says(grants);
}

#[tokio::test]
async fn renamed_commands_are_named_as_such() {
    let renamed = ["--rename-command", "DECRBY", "", "--rename-command", "ZADD", "hidden"];
    let message = refused_with(&[&SAFE[..], &renamed].concat()).await;
    let told = "does not know DECRBY, ZADD: remove rename-command";
    assert!(message.contains(told) && !message.contains("may not"), "{message}");
    let message = refused_with(&[&SAFE[..], &["--rename-command", "EVAL", ""]].concat()).await;
    message.says("does not know EVAL: remove rename-command");
}

#[tokio::test]
async fn a_server_that_takes_no_writes_is_seen_at_once() {
    const SOON: Duration = Duration::from_secs(2);
    let server = Server::start(&SAFE).ready();
    let (store, _dir) = open(&settings(RedisMode::Standalone, &[server.url()])).await;
    let mut beside = server.connection();
    let mut send = |words: &str| {
        let mut words = words.split(' ');
        let mut command = redis::cmd(words.next().unwrap());
        for word in words {
            command.arg(word.replace('+', " "));
        }
        command.exec(&mut beside).unwrap();
    };
    for (breaks, mends, cause) in [
        (
            "CONFIG SET min-replicas-to-write 1",
            "CONFIG SET min-replicas-to-write 0",
            "NOREPLICAS",
        ),
        ("REPLICAOF 127.0.0.1 1", "REPLICAOF NO ONE", "read only replica"),
        ("CONFIG SET maxmemory 1", "CONFIG SET maxmemory 0", ""),
    ] {
        send(breaks);
        wait::eventually(SOON, breaks, async || store.health().refuse_entries.then_some(())).await;
        let health = store.health();
        assert!(health.up, "it answers reads");
        health.cause.as_deref().unwrap_or_default().says(cause);
        send(mends);
        wait::eventually(SOON, mends, async || (!store.health().refuse_entries).then_some(())).await;
    }
    // A snapshot fails when its directory is gone.
    std::fs::remove_dir_all(server.dir.path()).unwrap();
    send("CONFIG SET save 3600+1");
    send("BGSAVE");
    eventually("the disk fails", || async {
        store
            .health()
            .cause
            .as_deref()
            .is_some_and(|cause| cause.contains("MISCONF"))
            .then_some(())
    })
    .await;
    assert!(store.health().refuse_entries);
    store.close().await;
}

#[tokio::test]
async fn a_managed_server_without_config_is_used_only_if_that_is_allowed() {
    let server = Server::start(&[&SAFE[..], &["--rename-command", "CONFIG", ""]].concat()).ready();
    let mut settings = settings(RedisMode::Standalone, &[server.url()]);
    refusal(&settings).await.says("redis.check_config = \"if-allowed\"");
    settings.check_config = CheckConfig::IfAllowed;
    let (store, _dir) = open(&settings).await;
    call(&store, &put(), "jp:{a}:k", "v").await.unwrap();
    store.close().await;

    let evicting = ["--maxmemory-policy", "allkeys-lru", "--rename-command", "CONFIG", ""];
    let server = Server::start(&[&SAFE[..], &evicting].concat()).ready();
    settings.urls = vec![server.url()];
    refusal(&settings).await.says("maxmemory-policy");
}

#[tokio::test]
async fn nobody_there_is_told_within_the_total_limit() {
    let settings = settings(RedisMode::Standalone, &[format!("redis://127.0.0.1:{}", free_port())]);
    let dir = tempfile::TempDir::new().unwrap();
    let began_at = Instant::now();
    let error = Store::open(&settings, dir.path()).await.unwrap_err().to_string();
    error.says("does not answer");
    assert!(began_at.elapsed() < Duration::from_millis(settings.total_timeout_ms + MARGIN_MS));
}

#[tokio::test]
async fn a_rule_broken_while_running_stops_new_entries() {
    let server = Server::start(&SAFE).ready();
    let (store, _dir) = open(&settings(RedisMode::Standalone, &[server.url()])).await;
    let mut beside = server.connection();
    redis::cmd("CONFIG")
        .arg("SET")
        .arg("appendfsync")
        .arg("no")
        .exec(&mut beside)
        .unwrap();
    eventually("the watcher sees the broken rule", || async {
        store.health().refuse_entries.then_some(())
    })
    .await;
    store.health().cause.unwrap().says("appendfsync");
    let mut right = |rule: &str| {
        redis::cmd("ACL")
            .arg("SETUSER")
            .arg("default")
            .arg(rule)
            .exec(&mut beside)
            .unwrap();
    };
    right("-decrby");
    eventually("and the right that is taken away", || async {
        let cause = store.health().cause?;
        cause.contains("+decrby").then_some(())
    })
    .await;
    right("+decrby");
    redis::cmd("CONFIG")
        .arg("SET")
        .arg("appendfsync")
        .arg("always")
        .exec(&mut beside)
        .unwrap();
    eventually("and that it is kept again", || async {
        (!store.health().refuse_entries).then_some(())
    })
    .await;
    store.close().await;
}
