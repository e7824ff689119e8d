//! Players race for the cycles of a must-hit rule over two instances, which are killed meanwhile. Each trigger is
//! computed again from the published seed, by code of this file, and explains who hit.

use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::fault::ledger_support::{COMPARED_OFTEN, assert_ledger_has_each_once, outside, until_clean};
use crate::fault::load::{Load, Played, assert_each_counted_once};
use crate::fault::support::{PATIENCE, balanced, create, own_redis, service_on};
use crate::support::eventually;
use crate::support::postgres::TestPostgres;
use crate::support::service::{Service, output_text};

const JACKPOT: &str = "crossed";
const CYCLES: u64 = 50;
/// Half of the players at each instance.
const PLAYERS_EACH: usize = 8;
/// In each round both instances are killed, one after the other.
const ROUNDS: usize = 10;
/// Entries acknowledged between two kills.
const BETWEEN: usize = 25;
const LOW: u64 = 15;
const HIGH: u64 = 45;

/// Each entry adds one unit. Half of the draws win a millionth of the pool, which is nothing and so a retry: these
/// entries are pending until their redraw has ended.
fn definition() -> Value {
    json!({
        "id": JACKPOT, "name": "A race", "currency": "KRW", "status": "open", "contribution": {"fixed": 1},
        "tiers": [{"tier": "grand", "share_ppm": 1_000_000, "min_payout": 1, "seed": 0, "reserve_ppm": 0, "cap": null,
                   "must_hit_by": {"amount": {"low": LOW, "high": HIGH}}}],
        "odds": {"total": 2, "ranks": [
            {"rank": 1, "weight": 1, "prize": {"pool": {"tier": "grand", "take": {"share_ppm": 1}}}}]},
    })
}

/// PRODUCT's index `u(kind, n)` of a cycle: uniform below `n`.
fn index(seed: &[u8], kind: &str, n: u64) -> u64 {
    let limit = (1_u128 << 64) / u128::from(n) * u128::from(n);
    for block in 0_u32.. {
        let mut mac = Hmac::<Sha256>::new_from_slice(seed).expect("HMAC takes keys of any length");
        mac.update(format!("{kind}\n{block}").as_bytes());
        for word in mac.finalize().into_bytes().chunks_exact(8) {
            let word = u64::from_be_bytes(word.try_into().expect("8 bytes"));
            if u128::from(word) < limit {
                return word % n;
            }
        }
    }
    unreachable!("2^34 words in a row above the limit")
}

#[test]
fn the_index_of_this_check_is_the_published_one() {
    let seed = hex::decode("03d61afc10e7ed7d3a0dc0a816886872442510a04a21a190212f9d82c307e6c3").expect("hex");
    assert_eq!(
        (index(&seed, "amount", 5_000), index(&seed, "time", 86_400)),
        (2_070, 50_698)
    );
}

/// All cycles that `GET …/fairness` shows, oldest first.
async fn cycles(service: &Service) -> Vec<Value> {
    let (mut all, mut query) = (Vec::new(), String::new());
    loop {
        let page = service
            .get(&format!("/v1/jackpots/{JACKPOT}/fairness{query}"))
            .await
            .body;
        all.extend(page["cycles"].as_array().expect("cycles").iter().cloned());
        let Some(next) = page["next_cursor"].as_str() else {
            return all;
        };
        query = format!("?cursor={next}");
    }
}

/// The trigger of an ended cycle, from its seed.
fn trigger(cycle: &Value) -> u64 {
    let seed = hex::decode(cycle["seed"].as_str().expect("a seed")).expect("hex");
    assert_eq!(cycle["commitment"], hex::encode(Sha256::digest(&seed)), "{cycle}");
    assert_eq!((&cycle["low"], &cycle["high"]), (&json!(LOW), &json!(HIGH)), "{cycle}");
    let trigger = LOW + 1 + index(&seed, "amount", HIGH - LOW);
    assert_eq!(cycle["trigger_amount"], trigger, "{cycle}");
    trigger
}

/// In the order of the entries, exactly those that reach the trigger hit, and each has the whole pool.
async fn assert_explained(service: &Service, played: &[Played]) {
    let wins = balanced(service, JACKPOT).await["wins"].as_u64().expect("a number");
    assert!(wins >= CYCLES, "{wins}");
    let cycles = eventually(
        PATIENCE,
        "the seeds of all cycles that ended are published",
        async || {
            let cycles = cycles(service).await;
            let ended = cycles.iter().filter(|cycle| cycle["seed"].is_string()).count() as u64;
            (ended == wins && cycles.len() as u64 == wins + 1).then_some(cycles)
        },
    )
    .await;
    let (open, ended) = cycles.split_last().expect("a cycle");
    assert!(open["ended_at"].is_null() && open["trigger_amount"].is_null(), "{open}");
    let mut entries: Vec<&Value> = played.iter().map(|one| &one.body).collect();
    entries.sort_by_key(|body| body["sequence"].as_u64());
    let mut entries = entries.into_iter();
    for (number, cycle) in ended.iter().enumerate() {
        assert_eq!(
            (&cycle["cycle"], &cycle["ended_by"]),
            (&json!(number), &json!("must-hit"))
        );
        let trigger = trigger(cycle);
        for pool in 1..=trigger {
            let body = entries.next().expect("an entry");
            if pool < trigger {
                assert!(
                    body["draw"]["must_hit"].is_null(),
                    "cycle {number}, pool {pool} of {trigger}: {body}"
                );
                continue;
            }
            let hit = json!({"tier": "grand", "cycle": number, "by": "amount", "trigger": trigger});
            assert_eq!(body["draw"]["must_hit"], hit, "{body}");
            assert_eq!(body["draw"]["attempts"], json!([]), "{body}");
            let outcome = &body["outcome"];
            assert_eq!(
                (&outcome["rank"], &outcome["prize"], &outcome["tier"]),
                (&json!(0), &json!("must-hit"), &json!("grand")),
            );
            assert_eq!(
                (&outcome["amount"], &outcome["claim_order"]),
                (&json!(trigger), &json!(number + 1))
            );
        }
    }
    for body in entries {
        assert!(
            body["draw"]["must_hit"].is_null(),
            "nothing hits the open cycle: {body}"
        );
    }
}

async fn until_cycles_ended(service: &Service) {
    eventually(PATIENCE, "enough cycles have ended", async || {
        let answer = service.get(&format!("/v1/jackpots/{JACKPOT}")).await;
        (answer.body["meters"][0]["wins"].as_u64()? >= CYCLES).then_some(())
    })
    .await;
}

async fn race(rounds: usize) {
    let (redis, postgres) = (own_redis(&[]).await, TestPostgres::start().await);
    let environment = [("JACKPOT__LEDGER__URL", postgres.url()), COMPARED_OFTEN];
    let mut one = service_on(redis.url(), &environment).await;
    let mut other = service_on(redis.url(), &environment).await;
    create(&one, definition()).await;
    let at_one = Load::start_as("a", &one, JACKPOT, PLAYERS_EACH);
    let at_other = Load::start_as("b", &other, JACKPOT, PLAYERS_EACH);
    for _ in 0..rounds {
        at_one.until_answered(BETWEEN).await;
        one.kill9();
        at_other.until_answered(BETWEEN).await;
        other.kill9();
        tokio::join!(one.restart(), other.restart());
    }
    at_one.until_answered(BETWEEN).await;
    at_other.until_answered(BETWEEN).await;
    until_cycles_ended(&one).await;
    let mut played = at_one.finish().await;
    played.extend(at_other.finish().await);
    assert!(
        rounds == 0 || played.iter().any(|one| !one.at_once),
        "no player was ever interrupted"
    );

    assert_each_counted_once(&other, redis.url(), JACKPOT, &played).await;
    assert_explained(&one, &played).await;
    let sql = outside(&one, postgres.url()).await;
    until_clean(&one, &sql, JACKPOT).await;
    assert_ledger_has_each_once(&sql, JACKPOT, &played).await;
    sql.close().await;
    assert!(one.stop().await.success() && other.stop().await.success());
    let exported = one.command(&["export", JACKPOT, "--output", "race.export"]);
    assert!(exported.status.success(), "{}", output_text(&exported));
    let verified = one.command(&["verify", "race.export"]);
    assert!(verified.status.success(), "{}", output_text(&verified));
    println!(
        "{} entries, {} kills\n{}",
        played.len(),
        2 * rounds,
        output_text(&verified)
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn heavy_each_of_50_cycles_is_hit_by_the_entry_that_reaches_its_trigger() {
    race(0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn heavy_each_cycle_is_hit_by_the_entry_that_reaches_its_trigger_while_instances_are_killed() {
    race(ROUNDS).await;
}
