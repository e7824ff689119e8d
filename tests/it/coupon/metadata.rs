//! The metadata of requests: their scripts, the ledger, and the API.

use jackpot::coupon::scripts::{Acted, Redeemed};

use crate::coupon::fixture::{CouponFixture, ask, ask_queue, letters, record, with_codes, with_metadata};
use crate::coupon::http::support::{create, look, send};
use crate::coupon::ledger::fixture::CouponLedger;
use crate::support::prelude::*;

on_both_databases!(a_restore_gives_back_the_metadata_of_every_request);

#[tokio::test]
async fn a_user_with_and_without_metadata_is_one_user() {
    let fixture = CouponFixture::with(&json!({"per_user": 1})).await;
    let noted = |request: &str, user: &str| with_metadata(ask(request, user), &[("order", "8812")]);
    // In one call: the second request of the user finds the first one's unit.
    let asked = fixture
        .answers(&[noted("a", "u"), ask("b", "u"), ask("c", "v"), noted("d", "v")])
        .await;
    assert_eq!(letters(&asked), "iaia");
    let of = |n: usize| {
        record(&asked[n])
            .user
            .metadata
            .as_ref()
            .map(jackpot::coupon::metadata::Metadata::json)
    };
    let json = Some(r#"{"order":"8812"}"#.to_owned());
    assert_eq!([of(0), of(1), of(2), of(3)], [json.clone(), None, None, json.clone()]);
    assert_eq!(letters(&[fixture.now("e", "u").await]), "a", "also in another call");
    let users = fixture.hash(&fixture.keys.users).await;
    assert_eq!(users.keys().map(String::as_str).collect::<Vec<_>>(), ["u", "v"]);
    let Acted::Done(voided) = fixture.void("a").await else {
        panic!("not voided")
    };
    assert_eq!(
        record(&voided).user,
        record(&asked[0]).user,
        "it stays with its request"
    );
    let event = fixture.last_event("void").await;
    assert_eq!((event["user"].as_str(), event["users"].as_str()), ("u", "-1"));
    let again = fixture.answers(&[noted("f", "u")]).await;
    assert_eq!(letters(&again), "i", "the user has none any more");
    let Redeemed::Done(redeemed) = fixture.redeem("f", "till-1", "x").await else {
        panic!("not redeemed")
    };
    assert_eq!(record(&redeemed).user, record(&again[0]).user);
    assert_eq!(fixture.last_event("redeem").await["user"], "u");
}

#[tokio::test]
async fn metadata_goes_with_its_request_through_the_queue_and_back() {
    let fixture = CouponFixture::with(&json!({})).await;
    let noted = with_metadata(ask_queue("q", "u"), &[("order", "8812"), ("shop", "서울")]);
    let joined = fixture.answers(std::slice::from_ref(&noted)).await.remove(0);
    assert_eq!(record(&joined).user, noted.user);
    fixture.wear_out().await;
    let dead = fixture.lookup("q").await.expect("a record");
    assert_eq!(
        (letters(std::slice::from_ref(&dead)), &record(&dead).user),
        ("d".to_owned(), &noted.user)
    );
    fixture.redrive("q").await;
    let (_, taken) = fixture.served("one", "t1", &[], 1).await;
    assert_eq!(taken[0].user, noted.user);
    let (answers, _) = fixture.served("one", "t2", &with_codes(["q"]), 0).await;
    let issued = answers.into_iter().flatten().next().expect("an answer");
    assert_eq!(
        (letters(std::slice::from_ref(&issued)), &record(&issued).user),
        ("i".to_owned(), &noted.user)
    );
    assert_eq!(letters(&[fixture.now("other", "u").await]), "a");
}

async fn a_restore_gives_back_the_metadata_of_every_request(db: LedgerDb) {
    let fixture = CouponLedger::with(db, &json!({"stock": 3})).await;
    let noted = |asked| with_metadata(asked, &[("order", "8812"), ("shop", "서울")]);
    fixture
        .answers(&[noted(ask("a", "u")), ask("b", "v"), noted(ask("refused", "u"))])
        .await;
    fixture.answers(&[noted(ask_queue("dead", "w"))]).await;
    fixture.wear_out().await;
    fixture.answers(&[noted(ask_queue("queued", "x"))]).await;
    fixture.redeem("a", "till-1", "y").await;
    fixture.project().await;
    fixture.assert_complete().await;
    let rows = fixture.own_rows("coupon_metadata", "sequence json", "sequence").await;
    assert_eq!(rows, [["1", r#"{"order":"8812","shop":"서울"}"#]]);
    let before = fixture.contents().await;
    fixture.wipe().await;
    fixture.heal().await;
    assert_eq!(fixture.contents().await, before);
    fixture.project().await;
    assert!(fixture.report().await.clean, "{:?}", fixture.report().await);
    fixture.redrive("dead").await;
    let (_, taken) = fixture.served("one", "t1", &[], 1).await;
    assert_eq!(
        (taken[0].request_id.as_str(), &taken[0].user),
        ("dead", &noted(ask("dead", "w")).user)
    );
}

async fn wish(service: &Service, request: &str, user: &str, metadata: &Value) -> Answer {
    let body = json!({"request_id": request, "user_id": user, "metadata": metadata});
    service.post("/v1/coupons/coffee/issues", body).await
}

#[tokio::test]
async fn the_api_compares_and_shows_metadata() {
    let service = Service::start().await;
    create(&service, "coffee", 5, &json!({})).await;
    let noted = json!({"order": "8812", "shop": "서울"});
    let issued = wish(&service, "r1", "u1", &noted).await;
    assert_answer!(issued, 201, {"metadata": noted});
    // The order of the names is no content.
    let text = r#"{"request_id":"r1","user_id":"u1","metadata":{"shop":"서울","order":"8812"}}"#;
    let headers = [("content-type", "application/json")];
    let path = "/v1/coupons/coffee/issues";
    let (status, _, again) = send(&service, reqwest::Method::POST, path, &headers, text).await;
    assert_eq!((status, again), (StatusCode::OK, issued.text.clone()));
    for other in [
        json!({"order": "8813", "shop": "서울"}),
        json!({"order": "8812"}),
        json!(null),
        json!({}),
    ] {
        let reused = wish(&service, "r1", "u1", &other).await;
        let found = (reused.status.as_u16(), &reused.body["code"]);
        assert_eq!(found, (422, &json!("request-id-reused")), "{other}");
    }
    let plain = wish(&service, "r2", "u2", &json!(null)).await;
    assert!(
        plain.status == StatusCode::CREATED && plain.body.get("metadata").is_none(),
        "{}",
        plain.text
    );
    let empty = wish(&service, "r2", "u2", &json!({})).await;
    assert_eq!(
        (empty.status, empty.text),
        (StatusCode::OK, plain.text),
        "no text is no metadata"
    );
    assert_eq!(
        wish(&service, "r2", "u2", &noted).await.body["code"],
        "request-id-reused"
    );
    let many: serde_json::Map<_, _> = (0..17).map(|n| (format!("n{n}"), json!("x"))).collect();
    let long = json!({"a": "x".repeat(1_017)});
    for wrong in [json!(many), long, json!({"a": "\u{0}"}), json!({"a": 1}), json!(["a"])] {
        let refused = wish(&service, "r3", "u3", &wrong).await;
        let field = refused.body["errors"][0]["field"].as_str().unwrap_or_default();
        assert!(
            refused.status == StatusCode::UNPROCESSABLE_ENTITY && field.starts_with("metadata"),
            "{}",
            refused.text
        );
    }
    let already = wish(&service, "r4", "u1", &json!(null)).await;
    assert_eq!(already.body["issue"]["metadata"], noted, "{}", already.text);
    assert_eq!(look(&service, "coffee", "r1").await.body["metadata"], noted);
    let list = "{\"request_id\":\"b1\",\"user_id\":\"u8\",\"metadata\":{\"order\":\"1\"}}\n{\"request_id\":\"r1\",\"user_id\":\"u1\"}\n";
    let (_, _, text) = send(
        &service,
        reqwest::Method::POST,
        "/v1/coupons/coffee/bulk-issues",
        &[("content-type", "application/x-ndjson")],
        list,
    )
    .await;
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    assert_eq!(lines[0]["metadata"], json!({"order": "1"}), "{text}");
    assert_eq!(lines[1]["code"], "request-id-reused", "{text}");
    let rows = eventually(PATIENCE, "the list has them", async || {
        let list = service.get("/v1/coupons/coffee/issues").await.body;
        let rows = list["items"].as_array()?.clone();
        (rows.len() == 3).then_some(rows)
    })
    .await;
    let shown: Vec<_> = rows.iter().map(|row| row["metadata"].clone()).collect();
    assert_eq!(shown, [noted, json!(null), json!({"order": "1"})]);
    let csv = [("accept", "text/csv")];
    let (_, _, text) = send(&service, reqwest::Method::GET, path, &csv, "").await;
    text.says("\"{\"\"order\"\":\"\"8812\"\",\"\"shop\"\":\"\"서울\"\"}\"");
}
