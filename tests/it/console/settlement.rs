//! The settlement desk: what a step changes is shown first, each is done once, and by whom it may be done.

use super::fixture::{Operator, between};
use crate::keys::http::support::key;
use crate::support::prelude::*;

/// A jackpot in which each entry wins € 5.00, which is held, and two payouts of it.
async fn service() -> (Service, Vec<String>) {
    let service = Service::start().await;
    let document = json!({"id": "spring", "name": "Spring", "currency": "EUR", "contribution": {"fixed": 1},
        "settlement": "tracked", "approval_above": 500,
        "tiers": [{"tier": "grand", "share_ppm": 1_000_000, "min_payout": 1}],
        "odds": {"total": 1, "ranks": [{"rank": 1, "weight": 1, "prize": {"fixed": {"tier": "grand", "amount": 500}}}]}});
    service.put("/v1/jackpots/spring", document).await;
    let fund = json!({"adjustment_id": "f", "tier": "grand", "meter": "pool", "amount": 10_000, "reason": "a test"});
    service.post("/v1/jackpots/spring/adjustments", fund).await;
    let mut payouts = Vec::new();
    for number in 0..2 {
        let entry = json!({"entry_id": format!("e{number}"), "player_id": "p7", "stake": 1});
        let won = service.post("/v1/jackpots/spring/entries", entry).await;
        payouts.push(won.body["outcome"]["payout_id"].as_str().expect("a payout").to_owned());
    }
    eventually(PATIENCE, "the payouts are in the ledger", async || {
        let page = service.get("/v1/payouts").await.body;
        (page["items"].as_array()?.len() == 2).then_some(())
    })
    .await;
    (service, payouts)
}

async fn state(service: &Service, payout_id: &str) -> String {
    let page = service.get("/v1/payouts").await.body;
    let items = page["items"].as_array().expect("items").clone();
    let row = items
        .into_iter()
        .find(|row| row["payout_id"] == payout_id)
        .expect("a row");
    row["state"].as_str().expect("a state").to_owned()
}

#[tokio::test]
async fn a_payout_is_approved_failed_and_settled_after_a_look() {
    let (service, payouts) = service().await;
    let (bob, eve) = (
        key(&service, "bob", &["--role", "approve"]).await,
        key(&service, "eve", &["--role", "operate"]).await,
    );
    let (bob, eve) = (
        Operator::sign_in_with(&service, bob.secret()).await,
        Operator::sign_in_with(&service, eve.secret()).await,
    );
    let at = |step: &str| format!("/console/payouts/{}/{step}", payouts[0]);
    let page = format!("/console/payouts/{}", payouts[0]);

    let held = bob.page("/console/payouts?state=held").await;
    held.html.says(&page);
    held.html.hides("/console/jackpots\"");
    assert_eq!(
        bob.get("/console/payouts").await.location(),
        "/console/payouts?state=held"
    );
    bob.get("/console/jackpots").await.is(403);
    let shown = eve.page(&page).await;
    shown.html.says(&at("void"));
    shown.html.hides(&at("approve"));
    shown.html.hides(&at("settle")); // it is held
    let shown = bob.page(&page).await;
    shown.html.says(&at("approve"));
    shown.html.hides(&at("void"));

    let preview = bob.page(&at("approve")).await;
    preview.says("State held due");
    bob.submit_on(&preview, &at("approve"), &[("reason", "")]).await.is(422);
    assert_eq!(state(&service, &payouts[0]).await, "held", "nothing is done yet");
    let done = bob
        .submit_on(&preview, &at("approve"), &[("reason", "looks right")])
        .await;
    assert_eq!(
        done.location(),
        "/console/payouts?state=held&done=done-payout-approve",
        "{}",
        done.text()
    );
    assert_eq!(state(&service, &payouts[0]).await, "due");

    let preview = eve.page(&at("fail")).await;
    preview.says("State due failed");
    for _ in 0..2 {
        eve.submit_on(&preview, &at("fail"), &[("reason", "account closed")])
            .await
            .is(303);
    }
    assert_eq!(state(&service, &payouts[0]).await, "failed");
    let empty = eve.submit(&at("settle"), &[("reference", " ")]).await;
    empty.is(422);
    empty.says("Say how the winner was paid.");
    let preview = eve
        .submit(
            &at("settle"),
            &[("reference", "bank 1"), ("settlement_id", "transfer-1")],
        )
        .await;
    preview.says("State failed settled");
    assert_eq!(state(&service, &payouts[0]).await, "failed", "nothing is done yet");
    let done = eve
        .submit_on(&preview, &at("settle"), &[("reason", "paid by hand")])
        .await;
    assert_eq!(
        done.location(),
        format!("{page}?done=done-payout-settled"),
        "{}",
        done.text()
    );
    let shown = eve.page(&page).await;
    for text in ["settled", "bob", "transfer-1", "bank 1"] {
        shown.says(text);
    }
    shown.html.hides(&at("void")); // nothing is left to do
}

/// The overview counts all that waits for a person, and an address alone makes no page say that something was done.
#[tokio::test]
async fn the_overview_counts_what_waits() {
    let (service, payouts) = service().await;
    let operator = Operator::sign_in(&service).await;
    let until = async |what: &str| {
        eventually(PATIENCE, what, async || {
            let page = operator.page("/console/").await;
            page.hides("Nothing needs attention.");
            page.text().contains(what).then_some(())
        })
        .await;
    };
    until("Payouts held for an approval: 2").await;
    let reason = json!({"reason": "a mistake"});
    let void = format!("/v1/payouts/{}/void", payouts[0]);
    service.post(&void, reason).await.done();
    until("Payouts held for an approval: 1").await;
    until("Payouts that somebody asked to void: 1").await;
    let mut document = service.get("/v1/jackpots/spring").await.body;
    let known = ["id", "name", "currency", "contribution", "settlement", "tiers", "odds"];
    document
        .as_object_mut()
        .expect("a jackpot")
        .retain(|name, _| known.contains(&name.as_str()));
    document["approval_above"] = json!(900);
    service.put("/v1/jackpots/spring", document).await.done();
    until("Limits that wait for an approval: spring").await;
    for done in [
        "done-payout-void",
        "done-payout-void.1",
        "done-payout-void.9999999999.00",
    ] {
        let page = operator.page(&format!("/console/payouts?done={done}")).await;
        assert!(!page.text().contains("The payout is void."), "{done}");
    }
}

#[tokio::test]
async fn a_void_needs_a_second_operator() {
    let (service, payouts) = service().await;
    let (anna, eve) = (
        key(&service, "anna", &["--role", "operate"]).await,
        key(&service, "eve", &["--role", "operate"]).await,
    );
    let (anna, eve) = (
        Operator::sign_in_with(&service, anna.secret()).await,
        Operator::sign_in_with(&service, eve.secret()).await,
    );
    let at = format!("/console/payouts/{}/void", payouts[1]);
    let preview = anna.page(&at).await;
    preview.says("State held void requested");
    for _ in 0..2 {
        anna.submit_on(&preview, &at, &[("reason", "a mistake")]).await.is(303);
    }
    assert_eq!(
        state(&service, &payouts[1]).await,
        "void-requested",
        "the same person again"
    );
    let back = format!("/console/payouts/{}/withdraw", payouts[1]);
    let preview = eve.page(&back).await;
    preview.says("State void requested held");
    eve.submit_on(&preview, &back, &[("reason", "no mistake")])
        .await
        .is(303);
    assert_eq!(state(&service, &payouts[1]).await, "held");
    let shown = anna.page(&format!("/console/payouts/{}", payouts[1])).await;
    shown.says("no mistake");
    anna.submit(&at, &[("reason", "a mistake"), ("confirmed", "yes")]).await;
    let preview = eve.page(&at).await;
    for text in ["State void requested void", "grand · Overflow €0.00 €5.00"] {
        preview.says(text);
    }
    let done = eve.submit_on(&preview, &at, &[("reason", "a mistake")]).await;
    assert_eq!(
        done.location(),
        format!("/console/payouts/{}?done=done-payout-void", payouts[1]),
        "{}",
        done.text()
    );
    assert_eq!(state(&service, &payouts[1]).await, "void");
    let meter = service.get("/v1/jackpots/spring").await.body["meters"][0].clone();
    assert_has!(meter, {"overflow": 500, "voided": 500});
    let listed = eve.page("/console/payouts?state=void").await;
    assert!(listed.html.contains(&payouts[1]) && !listed.html.contains(&payouts[0]));
}

#[tokio::test]
async fn money_that_leaves_waits_on_its_page_for_another_owner() {
    const ADJUST: &str = "/console/jackpots/spring/adjust";
    const HELD: &str = "/console/jackpots/spring/held";
    let (service, _) = service().await;
    let (bob, eve) = (
        key(&service, "bob", &["--role", "approve"]).await,
        key(&service, "eve", &["--role", "operate"]).await,
    );
    let (bob, eve) = (
        Operator::sign_in_with(&service, bob.secret()).await,
        Operator::sign_in_with(&service, eve.secret()).await,
    );
    let pool = async || service.get("/v1/jackpots/spring").await.body["meters"][0]["pool"].clone();
    let before = pool().await;
    let money = [
        ("tier", "grand"),
        ("from", "pool"),
        ("to", "outside"),
        ("amount", "5.00"),
    ];
    for end in ["withdraw", "approve"] {
        let preview = eve.submit(ADJUST, &money).await;
        let says = "it waits until a key with the role approve and another owner approves it";
        preview.says(says);
        let held = eve.submit_on(&preview, ADJUST, &[("reason", "the end")]).await;
        assert_eq!(held.location(), format!("{HELD}?done=done-held"), "{}", held.text());
        assert_eq!(pool().await, before);
        let by = if end == "approve" { &bob } else { &eve };
        let page = by.page(HELD).await;
        page.says("eve the end");
        let id = between(&page.html, "/held/adjustments/", "/");
        let at = format!("{HELD}/adjustments/{id}/{end}");
        let preview = by.page(&at).await;
        for _ in 0..2 {
            let done = by.submit_on(&preview, &at, &[("reason", "seen")]).await;
            assert_eq!(
                done.location(),
                format!("{HELD}?done=done-held-{end}"),
                "{}",
                done.text()
            );
        }
    }
    assert_eq!(pool().await, json!(before.as_u64().expect("a number") - 500));
}
