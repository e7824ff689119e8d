//! What a message means: the same as its request over HTTP.

use std::collections::BTreeMap;

use super::bus::Bus;
use super::{DEADLINE, by_id, content, entry, make_key, service, taken_once};
use crate::console::fixture::Operator;
use crate::support::brokers::Kept;
use crate::support::prelude::*;

fn issue(target: &str, request: &str, user: &str) -> String {
    let body = json!({"request_id": request, "user_id": user});
    json!({"kind": "issue", "target": target, "body": body}).to_string()
}

/// Status and content of each reply, by the id of its request.
fn replies(kept: &[Kept]) -> BTreeMap<String, Vec<Value>> {
    let mut all: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for one in kept.iter().map(content) {
        all.entry(one["id"].as_str().expect("an id").to_owned())
            .or_default()
            .push(one);
    }
    all
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_is_answered_as_its_request_is() {
    let bus = Bus::start().await;
    let service = service(&bus.environment(), &[]).await;
    service
        .put("/v1/coupons/gift", json!({"name": "gift", "stock": 1}))
        .await
        .is(201);
    let of = |key: &str, content: String| (Some(key.to_owned()), content);
    bus.send([
        of("p1", entry("spring", "e1", "p1")),
        of("p1", entry("spring", "e1", "p1")),
        of("p1", issue("gift", "r1", "u1")),
        of("p1", issue("gift", "r2", "u2")),
        of("p1", entry("spring", "e1", "p2")),
        (None, entry("winter", "e2", "p1")),
    ])
    .await;
    let (answers, dead) = bus.outcome(6).await;
    let answers = replies(&answers);
    // Its repeat has the same answer, with 200.
    let of_entry = &answers["e1"];
    assert_eq!(
        of_entry.iter().map(|one| one["status"].as_u64()).collect::<Vec<_>>(),
        [Some(201), Some(200)]
    );
    assert_eq!(of_entry[0]["body"], of_entry[1]["body"]);
    let shown = service.get("/v1/jackpots/spring/entries/e1").await;
    assert_eq!(of_entry[0]["body"], shown.body);
    assert_has!(of_entry[0], {"kind": "entry", "target": "spring",
        "message": {"topic": "requests", "lane": "0", "position": 1, "key": "p1"}});
    let issued = &answers["r1"][0];
    assert_eq!(
        (&issued["status"], &issued["body"]["result"]),
        (&json!(201), &json!("issued"))
    );
    let codes: Vec<_> = dead.iter().map(|one| content(one)["problem"]["code"].clone()).collect();
    for code in ["out-of-stock", "entry-id-reused", "jackpot-not-found"] {
        assert_eq!(
            codes.iter().filter(|found| *found == code).count(),
            1,
            "{code}: {codes:?}"
        );
    }
    let refused = dead
        .iter()
        .map(content)
        .find(|one| one["problem"]["code"] == "out-of-stock");
    let refused = refused.expect("it is there");
    assert_eq!(
        (&refused["content"], &refused["problem"]["status"], &refused["is_whole"]),
        (&json!(issue("gift", "r2", "u2")), &json!(409), &json!(true))
    );
    // Exactly one thing goes out for a message.
    assert_eq!((answers.values().map(Vec::len).sum::<usize>(), dead.len()), (3, 3));
    let metrics = service.get("/metrics").await.text;
    for line in [
        "jackpot_intake_messages_total{result=\"taken\"} 3",
        "jackpot_intake_messages_total{result=\"refused\"} 3",
        "jackpot_intake_broker_up{topic=\"requests\"} 1",
    ] {
        metrics.says(line);
    }
    let operator = Operator::sign_in(&service).await;
    let page = operator.page("/console/instances").await.text();
    page.says("Messages of jackpot:bus/requests");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_request_is_a_dead_letter_with_the_rule_it_breaks() {
    let bus = Bus::start().await;
    let service = service(&bus.environment(), &[]).await;
    let valid = json!({"entry_id": "e1", "player_id": "p1", "stake": 100});
    let long = "x".repeat(70_000);
    let wrong = [
        ("{".to_owned(), "invalid-json", 400, ""),
        ("17".to_owned(), "invalid-request", 422, ""),
        (
            json!({"kind": "play", "target": "spring", "body": valid}).to_string(),
            "invalid-request",
            422,
            "kind",
        ),
        (
            json!({"kind": "entry", "target": "no/where", "body": valid}).to_string(),
            "invalid-request",
            422,
            "target",
        ),
        (
            json!({"kind": "entry", "target": "spring", "body": {"entry_id": "e1"}}).to_string(),
            "invalid-request",
            422,
            "player_id",
        ),
        (
            json!({"kind": "entry", "target": "spring", "body": {"entry_id": long}}).to_string(),
            "too-large",
            413,
            "",
        ),
        (
            json!({"kind": "entry", "target": "spring"}).to_string(),
            "invalid-request",
            422,
            "body",
        ),
        (String::new(), "invalid-json", 400, ""),
    ];
    bus.send(wrong.iter().map(|(content, ..)| (None, content.clone())))
        .await;
    // It is taken after all of them.
    bus.send([(None, entry("spring", "e1", "p1"))]).await;
    let (answers, dead) = bus.outcome(wrong.len() + 1).await;
    taken_once(&service, &answers, 1).await;
    assert_eq!(dead.len(), wrong.len());
    let letters = by_id(&dead);
    for (index, (original, code, status, field)) in wrong.iter().enumerate() {
        let letter = &letters[&format!("dead:requests:0:{}", index + 1)];
        let problem = &letter["problem"];
        assert_has!(problem, {"code": code, "status": status}, "{letter}");
        assert_eq!(letter["content"], original.as_str(), "{code}");
        if !field.is_empty() {
            let errors = problem["errors"].as_array().expect("errors");
            assert!(
                errors.iter().any(|error| error["field"] == *field),
                "{field}: {problem}"
            );
        }
    }
}

/// The role, the subjects and the end of the key hold for messages; without a key they wait.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn messages_have_the_rights_of_their_key_and_wait_without_one() {
    let bus = Bus::start().await;
    let service = service(&bus.environment(), &[]).await;
    bus.send([(None, entry("spring", "e1", "p1"))]).await;
    bus.outcome(1).await;
    revoke(&service).await;
    bus.send([(None, entry("spring", "e2", "p1")), (None, entry("winter", "e1", "p1"))])
        .await;
    waits(&service, "there is no valid API key named games").await;
    make_key(&service, &["--role", "read"]);
    waits(&service, "has the role read").await;
    revoke(&service).await;
    make_key(&service, &["--role", "play", "--only", "jackpot:spring"]);
    let (answers, dead) = bus.outcome(3).await;
    taken_once(&service, &answers, 2).await;
    assert_eq!(
        (dead.len(), &content(&dead[0])["problem"]["code"]),
        (1, &json!("wrong-subject"))
    );
}

async fn revoke(service: &Service) {
    let gone = || service.log().matches("API key revoked").count();
    let before = gone();
    assert!(service.command(&["key", "revoke", super::KEY]).status.success());
    eventually(DEADLINE, "the key is gone", async || (gone() > before).then_some(())).await;
}

/// Until the log names the cause, and a message waits: it may have named that before, when the first message came before
/// the key.
async fn waits(service: &Service, cause: &str) {
    eventually(DEADLINE, cause, async || {
        let metrics = service.get("/metrics").await.text;
        let nothing_waits = metrics.contains("jackpot_intake_retrying_messages 0");
        (service.log().contains(cause) && !nothing_waits).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn messages_of_a_key_are_taken_one_after_the_other() {
    const KEYS: usize = 20;
    const EACH: usize = 40;
    let bus = Bus::start().await;
    let service = service(&bus.environment(), &[]).await;
    let all = (0..KEYS * EACH).map(|i| {
        let (key, player) = (format!("k{}", i % KEYS), format!("p{i}"));
        (Some(key), entry("spring", &format!("e{i}"), &player))
    });
    bus.send(all).await;
    let (answers, dead) = bus.outcome(KEYS * EACH).await;
    assert_eq!(dead, []);
    taken_once(&service, &answers, KEYS * EACH).await;
    let mut last: BTreeMap<&str, u64> = BTreeMap::new();
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for answer in &answers {
        let found = content(answer);
        let key = answer.key.as_str();
        // The order of its requests, of its entries, and of its replies is the same.
        let place = seen.entry(key).or_default();
        let expected = format!("e{}", *place * KEYS + key[1..].parse::<usize>().expect("a number"));
        assert_eq!(found["id"], expected.as_str(), "{key}");
        *place += 1;
        let sequence = found["body"]["sequence"].as_u64().expect("a number");
        assert!(
            last.insert(key, sequence).is_none_or(|before| before < sequence),
            "{key}"
        );
    }
    assert_eq!(seen.len(), KEYS);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_emergency_stop_holds_messages_and_loses_none() {
    let bus = Bus::start().await;
    let service = service(&bus.environment(), &[]).await;
    let stopped = service.post("/v1/emergency-stop", json!({"reason": "a test"})).await;
    stopped.done();
    bus.send((0..20).map(|i| (Some(format!("p{i}")), entry("spring", &format!("e{i}"), "p1"))))
        .await;
    waits(&service, "/problems/stopped").await;
    service
        .post("/v1/emergency-start", json!({"reason": "a test"}))
        .await
        .done();
    let (answers, dead) = bus.outcome(20).await;
    assert_eq!(dead, []);
    taken_once(&service, &answers, 20).await;
}
