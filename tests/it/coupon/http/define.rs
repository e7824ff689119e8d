//! Definitions over HTTP: created, changed, conditions, what is wrong, lists.

use super::support::{ask, create, definition, send};
use crate::support::prelude::*;

async fn put(service: &Service, id: &str, condition: (&str, &str), body: &Value) -> (u16, String, Value) {
    let headers = [("content-type", "application/json"), condition];
    let path = format!("/v1/coupons/{id}");
    let (status, headers, text) = send(service, Method::PUT, &path, &headers, body.to_string()).await;
    let tag = headers.get("etag").map(|tag| tag.to_str().expect("text").to_owned());
    (
        status.as_u16(),
        tag.unwrap_or_default(),
        serde_json::from_str(&text).expect("JSON"),
    )
}

#[tokio::test]
async fn a_coupon_is_created_changed_and_kept_as_it_was() {
    let service = Service::start().await;
    let first = definition(2, &json!({"starts_at": "2020-01-01T01:00:00+01:00"}));
    let (status, tag, shown) = put(&service, "tagged", ("if-none-match", "*"), &first).await;
    assert_eq!((status, tag.as_str()), (201, "\"1\""));
    assert_eq!(
        shown,
        json!({"id": "tagged", "name": "A test", "stock": 2, "per_user": 1, "per_user_window_s": null,
            "starts_at": "2020-01-01T00:00:00.000Z", "ends_at": null, "status": "open", "stopped": null, "version": 1, "issued": 0,
            "voided": 0, "remaining": 2, "queued": 0, "dead": 0})
    );
    let again = put(&service, "tagged", ("if-match", "*"), &first).await;
    assert_eq!((again.0, again.1.as_str()), (200, "\"1\""), "the same changes nothing");
    let (status, _, problem) = put(&service, "tagged", ("if-none-match", "*"), &first).await;
    assert_eq!((status, &problem["code"]), (412, &json!("precondition-failed")));
    let more = definition(3, &json!({}));
    let (status, tag, shown) = put(&service, "tagged", ("if-match", "\"1\""), &more).await;
    assert_eq!((status, tag.as_str(), &shown["remaining"]), (200, "\"2\"", &json!(3)));
    let late = definition(9, &json!({}));
    let (status, _, problem) = put(&service, "tagged", ("if-match", "\"1\""), &late).await;
    assert_eq!((status, &problem["code"]), (412, &json!("precondition-failed")));
    let (status, _, problem) = put(&service, "missing", ("if-match", "*"), &late).await;
    assert_eq!((status, &problem["code"]), (412, &json!("precondition-failed")));
    let (status, _, problem) = put(&service, "tagged", ("if-match", "2"), &late).await;
    assert_eq!((status, &problem["errors"][0]["field"]), (422, &json!("If-Match")));
    let read = service.get("/v1/coupons/tagged").await;
    assert_eq!(
        (read.headers["etag"].to_str().expect("text"), &read.body["stock"]),
        ("\"2\"", &json!(3))
    );
}

#[tokio::test]
async fn the_stock_never_goes_below_what_is_out_and_wrong_fields_are_named() {
    let service = Service::start().await;
    create(&service, "fields", 2, &json!({})).await;
    for user in ["u1", "u2"] {
        ask(&service, "fields", user, user).await.is(201);
    }
    for (change, field) in [
        (json!({"stock": 1}), "stock"),
        (json!({"stock": -1}), "stock"),
        (json!({"stock": 9_007_199_254_740_992_u64}), "stock"),
        (json!({"per_user": 0}), "per_user"),
        (json!({"ends_at": "never"}), "ends_at"),
        (json!({"colour": "red"}), "colour"),
        (json!({"id": "fields"}), "id"),
    ] {
        service
            .put("/v1/coupons/fields", definition(5, &change))
            .await
            .invalid(field);
    }
    assert_eq!(service.get("/v1/coupons/fields").await.body["version"], 1);
}

#[tokio::test]
async fn coupons_are_listed_in_pages_by_their_ids() {
    let service = Service::start().await;
    for id in ["b", "c", "a"] {
        create(&service, id, 1, &json!({})).await;
    }
    let mut seen = Vec::new();
    let mut path = "/v1/coupons?limit=2".to_owned();
    for _ in 0..2 {
        let page = service.get(&path).await.body;
        let items = page["items"].as_array().expect("items").clone();
        seen.extend(
            items
                .into_iter()
                .map(|item| item["id"].as_str().expect("an id").to_owned()),
        );
        path = format!(
            "/v1/coupons?limit=2&cursor={}",
            page["next_cursor"].as_str().unwrap_or("end")
        );
    }
    assert_eq!(seen, ["a", "b", "c"]);
    for wrong in ["limit=0", "limit=1001", "cursor=x:y", "offset=1"] {
        let answer = service.get(&format!("/v1/coupons?{wrong}")).await;
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{wrong}");
    }
}
