//! A bound key sees its own subjects: full pages, cursors that go on, and no trace of other subjects in pages or
//! cursors.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jackpot::jackpot::ledger::entry_index::insert;
use tokio::time::Instant;

use super::fixture::{Books, T0, books, entry};
use crate::support::prelude::*;

on_both_databases!(
    payouts_of_other_jackpots_leave_no_trace,
    a_player_of_many_jackpots_is_shown_in_those_of_the_key,
    the_audit_is_that_of_the_own_subjects,
    another_subject_named_is_refused,
    only_own_mismatches_are_a_problem,
    a_key_without_jackpots_sees_empty_lists,
    a_revoked_key_breaks_a_download_off,
);

/// Pages by the bound key; no cursor names another's jackpot, and each page but the last is full.
async fn walk_full(books: &Books, path: &str, limit: usize) -> Vec<Value> {
    let (mut all, mut cursor) = (Vec::new(), String::new());
    loop {
        let (status, body) = books.get(&format!("{path}limit={limit}{cursor}")).await;
        assert_eq!(status, 200, "{body}");
        let items = body["items"].as_array().unwrap();
        all.extend(items.iter().cloned());
        let Some(next) = body["next_cursor"].as_str() else {
            return all;
        };
        let inside = String::from_utf8(URL_SAFE_NO_PAD.decode(next).unwrap()).unwrap();
        inside.hides("winter");
        assert_eq!(items.len(), limit, "{path}: a page is full while more follow");
        cursor = format!("&cursor={next}");
    }
}

fn own(rows: &[Value], field: &str) -> Vec<Value> {
    let is_own = |row: &&Value| row[field] == "spring" || row[field] == "autumn";
    rows.iter().filter(is_own).cloned().collect()
}

async fn payouts_of_other_jackpots_leave_no_trace(db: LedgerDb) {
    let mut books = books(db).await;
    // All three have rows at the same times. Thousands of rows of another subject are between and before the own ones.
    books.payouts("spring", 1, 60, T0).await;
    books.payouts("autumn", 1, 45, T0).await;
    books.payouts("winter", 1, 30_000, T0 - 1_000_000).await;
    let everybody = books.bound_key.clone();
    for query in [
        "",
        "tier=mini&",
        "min_amount=30&",
        "tier=grand&min_amount=20&from=2025-11-21T00:00:10Z&",
    ] {
        let path = format!("/v1/payouts?{query}");
        let all = books.walk(&format!("{path}limit=1000"), async |_| ()).await;
        let expected = own(&all, "jackpot_id");
        assert!(expected.len() > 10, "{query}");
        let free = books.ask_with(&everybody);
        for limit in [1, 7, 100, 1000] {
            assert_eq!(walk_full(&books, &path, limit).await, expected, "{query} {limit}");
        }
        let lines = books
            .request(&path)
            .header("accept", "application/x-ndjson")
            .send()
            .await
            .unwrap();
        let lines = lines.text().await.unwrap();
        let rows: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(rows, expected, "{query}");
        let csv = books
            .request(&path)
            .header("accept", "text/csv")
            .send()
            .await
            .unwrap()
            .text()
            .await
            .unwrap();
        assert_eq!(csv.lines().count(), expected.len() + 1);
        csv.hides("winter");
        books.ask_with(&free);
    }
    // A cursor of the list for everybody is not valid for this one.
    let (_, page) = books.get("/v1/payouts?limit=1").await;
    let cursor = page["next_cursor"].as_str().unwrap().to_owned();
    books.ask_with(&everybody);
    assert_eq!(
        books.refusal(&format!("/v1/payouts?limit=1&cursor={cursor}")).await,
        "cursor"
    );
}

async fn a_player_of_many_jackpots_is_shown_in_those_of_the_key(db: LedgerDb) {
    let mut books = books(db).await;
    let jackpots = ["autumn", "spring", "winter"];
    let mut rows = Vec::new();
    for i in 0..300 {
        // Three rows at each time, and one time at which the player has more in another jackpot than a page looks at.
        rows.push(entry(
            "p1",
            T0 + (i / 3) * 1_000,
            jackpots[usize::try_from(i % 3).unwrap()],
            i + 1,
        ));
    }
    for i in 0..12_000 {
        rows.push(entry("p1", T0 + 50_000, "winter", 1_000 + i));
    }
    for rows in rows.chunks(2_000) {
        let mut tx = books.sql.begin().await.unwrap();
        insert(&mut tx, rows).await.unwrap();
        tx.commit().await.unwrap();
    }
    let path = "/v1/entries?player_id=p1&";
    let expected = own(
        &books.walk(&format!("{path}limit=1000"), async |_| ()).await,
        "jackpot_id",
    );
    assert_eq!(expected.len(), 200);
    let bound = books.bound_key.clone();
    books.ask_with(&bound);
    for limit in [1, 7, 60, 1000] {
        let (mut found, mut cursor) = (Vec::new(), String::new());
        loop {
            let (_, body) = books.get(&format!("{path}limit={limit}{cursor}")).await;
            found.extend(body["items"].as_array().unwrap().iter().cloned());
            let Some(next) = body["next_cursor"].as_str() else {
                break;
            };
            let inside = String::from_utf8(URL_SAFE_NO_PAD.decode(next).unwrap()).unwrap();
            inside.hides("winter");
            cursor = format!("&cursor={next}");
        }
        assert_eq!(found, expected, "{limit}");
    }
    // Payouts to a player go through the player's index as well.
    books.payouts("winter", 1, 30_000, T0).await;
    books.payouts("spring", 1, 20, T0 - 100_000).await;
    let found = books.walk("/v1/payouts?player_id=p3&limit=5", async |_| ()).await;
    assert_eq!(found.len(), 3);
    assert!(found.iter().all(|row| row["jackpot_id"] == "spring"));
}

async fn audit(books: &Books, subject: &str, n: i64, who: &str) {
    books
        .run(&format!(
            "INSERT INTO audit (subject, n, at_ms, who, action, target, before, after, reason, request_id) VALUES \
             ('{subject}', {n}, {T0} + {n} * 1000, '{who}', 'pause', '{subject}', 'null', 'null', 'r', 'q')"
        ))
        .await;
}

async fn the_audit_is_that_of_the_own_subjects(db: LedgerDb) {
    let mut books = books(db).await;
    let subjects = [
        "spring",
        "winter",
        "coupon:coffee",
        "coupon:tea",
        "room:spring",
        "coupon:spring",
    ];
    for n in 1..=60 {
        let subject = subjects[usize::try_from(n % 6).unwrap()];
        audit(&books, subject, n, if n % 2 == 0 { "anna" } else { "bob" }).await;
    }
    let bound = books.bound_key.clone();
    books.ask_with(&bound);
    for (query, count) in [
        ("", 20),
        ("who=anna&", 20),
        ("who=bob&", 0),
        ("jackpot_id=spring&", 10),
        ("coupon_id=coffee&", 10),
    ] {
        for limit in [3, 100] {
            let rows = walk_full(&books, &format!("/v1/audit?{query}"), limit).await;
            assert_eq!(rows.len(), count, "{query}");
            let is_own = |row: &Value| row["target"] == "spring" || row["target"] == "coupon:coffee";
            assert!(rows.iter().all(is_own), "{rows:?}");
            let times: Vec<_> = rows.iter().map(|row| row["at"].as_str().unwrap().to_owned()).collect();
            assert!(times.is_sorted_by(|a, b| a > b), "the newest first: {times:?}");
        }
    }
}

async fn another_subject_named_is_refused(db: LedgerDb) {
    let mut books = books(db).await;
    books.jackpot("winter").await;
    books.payouts("spring", 1, 1, T0).await;
    books.payouts("winter", 1, 1, T0).await;
    let bound = books.bound_key.clone();
    books.ask_with(&bound);
    for path in [
        "/v1/payouts?jackpot_id=winter",
        "/v1/entries?player_id=p1&jackpot_id=winter",
        "/v1/audit?jackpot_id=winter",
        "/v1/audit?coupon_id=spring",
        "/v1/audit?room_id=spring",
        "/v1/audit?jackpot_id=spring&coupon_id=tea",
        "/v1/jackpots/winter/ledger",
        "/v1/jackpots/winter/ledger/head",
        "/v1/jackpots/winter/ledger/export",
        "/v1/coupons/tea/issues",
        "/v1/jackpots/unknown/ledger",
        "/v1/jackpots/sp%2572ing/ledger",
    ] {
        let (status, body) = books.get(path).await;
        assert_eq!((status, body["code"].as_str()), (403, Some("wrong-subject")), "{path}");
        let detail = body["detail"].as_str().unwrap();
        detail.says("jackpot:spring");
        detail.hides("winter");
    }
    assert_eq!(books.get("/v1/payouts?jackpot_id=spring").await.0, 200);
    assert_eq!(books.get("/v1/payouts/spring-1").await.0, 200);
    // The same answer as for a payout that does not exist.
    for tail in ["", "/receipt"] {
        let (other, none) = (
            books.get(&format!("/v1/payouts/winter-1{tail}")).await,
            books.get(&format!("/v1/payouts/winter-2{tail}")).await,
        );
        assert_eq!(
            (other.0, &other.1["code"], &other.1["detail"]),
            (none.0, &none.1["code"], &none.1["detail"])
        );
        assert_eq!(other.0, 404);
    }
}

async fn only_own_mismatches_are_a_problem(db: LedgerDb) {
    let mut books = books(db).await;
    for id in ["spring", "winter"] {
        books.jackpot(id).await;
    }
    books
        .run("UPDATE streams SET stopped = 'broken' WHERE kind = 'jackpot' AND id = 'winter'")
        .await;
    assert_eq!(books.get("/v1/reconciliation").await.0, 409);
    let bound = books.bound_key.clone();
    books.ask_with(&bound);
    let (status, body) = books.get("/v1/reconciliation").await;
    assert_eq!(status, 200, "{body}");
    let ids: Vec<_> = body["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| &item["jackpot_id"])
        .collect();
    assert_eq!(ids, ["spring"]);
    assert_has!(body, {"coupons": [], "rooms": []});
}

async fn a_key_without_jackpots_sees_empty_lists(db: LedgerDb) {
    let mut books = books(db).await;
    books.payouts("spring", 1, 3, T0).await;
    audit(&books, "spring", 1, "anna").await;
    let room = books.room_key.clone();
    books.ask_with(&room);
    for path in [
        "/v1/payouts",
        "/v1/payouts?player_id=p1",
        "/v1/entries?player_id=p1",
        "/v1/audit",
    ] {
        assert_eq!(
            books.get(path).await.1,
            json!({"items": [], "next_cursor": null}),
            "{path}"
        );
        let csv = books.request(path).header("accept", "text/csv").send().await.unwrap();
        assert_eq!(csv.text().await.unwrap().lines().count(), 1, "{path}: the header");
    }
}

/// Rows whose export does not fit into the buffers of a connection.
const MANY: u32 = 60_000;

async fn a_revoked_key_breaks_a_download_off(db: LedgerDb) {
    let mut books = books(db).await;
    books.payouts("spring", 1, MANY, T0).await;
    let bound = books.bound_key.clone();
    books.ask_with(&bound);
    let mut answer = books
        .request("/v1/payouts")
        .header("accept", "application/x-ndjson")
        .send()
        .await
        .unwrap();
    let mut read = answer.chunk().await.unwrap().expect("a first part").len();
    books.keys.revoke(&"bound".parse().unwrap()).unwrap();
    // The rest waits in full buffers; the test reads it only once the key is refused.
    let refused = async || (books.get("/v1/payouts?limit=1").await.0 == 401).then_some(());
    let begun = Instant::now();
    crate::support::eventually(Duration::from_secs(5), "the key is refused", refused).await;
    assert!(begun.elapsed() < Duration::from_secs(2));
    let end = loop {
        match answer.chunk().await {
            Ok(Some(part)) => read += part.len(),
            end => break end,
        }
    };
    assert!(end.is_err(), "it must not look whole after {read} bytes");
}
