//! Transfers and reversals: what they will change is shown first, they are done once, and their pages show them.

use super::fixture::{Operator, audited, bound_key, key};
use crate::support::prelude::*;

/// Each entry adds 1.00 and wins nothing.
fn definition(id: &str, currency: &str) -> Value {
    json!({
        "id": id, "name": format!("The <{id}>"), "currency": currency, "contribution": {"fixed": 100},
        "tiers": [{"tier": "grand", "share_ppm": 600_000, "min_payout": 1}, {"tier": "mini", "share_ppm": 400_000, "min_payout": 1}],
        "odds": {"total": 1, "ranks": []}, "sources": {"web": {}, "app": {"contribution": {"fixed": 50}, "draw": "service"}},
    })
}

async fn service() -> Service {
    let service = Service::start().await;
    for (id, currency) in [("old", "EUR"), ("new", "EUR"), ("won", "KRW")] {
        service
            .put(&format!("/v1/jackpots/{id}"), definition(id, currency))
            .await;
    }
    for number in 1..=2 {
        let entry = json!({"entry_id": format!("e{number}"), "player_id": "p", "stake": 100, "source_id": "web"});
        service.post("/v1/jackpots/old/entries", entry).await.is(201);
    }
    service
}

async fn pool(service: &Service, id: &str) -> (Value, Value) {
    let meters = service.get(&format!("/v1/jackpots/{id}")).await.body["meters"].take();
    (meters[0]["pool"].clone(), meters[1]["pool"].clone())
}

const PATH: &str = "/console/jackpots/old/transfer";
/// The link to it; that to the list begins alike.
const LINK: &str = "href=\"/console/jackpots/old/transfer\"";

#[tokio::test]
async fn a_transfer_shows_what_it_changes_is_done_once_and_is_listed() {
    let service = service().await;
    let operator = Operator::sign_in(&service).await;
    let jackpot = operator.page("/console/jackpots/old").await;
    jackpot.html.hides(LINK); // an open jackpot gives nothing
    operator.page(PATH).await.says("Pause or close it first.");
    let refused = operator
        .submit(PATH, &[("to", "new"), ("tier-grand", "grand"), ("tier-mini", "")])
        .await;
    let open = operator.submit_on(&refused, PATH, &[("reason", "too early")]).await;
    open.is(422);
    open.says("pause");
    service
        .post("/v1/jackpots/old/pause", json!({"reason": "end of season"}))
        .await;
    let jackpot = operator.page("/console/jackpots/old").await;
    jackpot.html.says(LINK);

    for (fields, said) in [
        (
            [("to", ""), ("tier-grand", "grand"), ("tier-mini", "")],
            "Name another jackpot.",
        ),
        (
            [("to", "old"), ("tier-grand", "grand"), ("tier-mini", "")],
            "Name another jackpot.",
        ),
        (
            [("to", "none"), ("tier-grand", "grand"), ("tier-mini", "")],
            "no such jackpot",
        ),
        (
            [("to", "won"), ("tier-grand", "grand"), ("tier-mini", "")],
            "That jackpot takes KRW.",
        ),
        (
            [("to", "new"), ("tier-grand", "big"), ("tier-mini", "")],
            "The <new> has no tier big.",
        ),
        (
            [("to", "new"), ("tier-grand", ""), ("tier-mini", "")],
            "for at least one tier.",
        ),
    ] {
        let wrong = operator.submit(PATH, &fields).await;
        assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY, "{fields:?}");
        wrong.says(said);
        assert!(wrong.html.contains("aria-invalid=\"true\"") && !wrong.html.contains("<new>"));
    }
    let fields = [("to", "new"), ("tier-grand", "mini"), ("tier-mini", "mini")];
    let preview = operator.submit(PATH, &fields).await;
    preview.is(200);
    let text = preview.text();
    for shown in [
        "The <old> · grand · all money €1.20 €0.00",
        "The <old> · mini · all money €0.80 €0.00",
        "The <new> · mini · all money €0.00 €2.00",
    ] {
        text.says(shown);
    }
    assert_eq!(
        pool(&service, "old").await,
        (json!(120), json!(80)),
        "nothing is done yet"
    );
    let without = operator.submit_on(&preview, PATH, &[("reason", "")]).await;
    without.is(422);
    without.html.says("id=\"f-reason-error\"");
    for _ in 0..2 {
        let done = operator.submit_on(&preview, PATH, &[("reason", "end of season")]).await;
        assert_eq!(
            done.location(),
            "/console/jackpots/old/transfers?done=done-transfer",
            "{}",
            done.text()
        );
    }
    eventually(PATIENCE, "the money is there", async || {
        (pool(&service, "new").await == (json!(0), json!(200))).then_some(())
    })
    .await;
    let list = eventually(PATIENCE, "the transfer is received", async || {
        let page = operator.page("/console/jackpots/old/transfers").await;
        page.text().contains("received").then_some(page)
    })
    .await;
    assert_eq!(list.html.matches("scope=\"rowgroup\"").count(), 1, "once");
    assert!(
        list.text().contains("grand → mini €1.20 €0.00 €0.00"),
        "{}",
        list.text()
    );
    let csv = operator.page(&list.link("All as CSV")).await;
    assert_eq!(csv.html.lines().count(), 2, "{}", csv.html);
    let given = operator.page("/console/jackpots/old").await.text();
    given.says("Transfers out");
    given.hides("Transfers in");
    audited(&service, "jackpot_id=old", "operator", "end of season").await;
    let audit = operator.page("/console/audit?action=transfer").await.text();
    assert!(audit.contains("Transfer") && audit.contains("end of season"), "{audit}");
}

#[tokio::test]
async fn only_who_may_operate_transfers_and_a_bound_key_needs_both() {
    let service = service().await;
    service
        .post("/v1/jackpots/old/close", json!({"reason": "end of season"}))
        .await;
    let operator = Operator::sign_in(&service).await;
    operator.page("/console/jackpots/old").await.html.says(LINK); // a closed one gives too
    let fields = [("to", "new"), ("tier-grand", "grand"), ("tier-mini", "mini")];
    let confirmed = [("confirmed", "yes"), ("reason", "forged")];
    let all = || {
        fields
            .into_iter()
            .chain(confirmed)
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
    };
    operator.send(PATH, all().collect(), &[]).await.is(403); // no token of a form
    let reader = Operator::sign_in_with(&service, &key(&service, "read").await).await;
    reader.page("/console/jackpots/old").await.html.hides(LINK);
    reader.page("/console/jackpots/old/transfers").await;
    let form = reader.get(PATH).await;
    let tried = [&fields[..], &confirmed].concat();
    let refused = reader.submit_on(&form, PATH, &tried).await;
    assert!(refused.status.is_client_error(), "{}", refused.status);
    let bound = Operator::sign_in_with(&service, &bound_key(&service, "operate", "jackpot:old").await).await;
    let refused = bound.submit(PATH, &tried).await;
    assert!(refused.status.is_client_error(), "{}", refused.text());
    assert_eq!(pool(&service, "old").await, (json!(120), json!(80)));
}

#[tokio::test]
async fn a_reversal_shows_what_it_changes_and_its_source_is_shown() {
    let service = service().await;
    let operator = Operator::sign_in(&service).await;
    let jackpot = operator.page("/console/jackpots/old").await.text();
    jackpot.says("Source app");
    jackpot.says("Source web");
    let entry = "/console/jackpots/old/entries/e1";
    let path = format!("{entry}/reverse");
    operator.page(entry).await.html.says(&path);
    let preview = operator.page(&path).await;
    preview.says("grand · Reversed €0.00 €0.60");
    assert_eq!(
        pool(&service, "old").await,
        (json!(120), json!(80)),
        "nothing is done yet"
    );
    let without = operator.submit_on(&preview, &path, &[("reason", "")]).await;
    without.is(422);
    without.html.says("id=\"f-reason-error\"");
    let reader = Operator::sign_in_with(&service, &key(&service, "read").await).await;
    reader.page(entry).await.html.hides(&path);
    let refused = reader.submit(&path, &[("reason", "forged")]).await;
    assert!(refused.status.is_client_error(), "{}", refused.status);
    for _ in 0..2 {
        let done = operator
            .submit_on(&preview, &path, &[("reason", "the round was cancelled")])
            .await;
        assert_eq!(done.location(), format!("{entry}?done=done-reverse"), "{}", done.text());
    }
    assert_eq!(pool(&service, "old").await, (json!(60), json!(40)));
    let shown = operator.page(entry).await;
    assert!(
        shown.text().contains("Reversed") && !shown.html.contains(&path),
        "{}",
        shown.text()
    );
    operator.submit(&path, &[("reason", "again")]).await.is(422); // another reversal
    assert_eq!(pool(&service, "old").await, (json!(60), json!(40)));
    let jackpot = operator.page("/console/jackpots/old").await.text();
    jackpot.says("Reversed");
    eventually(PATIENCE, "the entry is listed with its source", async || {
        let list = operator.page("/console/entries?player_id=p&source_id=web").await;
        (list.html.contains("/entries/e2") && list.text().contains("web")).then_some(())
    })
    .await;
}
