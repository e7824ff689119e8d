//! Redis beside the ledger: what is shown, and how a mismatch is answered.

use super::fixture::{Operator, key};
use super::money::won;
use crate::fault::ledger_support::COMPARED_OFTEN;
use crate::fault::support::key as redis_key;
use crate::fault::support::{connection, embedded};
use crate::jackpot::by_hand;
use crate::support::prelude::*;

/// The jackpot's page, once it says this.
async fn until(operator: &Operator, path: &str, what: &str) -> super::fixture::Page {
    eventually(PATIENCE, what, async || {
        let page = operator.get(path).await;
        (page.status == StatusCode::OK && page.text().contains(what)).then_some(page)
    })
    .await
}

#[tokio::test]
async fn all_subjects_are_compared_side_by_side() {
    let service = Service::start_with(&[COMPARED_OFTEN]).await;
    won(&service, "spring", 3).await;
    let room = json!({"capacity": 1, "session_s": 60, "waiting_timeout_s": 60});
    service.put("/v1/rooms/lobby", room).await;
    let operator = Operator::sign_in(&service).await;
    let page = until(&operator, "/console/ledger/jackpot/spring", "agrees").await;
    let text = page.text();
    text.says("Paid €0.03 €0.03");
    text.says("Pool €2.97 €2.97");
    text.says("The identity holds");
    text.says("Nothing is to be done.");
    text.hides("jackpot restore");
    let room = until(&operator, "/console/ledger/room/lobby", "agrees").await;
    room.html.hides("/postings");
    let all = operator.page("/console/ledger").await.text();
    all.says("Jackpot spring agrees");
    all.says("Room lobby agrees");
    let some = operator.page("/console/ledger?id=lob").await.text();
    some.hides("Jackpot spring");
    some.says("Room lobby");
    let none = operator.page("/console/ledger?id=%3Ci%3E").await;
    assert!(none.text().contains("Nothing fits these filters.") && !none.html.contains("<i>"));
    for missing in [
        "/console/ledger/jackpot/none",
        "/console/ledger/pot/spring",
        "/console/ledger/jackpot/none/postings",
    ] {
        assert_eq!(operator.get(missing).await.status, StatusCode::NOT_FOUND, "{missing}");
    }
}

#[tokio::test]
async fn postings_and_the_signed_head_are_shown() {
    let service = Service::start().await;
    won(&service, "spring", 60).await;
    let operator = Operator::sign_in(&service).await;
    let adjust = json!({"adjustment_id": "a", "tier": "grand", "meter": "pool", "amount": -3, "reason": "x"});
    service.post("/v1/jackpots/spring/adjustments", adjust).await;
    let path = "/console/ledger/jackpot/spring/postings";
    let page = until(&operator, path, "Funding").await;
    page.says("−€0.03");
    page.says("Payouts");
    let early = operator.page(&format!("{path}?to=2020-01-01T00:00:00")).await;
    early.says("Nothing was booked in this time.");
    let csv = operator.page(&page.link("All as CSV")).await;
    assert!(
        csv.html.starts_with("n,event_id,line,at,tier,account,amount,micro\n"),
        "{}",
        csv.html
    );
    let head = operator.page("/console/ledger/jackpot/spring/head").await;
    head.says("The signature is valid.");
    let export = operator.page(&head.link("Export the whole ledger")).await;
    let last = export.html.lines().last().expect("lines").to_owned();
    last.says("signature");
    operator.get("/console/ledger/jackpot/none/head").await.is(404);
}

#[tokio::test]
async fn a_mismatch_is_answered_by_what_its_page_says() {
    let (mut service, url) = embedded(&[COMPARED_OFTEN]).await;
    won(&service, "spring", 3).await;
    let operator = Operator::sign_in(&service).await;
    let path = "/console/ledger/jackpot/spring";
    until(&operator, path, "agrees").await;
    let drift = by_hand::add(&redis_key("spring", "state"), "grand:paid", 7);
    drift.exec_async(&mut connection(&url).await).await.expect("done");
    until(&operator, path, "suspended").await;
    // Suspended at once; the comparison that shows it follows.
    let page = until(&operator, path, "Paid €0.10 €0.03 differs").await;
    let text = page.text();
    text.says("mismatch");
    page.html.says("<tr class=\"wrong\">");
    text.says("Stop the service first");
    let overview = until(&operator, "/console/", "Suspended").await;
    overview.html.says("href=\"/console/ledger/jackpot/spring\"");
    overview.says("1 Mismatches");
    // A key that may only look sees what is wrong, and no button.
    let reader = Operator::sign_in_with(&service, &key(&service, "read").await).await;
    let seen = reader.page(path).await;
    assert!(seen.text().contains("differs") && !seen.html.contains("/console/jackpots/spring/resume"));
    // It can't be resumed before.
    let resume = page.link("Resume");
    let refused = operator.submit(&resume, &[("reason", "too early")]).await;
    assert_ne!(refused.status, StatusCode::SEE_OTHER, "{}", refused.text());
    page.html.says("jackpot restore --jackpot spring");
    assert!(service.stop().await.success());
    let restored = service.command(&["restore", "--jackpot", "spring"]);
    restored.done();
    service.restart_unready().await;
    // The session of before.
    until(&operator, path, "agrees").await;
    let done = operator.submit(&resume, &[("reason", "rebuilt, ticket <7>")]).await;
    assert_eq!(
        done.location(),
        "/console/jackpots/spring?done=done-resume",
        "{}",
        done.text()
    );
    until(&operator, path, "Nothing is to be done.").await;
    until(&operator, "/console/", "Nothing needs attention.").await;
    let audit = until(
        &operator,
        "/console/audit?jackpot_id=spring&action=resume",
        "rebuilt, ticket <7>",
    )
    .await;
    audit.html.hides("<7>");
    let commands = until(&operator, "/console/commands?jackpot=spring", "Last restore 20").await;
    commands.says("open");
}

#[tokio::test]
async fn while_redis_is_away_the_ledger_is_still_shown() {
    let mut redis = own_redis(&[]).await;
    let service = service_on(redis.url(), &[COMPARED_OFTEN]).await;
    won(&service, "spring", 1).await;
    let operator = Operator::sign_in(&service).await;
    until(&operator, "/console/ledger/jackpot/spring", "agrees").await;
    redis.kill9();
    let page = operator.page("/console/ledger/jackpot/spring").await;
    page.says("Money of tier grand");
    operator.page("/console/payouts").await;
    let instances = until(&operator, "/console/instances", "Redis").await;
    assert!(
        instances.html.contains("note bad") || instances.html.contains("td class=\"bad\""),
        "{}",
        instances.text()
    );
    eventually(PATIENCE, "the overview says that Redis is away", async || {
        operator
            .page("/console/")
            .await
            .text()
            .contains("Not ready")
            .then_some(())
    })
    .await;
    operator.get("/console/jackpots/spring/entries/b%3A1").await.is(503);
}
