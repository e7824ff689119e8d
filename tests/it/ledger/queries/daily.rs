//! The route of daily reports, over rows that the tests wrote.

use std::collections::BTreeMap;

use jackpot::jackpot::ledger::queries::daily::{days, late};
use jackpot::sql::Kind;
use jackpot_core::ids::Id;

use super::fixture::{Books, T0, books};
use super::plans::plan;
use crate::support::given::{document, tier};
use crate::support::prelude::*;

on_both_databases!(
    a_day_has_its_tiers_and_sources_in_each_format,
    a_bound_key_sees_its_own_jackpots,
    what_is_wrong_with_a_request_is_said,
    runs_of_a_clock_that_went_back_count_on_their_day,
    a_report_looks_up_two_runs_of_each_jackpot,
);

const DAY_S: i64 = 86_400;

/// A jackpot whose last event is on the second day. `runs`: first and last event, begin of the quarter, totals.
async fn played(books: &Books, id: &str, runs: &[(i64, i64, i64, Value)]) {
    books.jackpot(id).await;
    let two = [tier("grand", 500_000, &json!({})), tier("mini", 500_000, &json!({}))];
    let json = document(id, &json!({"tiers": two, "sources": {"web": {}, "app": {}}}));
    let at_ms = T0 + DAY_S * 1_000 + 5;
    books
        .run(&format!(
            "INSERT INTO definitions (kind, id, version, n, at_ms, json, kept) VALUES ('jackpot', '{id}', 3, 1, {T0}, '{json}', 1)"
        ))
        .await;
    books
        .run(&format!(
            "INSERT INTO events (kind, id, n, stream_id, at_ms, type, last_sequence, hash, moved, body) VALUES \
             ('jackpot', '{id}', 7, '0-7', {at_ms}, 'enter', 9, '', '', '{{}}')"
        ))
        .await;
    let mut high = 0;
    for (first, last, at_s, totals) in runs {
        high = high.max(*at_s);
        books
            .run(&format!(
                "INSERT INTO report_runs (jackpot_id, first_n, n, at_s, high_s, version, totals) VALUES \
                 ('{id}', {first}, {last}, {at_s}, {high}, 3, '{totals}')"
            ))
            .await;
    }
}

/// Totals of a jackpot that took this many entries of 3, two of source `web` each third.
fn totals(entries: i64, paid: i64) -> Value {
    let contributed = 3 * entries;
    json!({
        "tiers": {
            "grand": {"held": contributed + 50 - paid, "contributed_micro": contributed * 1_000_000, "funded_micro": 50_000_000,
                "paid": paid, "payouts": i64::from(paid > 0), "wins": i64::from(paid > 0)},
        },
        "all": {"entries": entries, "stakes": entries * 100, "contributed_micro": contributed * 1_000_000, "paid": paid,
            "payouts": i64::from(paid > 0)},
        "sources": {"web": {"entries": entries, "stakes": entries * 100, "contributed_micro": contributed * 1_000_000,
            "paid": paid, "payouts": i64::from(paid > 0)}},
    })
}

async fn two_days(books: &Books, id: &str) {
    let begin = T0 / 1_000;
    let runs = [
        (1, 4, begin + 900, totals(4, 0)),
        (5, 6, begin + DAY_S - 900, totals(6, 0)),
        (7, 7, begin + DAY_S, totals(9, 77)),
    ];
    played(books, id, &runs).await;
}

async fn report(books: &Books, query: &str) -> Value {
    let (status, body) = books.get(&format!("/v1/reports/daily?{query}")).await;
    assert_eq!(status, 200, "{query}: {body}");
    body
}

async fn a_day_has_its_tiers_and_sources_in_each_format(db: LedgerDb) {
    let books = books(db).await;
    two_days(&books, "spring").await;
    let first = report(&books, "date=2025-11-21&jackpot_id=spring").await;
    let grand = json!({"row": "tier", "jackpot_id": "spring", "tier": "grand", "currency": "KRW", "opening": 0, "contributed": 18,
        "reversed": 0, "funded": 50, "transferred_in": 0, "transferred_out": 0, "voided": 0, "paid": 0, "payouts": 0, "wins": 0,
        "closing": 68});
    assert_has!(first, {"date": "2025-11-21", "complete": true});
    let rows = first["rows"].as_array().expect("rows");
    let named: Vec<_> = rows
        .iter()
        .map(|row| (row["tier"].clone(), row["source_id"].clone()))
        .collect();
    let nothing = Value::Null;
    assert_eq!(
        named,
        [
            (json!("grand"), nothing.clone()),
            (json!("mini"), nothing.clone()),
            (nothing.clone(), json!("app")),
            (nothing, json!("web"))
        ]
    );
    assert_eq!(rows[0], grand);
    let web = json!({"row": "source", "jackpot_id": "spring", "source_id": "web", "entries": 6, "stakes": 600, "contributed": 18,
        "reversed": 0, "paid": 0, "payouts": 0});
    assert_eq!(rows[3], web);
    let second = report(&books, "date=2025-11-22&jackpot_id=spring").await;
    assert_eq!(second["complete"], false, "Redis does not know this jackpot");
    let row = &second["rows"][0];
    let figures = ["opening", "contributed", "paid", "payouts", "wins", "closing"].map(|name| row[name].as_i64());
    assert_eq!(figures, [68, 9, 77, 1, 1, 0].map(Some));
    assert_eq!(
        report(&books, "date=2025-11-20&jackpot_id=spring").await["rows"],
        json!([])
    );
    let path = "/v1/reports/daily?date=2025-11-21&jackpot_id=spring";
    let lines = books
        .request(path)
        .header("accept", "application/x-ndjson")
        .send()
        .await
        .expect("an answer");
    assert_eq!(lines.headers()["content-type"], "application/x-ndjson");
    let lines = lines.text().await.expect("a body");
    let lines: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    assert_eq!(&lines, rows);
    let table = books
        .request(path)
        .header("accept", "text/csv")
        .send()
        .await
        .expect("an answer");
    let name = table.headers()["content-disposition"]
        .to_str()
        .expect("text")
        .to_owned();
    name.says("daily-2025-11-21.csv");
    let table = table.text().await.expect("a body");
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    let header = reader.headers().expect("a header").clone();
    assert_eq!(header.len(), 18);
    for (record, row) in reader.records().zip(rows) {
        let record = record.expect("a line");
        let cells: BTreeMap<&str, &str> = header
            .iter()
            .zip(record.iter())
            .filter(|(_, cell)| !cell.is_empty())
            .collect();
        let shown: BTreeMap<String, String> = row
            .as_object()
            .expect("an object")
            .iter()
            .map(|(name, value)| {
                (
                    name.clone(),
                    value.as_str().map_or_else(|| value.to_string(), str::to_owned),
                )
            })
            .collect();
        let shown: BTreeMap<&str, &str> = shown
            .iter()
            .map(|(name, cell)| (name.as_str(), cell.as_str()))
            .collect();
        assert_eq!(cells, shown);
    }
}

async fn a_bound_key_sees_its_own_jackpots(db: LedgerDb) {
    let mut books = books(db).await;
    for id in ["autumn", "spring", "winter"] {
        two_days(&books, id).await;
    }
    let ids = |report: &Value| -> Vec<String> {
        let rows = report["rows"].as_array().expect("rows").iter();
        let mut ids: Vec<_> = rows
            .map(|row| row["jackpot_id"].as_str().expect("an id").to_owned())
            .collect();
        ids.dedup();
        ids
    };
    assert_eq!(
        ids(&report(&books, "date=2025-11-21").await),
        ["autumn", "spring", "winter"]
    );
    let bound = books.bound_key.clone();
    books.ask_with(&bound);
    assert_eq!(ids(&report(&books, "date=2025-11-21").await), ["autumn", "spring"]);
    let (status, body) = books.get("/v1/reports/daily?date=2025-11-21&jackpot_id=winter").await;
    assert_eq!((status, &body["code"]), (403, &json!("wrong-subject")));
    let room = books.room_key.clone();
    books.ask_with(&room);
    assert_eq!(report(&books, "date=2025-11-21").await["rows"], json!([]));
}

async fn what_is_wrong_with_a_request_is_said(db: LedgerDb) {
    let books = books(db).await;
    two_days(&books, "spring").await;
    for date in [
        "",
        "today",
        "2026-13-01",
        "2026-02-30",
        "2026-1-1",
        "2025-11-21T00:00:00Z",
        "9999-12-31",
    ] {
        let field = books.refusal(&format!("/v1/reports/daily?date={date}")).await;
        assert_eq!(field, "date", "{date}");
    }
    assert_eq!(books.refusal("/v1/reports/daily?jackpot_id=spring").await, "date");
    assert_eq!(
        books.refusal("/v1/reports/daily?date=2025-11-21&limit=5").await,
        "limit"
    );
    let begun = books.refusal("/v1/reports/daily?date=2999-01-01").await;
    assert_eq!(begun, "date", "it has not begun");
    let (status, body) = books.get("/v1/reports/daily?date=2025-11-21&jackpot_id=nothing").await;
    assert_eq!((status, &body["code"]), (404, &json!("jackpot-not-found")));
    books.run("UPDATE streams SET n = 8").await;
    let (status, body) = books.get("/v1/reports/daily?date=2025-11-21&jackpot_id=spring").await;
    assert_eq!(
        (status, &body["code"]),
        (503, &json!("store-unavailable")),
        "figures are behind the ledger"
    );
}

/// After a run of the second day, one of the first.
async fn runs_of_a_clock_that_went_back_count_on_their_day(db: LedgerDb) {
    let books = books(db).await;
    let begin = T0 / 1_000;
    let runs = [
        (1, 2, begin + 900, totals(4, 0)),
        (3, 3, begin + DAY_S, totals(5, 0)),
        (4, 5, begin + DAY_S - 900, totals(8, 0)),
        (6, 6, begin + DAY_S, totals(9, 0)),
        (7, 7, begin + 2 * DAY_S, totals(10, 0)),
    ];
    played(&books, "spring", &runs).await;
    let mut left = 0;
    for (date, entries, funded) in [("2025-11-21", 7, 50), ("2025-11-22", 2, 0), ("2025-11-23", 1, 0)] {
        let rows = report(&books, &format!("date={date}&jackpot_id=spring")).await["rows"].clone();
        let row = &rows[0];
        assert_has!(row, {"opening": left, "contributed": entries * 3}, "{date}");
        left += entries * 3 + funded;
        assert_eq!(
            (&row["closing"], &rows[3]["entries"]),
            (&json!(left), &json!(entries)),
            "{date}"
        );
    }
}

/// Years of runs of many jackpots cost nothing: each is found by an index.
async fn a_report_looks_up_two_runs_of_each_jackpot(db: LedgerDb) {
    let books = books(db).await;
    let ids: Vec<Id> = (0..20).map(|i| Id::parse(&format!("j{i}")).expect("an id")).collect();
    for id in &ids {
        books.jackpot(id.as_str()).await;
        books
            .run(&format!(
                "INSERT INTO report_runs (jackpot_id, first_n, n, at_s, high_s, version, totals) WITH RECURSIVE c(i) AS \
                 (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 1000) SELECT '{id}', i, i, i * 900, i * 900, 1, '{{}}' FROM c"
            ))
            .await;
    }
    if books.sql.kind() == Kind::Postgres {
        books.run("ANALYZE").await;
    }
    let said = plan(&books, days(&ids, 90_000, 180_000)).await;
    said.says("report_runs_by_time");
    for scan in ["SCAN a", "SCAN z", "SCAN l", "SCAN m", "Seq Scan on report_runs"] {
        said.hides(scan);
    }
    let said = plan(&books, late(&ids, 180_000)).await;
    said.says("report_runs_late");
    for scan in ["SCAN z", "SCAN m", "Seq Scan on report_runs"] {
        said.hides(scan);
    }
}
