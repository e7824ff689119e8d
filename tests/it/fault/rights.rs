//! The real service on servers that give it little: a Redis user with exactly the rights of the documentation, and servers
//! that stop taking writes.

use std::time::Duration;

use crate::fault::support::{create, enter, entry_drawing, redrawing};
use crate::store::support::exact_rights;
use crate::support::free_port;
use crate::support::local::LocalServer;
use crate::support::prelude::*;

/// By when readiness tells of a server that takes no writes.
const SOON: Duration = Duration::from_secs(2);

async fn done(service: &Service, method: Method, path: &str, body: Value) -> Value {
    let answer = service.call(method, path, Some(body)).await;
    answer.done();
    answer.body
}

/// What the store, the coupon, the room and the desk do in their lives.
async fn live(service: &Service) {
    let reason = || json!({"reason": "a test"});
    let stock =
        json!({"name": "c", "stock": 9, "per_user": 9, "per_user_window_s": null, "starts_at": null, "ends_at": null});
    done(service, Method::PUT, "/v1/coupons/c", stock).await;
    let room = json!({"capacity": 1, "session_s": 60, "waiting_timeout_s": 60, "admissions_per_minute": 600});
    done(service, Method::PUT, "/v1/rooms/r", room).await;
    for jackpot in ["a", "b"] {
        let mut definition = redrawing(jackpot);
        definition["odds"]["ranks"][0]["prize"] = json!({"coupon": {"coupon_id": "c"}});
        create(service, definition).await;
    }
    for rank in [1, 2] {
        let id = entry_drawing(service, "a", &format!("rank{rank}-"), &[rank]).await;
        let won = enter(service, "a", &id).await;
        assert_eq!(won.body["outcome"]["rank"], rank, "{}", won.text);
        enter(service, "a", &id).await.is(200);
    }
    let batch =
        json!({"batch_id": "b1", "entries": [{"player_id": "p7", "stake": 100}, {"player_id": "p8", "stake": 100}]});
    done(service, Method::POST, "/v1/jackpots/a/entry-batches", batch).await;
    let issue = json!({"request_id": "i1", "user_id": "u"});
    done(service, Method::POST, "/v1/coupons/c/issues", issue).await;
    done(
        service,
        Method::POST,
        "/v1/coupons/c/issues/i1/redeem",
        json!({"redemption_id": "d1", "reference": "a till"}),
    )
    .await;
    for user in ["u1", "u2"] {
        let ticket = done(service, Method::POST, "/v1/rooms/r/tickets", json!({"user_id": user})).await;
        let path = format!("/v1/rooms/r/tickets/{}", ticket["ticket"].as_str().expect("a ticket"));
        service.get(&path).await.done();
        service.call(Method::DELETE, &path, None).await.done();
    }
    let funded = json!({"adjustment_id": "f1", "tier": "grand", "meter": "pool", "amount": 50, "reason": "a test"});
    done(service, Method::POST, "/v1/jackpots/a/adjustments", funded).await;
    done(service, Method::POST, "/v1/jackpots/a/fairness/rotate", reason()).await;
    done(service, Method::POST, "/v1/jackpots/a/pause", reason()).await;
    let moved = json!({"transfer_id": "t1", "to": "b", "tiers": {"grand": "grand"}, "reason": "a test"});
    done(service, Method::POST, "/v1/jackpots/a/transfers", moved).await;
    done(service, Method::POST, "/v1/jackpots/a/close", reason()).await;
    done(service, Method::POST, "/v1/emergency-stop", reason()).await;
    done(service, Method::POST, "/v1/emergency-start", reason()).await;
}

#[tokio::test]
async fn exactly_the_documented_rights_are_enough_for_a_whole_life() {
    let port = free_port();
    let redis = LocalServer::on_port("redis-server", port, &[])
        .await
        .expect("redis-server is on PATH");
    let mut beside = redis.connection().await;
    redis::cmd("ACL")
        .arg(&["SETUSER", "jackpot", "on", ">s3cret-word"])
        .arg(exact_rights())
        .exec_async(&mut beside)
        .await
        .expect("a user");
    let url = format!("redis://jackpot:s3cret-word@127.0.0.1:{port}");
    let mut service = service_on(&url, &[]).await;
    live(&service).await;
    eventually(PATIENCE, "the ledger has all of it", async || {
        let ready = service.get("/readyz").await;
        (ready.status.is_success() && ready.body["ledger"]["lag_events"] == 0).then_some(())
    })
    .await;
    service.command_beside(&["doctor"]).await.done();
    assert!(service.stop().await.success());
    // Redis loses all but its user.
    redis::cmd("FLUSHALL").exec_async(&mut beside).await.expect("emptied");
    for command in [&["restore"][..], &["reconcile"]] {
        let output = service.command(command);
        assert!(output.status.success(), "{command:?}: {}", output.words());
    }
    service.restart().await;
    enter(&service, "b", "after").await.done();
    let refused: Vec<redis::Value> = redis::cmd("ACL")
        .arg("LOG")
        .query_async(&mut beside)
        .await
        .expect("the log");
    // The client library tells newer servers its name, and goes on without.
    let refused: Vec<_> = refused
        .iter()
        .filter(|one| !format!("{one:?}").contains("setinfo"))
        .collect();
    assert!(refused.is_empty(), "Redis refused: {refused:?}");
}

#[tokio::test]
async fn readiness_ends_while_redis_takes_no_writes_and_the_ledger_is_down_while_sql_takes_none() {
    let (redis, ledger) = (own_redis(&[]).await, LedgerDb::postgres().await);
    let service = service_on(redis.url(), &[ledger.environment()]).await;
    let mut beside = redis.connection().await;
    let needs = |count: u8| {
        redis::cmd("CONFIG")
            .arg("SET")
            .arg("min-replicas-to-write")
            .arg(count)
            .to_owned()
    };
    needs(1).exec_async(&mut beside).await.expect("set");
    let refused = eventually(SOON, "it is not ready", async || {
        Some(service.get("/readyz").await).filter(|answer| answer.status == StatusCode::SERVICE_UNAVAILABLE)
    })
    .await;
    refused.says("NOREPLICAS");
    needs(0).exec_async(&mut beside).await.expect("set");
    eventually(SOON, "it is ready again", async || {
        service.get("/readyz").await.status.is_success().then_some(())
    })
    .await;

    create(&service, redrawing("down")).await;
    let sql = ledger.open().await;
    for (set, up) in [
        ("SET default_transaction_read_only = on", false),
        ("RESET default_transaction_read_only", true),
    ] {
        // A connection that may write whatever the database says.
        let mut tx = sql.begin().await.expect("a transaction");
        let name: String = sqlx::query_scalar("SELECT CAST(current_database() AS TEXT)")
            .fetch_one(&mut *tx)
            .await
            .expect("a name");
        for text in [
            format!("ALTER DATABASE {name} {set}"),
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
             WHERE datname = current_database() AND pid <> pg_backend_pid()"
                .to_owned(),
        ] {
            sqlx::query(sqlx::AssertSqlSafe(text))
                .execute(&mut *tx)
                .await
                .expect("it is set");
        }
        tx.commit().await.expect("committed");
        // The kept connections may be replaced one by one.
        eventually(PATIENCE, "the ledger's state is seen", async || {
            let ready = service.get("/readyz").await;
            (ready.status.is_success() && ready.body["ledger"]["up"] == up).then_some(())
        })
        .await;
        assert!(
            enter(&service, "down", &format!("up-{up}")).await.status.is_success(),
            "play goes on"
        );
    }
    sql.close().await;
    eventually(PATIENCE, "the ledger has what was played meanwhile", async || {
        let ready = service.get("/readyz").await.body;
        assert_eq!(ready["refused"]["jackpots"], 0, "the stream was stopped: {ready}");
        (ready["ledger"]["lag_events"] == 0).then_some(())
    })
    .await;
}
