//! Who is let in though nobody asks, behind an outage; and what a PUT leaves that changed nothing.

use std::time::{Duration, Instant};

use jackpot::ids::Id;
use jackpot::room::error::RoomError;
use jackpot::room::scripts::Wanted;
use serde_json::json;

use crate::fault_support::{PATIENCE, own_redis, service_on};
use crate::given::operator;
use crate::room_bench::definition;
use crate::room_door::{Instance, KEY};
use crate::room_http::kit::{create, joined};
use crate::support::eventually;
use crate::support::ledger_db::LedgerDb;
use crate::support::redis::TestRedis;

/// As long as rests that double would have become long.
const OUTAGE: Duration = Duration::from_secs(12);
/// One try a second, and a margin for a machine that runs other tests.
const SEEN_WITHIN: Duration = Duration::from_secs(5);

#[tokio::test]
async fn behind_an_outage_who_is_due_is_let_in_at_once() {
    let redis = own_redis(&[]).await;
    let service = service_on(redis.url(), &[]).await;
    for room in ["one", "other"] {
        create(&service, room, 1, &json!({"session_s": 1, "waiting_timeout_s": 600})).await;
        for user in ["first", "second"] {
            joined(&service, room, user).await;
        }
    }
    redis.freeze();
    let began = Instant::now();
    eventually(PATIENCE, "the outage lasts", async || {
        (began.elapsed() >= OUTAGE).then_some(())
    })
    .await;
    redis.thaw();
    eventually(SEEN_WITHIN, "the second is let in, though nobody asks", async || {
        for room in ["one", "other"] {
            let room = service.get(&format!("/v1/rooms/{room}")).await.body;
            if room["admitted"] != 2 {
                return None;
            }
        }
        Some(())
    })
    .await;
}

#[tokio::test]
async fn a_put_whose_condition_fails_leaves_nothing() {
    let (redis, db) = (TestRedis::start().await, LedgerDb::sqlite());
    let instance = Instance::on(redis.url(), &db.open().await, KEY).await;
    let id = Id::parse(&TestRedis::id("none")).expect("an id");
    let definition = definition(&json!({}));
    for wanted in [Wanted::Present, Wanted::Versions(vec![1])] {
        let put = instance.rooms.define(&id, &definition, wanted, &operator()).await;
        assert!(matches!(put, Err(RoomError::PreconditionFailed)), "{put:?}");
    }
    assert!(!instance.rooms.registry.is_used(&id), "nothing is remembered of it");
    let put = instance.rooms.define(&id, &definition, Wanted::Any, &operator()).await;
    assert!(put.expect("defined").created && instance.rooms.registry.is_used(&id));
}
