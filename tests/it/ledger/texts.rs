//! Texts that clients and operators send. The edge refuses what no database, log or terminal takes. An event that holds
//! such a text all the same is applied, on both databases alike.

use jackpot_core::chain;

use crate::fault::support::{create, enter, entry, lively};
use crate::jackpot::ledger::fixture::JackpotLedger;
use crate::support::fixture::by_name;
use crate::support::prelude::*;

on_both_databases!(a_nul_in_a_reason_stops_no_jackpot, an_event_with_a_nul_is_applied);

const JACKPOT: &str = "spring";

fn adjustment(id: &str, reason: &str) -> Value {
    json!({"adjustment_id": id, "tier": "grand", "meter": "pool", "amount": 5, "reason": reason})
}

/// Black-box: the real binary, through HTTP.
async fn a_nul_in_a_reason_stops_no_jackpot(db: LedgerDb) {
    let (name, url) = db.environment();
    let service = Service::start_with(&[(name, url)]).await;
    create(&service, lively(JACKPOT)).await;
    let path = format!("/v1/jackpots/{JACKPOT}/adjustments");
    let answer = service.post(&path, adjustment("a1", "a\u{0}b")).await;
    let status = answer.status;
    // The ledger must go on: another adjustment follows, and it must get there.
    let good = service.post(&path, adjustment("a2", "all is well")).await;
    eventually(PATIENCE, "the ledger has what came behind it", async || {
        enter(&service, JACKPOT, "e1").await.done();
        let audit = service.get(&format!("/v1/audit?jackpot_id={JACKPOT}")).await;
        audit.text.contains("all is well").then_some(())
    })
    .await;
    good.is(201);
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{}", answer.text);
    assert_eq!(answer.body["errors"][0]["field"], "reason", "{}", answer.text);
    service
        .post(&format!("/v1/jackpots/{JACKPOT}/entries"), entry("e1"))
        .await
        .is(200);
}

/// Events of an earlier build, which took such reasons.
async fn an_event_with_a_nul_is_applied(db: LedgerDb) {
    let fixture = JackpotLedger::with(db, &json!({})).await;
    fixture.fund("f1", 7).await;
    fixture.take("e1", 0).await;
    let key = fixture.operate.views.registry.known(&fixture.id).keys.events.clone();
    let mut events = by_name(fixture.raw(redis::cmd("XRANGE").arg(&key).arg("-").arg("+")).await);
    fixture.raw::<()>(redis::cmd("DEL").arg(&key)).await;
    for (id, fields) in &mut events {
        if fields.contains_key("reason") {
            fields.insert("reason".to_owned(), "a\u{0}b\\\u{1}".to_owned());
        }
        fixture
            .raw::<String>(redis::cmd("XADD").arg(&key).arg(&*id).arg(&*fields))
            .await;
    }
    fixture.project().await;
    assert_eq!(fixture.place("stopped").await, "");
    fixture.assert_complete().await;
    // The chained body has the exact text, the column what both databases take.
    let funded = events
        .iter()
        .find(|(_, fields)| fields["type"] == "adjust")
        .expect("there");
    let body = chain::body(&(&funded.1).into());
    let sql = format!(
        "SELECT body FROM events WHERE kind = 'jackpot' AND id = '{}' AND type = 'adjust'",
        fixture.id
    );
    assert_eq!(fixture.rows(sql).await, [[body]]);
    let sql = format!(
        "SELECT reason FROM audit WHERE subject = '{}' AND action = 'adjust'",
        fixture.id
    );
    assert_eq!(fixture.rows(sql).await, [["a\\u0000b\\\u{1}"]]);
}
