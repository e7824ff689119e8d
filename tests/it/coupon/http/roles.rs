//! Who may do what with coupons.

use std::time::Duration;

use super::support::{create, definition};
use crate::support::prelude::*;

async fn status(service: &Service, key: Option<&str>, method: &Method, path: &str) -> StatusCode {
    let request = http_client().request(method.clone(), service.url(path));
    let request = match key {
        Some(key) => request.bearer_auth(key),
        None => request,
    };
    let request = match (method.as_str(), path) {
        ("PUT", _) => request.json(&definition(5, &json!({}))),
        ("POST", "/v1/coupons/roles/issues") => request.json(&json!({"request_id": "r1", "user_id": "u1"})),
        ("POST", "/v1/coupons/roles/bulk-issues") => request.header("content-type", "application/x-ndjson").body(""),
        _ => request,
    };
    request.send().await.expect("an answer").status()
}

async fn key(service: &Service, role: &str) -> String {
    let made = service.command(&["key", "new", "--role", role, "--name", role]);
    let key = String::from_utf8(made.stdout).expect("text").trim().to_owned();
    eventually(Duration::from_secs(10), "the key is honoured", async || {
        let status = status(service, Some(&key), &Method::GET, "/v1/coupons/roles").await;
        (status != StatusCode::UNAUTHORIZED).then_some(())
    })
    .await;
    key
}

#[tokio::test]
async fn each_route_wants_its_role() {
    let service = Service::start().await;
    create(&service, "roles", 5, &json!({})).await;
    let (play, read) = (key(&service, "play").await, key(&service, "read").await);
    for (method, path, for_play, for_read) in [
        (Method::PUT, "/v1/coupons/roles", 403, 403),
        (Method::GET, "/v1/coupons", 403, 200),
        (Method::GET, "/v1/coupons/roles", 403, 200),
        (Method::POST, "/v1/coupons/roles/issues", 201, 403),
        (Method::GET, "/v1/coupons/roles/issues/r1", 200, 200),
        (Method::GET, "/v1/coupons/roles/issues/r1/stream", 200, 200),
        (Method::DELETE, "/v1/coupons/roles/issues/r1", 403, 403),
        (Method::GET, "/v1/coupons/roles/dead-letters", 403, 200),
        (Method::POST, "/v1/coupons/roles/dead-letters/r1/redrive", 403, 403),
        (Method::POST, "/v1/coupons/roles/bulk-issues", 403, 403),
    ] {
        for (key, expected) in [(Some(&*play), for_play), (Some(&*read), for_read), (None, 401)] {
            let got = status(&service, key, &method, path).await;
            assert_eq!(got.as_u16(), expected, "{method} {path}");
        }
    }
}
