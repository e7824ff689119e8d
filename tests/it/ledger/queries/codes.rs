//! Only the keys that may see codes of coupons get them.

use jackpot::jackpot::ledger::books::Books as State;
use jackpot::jackpot::ledger::entry_index::{IndexRow, insert};

use super::fixture::{Books, T0, books, entry};
use crate::support::prelude::*;

on_both_databases!(
    a_list_of_issues_hides_its_codes,
    an_entry_hides_the_code_that_it_won,
    an_export_with_codes_is_refused,
    a_skipped_event_is_not_shown,
);

async fn a_list_of_issues_hides_its_codes(db: LedgerDb) {
    let mut books = books(db).await;
    books.stream("coupon", "coffee").await;
    books
        .run(&format!(
            "INSERT INTO coupon_issues (coupon_id, sequence, request_id, user_id, code, issued_at_ms, n, voided_at_ms, \
             voided_n) VALUES ('coffee', 1, 'r1', 'u1', 'SECRET', {T0}, 1, 0, 0)"
        ))
        .await;
    let path = "/v1/coupons/coffee/issues";
    assert_eq!(books.column(path, "code").await, ["SECRET"]);
    let bound = books.bound_key.clone();
    books.ask_with(&bound);
    assert_eq!(books.column(path, "code").await, [Value::Null]);
    for (accept, row) in [
        ("text/csv", "1,r1,u1,,2025-11-21T00:00:00"),
        ("application/x-ndjson", "\"code\":null"),
    ] {
        let text = books
            .request(path)
            .header("accept", accept)
            .send()
            .await
            .unwrap()
            .text()
            .await
            .unwrap();
        assert!(text.contains(row) && !text.contains("SECRET"), "{text}");
    }
}

/// Entry 1 of jackpot spring won a unit of coffee.
async fn prize(books: &Books) {
    books
        .run(&format!(
            "INSERT INTO coupon_prizes (jackpot_id, sequence, n, entry_id, player_id, rank, coupon_id, coupon_sequence, code, \
             issued_at_ms) VALUES ('spring', 1, 2, 'e', 'p1', 1, 'coffee', 7, 'SECRET', {T0})"
        ))
        .await;
}

async fn an_entry_hides_the_code_that_it_won(db: LedgerDb) {
    let mut books = books(db).await;
    let definition = json!({
        "id": "spring", "name": "Spring", "currency": "KRW", "contribution": {"fixed": 1},
        "tiers": [{"tier": "grand", "share_ppm": 1_000_000, "min_payout": 1, "seed": 0, "reserve_ppm": 0, "cap": null,
                   "must_hit_by": null}],
        "odds": {"total": 10, "ranks": [{"rank": 1, "weight": 1, "prize": {"coupon": {"coupon_id": "coffee"}}}]},
    });
    books
        .run(&format!(
            "INSERT INTO definitions (kind, id, version, n, at_ms, json, kept) VALUES ('jackpot', 'spring', 3, 1, {T0}, \
             '{definition}', 1)"
        ))
        .await;
    prize(&books).await;
    let row = IndexRow {
        rank: 1,
        ..entry("p1", T0, "spring", 1)
    };
    let mut tx = books.sql.begin().await.unwrap();
    insert(&mut tx, &[row]).await.unwrap();
    tx.commit().await.unwrap();
    let path = "/v1/entries?player_id=p1";
    let coupon = books.items(path).await[0]["outcome"]["coupon"].clone();
    assert_has!(coupon, {"coupon_id": "coffee", "code": "SECRET"});
    let bound = books.bound_key.clone();
    books.ask_with(&bound);
    let hidden = books.items(path).await[0]["outcome"]["coupon"].clone();
    assert_has!(hidden, {"coupon_id": "coffee", "code": null});
}

async fn an_export_with_codes_is_refused(db: LedgerDb) {
    let mut books = books(db).await;
    let seeing = books.bound_key.clone();
    let free = books.ask_with(&seeing);
    for id in ["spring", "autumn"] {
        books.jackpot(id).await;
        let state = serde_json::to_string(&State::default()).unwrap();
        books
            .run(&format!(
                "UPDATE streams SET books = '{state}' WHERE kind = 'jackpot' AND id = '{id}'"
            ))
            .await;
    }
    prize(&books).await;
    let asked = async |books: &Books, id: &str| {
        let answer = books
            .request(&format!("/v1/jackpots/{id}/ledger/export"))
            .send()
            .await
            .unwrap();
        answer.status().as_u16()
    };
    assert_eq!(
        (asked(&books, "spring").await, asked(&books, "autumn").await),
        (403, 200)
    );
    let (_, body) = books.get("/v1/jackpots/spring/ledger/export").await;
    assert_eq!(body["code"], "forbidden");
    body["detail"].says("--codes");
    books.ask_with(&free);
    assert_eq!(asked(&books, "spring").await, 200);
}

async fn a_skipped_event_is_not_shown(db: LedgerDb) {
    let mut books = books(db).await;
    books
        .run(&format!(
            "INSERT INTO audit (subject, n, at_ms, who, action, target, before, after, reason, request_id) VALUES \
             ('coupon:coffee', 2, {T0}, 'op', 'skip', 'coffee/2', '{{\"why\":\"torn\",\"event\":{{\"record\":\"i 1 2 SECRET u\"}}}}', \
             'null', 'r', 'q')"
        ))
        .await;
    books.items("/v1/audit").await[0]["before"].to_string().says("SECRET");
    let bound = books.bound_key.clone();
    books.ask_with(&bound);
    assert_eq!(
        books.items("/v1/audit").await[0]["before"],
        json!({"why": "torn", "event": null})
    );
}
