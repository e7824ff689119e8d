//! Subscriptions in the console: made, tested, changed, paused, resumed, replayed, skipped, deleted, each after a look at what
//! it changes.

use std::time::Duration;

use super::fixture::{Operator, Page, key};
use crate::events::receiver::{Receiver, Reply};
use crate::support::given;
use crate::support::prelude::*;

const LIST: &str = "/console/subscriptions";
const HERE: &str = "/console/subscriptions/accounting";

/// The field that names the subject.
const SPRING: (&str, &str) = ("subject", "jackpot:spring");

/// A service whose entries win, with two payouts of the jackpot `spring`.
async fn service() -> Service {
    let service = Service::start_with(&[("JACKPOT__EVENTS__ALLOW_PRIVATE_TARGETS", "true")]).await;
    let odds = json!({"total": 1, "ranks": [given::rank(1, &json!({"fixed": {"tier": "grand", "amount": 7}}))]});
    let jackpot = given::document("spring", &json!({ "odds": odds }));
    service.put("/v1/jackpots/spring", jackpot).await.is(201);
    let funds = json!({"adjustment_id": "f", "tier": "grand", "meter": "pool", "amount": 1_000, "reason": "a test"});
    service.post("/v1/jackpots/spring/adjustments", funds).await;
    for number in 0..2 {
        let entry = json!({"entry_id": format!("e{number}"), "player_id": "p1", "stake": 100});
        service.post("/v1/jackpots/spring/entries", entry).await.is(201);
    }
    service
}

async fn until(service: &Service, what: &str, is_it: impl Fn(&Value) -> bool) -> Value {
    eventually(Duration::from_secs(30), what, async || {
        let shown = service.get("/v1/subscriptions/accounting").await.body;
        is_it(&shown).then_some(shown)
    })
    .await
}

/// Sends a form, then its preview with a reason.
async fn done(operator: &Operator, path: &str, fields: &[(&str, &str)]) -> Page {
    let preview = operator.submit(path, fields).await;
    preview.is(200);
    operator.submit_on(&preview, path, &[("reason", "a test")]).await
}

/// The reasons of its rows in the audit trail, newest first.
async fn reasons(service: &Service) -> Vec<(String, String)> {
    let rows = service.get("/v1/audit").await.body["items"].clone();
    let rows = rows.as_array().expect("items").iter().filter(|row| {
        let target = row["target"].as_str().expect("a target");
        target.starts_with("subscription:accounting")
    });
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    rows.map(|row| (text(&row["action"]), text(&row["reason"]))).collect()
}

#[tokio::test]
async fn a_subscription_is_made_tested_and_changed() {
    let service = service().await;
    let receiver = Receiver::start().await;
    let operator = Operator::sign_in(&service).await;
    let form = "/console/new-subscription";
    let wrong = [
        ("id", "accounting"),
        ("url", "ftp://x"),
        ("types", "payout.lost"),
        ("subjects", "*"),
        ("from", "beginning"),
    ];
    let refused = done(&operator, form, &wrong).await;
    refused.is(422);
    for field in ["f-url-error", "f-types-error"] {
        refused.html.says(field);
    }
    let url = receiver.url();
    let fields = [
        ("id", "accounting"),
        ("url", url.as_str()),
        ("types", "payout.*\njackpot.status"),
        ("subjects", "*"),
        ("from", "beginning"),
    ];
    let preview = operator.submit(form, &fields).await;
    preview.says("Each event is sent until its target takes it.");
    service.get("/v1/subscriptions/accounting").await.is(404);
    let made = operator
        .submit_on(&preview, form, &[("reason", "accounting wants them")])
        .await;
    assert_eq!(
        made.location(),
        format!("{HERE}?done=done-subscription-new"),
        "{}",
        made.text()
    );
    receiver.until("payout.created", 2).await;
    until(&service, "all is delivered", |shown| shown["streams"][0]["lag"] == 0).await;
    let page = operator.page(HERE).await;
    for text in ["running", "payout.*", "jackpot:spring", "whpk_", url.as_str()] {
        page.says(text);
    }
    operator.page(LIST).await.says("accounting running");
    let taken = operator.submit(form, &fields).await;
    taken.says("This id is taken.");

    let probed = operator.submit_on(&page, &format!("{HERE}/test"), &[]).await;
    probed.says("The target took the test event: 200.");
    receiver.until("test", 1).await;
    receiver.answer(|_| Reply::Status(503));
    let probed = operator.submit_on(&page, &format!("{HERE}/test"), &[]).await;
    probed.says("The test event was not delivered: the target answered 503");

    let change = format!("{HERE}/change");
    let unchanged = [&fields[1..]].concat();
    operator.submit(&change, &unchanged).await.is(422);
    let narrower = [fields[1], ("types", "payout.created"), fields[3], fields[4]];
    let changed = done(&operator, &change, &narrower).await;
    assert_eq!(
        changed.location(),
        format!("{HERE}?done=done-subscription-change"),
        "{}",
        changed.text()
    );
    let shown = until(&service, "it is changed", |shown| {
        shown["types"] == json!(["payout.created"])
    })
    .await;
    assert_eq!(shown["target"], json!({"webhook": {"url": url}}));
    let told = [("define", "a test"), ("define", "accounting wants them")];
    let told: Vec<_> = told
        .map(|(action, reason)| (action.to_owned(), reason.to_owned()))
        .into();
    assert_eq!(reasons(&service).await, told);
}

#[tokio::test]
async fn a_subscription_is_paused_resumed_replayed_skipped_and_deleted() {
    let service = service().await;
    let receiver = Receiver::start().await;
    let operator = Operator::sign_in(&service).await;
    let body = json!({"target": {"webhook": {"url": receiver.url()}}, "types": ["payout.created"], "subjects": ["*"],
        "from": "beginning"});
    service.put("/v1/subscriptions/accounting", body).await;
    let first = receiver.until("payout.created", 2).await.remove(0);
    until(&service, "all is delivered", |shown| shown["streams"][0]["lag"] == 0).await;
    for (verb, state) in [("pause", "paused"), ("resume", "running")] {
        let path = format!("{HERE}/{verb}");
        let preview = operator.page(&path).await;
        operator.submit_on(&preview, &path, &[("reason", "")]).await.is(422);
        let done = operator.submit_on(&preview, &path, &[("reason", "a test")]).await;
        assert_eq!(
            done.location(),
            format!("{HERE}?done=done-subscription-{verb}"),
            "{}",
            done.text()
        );
        until(&service, state, |shown| shown["state"] == state).await;
    }

    let replay = format!("{HERE}/replay?subject=jackpot:spring");
    let beyond = done(&operator, &replay, &[SPRING, ("from_n", "1000")]).await;
    beyond.is(422);
    beyond.html.says("f-from_n-error");
    let poison = first.id.clone();
    receiver.answer(move |got| Reply::Status(if got.id == poison { 422 } else { 200 }));
    let from_n = first.order().0.to_string();
    let replayed = done(&operator, &replay, &[SPRING, ("from_n", &from_n)]).await;
    assert_eq!(
        replayed.location(),
        format!("{HERE}?done=done-subscription-replay"),
        "{}",
        replayed.text()
    );
    until(&service, "it is refused", |shown| shown["state"] == "retrying").await;
    let page = operator.page(HERE).await;
    page.says("the target answered 422");

    let skip = format!("{HERE}/skip?subject=jackpot%3Aspring");
    page.html.says(&skip);
    let other = done(&operator, &skip, &[SPRING, ("id", "jackpot:spring:0:999:0")]).await;
    other.says(&first.id);
    let skipped = done(&operator, &skip, &[SPRING, ("id", &first.id)]).await;
    assert_eq!(
        skipped.location(),
        format!("{HERE}?done=done-subscription-skip"),
        "{}",
        skipped.text()
    );
    until(&service, "the second comes again", |shown| {
        shown["streams"][0]["lag"] == 0
    })
    .await;

    let delete = format!("{HERE}/delete");
    for _ in 0..2 {
        let preview = operator.get(&delete).await;
        if preview.status == StatusCode::NOT_FOUND {
            break;
        }
        let deleted = operator.submit_on(&preview, &delete, &[("reason", "a test")]).await;
        assert_eq!(
            deleted.location(),
            format!("{LIST}?done=done-subscription-delete"),
            "{}",
            deleted.text()
        );
    }
    service.get("/v1/subscriptions/accounting").await.is(404);
    operator.page(LIST).await.says("There is no subscription.");
    let actions: Vec<_> = reasons(&service).await;
    let told = ["delete", "skip", "replay", "resume", "pause"].map(|action| (action.to_owned(), "a test".to_owned()));
    assert_eq!(actions[..5], told);
}

#[tokio::test]
async fn the_overview_names_a_subscription_that_is_late() {
    let service = service().await;
    let receiver = Receiver::answering(|_| Reply::Status(503)).await;
    let operator = Operator::sign_in(&service).await;
    operator.overview("Nothing needs attention.").await;
    let body = json!({"target": {"webhook": {"url": receiver.url()}}, "types": ["payout.created"], "subjects": ["*"],
        "from": "beginning"});
    service.put("/v1/subscriptions/accounting", body).await;
    let page = operator.overview("accounting · retrying · 2 events late").await;
    page.hides("Nothing needs attention.");
}

#[tokio::test]
async fn a_reader_sees_it_and_changes_nothing() {
    let service = service().await;
    let receiver = Receiver::start().await;
    let body = json!({"target": {"webhook": {"url": receiver.url()}}, "types": ["*"], "subjects": ["*"]});
    service.put("/v1/subscriptions/accounting", body).await;
    let reader = Operator::sign_in_with(&service, &key(&service, "read").await).await;
    let page = reader.page(HERE).await;
    for action in ["/test", "/pause", "/change", "/delete", "/replay"] {
        assert!(
            !page.html.contains(&format!("{HERE}{action}")),
            "{action} in {}",
            page.html
        );
    }
    reader.page(LIST).await.html.hides("new-subscription");
    let preview = reader.page(&format!("{HERE}/pause")).await;
    let refused = reader
        .submit_on(&preview, &format!("{HERE}/pause"), &[("reason", "a test")])
        .await;
    assert_ne!(refused.status, StatusCode::SEE_OTHER);
    assert_eq!(
        service.get("/v1/subscriptions/accounting").await.body["state"],
        "running"
    );
}
