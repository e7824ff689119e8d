//! Entries, postings, audit, head and reconciliation.

use jackpot::jackpot::ledger::entry_index::{IndexRow, insert};
use jackpot::jackpot::ledger::report::{MetersAndState, compare};

use super::fixture::{Books, T0, books, books_with, entry};
use crate::support::prelude::*;

on_both_databases!(
    entries_of_a_player_go_back_through_the_days,
    an_entry_shows_its_outcome_once_it_is_final,
    without_an_index_of_entries_the_question_is_refused,
    a_long_silence_is_passed_in_bounded_pages,
    postings_are_the_oldest_first,
    audit_is_the_newest_first_with_json_before_and_after,
    audit_shows_the_console_s_reason_where_the_event_has_none,
    the_head_is_that_of_the_jackpot,
    a_mismatch_is_a_problem_with_all_items,
    transfers_are_the_oldest_first_in_pages_and_as_csv,
);

const DAY_MS: i64 = 86_400_000;

async fn add(books: &Books, rows: &[IndexRow<'_>]) {
    let mut tx = books.sql.begin().await.unwrap();
    insert(&mut tx, rows).await.unwrap();
    tx.commit().await.unwrap();
}

fn numbers(rows: &[Value], name: &str) -> Vec<i64> {
    rows.iter().map(|row| row[name].as_i64().unwrap()).collect()
}

async fn entries_of_a_player_go_back_through_the_days(db: LedgerDb) {
    let books = books(db).await;
    let jackpot = |i: i64| if i % 3 == 0 { "autumn" } else { "spring" };
    let rows: Vec<_> = (1..=60)
        .map(|i| entry("p1", T0 + i * DAY_MS / 20, jackpot(i), i))
        .collect();
    add(&books, &rows).await;
    add(&books, &[entry("p2", T0, "spring", 61)]).await;
    let newest: Vec<_> = (1..=60).rev().collect();
    for limit in [1, 7, 20, 59, 60, 1000] {
        let found = books
            .walk(&format!("/v1/entries?player_id=p1&limit={limit}"), async |_| ())
            .await;
        assert_eq!(numbers(&found, "sequence"), newest, "{limit}");
    }
    let autumn = books
        .walk("/v1/entries?player_id=p1&jackpot_id=autumn&limit=4", async |_| ())
        .await;
    assert_eq!(
        numbers(&autumn, "sequence"),
        newest.iter().copied().filter(|i| i % 3 == 0).collect::<Vec<_>>()
    );
    // Entry 20 is the first of the second day, at midnight.
    let since = books
        .items("/v1/entries?player_id=p1&from=2025-11-22T00:00:00Z&limit=1000")
        .await;
    let until = books
        .items("/v1/entries?player_id=p1&to=2025-11-22T00:00:00Z&limit=1000")
        .await;
    assert_eq!(numbers(&since, "sequence"), newest[..41]);
    assert_eq!(numbers(&until, "sequence"), newest[41..]);
    assert_eq!(books.items("/v1/entries?player_id=p3").await, [Value::Null; 0]);
}

async fn an_entry_shows_its_outcome_once_it_is_final(db: LedgerDb) {
    let books = books(db).await;
    let definition = json!({
        "id": "spring", "name": "Spring", "currency": "KRW", "contribution": {"fixed": 1},
        "tiers": [{"tier": "grand", "share_ppm": 1_000_000, "min_payout": 1, "seed": 0, "reserve_ppm": 0, "cap": null,
                   "must_hit_by": null}],
        "odds": {"total": 10, "ranks": [{"rank": 1, "weight": 1, "prize": {"pool": {"tier": "grand", "take": "all"}}},
                                        {"rank": 2, "weight": 1, "prize": {"fixed": {"tier": "grand", "amount": 5}}}]},
    });
    books
        .run(&format!(
            "INSERT INTO definitions (kind, id, version, n, at_ms, json, kept) VALUES ('jackpot', 'spring', 3, 1, {T0}, \
             '{definition}', 1)"
        ))
        .await;
    books.payouts("spring", 2, 3, T0).await;
    let lost = entry("p1", T0 + 1, "spring", 1);
    let pool = IndexRow {
        rank: 1,
        client_seed: "lucky",
        ..entry("p1", T0 + 2, "spring", 2)
    };
    let fixed = IndexRow {
        rank: 2,
        ..entry("p1", T0 + 3, "spring", 3)
    };
    let pending = IndexRow {
        settled: false,
        ..entry("p1", T0 + 4, "spring", 4)
    };
    add(&books, &[lost, pool, fixed, pending]).await;
    let rows = books.items("/v1/entries?player_id=p1").await;
    assert_has!(rows[0], {"settled": false, "outcome": null});
    assert_eq!(rows[1]["outcome"]["prize"], "fixed");
    assert_eq!(
        rows[2],
        json!({
            "entry_id": "e", "jackpot_id": "spring", "player_id": "p1", "sequence": 2, "stake": 100,
            "client_seed": "lucky", "source_id": null, "entered_at": "2025-11-21T00:00:00.002Z", "event_id": "spring:3", "epoch": 1,
            "definition_version": 3, "settled": true,
            "outcome": {"rank": 1, "prize": "pool", "tier": "grand", "amount": 2, "payout_id": "spring-2",
                        "claim_order": 2, "coupon": null},
        })
    );
    let none = json!({"rank": 0, "prize": "none", "tier": null, "amount": null, "payout_id": null,
                      "claim_order": null, "coupon": null});
    assert_has!(rows[3], {"outcome": none, "client_seed": null});
}

async fn without_an_index_of_entries_the_question_is_refused(db: LedgerDb) {
    let books = books_with(db, 0).await;
    let (status, body) = books.get("/v1/entries?player_id=p1").await;
    assert_eq!((status, body["code"].as_str()), (422, Some("entry-index-off")));
    body["detail"].says("ledger.entry_index_days");
}

async fn a_long_silence_is_passed_in_bounded_pages(db: LedgerDb) {
    let books = books(db).await;
    let others: Vec<_> = (1..80)
        .map(|day| entry("p2", T0 + day * DAY_MS, "spring", day))
        .collect();
    add(&books, &others).await;
    add(&books, &[entry("p1", T0, "spring", 100)]).await;
    let (_, first) = books.get("/v1/entries?player_id=p1").await;
    assert_eq!(first["items"], json!([]));
    assert!(first["next_cursor"].is_string(), "31 days are enough for one page");
    let all = books.walk("/v1/entries?player_id=p1", async |_| ()).await;
    assert_eq!(numbers(&all, "sequence"), [100]);
    // A table that expired between two reads leaves a gap of that day, and no error.
    books.run("DELETE FROM entry_days WHERE day = '20251121'").await;
    assert_eq!(
        books.walk("/v1/entries?player_id=p1", async |_| ()).await,
        [Value::Null; 0]
    );
}

async fn postings_are_the_oldest_first(db: LedgerDb) {
    let books = books(db).await;
    books.jackpot("spring").await;
    // Event 4 happened by a clock that is behind, and what moved nothing is in no page.
    for (n, after_ms, moved) in [
        (1, 1, "grand c-1,p1"),
        (2, 2, "grand p-1,w1"),
        (3, 3, ""),
        (4, 0, "grand c-3:-500000,p2,m1:500000;mini c-1,p1"),
        (5, 2, "grand f-2,p2"),
    ] {
        books
            .run(&format!(
                "INSERT INTO events (kind, id, n, stream_id, at_ms, type, last_sequence, hash, moved, body) VALUES \
                 ('jackpot', 'spring', {n}, '', {T0} + {after_ms}, 'enter', {n}, '', '{moved}', '')"
            ))
            .await;
    }
    let path = "/v1/jackpots/spring/ledger?";
    let whole = books.items(&format!("{path}limit=1000")).await;
    let lines: Vec<_> = whole
        .iter()
        .map(|row| format!("{}.{}", row["n"], row["line"]))
        .collect();
    let order = [
        "4.0", "4.1", "4.2", "4.3", "4.4", "1.0", "1.1", "2.0", "2.1", "5.0", "5.1",
    ];
    assert_eq!(lines, order);
    for limit in 1..=12 {
        let pages = books.walk(&format!("{path}limit={limit}"), async |_| ()).await;
        assert_eq!(pages, whole, "{limit}");
    }
    let remainder = json!({"n": 4, "event_id": "spring:4", "line": 2, "at": "2025-11-21T00:00:00.000Z", "tier": "grand",
                           "account": "remainder", "amount": 1, "micro": 500_000});
    assert_eq!(whole[2], remainder);
    let all = &whole[5..];
    let expected = json!({"n": 1, "event_id": "spring:1", "line": 0, "at": "2025-11-21T00:00:00.001Z", "tier": "grand",
                          "account": "contributions", "amount": -1, "micro": 0});
    assert_eq!(all[0], expected);
    for (query, expected) in [
        ("from=2025-11-21T00:00:00.002Z", &all[2..]),
        ("to=2025-11-21T00:00:00.002Z", &whole[..7]),
        ("from=2025-11-21T00:00:00.001Z&to=2025-11-21T00:00:00.003Z", all),
    ] {
        assert_eq!(books.items(&format!("{path}{query}")).await, expected, "{query}");
    }
    let (status, body) = books.get("/v1/jackpots/autumn/ledger").await;
    assert_eq!((status, body["code"].as_str()), (404, Some("jackpot-not-found")));
    let (status, _) = books.get("/v1/jackpots/autumn/ledger/head").await;
    assert_eq!(status, 404);
}

async fn audit_is_the_newest_first_with_json_before_and_after(db: LedgerDb) {
    let books = books(db).await;
    for n in 1..=12 {
        let (jackpot, who) = (["spring", "autumn"][n % 2], ["anna", "ben", "cleo"][n % 3]);
        let action = ["pause", "resume"][n % 2];
        books
            .run(&format!(
                "INSERT INTO audit (subject, n, at_ms, who, action, target, before, after, reason, request_id) VALUES \
                 ('{jackpot}', {n}, {T0} + {n}, '{who}', '{action}', '{jackpot}', 'null', '{{\"n\":{n}}}', 'r{n}', 'q{n}')"
            ))
            .await;
    }
    let all = books.walk("/v1/audit?limit=5", async |_| ()).await;
    let expected = json!({"who": "anna", "at": "2025-11-21T00:00:00.012Z", "action": "pause", "target": "spring",
                          "before": null, "after": {"n": 12}, "reason": "r12", "request_id": "q12"});
    assert_eq!((all.len(), &all[0]), (12, &expected));
    let reasons = |rows: &[Value]| {
        rows.iter()
            .map(|row| row["reason"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    for (query, expected) in [
        ("jackpot_id=spring", vec!["r12", "r10", "r8", "r6", "r4", "r2"]),
        ("who=ben", vec!["r10", "r7", "r4", "r1"]),
        ("action=resume&who=ben", vec!["r7", "r1"]),
        ("jackpot_id=spring&who=anna", vec!["r12", "r6"]),
        (
            "from=2025-11-21T00:00:00.003Z&to=2025-11-21T00:00:00.005Z",
            vec!["r4", "r3"],
        ),
    ] {
        let rows = books.walk(&format!("/v1/audit?limit=1&{query}"), async |_| ()).await;
        assert_eq!(reasons(&rows), expected, "{query}");
    }
}

async fn audit_shows_the_console_s_reason_where_the_event_has_none(db: LedgerDb) {
    let books = books(db).await;
    for (n, who, reason, request) in [
        (1, "anna", "", "q1"),
        (2, "anna", "own", "q2"),
        (3, "ben", "", "q1"),
        (4, "anna", "", "q1"),
        (5, "anna", "", "q5"),
    ] {
        books
            .run(&format!(
                "INSERT INTO audit (subject, n, at_ms, who, action, target, before, after, reason, request_id) VALUES \
                 ('spring', {n}, {T0} + {n}, '{who}', 'define', 'spring', 'null', 'null', '{reason}', '{request}')"
            ))
            .await;
    }
    for (request, who, reason) in [("q1", "anna", "=told"), ("q2", "anna", "other"), ("q9", "ben", "none")] {
        let row =
            format!("INSERT INTO console_reasons (request_id, who, reason) VALUES ('{request}', '{who}', '{reason}')");
        books.run(&row).await;
    }
    let shown = ["", "=told", "", "own", "=told"];
    for path in ["/v1/audit", "/v1/audit?who=anna&jackpot_id=spring"] {
        let rows = books.items(path).await;
        let reasons: Vec<_> = rows.iter().map(|row| row["reason"].as_str().unwrap()).collect();
        let own: Vec<_> = if path.contains("anna") {
            vec!["", "=told", "own", "=told"]
        } else {
            shown.to_vec()
        };
        assert_eq!(reasons, own, "{path}");
    }
    let text = async |accept: &str| {
        let answer = books
            .request("/v1/audit")
            .header("accept", accept)
            .send()
            .await
            .unwrap();
        answer.text().await.unwrap()
    };
    let lines = text("application/x-ndjson").await;
    let reasons: Vec<_> = lines
        .lines()
        .map(|line| {
            serde_json::from_str::<Value>(line).unwrap()["reason"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    assert_eq!(reasons, shown);
    let csv = text("text/csv").await;
    assert_eq!(csv.matches(",'=told,q1\n").count(), 2, "{csv}");
}

async fn the_head_is_that_of_the_jackpot(db: LedgerDb) {
    let books = books(db).await;
    books.jackpot("spring").await;
    let (status, head) = books.get("/v1/jackpots/spring/ledger/head").await;
    assert_eq!(status, 200);
    assert_has!(head, {"jackpot_id": "spring", "n": 7});
    assert_eq!(head["hash"], "ab".repeat(32));
    assert_eq!(head["ledger_id"], books.sql.ledger_id());
    for name in ["at", "key_id", "signature"] {
        assert!(head[name].as_str().is_some_and(|text| !text.is_empty()), "{name}");
    }
}

async fn a_mismatch_is_a_problem_with_all_items(db: LedgerDb) {
    let books = books(db).await;
    let side = |pool| MetersAndState {
        meters: [("grand:pool".to_owned(), pool), ("grand:contributed".to_owned(), 41)].into(),
        ..MetersAndState::default()
    };
    for jackpot in ["autumn", "spring", "winter"] {
        books.jackpot(jackpot).await;
    }
    let store = async |jackpot: &str, pool| {
        let report = compare(&side(pool), &side(41));
        let json = serde_json::to_string(&report).unwrap();
        let clean = i64::from(report.clean);
        books
            .run(&format!(
                "DELETE FROM reconciliations WHERE kind = 'jackpot' AND id = '{jackpot}'"
            ))
            .await;
        books
            .run(&format!(
                "INSERT INTO reconciliations (kind, id, n, at_ms, clean, report) VALUES \
                 ('jackpot', '{jackpot}', 5, {T0}, {clean}, '{json}')"
            ))
            .await;
    };
    store("autumn", 41).await;
    store("spring", 41).await;
    let (status, clean) = books.get("/v1/reconciliation").await;
    assert_eq!(status, 200, "{clean}");
    let [autumn, spring, winter] = clean["items"].as_array().unwrap().as_slice() else {
        panic!("three: {clean}")
    };
    assert_has!(autumn, {"clean": true, "lag": null});
    assert_has!(spring, {"event": 5, "lag": 3, "stopped": null});
    assert_eq!(spring["checked_at"], "2025-11-21T00:00:00.000Z");
    assert_has!(winter, {"clean": null, "event": null}, "not checked yet is no mismatch");

    store("spring", 42).await;
    let (status, problem) = books.get("/v1/reconciliation").await;
    assert_eq!(
        (status, problem["code"].as_str()),
        (409, Some("reconciliation-mismatch"))
    );
    assert!(problem["detail"].as_str().unwrap().ends_with("about spring"));
    let tier = &problem["items"][1]["tiers"][0];
    assert_eq!(
        tier["differences"],
        json!([{"meter": "pool", "redis": 42, "ledger": 41}])
    );
    assert_has!(tier, {"identity_holds": false, "agrees": false});

    store("spring", 41).await;
    books
        .run("UPDATE streams SET stopped = 'event 9 is missing' WHERE kind = 'jackpot' AND id = 'winter'")
        .await;
    let (status, problem) = books.get("/v1/reconciliation").await;
    assert_eq!(
        (status, &problem["items"][2]["stopped"]),
        (409, &json!("event 9 is missing"))
    );
}

async fn transfers_are_the_oldest_first_in_pages_and_as_csv(db: LedgerDb) {
    let books = books(db).await;
    for jackpot in ["spring", "autumn"] {
        books.jackpot(jackpot).await;
    }
    // Event 3 was skipped and carried two transfers; those of another jackpot have the same ids and events.
    for (jackpot, n, place) in [
        ("spring", 9, 0),
        ("spring", 3, 1),
        ("spring", 3, 0),
        ("spring", 10, 0),
        ("autumn", 3, 0),
    ] {
        let done_ms = if n == 3 { T0 } else { 0 };
        books
            .run(&format!(
                "INSERT INTO transfers (jackpot_id, transfer_id, n, place, at_ms, to_id, parts, done_ms) VALUES \
                 ('{jackpot}', 't{n}-{place}', {n}, {place}, {T0}, 'winter', 'grand,mini,{n},600000,2,500000,7;', {done_ms})"
            ))
            .await;
    }
    let path = "/v1/jackpots/spring/transfers?";
    let ids = ["t3-0", "t3-1", "t9-0", "t10-0"];
    for limit in 1..=5 {
        let walked = books.walk(&format!("{path}limit={limit}"), async |_| ()).await;
        let found: Vec<_> = walked.iter().map(|row| row["transfer_id"].as_str().unwrap()).collect();
        assert_eq!(found, ids, "{limit}");
    }
    let all = books.items(path).await;
    let part = json!({"tier": "grand", "to_tier": "mini", "pool": 9, "reserve": 2, "overflow": 7,
                      "remainder_micro": 1_100_000});
    let expected = json!({"transfer_id": "t9-0", "jackpot_id": "spring", "to": "winter", "tiers": [part],
                          "state": "in-transit"});
    assert_eq!((&all[0]["state"], &all[2]), (&json!("done"), &expected));
    let (_, page) = books.get(&format!("{path}limit=1")).await;
    let cursor = page["next_cursor"].as_str().unwrap();
    let of_another = format!("/v1/jackpots/autumn/transfers?limit=1&cursor={cursor}");
    assert_eq!(books.refusal(&of_another).await, "cursor");
    let (status, body) = books.get("/v1/jackpots/summer/transfers").await;
    assert_eq!((status, body["code"].as_str()), (404, Some("jackpot-not-found")));
    let answer = books.request(path).header("accept", "text/csv").send().await.unwrap();
    let csv = answer.text().await.unwrap();
    let lines: Vec<_> = csv.lines().collect();
    assert_eq!((lines.len(), lines[0]), (5, "transfer_id,jackpot_id,to,state,tiers"));
    let cells = r#"[{""tier"":""grand"",""to_tier"":""mini"",""pool"":9,""reserve"":2,""overflow"":7,"#;
    let third = format!(r#"t9-0,spring,winter,in-transit,"{cells}""remainder_micro"":1100000}}]""#);
    assert_eq!(lines[3], third);
}
