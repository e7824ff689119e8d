//! What these tests share.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::support::given;
use crate::support::prelude::*;

/// A definition of this capacity, changed by `change`.
pub fn definition(capacity: u64, change: &Value) -> Value {
    let mut definition = json!({"capacity": capacity, "session_s": 60, "waiting_timeout_s": 60,
        "admissions_per_minute": null});
    for (field, value) in change.as_object().expect("an object") {
        definition[field] = value.clone();
    }
    definition
}

/// Creates a room.
pub async fn create(service: &Service, id: &str, capacity: u64, change: &Value) {
    service
        .put(&format!("/v1/rooms/{id}"), definition(capacity, change))
        .await
        .is(201);
}

/// Joins.
pub async fn join(service: &Service, id: &str, user: &str) -> Answer {
    service
        .post(&format!("/v1/rooms/{id}/tickets"), json!({"user_id": user}))
        .await
}

/// Joins, which must succeed; returns the body of the answer.
pub async fn joined(service: &Service, id: &str, user: &str) -> Value {
    let answer = join(service, id, user).await;
    answer.done();
    answer.body
}

/// The path of a ticket.
pub fn path(id: &str, ticket: &Value) -> String {
    format!(
        "/v1/rooms/{id}/tickets/{}",
        ticket["ticket"].as_str().expect("a ticket")
    )
}

/// The state of a ticket.
pub async fn look(service: &Service, id: &str, ticket: &Value) -> Value {
    let answer = service.get(&path(id, ticket)).await;
    answer.is(200);
    answer.body
}

/// Renews a session.
pub async fn renew(service: &Service, id: &str, ticket: &Value) -> Answer {
    let path = format!("{}/renew", path(id, ticket));
    service.call(Method::POST, &path, None).await
}

/// Leaves.
pub async fn leave(service: &Service, id: &str, ticket: &Value) -> Answer {
    service.call(Method::DELETE, &path(id, ticket), None).await
}

/// A problem's status and code.
pub fn problem(answer: &Answer) -> (u16, &str) {
    assert_eq!(
        answer.headers["content-type"], "application/problem+json",
        "{}",
        answer.text
    );
    (answer.status.as_u16(), answer.body["code"].as_str().expect("a code"))
}

/// Names of the fields of a body, in alphabetical order.
pub fn keys(body: &Value) -> Vec<&str> {
    let fields = body.as_object().expect("an object");
    let mut names = fields.keys().map(String::as_str).collect::<Vec<_>>();
    names.sort_unstable();
    names
}

/// Header and claims of a pass, unchecked.
pub fn said(pass: &Value) -> (Value, Value) {
    let pass = pass.as_str().expect("a pass");
    let mut parts = pass.split('.').map(|part| {
        let bytes = URL_SAFE_NO_PAD.decode(part).expect("base64url");
        serde_json::from_slice(&bytes).unwrap_or_default()
    });
    (parts.next().expect("a header"), parts.next().expect("claims"))
}

/// Creates a jackpot behind a room, `null` for none.
pub async fn jackpot(service: &Service, id: &str, room: &Value) -> Answer {
    let definition = given::document(id, &json!({"room": room}));
    service.put(&format!("/v1/jackpots/{id}"), definition).await
}

/// Enters with a pass, `null` for none. Returns the status, the code of the problem, and whether it was a repeat.
pub async fn enter(service: &Service, jackpot: &str, entry: &str, player: &str, pass: &Value) -> (u16, String, bool) {
    let request = http_client()
        .post(service.url(&format!("/v1/jackpots/{jackpot}/entries")))
        .bearer_auth(service.operator_key())
        .json(&json!({"entry_id": entry, "player_id": player, "stake": 1}));
    let request = match pass.as_str() {
        Some(pass) => request.header("X-Room-Pass", pass),
        None => request,
    };
    let answer = request.send().await.expect("an answer");
    let (status, replayed) = (
        answer.status().as_u16(),
        answer.headers().contains_key("idempotency-replayed"),
    );
    let body: Value = answer.json().await.expect("JSON");
    (status, body["code"].as_str().unwrap_or_default().to_owned(), replayed)
}
