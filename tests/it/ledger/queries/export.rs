//! CSV and NDJSON: all rows, in constant memory. A broken-off file never looks whole.

use std::time::Duration;

use reqwest::Response;

use super::fixture::{Books, T0, books};
use crate::support::prelude::*;

on_both_databases!(
    csv_and_ndjson_and_pages_hold_the_same_rows,
    a_table_without_rows_still_has_its_header,
    free_text_is_no_formula_in_csv,
    a_database_that_fails_in_mid_stream_breaks_the_transfer,
    exports_are_limited_and_their_places_are_given_back,
);

/// Rows whose export does not fit into the buffers of a connection.
const MANY: u32 = 60_000;

async fn export(books: &Books, path: &str, accept: &str) -> Response {
    let answer = books.request(path).header("accept", accept).send().await.unwrap();
    assert_eq!(answer.status(), 200, "{path}");
    assert!(answer.headers()["content-type"].to_str().unwrap().starts_with(accept));
    answer
}

async fn csv_rows(books: &Books, path: &str) -> Vec<Vec<(String, String)>> {
    let text = export(books, path, "text/csv").await.text().await.unwrap();
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().unwrap().clone();
    let named = |record: csv::StringRecord| {
        header
            .iter()
            .map(str::to_owned)
            .zip(record.iter().map(str::to_owned))
            .collect()
    };
    reader.records().map(|record| named(record.unwrap())).collect()
}

async fn ndjson_rows(books: &Books, path: &str) -> Vec<Value> {
    let text = export(books, path, "application/x-ndjson").await.text().await.unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// As a cell of CSV shows it.
fn cell(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

async fn csv_and_ndjson_and_pages_hold_the_same_rows(db: LedgerDb) {
    let books = books(db).await;
    books.payouts("spring", 1, 2500, T0).await;
    for query in ["", "min_amount=40&tier=grand&", "limit=7&", "limit=1000&"] {
        let path = format!("/v1/payouts?{query}");
        let rows = ndjson_rows(&books, &path).await;
        if query.starts_with("limit") {
            assert_eq!(rows, books.items(&path).await);
        } else {
            assert_eq!(rows, books.walk(&format!("{path}limit=999"), async |_| ()).await);
        }
        let cells = csv_rows(&books, &path).await;
        assert_eq!(cells.len(), rows.len(), "{query}");
        for (cells, row) in cells.iter().zip(&rows) {
            // Each part of these two has a column of its own. Nobody tracks these payouts.
            let whole = |name: &str| !["settlement", "void_receipt"].contains(&name);
            let columns = row.as_object().unwrap().keys().filter(|name| whole(name));
            assert!(columns.into_iter().all(|name| cells.iter().any(|(of, _)| of == name)));
            for (name, text) in cells {
                assert_eq!(*text, cell(&row[name]), "{name}");
            }
        }
    }
    let (_, page) = books.get("/v1/payouts?limit=100").await;
    let next = page["next_cursor"].as_str().unwrap();
    assert_eq!(
        ndjson_rows(&books, &format!("/v1/payouts?cursor={next}")).await.len(),
        2400
    );
    let answer = export(&books, "/v1/payouts", "text/csv").await;
    assert_eq!(
        answer.headers()["content-disposition"],
        "attachment; filename=\"payouts.csv\""
    );
}

async fn a_table_without_rows_still_has_its_header(db: LedgerDb) {
    let books = books(db).await;
    books.jackpot("spring").await;
    for (path, first) in [
        ("/v1/payouts", "payout_id,jackpot_id,"),
        ("/v1/audit", "who,at,"),
        ("/v1/entries?player_id=p1", "entry_id,jackpot_id,"),
        ("/v1/jackpots/spring/ledger", "n,event_id,"),
    ] {
        let text = export(&books, path, "text/csv").await.text().await.unwrap();
        assert!(text.starts_with(first) && text.lines().count() == 1, "{text}");
        assert_eq!(ndjson_rows(&books, path).await, [Value::Null; 0]);
    }
}

async fn free_text_is_no_formula_in_csv(db: LedgerDb) {
    let books = books(db).await;
    books
        .run(&format!(
            "INSERT INTO audit (subject, n, at_ms, who, action, target, before, after, reason, request_id) VALUES \
             ('spring', 2, {T0}, 'op', 'pause', 'spring', '{{\"status\":\"open\"}}', '{{\"status\":\"paused\"}}', \
             '=HYPERLINK(\"http://x\",\"y\")', 'r1')"
        ))
        .await;
    let row = &csv_rows(&books, "/v1/audit").await[0];
    let cell = |name: &str| row.iter().find(|(column, _)| column == name).unwrap().1.clone();
    assert_eq!(cell("reason"), "'=HYPERLINK(\"http://x\",\"y\")");
    assert_eq!(cell("before"), r#"{"status":"open"}"#);
    let exact = &ndjson_rows(&books, "/v1/audit").await[0];
    assert_eq!(exact["reason"], "=HYPERLINK(\"http://x\",\"y\")");
}

async fn a_database_that_fails_in_mid_stream_breaks_the_transfer(db: LedgerDb) {
    let books = books(db).await;
    books.payouts("spring", 1, MANY, T0).await;
    for accept in ["application/x-ndjson", "text/csv"] {
        let mut answer = export(&books, "/v1/payouts", accept).await;
        let first = answer.chunk().await.unwrap().expect("a first part");
        books.run("ALTER TABLE payouts RENAME TO gone").await;
        let mut read = first.len();
        let end = loop {
            match answer.chunk().await {
                Ok(Some(part)) => read += part.len(),
                end => break end,
            }
        };
        assert!(end.is_err(), "it must not look whole after {read} bytes");
        let (status, body) = books.get("/v1/payouts").await;
        assert_eq!(
            (status, body["code"].as_str()),
            (503, Some("store-unavailable")),
            "{body}"
        );
        let refused = books
            .request("/v1/payouts")
            .header("accept", accept)
            .send()
            .await
            .unwrap();
        assert_eq!(refused.status(), 503, "before the first row it is an answer");
        books.run("ALTER TABLE gone RENAME TO payouts").await;
    }
}

async fn exports_are_limited_and_their_places_are_given_back(db: LedgerDb) {
    let books = books(db).await;
    books.payouts("spring", 1, MANY, T0).await;
    let mut open = Vec::new();
    for _ in 0..4 {
        open.push(export(&books, "/v1/payouts", "text/csv").await);
    }
    let fifth = books
        .request("/v1/payouts")
        .header("accept", "text/csv")
        .send()
        .await
        .unwrap();
    assert_eq!(
        (fifth.status().as_u16(), fifth.headers().contains_key("retry-after")),
        (503, true)
    );
    assert_eq!(fifth.json::<Value>().await.unwrap()["code"], "too-many-exports");
    let (status, page) = books.get("/v1/payouts").await;
    assert_eq!(
        status,
        200,
        "pages are served all the same: {page}, {:?}",
        books.sql.down()
    );
    let whole = open.pop().unwrap().text().await.unwrap();
    assert_eq!(whole.lines().count(), MANY as usize + 1);
    drop(open);
    eventually(Duration::from_secs(10), "the places of clients that left", async || {
        let answer = books
            .request("/v1/payouts?limit=1")
            .header("accept", "text/csv")
            .send()
            .await
            .unwrap();
        (answer.status() == 200).then_some(())
    })
    .await;
}
