//! Every event of the ledger goes out: `n` and `i` are dense, a repeat is the same text, and a receipt names its event.

use std::collections::BTreeMap;

use reqwest::Method;
use serde_json::{Value, json};

use super::receiver::{Got, Receiver};
use super::{jackpot, made, play, posted, shown, stream, subscribe};
use crate::support::ledger_db::{LedgerDb, on_both_databases};
use crate::support::service::Service;

on_both_databases!(everything_goes_out_numbered_without_a_gap);

/// A story with events of many types.
async fn story(service: &Service) {
    jackpot(service, "all").await;
    for i in 0..3 {
        play(service, "all", &format!("e{i}")).await;
    }
    // Longest ids: its entries take several parts, and all of them are paid after the last one.
    let player = "p".repeat(64);
    let entries: Vec<Value> = (0..600).map(|_| json!({"player_id": player, "stake": 100})).collect();
    posted(
        service,
        "/v1/jackpots/all/entry-batches",
        json!({"batch_id": "b", "entries": entries}),
    )
    .await;
    let reason = json!({"reason": "a test"});
    posted(service, "/v1/jackpots/all/pause", reason.clone()).await;
    posted(service, "/v1/jackpots/all/resume", reason.clone()).await;
    made(service, "/v1/coupons/gift", json!({"name": "gift", "stock": 2})).await;
    for i in 0..3 {
        let body = json!({"request_id": format!("r{i}"), "user_id": format!("u{i}")});
        service.post("/v1/coupons/gift/issues", body).await;
    }
    let voided = service.call(Method::DELETE, "/v1/coupons/gift/issues/r1", None).await;
    assert!(voided.status.is_success(), "{}", voided.text);
    let room = json!({"capacity": 5, "session_s": 60, "waiting_timeout_s": 60});
    made(service, "/v1/rooms/lobby", room).await;
}

/// Checks that `n` and `i` of a subject have no gap. Returns the events by type.
fn dense(got: &[Got]) -> BTreeMap<String, Vec<Got>> {
    let mut next = (1, 0);
    let mut by_type: BTreeMap<String, Vec<Got>> = BTreeMap::new();
    for one in got {
        let (n, i) = one.order();
        assert!(
            (n, i) == next || (n == next.0 + 1 && i == 0 && next.1 > 0),
            "{} after {next:?}",
            one.id
        );
        next = (n, i + 1);
        let json = one.json();
        assert_eq!(json["sequence"], format!("{n:013}.{i:06}"));
        assert_eq!(json["subject"], one.subject());
        by_type.entry(one.kind()).or_default().push(one.clone());
    }
    by_type
}

async fn everything_goes_out_numbered_without_a_gap(db: LedgerDb) {
    let service = Service::start_with(&[super::ALLOWED, db.environment()]).await;
    story(&service).await;
    let receiver = Receiver::start().await;
    subscribe(&service, "all", &receiver.url(), &["*"], &["*"]).await;
    receiver.until("payout.created", 603).await;
    receiver.until("coupon.voided", 1).await;
    let ended = shown(&service, "all", "all is delivered", |shown| {
        let streams = shown["streams"].as_array().cloned().unwrap_or_default();
        streams.len() == 3 && streams.iter().all(|stream| stream["lag"] == 0)
    });
    let ended = ended.await;
    let mut by_subject: BTreeMap<String, Vec<Got>> = BTreeMap::new();
    for one in receiver.taken() {
        by_subject.entry(one.subject()).or_default().push(one);
    }
    for (subject, got) in &by_subject {
        let last = got.last().expect("an event").order().0;
        assert!(
            stream(&ended, subject)["delivered_n"].as_u64() >= Some(last),
            "{subject}"
        );
    }
    let of_jackpot = dense(&by_subject["jackpot:all"]);
    let count = |kind: &str| of_jackpot.get(kind).map_or(0, Vec::len);
    assert_eq!(
        ["jackpot.defined", "epoch.opened", "adjustment.made", "jackpot.status"].map(count),
        [1, 1, 1, 2]
    );
    parts(&of_jackpot["entry.taken"]);
    for one in &of_jackpot["payout.created"] {
        let data = &one.json()["data"];
        assert_eq!(data["event_id"], one.id, "a receipt names its own event");
        let path = format!("/v1/payouts/{}", data["payout_id"].as_str().expect("an id"));
        assert_eq!(service.get(&path).await.body, *data);
    }
    let of_coupon = dense(&by_subject["coupon:gift"]);
    assert_eq!(
        (of_coupon["coupon.issued"].len(), of_coupon["coupon.voided"].len()),
        (2, 1)
    );
    dense(&by_subject["room:lobby"]);
    repeated(&service, &receiver, &by_subject["jackpot:all"]).await;
    let verified = exported(&service, "all");
    assert!(verified.contains("receipts"), "{verified}");
}

/// Entries are in the order of their sequences, in parts that are not too large.
fn parts(taken: &[Got]) {
    let (mut sequence, mut most) = (0, 0);
    for one in taken {
        assert!(one.body.len() <= 60_000, "{} bytes", one.body.len());
        let data = &one.json()["data"];
        most = most.max(data["parts"].as_u64().expect("a number"));
        for entry in data["entries"].as_array().expect("entries") {
            sequence += 1;
            assert_eq!(entry["sequence"], sequence);
            assert_eq!(entry["contributions"][0]["tier"], "grand");
        }
    }
    assert_eq!(sequence, 603);
    assert!(most > 1, "the batch has several parts");
}

/// What is delivered again is the same text.
async fn repeated(service: &Service, receiver: &Receiver, first: &[Got]) {
    let before = receiver.taken().len();
    let body = json!({"subject": "jackpot:all", "from_n": 1});
    posted(service, "/v1/subscriptions/all/replay", body).await;
    let again = crate::support::eventually(std::time::Duration::from_mins(1), "all comes again", async || {
        let again = receiver.taken().split_off(before);
        let again: Vec<Got> = again.into_iter().filter(|one| one.subject() == "jackpot:all").collect();
        (again.len() >= first.len()).then_some(again)
    })
    .await;
    for (one, other) in first.iter().zip(&again) {
        assert_eq!(one.body, other.body);
    }
}

/// The verifier knows which `i` a receipt names.
fn exported(service: &Service, jackpot: &str) -> String {
    let file = service.data_dir().join("export.ndjson");
    let path = file.to_str().expect("a path");
    let export = service.command(&["export", jackpot, "--output", path]);
    assert!(
        export.status.success(),
        "{}",
        crate::support::service::output_text(&export)
    );
    let verify = service.command(&["verify", path]);
    let text = crate::support::service::output_text(&verify);
    assert!(verify.status.success(), "{text}");
    text
}
