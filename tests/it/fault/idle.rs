//! Subjects in which nothing happens cost little: what an idle instance asks Redis does not grow with their number, as far
//! as scripts do it. What happens in one of them without this instance is noticed all the same.

use std::collections::BTreeMap;
use std::time::Instant;

use jackpot::room::known::Known;
use jackpot::room::scripts::{self, Visit};
use jackpot::room::ticket::Ticket;
use jackpot::store::Store;
use jackpot::subject::Subject;
use jackpot_core::ids::{Id, PersonId};

use crate::fault::support::{create, lively};
use crate::room::http::support as room;
use crate::support::given::standalone;
use crate::support::local::LocalServer;
use crate::support::prelude::*;

/// Commands that run a script.
const SCRIPTS: [&str; 4] = ["evalsha", "eval", "fcall", "fcall_ro"];

/// How often each command was called.
async fn calls(redis: &LocalServer) -> BTreeMap<String, u64> {
    let text: String = redis::cmd("INFO")
        .arg("commandstats")
        .query_async(&mut redis.connection().await)
        .await
        .expect("INFO");
    let line = |line: &str| {
        let (name, values) = line.strip_prefix("cmdstat_")?.split_once(':')?;
        let calls = values.strip_prefix("calls=")?.split(',').next()?;
        Some((name.to_owned(), calls.parse().ok()?))
    };
    text.lines().filter_map(line).collect()
}

fn scripts_in(calls: &BTreeMap<String, u64>) -> u64 {
    SCRIPTS.iter().filter_map(|name| calls.get(*name)).sum()
}

/// Scripts a second until a command was called this often. Begins when the calls of the start are over.
async fn scripts_a_second(redis: &LocalServer, command: &str, times: u64) -> f64 {
    let (mut before, mut begun) = (calls(redis).await, Instant::now());
    let mut rate = f64::MAX;
    // The start itself looks at everything once: the lowest of some measurements counts.
    for _ in 0..5 {
        let wanted = before.get(command).copied().unwrap_or_default() + times;
        let after = eventually(PATIENCE, "rounds of the workers", async || {
            let now = calls(redis).await;
            (now.get(command).copied().unwrap_or_default() >= wanted).then_some(now)
        })
        .await;
        #[expect(clippy::cast_precision_loss, reason = "a rate")]
        let scripts = (scripts_in(&after) - scripts_in(&before)) as f64;
        rate = rate.min(scripts / begun.elapsed().as_secs_f64());
        (before, begun) = (after, Instant::now());
    }
    rate
}

#[tokio::test]
async fn quiet_rooms_cost_no_script_each() {
    const ROOMS: u64 = 300;
    let redis = own_redis(&[]).await;
    let service = service_on(redis.url(), &[]).await;
    for n in 0..ROOMS {
        room::create(&service, &format!("quiet-{n}"), 1, &json!({"session_s": 1})).await;
    }
    // A reading asks each room for its mark, and whether anybody is there.
    let rate = scripts_a_second(&redis, "exists", ROOMS * 2).await;
    // A step of each every five seconds would be 60. The projector reads 20 streams a second, and compares 10.
    assert!(rate < 45.0, "{rate} scripts a second for {ROOMS} quiet rooms");

    // Another instance lets a user in, and dies: this one ends the session.
    let directory = tempfile::tempdir().expect("a directory");
    let store = Store::open(&standalone(redis.url()), directory.path())
        .await
        .expect("the store opens");
    let id = Id::parse("quiet-7").expect("an id");
    admit(&store, &id).await;
    eventually(PATIENCE, "the session is ended", async || {
        let expired: Option<u64> = redis::cmd("HGET")
            .arg("room:{quiet-7}:state")
            .arg("expired")
            .query_async(&mut redis.connection().await)
            .await
            .expect("HGET");
        (expired == Some(1)).then_some(())
    })
    .await;
    assert_eq!(service.get("/v1/rooms/quiet-7").await.body["active"], 0);
}

/// A visit of another instance.
async fn admit(store: &Store, id: &Id) {
    let known = Known::new(id);
    let join = Visit::Join {
        user: PersonId::parse("ann").expect("an id"),
        ticket: Ticket::random().expect("random"),
        order: 0,
        nonce: String::new(),
    };
    let visited = scripts::visit(store, &known, 60_000, &[join]).await.expect("a reply");
    assert_eq!(visited.counts.active, 1, "{visited:?}");
}

#[tokio::test]
async fn idle_jackpots_and_coupons_cost_few_scripts() {
    const EACH: usize = 250;
    let redis = own_redis(&[]).await;
    let service = service_on(redis.url(), &[]).await;
    let coupon = json!({"name": "Idle", "stock": 10, "per_user": 1, "per_user_window_s": null, "starts_at": null,
                        "ends_at": null});
    for n in 0..EACH {
        create(&service, lively(&format!("idle-{n}"))).await;
        service
            .put(&format!("/v1/coupons/idle-{n}"), coupon.clone())
            .await
            .is(201);
    }
    // A reading of marks is one command for each subject.
    let rate = scripts_a_second(&redis, "hmget", 1_500).await;
    // A look at each queue every second would be 250, the recovery twice that, and the projector 500.
    assert!(
        rate < 120.0,
        "{rate} scripts a second for {EACH} jackpots and {EACH} coupons"
    );
    service
        .post(
            "/v1/coupons/idle-3/issues",
            json!({"request_id": "r", "user_id": "ann"}),
        )
        .await
        .is(201);
    service
        .until("/v1/coupons/idle-3/issues", "the ledger has it", |list| {
            list["items"].as_array().map(Vec::len) == Some(1)
        })
        .await;
}
