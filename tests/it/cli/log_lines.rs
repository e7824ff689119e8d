//! Log lines name the request that they belong to.

use std::time::Duration;

use crate::support::prelude::*;

const PATIENCE: Duration = Duration::from_secs(20);

/// The line that a service writes for the request of an entry, with its id replaced by `ID`.
async fn line_of_an_entry(format: &str) -> String {
    let level = ("JACKPOT__LOG__LEVEL", "info,jackpot_kernel::http=debug");
    let service = Service::start_with(&[("JACKPOT__LOG__FORMAT", format), level]).await;
    let tiers =
        json!([{"tier": "grand", "share_ppm": 1_000_000, "min_payout": 1, "seed": 0, "reserve_ppm": 0, "cap": null}]);
    let definition = json!({"id": "spring", "name": "Spring", "currency": "KRW", "contribution": {"fixed": 1},
        "tiers": tiers, "odds": {"total": 1, "ranks": []}});
    service.put("/v1/jackpots/spring", definition).await.is(201);
    let entry = json!({"entry_id": "line-1", "player_id": "p1", "stake": 1});
    let answer = service
        .call(Method::POST, "/v1/jackpots/spring/entries", Some(entry))
        .await;
    let id = answer.headers["x-request-id"].to_str().expect("text").to_owned();
    let line = eventually(PATIENCE, "the line of the entry's request", async || {
        let log = service.log();
        let mut lines = log
            .lines()
            .filter(|line| line.contains(&id) && line.contains("request answered"));
        lines.next().map(str::to_owned)
    })
    .await;
    line.replace(&id, "ID")
}

#[tokio::test]
async fn a_line_for_people_names_request_caller_and_entry() {
    let line = line_of_an_entry("pretty").await;
    let span = r#"request{request_id="ID" method=POST route="/v1/jackpots/{id}/entries" caller="operator" jackpot_id="spring" entry_id="line-1"}: "#;
    line.says(span);
}

#[tokio::test]
async fn a_line_for_machines_names_them_too() {
    let line = line_of_an_entry("json").await;
    let line: Value = serde_json::from_str(&line).expect("JSON");
    let span = json!({"name": "request", "request_id": "ID", "method": "POST", "route": "/v1/jackpots/{id}/entries",
        "caller": "operator", "jackpot_id": "spring", "entry_id": "line-1"});
    assert_eq!(line["spans"], json!([span]), "{line}");
    assert_has!(line, {"level": "DEBUG", "status": 201});
}

/// The first line of the log that has all these words.
async fn line_with(service: &Service, words: &[&str]) -> String {
    let what = format!("a line with {words:?}");
    eventually(PATIENCE, &what, async || {
        let log = service.log();
        let found = log.lines().find(|line| words.iter().all(|word| line.contains(word)));
        found.map(str::to_owned)
    })
    .await
}

#[tokio::test]
async fn what_operators_do_is_in_the_log_with_who_and_why() {
    let service = Service::start_with(&[("JACKPOT__LOG__FORMAT", "json")]).await;
    line_with(&service, &["starting", env!("CARGO_PKG_VERSION")]).await;
    line_with(&service, &["the first API key is made", "operator.key"]).await;
    let definition = json!({"id": "spring", "name": "Spring", "currency": "KRW", "contribution": {"fixed": 1},
        "tiers": [{"tier": "grand", "share_ppm": 1_000_000, "min_payout": 1}], "odds": {"total": 1, "ranks": []}});
    let fund = json!({"adjustment_id": "a1", "tier": "grand", "meter": "pool", "amount": 500, "reason": "launch seed"});
    let reason = json!({"reason": "lunch break"});
    for (method, path, body, words) in [
        (Method::PUT, "", definition, ["definition put", "\"version\":1"]),
        (
            Method::POST,
            "/adjustments",
            fund,
            ["\"state\":\"done\"", "launch seed"],
        ),
        (
            Method::POST,
            "/pause",
            reason.clone(),
            ["\"status\":\"paused\"", "lunch break"],
        ),
        (
            Method::POST,
            "/resume",
            reason.clone(),
            ["\"status\":\"open\"", "lunch break"],
        ),
        (
            Method::POST,
            "/fairness/rotate",
            reason.clone(),
            ["epoch rotated", "lunch break"],
        ),
        (Method::POST, "/close", reason, ["\"status\":\"closed\"", "lunch break"]),
    ] {
        let answer = service
            .call(method, &format!("/v1/jackpots/spring{path}"), Some(body))
            .await;
        answer.done();
        let request_id = answer.headers["x-request-id"].to_str().expect("text").to_owned();
        let who = "\"who\":\"operator\"";
        line_with(
            &service,
            &[
                &request_id,
                who,
                "\"jackpot_id\":\"spring\"",
                "INFO",
                words[0],
                words[1],
            ],
        )
        .await;
    }
}

#[tokio::test]
async fn definitions_of_coupons_and_rooms_are_in_the_log_too() {
    let service = Service::start().await;
    let coupon = json!({"name": "Coffee", "stock": 1, "per_user": 1, "per_user_window_s": null,
        "starts_at": "2020-01-01T00:00:00Z", "ends_at": "2100-01-01T00:00:00Z"});
    let room = json!({"capacity": 1, "session_s": 60, "waiting_timeout_s": 60, "admissions_per_minute": null});
    for (path, body, name) in [
        ("/v1/coupons/coffee", coupon, "coupon_id=coffee"),
        ("/v1/rooms/lobby", room, "room_id=lobby"),
    ] {
        let answer = service.put(path, body).await;
        answer.is(201);
        let request_id = answer.headers["x-request-id"].to_str().expect("text").to_owned();
        line_with(
            &service,
            &["INFO", "definition put", name, &request_id, "who=\"operator\""],
        )
        .await;
    }
}

#[tokio::test]
async fn keys_that_are_made_and_revoked_are_in_the_log_by_name() {
    let service = Service::start().await;
    let made = service.command(&["key", "new", "--role", "play", "--name", "game-7"]);
    let (key, told) = (
        String::from_utf8_lossy(&made.stdout),
        String::from_utf8_lossy(&made.stderr),
    );
    assert!(
        made.status.success() && told.contains("play key 'game-7' added to"),
        "{told}"
    );
    line_with(&service, &["INFO", "API key made", "game-7", "play"]).await;
    let revoked = service.command(&["key", "revoke", "game-7"]);
    let told = String::from_utf8_lossy(&revoked.stderr);
    assert!(
        revoked.status.success() && told.contains("key 'game-7' revoked in"),
        "{told}"
    );
    line_with(&service, &["INFO", "API key revoked", "game-7", "play"]).await;
    service.log().hides(key.trim());
}

#[tokio::test]
async fn heavy_a_rebuilt_redis_is_no_error_and_the_line_says_where_it_was() {
    let mut service = Service::start().await;
    let definition = json!({"id": "spring", "name": "Spring", "currency": "KRW", "contribution": {"fixed": 1},
        "tiers": [{"tier": "grand", "share_ppm": 1_000_000, "min_payout": 1}], "odds": {"total": 1, "ranks": []}});
    service.put("/v1/jackpots/spring", definition).await.is(201);
    for entry_id in ["a", "b"] {
        let entry = json!({"entry_id": entry_id, "player_id": "p1", "stake": 1});
        service.post("/v1/jackpots/spring/entries", entry).await.is(201);
    }
    assert!(service.stop().await.success());
    let length = service.log().len();
    std::fs::remove_dir_all(service.data_dir().join("redis/appendonlydir")).expect("the files of Redis");
    service.restart().await;
    line_with(
        &service,
        &[
            "WARN",
            "Redis lost events of this jackpot",
            "redis=event 0",
            "ledger=event 3",
        ],
    )
    .await;
    line_with(&service, &["this jackpot is rebuilt from the ledger"]).await;
    let log = service.log()[length..].to_owned();
    log.hides("ERROR");
}
