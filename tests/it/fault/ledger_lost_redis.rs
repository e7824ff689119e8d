//! Redis loses everything, or is older than the ledger: nothing is played on it until it is rebuilt, and then all is
//! as before.

use std::path::Path;

use crate::fault::ledger_support::{COMPARED_OFTEN, history, metric, outside, until_clean};
use crate::fault::load::{Load, Played};
use crate::fault::support::{balanced, connection, create, embedded, enter, entry, lively};
use crate::support::prelude::*;

const JACKPOT: &str = "phoenix";
const PLAYERS: usize = 12;
const NO_RESTORE: (&str, &str) = ("JACKPOT__LEDGER__AUTO_RESTORE", "off");
const RESTORES: &str = "ledger_restores";

async fn flush(url: &str) {
    redis::cmd("FLUSHALL")
        .exec_async(&mut connection(url).await)
        .await
        .expect("FLUSHALL");
}

/// A service with some hundred entries, all in the ledger, and their answers.
async fn played_on(more: &[(&str, &str)]) -> (Service, String, Vec<Played>) {
    let (service, url) = embedded(&[&[COMPARED_OFTEN][..], more].concat()).await;
    create(&service, lively(JACKPOT)).await;
    let load = Load::start(&service, JACKPOT, PLAYERS);
    load.until_answered(400).await;
    let played = load.finish().await;
    all_in_sql(&service).await;
    (service, url, played)
}

async fn all_in_sql(service: &Service) {
    let sql = outside(service, "").await;
    until_clean(service, &sql, JACKPOT).await;
    sql.close().await;
}

/// The answers about a jackpot and old entries, byte for byte.
struct Before {
    meter: Value,
    told: Vec<(Value, String, String)>,
    sequence: u64,
}

async fn look_up(service: &Service, entry: &Value) -> Answer {
    let id = entry["entry_id"].as_str().expect("an id");
    service.get(&format!("/v1/jackpots/{JACKPOT}/entries/{id}")).await
}

async fn repeat(service: &Service, entry: &Value) -> Answer {
    service
        .post(&format!("/v1/jackpots/{JACKPOT}/entries"), entry.clone())
        .await
}

impl Before {
    async fn of(service: &Service, played: &[Played]) -> Self {
        let mut told = Vec::new();
        for one in played {
            let (got, posted) = (look_up(service, &one.entry).await, repeat(service, &one.entry).await);
            assert_eq!(
                (got.status, posted.status),
                (StatusCode::OK, StatusCode::OK),
                "{}",
                one.entry
            );
            told.push((one.entry.clone(), got.text, posted.text));
        }
        Self {
            meter: balanced(service, JACKPOT).await,
            told,
            sequence: played.len() as u64,
        }
    }

    /// All is as before, and the next entry continues from there.
    async fn is_as_before(&self, service: &Service, next: &str) {
        assert_eq!(
            balanced(service, JACKPOT).await,
            self.meter,
            "meters are those of the ledger"
        );
        for (entry, got, posted) in &self.told {
            assert_eq!(&look_up(service, entry).await.text, got, "GET, byte for byte");
            let again = repeat(service, entry).await;
            assert_eq!(
                (again.status, &again.text),
                (StatusCode::OK, posted),
                "POST, byte for byte"
            );
        }
        assert_eq!(balanced(service, JACKPOT).await, self.meter, "repeats count nothing");
        let new = enter(service, JACKPOT, next).await;
        new.is(201);
        assert_eq!(new.body["sequence"], self.sequence + 1, "the next sequence");
        let pool = self.meter["pool"].as_u64().expect("an integer") + 1;
        assert_eq!(new.body["contributions"][0]["pool"], pool, "the pool goes on");
    }
}

/// Waits until the jackpot takes entries again. Until then each answer is a refusal that says so.
async fn until_played_again(service: &Service, known: &Value) {
    eventually(PATIENCE, "the jackpot is played again", async || {
        let answer = repeat(service, known).await;
        if answer.status == StatusCode::OK {
            return Some(());
        }
        assert_suspended(&answer);
        None
    })
    .await;
}

fn assert_suspended(answer: &Answer) {
    answer.is(409);
    assert_eq!(answer.body["code"], "jackpot-suspended");
}

#[tokio::test]
async fn heavy_a_redis_wiped_under_a_running_service_is_rebuilt_with_all_that_was_answered() {
    let (service, url, played) = played_on(&[]).await;
    let before = Before::of(&service, &played).await;
    flush(&url).await;
    until_played_again(&service, &played[0].entry).await;
    before.is_as_before(&service, "next").await;
    assert_eq!(metric(&service, RESTORES, JACKPOT).await, 1);
    all_in_sql(&service).await;
}

/// What was answered and not yet in SQL when Redis lost it cannot come back. Whatever SQL had is there, and nothing is
/// ever counted from an empty pool.
#[tokio::test]
async fn heavy_no_entry_is_accepted_against_an_empty_pool_when_redis_is_wiped_under_load() {
    const WIPES: usize = 3;
    let (service, url) = embedded(&[COMPARED_OFTEN]).await;
    create(&service, lively(JACKPOT)).await;
    let mut all = Vec::new();
    for wipe in 0..WIPES {
        let load = Load::start_as(&format!("w{wipe}-"), &service, JACKPOT, PLAYERS);
        load.until_answered(300).await;
        let sql = outside(&service, "").await;
        let had = sequence_in(&sql).await;
        sql.close().await;
        flush(&url).await;
        load.until_suspended(1).await;
        // This load begins after the wipe: none of its answers may come from a pool that began anew.
        let later = Load::start_as(&format!("l{wipe}-"), &service, JACKPOT, PLAYERS);
        later.until_answered(100).await;
        let later = later.finish_through_suspension().await;
        for one in &later {
            assert!(
                one.body["sequence"].as_u64() > Some(had),
                "numbered anew behind {had}: {}",
                one.body
            );
        }
        all.extend(later);
        all.extend(load.finish_through_suspension().await);
        all_in_sql(&service).await;
    }
    let sql = outside(&service, "").await;
    let history = history(&sql, JACKPOT).await;
    assert_eq!(history.entries.len() as u64, history.books.sequence, "dense");
    let mut lost = 0;
    for one in &all {
        let id = one.body["entry_id"].as_str().expect("an id");
        match history.entries.get(id) {
            Some(sequence) => {
                assert_eq!(one.body["sequence"].as_u64(), Some(*sequence), "{id}");
                let now = look_up(&service, &one.entry).await.body;
                // A redrawn entry was pending in between: its later claims may be lost, and were made again then.
                let redrawn = one.body["draw"]["attempts"].as_array().is_some_and(|all| all.len() > 1);
                if redrawn {
                    assert_eq!(now["contributions"], one.body["contributions"], "{id}");
                } else {
                    assert_eq!(now, one.body, "{id}");
                }
            }
            None => lost += 1,
        }
    }
    println!(
        "{} entries answered, {lost} of them in the moment before {WIPES} wipes and not in SQL",
        all.len()
    );
    assert!(lost < all.len() / 2, "{lost} of {}", all.len());
    let meter = balanced(&service, JACKPOT).await;
    assert_eq!(meter["contributed"].as_u64(), Some(history.books.sequence));
}

async fn sequence_in(sql: &jackpot::sql::Sql) -> u64 {
    let text = "SELECT COALESCE(MAX(last_sequence), 0) FROM events WHERE kind = 'jackpot' AND id = $1";
    let last: i64 = sqlx::query_scalar(text)
        .bind(JACKPOT)
        .fetch_one(sql.reader())
        .await
        .expect("the ledger answers");
    last.unsigned_abs()
}

fn redis_files(service: &Service) -> std::path::PathBuf {
    service.data_dir().join("redis")
}

fn replace_directory(from: Option<&Path>, to: &Path) {
    if to.exists() {
        std::fs::remove_dir_all(to).expect("files can be removed");
    }
    if let Some(from) = from {
        let copied = std::process::Command::new("cp").arg("-a").arg(from).arg(to).status();
        assert!(copied.expect("cp").success());
    }
}

#[tokio::test]
async fn heavy_a_redis_that_lost_its_files_is_rebuilt_at_the_start() {
    let (mut service, _, played) = played_on(&[]).await;
    let before = Before::of(&service, &played).await;
    assert!(service.stop().await.success());
    replace_directory(None, &redis_files(&service));
    service.restart().await;
    // A ready service has rebuilt: there is no answer in between.
    before.is_as_before(&service, "next").await;
    all_in_sql(&service).await;
}

#[tokio::test]
async fn heavy_a_wiped_redis_is_not_played_on_until_it_is_restored() {
    let (mut service, url, played) = played_on(&[NO_RESTORE]).await;
    let before = Before::of(&service, &played).await;
    flush(&url).await;
    assert_refused_until_restored(&service, &played).await;
    // A start does not change that.
    assert!(service.stop().await.success());
    service.restart_unready().await;
    assert_refused_until_restored(&service, &played).await;
    // A PUT does not make the jackpot anew either.
    let put = service.put(&format!("/v1/jackpots/{JACKPOT}"), lively(JACKPOT)).await;
    assert_ne!(put.status, StatusCode::CREATED, "{}", put.text);

    assert!(service.stop().await.success());
    service.set(NO_RESTORE.0, "on");
    service.restart().await;
    before.is_as_before(&service, "next").await;
    all_in_sql(&service).await;
}

async fn assert_refused_until_restored(service: &Service, played: &[Played]) {
    for body in [&played[0].entry, &entry("never-taken"), &played[1].entry] {
        assert_suspended(&repeat(service, body).await);
    }
}

/// Stops the service, puts an older copy of Redis' files in place, and starts.
async fn set_back(more: &[(&str, &str)]) -> (Service, Before, Vec<Played>) {
    let (mut service, _, early) = played_on(more).await;
    assert!(service.stop().await.success());
    let old = service.data_dir().join("old-copy");
    replace_directory(Some(&redis_files(&service)), &old);
    service.restart().await;
    let load = Load::start_as("late", &service, JACKPOT, PLAYERS);
    load.until_answered(200).await;
    let mut played = load.finish().await;
    played.extend(early);
    all_in_sql(&service).await;
    let before = Before::of(&service, &played).await;
    assert!(service.stop().await.success());
    replace_directory(Some(&old), &redis_files(&service));
    service.restart_unready().await;
    (service, before, played)
}

#[tokio::test]
async fn heavy_an_older_copy_of_redis_is_noticed_at_the_start_and_rebuilt() {
    let (service, before, _) = set_back(&[]).await;
    before.is_as_before(&service, "next").await;
    service.log().says("this jackpot is rebuilt from the ledger"); // it says so
    all_in_sql(&service).await;
}

#[tokio::test]
async fn heavy_an_older_copy_of_redis_is_refused_until_it_is_restored() {
    let (mut service, before, played) = set_back(&[NO_RESTORE]).await;
    assert_refused_until_restored(&service, &played).await;
    assert!(service.stop().await.success());
    service.set(NO_RESTORE.0, "on");
    service.restart().await;
    before.is_as_before(&service, "next").await;
    all_in_sql(&service).await;
}
