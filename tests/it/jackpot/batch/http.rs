//! The batch endpoint from outside: what it refuses by name, its limits, and what it answers.

use futures_util::future::join_all;

use crate::fault::support::{balanced, create};
use crate::jackpot::fixture::{document, rank};
use crate::support::prelude::*;
use crate::support::proxy::ChaosProxy;

const MAX: u64 = 9_007_199_254_740_991;

async fn send(service: &Service, jackpot: &str, body: Value) -> Answer {
    let path = format!("/v1/jackpots/{jackpot}/entry-batches");
    service.post(&path, body).await
}

fn players(batch_id: &str, count: usize) -> Value {
    let entries = (0..count).map(|i| json!({"player_id": format!("p{i}"), "stake": 100}));
    json!({"batch_id": batch_id, "entries": entries.collect::<Vec<_>>()})
}

/// A definition under which every entry draws rank 1, which pays one unit out of the pool.
fn all_win(id: &str) -> Value {
    document(
        id,
        &json!({"odds": {"total": 1, "ranks": [rank(1, &json!({"fixed": {"tier": "grand", "amount": 1}}))]}}),
    )
}

/// Sends the body as it is, also text that no JSON library would write.
async fn raw(service: &Service, body: String) -> (StatusCode, Value) {
    let request = crate::support::http_client()
        .post(service.url("/v1/jackpots/wrong/entry-batches"))
        .bearer_auth(service.operator_key())
        .header("content-type", "application/json")
        .body(body);
    let answer = request.send().await.expect("an answer");
    (answer.status(), answer.json().await.expect("a problem"))
}

#[tokio::test]
async fn what_is_wrong_is_named_and_nothing_is_taken() {
    let service = Service::start().await;
    create(&service, document("wrong", &json!({"max_stake": 1000}))).await;
    let entry = |change: &Value| {
        let mut entry = json!({"player_id": "p", "stake": 1});
        for (field, value) in change.as_object().expect("an object") {
            entry[field] = value.clone();
        }
        let good = json!({"player_id": "good", "stake": 1, "client_seed": null});
        json!({"batch_id": "b", "entries": [good, entry]})
    };
    let good = [json!({"player_id": "p", "stake": 1})];
    for (body, field) in [
        (json!({"entries": good}), "batch_id"),
        (json!({"batch_id": "b"}), "entries"),
        (json!({"batch_id": "b:1", "entries": good}), "batch_id"),
        (json!({"batch_id": "x".repeat(57), "entries": good}), "batch_id"),
        (json!({"batch_id": "b", "entries": []}), "entries"),
        (json!({"batch_id": "b", "entries": {}}), "entries"),
        (json!({"batch_id": "b", "entries": good, "more": 1}), "more"),
        (json!({"batch_id": "b", "entries": [["p", 1]]}), "entries[0]"),
        (entry(&json!({"player_id": "p 1"})), "entries[1].player_id"),
        (entry(&json!({"player_id": 7})), "entries[1].player_id"),
        (entry(&json!({"player_id": null})), "entries[1].player_id"),
        (entry(&json!({"stake": -1})), "entries[1].stake"),
        (entry(&json!({"stake": 1.0})), "entries[1].stake"),
        (entry(&json!({"stake": "1"})), "entries[1].stake"),
        (entry(&json!({"stake": MAX + 1})), "entries[1].stake"),
        (entry(&json!({"stake": 1001})), "entries[1].stake"),
        (entry(&json!({"client_seed": ""})), "entries[1].client_seed"),
        (entry(&json!({"client_seed": "a b"})), "entries[1].client_seed"),
        (entry(&json!({"client_seed": 1})), "entries[1].client_seed"),
        (entry(&json!({"entry_id": "mine"})), "entries[1].entry_id"),
        (players("b", 10_001), "entries"),
    ] {
        let answer = send(&service, "wrong", body).await;
        assert_eq!(
            answer.status,
            StatusCode::UNPROCESSABLE_ENTITY,
            "{field}: {}",
            answer.text
        );
        assert_eq!(
            (&answer.body["code"], &answer.body["errors"][0]["field"]),
            (&json!("invalid-request"), &json!(field)),
            "{}",
            answer.text
        );
    }
    for (body, field) in [
        (
            r#"{"batch_id":"b","entries":[{"player_id":"p","stake":1,"stake":1}]}"#,
            "entries[0].stake",
        ),
        (
            r#"{"batch_id":"b","batch_id":"b","entries":[{"player_id":"p","stake":1}]}"#,
            "batch_id",
        ),
    ] {
        let (status, problem) = raw(&service, body.to_owned()).await;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{problem}");
        assert_eq!(problem["errors"][0]["field"], field);
    }
    let (status, problem) = raw(&service, r#"{"batch_id":"b","entries":[{"player_id":7},"#.to_owned()).await;
    assert_eq!(
        (status, &problem["code"]),
        (StatusCode::BAD_REQUEST, &json!("invalid-json"))
    );
    let (status, problem) = raw(&service, " ".repeat(3_201_025)).await;
    assert_eq!(
        (status, &problem["code"]),
        (StatusCode::PAYLOAD_TOO_LARGE, &json!("too-large"))
    );
    send(&service, "unknown", players("b", 1))
        .await
        .refused(404, "jackpot-not-found");
    assert_eq!(balanced(&service, "wrong").await["contributed"], 0);
    let metrics = service.get("/metrics").await.text;
    metrics.says(r#"jackpot_entries_total{jackpot="wrong",result="refused"} 2"#);
}

#[tokio::test]
async fn ten_thousand_entries_of_the_longest_form_are_taken() {
    let service = Service::start().await;
    create(&service, document("long", &json!({"odds": {"total": 1, "ranks": []}}))).await;
    let (player, batch_id) = ("p".repeat(64), "b".repeat(56));
    let entry = json!({"player_id": player, "stake": MAX, "client_seed": "s".repeat(64)});
    let body = json!({"batch_id": batch_id, "entries": vec![entry; 10_000]});
    let answer = send(&service, "long", body).await;
    answer.is(201);
    let expected = json!({"batch_id": batch_id, "accepted": 10_000, "first_sequence": 1,
        "contributions": [{"tier": "grand", "amount": 10_000, "pool": 10_000}], "winners": []});
    assert_eq!(answer.body, expected);
    let last = service
        .get(&format!("/v1/jackpots/long/entries/{batch_id}:10000"))
        .await;
    last.is(200);
    assert_has!(last.body, {"sequence": 10_000, "player_id": player});
    assert_eq!(
        last.body["contributions"],
        json!([{"tier": "grand", "amount": 1, "pool": 10_000}])
    );
    service
        .get(&format!("/v1/jackpots/long/entries/{batch_id}:10001"))
        .await
        .is(404);
    let metrics = service.get("/metrics").await.text;
    metrics.says(r#"jackpot_entries_total{jackpot="long",result="accepted"} 10000"#);
}

#[tokio::test]
async fn ten_thousand_winners_are_paid_and_answered_again() {
    let service = Service::start().await;
    create(&service, all_win("all")).await;
    let body = players("all", 10_000);
    let answer = send(&service, "all", body.clone()).await;
    // The status may also be 200: on a busy machine the store repeats a call whose reply is late.
    answer.done();
    let winners = answer.body["winners"].as_array().expect("winners");
    assert_eq!(winners.len(), 10_000);
    for (i, winner) in (1..).zip(winners) {
        let outcome = &winner["outcome"];
        assert_eq!(
            (
                &winner["index"],
                &outcome["amount"],
                &outcome["claim_order"],
                &outcome["prize"]
            ),
            (&json!(i), &json!(1), &json!(i), &json!("fixed"))
        );
        assert_eq!(winner["entry_id"], format!("all:{i}"));
    }
    let meter = balanced(&service, "all").await;
    assert_has!(meter, {"paid": 10_000, "pool": 0});
    let again = send(&service, "all", body).await;
    assert_eq!((again.status, again.text == answer.text), (StatusCode::OK, true));
    assert!(again.is_replay());
    assert_eq!(balanced(&service, "all").await, meter);
    let one = service.get("/v1/jackpots/all/entries/all:7777").await.body;
    assert_eq!(one["outcome"], winners[7776]["outcome"]);
}

#[tokio::test]
async fn one_batch_sent_eight_times_at_once_counts_once() {
    let service = Service::start().await;
    create(&service, all_win("race")).await;
    let answers = join_all((0..8).map(|_| send(&service, "race", players("b", 500)))).await;
    let created = answers.iter().filter(|answer| answer.status == StatusCode::CREATED);
    assert_eq!(created.count(), 1);
    assert!(
        answers
            .iter()
            .all(|answer| answer.status.is_success() && answer.text == answers[0].text)
    );
    assert_eq!(balanced(&service, "race").await["contributed"], 500);
}

#[tokio::test]
async fn batches_and_entries_are_numbered_in_one_sequence() {
    let service = Service::start().await;
    create(&service, all_win("mixed")).await;
    let entry = async |id: &str| {
        let body = json!({"entry_id": id, "player_id": "p", "stake": 1});
        service.post("/v1/jackpots/mixed/entries", body).await.body
    };
    let first = entry("b").await;
    let batch = send(&service, "mixed", players("b", 3)).await.body;
    let last = entry("c").await;
    assert_eq!((&first["sequence"], &last["sequence"]), (&json!(1), &json!(5)));
    assert_eq!(batch["first_sequence"], 2);
    let orders = batch["winners"].as_array().expect("winners").iter();
    let orders = orders.map(|winner| winner["outcome"]["claim_order"].clone());
    assert_eq!(orders.collect::<Vec<_>>(), [json!(2), json!(3), json!(4)]);
    assert_eq!(last["outcome"]["claim_order"], 5);
}

#[tokio::test]
async fn a_lost_reply_is_asked_for_again_and_the_batch_counts_once() {
    let redis = own_redis(&[]).await;
    let proxy = ChaosProxy::in_front_of(redis.url()).await;
    let service = service_on(proxy.url(), &[]).await;
    create(&service, all_win("lost")).await;
    // This matches the call that takes the batch, which names the players, and not the look-up of the batch.
    proxy.lose_reply(&["FCALL", "batch-1", "p699 100"], 0);
    let answer = send(&service, "lost", players("batch-1", 700)).await;
    assert_eq!(proxy.lost(), 1);
    answer.done();

    // The service takes the lost reply for a Redis that is down, and then refuses before it asks.
    eventually(PATIENCE, "the service is ready again", async || {
        (service.get("/readyz").await.status == StatusCode::OK).then_some(())
    })
    .await;
    proxy.lose_reply_and_go_down(&["FCALL", "batch-2", "p299 100"], 0);
    send(&service, "lost", players("batch-2", 300))
        .await
        .refused(503, "store-unavailable");
    proxy.pass();
    let known = eventually(PATIENCE, "the same id is answered", async || {
        let answer = send(&service, "lost", players("batch-2", 300)).await;
        (answer.status != StatusCode::SERVICE_UNAVAILABLE).then_some(answer)
    })
    .await;
    assert_answer!(known, 200, {"first_sequence": 701});
    assert_eq!(balanced(&service, "lost").await["contributed"], 1000);
}

#[tokio::test]
async fn a_killed_service_answers_the_same_batch_as_before() {
    let mut service = Service::start().await;
    create(&service, all_win("kill")).await;
    let first = send(&service, "kill", players("b", 200)).await;
    service.kill9();
    service.restart().await;
    let again = send(&service, "kill", players("b", 200)).await;
    assert_eq!((again.status, &again.text), (StatusCode::OK, &first.text));
    assert_eq!(balanced(&service, "kill").await["contributed"], 200);
}

#[tokio::test]
async fn the_description_has_the_endpoint_with_its_limits() {
    let service = Service::start().await;
    let document = service.get("/openapi.json").await.body;
    let operation = &document["paths"]["/v1/jackpots/{id}/entry-batches"]["post"];
    for status in ["200", "201", "404", "409", "413", "422", "503"] {
        assert!(operation["responses"][status].is_object(), "{status}");
    }
    let body = &document["components"]["schemas"]["BatchBody"]["properties"];
    assert_has!(body["entries"], {"minItems": 1, "maxItems": 10_000});
    let entry = &document["components"]["schemas"]["BatchEntry"]["properties"];
    let fields = entry.as_object().expect("fields").keys().map(String::as_str);
    let fields = fields.collect::<std::collections::BTreeSet<_>>();
    assert_eq!(
        fields,
        ["client_seed", "player_id", "ranks", "source_id", "stake"].into()
    );
}
