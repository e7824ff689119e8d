//! PostgreSQL is stopped or frozen under load: play goes on, events wait in Redis up to the limit, and nothing is lost.

use std::time::{Duration, Instant};

use crate::fault::ledger_support::{COMPARED_OFTEN, assert_ledger_has_each_once, cursor, metric, outside, until_clean};
use crate::fault::load::{Load, assert_each_counted_once};
use crate::fault::support::{assert_unavailable, connection, create, embedded, enter, key, lively};
use crate::support::postgres_local::PrivatePostgres;
use crate::support::prelude::*;
use crate::support::size;

const JACKPOT: &str = "patient";
const PLAYERS: usize = 24;
const LAG: &str = "ledger_lag_events";
const MARGIN: usize = 100;
/// Events that a stream may hold beyond the margin: a batch that is younger than the margin, and nodes, which are
/// trimmed whole.
const MARGIN_SLACK: usize = 1_200;

/// How long the database is away.
fn outage() -> Duration {
    Duration::from_secs(size(5, 60))
}

async fn postgres() -> PrivatePostgres {
    PrivatePostgres::start().await.expect("apt-get install postgresql")
}

async fn playing(url: &str, more: &[(&str, &str)]) -> (Service, String, Load) {
    let margin = MARGIN.to_string();
    let common = [
        ("JACKPOT__LEDGER__URL", url),
        ("JACKPOT__LEDGER__TRIM_MARGIN_EVENTS", &margin),
        COMPARED_OFTEN,
    ];
    let (service, redis_url) = embedded(&[&common[..], more].concat()).await;
    create(&service, lively(JACKPOT)).await;
    let load = Load::start(&service, JACKPOT, PLAYERS);
    load.until_answered(500).await;
    let sql = outside(&service, url).await;
    eventually(PATIENCE, "the ledger reads the stream", async || {
        (cursor(&sql, JACKPOT).await > 0).then_some(())
    })
    .await;
    sql.close().await;
    (service, redis_url, load)
}

async fn stream_length(redis_url: &str) -> usize {
    redis::cmd("XLEN")
        .arg(key(JACKPOT, "events"))
        .query_async(&mut connection(redis_url).await)
        .await
        .expect("XLEN")
}

/// Watches for the whole outage: entries are answered, and the backlog grows.
async fn play_goes_on(service: &Service, load: &Load, began_at: Instant) -> (u64, usize) {
    let answered_before = load.answered();
    let first = eventually(PATIENCE, "the metric shows a backlog", async || {
        Some(metric(service, LAG, JACKPOT).await).filter(|lag| *lag > 0)
    })
    .await;
    let mut largest = first;
    eventually(
        2 * outage() + PATIENCE,
        "the outage is over, and the backlog has grown",
        async || {
            largest = largest.max(metric(service, LAG, JACKPOT).await);
            (began_at.elapsed() >= outage() && largest > first).then_some(())
        },
    )
    .await;
    let ready = service.get("/readyz").await;
    ready.is(200); // play goes on
    assert!(ready.body["ledger"]["lag_events"].as_u64() > Some(0), "{}", ready.body);
    (largest, load.answered() - answered_before)
}

async fn nothing_is_lost(service: &Service, url: &str, redis_url: &str, load: Load) -> usize {
    load.until_answered(200).await;
    let played = load.finish().await;
    let sql = outside(service, url).await;
    until_clean(service, &sql, JACKPOT).await;
    assert_ledger_has_each_once(&sql, JACKPOT, &played).await;
    assert_each_counted_once(service, redis_url, JACKPOT, &played).await;
    eventually(PATIENCE, "the metric says that the ledger has all", async || {
        (metric(service, LAG, JACKPOT).await == 0).then_some(())
    })
    .await;
    played.len()
}

#[tokio::test]
async fn heavy_play_goes_on_while_postgres_is_stopped_and_the_ledger_catches_up() {
    let mut postgres = postgres().await;
    let url = postgres.url();
    let (service, redis_url, load) = playing(&url, &[]).await;

    postgres.stop_immediate();
    let began_at = Instant::now();
    service
        .until("/readyz", "/readyz shows that SQL does not answer", |ready| {
            ready["ledger"]["up"] == false
        })
        .await;
    let (largest, answered) = play_goes_on(&service, &load, began_at).await;
    let (away, waiting) = (began_at.elapsed(), stream_length(&redis_url).await);

    postgres.start_again().await;
    let back_at = Instant::now();
    eventually(PATIENCE, "the backlog is gone", async || {
        (metric(&service, LAG, JACKPOT).await < largest / 2).then_some(())
    })
    .await;
    let caught_up = back_at.elapsed();
    let played = nothing_is_lost(&service, &url, &redis_url, load).await;
    let left = stream_length(&redis_url).await;
    assert!(left <= MARGIN + MARGIN_SLACK, "the stream is trimmed: {left}");
    println!(
        "PostgreSQL away for {away:?}: {answered} entries answered meanwhile, lag up to {largest} events, stream {waiting} \
         events; caught up {caught_up:?} after its return; {played} entries in all, none lost or doubled; stream {left}"
    );
}

#[tokio::test]
async fn heavy_play_goes_on_while_postgres_is_frozen_and_the_ledger_catches_up() {
    let postgres = postgres().await;
    let url = postgres.url();
    let (service, redis_url, load) = playing(&url, &[]).await;
    postgres.freeze();
    play_goes_on(&service, &load, Instant::now()).await;
    postgres.thaw();
    nothing_is_lost(&service, &url, &redis_url, load).await;
}

/// Enters an id that was never taken before, once the ledger is near enough. A slow disk may delay that.
async fn enter_once_taken(service: &Service, id: &str) -> Answer {
    let answer = eventually(PATIENCE, "the entry is taken", async || {
        let answer = enter(service, JACKPOT, id).await;
        (answer.status != StatusCode::SERVICE_UNAVAILABLE).then_some(answer)
    })
    .await;
    answer.is(201);
    answer
}

/// The limit is a promise about Redis' memory. Beyond it new entries wait, and nothing that was answered is forgotten.
#[tokio::test]
async fn heavy_entries_wait_beyond_the_backlog_limit_and_repeats_do_not() {
    const LIMIT: u64 = 1_000;
    let mut postgres = postgres().await;
    let url = postgres.url();
    let limit = LIMIT.to_string();
    let (service, redis_url, load) = playing(&url, &[("JACKPOT__LEDGER__MAX_BACKLOG_EVENTS", &limit)]).await;
    let known = enter_once_taken(&service, "known").await;
    postgres.stop_immediate();
    load.until_unavailable(2 * PLAYERS).await;
    let began_at = Instant::now();
    let refused = enter(&service, JACKPOT, "new").await;
    assert_unavailable(&refused, began_at.elapsed());
    let again = enter(&service, JACKPOT, "known").await;
    assert_eq!(again.is(200), &known.body, "a repeat");
    let lag = metric(&service, LAG, JACKPOT).await;
    let waiting = stream_length(&redis_url).await as u64;
    // The backlog may exceed the limit by one event for each call that was in flight at that time.
    assert!(
        waiting <= LIMIT + (MARGIN + MARGIN_SLACK + PLAYERS) as u64,
        "{waiting} events, lag {lag}"
    );
    eventually(PATIENCE, "/readyz says that the ledger is too far behind", async || {
        let ready = service.get("/readyz").await;
        let refused = &ready.body["refused_subjects"][0];
        (ready.status == StatusCode::SERVICE_UNAVAILABLE && refused["id"] == JACKPOT && refused["reason"] == "backlog")
            .then_some(())
    })
    .await;

    postgres.start_again().await;
    load.until_answered(200).await;
    let played = load.finish().await;
    enter_once_taken(&service, "new").await;
    let sql = outside(&service, &url).await;
    until_clean(&service, &sql, JACKPOT).await;
    let history = crate::fault::ledger_support::history(&sql, JACKPOT).await;
    assert_eq!(history.entries.len(), played.len() + 2);
    for one in &played {
        let id = one.body["entry_id"].as_str().expect("an id");
        assert_eq!(history.entries.get(id).copied(), one.body["sequence"].as_u64(), "{id}");
    }
}
