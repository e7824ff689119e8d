//! The draw secret rotates: what was begun under the old secret is finished under it, and new epochs open under the new
//! one.

use crate::fault::ledger_support::outside;
use crate::fault::support::{create, enter, enter_unavailable, entry_drawing, redrawing};
use crate::support::postgres_local::PrivatePostgres;
use crate::support::prelude::*;
use crate::support::proxy::ChaosProxy;
use crate::support::service::MASTER_SECRET;

const JACKPOT: &str = "turned";
const CURRENT: &str = "JACKPOT__FAIRNESS__MASTER_SECRET";
const PREVIOUS: &str = "JACKPOT__FAIRNESS__PREVIOUS_SECRETS";
const OLD_ID: &str = "abc44bcf0634a438";

fn new_secret() -> String {
    "a1".repeat(32)
}

async fn epochs(service: &Service) -> Vec<Value> {
    let shown = service.get(&format!("/v1/jackpots/{JACKPOT}/fairness")).await.body;
    assert_has!(shown, {"cycles": [], "next_cursor": null});
    shown["epochs"].as_array().expect("epochs").clone()
}

async fn rotate(service: &Service) {
    let path = format!("/v1/jackpots/{JACKPOT}/fairness/rotate");
    service.post(&path, json!({"reason": "a test"})).await.is(200);
}

async fn published(service: &Service, number: usize) -> Vec<Value> {
    eventually(PATIENCE, "the seeds are published", async || {
        let epochs = epochs(service).await;
        epochs[..number]
            .iter()
            .all(|epoch| epoch["seed"].is_string())
            .then_some(epochs)
    })
    .await
}

#[tokio::test]
async fn what_was_begun_under_the_old_secret_is_finished_under_it() {
    let redis = own_redis(&[]).await;
    let proxy = ChaosProxy::in_front_of(redis.url()).await;
    let mut service = service_on(proxy.url(), &[]).await;
    create(&service, redrawing(JACKPOT)).await;
    let owed = entry_drawing(&service, JACKPOT, "owed", &[1, 2]).await;
    // Rank 1 has refused the entry, and nobody could claim what the redraw won.
    proxy.lose_reply_and_go_down(&["FCALL", &owed], 0);
    enter_unavailable(&service, JACKPOT, &owed).await;
    service.kill9();
    proxy.pass();

    let fresh = new_secret();
    let server = [
        ("JACKPOT__REDIS__MODE", "standalone"),
        ("JACKPOT__REDIS__URLS", redis.url()),
        (CURRENT, &fresh),
    ];
    let (status, said) = Service::refused(service.data_dir(), &server).await;
    assert!(!status.success(), "{said}");
    for named in [OLD_ID, JACKPOT, "fairness.previous_secrets"] {
        said.says(named);
    }

    let retired = format!("{}, {MASTER_SECRET}", "b2".repeat(32));
    service.set(CURRENT, &fresh);
    service.set(PREVIOUS, &retired);
    service.restart().await;
    let attempts = json!([{"attempt": 0, "rank": 1, "result": "retry"}, {"attempt": 1, "rank": 2, "result": "paid"}]);
    let finished = enter(&service, JACKPOT, &owed).await;
    assert_eq!(finished.body["draw"]["attempts"], attempts, "{:?}", finished.body);
    // Before the rotation play goes on in the open epoch.
    let before = enter(&service, JACKPOT, "before").await;
    assert_eq!(
        (before.status, &before.body["draw"]["epoch"]),
        (StatusCode::CREATED, &json!(1))
    );
    rotate(&service).await;
    let after = enter(&service, JACKPOT, "after").await;
    assert_eq!(after.body["draw"]["epoch"], 2, "{:?}", after.body);
    let shown = published(&service, 1).await;
    let names: Vec<_> = shown
        .iter()
        .map(|epoch| epoch["secret_id"].as_str().expect("an id"))
        .collect();
    assert_eq!(names[0], OLD_ID);
    assert_ne!(names[1], OLD_ID);
    assert!(
        shown[1]["seed"].is_null() && shown[1]["closed_at"].is_null(),
        "{shown:?}"
    );

    // Nothing needs the old secret any more, and its epoch stays published.
    assert!(service.stop().await.success(), "{}", service.log());
    service.set(PREVIOUS, "");
    service.restart().await;
    assert_eq!(epochs(&service).await, shown);
    let again = enter(&service, JACKPOT, "after").await;
    assert_eq!(again.is(200), &after.body);
}

#[tokio::test]
async fn a_start_that_is_refused_keeps_no_stream_from_the_next_one() {
    let postgres = PrivatePostgres::start().await.expect("apt-get install postgresql");
    let (redis, url) = (own_redis(&[]).await, postgres.url());
    let ledger = ("JACKPOT__LEDGER__URL", url.as_str());
    let mut service = service_on(redis.url(), &[ledger]).await;
    create(&service, redrawing(JACKPOT)).await;
    enter(&service, JACKPOT, "e1").await;
    assert!(service.stop().await.success(), "{}", service.log());

    // It reads the streams before it knows that a secret is missing.
    let fresh = new_secret();
    let server = [
        ("JACKPOT__REDIS__MODE", "standalone"),
        ("JACKPOT__REDIS__URLS", redis.url()),
        ledger,
        (CURRENT, &fresh),
    ];
    let (status, said) = Service::refused(service.data_dir(), &server).await;
    assert!(!status.success() && said.contains(OLD_ID), "{said}");
    let sql = outside(&service, &url).await;
    assert_eq!(sql.holders().await.expect("a query"), []);
    sql.close().await;
}

#[tokio::test]
async fn a_repeat_of_an_entry_is_answered_without_the_retired_secret_of_its_epoch() {
    let redis = own_redis(&[]).await;
    let mut service = service_on(redis.url(), &[]).await;
    create(&service, redrawing(JACKPOT)).await;
    let first = enter(&service, JACKPOT, "e1").await;
    rotate(&service).await;
    published(&service, 1).await;
    rotate(&service).await;
    published(&service, 2).await;
    let (fresh, retired) = (new_secret(), MASTER_SECRET.to_owned());
    service.set(CURRENT, &fresh);
    service.set(PREVIOUS, &retired);
    assert!(service.stop().await.success());
    service.restart().await;
    rotate(&service).await;
    published(&service, 3).await;
    assert!(service.stop().await.success());
    service.set(PREVIOUS, "");
    service.restart().await;
    let again = enter(&service, JACKPOT, "e1").await;
    assert_eq!(
        (again.status, again.body),
        (StatusCode::OK, first.body),
        "{}",
        service.log()
    );
}

#[tokio::test]
async fn the_cycles_of_a_retired_secret_end_at_the_first_start_with_the_new_one() {
    let redis = own_redis(&[]).await;
    let mut service = service_on(redis.url(), &[]).await;
    let rule = json!({"amount": {"low": 200, "high": 210}});
    let tiers = json!([{"tier": "grand", "share_ppm": 1_000_000, "min_payout": 1, "must_hit_by": rule}]);
    let mut definition = redrawing(JACKPOT);
    (definition["tiers"], definition["odds"]) = (tiers, json!({"total": 1, "ranks": []}));
    definition["public_meter"] = json!(true);
    create(&service, definition).await;
    let path = format!("/v1/jackpots/{JACKPOT}/fairness");
    let shown = service.get(&path).await.body;
    let first = shown["cycles"][0].clone();
    assert_eq!(first["secret_id"], OLD_ID, "{shown}");
    assert!(service.stop().await.success());
    let fresh = new_secret();
    let server = [
        ("JACKPOT__REDIS__MODE", "standalone"),
        ("JACKPOT__REDIS__URLS", redis.url()),
        (CURRENT, &fresh),
    ];
    let (status, said) = Service::refused(service.data_dir(), &server).await;
    assert!(!status.success(), "{said}");
    for named in [OLD_ID, JACKPOT, "a cycle that is open"] {
        said.says(named);
    }
    service.set(CURRENT, &fresh);
    service.set(PREVIOUS, MASTER_SECRET);
    service.restart().await;
    let cycles = eventually(PATIENCE, "the seed is published", async || {
        let cycles = service.get(&path).await.body["cycles"].clone();
        cycles[0]["seed"].is_string().then_some(cycles)
    })
    .await;
    assert_eq!(cycles.as_array().map(Vec::len), Some(2), "{cycles}");
    assert_has!(cycles[0], {"ended_by": "restart", "commitment": first["commitment"]});
    assert_ne!(
        (&cycles[1]["secret_id"], &cycles[1]["nonce"]),
        (&first["secret_id"], &first["nonce"])
    );
    assert!(
        cycles[1]["cycle"].as_u64() >= Some(1_700_000_000),
        "a number that nobody has seen: {cycles}"
    );
    // Nothing needs the old secret any more.
    assert!(service.stop().await.success());
    service.set(PREVIOUS, "");
    service.restart().await;
    assert_eq!(service.get(&path).await.body["cycles"], cycles);
}
