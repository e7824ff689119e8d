//! The service does not play with a pool that was changed by hand: the script that reads the pool knows the last value
//! that a script wrote.

use std::collections::BTreeMap;

use jackpot::jackpot::scripts::{self, ScriptError};
use jackpot::store::StoreError;

use crate::fault::support::{create, enter, key, lively};
use crate::jackpot::by_hand;
use crate::jackpot::fixture::{JackpotFixture, drawn, entry, funding};
use crate::support::local::LocalServer;
use crate::support::prelude::*;

/// No comparison with the ledger comes in time, so that only the scripts see the change.
const NEVER_COMPARED: [(&str, &str); 1] = [("JACKPOT__LEDGER__RECONCILE_INTERVAL_S", "86400")];

async fn raw<T: redis::FromRedisValue>(redis: &LocalServer, command: &[&str]) -> T {
    redis::cmd(command[0])
        .arg(&command[1..])
        .query_async(&mut redis.connection().await)
        .await
        .expect("the command is done")
}

fn assert_suspended(answer: &Answer) {
    answer.is(409);
    assert_eq!(answer.body["code"], "jackpot-suspended", "{}", answer.text);
}

async fn taken(redis: &LocalServer, id: &str) -> u64 {
    raw(redis, &["HLEN", &key(id, "seen:a")]).await
}

/// The service suspended the jackpot, with a reason that names both values.
async fn assert_reason(service: &Service, id: &str, values: [&str; 2]) {
    let reason = eventually(PATIENCE, "the suspension is audited", async || {
        let audit = service.get("/v1/audit").await.body;
        let found = audit["items"]
            .as_array()?
            .iter()
            .find(|row| row["action"] == "suspend")?;
        Some(found["reason"].as_str()?.to_owned())
    })
    .await;
    assert!(values.iter().all(|value| reason.contains(value)), "{reason}");
    let shown = service.get(&format!("/v1/jackpots/{id}")).await;
    assert_answer!(shown, 200, {"status": "suspended"});
}

#[tokio::test]
async fn a_pool_that_was_raised_by_hand_is_not_played_with_and_suspends_at_once() {
    let redis = own_redis(&[]).await;
    let service = service_on(redis.url(), &NEVER_COMPARED).await;
    create(&service, lively("raised")).await;
    for n in 0..5 {
        enter(&service, "raised", &format!("e{n}")).await.is(201);
    }
    let pool = key("raised", "pool:grand");
    let (before, records): (u64, u64) = (raw(&redis, &["GET", &pool]).await, taken(&redis, "raised").await);
    raw::<u64>(&redis, &["INCRBY", &pool, "100000"]).await;
    assert_suspended(&enter(&service, "raised", "wants-it").await);
    let status: String = raw(&redis, &["HGET", &key("raised", "state"), "status"]).await;
    assert_eq!(status, "suspended", "at once");
    assert_suspended(&enter(&service, "raised", "wants-it").await);
    assert_eq!(
        raw::<u64>(&redis, &["GET", &pool]).await,
        before + 100_000,
        "nothing was taken"
    );
    assert_eq!(taken(&redis, "raised").await, records);
    assert_reason(
        &service,
        "raised",
        [&(before + 100_000).to_string(), &before.to_string()],
    )
    .await;

    // Once the value is right again, an operator resumes the jackpot.
    raw::<u64>(&redis, &["DECRBY", &pool, "100000"]).await;
    service
        .post("/v1/jackpots/raised/resume", json!({"reason": "put right"}))
        .await
        .is(200);
    enter(&service, "raised", "wants-it").await.is(201);
}

#[tokio::test]
async fn a_batch_and_an_adjustment_are_refused_alike_by_an_instance_that_has_just_started() {
    let redis = own_redis(&[]).await;
    let mut service = service_on(redis.url(), &NEVER_COMPARED).await;
    for id in ["batched", "adjusted"] {
        create(&service, lively(id)).await;
        enter(&service, id, "e").await.is(201);
    }
    assert!(service.stop().await.success());
    service.restart().await;
    for id in ["batched", "adjusted"] {
        raw::<i64>(&redis, &["DECRBY", &key(id, "pool:grand"), "1"]).await;
    }
    let batch = json!({"batch_id": "b", "entries": [{"player_id": "p", "stake": 100}]});
    assert_suspended(&service.post("/v1/jackpots/batched/entry-batches", batch).await);
    let adjustment = json!({"adjustment_id": "a", "tier": "grand", "meter": "pool", "amount": 5, "reason": "x"});
    assert_suspended(&service.post("/v1/jackpots/adjusted/adjustments", adjustment).await);
    for id in ["batched", "adjusted"] {
        let status: String = raw(&redis, &["HGET", &key(id, "state"), "status"]).await;
        assert_eq!(status, "suspended", "{id}");
    }
}

fn damage<T: std::fmt::Debug>(result: Result<T, ScriptError>) -> String {
    match result {
        Err(ScriptError::Store(StoreError::Protocol { code, detail, .. })) => format!("{code} {detail}"),
        other => panic!("{other:?}"),
    }
}

/// Every script that decides by a pool refuses, and leaves everything as it was.
#[tokio::test]
async fn no_script_decides_by_a_pool_that_none_wrote() {
    let fixture = JackpotFixture::with(&json!({})).await;
    fixture.take("pending", 3).await;
    fixture.fund("f", 1_000).await;
    let (known, view) = fixture.fresh().await;
    let (fence, tiers) = (known.fence(&view), view.definition.tiers());
    let (keys, store) = (&known.keys, &fixture.store);
    let pool = keys.pool(&tiers[0].tier);
    for by in [1, -2, 1_000] {
        fixture.raw::<i64>(redis::cmd("INCRBY").arg(&pool).arg(by)).await;
        let before = fixture.dump().await;
        let entered = fixture.enter_as(&fence, &view.definition, &[entry("e", 1)]).await;
        assert!(damage(entered).starts_with("JP_DAMAGED pool"), "{by}");
        let prize = view.definition.money_prize(1).expect("a prize").clone();
        let claimed = scripts::claim(store, keys, &fence, tiers, drawn("pending", 1, 1), &prize).await;
        assert!(damage(claimed).starts_with("JP_DAMAGED pool"), "{by}");
        let adjusted = scripts::adjust(store, keys, &fence, tiers, &funding("g", 5)).await;
        assert!(damage(adjusted).starts_with("JP_DAMAGED pool"), "{by}");
        assert_eq!(fixture.dump().await, before);
        fixture.raw::<i64>(redis::cmd("DECRBY").arg(&pool).arg(by)).await;
    }
    // A change of the last written value does not stay unseen either.
    let field = format!("{}:pool", tiers[0].tier);
    fixture.raw::<()>(&mut by_hand::add(&keys.state, &field, 1)).await;
    assert!(damage(fixture.enter_as(&fence, &view.definition, &[entry("e", 1)]).await).starts_with("JP_DAMAGED pool"));
    fixture.raw::<()>(&mut by_hand::add(&keys.state, &field, -1)).await;
    fixture.take("e", 1).await;
    fixture.assert_rebuilds().await;
}

/// A packed value that this version cannot read ends a call before its first write. Another layout is no damage.
#[tokio::test]
async fn packed_values_that_cannot_be_read_are_refused_and_stay() {
    let fixture = JackpotFixture::with(&json!({})).await;
    let (known, view) = fixture.fresh().await;
    let fence = known.fence(&view);
    let state = &fixture.keys.state;
    for field in ["terms", "meters"] {
        let sound: Vec<u8> = fixture.raw(redis::cmd("HGET").arg(state).arg(field)).await;
        let (two, cut) = ([&[2], &sound[1..]].concat(), &sound[..sound.len() - 1]);
        let unknown = format!("JP_FORMAT {field} has format 2, and this version knows 1: start the version");
        let damaged = format!("JP_DAMAGED {field}");
        for (value, expected) in [
            (&two[..], &unknown),
            (cut, &damaged),
            (&[1, 1], &damaged),
            (b"", &damaged),
        ] {
            let mut set = redis::cmd("HSET");
            fixture.raw::<()>(set.arg(state).arg(field).arg(value)).await;
            let before = fixture.dump().await;
            let entered = fixture.enter_as(&fence, &view.definition, &[entry("e", 1)]).await;
            let refused = damage(entered);
            assert!(refused.starts_with(expected), "{value:?}: {refused}");
            assert_eq!(fixture.dump().await, before);
        }
        let mut back = redis::cmd("HSET");
        fixture.raw::<()>(back.arg(state).arg(field).arg(&sound)).await;
    }
    fixture.take("e", 1).await;
    fixture.assert_rebuilds().await;
}

/// A number where a text belongs, and the reverse, would otherwise be found after the first write, or not at all.
#[tokio::test]
async fn packed_values_of_another_kind_are_damage() {
    let fixture = JackpotFixture::with(&json!({})).await;
    let (known, view) = fixture.fresh().await;
    let fence = known.fence(&view);
    let state = &fixture.keys.state;
    let sound: Vec<u8> = fixture.raw(redis::cmd("HGET").arg(state).arg("terms")).await;
    // Numbers are at 2 to 7, texts at 8 to 19; then rows of tiers, each with its name and its seed.
    for change in [
        "terms[2] = 'text'",
        "terms[7] = 1.5",
        "terms[8] = 7",
        "terms[19] = 7",
        "terms[8] = string.rep('x', 1048577)",
        "terms[20][1][1] = 7",
        "terms[20][1][2] = 'text'",
    ] {
        let body = format!(
            "local terms = {{ cmsgpack.unpack(ARGV[1]) }}\n{change}\n\
             redis.call('HSET', KEYS[1], 'terms', cmsgpack.pack(unpack(terms)))"
        );
        let mut damages = redis::cmd("EVAL");
        fixture
            .raw::<()>(damages.arg(body).arg(1).arg(state).arg(&sound[..]))
            .await;
        let before = raw_state(&fixture).await;
        let entered = fixture.enter_as(&fence, &view.definition, &[entry("e", 1)]).await;
        assert!(damage(entered).starts_with("JP_DAMAGED terms"), "{change}");
        assert_eq!(raw_state(&fixture).await, before, "{change}");
    }
}

async fn raw_state(fixture: &JackpotFixture) -> BTreeMap<String, Vec<u8>> {
    fixture.raw(redis::cmd("HGETALL").arg(&fixture.keys.state)).await
}
