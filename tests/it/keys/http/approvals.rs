//! Keys with the role `approve`, and owners of keys: what they read and do about payouts, also bound ones.

use super::support::{Asking, key};
use crate::support::prelude::*;

/// Two tracked jackpots: each entry wins 500, which is held.
async fn service() -> Service {
    let service = Service::start().await;
    for id in ["own", "other"] {
        let document = json!({"id": id, "name": "a test", "currency": "EUR", "contribution": {"fixed": 1},
            "settlement": "tracked", "approval_above": 500,
            "tiers": [{"tier": "grand", "share_ppm": 1_000_000, "min_payout": 1}],
            "odds": {"total": 1, "ranks": [{"rank": 1, "weight": 1, "prize": {"fixed": {"tier": "grand", "amount": 500}}}]}});
        service.put(&format!("/v1/jackpots/{id}"), document).await.is(201);
        let fund =
            json!({"adjustment_id": "f", "tier": "grand", "meter": "pool", "amount": 10_000, "reason": "a test"});
        service.post(&format!("/v1/jackpots/{id}/adjustments"), fund).await;
    }
    service
}

/// Wins a payout; its id once the ledger has it.
async fn win(service: &Service, jackpot: &str, entry_id: &str) -> String {
    let entry = json!({"entry_id": entry_id, "player_id": "p", "stake": 1});
    let won = service.post(&format!("/v1/jackpots/{jackpot}/entries"), entry).await;
    let payout_id = won.body["outcome"]["payout_id"].as_str().expect("a payout").to_owned();
    eventually(PATIENCE, "the payout is in the ledger", async || {
        let found = service.get(&format!("/v1/payouts/{payout_id}")).await;
        (found.status.as_u16() == 200).then_some(())
    })
    .await;
    payout_id
}

async fn step(asking: &Asking, payout_id: &str, action: &str, body: &Value) -> (u16, String) {
    let path = format!("/v1/payouts/{payout_id}/{action}");
    asking.ask(&Method::POST, &path, Some(body)).await
}

#[tokio::test]
async fn an_approve_key_reads_held_payouts_alone_and_approves_them() {
    let service = service().await;
    let payout_id = win(&service, "own", "e1").await;
    let bob = key(&service, "bob-approves", &["--role", "approve", "--owner", "bob"]).await;
    let eve = key(&service, "eve-settles", &["--role", "operate", "--owner", "eve"]).await;
    let get = async |path: &str| bob.ask(&Method::GET, path, None).await;
    let receipt = format!("/v1/payouts/{payout_id}");
    assert_eq!(get("/v1/payouts?state=held").await.0, 200);
    assert_eq!(get(&receipt).await.0, 200);
    assert_eq!(get(&format!("{receipt}/receipt")).await.0, 200);
    let held = bob.get("/v1/payouts?state=held").await;
    assert_eq!(held["items"][0]["payout_id"], payout_id.as_str());
    let refused = (403, "forbidden".to_owned());
    for path in [
        "/v1/payouts",
        "/v1/payouts?state=due",
        "/v1/jackpots/own",
        "/v1/jackpots",
        "/v1/audit",
        "/v1/entries?player_id=p",
        "/v1/reconciliation",
    ] {
        assert_eq!(get(path).await, refused, "{path}");
    }
    let entry = json!({"entry_id": "e2", "player_id": "p", "stake": 1});
    let entered = bob.ask(&Method::POST, "/v1/jackpots/own/entries", Some(&entry)).await;
    assert_eq!(entered, refused);
    let (reason, settle) = (
        json!({"reason": "r"}),
        json!({"settlement_id": "s1", "reference": "bank 1"}),
    );
    assert_eq!(
        step(&eve, &payout_id, "approve", &reason).await,
        refused,
        "operate is not approve"
    );
    assert_eq!(step(&bob, &payout_id, "settle", &settle).await, refused);
    assert_eq!(step(&bob, &payout_id, "void", &reason).await, refused);
    assert_eq!(
        step(&eve, &payout_id, "settle", &settle).await,
        (409, "payout-held".to_owned())
    );
    assert_eq!(step(&bob, &payout_id, "approve", &reason).await.0, 200);
    assert_eq!(get(&receipt).await, refused, "it is not held any more");
    let same = key(&service, "bob-settles", &["--role", "operate", "--owner", "bob"]).await;
    assert_eq!(
        step(&same, &payout_id, "settle", &settle).await,
        (403, "same-owner".to_owned())
    );
    assert_eq!(step(&eve, &payout_id, "settle", &settle).await.0, 200);
}

#[tokio::test]
async fn a_bound_key_steps_on_payouts_of_its_own_jackpot_alone() {
    let service = service().await;
    let (own, other) = (win(&service, "own", "e1").await, win(&service, "other", "e1").await);
    let bound = ["--only", "jackpot:own"];
    let bob = key(&service, "bob", &[&["--role", "approve"][..], &bound].concat()).await;
    let eve = key(&service, "eve", &[&["--role", "operate"][..], &bound].concat()).await;
    let (reason, settle) = (
        json!({"reason": "r"}),
        json!({"settlement_id": "s1", "reference": "bank 1"}),
    );
    let missing = (404, "payout-not-found".to_owned());
    assert_eq!(step(&bob, &other, "approve", &reason).await, missing);
    assert_eq!(step(&eve, &other, "settle", &settle).await, missing);
    assert_eq!(step(&eve, &other, "void", &reason).await, missing);
    assert_eq!(step(&bob, &own, "approve", &reason).await.0, 200);
    assert_eq!(step(&eve, &own, "settle", &settle).await.0, 200);
    let held = bob.get("/v1/payouts?state=held").await;
    assert_eq!(held["items"], json!([]), "that of the other jackpot is not shown");
    let foreign = bob
        .ask(&Method::GET, "/v1/payouts?state=held&jackpot_id=other", None)
        .await;
    assert_eq!(foreign, (403, "wrong-subject".to_owned()));
    let approval = bob
        .ask(&Method::POST, "/v1/jackpots/other/approvals/1", Some(&reason))
        .await;
    assert_eq!(approval, (403, "wrong-subject".to_owned()));
}

#[tokio::test]
async fn lists_show_and_filter_states_in_every_format() {
    let service = service().await;
    let [held, settled, voided] = [
        win(&service, "own", "e1").await,
        win(&service, "own", "e2").await,
        win(&service, "own", "e3").await,
    ];
    let bob = key(&service, "bob", &["--role", "approve"]).await;
    let (anna, eve) = (
        key(&service, "anna", &["--role", "operate"]).await,
        key(&service, "eve", &["--role", "operate"]).await,
    );
    let (reason, settle) = (
        json!({"reason": "r"}),
        json!({"settlement_id": "s1", "reference": "bank, 1"}),
    );
    assert_eq!(step(&bob, &settled, "approve", &reason).await.0, 200);
    assert_eq!(step(&eve, &settled, "settle", &settle).await.0, 200);
    assert_eq!(step(&eve, &voided, "void", &reason).await.0, 200);
    assert_eq!(step(&anna, &voided, "void", &reason).await.0, 200);
    for (state, payout_id) in [("held", &held), ("settled", &settled), ("void", &voided)] {
        let page = service.get(&format!("/v1/payouts?state={state}")).await.body;
        assert_eq!(page["items"].as_array().map(Vec::len), Some(1), "{state}: {page}");
        assert_eq!(page["items"][0]["payout_id"], payout_id.as_str());
        assert_eq!(page["items"][0]["state"], state);
    }
    for (state, count) in [("paid", 0), ("due", 0), ("failed", 0), ("void-requested", 0)] {
        let page = service.get(&format!("/v1/payouts?state={state}")).await.body;
        assert_eq!(page["items"].as_array().map(Vec::len), Some(count), "{state}");
    }
    service.get("/v1/payouts?state=gone").await.is(422);
    let text = async |accept: &str| {
        let request = eve.request(Method::GET, "/v1/payouts?jackpot_id=own");
        let answer = request.header("Accept", accept).send().await.expect("an answer");
        answer.text().await.expect("text")
    };
    let csv = text("text/csv").await;
    let header = csv.lines().next().expect("a header");
    assert!(header.ends_with(
        ",source_id,state,approved_by,settlement_id,settlement_reference,settlement_reason,settlement_at,voided_at,void_key_id,\
         void_signature"
    ));
    let row = csv.lines().find(|line| line.starts_with(&settled)).expect("a row");
    row.says(",settled,bob,s1,\"bank, 1\",,");
    let lines = text("application/x-ndjson").await;
    let rows: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let states: Vec<_> = rows.iter().map(|row| row["state"].as_str().expect("a state")).collect();
    assert_eq!(states, ["void", "settled", "held"]);
    assert_eq!(rows[0]["void_receipt"]["amount"], 500);
}
