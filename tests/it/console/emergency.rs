//! The page of the emergency stop, and its place on the overview.

use super::fixture::{Operator, key};
use crate::fault::support::{create, enter, lively};
use crate::support::prelude::*;

const PAGE: &str = "/console/emergency-stop";

#[tokio::test]
async fn an_operator_sees_what_stops_gives_a_reason_and_ends_it_again() {
    let service = Service::start().await;
    create(&service, lively("spring")).await;
    let operator = Operator::sign_in(&service).await;
    let overview = operator.page("/console/").await;
    assert!(overview.html.contains(PAGE) && !overview.text().contains("Everything is stopped"));
    let page = operator.page(PAGE).await.text();
    page.says("new ones begin stopped");
    page.says("takes requests");

    let refused = operator.submit(PAGE, &[("reason", "")]).await;
    refused.is(422);
    refused.html.says("id=\"f-reason-error\"");
    let done = operator.submit(PAGE, &[("reason", "a <leak>")]).await;
    assert_eq!(done.location(), "/console/?done=done-emergency-stop");
    operator.page(done.leads_to()).await.says("Everything is stopped.");
    assert_eq!(enter(&service, "spring", "e1").await.body["code"], "stopped");
    let state = service.get("/v1/emergency-stop").await.body;
    assert_has!(state, {"stopped": true, "reason": "a <leak>"});
    eventually(PATIENCE, "the overview says so", async || {
        let overview = operator.page("/console/").await.text();
        overview.contains("Everything is stopped since 20").then_some(())
    })
    .await;
    for path in ["/console/jackpots/spring", "/console/jackpots"] {
        eventually(PATIENCE, "it stands in place of the status", async || {
            let page = operator.page(path).await.html;
            let shows = page.contains("badge bad\">stopped</span> <span>a &lt;leak&gt;</span>");
            (shows && !page.contains("badge good")).then_some(())
        })
        .await;
    }
    let page = operator.page(PAGE).await;
    page.html.says("a &lt;leak&gt;");
    page.html.hides("<leak>");
    eventually(PATIENCE, "the audit trail has it", async || {
        let audit = operator.page("/console/audit?action=emergency-stop").await.text();
        (audit.contains("Emergency stop") && audit.contains("spring")).then_some(())
    })
    .await;

    let done = operator.submit(PAGE, &[("reason", "repaired")]).await;
    assert_eq!(done.location(), "/console/?done=done-emergency-start");
    enter(&service, "spring", "e1").await.is(201);
    let page = operator.page(PAGE).await.text();
    page.says("The last emergency stop ended at 20");
    page.says("repaired");
}

#[tokio::test]
async fn a_second_press_of_a_button_does_not_undo_the_first() {
    let service = Service::start().await;
    let operator = Operator::sign_in(&service).await;
    let stop = [("reason", "twice"), ("verb", "stop")];
    for _press in 0..2 {
        let done = operator.submit(PAGE, &stop).await;
        assert_eq!(done.location(), "/console/?done=done-emergency-stop");
    }
    assert_eq!(service.get("/v1/emergency-stop").await.body["stopped"], true);
}

#[tokio::test]
async fn a_key_that_reads_stops_nothing() {
    let service = Service::start().await;
    let reader = Operator::sign_in_with(&service, &key(&service, "read").await).await;
    reader.page(PAGE).await.says("takes requests");
    reader.submit(PAGE, &[("reason", "curious")]).await.is(422);
    assert_eq!(service.get("/v1/emergency-stop").await.body["stopped"], false);
}
