//! Calls to servers that forget scripts, die, freeze, become replicas or fill up.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use jackpot::settings::{Durability, RedisMode};
use jackpot::store::{Call, Outcome, Script, StoreError};
use redis::Value;
use rustix::process::Signal;

use crate::store::support::{MARGIN_MS, SAFE, Server, call, eventually, get, open, put, settings};
use crate::support::prelude::*;

#[tokio::test]
async fn a_forgotten_script_is_sent_again() {
    let server = Server::start(&SAFE).ready();
    let (store, _dir) = open(&settings(RedisMode::Standalone, &[server.url()])).await;
    let script = put();
    let mut beside = server.connection();
    for value in ["a", "b", "c"] {
        redis::cmd("FUNCTION").arg("FLUSH").exec(&mut beside).unwrap();
        assert_eq!(
            call(&store, &script, "k", value).await.unwrap(),
            Value::BulkString(value.into())
        );
        assert_eq!(get(&store, "k").await.unwrap().as_deref(), Some(value));
    }
    store.close().await;
}

#[tokio::test]
async fn calls_go_on_when_the_server_dies_and_comes_back() {
    let mut server = Server::start(&SAFE).ready();
    let mut settings = settings(RedisMode::Standalone, &[server.url()]);
    settings.total_timeout_ms = 20_000;
    let (store, _dir) = open(&settings).await;
    let script = Arc::new(put());
    call(&store, &script, "k", "before").await.unwrap();
    server.kill();
    let calls: Vec<_> = (0..20)
        .map(|n| {
            let (store, script) = (store.clone(), Arc::clone(&script));
            tokio::spawn(async move { call(&store, &script, &format!("k{n}"), "after").await })
        })
        .collect();
    eventually("the watcher sees the server gone", || async {
        (!store.health().up).then_some(())
    })
    .await;
    assert!(store.health().refuse_entries);
    server.restart();
    for one in calls {
        assert_eq!(one.await.unwrap().unwrap(), Value::BulkString("after".into()));
    }
    assert_eq!(get(&store, "k").await.unwrap().as_deref(), Some("before"));
    eventually("the watcher sees the server back", || async {
        store.health().up.then_some(())
    })
    .await;
    store.close().await;
}

#[tokio::test]
async fn a_frozen_server_is_unavailable_within_the_total_limit() {
    let server = Server::start(&SAFE).ready();
    let settings = settings(RedisMode::Standalone, &[server.url()]);
    let (store, _dir) = open(&settings).await;
    let script = Arc::new(put());
    call(&store, &script, "k", "before").await.unwrap();
    server.signal(Signal::STOP);
    let began_at = Instant::now();
    let calls: Vec<_> = (0..200)
        .map(|_| {
            let (store, script) = (store.clone(), Arc::clone(&script));
            tokio::spawn(async move { call(&store, &script, "k", "during").await })
        })
        .collect();
    for one in calls {
        assert!(matches!(one.await.unwrap(), Err(StoreError::Unavailable { .. })));
    }
    let took = began_at.elapsed();
    assert!(
        took < Duration::from_millis(settings.total_timeout_ms + MARGIN_MS),
        "{took:?}"
    );
    server.signal(Signal::CONT);
    eventually("the server answers again", || async {
        call(&store, &script, "k", "after").await.ok()
    })
    .await;
    store.close().await;
}

#[tokio::test]
async fn a_server_that_became_a_replica_is_left_and_found_again() {
    let server = Server::start(&SAFE).ready();
    let mut settings = settings(RedisMode::Standalone, &[server.url()]);
    settings.total_timeout_ms = 20_000;
    let (store, _dir) = open(&settings).await;
    let script = Arc::new(put());
    call(&store, &script, "k", "before").await.unwrap();
    let mut beside = server.connection();
    redis::cmd("REPLICAOF")
        .arg("127.0.0.1")
        .arg(1)
        .exec(&mut beside)
        .unwrap();
    let received = |connection: &mut redis::Connection| -> u64 {
        let info: redis::InfoDict = redis::cmd("INFO").arg("stats").query(connection).unwrap();
        info.get("total_connections_received").unwrap()
    };
    let connections = received(&mut beside);
    let (other, its_script) = (store.clone(), Arc::clone(&script));
    let waiting = tokio::spawn(async move { call(&other, &its_script, "k", "after").await });
    let server = &server;
    eventually("the call opens another connection", || async {
        (received(&mut server.connection()) > connections + 20).then_some(())
    })
    .await;
    redis::cmd("REPLICAOF").arg("NO").arg("ONE").exec(&mut beside).unwrap();
    assert_eq!(waiting.await.unwrap().unwrap(), Value::BulkString("after".into()));
    store.close().await;
}

#[tokio::test]
async fn our_own_errors_are_told_apart_and_not_repeated() {
    let server = Server::start(&SAFE).ready();
    let (store, _dir) = open(&settings(RedisMode::Standalone, &[server.url()])).await;
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&seen);
    store.observe(Arc::new(move |name, outcome, _took| {
        sink.lock().unwrap().push((name, outcome));
    }));
    let ours = Script::new(
        "ours",
        "",
        &["redis.call('INCR', KEYS[1])\nreturn redis.error_reply('JP_STALE epoch')"],
    );
    match store.call(&Call::new(&ours).key("tries")).await {
        Err(StoreError::Protocol { what, code, .. }) => {
            assert_eq!((what.as_str(), code.as_str()), ("ours", "JP_STALE"));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(get(&store, "tries").await.unwrap().as_deref(), Some("1"));
    let wrong = Script::new("wrong", "", &["return redis.call('LPUSH', KEYS[1], 'x')"]);
    match store.call(&Call::new(&wrong).key("tries")).await {
        Err(StoreError::Script { code, .. }) => assert_eq!(code, "WRONGTYPE"),
        other => panic!("{other:?}"),
    }
    let seen = seen.lock().unwrap().clone();
    assert_eq!(
        seen,
        [
            ("ours", Outcome::Refused),
            ("command", Outcome::Ok),
            ("wrong", Outcome::Refused)
        ]
    );
    store.close().await;
}

#[tokio::test]
async fn a_full_server_refuses_writes_but_not_what_frees_memory() {
    let server = Server::start(&SAFE).ready();
    let (store, _dir) = open(&settings(RedisMode::Standalone, &[server.url()])).await;
    let script = put();
    call(&store, &script, "big", &"x".repeat(1 << 20)).await.unwrap();
    assert!(!store.health().refuse_entries);
    redis::cmd("CONFIG")
        .arg("SET")
        .arg("maxmemory")
        .arg(1_500_000)
        .exec(&mut server.connection())
        .unwrap();
    eventually("the watcher sees that memory is short", || async {
        store.health().refuse_entries.then_some(())
    })
    .await;
    assert!(store.health().memory_pct() > 80 && store.health().up);
    assert!(matches!(
        call(&store, &script, "k", "v").await,
        Err(StoreError::OutOfMemory)
    ));
    let free = Script::new("free", "allow-oom", &["return redis.call('UNLINK', KEYS[1])"]);
    assert_eq!(store.call(&Call::new(&free).key("big")).await.unwrap(), Value::Int(1));
    redis::cmd("CONFIG")
        .arg("SET")
        .arg("maxmemory")
        .arg("100mb")
        .exec(&mut server.connection())
        .unwrap();
    eventually("the watcher sees the room", || async {
        (!store.health().refuse_entries).then_some(())
    })
    .await;
    store.close().await;
}

#[tokio::test]
async fn a_replicated_answer_waits_for_the_replica() {
    let primary = Server::start(&SAFE).ready();
    let replica = primary.replica().await;
    let mut beside = primary.connection();
    let mut settings = settings(RedisMode::Standalone, &[primary.url()]);
    settings.durability = Durability::Replicated;
    let (store, _dir) = open(&settings).await;
    let script = put();
    redis::cmd("FUNCTION").arg("FLUSH").exec(&mut beside).unwrap();
    assert_eq!(
        call(&store, &script, "jp:{a}:k", "v").await.unwrap(),
        Value::BulkString("v".into())
    );
    let there: Option<String> = redis::cmd("GET")
        .arg("jp:{a}:k")
        .query(&mut replica.connection())
        .unwrap();
    assert_eq!(there.as_deref(), Some("v"));

    replica.signal(Signal::STOP);
    match call(&store, &script, "jp:{a}:k", "w").await {
        Err(StoreError::Unavailable { cause, .. }) => {
            cause.says("no replica");
        }
        other => panic!("{other:?}"),
    }
    let waiting = call(&store, &script, "jp:{a}:k", "x");
    let reading = async {
        let began_at = Instant::now();
        get(&store, "jp:{a}:k").await.unwrap();
        began_at.elapsed()
    };
    let (waited, read) = tokio::join!(waiting, reading);
    assert!(
        waited.is_err() && read < Duration::from_millis(200),
        "a read waits for no replica: {read:?}"
    );
    assert!(store.health().up);
    replica.signal(Signal::CONT);
    eventually("the replica confirms again", || async {
        call(&store, &script, "jp:{a}:k", "w").await.ok()
    })
    .await;
    store.close().await;
}

/// The script counts how often it runs, which no script of ours may do, and so shows each repeat.
#[tokio::test]
async fn what_was_applied_is_not_sent_again_while_no_replica_confirms_it() {
    let primary = Server::start(&SAFE).ready();
    let replica = primary.replica().await;
    let mut beside = primary.connection();
    let mut settings = settings(RedisMode::Standalone, &[primary.url()]);
    settings.durability = Durability::Replicated;
    settings.response_timeout_ms = 500;
    let (store, _dir) = open(&settings).await;
    let count = Script::new("count", "", &["return redis.call('INCRBY', KEYS[1], ARGV[1])"]);
    assert_eq!(call(&store, &count, "jp:{a}:k", "1").await.unwrap(), Value::Int(1));

    replica.signal(Signal::STOP);
    match call(&store, &count, "jp:{a}:k", "1").await {
        Err(StoreError::Unavailable { cause, .. }) => assert!(cause.contains("no replica"), "{cause}"),
        other => panic!("{other:?}"),
    }
    assert_eq!(get(&store, "jp:{a}:k").await.unwrap().as_deref(), Some("2"));
    eventually("nothing waits for the replica any more", || {
        let info: String = redis::cmd("INFO").arg("clients").query(&mut beside).unwrap();
        async move { info.contains("blocked_clients:0").then_some(()) }
    })
    .await;
    // A call that is confirmed late answers what it did, which it did once.
    let late = async {
        eventually("it was applied", || {
            let now: i64 = redis::cmd("GET").arg("jp:{a}:k").query(&mut beside).unwrap();
            async move { (now == 3).then_some(()) }
        })
        .await;
        let applied = Instant::now();
        eventually("it is not confirmed at once", || async {
            (applied.elapsed() > Duration::from_millis(700)).then_some(())
        })
        .await;
        // The connection is cut too, and the store still remembers what was applied.
        let mut kill = redis::cmd("CLIENT");
        kill.arg("KILL").arg("TYPE").arg("normal").arg("SKIPME").arg("yes");
        kill.exec(&mut beside).unwrap();
        replica.signal(Signal::CONT);
    };
    let (answer, ()) = tokio::join!(call(&store, &count, "jp:{a}:k", "1"), late);
    assert_eq!(answer.unwrap(), Value::Int(3));
    assert_eq!(get(&store, "jp:{a}:k").await.unwrap().as_deref(), Some("3"));
    store.close().await;
}

/// A server that was demoted and promoted again in between may have lost what it had applied.
#[tokio::test]
async fn what_was_applied_in_another_history_is_sent_again() {
    let primary = Server::start(&[&SAFE[..], &["--enable-debug-command", "yes"]].concat()).ready();
    let replica = primary.replica().await;
    let mut beside = primary.connection();
    let mut settings = settings(RedisMode::Standalone, &[primary.url()]);
    settings.durability = Durability::Replicated;
    let (store, _dir) = open(&settings).await;
    let count = Script::new("count", "", &["return redis.call('INCRBY', KEYS[1], ARGV[1])"]);
    replica.signal(Signal::STOP);
    let promoted = async {
        eventually("it was applied", || {
            let now: Option<i64> = redis::cmd("GET").arg("jp:{a}:k").query(&mut beside).unwrap();
            async move { (now == Some(1)).then_some(()) }
        })
        .await;
        redis::cmd("DEBUG").arg("CHANGE-REPL-ID").exec(&mut beside).unwrap();
        eventually("it was sent again", || {
            let now: Option<i64> = redis::cmd("GET").arg("jp:{a}:k").query(&mut beside).unwrap();
            async move { (now == Some(2)).then_some(()) }
        })
        .await;
        replica.signal(Signal::CONT);
    };
    let (answer, ()) = tokio::join!(call(&store, &count, "jp:{a}:k", "1"), promoted);
    assert_eq!(answer.unwrap(), Value::Int(2));
    store.close().await;
}
