//! Promise 9 from outside: amounts around 2^53 and the limits of 64 bits are refused by name and change nothing.

use crate::jackpot::fixture::document;
use crate::support::prelude::*;

const MAX: i64 = 9_007_199_254_740_991;

async fn meters(service: &Service) -> Value {
    service.get("/v1/jackpots/edge").await.body["meters"].clone()
}

async fn fund(service: &Service, id: &str, amount: Value) -> Answer {
    let body = json!({"adjustment_id": id, "tier": "grand", "meter": "pool", "amount": amount, "reason": "a test"});
    service.post("/v1/jackpots/edge/adjustments", body).await
}

#[tokio::test]
async fn heavy_amounts_beyond_the_limit_are_refused_and_change_nothing() {
    let service = Service::start().await;
    service
        .put("/v1/jackpots/edge", document("edge", &json!({})))
        .await
        .is(201);
    let before = meters(&service).await;

    for stake in [
        json!(MAX + 1),
        json!(i64::MAX),
        json!(u64::MAX),
        json!(i64::MIN),
        json!(-1),
        json!(1e300),
        json!(0.5),
    ] {
        let body = json!({"entry_id": "e", "player_id": "p", "stake": stake});
        let answer = service.post("/v1/jackpots/edge/entries", body).await;
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{stake}");
        assert_eq!(
            (&answer.body["code"], &answer.body["errors"][0]["field"]),
            (&json!("invalid-request"), &json!("stake")),
            "{stake}"
        );
    }
    for amount in [
        json!(MAX + 1),
        json!(-MAX - 1),
        json!(i64::MAX),
        json!(i64::MIN),
        json!(u64::MAX),
        json!(0),
        json!(1.5),
    ] {
        let answer = fund(&service, "a", amount.clone()).await;
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{amount}");
        assert_eq!(answer.body["errors"][0]["field"], json!("amount"), "{amount}");
    }
    for (field, value) in [
        ("fixed", json!(MAX + 1)),
        ("fixed", json!(-1)),
        ("rate_ppm", json!(1_000_001)),
    ] {
        let answer = service
            .put(
                "/v1/jackpots/edge",
                document("edge", &json!({"contribution": {field: value}})),
            )
            .await;
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{field}");
        assert_eq!(
            answer.body["errors"][0]["field"],
            json!(format!("contribution.{field}"))
        );
    }
    assert_eq!(meters(&service).await, before);
}

#[tokio::test]
async fn heavy_the_largest_amounts_are_taken_to_the_unit() {
    let service = Service::start().await;
    let largest = json!({"contribution": {"fixed": MAX}});
    service
        .put("/v1/jackpots/edge", document("edge", &largest))
        .await
        .is(201);
    let body = |id: &str| json!({"entry_id": id, "player_id": "p", "stake": MAX});
    let first = service.post("/v1/jackpots/edge/entries", body("a")).await;
    first.is(201);
    assert_eq!(
        first.body["contributions"],
        json!([{"tier": "grand", "amount": MAX, "pool": MAX}])
    );
    let before = meters(&service).await;
    service
        .post("/v1/jackpots/edge/entries", body("b"))
        .await
        .refused(422, "amount-too-large");
    fund(&service, "f", json!(1)).await.refused(422, "amount-too-large");
    assert_eq!(meters(&service).await, before);
    fund(&service, "out", json!(-MAX)).await.is(201);
    assert_eq!(meters(&service).await[0]["funded"], json!(-MAX));
}
