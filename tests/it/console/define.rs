//! Defining a jackpot by its form, and the guide.

use super::fixture::{Operator, between};
use crate::support::prelude::*;

#[tokio::test]
async fn a_template_becomes_a_jackpot() {
    let service = Service::start().await;
    let operator = Operator::sign_in(&service).await;
    let empty = operator.page("/console/").await;
    empty.html.says("href=\"/console/guide\"");
    for (template, tiers) in [("single", 1), ("tiers", 4)] {
        let path = format!("/console/new-jackpot?template={template}");
        let form = operator.page(&path).await;
        let preview = operator
            .submit_on(
                &form,
                "/console/new-jackpot",
                &form_fields(&form.html, &[("id", template)]),
            )
            .await;
        preview.is(200);
        preview.says("The jackpot is created and takes entries at once.");
        service.get(&format!("/v1/jackpots/{template}")).await.is(404);
        let refused = operator
            .submit_on(&preview, "/console/new-jackpot", &[("reason", " ")])
            .await;
        refused.is(422);
        refused.html.says("f-reason-error");
        let done = operator
            .submit_on(&preview, "/console/new-jackpot", &[("reason", "launch")])
            .await;
        assert_eq!(
            done.location(),
            format!("/console/jackpots/{template}?done=done-define"),
            "{}",
            done.text()
        );
        let made = service.get(&format!("/v1/jackpots/{template}")).await.body;
        assert_eq!(made["tiers"].as_array().map(Vec::len), Some(tiers));
    }
    // The id is taken now.
    let form = operator.page("/console/new-jackpot").await;
    let fields = form_fields(
        &form.html,
        &[("id", "single"), ("confirmed", "yes"), ("reason", "again")],
    );
    let taken = operator.submit_on(&form, "/console/new-jackpot", &fields).await;
    taken.is(422);
    taken.says("A jackpot with this id exists.");
}

/// The fields of a form with their values, and others in their place.
fn form_fields<'v>(html: &'v str, changed: &[(&'v str, &'v str)]) -> Vec<(&'v str, &'v str)> {
    let mut fields: Vec<(&str, &str)> = Vec::new();
    for input in html.split("<input id=\"").skip(1) {
        let tag = input.split('>').next().unwrap();
        let is_off = tag.contains("type=\"checkbox\"") && !tag.contains(" checked");
        if !is_off {
            fields.push((between(tag, "name=\"", "\""), between(tag, "value=\"", "\"")));
        }
    }
    for select in html.split("<select id=\"").skip(1) {
        let name = between(select, "name=\"", "\"");
        let chosen = select
            .split("<option value=\"")
            .skip(1)
            .find(|option| option.split('>').next().unwrap().contains(" selected"));
        fields.push((name, chosen.map_or("", |option| option.split('"').next().unwrap())));
    }
    fields.retain(|(name, _)| changed.iter().all(|(of, _)| of != name));
    fields.extend_from_slice(changed);
    fields
}

fn jackpot() -> serde_json::Value {
    json!({
        "id": "spring", "name": "Spring", "currency": "EUR", "contribution": {"fixed": 100}, "public_meter": true,
        "tiers": [{"tier": "grand", "share_ppm": 1_000_000, "min_payout": 1}],
        "odds": {"total": 10, "ranks": []},
    })
}

#[tokio::test]
async fn a_change_says_when_it_comes_into_force() {
    let service = Service::start().await;
    service.put("/v1/jackpots/spring", jackpot()).await;
    let operator = Operator::sign_in(&service).await;
    let path = "/console/jackpots/spring/define";
    let form = operator.page(path).await;
    let preview = operator
        .submit_on(&form, path, &form_fields(&form.html, &[("name", "Summer")]))
        .await;
    let text = preview.text();
    text.says("It comes into force at once.");
    text.says("Name Spring Summer");
    let entry = json!({"entry_id": "e1", "player_id": "p1", "stake": 100});
    service.post("/v1/jackpots/spring/entries", entry).await.is(201);
    let odds = [("odds.total", "20"), ("tiers[0].min_payout", "2.50")];
    let preview = operator.submit_on(&form, path, &form_fields(&form.html, &odds)).await;
    let text = preview.text();
    text.says("waits for the next take of all");
    text.says("grand · Smallest payout €0.01 €2.50");
    let done = operator.submit_on(&preview, path, &[("reason", "fewer wins")]).await;
    assert_eq!(
        done.location(),
        "/console/jackpots/spring?done=done-define",
        "{}",
        done.text()
    );
    let page = operator.page("/console/jackpots/spring").await;
    page.says("A definition waits");
    let now = service.get("/v1/jackpots/spring").await.body;
    assert_eq!(
        (&now["odds"]["total"], &now["pending"]["odds"]["total"]),
        (&json!(10), &json!(20))
    );
    let reason = eventually(PATIENCE, "the reason is in the audit trail", async || {
        let rows = service.get("/v1/audit?action=define").await.body;
        rows["items"][0]["reason"]
            .as_str()
            .filter(|reason| !reason.is_empty())
            .map(str::to_owned)
    })
    .await;
    assert_eq!(reason, "fewer wins");
    // What the first form saw is no longer there.
    let late = operator
        .submit_on(
            &form,
            path,
            &form_fields(&form.html, &[("name", "Late"), ("confirmed", "yes"), ("reason", "x")]),
        )
        .await;
    late.is(422);
    late.says("Someone else has changed this definition");
    assert_eq!(service.get("/v1/jackpots/spring").await.body["name"], "Spring");
}

#[tokio::test]
async fn wrong_fields_are_shown_beside_them_and_nothing_changes() {
    let service = Service::start().await;
    service.put("/v1/jackpots/spring", jackpot()).await;
    let operator = Operator::sign_in(&service).await;
    let path = "/console/jackpots/spring/define";
    let form = operator.page(path).await;
    for (field, value) in [
        ("contribution", "1.234"),
        ("tiers[0].share_ppm", "120"),
        ("tiers[0].tier", "<b>"),
        ("tiers[0].cap", "0"),
        ("odds.total", "0"),
        ("max_redraws", "101"),
        ("min_stake", "x"),
        ("room", "nowhere"),
        ("currency", "euro"),
        ("origins", "*"),
    ] {
        let fields = form_fields(&form.html, &[(field, value), ("confirmed", "yes"), ("reason", "try")]);
        let refused = operator.submit_on(&form, path, &fields).await;
        assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY, "{field}");
        let error = format!("id=\"f-{field}-error\"");
        refused.html.says(&error);
        refused.html.hides("<b>");
    }
    assert_eq!(service.get("/v1/jackpots/spring").await.body["version"], 1);
    let rows = operator
        .submit_on(&form, path, &form_fields(&form.html, &[("row", "add-rank")]))
        .await;
    assert!(rows.html.contains("name=\"odds.ranks[0].rank\"") && rows.html.contains("value=\"remove-rank-0\""));
}

#[tokio::test]
async fn the_guide_plays_an_entry_and_makes_a_queue() {
    let service = Service::start().await;
    service.put("/v1/jackpots/spring", jackpot()).await;
    let operator = Operator::sign_in(&service).await;
    let guide = operator.page("/console/guide").await;
    let fields = [("jackpot", "spring"), ("player_id", "p7"), ("stake", "2.00")];
    for _ in 0..2 {
        let played = operator.submit_on(&guide, "/console/guide", &fields).await;
        played.says("Entry 1: no prize");
    }
    operator
        .submit_on(
            &guide,
            "/console/guide",
            &[("jackpot", "spring"), ("player_id", ""), ("stake", "2.00")],
        )
        .await
        .is(422);
    let path = "/console/guide/queue";
    let preview = operator
        .submit(path, &[("id", "lunch"), ("stock", "3"), ("capacity", "2")])
        .await;
    for _ in 0..2 {
        let done = operator.submit_on(&preview, path, &[("reason", "lunch break")]).await;
        assert_eq!(
            done.location(),
            "/console/jackpots/lunch?done=done-guide-queue",
            "{}",
            done.text()
        );
    }
    for made in ["rooms", "coupons", "jackpots"] {
        assert_eq!(
            service.get(&format!("/v1/{made}/lunch")).await.status,
            StatusCode::OK,
            "{made}"
        );
    }
    operator
        .submit(
            path,
            &[
                ("id", "lunch"),
                ("stock", "9"),
                ("capacity", "2"),
                ("confirmed", "yes"),
                ("reason", "x"),
            ],
        )
        .await
        .is(422);
    assert_eq!(service.get("/v1/coupons/lunch").await.body["stock"], 3);
}

#[tokio::test]
async fn the_preview_of_a_pause_names_the_version_that_comes_into_force() {
    let service = Service::start().await;
    service.put("/v1/jackpots/spring", jackpot()).await;
    let operator = Operator::sign_in(&service).await;
    let path = "/console/jackpots/spring/pause";
    let waits = "Version 2 of the definition waits. The pause puts it in force";
    operator.page(path).await.hides("waiting"); // nothing waits
    let entry = json!({"entry_id": "e1", "player_id": "p1", "stake": 100});
    service.post("/v1/jackpots/spring/entries", entry).await;
    let mut changed = jackpot();
    changed["odds"]["total"] = json!(20);
    service.put("/v1/jackpots/spring", changed).await;
    for (keep_waiting, in_force, is_waiting) in [("true", 1, true), ("", 2, false)] {
        let preview = operator.page(path).await;
        for text in [waits, "Version 1 2", "Leave the waiting definition waiting"] {
            preview.says(text);
        }
        let fields = [("reason", "a check"), ("keep_waiting", keep_waiting)];
        let done = operator.submit_on(&preview, path, &fields).await;
        assert_eq!(
            done.location(),
            "/console/jackpots/spring?done=done-pause",
            "{}",
            done.text()
        );
        let now = service.get("/v1/jackpots/spring").await.body;
        assert_eq!(
            (&now["version"], now["pending"].is_object()),
            (&json!(in_force), is_waiting)
        );
        service
            .post("/v1/jackpots/spring/resume", json!({"reason": "a test"}))
            .await;
    }
}
