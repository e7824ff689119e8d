//! Settlement under faults: each step of a payout is taken once, whatever is killed, lost, repeated or restored.

use crate::fault::ledger_support::{COMPARED_OFTEN, outside, until_clean};
use crate::fault::support::{connection, create, entered};
use crate::keys::http::support::{Asking, key};
use crate::support::local::LocalServer;
use crate::support::prelude::*;
use crate::support::proxy::ChaosProxy;

on_both_databases!(
    a_service_killed_before_or_after_each_script_takes_each_step_once,
    a_lost_redis_keeps_every_step_that_was_answered,
);

const JACKPOT: &str = "settling";
const AMOUNT: u64 = 40;

/// Each entry wins 40, which is held.
fn tracked() -> Value {
    json!({
        "id": JACKPOT, "name": "Settling", "currency": "KRW", "status": "open", "contribution": {"fixed": 1},
        "settlement": "tracked", "approval_above": AMOUNT,
        "tiers": [{"tier": "grand", "share_ppm": 1_000_000, "min_payout": 1, "seed": 0, "reserve_ppm": 0, "cap": null,
                   "must_hit_by": null}],
        "odds": {"total": 1, "ranks": [{"rank": 1, "weight": 1, "prize": {"fixed": {"tier": "grand", "amount": AMOUNT}}}]},
    })
}

/// The steps of two payouts, in order: payout, action, owner, body, state after.
fn steps() -> [(usize, &'static str, &'static str, Value, &'static str); 5] {
    let reason = || json!({"reason": "a test"});
    [
        (0, "approve", "bob", reason(), "due"),
        (
            0,
            "fail",
            "eve",
            json!({"settlement_id": "try-1", "reason": "account closed"}),
            "failed",
        ),
        (
            0,
            "settle",
            "eve",
            json!({"settlement_id": "try-2", "reference": "bank 1"}),
            "settled",
        ),
        (1, "void", "anna", reason(), "void-requested"),
        (1, "void", "eve", reason(), "void"),
    ]
}

/// A Redis, a proxy in front of it, and a service with two payouts that are held.
struct Given {
    redis: LocalServer,
    proxy: ChaosProxy,
    service: Service,
    payouts: Vec<String>,
}

impl Given {
    async fn on(db: &LedgerDb) -> Self {
        let redis = own_redis(&[]).await;
        let proxy = ChaosProxy::in_front_of(redis.url()).await;
        let restore = ("JACKPOT__LEDGER__AUTO_RESTORE", "on");
        let service = service_on(proxy.url(), &[db.environment(), restore, COMPARED_OFTEN]).await;
        create(&service, tracked()).await;
        let fund = json!({"adjustment_id": "f", "tier": "grand", "meter": "pool", "amount": 1_000, "reason": "a test"});
        let path = format!("/v1/jackpots/{JACKPOT}/adjustments");
        service.post(&path, fund).await.is(201);
        let mut payouts = Vec::new();
        for number in 0..2 {
            let won = entered(&service, JACKPOT, &format!("e{number}")).await;
            payouts.push(won.body["outcome"]["payout_id"].as_str().expect("a payout").to_owned());
        }
        let given = Self {
            redis,
            proxy,
            service,
            payouts,
        };
        given.row(1).await;
        given
    }

    /// The keys of three owners. A service that was started again has another port.
    async fn keys(&self, round: usize) -> [(&'static str, Asking); 3] {
        let make = async |owner: &'static str, role: &str| {
            let name = format!("{owner}-{round}");
            let made = key(&self.service, &name, &["--role", role, "--owner", owner]).await;
            (owner, made)
        };
        [
            make("bob", "approve").await,
            make("eve", "operate").await,
            make("anna", "operate").await,
        ]
    }

    async fn row(&self, place: usize) -> Value {
        let id = &self.payouts[place];
        eventually(PATIENCE, "the payout is in the ledger", async || {
            let page = self
                .service
                .get(&format!("/v1/payouts?jackpot_id={JACKPOT}"))
                .await
                .body;
            let items = page["items"].as_array()?.clone();
            items.into_iter().find(|row| row["payout_id"] == id.as_str())
        })
        .await
    }

    /// One try: the status, and the row or the problem.
    async fn ask(&self, asking: &Asking, place: usize, action: &str, body: &Value) -> (u16, Value) {
        let path = format!("/v1/payouts/{}/{action}", self.payouts[place]);
        let request = asking.request(reqwest::Method::POST, &path).json(body);
        let answer = request.send().await.expect("an answer");
        let status = answer.status().as_u16();
        (status, answer.json().await.expect("JSON"))
    }

    /// Repeats a step until it is answered, as a good client does.
    async fn step(&self, asking: &Asking, place: usize, action: &str, body: &Value) -> Value {
        let answered = eventually(PATIENCE, "the step is answered", async || {
            let (status, body) = self.ask(asking, place, action, body).await;
            (status != 503 && body["code"] != "jackpot-suspended").then_some((status, body))
        })
        .await;
        assert_eq!(answered.0, 200, "{}", answered.1);
        answered.1
    }

    /// Each step has one event and one row of the audit log, the money is where it belongs, and all agree.
    async fn assert_whole(&self, db: &LedgerDb) {
        let sql = outside(&self.service, db.environment().1).await;
        until_clean(&self.service, &sql, JACKPOT).await;
        for text in [
            "SELECT COUNT(*) FROM events WHERE kind = 'jackpot' AND type = 'payout'",
            "SELECT COUNT(*) FROM audit WHERE action IN ('approve', 'settle', 'fail', 'void-request', 'void')",
        ] {
            let count: i64 = sqlx::query_scalar(text).fetch_one(sql.reader()).await.expect("a count");
            assert_eq!(count, 5, "{text}");
        }
        sql.close().await;
        let meter = eventually(PATIENCE, "the jackpot answers", async || {
            let shown = self.service.get(&format!("/v1/jackpots/{JACKPOT}")).await;
            (shown.status.as_u16() == 200).then(|| shown.body["meters"][0].clone())
        })
        .await;
        assert_eq!(
            ["overflow", "voided", "paid", "funded"].map(|name| meter[name].as_u64().expect("an integer")),
            [AMOUNT, AMOUNT, 2 * AMOUNT, 1_000],
            "{meter}"
        );
    }
}

#[tokio::test]
async fn a_lost_reply_of_each_script_is_asked_for_again_and_takes_the_step_once() {
    let db = LedgerDb::sqlite();
    let given = Given::on(&db).await;
    let keys = given.keys(0).await;
    for (place, action, owner, body, state) in steps() {
        let asking = &keys.iter().find(|(name, _)| *name == owner).expect("a key").1;
        given.proxy.lose_reply(&["FCALL", &given.payouts[place]], 0);
        let row = given.step(asking, place, action, &body).await;
        assert_eq!(row["state"], state, "{action}");
        assert_eq!(given.row(place).await, row);
    }
    assert_eq!(given.proxy.lost(), 5);
    given.assert_whole(&db).await;
}

async fn a_service_killed_before_or_after_each_script_takes_each_step_once(db: LedgerDb) {
    let mut given = Given::on(&db).await;
    for (round, (place, action, owner, body, state)) in steps().into_iter().enumerate() {
        let keys = given.keys(round).await;
        let asking = &keys.iter().find(|(name, _)| *name == owner).expect("a key").1;
        // Redis has the step, or Redis was gone before it came.
        if round % 2 == 0 {
            given.proxy.lose_reply_and_go_down(&["FCALL", &given.payouts[place]], 0);
        } else {
            given.proxy.down();
        }
        let (status, _) = given.ask(asking, place, action, &body).await;
        assert_eq!(status, 503, "{action}");
        given.service.kill9();
        given.proxy.pass();
        given.service.restart().await;
        let keys = given.keys(round + 10).await;
        let asking = &keys.iter().find(|(name, _)| *name == owner).expect("a key").1;
        let row = given.step(asking, place, action, &body).await;
        assert_eq!(row["state"], state, "{action}");
        assert_eq!(given.step(asking, place, action, &body).await, row, "a repeat");
    }
    given.assert_whole(&db).await;
}

async fn a_lost_redis_keeps_every_step_that_was_answered(db: LedgerDb) {
    let given = Given::on(&db).await;
    let keys = given.keys(0).await;
    for (place, action, owner, body, state) in steps() {
        let asking = &keys.iter().find(|(name, _)| *name == owner).expect("a key").1;
        let row = given.step(asking, place, action, &body).await;
        assert_eq!(row["state"], state, "{action}");
        let mut redis = connection(given.redis.url()).await;
        redis::cmd("FLUSHALL").exec_async(&mut redis).await.expect("FLUSHALL");
        assert_eq!(
            given.step(asking, place, action, &body).await,
            row,
            "a repeat after the loss"
        );
        assert_eq!(given.row(place).await, row);
    }
    given.assert_whole(&db).await;
}
