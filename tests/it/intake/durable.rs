//! Whatever dies: no message is lost, and none counts twice.

use std::time::{Duration, Instant};

use jackpot::sql::Sql;

use super::bus::{Bus, send};
use super::{DEADLINE, beside, content, entry, service, taken_once};
use crate::support::ledger_db::settings;
use crate::support::postgres_local::PrivatePostgres;
use crate::support::prelude::*;
use crate::support::service::redis_at;

pub(super) fn requests(count: usize) -> impl Iterator<Item = (Option<String>, String)> {
    (0..count).map(|i| (Some(format!("p{}", i % 50)), entry("spring", &format!("e{i}"), "p1")))
}

/// How many entries the jackpot has.
async fn taken(service: &Service) -> u64 {
    let meter = service.get("/v1/jackpots/spring/meter").await;
    meter.body["meters"][0]["pool"].as_u64().unwrap_or(0)
}

pub(super) async fn until_taken(service: &Service, count: u64) {
    eventually(DEADLINE, &format!("{count} entries"), async || {
        (taken(service).await >= count).then_some(())
    })
    .await;
}

on_both_databases!(killed_instances_lose_and_double_nothing);

async fn killed_instances_lose_and_double_nothing(db: LedgerDb) {
    const COUNT: usize = 4_000;
    let bus = Bus::start().await;
    let mut service = service(&bus.environment(), &[db.environment()]).await;
    bus.send(requests(COUNT)).await;
    for kill in 1..=4 {
        until_taken(&service, kill * 700).await;
        service.kill9();
        service.restart().await;
    }
    let (answers, dead) = bus.outcome(COUNT).await;
    assert_eq!(dead, []);
    taken_once(&service, &answers, COUNT).await;
    // The position is behind all of them: a restart takes nothing again.
    assert!(service.stop().await.success());
    service.restart().await;
    bus.send([(None, entry("spring", "last", "p1"))]).await;
    let (again, _) = bus.outcome(COUNT + 1).await;
    assert_eq!(again.len(), answers.len() + 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_nats_server_loses_and_doubles_nothing() {
    const COUNT: usize = 3_000;
    let mut bus = Bus::start().await;
    let service = service(&bus.environment(), &[]).await;
    bus.send(requests(COUNT)).await;
    for kill in 1..=3 {
        until_taken(&service, kill * 600).await;
        bus.nats.kill9();
        bus.nats.restart().await;
    }
    let (answers, dead) = bus.outcome(COUNT).await;
    assert_eq!(dead, []);
    taken_once(&service, &answers, COUNT).await;
}

/// Two instances on one Redis and one PostgreSQL. One takes the messages; when it is killed, the other one goes on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_instance_goes_on_where_a_killed_one_was() {
    const COUNT: usize = 3_000;
    let (bus, redis, db) = (Bus::start().await, own_redis(&[]).await, LedgerDb::postgres().await);
    let of_redis = [
        ("JACKPOT__REDIS__MODE", "standalone"),
        ("JACKPOT__REDIS__URLS", redis.url()),
        db.environment(),
    ];
    let mut first = service(&bus.environment(), &of_redis).await;
    let own = bus.environment();
    let shared: Vec<_> = own
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .chain(of_redis)
        .collect();
    let second = Service::start_in(beside(&first), &shared).await;
    bus.send(requests(COUNT)).await;
    until_taken(&first, 500).await;
    first.kill9();
    let (answers, dead) = bus.outcome(COUNT).await;
    assert_eq!(dead, []);
    taken_once(&second, &answers, COUNT).await;
    first.restart().await;
    drop(second);
    bus.send([(None, entry("spring", "last", "p1"))]).await;
    bus.outcome(COUNT + 1).await;
}

/// Redis ends again and again; what is in flight then is tried again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn messages_wait_for_redis() {
    const COUNT: usize = 2_000;
    let (bus, mut redis) = (Bus::start().await, own_redis(&[]).await);
    let url = redis.url().to_owned();
    let of_redis = redis_at(url.as_str());
    let service = service(&bus.environment(), &of_redis).await;
    bus.send(requests(COUNT)).await;
    for kill in 1..=3 {
        until_taken(&service, kill * 400).await;
        redis.kill9();
        eventually(DEADLINE, "messages wait", async || {
            let metrics = service.get("/metrics").await.text;
            (!metrics.contains("jackpot_intake_retrying_messages 0")).then_some(())
        })
        .await;
        redis.restart().await;
    }
    let (answers, dead) = bus.outcome(COUNT).await;
    assert_eq!(dead, []);
    taken_once(&service, &answers, COUNT).await;
}

/// Play goes on without SQL, and messages too, as far as their position may stay behind.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sql_that_is_away_stops_the_position_and_loses_nothing() {
    let (bus, mut postgres) = (Bus::start().await, PrivatePostgres::start().await.expect("PostgreSQL"));
    let url = postgres.url();
    let mut service = service(&bus.environment(), &[("JACKPOT__LEDGER__URL", &url)]).await;
    bus.send(requests(500)).await;
    until_taken(&service, 500).await;
    postgres.stop_immediate();
    let client = bus.nats.client().await;
    send(&client, requests(900).skip(500)).await;
    until_taken(&service, 900).await;
    service.kill9();
    postgres.start_again().await;
    service.restart().await;
    send(&client, requests(1_000).skip(900)).await;
    let (answers, dead) = bus.outcome(1_000).await;
    assert_eq!(dead, []);
    taken_once(&service, &answers, 1_000).await;
}

/// What the broker deletes before it is taken is gone. It is not silent about it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn messages_that_the_broker_deleted_are_an_alarm_and_the_rest_is_taken() {
    let bus = Bus::start().await;
    let mut service = service(&bus.environment(), &[]).await;
    bus.send(requests(10)).await;
    bus.outcome(10).await;
    assert!(service.stop().await.success());
    bus.send(requests(30).skip(10)).await;
    let stream = bus.nats.client().await.get_stream("requests").await.expect("a stream");
    stream.purge().sequence(21).await.expect("the stream forgets");
    service.restart().await;
    let (answers, _) = bus.outcome(20).await;
    let ids: Vec<_> = answers
        .iter()
        .map(|one| content(one)["id"].as_str().expect("an id").to_owned())
        .collect();
    assert!(
        ids.contains(&"e20".to_owned()) && !ids.contains(&"e15".to_owned()),
        "{ids:?}"
    );
    let log = service.log();
    log.says("messages may be lost");
    log.says("wanted=11");
    let metrics = service.get("/metrics").await.text;
    metrics.says("jackpot_intake_gaps_total 1");
}

pub(super) async fn shows(service: &Service, line: &str) {
    eventually(DEADLINE, line, async || {
        let metrics = service.get("/metrics").await.text;
        metrics.lines().any(|found| found == line).then_some(())
    })
    .await;
}

/// A stream that is made anew has the positions of the messages that wait again. All are taken, and the position moves on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_that_is_made_anew_while_messages_wait_goes_on_from_its_beginning() {
    let bus = Bus::start().await;
    let mut service = service(&bus.environment(), &[]).await;
    service
        .post("/v1/emergency-stop", json!({"reason": "a test"}))
        .await
        .done();
    bus.send(requests(20)).await;
    shows(&service, "jackpot_intake_retrying_messages 20").await;
    let client = bus.nats.client().await;
    client.delete_stream("requests").await.expect("it is gone");
    bus.nats.stream("requests", "requests").await;
    bus.send(requests(25).skip(20)).await;
    shows(&service, "jackpot_intake_gaps_total 1").await;
    service
        .post("/v1/emergency-start", json!({"reason": "a test"}))
        .await
        .done();
    until_taken(&service, 25).await;
    shows(&service, "jackpot_intake_lag_messages{lane=\"0\"} 0").await;
    // The written position is one of the new stream.
    assert!(service.stop().await.success());
    service.restart().await;
    bus.send(requests(26).skip(25)).await;
    until_taken(&service, 26).await;
    shows(&service, "jackpot_intake_gaps_total 0").await;
}

/// Without its stream nothing is taken, and the log says what is missing; then it is made.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_that_is_missing_is_named_and_found_when_it_is_made() {
    let bus = Bus::start().await;
    let client = bus.nats.client().await;
    client.delete_stream("requests").await.expect("it is gone");
    let service = service(&bus.environment(), &[]).await;
    eventually(DEADLINE, "the log names the subject", async || {
        service
            .log()
            .contains("no stream that keeps the subject requests")
            .then_some(())
    })
    .await;
    bus.nats.stream("requests", "requests").await;
    bus.send(requests(5)).await;
    bus.outcome(5).await;
}

/// What may have been taken so long ago that its id is forgotten is not taken again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn entries_that_may_be_repeats_of_forgotten_ones_are_dead_letters() {
    let bus = Bus::start().await;
    let mut service = service(&bus.environment(), &[("JACKPOT__FAIRNESS__RETENTION_S", "60")]).await;
    bus.send(requests(50)).await;
    bus.outcome(50).await;
    let began = Instant::now();
    service.kill9();
    // As if the position had been written long ago, and the messages were as old.
    let sql = Sql::open(&settings(""), service.data_dir()).await.expect("the ledger");
    let change = sqlx::query("UPDATE intake_lanes SET position = 41, since_ms = since_ms - 65000");
    assert_eq!(sql.execute(change).await.expect("a change"), 1);
    sql.close().await;
    eventually(
        DEADLINE,
        "the messages are older than the ids are surely known",
        async || (began.elapsed() > Duration::from_secs(32)).then_some(()),
    )
    .await;
    bus.send(requests(60).skip(50)).await;
    service.restart().await;
    let (answers, dead) = bus.outcome(70).await;
    assert!(
        dead.iter()
            .all(|one| content(one)["problem"]["code"] == "repeat-too-late")
    );
    // Ten messages have a reply and a dead letter. The ten that were sent later are taken.
    assert_eq!((answers.len(), dead.len()), (60, 10));
    taken_once(&service, &answers, 60).await;
}
