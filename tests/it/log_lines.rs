//! Log lines name the request that they are written for.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::eventually;
use crate::support::service::Service;

const PATIENCE: Duration = Duration::from_secs(20);

/// The line that a service writes for the request of an entry, its id replaced by `ID`.
async fn line_of_an_entry(format: &str) -> String {
    let level = ("JACKPOT__LOG__LEVEL", "info,jackpot::http=debug");
    let service = Service::start_with(&[("JACKPOT__LOG__FORMAT", format), level]).await;
    let tiers =
        json!([{"tier": "grand", "share_ppm": 1_000_000, "min_payout": 1, "seed": 0, "reserve_ppm": 0, "cap": null}]);
    let definition = json!({"id": "spring", "name": "Spring", "currency": "KRW", "contribution": {"fixed": 1},
        "tiers": tiers, "odds": {"total": 1, "ranks": []}});
    assert_eq!(service.put("/v1/jackpots/spring", definition).await.status, 201);
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
    assert!(line.contains(span), "{line}");
}

#[tokio::test]
async fn a_line_for_machines_names_them_too() {
    let line = line_of_an_entry("json").await;
    let line: Value = serde_json::from_str(&line).expect("JSON");
    let span = json!({"name": "request", "request_id": "ID", "method": "POST", "route": "/v1/jackpots/{id}/entries",
        "caller": "operator", "jackpot_id": "spring", "entry_id": "line-1"});
    assert_eq!(line["spans"], json!([span]), "{line}");
    assert_eq!(
        (&line["level"], &line["status"]),
        (&json!("DEBUG"), &json!(201)),
        "{line}"
    );
}
