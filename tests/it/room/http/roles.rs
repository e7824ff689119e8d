//! Who may do what with rooms.

use std::time::Duration;

use super::support::{create, definition, joined, path};
use crate::support::prelude::*;

async fn status(service: &Service, key: Option<&str>, method: &Method, path: &str) -> StatusCode {
    let request = http_client().request(method.clone(), service.url(path));
    let request = match key {
        Some(key) => request.bearer_auth(key),
        None => request,
    };
    let request = match (method.as_str(), path) {
        ("PUT", _) => request.json(&definition(5, &json!({}))),
        ("POST", "/v1/rooms/roles/tickets") => request.json(&json!({"user_id": "u1"})),
        _ => request,
    };
    request.send().await.expect("an answer").status()
}

async fn key(service: &Service, role: &str) -> String {
    let made = service.command(&["key", "new", "--role", role, "--name", role]);
    let key = String::from_utf8(made.stdout).expect("text").trim().to_owned();
    eventually(Duration::from_secs(10), "the key is honoured", async || {
        let status = status(service, Some(&key), &Method::GET, "/v1/rooms/roles").await;
        (status != StatusCode::UNAUTHORIZED).then_some(())
    })
    .await;
    key
}

#[tokio::test]
async fn each_route_wants_its_role() {
    let service = Service::start().await;
    create(&service, "roles", 5, &json!({})).await;
    // This ticket is over already, so that its stream ends.
    let ticket = path("roles", &joined(&service, "roles", "u0").await);
    service.call(Method::DELETE, &ticket, None).await;
    let (renew, stream) = (format!("{ticket}/renew"), format!("{ticket}/stream"));
    let (play, read) = (key(&service, "play").await, key(&service, "read").await);
    for (method, path, for_play, for_read, for_none) in [
        (Method::PUT, "/v1/rooms/roles", 403, 403, 401),
        (Method::GET, "/v1/rooms", 403, 200, 401),
        (Method::GET, "/v1/rooms/roles", 403, 200, 401),
        (Method::GET, "/v1/rooms/roles/pre-queue", 403, 404, 401),
        (Method::GET, "/v1/rooms/roles/status", 200, 200, 200),
        (Method::POST, "/v1/rooms/roles/tickets", 201, 403, 401),
        (Method::GET, &ticket, 200, 403, 401),
        (Method::GET, &stream, 200, 403, 401),
        (Method::POST, &renew, 409, 403, 401),
        (Method::DELETE, &ticket, 200, 403, 401),
    ] {
        for (key, expected) in [(Some(&*play), for_play), (Some(&*read), for_read), (None, for_none)] {
            let got = status(&service, key, &method, path).await;
            assert_eq!(got.as_u16(), expected, "{method} {path}");
        }
    }
}
