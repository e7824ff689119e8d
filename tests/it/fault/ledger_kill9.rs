//! `kill -9` of the service, and with it of the projector, at random times under load: SQL has each event exactly once.

use crate::fault::ledger_support::{COMPARED_OFTEN, assert_ledger_has_each_once, outside, until_clean};
use crate::fault::load::{Load, assert_each_counted_once};
use crate::fault::support::{create, embedded, lively};
use crate::support::prelude::*;
use crate::support::size;

const JACKPOT: &str = "slain";
const PLAYERS: usize = 48;

on_both_databases!(heavy_each_event_is_in_sql_once_after_kills_of_the_service);

/// Kills fall on no round number of entries; the scheduler decides where in a batch or transaction they fall.
async fn heavy_each_event_is_in_sql_once_after_kills_of_the_service(db: LedgerDb) {
    let (kills, entries) = (size(4, 30), size(5_000, 200_000));
    let url = db.environment();
    let (mut service, redis_url) = embedded(&[url, COMPARED_OFTEN]).await;
    create(&service, lively(JACKPOT)).await;
    let load = Load::start(&service, JACKPOT, PLAYERS);
    let mut waiting_at_kills = Vec::new();
    for kill in 0..kills {
        load.until_answered(entries / (kills + 1) + kill * 7 % 50).await;
        service.kill9();
        let sql = outside(&service, url.1).await;
        waiting_at_kills.push(waiting(&sql, &redis_url).await);
        sql.close().await;
        load.until_cut(1).await;
        service.restart().await;
    }
    load.until_answered(entries / (kills + 1)).await;
    let played = load.finish().await;

    let sql = outside(&service, url.1).await;
    until_clean(&service, &sql, JACKPOT).await;
    let history = assert_ledger_has_each_once(&sql, JACKPOT, &played).await;
    assert_each_counted_once(&service, &redis_url, JACKPOT, &played).await;
    let behind = waiting_at_kills.iter().filter(|waiting| **waiting > 0).count();
    println!(
        "{} entries, {} events, {} payouts, {kills} kills, {behind} of them with events that SQL did not have \
         ({waiting_at_kills:?}); {} entries interrupted: each event in SQL once, chain whole, postings sum to zero, \
         reconciliation clean",
        played.len(),
        history.books.n,
        history.books.claim_order,
        played.iter().filter(|one| !one.at_once).count(),
    );
    eventually(PATIENCE, "lag is 0", async || {
        (waiting(&sql, &redis_url).await == 0).then_some(())
    })
    .await;
}

/// Events in Redis that SQL does not have.
async fn waiting(sql: &jackpot::sql::Sql, redis_url: &str) -> i64 {
    let mut redis = crate::fault::support::connection(redis_url).await;
    let n: i64 = redis::cmd("HGET")
        .arg(crate::fault::support::key(JACKPOT, "state"))
        .arg("n")
        .query_async(&mut redis)
        .await
        .expect("HGET");
    n - crate::fault::ledger_support::cursor(sql, JACKPOT).await
}
