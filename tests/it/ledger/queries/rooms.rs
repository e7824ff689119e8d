//! Rooms: their reconciliation beside that of jackpots and coupons, and the acts of operators on them.

use jackpot::room::known::OrderOf;
use jackpot::room::ledger::books::Books as RoomBooks;
use jackpot::room::ledger::event::Checkpoint;
use jackpot::room::ledger::report::compare;
use jackpot_api::room::Status;

use super::fixture::{T0, books};
use crate::support::prelude::*;

on_both_databases!(
    a_room_that_does_not_agree_is_a_problem_with_all_of_every_kind,
    what_operators_did_to_rooms_is_paged_with_the_rest,
);

async fn a_room_that_does_not_agree_is_a_problem_with_all_of_every_kind(db: LedgerDb) {
    let books = books(db).await;
    books.jackpot("spring").await;
    for id in ["lobby", "spring"] {
        books.stream("room", id).await;
    }
    let store = async |passes_until_ms: i64| {
        let text = format!("open 1 2 300000 60000 - 0 {passes_until_ms} 5f -");
        let redis = Checkpoint::parse(&text).expect("readable");
        let ledger = RoomBooks {
            status: Some(Status::Open),
            version: 1,
            definition: r#"{"capacity":2,"session_s":300,"waiting_timeout_s":60}"#.to_owned(),
            order: OrderOf {
                nonce: String::new(),
                commitment: "5f".to_owned(),
            },
            passes_until_ms: 60_000,
            ..RoomBooks::default()
        };
        let report = compare(&redis, &ledger);
        let (json, clean) = (serde_json::to_string(&report).unwrap(), i64::from(report.clean));
        books.run("DELETE FROM reconciliations").await;
        books
            .run(&format!(
                "INSERT INTO reconciliations (kind, id, n, at_ms, clean, report) \
                 VALUES ('room', 'lobby', 5, {T0}, {clean}, '{json}')"
            ))
            .await;
    };
    store(60_000).await;
    let (status, clean) = books.get("/v1/reconciliation").await;
    assert_eq!(status, 200, "{clean}");
    assert_eq!(clean["items"].as_array().map(Vec::len), Some(1));
    let [lobby, spring] = clean["rooms"].as_array().unwrap().as_slice() else {
        panic!("two: {clean}")
    };
    let told = ["room_id", "event", "clean", "checked_at"].map(|field| &lobby[field]);
    assert_eq!(
        told,
        [
            &json!("lobby"),
            &json!(5),
            &json!(true),
            &json!("2025-11-21T00:00:00.000Z")
        ]
    );
    assert_has!(spring, {"clean": null, "event": null});

    store(59_999).await;
    let (status, problem) = books.get("/v1/reconciliation").await;
    assert_eq!((status, &problem["code"]), (409, &json!("reconciliation-mismatch")));
    assert!(problem["detail"].as_str().unwrap().ends_with("about room lobby"));
    let state = problem["rooms"][0]["state"].as_array().unwrap();
    let wrong: Vec<_> = state.iter().filter(|row| row["agrees"] == false).collect();
    assert_eq!(
        wrong,
        [&json!({"name": "passes_until_ms", "redis": "59999", "ledger": "60000", "agrees": false})]
    );

    store(60_000).await;
    books
        .run("UPDATE streams SET stopped = 'event 9 is missing' WHERE kind = 'room' AND id = 'spring'")
        .await;
    let (status, problem) = books.get("/v1/reconciliation").await;
    let stopped = &problem["rooms"][1]["stopped"];
    assert_eq!((status, stopped), (409, &json!("event 9 is missing")));
}

async fn what_operators_did_to_rooms_is_paged_with_the_rest(db: LedgerDb) {
    let books = books(db).await;
    for n in 1..=9 {
        let subject = ["room:spring", "spring", "coupon:spring"][n % 3];
        books
            .run(&format!(
                "INSERT INTO audit (subject, n, at_ms, who, action, target, before, after, reason, request_id) VALUES \
                 ('{subject}', {n}, {T0}, 'anna', 'define', 'spring', 'null', 'null', '', 'q{n}')"
            ))
            .await;
    }
    assert_eq!(books.walk("/v1/audit?limit=1", async |_| ()).await.len(), 9);
    for kind in ["jackpot", "coupon", "room"] {
        let path = format!("/v1/audit?{kind}_id=spring");
        let own = books.walk(&format!("{path}&limit=2"), async |_| ()).await;
        assert_eq!(own.len(), 3, "{kind}");
    }
    for pair in ["jackpot_id=spring&room_id=spring", "coupon_id=spring&room_id=spring"] {
        assert_eq!(books.items(&format!("/v1/audit?{pair}")).await, Vec::<Value>::new());
    }
    let whole = books.items("/v1/audit?room_id=spring&who=anna&action=define").await;
    let requests: Vec<_> = whole.iter().map(|row| row["request_id"].as_str().unwrap()).collect();
    assert_eq!(requests, ["q9", "q6", "q3"]);
}
