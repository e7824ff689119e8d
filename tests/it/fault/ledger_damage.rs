//! Rows of the ledger or meters of Redis were changed: the service notices and names it. That jackpot stops, the others
//! go on.

use sqlx::{Connection, SqliteConnection};

use crate::fault::ledger_support::{COMPARED_OFTEN, cursor, metric, outside, reconciliation, until_clean};
use crate::fault::load::Load;
use crate::fault::support::{connection, create, embedded, enter, key, lively};
use crate::jackpot::by_hand;
use crate::support::prelude::*;

const JACKPOT: &str = "forged";
const OTHER: &str = "honest";

/// Changes one row; returns the number of its event.
async fn change(service: &Service, text: &'static str) -> i64 {
    let file = service.data_dir().join("ledger.sqlite");
    let mut sql = SqliteConnection::connect(&format!("sqlite://{}", file.display()))
        .await
        .expect("the file can be opened");
    let changed: Vec<i64> = sqlx::query_scalar(text)
        .fetch_all(&mut sql)
        .await
        .expect("it can be changed");
    sql.close().await.expect("it can be closed");
    assert_eq!(changed.len(), 1);
    changed[0]
}

async fn two_jackpots() -> (Service, String) {
    let (service, url) = embedded(&[COMPARED_OFTEN]).await;
    for jackpot in [JACKPOT, OTHER] {
        create(&service, lively(jackpot)).await;
        for n in 0..20 {
            enter(&service, jackpot, &format!("e{n}")).await.is(201);
        }
    }
    let sql = outside(&service, "").await;
    for jackpot in [JACKPOT, OTHER] {
        until_clean(&service, &sql, jackpot).await;
    }
    sql.close().await;
    (service, url)
}

/// The damaged jackpot is suspended, the other one is played.
async fn assert_only_this_one_stops(service: &Service) {
    // Each try has another id, because a repeat is answered in any status.
    let mut tries = 0;
    eventually(PATIENCE, "the jackpot is suspended", async || {
        tries += 1;
        let answer = enter(service, JACKPOT, &format!("after-{tries}")).await;
        (answer.status == StatusCode::CONFLICT).then(|| assert_eq!(answer.body["code"], "jackpot-suspended"))
    })
    .await;
    enter(service, OTHER, "after").await.is(201);
}

#[tokio::test]
async fn one_byte_of_a_stored_event_that_was_changed_is_named_at_the_start() {
    let (mut service, _) = two_jackpots().await;
    assert!(service.stop().await.success());
    // The event can still be read: only the chain shows the change.
    let n = change(
        &service,
        "UPDATE events SET body = REPLACE(body, 'p1', 'p2') WHERE kind = 'jackpot' AND id = 'forged' AND n = \
         (SELECT MIN(n) FROM events WHERE kind = 'jackpot' AND id = 'forged' AND n > 6 AND body LIKE '%p1%') RETURNING n",
    )
    .await;
    service.restart().await;
    assert_only_this_one_stops(&service).await;
    let log = service.log();
    log.says(&format!("event {n} in table events")); // the row is named
    let (status, item) = reconciliation(&service, JACKPOT).await;
    assert_eq!(status, StatusCode::CONFLICT);
    item["stopped"].says(&format!("event {n}"));
    let resume = service
        .post(&format!("/v1/jackpots/{JACKPOT}/resume"), json!({"reason": "try"}))
        .await;
    assert!(resume.status.is_client_error(), "{}", resume.text);
}

#[tokio::test]
async fn an_event_taken_out_of_the_ledger_is_named_at_the_start() {
    let (mut service, _) = two_jackpots().await;
    assert!(service.stop().await.success());
    change(
        &service,
        "DELETE FROM events WHERE kind = 'jackpot' AND id = 'forged' AND n = 9 RETURNING n",
    )
    .await;
    service.restart().await;
    assert_only_this_one_stops(&service).await;
    service
        .log()
        .says("event 10 in table events: the event before it is missing");
}

#[tokio::test]
async fn a_balance_that_drifts_is_seen_and_suspends_the_jackpot_until_it_is_right() {
    let (service, url) = two_jackpots().await;
    let redis = &mut connection(&url).await;
    // No prize is taken out of this meter. A raised pool would be paid out, and the ledger would miss it in another
    // way.
    let state = key(JACKPOT, "state");
    let drift = |by: i64| by_hand::add(&state, "grand:paid", by);
    drift(7).exec_async(redis).await.expect("done");
    assert_only_this_one_stops(&service).await;
    assert!(metric(&service, "reconciliation_mismatches", JACKPOT).await > 0);
    let (status, item) = reconciliation(&service, JACKPOT).await;
    assert_eq!(
        (status, &item["clean"]),
        (StatusCode::CONFLICT, &json!(false)),
        "{item}"
    );
    let found = &item["tiers"][0]["differences"][0];
    let (redis_has, ledger_has) = (found["redis"].as_i64(), found["ledger"].as_i64());
    // Entries came in before the service noticed.
    assert_eq!(found["meter"], "paid", "{item}");
    assert_eq!(redis_has, ledger_has.map(|paid| paid + 7), "{item}");
    service.log().says("paid is "); // the log line has both values

    let resume = async || {
        let path = format!("/v1/jackpots/{JACKPOT}/resume");
        service.post(&path, json!({"reason": "counted again"})).await
    };
    let refused = resume().await;
    assert!(refused.status.is_client_error(), "a mismatch stays: {}", refused.text);
    drift(-7).exec_async(redis).await.expect("done");
    let resumed = resume().await;
    resumed.is(200);
    enter(&service, JACKPOT, "resumed").await.is(201);
}

/// A start looks only at the tail; an audit looks at everything.
#[tokio::test]
async fn heavy_one_byte_changed_in_the_middle_of_the_ledger_is_named_by_verify() {
    /// More events than a start checks.
    const EVENTS: i64 = 1_200;
    let (mut service, _) = two_jackpots().await;
    let load = Load::start(&service, JACKPOT, 3);
    let sql = outside(&service, "").await;
    eventually(
        2 * PATIENCE,
        "the ledger has more than the start looks at",
        async || (cursor(&sql, JACKPOT).await > EVENTS).then_some(()),
    )
    .await;
    load.finish().await;
    // A checkpoint may come between any two entries, so the event is found by what it holds.
    let text = "SELECT MIN(n) FROM events WHERE kind = 'jackpot' AND id = 'forged' AND n > 6 AND body LIKE '%p1%'";
    let n: i64 = sqlx::query_scalar(text)
        .fetch_one(sql.reader())
        .await
        .expect("an event of p1");
    sql.close().await;
    assert!(service.stop().await.success());
    let whole = service.command(&["verify", "--ledger"]);
    whole.done();

    change(
        &service,
        "UPDATE events SET body = REPLACE(body, 'p1', 'p2') WHERE kind = 'jackpot' AND id = 'forged' AND n = \
         (SELECT MIN(n) FROM events WHERE kind = 'jackpot' AND id = 'forged' AND n > 6 AND body LIKE '%p1%') RETURNING n",
    )
    .await;
    let exported = service.command(&["export", JACKPOT, "--output", "forged.export"]);
    exported.done();
    for arguments in [&["verify", "forged.export"][..], &["verify", "--ledger"]] {
        let verified = service.command(arguments);
        assert_eq!(verified.status.code(), Some(1), "{}", verified.words());
        verified.says(&format!("event {n}"));
    }
    let other = service.command(&["verify", "--ledger", "--jackpot", OTHER]);
    other.done();
}
