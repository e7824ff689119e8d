//! Daily reports of a running service: its page, its files, and what a caller finds that has just acted.

use super::fixture::{Operator, populated};
use crate::support::prelude::*;

fn today() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%d").to_string()
}

/// The report of a day with these words in it, once the ledger has them.
async fn until(operator: &Operator, path: &str, what: &str) -> super::fixture::Page {
    eventually(PATIENCE, what, async || {
        let page = operator.get(path).await;
        (page.status == StatusCode::OK && page.text().contains(what)).then_some(page)
    })
    .await
}

#[tokio::test]
async fn a_day_is_shown_with_plots_and_files() {
    let service = Service::start().await;
    populated(&service).await;
    let operator = Operator::sign_in(&service).await;
    let path = format!("/console/reports?date={}&jackpot_id=old", today());
    // 100 cents came in and went to another jackpot; half of the tiers each.
    let page = until(&operator, &path, "€0.60").await;
    let text = page.text();
    text.says("Transferred out");
    text.says("Not complete");
    text.says("no source 1 €1.00 €1.00");
    assert_eq!(
        page.html.matches("class=\"plot\"").count(),
        6,
        "three figures of two tiers"
    );
    let all = operator.page(&format!("/console/reports?date={}", today())).await;
    assert!(
        !all.html.contains("class=\"plot\"") && all.text().contains("spring"),
        "{}",
        all.text()
    );
    let csv = operator.page(&page.link("All as CSV")).await;
    assert!(
        csv.html.starts_with("row,jackpot_id,tier,currency,opening,"),
        "{}",
        csv.html
    );
    csv.html.says("tier,old,grand,EUR,0,60,0,0,0,60,0,0,0,0,0,");
    let before = operator.page("/console/reports?date=2026-01-01&jackpot_id=old").await;
    assert!(before.text().contains("There was no jackpot on this day.") && before.text().contains("Complete"));
    let wrong = operator.get("/console/reports?date=2026-02-30").await;
    wrong.is(422);
    wrong.says("must be a date of the calendar");
    operator
        .get("/console/reports?date=2026-01-01&jackpot_id=none")
        .await
        .is(404);
}

/// Each report comes right after what it must have, in the zone of the settings.
#[tokio::test]
async fn the_report_of_a_jackpot_has_what_was_just_done() {
    let service = Service::start_with(&[
        ("JACKPOT__REPORTS__DAY_STARTS_AT", "00:15"),
        ("JACKPOT__REPORTS__ZONE", "Pacific/Kiritimati"),
    ])
    .await;
    let jackpot = json!({
        "id": "spring", "name": "Spring", "currency": "KRW", "contribution": {"fixed": 10},
        "tiers": [{"tier": "grand", "share_ppm": 1_000_000, "min_payout": 1}], "odds": {"total": 1, "ranks": []},
    });
    let begun = jiff::Timestamp::now();
    service.put("/v1/jackpots/spring", jackpot).await;
    let date = |at: jiff::Timestamp| {
        (at + jiff::SignedDuration::from_mins(14 * 60 - 15))
            .strftime("%Y-%m-%d")
            .to_string()
    };
    let mut entries = 0;
    while date(jiff::Timestamp::now()) == date(begun) && entries < 10 {
        entries += 1;
        let entry = json!({"entry_id": format!("e{entries}"), "player_id": "p", "stake": 100});
        service.post("/v1/jackpots/spring/entries", entry).await;
        let path = format!("/v1/reports/daily?date={}&jackpot_id=spring", date(begun));
        let report = service.get(&path).await;
        report.is(200);
        let rows = &report.body["rows"];
        assert_eq!(
            (&rows[0]["contributed"], &rows[1]["entries"]),
            (&json!(entries * 10), &json!(entries))
        );
    }
    // A day that is over is complete: Redis has nothing that SQL lacks, and its clock is past the day.
    let before = begun - jiff::SignedDuration::from_hours(25);
    let path = format!("/v1/reports/daily?date={}&jackpot_id=spring", date(before));
    let report = service.get(&path).await;
    assert_has!(report.body, {"complete": true, "rows": []});
}
