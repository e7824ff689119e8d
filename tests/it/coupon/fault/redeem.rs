//! Redemptions, voids, pauses and closings under kill -9 of the service and of Redis, and by two instances at once, on
//! both databases: each unit is used or voided once, and every answer stands.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Barrier;
use tokio::task::JoinSet;
use tokio::time::interval;

use crate::coupon::fault::support::Client;
use crate::fault::ledger_support::COMPARED_OFTEN;
use crate::support::local::LocalServer;
use crate::support::prelude::*;
use crate::support::proxy::ChaosProxy;

on_both_databases!(
    a_till_and_a_void_race_under_kills_and_one_of_them_wins,
    a_lost_redis_keeps_every_redemption_that_the_ledger_has,
    a_pause_and_a_close_survive_kills_and_a_lost_redis,
);

const COUPON: &str = "coffee";
const UNITS: usize = 60;
/// How soon a suspended coupon is asked again.
const REPEAT_EVERY: Duration = Duration::from_millis(20);

/// What a caller wants of a unit.
#[derive(Debug, Clone)]
enum Wish {
    Redeem(String),
    Void,
}

/// Asks until it is answered by a coupon that is not suspended.
async fn ask(client: &Client, unit: usize, wish: &Wish) -> (StatusCode, Value) {
    let path = format!("/v1/coupons/{COUPON}/issues/r{unit}");
    let (method, path, body) = match wish {
        Wish::Void => (Method::DELETE, path, None),
        Wish::Redeem(id) => {
            let body = json!({"redemption_id": id, "reference": "a receipt"});
            (Method::POST, format!("{path}/redeem"), Some(body))
        }
    };
    let mut again = interval(REPEAT_EVERY);
    loop {
        again.tick().await;
        let (status, body) = client.call(method.clone(), &path, body.as_ref(), true).await;
        if body["code"] != "coupon-suspended" {
            return (status, body);
        }
    }
}

async fn issue_all(client: &Client) {
    client.define(COUPON, UNITS as u64).await;
    for unit in 0..UNITS {
        client.ask(COUPON, &format!("r{unit}"), &format!("u{unit}")).await;
    }
}

/// Two tills and a void for each unit, all at once, each half of them by another instance. Returns the answers by unit.
fn race(clients: &[Client; 2]) -> JoinSet<(usize, Wish, StatusCode, Value)> {
    let barrier = Arc::new(Barrier::new(3 * UNITS));
    let mut racing = JoinSet::new();
    for unit in 0..UNITS {
        let wishes = [Wish::Redeem("till-1".into()), Wish::Redeem("till-2".into()), Wish::Void];
        for (place, wish) in wishes.into_iter().enumerate() {
            let client = clients[(unit + place) % 2].clone();
            let barrier = Arc::clone(&barrier);
            racing.spawn(async move {
                barrier.wait().await;
                let (status, body) = ask(&client, unit, &wish).await;
                (unit, wish, status, body)
            });
        }
    }
    racing
}

/// Of each unit exactly one caller won, every loser knows why, and the ledger says the same.
async fn assert_one_won_each(client: &Client, answers: Vec<(usize, Wish, StatusCode, Value)>) {
    let mut by_unit: BTreeMap<usize, Vec<_>> = BTreeMap::new();
    for (unit, wish, status, body) in answers {
        by_unit.entry(unit).or_default().push((wish, status, body));
    }
    let mut winners = BTreeMap::new();
    for (unit, answers) in &by_unit {
        // 200 of a till: the answer to its first try was lost.
        let (won, lost): (Vec<_>, Vec<_>) = answers.iter().partition(|(_, status, _)| status.is_success());
        let [(winner, _, _)] = won[..] else {
            panic!("unit {unit}: {answers:?}");
        };
        let code = match winner {
            Wish::Void => "not-issued",
            Wish::Redeem(_) => "redeemed",
        };
        for (_, status, body) in lost {
            assert_eq!((status.as_u16(), &body["code"]), (409, &json!(code)), "unit {unit}");
        }
        winners.insert(format!("r{unit}"), winner);
    }
    assert_eq!(winners.len(), UNITS);
    let fits = |row: &Value| match winners[row["request_id"].as_str().expect("an id")] {
        Wish::Void => row["voided_at"].is_string() && row["redeemed"].is_null(),
        Wish::Redeem(id) => row["voided_at"].is_null() && row["redeemed"]["redemption_id"] == id.as_str(),
    };
    eventually(PATIENCE, "the ledger has what was answered", async || {
        client.issues(COUPON, UNITS).await.iter().all(fits).then_some(())
    })
    .await;
}

/// The ledger and Redis agree.
async fn assert_clean(service: &Service) {
    eventually(PATIENCE, "Redis and the ledger agree", async || {
        let shown = service.get("/v1/reconciliation").await;
        let rows = shown.body["coupons"].as_array()?;
        let row = rows.iter().find(|row| row["coupon_id"] == COUPON)?;
        (shown.status == StatusCode::OK && row["clean"] == true && row["lag"] == 0).then_some(())
    })
    .await;
}

async fn a_till_and_a_void_race_under_kills_and_one_of_them_wins(db: LedgerDb) {
    let mut redis = own_redis(&[]).await;
    let proxy = ChaosProxy::in_front_of(redis.url()).await;
    let restore = ("JACKPOT__LEDGER__AUTO_RESTORE", "on");
    let mut service = service_on(proxy.url(), &[db.environment(), restore, COMPARED_OFTEN]).await;
    let client = Client::of(&service);
    issue_all(&client).await;
    // Redis has the redemption of a till, and the service that asked is killed before it knows. Then Redis is killed.
    proxy.lose_reply_and_go_down(&["FCALL", "till-1"], 0);
    let racing = race(&[client.clone(), client.clone()]);
    eventually(PATIENCE, "a reply is lost", async || (proxy.lost() > 0).then_some(())).await;
    service.kill9();
    proxy.pass();
    service.restart().await;
    redis.kill9();
    redis.restart().await;
    let answers = racing.join_all().await;
    assert_one_won_each(&client, answers).await;
    assert_clean(&service).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tills_and_voids_of_two_instances_race_and_one_of_them_wins() {
    let db = LedgerDb::postgres().await;
    let redis = own_redis(&[]).await;
    let first = service_on(redis.url(), &[db.environment(), COMPARED_OFTEN]).await;
    let client = Client::of(&first);
    issue_all(&client).await;
    let second = service_on(redis.url(), &[db.environment()]).await;
    let answers = race(&[client.clone(), Client::of(&second)]).join_all().await;
    assert_one_won_each(&client, answers).await;
    assert_clean(&first).await;
}

async fn a_lost_redis_keeps_every_redemption_that_the_ledger_has(db: LedgerDb) {
    let redis = own_redis(&[]).await;
    let restore = ("JACKPOT__LEDGER__AUTO_RESTORE", "on");
    let service = service_on(redis.url(), &[db.environment(), restore, COMPARED_OFTEN]).await;
    let client = Client::of(&service);
    client.define(COUPON, 3).await;
    for unit in 0..3 {
        client.ask(COUPON, &format!("r{unit}"), &format!("u{unit}")).await;
        let till = Wish::Redeem("till-1".into());
        let (status, body) = ask(&client, unit, &till).await;
        assert_eq!(status, StatusCode::CREATED, "{body}");
        eventually(PATIENCE, "the ledger has it", async || {
            let rows = client.issues(COUPON, unit + 1).await;
            rows[unit]["redeemed"].is_object().then_some(())
        })
        .await;
        let mut connection = redis.connection().await;
        redis::cmd("FLUSHALL")
            .exec_async(&mut connection)
            .await
            .expect("FLUSHALL");
        let (status, again) = ask(&client, unit, &till).await;
        assert_eq!((status, again), (StatusCode::OK, body), "a repeat after the loss");
        for (wish, code) in [(Wish::Redeem("till-2".into()), "redeemed"), (Wish::Void, "redeemed")] {
            let (status, refused) = ask(&client, unit, &wish).await;
            assert_eq!((status.as_u16(), &refused["code"]), (409, &json!(code)), "{wish:?}");
        }
    }
    assert_clean(&service).await;
}

async fn a_pause_and_a_close_survive_kills_and_a_lost_redis(db: LedgerDb) {
    let redis = own_redis(&[]).await;
    let proxy = ChaosProxy::in_front_of(redis.url()).await;
    let restore = ("JACKPOT__LEDGER__AUTO_RESTORE", "on");
    let mut service = service_on(proxy.url(), &[db.environment(), restore, COMPARED_OFTEN]).await;
    queue_two(&service, &redis).await;
    for (verb, status) in [("pause", "paused"), ("close", "closed")] {
        let client = Client::of(&service);
        let path = format!("/v1/coupons/{COUPON}/{verb}");
        let body = json!({"reason": "a test"});
        // Redis has the action, and nobody knows.
        proxy.lose_reply_and_go_down(&["FCALL", "a test"], 0);
        let lost = client.once(Method::POST, &path, Some(&body), true).await;
        assert!(lost.is_none(), "{lost:?}");
        service.kill9();
        proxy.pass();
        service.restart().await;
        let client = Client::of(&service);
        for _ in 0..2 {
            let (answered, shown) = client.call(Method::POST, &path, Some(&body), true).await;
            assert_eq!(
                (answered, &shown["status"]),
                (StatusCode::OK, &json!(status)),
                "{shown}"
            );
        }
        eventually(PATIENCE, "the ledger has it once", async || {
            let audit = client.get(&format!("/v1/audit?coupon_id={COUPON}")).await;
            let rows = audit["items"].as_array()?;
            (rows.iter().filter(|row| row["action"] == verb).count() == 1).then_some(())
        })
        .await;
        let mut connection = redis.connection().await;
        redis::cmd("FLUSHALL")
            .exec_async(&mut connection)
            .await
            .expect("FLUSHALL");
        let refused = eventually(PATIENCE, "the coupon is rebuilt", async || {
            let wish = json!({"request_id": format!("new-{verb}"), "user_id": "u9"});
            let asked = client
                .once(Method::POST, &format!("/v1/coupons/{COUPON}/issues"), Some(&wish), true)
                .await?;
            (asked.1["code"] != "coupon-suspended").then_some(asked)
        })
        .await;
        let code = format!("coupon-{status}");
        assert_eq!(
            (refused.0, &refused.1["code"]),
            (StatusCode::CONFLICT, &json!(code)),
            "{}",
            refused.1
        );
    }
    let client = Client::of(&service);
    eventually(PATIENCE, "the queue is refused", async || {
        let results = [client.result(COUPON, "q0").await, client.result(COUPON, "q1").await];
        results
            .iter()
            .all(|shown| shown["result"] == "coupon-closed")
            .then_some(())
    })
    .await;
    assert_clean(&service).await;
}

/// Two requests in the queue of a coupon, while another consumer seems to hold it.
async fn queue_two(service: &Service, redis: &LocalServer) {
    let client = Client::of(service);
    client.define(COUPON, 5).await;
    let mut connection = redis.connection().await;
    let held = redis::cmd("HSET")
        .arg(format!("cp:{{{COUPON}}}:state"))
        .arg("consumer")
        .arg("another 99999999999999 99999999999999")
        .to_owned();
    held.exec_async(&mut connection).await.expect("HSET");
    for n in 0..2 {
        client.join(COUPON, &format!("q{n}"), &format!("u{n}")).await;
    }
}
