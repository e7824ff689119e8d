//! Players race for the cycles of a must-hit rule over two instances, which are killed meanwhile. Each trigger is
//! computed again from the published seed, by code of this file, and explains who hit.

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

use crate::fault::ledger_support::{COMPARED_OFTEN, assert_ledger_has_each_once, outside, until_clean};
use crate::fault::load::{Load, assert_each_counted_once};
use crate::fault::support::{balanced, create, enter, entered, sequence, until_done};
use crate::support::postgres::TestPostgres;
use crate::support::prelude::*;
use crate::support::proxy::ChaosProxy;
use crate::support::size;

const JACKPOT: &str = "crossed";
/// Half of the players at each instance.
const PLAYERS_EACH: usize = 8;
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

/// All cycles that have ended, once their seeds are published. One more is open.
async fn ended_cycles(service: &Service) -> Vec<Value> {
    let wins = balanced(service, JACKPOT).await["wins"].as_u64().expect("a number");
    let mut cycles = eventually(
        PATIENCE,
        "the seeds of all cycles that ended are published",
        async || {
            let cycles = cycles(service).await;
            let ended = cycles.iter().filter(|cycle| cycle["seed"].is_string()).count() as u64;
            (ended == wins && cycles.len() as u64 == wins + 1).then_some(cycles)
        },
    )
    .await;
    let open = cycles.pop().expect("a cycle");
    assert!(open["ended_at"].is_null() && open["trigger_amount"].is_null(), "{open}");
    for (number, cycle) in cycles.iter().enumerate() {
        assert_has!(cycle, {"cycle": number, "ended_by": "must-hit"});
    }
    cycles
}

/// The trigger of an ended cycle, from its seed. `low`, `high`: what it began with.
fn trigger(cycle: &Value, low: u64, high: u64) -> u64 {
    let seed = hex::decode(cycle["seed"].as_str().expect("a seed")).expect("hex");
    assert_eq!(cycle["commitment"], hex::encode(Sha256::digest(&seed)), "{cycle}");
    assert_has!(cycle, {"low": low, "high": high});
    let trigger = low + 1 + index(&seed, "amount", high - low);
    assert_eq!(cycle["trigger_amount"], trigger, "{cycle}");
    trigger
}

/// In the order of the entries, exactly the one that reaches a trigger hits, and takes the whole pool.
async fn assert_explained(service: &Service, mut entries: Vec<&Value>, began_with: impl Fn(usize) -> (u64, u64)) {
    entries.sort_by_key(|body| body["sequence"].as_u64());
    let mut entries = entries.into_iter();
    for (number, cycle) in ended_cycles(service).await.iter().enumerate() {
        let (low, high) = began_with(number);
        let trigger = trigger(cycle, low, high);
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
            assert_has!(outcome, {"rank": 0, "prize": "must-hit", "tier": "grand"});
            assert_has!(outcome, {"amount": trigger, "claim_order": number + 1});
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
    let enough = size(15, 50);
    eventually(PATIENCE, "enough cycles have ended", async || {
        let answer = service.get(&format!("/v1/jackpots/{JACKPOT}")).await;
        (answer.body["meters"][0]["wins"].as_u64()? >= enough).then_some(())
    })
    .await;
}

/// In each round both instances are killed, one after the other.
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
    let bodies = played.iter().map(|one| &one.body).collect();
    assert_explained(&one, bodies, |_| (LOW, HIGH)).await;
    let sql = outside(&one, postgres.url()).await;
    until_clean(&one, &sql, JACKPOT).await;
    assert_ledger_has_each_once(&sql, JACKPOT, &played).await;
    sql.close().await;
    assert!(one.stop().await.success() && other.stop().await.success());
    let exported = one.command(&["export", JACKPOT, "--output", "race.export"]);
    exported.done();
    let verified = one.command(&["verify", "race.export"]);
    verified.done();
    println!("{} entries, {} kills\n{}", played.len(), 2 * rounds, verified.words());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn heavy_each_of_many_cycles_is_hit_by_the_entry_that_reaches_its_trigger() {
    race(0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn heavy_each_cycle_is_hit_by_the_entry_that_reaches_its_trigger_while_instances_are_killed() {
    race(size(3, 10)).await;
}

/// The rule of the first cycle of the tests below: the third entry hits.
const THIRD: (u64, u64) = (2, 3);

fn ruled(low: u64, high: u64) -> Value {
    let mut definition = definition();
    definition["tiers"][0]["must_hit_by"] = json!({"amount": {"low": low, "high": high}});
    definition
}

#[tokio::test]
async fn a_hit_whose_reply_is_lost_is_answered_and_paid_once() {
    let redis = own_redis(&[]).await;
    let proxy = ChaosProxy::in_front_of(redis.url()).await;
    let mut service = service_on(proxy.url(), &[]).await;
    create(&service, ruled(THIRD.0, THIRD.1)).await;
    let mut bodies = Vec::new();
    for id in ["a", "b"] {
        bodies.push(entered(&service, JACKPOT, id).await.body);
    }
    proxy.lose_reply(&["FCALL", "hit-one"], 0);
    bodies.push(entered(&service, JACKPOT, "hit-one").await.body);
    for id in ["c", "d"] {
        bodies.push(entered(&service, JACKPOT, id).await.body);
    }
    proxy.lose_reply_and_go_down(&["FCALL", "hit-two"], 0);
    enter(&service, JACKPOT, "hit-two").await.is(503);
    assert_eq!(proxy.lost(), 2);
    service.kill9();
    proxy.pass();
    service.restart().await;
    let again = entered(&service, JACKPOT, "hit-two").await;
    assert_eq!(again.headers["idempotency-replayed"], "true", "{}", again.text);
    bodies.push(again.body);
    let meter = balanced(&service, JACKPOT).await;
    assert_has!(meter, {"wins": 2, "paid": 6, "pool": 0});
    for body in &bodies {
        let id = body["entry_id"].as_str().expect("an id");
        let again = entered(&service, JACKPOT, id).await;
        assert_eq!(again.is(200), body, "a repeat after the hits");
    }
    assert_eq!(balanced(&service, JACKPOT).await, meter);
    assert_explained(&service, bodies.iter().collect(), |_| THIRD).await;
}

/// 250 entries end at least five cycles, whose triggers are at most 45.
#[tokio::test]
async fn a_batch_with_five_hits_whose_reply_is_lost_pays_each_once() {
    const ENTRIES: u64 = 250;
    let redis = own_redis(&[]).await;
    let proxy = ChaosProxy::in_front_of(redis.url()).await;
    let mut service = service_on(proxy.url(), &[]).await;
    create(&service, definition()).await;
    let path = format!("/v1/jackpots/{JACKPOT}/entry-batches");
    let batch = |id: &str| {
        let entries = (1..ENTRIES).map(|_| json!({"player_id": "p", "stake": 100}));
        let last = json!({"player_id": format!("last-of-{id}"), "stake": 100});
        json!({"batch_id": id, "entries": entries.chain([last]).collect::<Vec<_>>()})
    };
    // In this order: an instance that has just read the jackpot has its cycles. One that lacks them is refused at first,
    // and the lost reply would be that refusal.
    proxy.lose_reply_and_go_down(&["FCALL", "last-of-cut 100"], 0);
    service.post(&path, batch("cut")).await.is(503);
    assert_eq!(
        sequence(&mut redis.connection().await, JACKPOT).await,
        ENTRIES,
        "it was taken"
    );
    service.kill9();
    proxy.pass();
    service.restart().await;
    let (cut, _) = until_done(&[service.caller()], 0, &path, &batch("cut")).await;
    assert!(cut.is_replay());
    proxy.lose_reply(&["FCALL", "last-of-lost 100"], 0);
    let (lost, _) = until_done(&[service.caller()], 0, &path, &batch("lost")).await;
    assert_eq!(proxy.lost(), 2);
    let meter = balanced(&service, JACKPOT).await;
    let mut hits = Vec::new();
    for (id, answer) in [("cut", cut), ("lost", lost)] {
        let again = service.post(&path, batch(id)).await;
        assert_eq!(again.is(200), &answer.body, "repeated");
        let first = answer.body["first_sequence"].as_u64().expect("a number");
        let winners = answer.body["winners"].as_array().expect("winners");
        assert!(winners.len() >= 5, "{}", answer.text);
        hits.extend(winners.iter().map(|winner| {
            assert_eq!(winner["outcome"]["prize"], "must-hit", "{winner}");
            let index = winner["index"].as_u64().expect("a number");
            (first + index - 1, winner["outcome"]["amount"].clone())
        }));
    }
    assert_eq!(balanced(&service, JACKPOT).await, meter);
    assert_eq!(meter["contributed"], 2 * ENTRIES);
    let mut sequence = 0;
    let expected = ended_cycles(&service).await;
    let expected = expected.iter().map(|cycle| {
        let trigger = trigger(cycle, LOW, HIGH);
        sequence += trigger;
        (sequence, json!(trigger))
    });
    assert_eq!(hits, expected.collect::<Vec<_>>());
}

/// The definition waits for the take, and a changed rule counts from the next cycle, also where nobody who knew of the
/// change lives.
#[tokio::test]
async fn a_rule_that_changes_in_a_cycle_counts_from_the_next_after_a_kill() {
    const CHANGED: (u64, u64) = (6, 9);
    let redis = own_redis(&[]).await;
    let mut service = service_on(redis.url(), &[]).await;
    create(&service, definition()).await;
    let mut bodies = vec![entered(&service, JACKPOT, "first").await.body];
    service
        .put(&format!("/v1/jackpots/{JACKPOT}"), ruled(CHANGED.0, CHANGED.1))
        .await
        .is(200);
    service.kill9();
    service.restart().await;
    for number in 0..100 {
        bodies.push(entered(&service, JACKPOT, &format!("e{number}")).await.body);
    }
    let began_with = |number| if number == 0 { (LOW, HIGH) } else { CHANGED };
    assert_explained(&service, bodies.iter().collect(), began_with).await;
    let wins = balanced(&service, JACKPOT).await["wins"].as_u64().expect("a number");
    assert!(wins >= 5, "{wins}");
}
