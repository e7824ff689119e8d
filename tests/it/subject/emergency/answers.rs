//! What clients and operators see of the emergency stop.

use std::time::Duration;

use crate::fault::support::{create, lively};
use crate::support::prelude::*;

const PATIENCE: Duration = Duration::from_secs(20);
const REASON: &str = "a <leak> in the payout table";

fn refused(answer: &Answer) {
    answer.refused(503, "stopped");
    let detail = answer.body["detail"].as_str().expect("text");
    detail.says(REASON);
    assert!(answer.headers.contains_key("retry-after"), "{:?}", answer.headers);
}

/// One request of each kind for something new: jackpot, batch, coupon, ticket.
async fn requests(service: &Service, name: &str) -> [Answer; 4] {
    let entry = json!({"entry_id": name, "player_id": name, "stake": 100});
    let batch = json!({"batch_id": name, "entries": [{"player_id": name, "stake": 100}]});
    let issue = json!({"request_id": name, "user_id": name});
    [
        service.post("/v1/jackpots/busy/entries", entry).await,
        service.post("/v1/jackpots/calm/entry-batches", batch).await,
        service.post("/v1/coupons/gift/issues", issue).await,
        service.post("/v1/rooms/hall/tickets", json!({"user_id": name})).await,
    ]
}

async fn with_subjects() -> Service {
    let service = Service::start().await;
    for jackpot in ["busy", "calm"] {
        create(&service, lively(jackpot)).await;
    }
    let mut public = lively("shop");
    public["public_meter"] = json!(true);
    create(&service, public).await;
    let coupon = json!({"name": "gift", "stock": 100});
    service.put("/v1/coupons/gift", coupon).await.is(201);
    let room = json!({"capacity": 1, "session_s": 600, "waiting_timeout_s": 600});
    service.put("/v1/rooms/hall", room).await.is(201);
    service
}

async fn stop(service: &Service) {
    let answer = service.post("/v1/emergency-stop", json!({"reason": REASON})).await;
    answer.is(200);
    let state = (
        &answer.body["stopped"],
        &answer.body["reason"],
        &answer.body["unreached"],
    );
    assert_eq!(state, (&json!(true), &json!(REASON), &Value::Null), "{}", answer.text);
}

async fn start(service: &Service) {
    let answer = service.post("/v1/emergency-start", json!({"reason": "repaired"})).await;
    assert_answer!(answer, 200, {"stopped": false});
}

/// What answers and public pages that show a status say of the stop, with `status` untouched beside it.
async fn shown(service: &Service, stopped: &Value) {
    for path in [
        "/v1/jackpots/busy",
        "/v1/coupons/gift",
        "/v1/rooms/hall",
        "/v1/rooms/hall/status",
        "/v1/jackpots/busy/meter",
    ] {
        let body = service.get(path).await.body;
        assert_has!(body, {"stopped": stopped, "status": "open"}, "{path}");
    }
    for list in ["/v1/jackpots", "/v1/coupons", "/v1/rooms"] {
        let items = service.get(list).await.body["items"].clone();
        let items = items.as_array().expect("a list");
        assert!(
            !items.is_empty() && items.iter().all(|one| one["stopped"] == *stopped),
            "{list}: {items:?}"
        );
    }
    // Without a key, at most a second late.
    eventually(PATIENCE, "players read the reason, or no longer", async || {
        let page = http_client().get(service.url("/j/shop")).send().await;
        let page = page.expect("an answer").text().await.expect("text");
        let has_reason = page.contains("a &lt;leak&gt; in the payout table");
        let has_status = page.contains("data-status=\"stopped\"");
        ((has_reason, has_status) == (stopped.is_object(), stopped.is_object())).then_some(())
    })
    .await;
}

#[tokio::test]
async fn nothing_new_is_taken_and_all_else_goes_on() {
    let service = with_subjects().await;
    let before = service.get("/v1/emergency-stop").await;
    assert_eq!(before.body, json!({"stopped": false, "reason": null, "since": null}));
    let first = requests(&service, "old").await;
    assert!(
        first.iter().all(|answer| answer.status == StatusCode::CREATED),
        "{first:?}"
    );
    let waiting = service
        .post("/v1/rooms/hall/tickets", json!({"user_id": "waits"}))
        .await
        .body;
    assert_eq!(waiting["status"], "waiting");

    shown(&service, &Value::Null).await;
    stop(&service).await;
    let state = service.get("/v1/emergency-stop").await.body;
    shown(&service, &json!({"reason": REASON, "since": state["since"]})).await;
    for answer in requests(&service, "new").await {
        refused(&answer);
    }
    queues_and_uploads_take_nothing(&service).await;

    // Repeats.
    for (again, first) in requests(&service, "old").await.iter().zip(&first) {
        again.is(200);
        let id = ["entry_id", "batch_id", "request_id", "ticket"]
            .into_iter()
            .find(|id| first.body[*id].is_string());
        assert_eq!(again.body[id.expect("an id")], first.body[id.expect("an id")]);
    }
    // Looks, renewals and what follows from them: the place that is given up admits the next user.
    let ticket = |body: &Value| format!("/v1/rooms/hall/tickets/{}", body["ticket"].as_str().expect("a ticket"));
    let inside = ticket(&first[3].body);
    service.post(&format!("{inside}/renew"), json!({})).await.is(200);
    service.call(Method::DELETE, &inside, None).await.is(200);
    service
        .until(&ticket(&waiting), "the next user is admitted", |now| {
            now["status"] == "admitted"
        })
        .await;

    operators_work(&service).await;
    let ready = service.get("/readyz").await;
    assert_eq!(
        (ready.status, &ready.body["emergency_stop"]["unreached"]),
        (StatusCode::OK, &json!(0)),
        "{}",
        ready.text
    );
    let metrics = service.get("/metrics").await.text;
    metrics.says("jackpot_emergency_stopped 1\n");

    start(&service).await;
    shown(&service, &Value::Null).await;
    for answer in requests(&service, "new").await {
        answer.done();
    }
    assert_eq!(service.get("/readyz").await.body["emergency_stop"], Value::Null);
    let metrics = service.get("/metrics").await.text;
    metrics.says("jackpot_emergency_stopped 0\n");
    the_audit_trail_has_it(&service).await;
}

/// Requests for the queue of a coupon, and many in one upload.
async fn queues_and_uploads_take_nothing(service: &Service) {
    let queued = http_client()
        .post(service.url("/v1/coupons/gift/issues"))
        .bearer_auth(service.operator_key())
        .header("Prefer", "respond-async")
        .json(&json!({"request_id": "later", "user_id": "later"}))
        .send()
        .await
        .expect("an answer");
    assert_eq!(queued.status(), StatusCode::SERVICE_UNAVAILABLE);
    let bulk = http_client()
        .post(service.url("/v1/coupons/gift/bulk-issues"))
        .bearer_auth(service.operator_key())
        .header("Content-Type", "application/x-ndjson")
        .body("{\"request_id\":\"old\",\"user_id\":\"old\"}\n{\"request_id\":\"b2\",\"user_id\":\"b2\"}\n")
        .send()
        .await
        .expect("an answer")
        .text()
        .await
        .expect("text");
    let lines: Vec<Value> = bulk
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    assert_eq!(
        (lines.len(), &lines[0]["result"], &lines[1]["result"]),
        (2, &json!("issued"), &json!("stopped")),
        "{bulk}"
    );
    assert_eq!(lines[1]["code"], "stopped", "{bulk}");
    bulk.says(REASON);
}

async fn operators_work(service: &Service) {
    let adjusted = json!({"adjustment_id": "a1", "tier": "grand", "meter": "pool", "amount": 5, "reason": "meanwhile"});
    service.post("/v1/jackpots/busy/adjustments", adjusted).await.done();
    for verb in ["pause", "resume"] {
        service
            .post(&format!("/v1/jackpots/busy/{verb}"), json!({"reason": verb}))
            .await
            .is(200);
    }
    refused(&requests(service, "after-resume").await[0]);
    create(service, lively("born")).await;
    refused(
        &service
            .post(
                "/v1/jackpots/born/entries",
                json!({"entry_id": "a", "player_id": "a", "stake": 100}),
            )
            .await,
    );
}

async fn the_audit_trail_has_it(service: &Service) {
    for (action, reason, after) in [
        ("emergency-stop", REASON, "stopped"),
        ("emergency-start", "repaired", "taking"),
    ] {
        let rows = eventually(PATIENCE, "each subject says that it obeyed", async || {
            let rows = service.get(&format!("/v1/audit?action={action}")).await.body["items"]
                .as_array()
                .cloned()?;
            let targets: Vec<_> = ["busy", "calm", "coupon:gift", "room:hall"].into();
            let has = |target: &&str| {
                rows.iter()
                    .any(|row| target.ends_with(row["target"].as_str().unwrap_or("?")))
            };
            targets.iter().all(has).then_some(rows)
        })
        .await;
        for row in rows {
            assert_has!(row, {"reason": reason, "after": after, "who": "operator"});
        }
    }
    service.get("/v1/reconciliation").await.is(200);
}

#[tokio::test]
async fn a_repeat_decides_nothing_and_another_reason_does() {
    let service = with_subjects().await;
    stop(&service).await;
    let since = service.get("/v1/emergency-stop").await.body["since"].clone();
    stop(&service).await;
    let now = service.get("/v1/emergency-stop").await.body;
    assert_eq!((&now["since"], now["since"].is_string()), (&since, true), "{now}");
    let other = service.post("/v1/emergency-stop", json!({"reason": "worse"})).await;
    assert_answer!(other, 200, {"reason": "worse"});
    eventually(PATIENCE, "refusals have the new reason", async || {
        let detail = requests(&service, "new").await[0].body["detail"]
            .as_str()
            .expect("text")
            .to_owned();
        detail.contains("worse").then_some(())
    })
    .await;
    // A start of what takes requests is nothing to write down.
    start(&service).await;
    let ended = service.get("/v1/emergency-stop").await.body;
    let again = service.post("/v1/emergency-start", json!({"reason": "again"})).await;
    assert_eq!(again.is(200), &ended);
}

#[tokio::test]
async fn only_operators_stop_and_a_request_says_why() {
    let service = Service::start().await;
    create(&service, lively("busy")).await;
    for (arguments, statuses) in [
        (&["--role", "play", "--name", "play"][..], [403, 403, 403]),
        (&["--role", "read", "--name", "read"], [200, 403, 403]),
        (
            &["--role", "operate", "--name", "bound", "--only", "jackpot:busy"],
            [200, 403, 403],
        ),
    ] {
        let made = service.command(&[&["key", "new"], arguments].concat());
        let key = String::from_utf8(made.stdout).expect("text").trim().to_owned();
        let ask = async |method: Method, path: &str| {
            let request = http_client()
                .request(method.clone(), service.url(path))
                .bearer_auth(&key);
            let request = if method == Method::POST {
                request.json(&json!({"reason": "x"}))
            } else {
                request
            };
            request.send().await.expect("an answer").status().as_u16()
        };
        eventually(PATIENCE, "the key is honoured", async || {
            let status = ask(Method::GET, "/v1/emergency-stop").await;
            (status != 401 && status != 429).then_some(())
        })
        .await;
        let got = [
            ask(Method::GET, "/v1/emergency-stop").await,
            ask(Method::POST, "/v1/emergency-stop").await,
            ask(Method::POST, "/v1/emergency-start").await,
        ];
        assert_eq!(got, statuses, "{arguments:?}");
    }
    for body in [
        json!({}),
        json!({"reason": ""}),
        json!({"reason": "a\nb"}),
        json!({"reason": "a", "all": true}),
    ] {
        for verb in ["stop", "start"] {
            let answer = service.post(&format!("/v1/emergency-{verb}"), body.clone()).await;
            assert_eq!(
                (answer.status.as_u16(), &answer.body["code"]),
                (422, &json!("invalid-request")),
                "{body}"
            );
        }
    }
    assert_eq!(service.get("/v1/emergency-stop").await.body["stopped"], false);
}
