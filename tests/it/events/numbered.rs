//! Every event of the ledger goes out: `n` and `i` are dense, a repeat is the same text, and a receipt names its event.

use std::collections::BTreeMap;

use super::receiver::{Got, Receiver};
use super::{jackpot, made, play, posted, shown, stream, subscribe};
use crate::coupon::http::support::send;
use crate::keys::http::support::key;
use crate::support::prelude::*;

on_both_databases!(
    a_coupon_prize_is_told_as_its_entry_is_shown,
    everything_goes_out_numbered_without_a_gap,
    the_steps_of_payouts_go_out_as_they_were
);

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
        let body =
            json!({"request_id": format!("r{i}"), "user_id": format!("u{i}"), "metadata": {"order": i.to_string()}});
        service.post("/v1/coupons/gift/issues", body).await;
    }
    service
        .call(Method::DELETE, "/v1/coupons/gift/issues/r1", None)
        .await
        .done();
    let till = json!({"redemption_id": "till-1", "reference": "receipt 7"});
    posted(service, "/v1/coupons/gift/issues/r0/redeem", till).await;
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
        by_type.entry(one.kind.clone()).or_default().push(one.clone());
    }
    by_type
}

async fn everything_goes_out_numbered_without_a_gap(db: LedgerDb) {
    let service = Service::start_with(&[super::ALLOWED, db.environment()]).await;
    story(&service).await;
    let receiver = Receiver::start().await;
    subscribe(&service, "all", &receiver.url(), &["*"], &["*"]).await;
    receiver.until("payout.created", 603).await;
    receiver.until("coupon.redeemed", 1).await;
    // The ledger may not have the last events of a subject yet, and its lag is 0 then.
    receiver.until("jackpot.status", 2).await;
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
        let path = format!("/v1/payouts/{}/receipt", data["payout_id"].as_str().expect("an id"));
        assert_eq!(service.get(&path).await.body, *data);
    }
    let of_coupon = dense(&by_subject["coupon:gift"]);
    assert_eq!(of_coupon["coupon.issued"].len(), 2);
    let listed = service.get("/v1/coupons/gift/issues").await.body;
    for (kind, place) in [("coupon.redeemed", 0), ("coupon.voided", 1)] {
        let [one] = &of_coupon[kind][..] else {
            panic!("{of_coupon:?}");
        };
        let (mut data, mut row) = (one.json()["data"].clone(), listed["items"][place].clone());
        assert_eq!(data["metadata"], json!({"order": place.to_string()}), "{kind}");
        // The row has what there is not, too.
        row.as_object_mut().expect("a row").retain(|_, value| !value.is_null());
        data.as_object_mut().expect("data").remove("result");
        assert_eq!(data, row, "{kind}");
    }
    dense(&by_subject["room:lobby"]);
    repeated(&service, &receiver, &by_subject["jackpot:all"]).await;
    let verified = exported(&service, "all");
    verified.says("receipts");
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
    export.done();
    let verify = service.command(&["verify", path]);
    verify.done().words().into_owned()
}

/// A tracked jackpot pays four times at once; then one payout is settled after a failure, one is taken back by two owners.
/// Returns the ids of the payouts.
async fn tracked(service: &Service) -> Vec<String> {
    let rank = crate::support::given::rank(1, &json!({"fixed": {"tier": "grand", "amount": 7}}));
    let change = json!({"odds": {"total": 1, "ranks": [rank]}, "settlement": "tracked", "approval_above": 8});
    made(
        service,
        "/v1/jackpots/paid",
        crate::support::given::document("paid", &change),
    )
    .await;
    let funds = json!({"adjustment_id": "f", "tier": "grand", "meter": "pool", "amount": 1_000, "reason": "a test"});
    posted(service, "/v1/jackpots/paid/adjustments", funds).await;
    let entries: Vec<Value> = (0..4).map(|_| json!({"player_id": "p", "stake": 100})).collect();
    posted(
        service,
        "/v1/jackpots/paid/entry-batches",
        json!({"batch_id": "b", "entries": entries}),
    )
    .await;
    let deadline = std::time::Duration::from_secs(30);
    let ids: Vec<String> = crate::support::eventually(deadline, "the payouts are in the ledger", async || {
        let listed = service.get("/v1/payouts?jackpot_id=paid").await.body;
        let items = listed["items"].as_array().filter(|items| items.len() == 4)?;
        // Newest first.
        let ids = items
            .iter()
            .rev()
            .map(|item| item["payout_id"].as_str().map(str::to_owned));
        ids.collect::<Option<_>>()
    })
    .await;
    let other = key(service, "other", &["--role", "operate", "--owner", "other"]).await;
    let act = |id: &str, action: &str| format!("/v1/payouts/{id}/{action}");
    let failed = json!({"settlement_id": "s1", "reason": "no account"});
    posted(service, &act(&ids[0], "fail"), failed).await;
    let settled = json!({"settlement_id": "s2", "reference": "=bank 1"});
    posted(service, &act(&ids[0], "settle"), settled).await;
    let reason = json!({"reason": "a mistake"});
    posted(service, &act(&ids[1], "void"), reason.clone()).await;
    let (status, _) = other.ask(&Method::POST, &act(&ids[1], "void"), Some(&reason)).await;
    assert_eq!(status, 200);
    ids
}

/// An entry that drew a coupon is finished after its block.
async fn a_coupon_prize_is_told_as_its_entry_is_shown(db: LedgerDb) {
    let service = Service::start_with(&[super::ALLOWED, db.environment()]).await;
    made(&service, "/v1/coupons/gift", json!({"name": "gift", "stock": 2})).await;
    let rank = crate::support::given::rank(1, &json!({"coupon": {"coupon_id": "gift"}}));
    let change = json!({"odds": {"total": 1, "ranks": [rank]}});
    made(
        &service,
        "/v1/jackpots/won",
        crate::support::given::document("won", &change),
    )
    .await;
    let receiver = Receiver::start().await;
    subscribe(&service, "won", &receiver.url(), &["entry.finished"], &["jackpot:won"]).await;
    // The request has the epoch from the second one on.
    play(&service, "won", "first").await;
    let reason = json!({"reason": "a test"});
    posted(&service, "/v1/jackpots/won/fairness/rotate", reason).await;
    let body = json!({"entry_id": "second", "player_id": "p2", "stake": 100});
    posted(&service, "/v1/jackpots/won/entries", body).await;
    receiver.until("entry.finished", 2).await;
    for one in receiver.taken() {
        let data = one.json()["data"].clone();
        let entry = data["entry_id"].as_str().expect("an id");
        let shown = service.get(&format!("/v1/jackpots/won/entries/{entry}")).await.body;
        assert_eq!(data["coupon"], shown["outcome"]["coupon"], "{data}");
        assert!(data["coupon"]["request_id"].is_string(), "{data}");
    }
}

async fn the_steps_of_payouts_go_out_as_they_were(db: LedgerDb) {
    let service = Service::start_with(&[super::ALLOWED, db.environment()]).await;
    let ids = tracked(&service).await;
    // All steps were taken before the first event goes out.
    let receiver = Receiver::start().await;
    subscribe(&service, "paid", &receiver.url(), &["*"], &["jackpot:paid"]).await;
    receiver.until("payout.void", 1).await;
    let of_jackpot = dense(&receiver.taken());
    let told = |kind: &str| -> Vec<Value> {
        let events = of_jackpot.get(kind).map(Vec::as_slice).unwrap_or_default();
        events.iter().map(|one| one.json()["data"].clone()).collect()
    };
    let texts = |kind: &str, field: &str| -> Vec<Value> { told(kind).iter().map(|data| data[field].clone()).collect() };
    assert_eq!(texts("payout.created", "payout_id"), ids);
    for one in &of_jackpot["payout.created"] {
        assert_eq!(
            one.json()["data"]["event_id"],
            one.id,
            "tracking does not change the ids of receipts"
        );
    }
    assert_eq!(texts("payout.due", "payout_id"), ids);
    assert_eq!(texts("payout.due", "state"), vec!["due"; 4]);
    assert_eq!(texts("payout.due", "settlement"), vec![Value::Null; 4]);
    let [failed] = &told("payout.failed")[..] else {
        panic!("{of_jackpot:?}")
    };
    let [settled] = &told("payout.settled")[..] else {
        panic!("{of_jackpot:?}")
    };
    let [void] = &told("payout.void")[..] else {
        panic!("{of_jackpot:?}")
    };
    assert_eq!(
        (&failed["state"], &failed["settlement"]["reason"]),
        (&json!("failed"), &json!("no account"))
    );
    assert_eq!(
        (&settled["state"], &settled["settlement"]["reference"]),
        (&json!("settled"), &json!("=bank 1"))
    );
    let listed = service.get("/v1/payouts?jackpot_id=paid").await.body;
    let row = |id: &str| {
        listed["items"]
            .as_array()
            .expect("rows")
            .iter()
            .find(|row| row["payout_id"] == id)
            .cloned()
    };
    assert_eq!(
        Some(settled.clone()),
        row(&ids[0]),
        "the last step is the row as it is now"
    );
    assert_eq!(Some(void.clone()), row(&ids[1]));
    assert_eq!(void["void_receipt"]["amount"], 7);
    let (path, csv) = ("/v1/payouts?jackpot_id=paid", [("accept", "text/csv")]);
    let (_, _, text) = send(&service, Method::GET, path, &csv, "").await;
    text.says(",'=bank 1,");
    let public = service.get("/v1/jackpots/paid/definitions/1").await.body;
    assert_eq!(public["settlement"], "tracked");
    assert!(
        of_jackpot.contains_key("stream.step"),
        "the request for a void has no type of its own"
    );
    exported(&service, "paid");
}
