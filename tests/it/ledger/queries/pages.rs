//! Pages of payouts: filters, edges, cursors.

use std::collections::HashSet;

use super::fixture::{T0, books};
use crate::support::prelude::*;

on_both_databases!(
    pages_have_no_gap_and_no_repeat_while_rows_are_added,
    payouts_are_whole_receipts_the_newest_first,
    every_filter_keeps_what_fits_it,
    from_is_inclusive_and_to_is_exclusive,
    a_cursor_is_for_its_own_list_and_filters,
    wrong_filters_are_named,
    a_rare_row_among_many_is_found_over_short_pages,
);

async fn pages_have_no_gap_and_no_repeat_while_rows_are_added(db: LedgerDb) {
    let books = books(db).await;
    books.payouts("spring", 1, 50, T0).await;
    books.payouts("autumn", 1, 50, T0).await;
    let later = T0 + 1_000_000;
    let seen = books
        .walk("/v1/payouts?limit=7", async |page| {
            let order = 1000 + u32::try_from(page).unwrap();
            // One payout is newer than all. Another jackpot's projector brings the other one late, before what was
            // read.
            books.payouts("spring", order, order, later).await;
            books.payouts("winter", order, order, T0 - 2_000_000).await;
        })
        .await;
    let ids: Vec<_> = seen.iter().map(|row| row["payout_id"].as_str().unwrap()).collect();
    let unique: HashSet<_> = ids.iter().collect();
    assert_eq!(unique.len(), ids.len(), "none twice");
    let first: Vec<_> = ids
        .iter()
        .filter(|id| !id.contains("10") && !id.starts_with("winter"))
        .collect();
    let expected: HashSet<_> = (1..=50)
        .filter(|i| *i != 10)
        .flat_map(|i| [format!("spring-{i}"), format!("autumn-{i}")])
        .collect();
    assert_eq!(first.len(), expected.len(), "all that were there: {first:?}");
    let times: Vec<_> = seen.iter().map(|row| row["paid_at"].as_str().unwrap()).collect();
    assert!(times.is_sorted_by(|a, b| a >= b), "the newest first");
    assert!(
        ids.iter().any(|id| id.starts_with("winter")),
        "older rows that came late are still ahead"
    );
}

async fn payouts_are_whole_receipts_the_newest_first(db: LedgerDb) {
    let books = books(db).await;
    books.payouts("spring", 1, 120, T0).await;
    let (_, page) = books.get("/v1/payouts").await;
    assert_eq!(page["items"].as_array().unwrap().len(), 100, "the default");
    let expected = json!({
        "payout_id": "spring-120", "jackpot_id": "spring", "entry_id": "e120", "player_id": "p1", "tier": "mini",
        "amount": 20, "currency": "KRW", "claim_order": 120, "pool_before": 500, "pool_after": 480,
        "paid_at": "2025-11-21T00:02:00.000Z", "history": "00000000000000aa",
        "event_id": "jackpot:spring:00000000000000aa:120:0", "key_id": "k", "signature": "s",
    });
    let mut listed = expected.clone();
    for name in ["source_id", "approved_by", "settlement", "void_receipt"] {
        listed[name] = Value::Null;
    }
    listed["state"] = json!("paid");
    assert_eq!(page["items"][0], listed);
    assert_eq!(books.get("/v1/payouts/spring-120/receipt").await, (200, expected));
    let step = json!({"state": "paid", "who": null, "owner": null, "at": "2025-11-21T00:02:00.000Z", "reason": null});
    listed["steps"] = json!([step]);
    assert_eq!(books.get("/v1/payouts/spring-120").await, (200, listed));
    for (query, found) in [
        ("payout_id=spring-120", 1),
        ("payout_id=spring-120&entry_id=e120&player_id=p1", 1),
        ("payout_id=spring-120&entry_id=e119", 0),
        ("payout_id=spring-120&jackpot_id=autumn", 0),
        ("payout_id=spring-120&from=2025-11-21T00:02:00.001Z", 0),
        ("payout_id=none", 0),
        ("entry_id=e119", 1),
    ] {
        let (_, page) = books.get(&format!("/v1/payouts?{query}")).await;
        let items = page["items"].as_array().unwrap();
        assert_eq!((items.len(), &page["next_cursor"]), (found, &Value::Null), "{query}");
    }
    for unknown in ["spring-121", "%27"] {
        let (status, body) = books.get(&format!("/v1/payouts/{unknown}")).await;
        assert_eq!((status, &body["code"]), (404, &json!("payout-not-found")), "{unknown}");
    }
    let (status, body) = books.get("/v1/payouts/x%00y").await;
    assert_eq!((status, &body["code"]), (422, &json!("invalid-request")));
}

async fn every_filter_keeps_what_fits_it(db: LedgerDb) {
    type Fits = fn(&Value) -> bool;
    let books = books(db).await;
    books.payouts("spring", 1, 300, T0).await;
    books.payouts("autumn", 1, 300, T0).await;
    let all = books.walk("/v1/payouts?limit=1000", async |_| ()).await;
    assert_eq!(all.len(), 600);
    let tests: [(&str, Fits); 4] = [
        ("jackpot_id=spring", |row| row["jackpot_id"] == "spring"),
        ("player_id=p3", |row| row["player_id"] == "p3"),
        ("tier=mini", |row| row["tier"] == "mini"),
        ("min_amount=60", |row| row["amount"].as_i64() >= Some(60)),
    ];
    for chosen in 0..16 {
        let picked: Vec<_> = (0..4)
            .filter(|bit| chosen & (1 << bit) != 0)
            .map(|bit| tests[bit])
            .collect();
        let query: String = picked.iter().flat_map(|(text, _)| ["&", text]).collect();
        let expected: Vec<_> = all
            .iter()
            .filter(|row| picked.iter().all(|(_, fits)| fits(row)))
            .cloned()
            .collect();
        let found = books.walk(&format!("/v1/payouts?limit=13{query}"), async |_| ()).await;
        assert_eq!(found, expected, "{query}");
        assert!(!found.is_empty());
    }
    assert_eq!(books.items("/v1/payouts?tier=none").await, [Value::Null; 0]);
}

async fn from_is_inclusive_and_to_is_exclusive(db: LedgerDb) {
    let books = books(db).await;
    books.payouts("spring", 1, 10, T0).await;
    let orders = async |query: &str| books.column(&format!("/v1/payouts?{query}"), "claim_order").await;
    for filter in ["", "&jackpot_id=spring", "&tier=grand", "&min_amount=0"] {
        let late = orders(&format!("from=2025-11-21T00:00:05Z{filter}")).await;
        let early = orders(&format!("to=2025-11-21T00:00:05Z{filter}")).await;
        let whole = orders(&format!("limit=1000{filter}")).await;
        assert_eq!(late.last().unwrap(), 5);
        assert_eq!(early[0], 4);
        assert_eq!([late, early].concat(), whole);
    }
    let between = "from=2025-11-21T00:00:02.000Z&to=2025-11-21T01:00:04%2B01:00";
    assert_eq!(orders(between).await, [3, 2]);
    assert_eq!(
        orders("from=2025-11-21T00:00:04.0001Z&to=2025-11-21T00:00:05Z").await,
        [0; 0]
    );
}

async fn a_cursor_is_for_its_own_list_and_filters(db: LedgerDb) {
    let books = books(db).await;
    books.jackpot("spring").await;
    books.payouts("spring", 1, 10, T0).await;
    let (_, page) = books.get("/v1/payouts?jackpot_id=spring&limit=2").await;
    let cursor = page["next_cursor"].as_str().unwrap();
    // Another limit gives other page sizes of the same list.
    let path = format!("/v1/payouts?jackpot_id=spring&limit=3&cursor={cursor}");
    assert_eq!(books.column(&path, "claim_order").await, [8, 7, 6]);
    for path in [
        format!("/v1/payouts?cursor={cursor}"),
        format!("/v1/payouts?jackpot_id=autumn&cursor={cursor}"),
        format!("/v1/payouts?jackpot_id=spring&min_amount=0&cursor={cursor}"),
        format!("/v1/payouts?jackpot_id=spring&from=2025-11-21T00:00:00Z&cursor={cursor}"),
        format!("/v1/audit?jackpot_id=spring&cursor={cursor}"),
        format!("/v1/jackpots/spring/ledger?cursor={cursor}"),
        format!("/v1/entries?player_id=p1&cursor={cursor}"),
        format!("/v1/payouts?jackpot_id=spring&cursor={}", &cursor[1..]),
        "/v1/payouts?cursor=".to_owned(),
        "/v1/payouts?cursor=%27%3B".to_owned(),
    ] {
        assert_eq!(books.refusal(&path).await, "cursor", "{path}");
    }
}

async fn wrong_filters_are_named(db: LedgerDb) {
    let books = books(db).await;
    for (query, field) in [
        ("limit=0", "limit"),
        ("limit=1001", "limit"),
        ("limit=x", "limit"),
        ("from=yesterday", "from"),
        ("to=2025-11-21", "to"),
        ("min_amount=-1", "min_amount"),
        ("min_amount=9007199254740992", "min_amount"),
        ("min_amount=1.5", "min_amount"),
        ("player_id=a%20b", "player_id"),
        ("jackpot_id=", "jackpot_id"),
        ("tier=a%00", "tier"),
        ("player=p1", "player"),
        ("tier=a&tier=b", "tier"),
    ] {
        assert_eq!(books.refusal(&format!("/v1/payouts?{query}")).await, field, "{query}");
    }
    assert_eq!(books.refusal("/v1/entries?jackpot_id=spring").await, "player_id");
    assert_eq!(books.get("/v1/payouts?min_amount=9007199254740991").await.0, 200);
}

async fn a_rare_row_among_many_is_found_over_short_pages(db: LedgerDb) {
    let books = books(db).await;
    books.payouts("spring", 1, 25_000, T0).await;
    books
        .run("UPDATE payouts SET amount = 5000 WHERE claim_order IN (20, 24000)")
        .await;
    let (_, first) = books.get("/v1/payouts?min_amount=5000&limit=10").await;
    let orders = |page: &Value| {
        page["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["claim_order"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(orders(&first), [24_000], "a page looks at 10,000 rows");
    let next = first["next_cursor"].as_str().expect("and says where to go on");
    let (_, second) = books
        .get(&format!("/v1/payouts?min_amount=5000&limit=10&cursor={next}"))
        .await;
    assert_eq!(orders(&second), [0; 0]);
    let next = second["next_cursor"].as_str().expect("an empty page is not the end");
    let (_, third) = books
        .get(&format!("/v1/payouts?min_amount=5000&limit=10&cursor={next}"))
        .await;
    assert_eq!((orders(&third), &third["next_cursor"]), (vec![json!(20)], &Value::Null));
}
