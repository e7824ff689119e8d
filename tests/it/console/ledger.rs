//! Redis beside the ledger: what is shown, and how a mismatch is answered.

use reqwest::StatusCode;
use serde_json::json;

use super::fixture::{Operator, key};
use super::money::won;
use crate::fault::ledger_support::COMPARED_OFTEN;
use crate::fault::support::{PATIENCE, connection, embedded, key as redis_key, own_redis, service_on};
use crate::jackpot::by_hand;
use crate::support::eventually;
use crate::support::service::{Service, output_text};

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
    assert!(
        text.contains("Paid €0.03 €0.03") && text.contains("Pool €2.97 €2.97"),
        "{text}"
    );
    assert!(
        text.contains("The identity holds") && text.contains("Nothing is to be done."),
        "{text}"
    );
    assert!(!text.contains("jackpot restore"), "{text}");
    let room = until(&operator, "/console/ledger/room/lobby", "agrees").await;
    assert!(!room.html.contains("/postings"));
    let all = operator.page("/console/ledger").await.text();
    assert!(
        all.contains("Jackpot spring agrees") && all.contains("Room lobby agrees"),
        "{all}"
    );
    let some = operator.page("/console/ledger?id=lob").await.text();
    assert!(
        !some.contains("Jackpot spring") && some.contains("Room lobby"),
        "{some}"
    );
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
    assert!(
        page.text().contains("−€0.03") && page.text().contains("Payouts"),
        "{}",
        page.text()
    );
    let early = operator.page(&format!("{path}?to=2020-01-01T00:00:00")).await;
    assert!(early.text().contains("Nothing was booked in this time."));
    let csv = operator.page(&page.link("All as CSV")).await;
    assert!(
        csv.html.starts_with("n,event_id,line,at,tier,account,amount,micro\n"),
        "{}",
        csv.html
    );
    let head = operator.page("/console/ledger/jackpot/spring/head").await;
    assert!(head.text().contains("The signature is valid."), "{}", head.text());
    let export = operator.page(&head.link("Export the whole ledger")).await;
    let last = export.html.lines().last().expect("lines").to_owned();
    assert!(last.contains("signature"), "{last}");
    assert_eq!(
        operator.get("/console/ledger/jackpot/none/head").await.status,
        StatusCode::NOT_FOUND
    );
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
    assert!(text.contains("mismatch"), "{text}");
    assert!(page.html.contains("<tr class=\"wrong\">"));
    assert!(text.contains("Stop the service first"), "{text}");
    let overview = until(&operator, "/console/", "Suspended").await;
    assert!(overview.html.contains("href=\"/console/ledger/jackpot/spring\""));
    assert!(overview.text().contains("1 Mismatches"), "{}", overview.text());
    // A key that may only look sees what is wrong, and no button.
    let reader = Operator::sign_in_with(&service, &key(&service, "read").await).await;
    let seen = reader.page(path).await;
    assert!(seen.text().contains("differs") && !seen.html.contains("/console/jackpots/spring/resume"));
    // It can't be resumed before.
    let resume = page.link("Resume");
    let refused = operator.submit(&resume, &[("reason", "too early")]).await;
    assert_ne!(refused.status, StatusCode::SEE_OTHER, "{}", refused.text());
    assert!(page.html.contains("jackpot restore --jackpot spring"), "{}", page.html);
    assert!(service.stop().await.success());
    let restored = service.command(&["restore", "--jackpot", "spring"]);
    assert!(restored.status.success(), "{}", output_text(&restored));
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
    assert!(!audit.html.contains("<7>"));
    let commands = until(&operator, "/console/commands?jackpot=spring", "Last restore 20").await;
    assert!(commands.text().contains("open"));
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
    assert!(page.text().contains("Money of tier grand"));
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
    let away = operator.get("/console/jackpots/spring/entries/b%3A1").await;
    assert_eq!(away.status, StatusCode::SERVICE_UNAVAILABLE);
}
