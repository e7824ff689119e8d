//! Which keys see the codes of coupons.

use super::support::{coupon, key};
use crate::support::given;
use crate::support::prelude::*;

#[tokio::test]
async fn a_read_key_sees_codes_only_when_it_was_made_for_them() {
    let service = Service::start().await;
    for id in ["coffee", "tea"] {
        service.put(&format!("/v1/coupons/{id}"), coupon(9)).await.is(201);
    }
    let odds = json!({"odds": {"total": 1, "ranks": [given::rank(1, &json!({"coupon": {"coupon_id": "tea"}}))]}});
    service
        .put("/v1/jackpots/wheel", given::document("wheel", &odds))
        .await
        .is(201);
    let won = service
        .post(
            "/v1/jackpots/wheel/entries",
            json!({"entry_id": "e1", "player_id": "p1", "stake": 1}),
        )
        .await;
    let prize = won.body["outcome"]["coupon"]["code"]
        .as_str()
        .expect("a code")
        .to_owned();
    let path = "/v1/coupons/coffee/issues";
    let issued = service.post(path, json!({"request_id": "r1", "user_id": "u1"})).await;
    let code = issued.body["code"].as_str().expect("a code").to_owned();
    let again = service.post(path, json!({"request_id": "r2", "user_id": "u1"})).await;
    assert_eq!(
        (again.status.as_u16(), &again.body["issue"]["code"]),
        (409, &json!(code))
    );

    let blind = key(&service, "blind", &["--role", "read"]).await;
    let seeing = key(&service, "seeing", &["--role", "read", "--codes"]).await;
    let play = key(&service, "play", &["--role", "play"]).await;
    for (asking, sees) in [(&blind, false), (&seeing, true), (&play, true)] {
        let expected = |code: &str| if sees { json!(code) } else { Value::Null };
        let one = asking.get(&format!("{path}/r1")).await;
        assert_eq!(one.get("code"), Some(&expected(&code)), "null, not absent: {one}");
        // The refusal contains the first issue.
        let refused = asking.get(&format!("{path}/r2")).await;
        assert_eq!(refused["issue"].get("code"), Some(&expected(&code)), "{refused}");
        assert!(refused.get("code").is_none(), "it has none of its own: {refused}");
        let entry = asking.get("/v1/jackpots/wheel/entries/e1").await;
        assert_eq!(
            entry["outcome"]["coupon"].get("code"),
            Some(&expected(&prize)),
            "{entry}"
        );
        let stream = asking
            .request(reqwest::Method::GET, &format!("{path}/r1/stream"))
            .send()
            .await
            .expect("an answer");
        let text = stream.text().await.expect("it ends");
        assert_eq!(text.contains(&code), sees, "{text}");
        assert!(sees || text.contains("\"code\":null"), "{text}");
    }
}
