//! Promise 15: one ledger, one store. Two services with a Redis of their own on one PostgreSQL do not both play.

use std::time::{Duration, Instant};

use crate::fault::ledger_support::{COMPARED_OFTEN, cursor, history, outside, until_clean};
use crate::fault::load::Load;
use crate::fault::support::{balanced, create, enter, entry, lively};
use crate::support::postgres::TestPostgres;
use crate::support::prelude::*;
use crate::support::service::LIMITS;

const JACKPOT: &str = "forked";
/// The old pair is refused within 5 s.
const DISOWNED_WITHIN: Duration = Duration::from_secs(5);

fn environment(url: &str) -> Vec<(&str, &str)> {
    let mut all = LIMITS.to_vec();
    all.extend([("JACKPOT__LEDGER__URL", url), COMPARED_OFTEN]);
    all
}

/// Every entry wins the whole pool, which begins with 531.
fn all_win() -> serde_json::Value {
    json!({
        "id": JACKPOT, "name": "All win", "currency": "KRW", "status": "open", "contribution": {"fixed": 1},
        "tiers": [{"tier": "grand", "share_ppm": 1_000_000, "min_payout": 1, "seed": 0, "reserve_ppm": 0,
                   "cap": null, "must_hit_by": null}],
        "odds": {"total": 1, "ranks": [{"rank": 1, "weight": 1, "prize": {"pool": {"tier": "grand", "take": "all"}}}]},
    })
}

/// A pays an entry that SQL does not have yet, and dies. B must not pay it again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn heavy_an_entry_that_a_dead_instance_paid_is_not_paid_again_by_one_with_another_redis() {
    let postgres = TestPostgres::start().await;
    let mut lagging = environment(postgres.url());
    lagging.push(("JACKPOT__LEDGER__POLL_INTERVAL_MS", "10000"));
    let mut first = Service::start_with(&lagging).await;
    create(&first, all_win()).await;
    let fund = json!({"adjustment_id": "a1", "tier": "grand", "meter": "pool", "amount": 530, "reason": "a test"});
    first
        .post(&format!("/v1/jackpots/{JACKPOT}/adjustments"), fund)
        .await
        .done();
    let sql = outside(&first, postgres.url()).await;
    eventually(PATIENCE, "SQL has the definition and the money", async || {
        (cursor(&sql, JACKPOT).await == 2).then_some(())
    })
    .await;
    let paid = enter(&first, JACKPOT, "e1").await;
    assert_eq!(paid.body["outcome"]["amount"], 531, "{}", paid.text);
    first.kill9();
    assert_eq!(cursor(&sql, JACKPOT).await, 2, "SQL does not have the payout");

    let other = tempfile::tempdir().expect("a directory");
    let (status, log) = Service::refused(other.path(), &environment(postgres.url())).await;
    assert!(!status.success());
    log.says("jackpot restore --adopt");
    log.says("store.id");

    // A comes back with its Redis: the entry is paid once.
    first.restart().await;
    let again = enter(&first, JACKPOT, "e1").await;
    assert_eq!(again.is(200), &paid.body);
}

async fn enter_at(service: &Service, id: &str) -> Answer {
    service
        .post(&format!("/v1/jackpots/{JACKPOT}/entries"), entry(id))
        .await
}

/// B is adopted while A is alive and played on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn heavy_after_an_adopt_the_old_pair_answers_503_within_5_s_and_commits_nothing_more() {
    let postgres = TestPostgres::start().await;
    let (url, environment) = (postgres.url(), environment(postgres.url()));
    let mut old = Service::start_with(&environment).await;
    create(&old, lively(JACKPOT)).await;
    let load = Load::start(&old, JACKPOT, 8);
    load.until_answered(200).await;
    let played = load.finish().await;
    let sql = outside(&old, url).await;
    until_clean(&old, &sql, JACKPOT).await;
    let before = balanced(&old, JACKPOT).await;

    let load = Load::start_as("late-", &old, JACKPOT, 8);
    load.until_answered(50).await;
    let data = Service::directory();
    let adopt = Service::command_in(data.path(), &environment, &["restore", "--adopt"]);
    let adopted_at = Instant::now();
    let told = String::from_utf8_lossy(&adopt.stdout).into_owned() + &String::from_utf8_lossy(&adopt.stderr);
    assert!(adopt.status.success(), "{told}\n{}", old.log());
    told.says(&format!("{JACKPOT}: restored"));
    eventually(PATIENCE, "the old pair refuses", async || {
        let answer = enter_at(&old, "too-late").await;
        (answer.status == StatusCode::SERVICE_UNAVAILABLE).then_some(())
    })
    .await;
    let took = adopted_at.elapsed();
    assert!(took < DISOWNED_WITHIN, "it took {took:?}");
    let refused = enter_at(&old, "too-late").await;
    assert_eq!(refused.body["code"], "store-unavailable", "{}", refused.text);
    let ready = old.get("/readyz").await;
    ready.is(503);
    ready.says("--adopt");
    drop(load);

    let new = Service::start_in(data, &environment).await;
    let history_at = history(&sql, JACKPOT).await;
    for one in &played {
        let again = new
            .post(&format!("/v1/jackpots/{JACKPOT}/entries"), one.entry.clone())
            .await;
        assert_eq!(again.is(200), &one.body, "as A answered");
    }
    let load = Load::start_as("new-", &new, JACKPOT, 8);
    load.until_answered(200).await;
    let later = load.finish().await;
    until_clean(&new, &sql, JACKPOT).await;
    let after = history(&sql, JACKPOT).await;
    assert_eq!(
        after.entries.len(),
        history_at.entries.len() + later.len(),
        "nobody but B wrote"
    );
    let of = |meter: &serde_json::Value| meter["contributed"].as_u64().expect("an integer");
    assert!(of(&balanced(&new, JACKPOT).await) >= of(&before) + later.len() as u64);

    // The old pair does not come back unasked, and a start is refused.
    enter_at(&old, "much-later").await.is(503);
    assert!(old.stop().await.success(), "{}", old.log());
    let (status, log) = Service::refused(old.data_dir(), &environment).await;
    assert!(!status.success() && log.contains("jackpot restore --adopt"), "{log}");
}
