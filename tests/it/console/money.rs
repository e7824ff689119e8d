//! Payouts with their receipts, entries with their draws, and both as files.

use reqwest::header::ACCEPT;
use sqlx::{Connection, SqliteConnection};

use super::fixture::{Operator, Page, bound_key, key};
use crate::jackpot::fixture::document;
use crate::jackpot::must_hit::by_amount;
use crate::support::postgres_local::PrivatePostgres;
use crate::support::prelude::*;

/// Each entry wins 0.01 of its 1.00.
fn definition(id: &str) -> Value {
    json!({
        "id": id, "name": "Spring & <wheel>", "currency": "EUR", "contribution": {"fixed": 100},
        "tiers": [{"tier": "grand", "share_ppm": 1_000_000, "min_payout": 1}],
        "odds": {"total": 1, "ranks": [{"rank": 1, "weight": 1, "prize": {"fixed": {"tier": "grand", "amount": 1}}}]},
    })
}

/// A jackpot whose `players` have won once each, in the ledger.
pub async fn won(service: &Service, id: &str, players: usize) {
    service.put(&format!("/v1/jackpots/{id}"), definition(id)).await;
    let entries: Vec<_> = (1..=players)
        .map(|n| json!({"player_id": format!("p{n}"), "stake": 100}))
        .collect();
    let batch = json!({"batch_id": "b", "entries": entries});
    service
        .post(&format!("/v1/jackpots/{id}/entry-batches"), batch)
        .await
        .is(201);
    let last = format!("/v1/payouts?jackpot_id={id}&player_id=p{players}");
    eventually(PATIENCE, "the payouts are in the ledger", async || {
        let items = service.get(&last).await.body["items"].take();
        (!items.as_array()?.is_empty()).then_some(())
    })
    .await;
}

async fn one_payout(service: &Service, player: &str) -> Value {
    let found = service.get(&format!("/v1/payouts?player_id={player}")).await;
    found.body["items"][0].clone()
}

fn text_of(value: &Value) -> &str {
    value.as_str().expect("a text")
}

fn rows(page: &Page) -> usize {
    page.html.matches("<th class=\"nowrap\" scope=\"row\">").count()
}

#[tokio::test]
async fn payouts_are_filtered_in_the_address_and_paged_by_the_cursor() {
    let service = Service::start().await;
    won(&service, "spring", 60).await;
    let operator = Operator::sign_in(&service).await;
    let first = operator.page("/console/payouts?tier=grand").await;
    assert_eq!(rows(&first), 50);
    assert!(first.text().contains("spring #60") && first.text().contains("€0.01"));
    let next = first.link("rel=\"next\"");
    assert!(
        next.starts_with("/console/payouts?") && next.contains("tier=grand"),
        "{next}"
    );
    let second = operator.page(&next).await;
    assert_eq!(rows(&second), 10);
    assert!(second.text().contains("spring #1 ") && !second.html.contains("rel=\"next\""));
    // A later page stays as it is; the first one is live.
    assert!(first.html.contains("id=\"payouts\" data-live") && !second.html.contains("id=\"payouts\" data-live"));
    assert_eq!(rows(&operator.page("/console/payouts?player_id=p7").await), 1);
    assert_eq!(rows(&operator.page("/console/payouts?from=2026-01-01T00:00").await), 50);
    let none = operator.page("/console/payouts?min_amount=2").await;
    none.says("Nothing fits these filters.");
    let wrong = operator.get("/console/payouts?from=soon&min_amount=%3Cb%3E").await;
    wrong.is(422);
    assert!(wrong.html.contains("id=\"f-from-error\"") && wrong.html.contains("id=\"f-min_amount-error\""));
    assert!(wrong.html.contains("value=\"&lt;b&gt;\"") && !wrong.html.contains("<b>\""));
    let wrong = operator.get("/console/payouts?cursor=nonsense").await;
    wrong.is(422);
    wrong.says("next_cursor");
}

#[tokio::test]
async fn a_receipt_is_checked_and_a_forged_one_is_called_so() {
    let service = Service::start().await;
    won(&service, "spring", 2).await;
    let operator = Operator::sign_in(&service).await;
    let payout = one_payout(&service, "p2").await;
    let path = format!("/console/payouts/{}", text_of(&payout["payout_id"]));
    let page = operator.page(&path).await;
    let text = page.text();
    text.says("The signature is valid. It was made with the key that signs now.");
    for name in ["key_id", "signature", "event_id", "history", "payout_id", "entry_id"] {
        assert!(text.contains(text_of(&payout[name])), "{name}");
    }
    assert!(page.html.contains("href=\"/v1/keys\"") && page.html.contains("/console/jackpots/spring/entries/b%3A2"));
    // The JSON is the API's own: the receipt, without what a list shows beside it.
    let mut receipt = payout.clone();
    let beside = ["source_id", "state", "approved_by", "settlement", "void_receipt"];
    let fields = receipt.as_object_mut().expect("an object");
    fields.retain(|name, _| !beside.contains(&name.as_str()));
    let json = operator.page(&page.link("As JSON")).await;
    assert_eq!(serde_json::from_str::<Value>(&json.html).expect("JSON"), receipt);
    // After a rotation it was an earlier key.
    let rotated = service.command(&["key", "rotate-signing"]);
    rotated.done();
    eventually(PATIENCE, "another key signs", async || {
        operator
            .page(&path)
            .await
            .text()
            .contains("It was made with an earlier key.")
            .then_some(())
    })
    .await;
    let file = service.data_dir().join("ledger.sqlite");
    let mut sql = SqliteConnection::connect(&format!("sqlite://{}", file.display()))
        .await
        .expect("the file");
    sqlx::query("UPDATE payouts SET amount = 2 WHERE player_id = 'p2'")
        .execute(&mut sql)
        .await
        .expect("forged");
    sql.close().await.expect("closed");
    let forged = operator.page(&path).await.text();
    forged.says("The signature is not valid.");
    operator.get("/console/payouts/none").await.is(404);
}

#[tokio::test]
async fn lists_are_files_with_the_same_filters_and_nothing_else_is() {
    let service = Service::start().await;
    won(&service, "spring", 60).await;
    let operator = Operator::sign_in(&service).await;
    let list = operator.page("/console/payouts?player_id=p7").await;
    for (label, accept) in [("All as CSV", "text/csv"), ("All as NDJSON", "application/x-ndjson")] {
        let file = operator.page(&list.link(label)).await;
        assert!(file.headers["content-type"].to_str().unwrap().starts_with(accept));
        assert!(
            file.headers["content-disposition"]
                .to_str()
                .unwrap()
                .starts_with("attachment")
        );
        let asked = http_client()
            .get(service.url("/v1/payouts?player_id=p7"))
            .header(ACCEPT, accept)
            .bearer_auth(service.operator_key());
        assert_eq!(file.html, asked.send().await.unwrap().text().await.unwrap());
    }
    let all = operator.page("/console/files/csv/payouts").await;
    assert_eq!(all.html.lines().count(), 61);
    operator.get("/console/files/csv/payouts?from=soon").await.is(422);
    // Reads that act, and what is no list.
    for path in [
        "/console/files/json/rooms/lobby/tickets/t",
        "/console/files/json/jackpots/spring/entries/b:1",
        "/console/files/json/jackpots/spring",
        "/console/files/xml/payouts",
        "/console/files/csv/payouts/../jackpots",
        "/console/files/csv/",
    ] {
        assert_eq!(operator.get(path).await.status, StatusCode::NOT_FOUND, "{path}");
    }
    Operator::nobody(&service)
        .get("/console/files/csv/payouts")
        .await
        .is(303);
}

#[tokio::test]
async fn an_entry_shows_its_draw_and_leads_to_its_payout() {
    let service = Service::start().await;
    won(&service, "spring", 3).await;
    let operator = Operator::sign_in(&service).await;
    let ask = operator.page("/console/entries").await;
    ask.says("Type a player's id");
    let path = "/console/entries?player_id=p3&jackpot_id=spring";
    let list = eventually(PATIENCE, "the entry is indexed", async || {
        let page = operator.page(path).await;
        page.html.contains("b%3A3").then_some(page)
    })
    .await;
    assert!(list.text().contains("a fixed amount · rank 1"), "{}", list.text());
    let page = operator.page("/console/jackpots/spring/entries/b%3A3").await;
    let (text, payout) = (page.text(), one_payout(&service, "p3").await);
    for shown in [
        "Entry b:3",
        "Spring & <wheel>",
        "€0.01",
        "€1.00",
        "Commitment",
        "0 1 paid",
    ] {
        text.says(shown);
    }
    let receipt = format!("/console/payouts/{}", text_of(&payout["payout_id"]));
    assert!(page.html.contains(&receipt) && !page.html.contains("<wheel>"));
    let to = operator.get("/console/entries/one?jackpot=spring&entry=b%3A3").await;
    assert_eq!(to.location(), "/console/jackpots/spring/entries/b%3A3");
    for missing in [
        "/console/jackpots/spring/entries/b%3A4",
        "/console/jackpots/none/entries/b%3A3",
    ] {
        assert_eq!(operator.get(missing).await.status, StatusCode::NOT_FOUND, "{missing}");
    }
    let refused = operator.get("/console/entries?jackpot_id=spring").await;
    refused.is(422);
    refused.html.says("id=\"f-player_id-error\"");
}

/// A must-hit has rank 0, as nothing has: it is paid, and can't be reversed.
#[tokio::test]
async fn an_entry_that_had_to_hit_shows_its_payout_and_no_reversal() {
    let service = Service::start().await;
    service.put("/v1/jackpots/due", document("due", &by_amount(1, 2))).await;
    for entry in ["e0", "e1"] {
        let body = json!({"entry_id": entry, "player_id": "p", "stake": 1});
        service.post("/v1/jackpots/due/entries", body).await;
    }
    let operator = Operator::sign_in(&service).await;
    let list = eventually(PATIENCE, "the entries are indexed", async || {
        let page = operator.page("/console/entries?player_id=p").await;
        (page.html.contains("/entries/e0") && page.html.contains("/entries/e1")).then_some(page)
    })
    .await;
    assert!(list.text().contains("a must-hit · Receipt"), "{}", list.text());
    for (entry, is_reversible) in [("e0", true), ("e1", false)] {
        let path = format!("/console/jackpots/due/entries/{entry}");
        let page = operator.page(&path).await;
        assert_eq!(page.html.contains(&format!("{path}/reverse")), is_reversible, "{entry}");
    }
}

#[tokio::test]
async fn a_bound_key_sees_the_money_of_its_own_jackpot() {
    let service = Service::start().await;
    for id in ["spring", "autumn"] {
        won(&service, id, 1).await;
    }
    let bound = Operator::sign_in_with(&service, &bound_key(&service, "read", "jackpot:autumn").await).await;
    let list = bound.page("/console/payouts").await.text();
    assert!(list.contains("autumn #1") && !list.contains("spring #1"), "{list}");
    bound.get("/console/payouts?jackpot_id=spring").await.is(403);
    let other = service.get("/v1/payouts?jackpot_id=spring").await.body["items"][0]["payout_id"].clone();
    bound
        .get(&format!("/console/payouts/{}", text_of(&other)))
        .await
        .is(404);
    assert_eq!(bound.get("/console/files/csv/payouts").await.html.lines().count(), 2);
    for path in [
        "/console/jackpots/spring/entries/b%3A1",
        "/console/ledger/jackpot/spring/postings",
    ] {
        assert_eq!(bound.get(path).await.status, StatusCode::FORBIDDEN, "{path}");
    }
    bound.get("/console/ledger/jackpot/spring").await.is(404);
    bound.page("/console/ledger/jackpot/autumn/postings").await;
    // A key that may only look sees the same as one that acts.
    let reader = Operator::sign_in_with(&service, &key(&service, "read").await).await;
    reader.page("/console/payouts").await.says("spring #1");
}

#[tokio::test]
async fn while_sql_is_away_its_lists_say_so_and_the_overview_goes_on() {
    let mut postgres = PrivatePostgres::start().await.expect("apt-get install postgresql");
    let service = Service::start_with(&[("JACKPOT__LEDGER__URL", &postgres.url())]).await;
    won(&service, "spring", 1).await;
    let operator = Operator::sign_in(&service).await;
    operator.page("/console/payouts").await;
    postgres.stop_immediate();
    for path in [
        "/console/payouts",
        "/console/audit",
        "/console/ledger",
        "/console/ledger/jackpot/spring/head",
    ] {
        let away = operator.get(path).await;
        assert_eq!(away.status, StatusCode::SERVICE_UNAVAILABLE, "{path}");
        away.says("the ledger's database does not answer");
    }
    let overview = operator.page("/console/").await.text();
    overview.says("Spring & <wheel>");
    overview.says("Away Ledger");
    let instances = operator.page("/console/instances").await.text();
    instances.says("Away:");
    postgres.start_again().await;
    eventually(PATIENCE, "the list is back", async || {
        (operator.get("/console/payouts").await.status == StatusCode::OK).then_some(())
    })
    .await;
}

/// Newest first, with what ended each, its trigger and its seed.
#[tokio::test]
async fn the_page_of_a_jackpot_lists_its_cycles() {
    let service = Service::start().await;
    let mut must = definition("must");
    must["odds"] = json!({"total": 1, "ranks": []});
    must["tiers"][0]["must_hit_by"] = json!({"amount": {"low": 150, "high": 250}});
    service.put("/v1/jackpots/must", must).await.is(201);
    let entries = vec![json!({"player_id": "p", "stake": 100}); 1_000];
    let batch = json!({"batch_id": "b", "entries": entries});
    service.post("/v1/jackpots/must/entry-batches", batch).await.is(201);
    let operator = Operator::sign_in(&service).await;
    let (page, last) = eventually(PATIENCE, "all seeds are on the page", async || {
        let mut last = service.get("/v1/jackpots/must/fairness").await.body;
        while let Some(cursor) = last["next_cursor"].as_str() {
            last = service
                .get(&format!("/v1/jackpots/must/fairness?cursor={cursor}"))
                .await
                .body;
        }
        let page = operator.page("/console/jackpots/must").await;
        let cycles = last["cycles"].as_array().expect("cycles").clone();
        let (open, ended) = cycles.split_last()?;
        let has = |one: &Value| one["seed"].as_str().is_some_and(|seed| page.html.contains(seed));
        (ended.iter().all(has) && page.html.contains(text_of(&open["commitment"]))).then_some((page, cycles))
    })
    .await;
    // With 100 an entry each cycle ends with its second or third one: more than a page of them.
    let open = last.last().expect("a cycle");
    assert!(open["cycle"].as_u64() > Some(300), "{open}");
    let cycles = page.html.split("id=\"cycles\"").nth(1).expect("the cycles");
    let (newest, before) = (
        open["cycle"].to_string(),
        (open["cycle"].as_u64().unwrap_or(0) - 1).to_string(),
    );
    let place = |number: &str| cycles.find(&format!("<td class=\"number\">{number}</td>"));
    assert!(
        place(&newest) < place(&before) && place(&newest).is_some(),
        "{newest} {before}"
    );
    cycles.says("hit by its rule");
    cycles.says("€1.50 – €2.50");
}
