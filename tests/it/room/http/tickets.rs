//! Joining, looking, renewing, leaving: each answer and each refusal.

use std::time::Duration;

use super::support::{create, definition, join, joined, keys, leave, look, path, problem, renew, said};
use crate::support::prelude::*;

#[tokio::test]
async fn one_is_in_and_the_others_wait_each_with_the_fields_of_the_contract() {
    let service = Service::start().await;
    create(&service, "lobby", 1, &json!({})).await;
    let first = join(&service, "lobby", "ann").await;
    first.is(201);
    assert_eq!(
        keys(&first.body),
        ["admitted_at", "expires_at", "pass", "status", "ticket"]
    );
    assert_eq!(first.body["status"], "admitted");
    let second = join(&service, "lobby", "bob").await;
    second.is(201);
    assert_eq!(
        keys(&second.body),
        ["ahead", "eta_s", "poll_after_s", "position", "status", "ticket"]
    );
    let mut waiting = second.body.clone();
    waiting["ticket"].take();
    assert_eq!(
        waiting,
        json!({"ticket": null, "status": "waiting", "position": 1, "ahead": 0, "eta_s": null, "poll_after_s": 1.0})
    );
    let again = join(&service, "lobby", "bob").await;
    assert_eq!(again.is(200), &second.body);
    let again = join(&service, "lobby", "ann").await;
    assert_answer!(again, 200, {"ticket": first.body["ticket"], "expires_at": first.body["expires_at"]});
    assert_eq!(look(&service, "lobby", &second.body).await, second.body);
}

#[tokio::test]
async fn a_pass_says_whose_and_until_when() {
    let service = Service::start_with(&[("JACKPOT__ROOMS__ISSUER", "https://play.example")]).await;
    create(&service, "lobby", 1, &json!({})).await;
    let admitted = joined(&service, "lobby", "ann").await;
    let (header, mut claims) = said(&admitted["pass"]);
    let known = service.get("/v1/keys").await.body["keys"][0]["kid"].clone();
    assert_eq!(header, json!({"alg": "EdDSA", "typ": "room-pass+jwt", "kid": known}));
    let (iat, exp) = (claims["iat"].take(), claims["exp"].take());
    assert_eq!(
        claims,
        json!({"iss": "https://play.example", "aud": "lobby", "sub": "ann", "jti": admitted["ticket"], "iat": null, "exp": null})
    );
    let ends = jackpot_core::clock::rfc3339(exp.as_i64().expect("seconds") * 1_000);
    assert_eq!(admitted["expires_at"], ends);
    let lasts = exp.as_i64().expect("seconds") - iat.as_i64().expect("seconds");
    assert!((60..=61).contains(&lasts), "{lasts}");
}

#[tokio::test]
async fn who_leaves_makes_room_at_once_and_leaves_once() {
    let service = Service::start().await;
    create(&service, "lobby", 1, &json!({})).await;
    let [first, second, third] = [
        joined(&service, "lobby", "a").await,
        joined(&service, "lobby", "b").await,
        joined(&service, "lobby", "c").await,
    ];
    let left = leave(&service, "lobby", &first).await;
    left.is(200);
    assert_eq!(keys(&left.body), ["ended_at", "status", "ticket"]);
    assert_has!(left.body, {"status": "left", "ticket": first["ticket"]});
    assert_eq!(leave(&service, "lobby", &first).await.body, left.body);
    assert_eq!(look(&service, "lobby", &first).await, left.body);
    assert_eq!(look(&service, "lobby", &second).await["status"], "admitted");
    assert_eq!(look(&service, "lobby", &third).await["position"], 1);
    // A user who waits may leave as well. A user who left comes back behind all others.
    leave(&service, "lobby", &third).await;
    let back = joined(&service, "lobby", "a").await;
    assert_has!(back, {"status": "waiting", "position": 1});
    assert_ne!(back["ticket"], first["ticket"]);
    let room = service.get("/v1/rooms/lobby").await.body;
    assert_has!(room, {"active": 1, "waiting": 1, "admitted": 2, "left": 2});
    assert!(room["mean_wait_s"].is_number(), "{room}");
}

#[tokio::test]
async fn only_a_session_is_renewed() {
    let service = Service::start().await;
    create(&service, "lobby", 1, &json!({"session_s": 600})).await;
    let (first, second) = (
        joined(&service, "lobby", "a").await,
        joined(&service, "lobby", "b").await,
    );
    // A session of the first definition is renewed under the second.
    let longer = super::support::definition(1, &json!({"session_s": 1_200}));
    service.put("/v1/rooms/lobby", longer).await;
    let renewed = renew(&service, "lobby", &first).await;
    renewed.is(200);
    assert_has!(renewed.body, {"ticket": first["ticket"], "admitted_at": first["admitted_at"]});
    let exp = |body: &serde_json::Value| said(&body["pass"]).1["exp"].as_i64().expect("seconds");
    assert!(exp(&renewed.body) - exp(&first) >= 600, "{}", renewed.text);
    renew(&service, "lobby", &second).await.refused(409, "not-admitted");
    leave(&service, "lobby", &first).await;
    let refused = renew(&service, "lobby", &first).await;
    refused.refused(409, "not-admitted");
    assert!(
        refused.body["detail"].as_str().expect("text").contains("left"),
        "{}",
        refused.text
    );
}

#[tokio::test]
async fn what_is_not_there_is_not_found_and_what_is_wrong_is_named() {
    let service = Service::start().await;
    create(&service, "lobby", 1, &json!({})).await;
    let nobody = json!({"ticket": "00000000000000000000000000000000"});
    service
        .get(&path("lobby", &nobody))
        .await
        .refused(404, "ticket-not-found");
    renew(&service, "lobby", &nobody).await.refused(404, "ticket-not-found");
    leave(&service, "lobby", &nobody).await.refused(404, "ticket-not-found");
    service.get(&path("none", &nobody)).await.refused(404, "room-not-found");
    join(&service, "none", "a").await.refused(404, "room-not-found");
    for (body, field) in [
        (json!({}), "user_id"),
        (json!({"user_id": "a b"}), "user_id"),
        (json!({"user_id": "a", "ticket": "x"}), "ticket"),
    ] {
        let answer = service.post("/v1/rooms/lobby/tickets", body).await;
        answer.refused(422, "invalid-request");
        assert_eq!(answer.body["errors"][0]["field"], field, "{}", answer.text);
    }
    let upper = service
        .get("/v1/rooms/lobby/tickets/ABCDEF00000000000000000000000000")
        .await;
    upper.refused(422, "invalid-request");
    assert_eq!(upper.body["errors"][0]["field"], "ticket");
    let allowed = service.post("/v1/rooms/lobby/status", json!({})).await;
    allowed.refused(405, "method-not-allowed");
}

#[tokio::test]
async fn a_silent_waiter_loses_the_place_and_a_session_its_end_though_nobody_asks() {
    let service = Service::start().await;
    create(&service, "lobby", 1, &json!({"session_s": 2, "waiting_timeout_s": 1})).await;
    let (first, silent) = (
        joined(&service, "lobby", "a").await,
        joined(&service, "lobby", "b").await,
    );
    service
        .until("/v1/rooms/lobby", "both are over, by the worker alone", |room| {
            room["expired"] == 1 && room["abandoned"] == 1
        })
        .await;
    assert_eq!(look(&service, "lobby", &first).await["status"], "expired");
    let abandoned = look(&service, "lobby", &silent).await;
    assert_eq!(
        (keys(&abandoned), &abandoned["status"]),
        (vec!["ended_at", "status", "ticket"], &json!("abandoned"))
    );
    let back = joined(&service, "lobby", "b").await;
    assert_eq!(back["status"], "admitted");
    assert_ne!(back["ticket"], silent["ticket"]);
}

#[tokio::test]
async fn who_is_next_is_admitted_within_moments_of_the_end_of_a_session() {
    let service = Service::start().await;
    create(&service, "lobby", 1, &json!({"session_s": 1})).await;
    joined(&service, "lobby", "a").await;
    let next = joined(&service, "lobby", "b").await;
    // No request is made for it, because its own look would let it in.
    eventually(Duration::from_secs(10), "the worker lets the next in", async || {
        let room = service.get("/v1/rooms/lobby").await.body;
        (room["admitted"] == 2).then_some(())
    })
    .await;
    let seen = look(&service, "lobby", &next).await;
    let ms =
        |text: &serde_json::Value| jackpot_core::clock::parse_rfc3339(text.as_str().expect("a time")).expect("a time");
    // It was let in at the whole second at which the first session ended, whenever this test looked.
    assert!(
        ["admitted", "expired"].contains(&seen["status"].as_str().expect("text")),
        "{seen}"
    );
    if seen["status"] == "admitted" {
        let lasts = ms(&seen["expires_at"]) - ms(&seen["admitted_at"]);
        assert!((1_000..=2_000).contains(&lasts), "{seen}");
    }
}

#[tokio::test]
async fn the_estimate_comes_from_the_sessions_that_ended() {
    let service = Service::start().await;
    create(&service, "lobby", 1, &json!({})).await;
    let mut last = joined(&service, "lobby", "u0").await;
    let mut waiting = Vec::new();
    for user in 1..=6 {
        waiting.push(joined(&service, "lobby", &format!("u{user}")).await);
    }
    assert!(
        waiting.iter().all(|ticket| ticket["eta_s"].is_null()),
        "no session has ended yet"
    );
    for ticket in &waiting[..3] {
        leave(&service, "lobby", &last).await;
        last = look(&service, "lobby", ticket).await;
        assert_eq!(last["status"], "admitted");
    }
    let seen = look(&service, "lobby", &waiting[5]).await;
    assert_has!(seen, {"position": 3, "ahead": 2});
    let eta = seen["eta_s"].as_u64().expect("it is known now");
    assert!(eta >= 1, "{seen}");
}

#[tokio::test]
async fn a_burst_and_a_closed_room_promise_nothing() {
    let service = Service::start().await;
    create(&service, "lobby", 2, &json!({})).await;
    let first = joined(&service, "lobby", "u0").await;
    leave(&service, "lobby", &first).await;
    service.put("/v1/rooms/lobby", definition(0, &json!({}))).await;
    let mut waiting = Vec::new();
    for user in 1..=4 {
        let ticket = joined(&service, "lobby", &format!("u{user}")).await;
        assert_eq!(ticket["eta_s"], json!(null), "nobody is let in, though one has left");
        waiting.push(ticket);
    }
    eventually(PATIENCE, "the status knows as well", async || {
        let status = service.get("/v1/rooms/lobby/status").await.body;
        (status["capacity"] == 0).then(|| assert_eq!(status["eta_s"], json!(null)))
    })
    .await;
    create(&service, "burst", 0, &json!({})).await;
    let mut last = json!(null);
    for user in 1..=3 {
        last = joined(&service, "burst", &format!("u{user}")).await;
    }
    service.put("/v1/rooms/burst", definition(2, &json!({}))).await;
    eventually(PATIENCE, "two are let in at once", async || {
        let seen = look(&service, "burst", &last).await;
        (seen["position"] == 1).then(|| assert_eq!(seen["eta_s"], json!(null), "no place is free before one goes"))
    })
    .await;
}

#[tokio::test]
async fn who_asks_when_told_to_does_not_miss_the_session() {
    let service = Service::start().await;
    create(&service, "short", 0, &json!({"session_s": 2, "waiting_timeout_s": 600})).await;
    let ticket = joined(&service, "short", "u1").await;
    assert_eq!(ticket["poll_after_s"], 0.8, "well below the session");
    create(
        &service,
        "shorter",
        0,
        &json!({"session_s": 600, "waiting_timeout_s": 1}),
    )
    .await;
    let ticket = joined(&service, "shorter", "u1").await;
    assert_eq!(ticket["poll_after_s"], 0.4, "well below the timeout");
}

#[tokio::test]
async fn who_leaves_and_joins_too_often_has_to_wait() {
    let service = Service::start().await;
    create(&service, "lobby", 2, &json!({})).await;
    for _ in 0..6 {
        let ticket = joined(&service, "lobby", "restless").await;
        assert_eq!(ticket["status"], "admitted");
        leave(&service, "lobby", &ticket).await.is(200);
    }
    let refused = join(&service, "lobby", "restless").await;
    assert_eq!(problem(&refused), (429, "rate-limited"), "{}", refused.text);
    let wait: u64 = refused.headers["retry-after"]
        .to_str()
        .expect("text")
        .parse()
        .expect("seconds");
    assert!((1..=10).contains(&wait), "{wait}");
    let room = service.get("/v1/rooms/lobby").await.body;
    assert_has!(room, {"admitted": 6, "left": 6, "active": 0});
    // Nobody else is affected, and the refusal passes.
    assert_eq!(joined(&service, "lobby", "calm").await["status"], "admitted");
    let back = eventually(PATIENCE, "it passes", async || {
        let answer = join(&service, "lobby", "restless").await;
        answer.status.is_success().then_some(answer.body)
    })
    .await;
    assert_eq!(back["status"], "admitted");
}
