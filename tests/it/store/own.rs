//! Calls over the calling thread's own connection: they repeat as over the shared one, and leave nothing.

use std::sync::Arc;
use std::time::{Duration, Instant};

use jackpot::settings::{Durability, RedisMode};
use jackpot::store::{Call, Store, StoreError};
use redis::Value;
use rustix::process::Signal;
use tokio::runtime::{Builder, Runtime};

use crate::store::support::{MARGIN_MS, SAFE, Server, call_here, eventually, get, open, put, settings};

fn text(value: &str) -> Value {
    Value::BulkString(value.into())
}

/// How many clients the server has.
fn clients(server: &Server) -> usize {
    let list: String = redis::cmd("CLIENT")
        .arg("LIST")
        .query(&mut server.connection())
        .unwrap();
    list.lines().count()
}

fn one_thread() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

#[tokio::test]
async fn a_forgotten_script_and_a_lost_server_are_met_as_over_the_shared_connection() {
    let mut server = Server::start(&SAFE).ready();
    let mut settings = settings(RedisMode::Standalone, &[server.url()]);
    settings.total_timeout_ms = 20_000;
    let (store, _dir) = open(&settings).await;
    let script = Arc::new(put());
    for value in ["a", "b"] {
        let mut beside = server.connection();
        redis::cmd("FUNCTION").arg("FLUSH").exec(&mut beside).unwrap();
        assert_eq!(call_here(&store, &script, "k", value).await.unwrap(), text(value));
    }
    server.kill();
    let calls: Vec<_> = (0..20)
        .map(|n| {
            let (store, script) = (store.clone(), Arc::clone(&script));
            tokio::spawn(async move { call_here(&store, &script, &format!("k{n}"), "after").await })
        })
        .collect();
    eventually("the watcher sees the server gone", || async {
        (!store.health().up).then_some(())
    })
    .await;
    server.restart();
    for one in calls {
        assert_eq!(one.await.unwrap().unwrap(), text("after"));
    }
    assert_eq!(get(&store, "k").await.unwrap().as_deref(), Some("b"));
    store.close().await;
}

#[tokio::test]
async fn a_frozen_server_is_unavailable_within_the_total_limit() {
    let server = Server::start(&SAFE).ready();
    let settings = settings(RedisMode::Standalone, &[server.url()]);
    let (store, _dir) = open(&settings).await;
    let script = put();
    call_here(&store, &script, "k", "before").await.unwrap();
    server.signal(Signal::STOP);
    let began_at = Instant::now();
    let during = call_here(&store, &script, "k", "during").await;
    assert!(matches!(during, Err(StoreError::Unavailable { .. })), "{during:?}");
    let took = began_at.elapsed();
    assert!(
        took < Duration::from_millis(settings.total_timeout_ms + MARGIN_MS),
        "{took:?}"
    );
    server.signal(Signal::CONT);
    eventually("the server answers again", || async {
        call_here(&store, &script, "k", "after").await.ok()
    })
    .await;
    store.close().await;
}

#[test]
fn each_thread_has_its_own_connection_and_takes_it_along() {
    let server = Server::start(&SAFE).ready();
    let main = Runtime::new().unwrap();
    let (store, _dir) = main.block_on(open(&settings(RedisMode::Standalone, &[server.url()])));
    let script = put();
    let before = clients(&server);
    let (both, rest) = (std::sync::Barrier::new(3), std::sync::Barrier::new(3));
    std::thread::scope(|scope| {
        for name in ["one", "two"] {
            let (both, rest, store, script) = (&both, &rest, &store, &script);
            scope.spawn(move || {
                let runtime = one_thread();
                for value in ["a", "b"] {
                    assert_eq!(
                        runtime.block_on(call_here(store, script, name, value)).unwrap(),
                        text(value)
                    );
                }
                both.wait();
                rest.wait();
            });
        }
        both.wait();
        assert_eq!(clients(&server), before + 2);
        rest.wait();
    });
    main.block_on(eventually("the threads' connections are closed", || async {
        (clients(&server) == before).then_some(())
    }));
    main.block_on(store.close());
}

#[test]
fn long_commands_go_over_two_more_connections_in_turn() {
    let server = Server::start(&SAFE).ready();
    let runtime = one_thread();
    runtime.block_on(async {
        let (store, _dir) = open(&settings(RedisMode::Standalone, &[server.url()])).await;
        let script = put();
        call_here(&store, &script, "k", "v").await.unwrap();
        let before = clients(&server);
        for value in ["a", "b", "c", "d"] {
            let call = Call::new(&script).key("k").arg(value);
            assert_eq!(store.call_long(&call).await.unwrap(), text(value));
        }
        assert_eq!(clients(&server), before + 2);
        call_here(&store, &script, "k", "v").await.unwrap();
        assert_eq!(clients(&server), before + 2);
        store.close().await;
    });
}

#[test]
fn a_thread_goes_on_when_its_runtime_was_another_one_before() {
    let server = Server::start(&SAFE).ready();
    let main = Runtime::new().unwrap();
    let (store, _dir) = main.block_on(open(&settings(RedisMode::Standalone, &[server.url()])));
    for value in ["a", "b", "c"] {
        let runtime = one_thread();
        assert_eq!(
            runtime.block_on(call_here(&store, &put(), "k", value)).unwrap(),
            text(value)
        );
    }
    main.block_on(store.close());
}

#[test]
fn the_connections_of_stores_that_are_gone_do_not_pile_up() {
    let server = Server::start(&SAFE).ready();
    let runtime = one_thread();
    let before = clients(&server);
    for _ in 0..20 {
        runtime.block_on(async {
            let (store, _dir): (Store, _) = open(&settings(RedisMode::Standalone, &[server.url()])).await;
            call_here(&store, &put(), "k", "v").await.unwrap();
            store.close().await;
        });
    }
    runtime.block_on(eventually("all but the last store's are closed", || async {
        (clients(&server) <= before + 1).then_some(())
    }));
}

#[tokio::test]
async fn a_replicated_answer_waits_for_the_replica() {
    let primary = Server::start(&SAFE).ready();
    let replica = primary.replica().await;
    let mut settings = settings(RedisMode::Standalone, &[primary.url()]);
    settings.durability = Durability::Replicated;
    // WAIT ends well before the answer's own limit, also on a loaded machine.
    (settings.response_timeout_ms, settings.total_timeout_ms) = (2_000, 4_000);
    let (store, _dir) = open(&settings).await;
    let script = put();
    assert_eq!(
        call_here(&store, &script, "jp:{a}:k", "v").await.unwrap(),
        text("v"),
        "the source is sent in a pipeline too"
    );
    let there: Option<String> = redis::cmd("GET")
        .arg("jp:{a}:k")
        .query(&mut replica.connection())
        .unwrap();
    assert_eq!(there.as_deref(), Some("v"));
    replica.signal(Signal::STOP);
    match call_here(&store, &script, "jp:{a}:k", "w").await {
        Err(StoreError::Unavailable { cause, .. }) => assert!(cause.contains("no replica"), "{cause}"),
        other => panic!("{other:?}"),
    }
    replica.signal(Signal::CONT);
    eventually("the replica confirms again", || async {
        call_here(&store, &script, "jp:{a}:k", "w").await.ok()
    })
    .await;
    store.close().await;
}
