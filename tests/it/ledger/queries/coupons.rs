//! Coupons: their issues in order, as pages and whole, and their reconciliation beside that of jackpots.

use jackpot::coupon::ledger::books::Books as CouponBooks;
use jackpot::coupon::ledger::issues::IssueFilters;
use jackpot::coupon::ledger::projector::COUNT;
use jackpot::coupon::ledger::report::{Rows, Side, compare, with_rows};
use jackpot_core::ids::Id;
use sqlx::{AssertSqlSafe, Row};

use super::fixture::{Books, T0, books};
use super::plans::uses;
use crate::support::prelude::*;

on_both_databases!(
    issues_are_in_order_in_every_form,
    a_page_of_issues_is_a_range_of_the_primary_key,
    a_coupon_that_does_not_agree_is_a_problem_with_all_of_both_kinds,
    what_operators_did_to_coupons_is_paged_with_the_rest,
);

/// Issues 1 to `count`, one each second; every fifth is voided.
async fn issues(books: &Books, id: &str, count: u32) {
    books.stream("coupon", id).await;
    books
        .run(&format!(
            "INSERT INTO coupon_issues (coupon_id, sequence, request_id, user_id, code, issued_at_ms, n, voided_at_ms, \
             voided_n) WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < {count}) \
             SELECT '{id}', i, 'r' || i, 'u' || (i % 7), 'C' || i, {T0} + i * 1000, i + 1, \
             CASE WHEN i % 5 = 0 THEN {T0} ELSE 0 END, CASE WHEN i % 5 = 0 THEN 9 ELSE 0 END FROM c"
        ))
        .await;
}

async fn text(books: &Books, path: &str, accept: &str) -> String {
    let answer = books.request(path).header("accept", accept).send().await.unwrap();
    assert_eq!(answer.status(), 200, "{path}");
    assert!(answer.headers()["content-type"].to_str().unwrap().starts_with(accept));
    answer.text().await.unwrap()
}

async fn issues_are_in_order_in_every_form(db: LedgerDb) {
    let books = books(db).await;
    issues(&books, "coffee", 2_345).await;
    issues(&books, "tea", 3).await;
    books.stream("coupon", "new").await;
    let path = "/v1/coupons/coffee/issues";
    let rows = books.walk(&format!("{path}?limit=999"), async |_| ()).await;
    let sequences: Vec<_> = rows.iter().map(|row| row["sequence"].as_i64().unwrap()).collect();
    assert_eq!(sequences, (1..=2_345).collect::<Vec<_>>());
    assert_eq!(
        rows[0],
        json!({"sequence": 1, "request_id": "r1", "user_id": "u1", "code": "C1",
               "issued_at": "2025-11-21T00:00:01.000Z", "voided_at": null, "redeemed": null,
               "metadata": null})
    );
    assert_eq!(rows[4]["voided_at"], "2025-11-21T00:00:00.000Z");
    assert_eq!(books.items(path).await, rows[..100]);
    let lines = text(&books, path, "application/x-ndjson").await;
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines, rows);
    let csv = text(&books, path, "text/csv").await;
    let mut csv = csv.lines();
    assert_eq!(
        csv.next(),
        Some("sequence,request_id,user_id,code,issued_at,voided_at,redeemed_at,redemption_id,reference,metadata")
    );
    assert_eq!(csv.next(), Some("1,r1,u1,C1,2025-11-21T00:00:01.000Z,,,,,"));
    assert_eq!(
        csv.nth(3),
        Some("5,r5,u5,C5,2025-11-21T00:00:05.000Z,2025-11-21T00:00:00.000Z,,,,")
    );
    assert_eq!(csv.count(), 2_340);
    assert_eq!(books.items("/v1/coupons/tea/issues").await.len(), 3);
    assert_eq!(books.items("/v1/coupons/new/issues").await, Vec::<Value>::new());
    let (status, problem) = books.get("/v1/coupons/none/issues").await;
    assert_eq!((status, &problem["code"]), (404, &json!("coupon-not-found")));
    let (_, page) = books.get(&format!("{path}?limit=2")).await;
    let cursor = page["next_cursor"].as_str().unwrap();
    let refused = books.refusal(&format!("/v1/coupons/tea/issues?cursor={cursor}")).await;
    assert_eq!(refused, "cursor", "of another coupon");
    assert_eq!(books.refusal(&format!("{path}?limit=0")).await, "limit");
}

async fn a_page_of_issues_is_a_range_of_the_primary_key(db: LedgerDb) {
    let books = books(db).await;
    issues(&books, "coffee", 20_000).await;
    issues(&books, "tea", 5_000).await;
    if books.sql.kind() == jackpot::sql::Kind::Postgres {
        books.run("ANALYZE").await;
    }
    let filters = IssueFilters {
        coupon_id: Id::parse("coffee").unwrap(),
    };
    uses(
        &books,
        &filters.scan(),
        "sqlite_autoindex_coupon_issues_1",
        "coupon_issues_pkey",
    )
    .await;
}

/// Only on SQLite: PostgreSQL may as well scan a small table.
#[tokio::test]
async fn issues_are_counted_out_of_indexes() {
    let books = books(LedgerDb::sqlite()).await;
    issues(&books, "coffee", 1_000).await;
    books
        .run("INSERT INTO events VALUES ('coupon', 'coffee', 901, '0-0', 1, 'issue', 900, 'h', '', '{}')")
        .await;
    let plan: Vec<String> = sqlx::query(AssertSqlSafe(format!("EXPLAIN QUERY PLAN {COUNT}")))
        .fetch_all(books.sql.reader())
        .await
        .unwrap()
        .iter()
        .map(|row| row.get("detail"))
        .collect();
    for index in [
        "sqlite_autoindex_coupon_issues_1",
        "coupon_issues_voided",
        "coupon_redemptions_by_event",
    ] {
        let covered = format!("COVERING INDEX {index} (coupon_id=?");
        assert!(plan.iter().any(|step| step.contains(&covered)), "{plan:?}");
    }
    let counted = sqlx::query(COUNT).bind("coffee").bind(901_i64);
    let row = counted.fetch_one(books.sql.reader()).await.unwrap();
    let counts: (i64, i64) = (row.get("issued"), row.get("voided"));
    assert_eq!(counts, (900, 200), "voided by event 9, as all of them");
}

async fn a_coupon_that_does_not_agree_is_a_problem_with_all_of_both_kinds(db: LedgerDb) {
    let books = books(db).await;
    books.jackpot("spring").await;
    for id in ["coffee", "spring"] {
        books.stream("coupon", id).await;
    }
    let store = async |issued| {
        let ledger = CouponBooks {
            status: Some(jackpot_api::coupon::Status::Open),
            version: 1,
            stock: 10,
            sequence: 7,
            voided: 1,
            ..CouponBooks::default()
        };
        let rows = Rows {
            issued,
            voided: 1,
            redeemed: 0,
        };
        let report = with_rows(compare(&Side::of_books(&ledger), &ledger), rows);
        let (json, clean) = (serde_json::to_string(&report).unwrap(), i64::from(report.clean));
        books.run("DELETE FROM reconciliations").await;
        books
            .run(&format!(
                "INSERT INTO reconciliations (kind, id, n, at_ms, clean, report) \
                 VALUES ('coupon', 'coffee', 5, {T0}, {clean}, '{json}')"
            ))
            .await;
    };
    store(7).await;
    let (status, clean) = books.get("/v1/reconciliation").await;
    assert_eq!(status, 200, "{clean}");
    assert_eq!(clean["items"].as_array().map(Vec::len), Some(1));
    let [coffee, spring] = clean["coupons"].as_array().unwrap().as_slice() else {
        panic!("two: {clean}")
    };
    assert_has!(coffee, {"coupon_id": "coffee", "event": 5, "clean": true});
    assert_eq!(coffee["checked_at"], "2025-11-21T00:00:00.000Z");
    assert_has!(spring, {"clean": null, "event": null});

    store(6).await;
    let (status, problem) = books.get("/v1/reconciliation").await;
    assert_eq!((status, &problem["code"]), (409, &json!("reconciliation-mismatch")));
    assert!(problem["detail"].as_str().unwrap().ends_with("about coupon coffee"));
    assert_eq!(problem["items"].as_array().map(Vec::len), Some(1));
    let state = problem["coupons"][0]["state"].as_array().unwrap();
    let wrong: Vec<_> = state.iter().filter(|row| row["agrees"] == false).collect();
    assert_eq!(
        wrong[0],
        &json!({"name": "issued rows", "redis": "7", "ledger": "6", "agrees": false})
    );
    assert_eq!(wrong[1]["name"], "stock = remaining + issued - voided");

    store(7).await;
    books
        .run("UPDATE streams SET stopped = 'event 9 is missing' WHERE kind = 'coupon' AND id = 'spring'")
        .await;
    let (status, problem) = books.get("/v1/reconciliation").await;
    assert_eq!(
        (status, &problem["coupons"][1]["stopped"]),
        (409, &json!("event 9 is missing"))
    );
}

async fn what_operators_did_to_coupons_is_paged_with_the_rest(db: LedgerDb) {
    let books = books(db).await;
    for n in 1..=9 {
        let (subject, target) = [("coupon:coffee", "coffee/r1"), ("spring", "spring")][n % 2];
        books
            .run(&format!(
                "INSERT INTO audit (subject, n, at_ms, who, action, target, before, after, reason, request_id) VALUES \
                 ('{subject}', {n}, {T0}, 'anna', 'void', '{target}', 'null', 'null', '', 'q{n}')"
            ))
            .await;
    }
    let all = books.walk("/v1/audit?limit=1", async |_| ()).await;
    let targets: Vec<_> = all.iter().map(|row| row["target"].as_str().unwrap()).collect();
    assert_eq!(targets, [["spring"].repeat(5), ["coffee/r1"].repeat(4)].concat());
    let of_jackpot = books.walk("/v1/audit?jackpot_id=spring&limit=2", async |_| ()).await;
    assert_eq!(of_jackpot.len(), 5);
    let of_coupon = books.walk("/v1/audit?coupon_id=coffee&limit=3", async |_| ()).await;
    assert_eq!(of_coupon.len(), 4);
    let of_both = books.items("/v1/audit?coupon_id=coffee&jackpot_id=spring").await;
    assert_eq!(of_both, Vec::<Value>::new());
}
