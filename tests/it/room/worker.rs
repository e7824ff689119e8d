//! Users who are let in after an outage although nobody asks, and what a PUT leaves that changed nothing.

use jackpot::room::error::RoomError;
use jackpot::room::scripts::Wanted;
use jackpot_core::ids::Id;

use crate::room::door::{Instance, KEY};
use crate::room::fixture::definition;
use crate::room::http::support::{create, joined};
use crate::support::given::operator;
use crate::support::prelude::*;

/// The tests of `room::silent` check how soon this happens.
#[tokio::test]
async fn behind_an_outage_who_is_due_is_let_in_though_nobody_asks() {
    let redis = own_redis(&[]).await;
    let service = service_on(redis.url(), &[]).await;
    for room in ["one", "other"] {
        create(&service, room, 1, &json!({"session_s": 1, "waiting_timeout_s": 600})).await;
        for user in ["first", "second"] {
            joined(&service, room, user).await;
        }
    }
    redis.freeze();
    eventually(PATIENCE, "the outage is seen", async || {
        (!service.get("/readyz").await.status.is_success()).then_some(())
    })
    .await;
    redis.thaw();
    eventually(PATIENCE, "the second is let in", async || {
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
