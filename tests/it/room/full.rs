//! Memory is full: nobody joins, and everybody can stay or leave.

use std::sync::Arc;

use jackpot::room::scripts::Place;
use jackpot_core::ids::Id;

use crate::room::http::support::{create, join, joined, leave, look};
use crate::support::given::person;
use crate::support::prelude::*;

async fn limit(connection: &mut redis::aio::MultiplexedConnection, bytes: u64) {
    redis::cmd("CONFIG")
        .arg("SET")
        .arg("maxmemory")
        .arg(bytes)
        .exec_async(connection)
        .await
        .expect("CONFIG SET");
}

#[tokio::test]
async fn over_http_joins_get_503_and_the_others_go_on() {
    let redis = own_redis(&["--maxmemory-policy", "noeviction"]).await;
    let service = service_on(redis.url(), &[]).await;
    create(&service, "full", 1, &json!({})).await;
    let (first, second) = (joined(&service, "full", "a").await, joined(&service, "full", "b").await);
    limit(&mut redis.connection().await, 1).await;
    eventually(PATIENCE, "nobody joins", async || {
        let refused = join(&service, "full", "c").await;
        (refused.status == StatusCode::SERVICE_UNAVAILABLE).then(|| {
            refused.refused(503, "store-unavailable");
            assert!(refused.headers.contains_key("retry-after"));
        })
    })
    .await;
    assert_eq!(look(&service, "full", &second).await["position"], 1);
    assert_eq!(leave(&service, "full", &first).await.body["status"], "left");
    assert_eq!(look(&service, "full", &second).await["status"], "admitted");
    limit(&mut redis.connection().await, 0).await;
    eventually(PATIENCE, "they join again", async || {
        join(&service, "full", "c").await.status.is_success().then_some(())
    })
    .await;
}

#[tokio::test]
async fn in_one_call_with_joins_the_others_are_answered() {
    let redis = Arc::new(TestRedis::own(&["--maxmemory-policy", "noeviction"]).await);
    let db = LedgerDb::sqlite();
    let instance = crate::room::door::Instance::on(redis.url(), &db.open().await, crate::room::door::KEY).await;
    let id = Id::parse("full").expect("an id");
    instance.define(&id, &json!({"capacity": 5})).await;
    let (now, _) = instance.admit(&id, "ann").await;
    limit(&mut redis.connection().await, 1).await;
    let rooms = &instance.rooms;
    let (one, two) = (person("one"), person("two"));
    // The first call is in flight while the others come, so that those go out together.
    let (_, refused, looked, also) = tokio::join!(
        rooms.look(&id, now.seen.ticket),
        rooms.join(&id, &one),
        rooms.look(&id, now.seen.ticket),
        rooms.join(&id, &two),
    );
    assert!(refused.is_err() && also.is_err(), "{refused:?} {also:?}");
    let seen = looked.expect("answered").seen;
    assert!(matches!(seen.place, Place::Admitted { .. }), "{seen:?}");
}
