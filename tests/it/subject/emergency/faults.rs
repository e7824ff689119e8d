//! What holds of the emergency stop when instances die, nodes are away, Redis is lost, and two operators differ.

use std::time::{Duration, Instant};

use futures_util::{StreamExt as _, stream};
use jackpot::ledger::emergency::last_in_sql;
use jackpot::sql::Sql;
use redis::aio::MultiplexedConnection;

use crate::fault::frozen_node::cluster;
use crate::fault::support::{create, embedded, enter, lively};
use crate::support::ledger_db::settings;
use crate::support::postgres_local::PrivatePostgres;
use crate::support::prelude::*;
use crate::support::service::LIMITS;

/// Subjects of the contract.
const MANY: usize = 1_000;
/// Some of each kind.
const FEW: usize = 20;
const STOP: &str = "/v1/emergency-stop";
const START: &str = "/v1/emergency-start";

on_both_databases!(
    heavy_a_thousand_subjects_obey_and_a_kill_in_the_middle_changes_nothing,
    heavy_of_two_operators_the_last_decision_holds_everywhere,
    a_start_on_a_redis_that_lost_everything_opens_nothing,
);

async fn decide(service: &Service, path: &str, reason: &str) -> Answer {
    service.post(path, json!({ "reason": reason })).await
}

async fn on_redis(db: &LedgerDb, url: &str) -> Service {
    let mode = [
        ("JACKPOT__REDIS__MODE", "standalone"),
        ("JACKPOT__REDIS__URLS", url),
        db.environment(),
    ];
    Service::start_with(&[&LIMITS[..], &mode].concat()).await
}

/// Creates subjects of all kinds. Returns the keys of their states.
async fn many(service: &Service, count: usize) -> Vec<String> {
    let caller = service.caller();
    let all = stream::iter(0..count).map(|number| {
        let caller = caller.clone();
        async move {
            let (path, body, key) = match number % 5 {
                0 => (
                    format!("/v1/coupons/c{number}"),
                    json!({"name": "many", "stock": 10}),
                    format!("cp:{{c{number}}}:state"),
                ),
                1 => (
                    format!("/v1/rooms/r{number}"),
                    json!({"capacity": 5, "session_s": 60, "waiting_timeout_s": 60}),
                    format!("room:{{r{number}}}:state"),
                ),
                _ => {
                    let id = format!("j{number}");
                    (format!("/v1/jackpots/{id}"), lively(&id), format!("jp:{{{id}}}:state"))
                }
            };
            let answer = caller.put(&path, &body).await.expect("an answer");
            answer.is(201);
            key
        }
    });
    all.buffer_unordered(16).collect().await
}

/// The statuses of these states; empty for a state that is not there.
async fn statuses(redis: &mut MultiplexedConnection, states: &[String]) -> Vec<String> {
    let mut reads = redis::pipe();
    for state in states {
        reads.cmd("HGET").arg(state).arg("status");
    }
    let all: Vec<Option<String>> = reads.query_async(redis).await.expect("the statuses");
    all.into_iter().map(Option::unwrap_or_default).collect()
}

/// How many of these states say that the stop holds them.
async fn stopped(redis: &mut MultiplexedConnection, states: &[String]) -> usize {
    let all = statuses(redis, states).await;
    all.iter().filter(|status| status.starts_with("stopped ")).count()
}

async fn heavy_a_thousand_subjects_obey_and_a_kill_in_the_middle_changes_nothing(db: LedgerDb) {
    let server = own_redis(&[]).await;
    let mut redis = server.connection().await;
    let mut service = on_redis(&db, server.url()).await;
    let states = many(&service, MANY).await;
    let begun = Instant::now();
    // On a machine with other work, and without optimisation, the first answer may be 202.
    eventually(PATIENCE, "all obey", async || {
        let answer = decide(&service, STOP, "first").await;
        println!("{MANY} subjects: {} after {:?}", answer.status, begun.elapsed());
        (answer.status == StatusCode::OK).then_some(())
    })
    .await;
    assert_eq!(stopped(&mut redis, &states).await, MANY, "200: all obey");
    eventually(PATIENCE, "all take requests again", async || {
        let answer = decide(&service, START, "first").await;
        (answer.status == StatusCode::OK).then_some(())
    })
    .await;
    assert_eq!(stopped(&mut redis, &states).await, 0);

    // The instance dies once the decision is made, with some of them reached.
    let caller = service.caller();
    let asked = tokio::spawn(async move { caller.post(STOP, &json!({"reason": "second"})).await.is_ok() });
    eventually(PATIENCE, "some are reached", async || {
        (stopped(&mut redis, &states).await > 0).then_some(())
    })
    .await;
    service.kill9();
    println!(
        "{} of {MANY} were reached before the kill",
        stopped(&mut redis, &states).await
    );
    let _ = asked.await;
    service.restart().await;
    eventually(PATIENCE, "the next start reaches the rest", async || {
        (stopped(&mut redis, &states).await == MANY).then_some(())
    })
    .await;
    eventually(PATIENCE, "and says so", async || {
        let state = service.get(STOP).await.body;
        (state["stopped"] == true && state["reason"] == "second" && state["unreached"].is_null()).then_some(())
    })
    .await;
    assert_eq!(enter(&service, "j2", "new").await.body["code"], "stopped");
}

/// Waits until SQL has the decision and both events of each subject: its definition, and that it obeyed. What SQL does not
/// have is lost with Redis.
async fn until_in_sql(service: &Service, db: &LedgerDb, subjects: usize) {
    let sql = Sql::open_to_read(&db.settings(), service.data_dir())
        .await
        .expect("the ledger opens");
    let count = "SELECT COUNT(*) FROM streams WHERE n >= 2 AND kind IN ('jackpot', 'coupon', 'room')";
    eventually(PATIENCE, "SQL has the decision and all events", async || {
        let projected: i64 = sqlx::query_scalar(count)
            .fetch_one(sql.reader())
            .await
            .expect("a count");
        let is_kept = last_in_sql(&sql).await.expect("the decision").is_some();
        (is_kept && projected.unsigned_abs() == subjects as u64).then_some(())
    })
    .await;
    sql.close().await;
}

async fn a_start_on_a_redis_that_lost_everything_opens_nothing(db: LedgerDb) {
    let server = own_redis(&[]).await;
    let mut redis = server.connection().await;
    let mut service = on_redis(&db, server.url()).await;
    let states = many(&service, FEW).await;
    decide(&service, STOP, "a stop").await.is(200);
    until_in_sql(&service, &db, FEW).await;
    service.stop().await;
    redis::cmd("FLUSHALL").exec_async(&mut redis).await.expect("FLUSHALL");
    service.set("JACKPOT__LEDGER__AUTO_RESTORE", "on");
    service.restart_unready().await;
    eventually(
        PATIENCE,
        "all are restored, and what is restored is stopped",
        async || {
            let all = statuses(&mut redis, &states).await;
            assert!(!all.iter().any(|status| status == "open"), "none begins open: {all:?}");
            all.iter().all(|status| status == "stopped open").then_some(())
        },
    )
    .await;
    service.wait_until_ready().await;
    assert_eq!(enter(&service, "j2", "new").await.body["code"], "stopped");
    decide(&service, START, "over").await.is(200);
    enter(&service, "j2", "new").await.is(201);
}

async fn heavy_of_two_operators_the_last_decision_holds_everywhere(db: LedgerDb) {
    let server = own_redis(&[]).await;
    let db_environment = db.environment();
    let mode = [
        ("JACKPOT__REDIS__MODE", "standalone"),
        ("JACKPOT__REDIS__URLS", server.url()),
        db_environment,
    ];
    let one = Service::start_with(&[&LIMITS[..], &mode].concat()).await;
    // SQLite has one instance.
    let other = if db_environment.1.starts_with("postgres") {
        Some(Service::start_with(&[&LIMITS[..], &mode].concat()).await)
    } else {
        None
    };
    let other = other.as_ref().unwrap_or(&one);
    for jackpot in ["a", "b", "c"] {
        create(&one, lively(jackpot)).await;
    }
    for round in 0..20 {
        let reason = format!("round {round}");
        let new = format!("new{round}");
        let path = format!("/v1/jackpots/{new}");
        let (stopped, started, created) = tokio::join!(
            decide(&one, STOP, &reason),
            decide(other, START, &reason),
            other.put(&path, lively(&new)),
        );
        for answer in [stopped, started] {
            assert!(
                answer.status == StatusCode::OK || answer.status == StatusCode::ACCEPTED,
                "{}",
                answer.text
            );
        }
        created.is(201);
        let holds = one.get(STOP).await.body["stopped"].as_bool().expect("a boolean");
        let mut tries = 0;
        eventually(PATIENCE, "all say the same on both", async || {
            for service in [&one, other] {
                let state = service.get(STOP).await.body;
                if state["stopped"] != holds || !state["unreached"].is_null() {
                    return None;
                }
                for jackpot in ["a", "b", "c", &new] {
                    tries += 1;
                    let entry = format!("{round}-{tries}");
                    let is_taken = enter(service, jackpot, &entry).await.status == StatusCode::CREATED;
                    if is_taken == holds {
                        return None;
                    }
                }
            }
            Some(())
        })
        .await;
    }
}

#[tokio::test]
async fn heavy_a_node_that_is_away_is_reached_when_it_is_back() {
    const JACKPOTS: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];
    for lost_key in ["jp:{c}:state", "jp:emergency", "jp:index"] {
        let mut cluster = cluster().await;
        let urls = cluster.urls().join(",");
        let mode = [
            ("JACKPOT__REDIS__MODE", "cluster"),
            ("JACKPOT__REDIS__URLS", urls.as_str()),
        ];
        let service = Service::start_with(&[&LIMITS[..], &mode].concat()).await;
        for jackpot in JACKPOTS {
            create(&service, lively(jackpot)).await;
        }
        let lost = cluster.node_of(lost_key).await.url().to_owned();
        let (mut on_it, mut beside) = (Vec::new(), Vec::new());
        for jackpot in JACKPOTS {
            let its = cluster.node_of(&format!("jp:{{{jackpot}}}:state")).await.url() == lost;
            if its { &mut on_it } else { &mut beside }.push(jackpot);
        }
        assert!(!beside.is_empty(), "{on_it:?}");
        cluster.node_of(lost_key).await.kill9();

        let answer = decide(&service, STOP, "a node is away").await;
        assert_eq!(answer.status, StatusCode::ACCEPTED, "{lost_key}: {}", answer.text);
        assert_eq!(answer.headers["location"], STOP);
        let unreached = answer.body["unreached"].as_array().expect("a list");
        assert!(
            on_it.iter().all(|id| unreached.contains(&json!(id))),
            "{lost_key}: {}",
            answer.text
        );
        for jackpot in &beside {
            let refused = enter(&service, jackpot, "during").await;
            assert_eq!(
                refused.body["code"], "stopped",
                "{lost_key} {jackpot}: {}",
                refused.text
            );
        }
        cluster.restart_at(&lost).await;
        eventually(PATIENCE, "the rest is reached", async || {
            let state = service.get(STOP).await.body;
            (state["stopped"] == true && state["unreached"].is_null()).then_some(())
        })
        .await;
        for jackpot in JACKPOTS {
            assert_eq!(
                enter(&service, jackpot, "after").await.body["code"],
                "stopped",
                "{lost_key} {jackpot}"
            );
        }
        eventually(PATIENCE, "all take entries again", async || {
            let answer = decide(&service, START, "the node is back").await;
            (answer.status == StatusCode::OK && answer.body["stopped"] == false).then_some(())
        })
        .await;
        assert_eq!(
            enter(&service, "a", "after").await.status,
            StatusCode::CREATED,
            "{lost_key}"
        );
    }
}

/// Longest wait for an answer while the database is frozen: two limits of a call, and a margin for a busy machine.
const WITHOUT_SQL: Duration = Duration::from_secs(5);

#[tokio::test]
async fn heavy_a_stop_does_not_wait_for_a_database_that_is_away() {
    let postgres = PrivatePostgres::start().await.expect("apt-get install postgresql");
    let (mut service, _) = embedded(&[("JACKPOT__LEDGER__URL", &postgres.url())]).await;
    create(&service, lively("a")).await;
    postgres.freeze();
    let begun = Instant::now();
    decide(&service, STOP, "also without SQL").await.is(200);
    assert!(begun.elapsed() < WITHOUT_SQL, "{:?}", begun.elapsed());
    assert_eq!(enter(&service, "a", "new").await.body["code"], "stopped");
    postgres.thaw();
    let sql = Sql::open_to_read(&settings(&postgres.url()), service.data_dir())
        .await
        .expect("the ledger opens");
    eventually(PATIENCE, "SQL gets the decision later", async || {
        let last = last_in_sql(&sql).await.ok()??;
        (last.is_stop() && last.reason == "also without SQL").then_some(())
    })
    .await;
    sql.close().await;
    service.stop().await;
}
