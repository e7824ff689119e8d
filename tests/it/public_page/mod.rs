//! What players see without a key: the page of a jackpot, the check of a draw, the ticker for other sites.

mod browser;
mod draws;
mod page;
mod ticker;

use crate::console::fixture::Page;
use crate::support::prelude::*;

/// Every fourth entry takes all of `grand`, two of four win 30 from `mini`.
fn definition(id: &str, change: &Value) -> Value {
    let mut definition = json!({
        "id": id, "name": "Spring wheel", "currency": "EUR", "contribution": {"fixed": 100}, "public_meter": true,
        "tiers": [{"tier": "grand", "share_ppm": 600_000, "min_payout": 100, "reserve_ppm": 100_000, "cap": 500_000, "seed": 2_000},
                  {"tier": "mini", "share_ppm": 400_000, "min_payout": 1}],
        "odds": {"total": 4, "ranks": [
            {"rank": 1, "weight": 1, "prize": {"pool": {"tier": "grand", "take": "all"}}},
            {"rank": 2, "weight": 2, "prize": {"fixed": {"tier": "mini", "amount": 30}}}]},
    });
    for (field, value) in change.as_object().expect("an object") {
        definition[field] = value.clone();
    }
    definition
}

async fn put(service: &Service, id: &str, change: &Value) {
    service
        .put(&format!("/v1/jackpots/{id}"), definition(id, change))
        .await
        .done();
}

async fn enter(service: &Service, id: &str, entry: &str) -> Value {
    let body = json!({"entry_id": entry, "player_id": format!("player-no-{entry}"), "stake": 100});
    let answer = service.post(&format!("/v1/jackpots/{id}/entries"), body).await;
    answer.is(201);
    answer.body
}

async fn operate(service: &Service, id: &str, action: &str) {
    service
        .post(&format!("/v1/jackpots/{id}/{action}"), json!({"reason": "a test"}))
        .await
        .done();
}

/// A page as somebody without a key gets it.
async fn open(service: &Service, path: &str, headers: &[(&str, &str)]) -> Page {
    ask(service, Method::GET, path, headers).await
}

async fn ask(service: &Service, method: Method, path: &str, headers: &[(&str, &str)]) -> Page {
    let request = http_client().request(method, service.url(path));
    let request = headers
        .iter()
        .fold(request, |request, (name, value)| request.header(*name, *value));
    let answer = request.send().await.expect("an answer");
    Page {
        status: answer.status(),
        headers: answer.headers().clone(),
        html: answer.text().await.expect("a page"),
    }
}

/// The value of a metric.
async fn metric(service: &Service, line: &str) -> f64 {
    let text = service.get("/metrics").await.text;
    let found = text.lines().find_map(|of| of.strip_prefix(line));
    found.map_or(0.0, |value| value.trim().parse().expect("a number"))
}
