//! What the service shows of the coupon after the run: its counts, the dead letters, the ledger's issues and the
//! reconciliation.

use std::convert::Infallible;

use reqwest::{Method, StatusCode};
use serde::Deserialize;
use serde_json::Value;

use super::evidence::{Compared, Counts, Row};
use super::plan::Plan;
use crate::SimulateError;
use crate::client::Api;
use crate::look;
use crate::scenario::Scenario;

/// The counts of the coupon.
pub async fn counts(api: &Api, plan: &Plan) -> Result<Counts, SimulateError> {
    api.get(&plan.path()).await
}

/// Request ids of the dead letters.
pub async fn dead_letters(api: &Api, plan: &Plan) -> Result<Vec<String>, SimulateError> {
    #[derive(Deserialize)]
    struct Letter {
        request_id: String,
    }
    let path = format!("{}/dead-letters", plan.path());
    let letters = api.pages::<Letter>(&path, &[]).await;
    let letters = letters.map_err(|detail| SimulateError::unreadable(&path, detail))?;
    Ok(letters.into_iter().map(|letter| letter.request_id).collect())
}

/// Waits until the ledger has as many issues as were made and taken back, then reads them all, in its order.
pub async fn issues(api: &Api, plan: &Plan, issued: u64, voided: u64) -> Result<Vec<Row>, String> {
    let path = format!("{}/issues", plan.path());
    let has_all = |rows: &Vec<Row>| {
        let taken = rows.iter().filter(|row| row.voided).count() as u64;
        rows.len() as u64 >= issued && taken >= voided
    };
    look::until(async || api.pages(&path, &[]).await, has_all).await
}

/// Waits for a comparison of Redis and the ledger that has seen all of the run.
pub async fn compared(api: &Api, plan: &Plan, counts: &Counts) -> Compared {
    let url = api.url("/v1/reconciliation");
    let once = async || match api.send_once(Method::GET, &url, None).await {
        Ok(answer) if matches!(answer.status, StatusCode::OK | StatusCode::CONFLICT) => {
            let shown = serde_json::from_slice(&answer.body).unwrap_or(Value::Null);
            read(&shown, &plan.coupon_id, counts)
        }
        Ok(answer) => Err(format!("it answers {}", answer.status)),
        Err(error) => Err(crate::client::chain(&error)),
    };
    let seen = look::until(async || Ok::<_, Infallible>(once().await), Result::is_ok).await;
    match seen {
        Ok(Ok(compared)) => compared,
        Ok(Err(last)) => Compared::Unknown(format!("/v1/reconciliation: {last}")),
    }
}

/// The comparison of the coupon; the error says why it is none of the whole run.
fn read(shown: &Value, coupon_id: &str, counts: &Counts) -> Result<Compared, String> {
    let Some(coupons) = shown["coupons"].as_array() else {
        let why = "/v1/reconciliation has no list of coupons".to_owned();
        return Ok(Compared::Unknown(why));
    };
    let coupon = coupons.iter().find(|coupon| coupon["coupon_id"] == coupon_id);
    let coupon = coupon.ok_or("the coupon is not in it")?;
    if coupon["clean"] == false || coupon["stopped"].is_string() {
        return Ok(Compared::Mismatch(coupon.to_string()));
    }
    let rows = coupon["state"].as_array().map_or(&[] as &[Value], Vec::as_slice);
    let redis = |name: &str, number: u64| {
        let row = rows.iter().find(|row| row["name"] == name);
        let shown = row.and_then(|row| row["redis"].as_str()?.parse::<u64>().ok());
        shown == Some(number)
    };
    if coupon["clean"] != true || !redis("issued", counts.issued) || !redis("voided", counts.voided) {
        return Err("the coupon was not compared after the run".to_owned());
    }
    let event = coupon["event"].as_u64().ok_or("the event is missing")?;
    Ok(Compared::Clean { event })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_a_comparison_of_the_whole_run_counts_unless_it_is_a_mismatch() {
        let counts = Counts {
            issued: 10,
            voided: 1,
            ..Counts::default()
        };
        let shown = |clean: Value, issued: &str| {
            json!({"items": [], "coupons": [{"coupon_id": "c", "event": 9, "clean": clean, "stopped": null, "state": [
                {"name": "issued", "redis": issued, "ledger": issued}, {"name": "voided", "redis": "1", "ledger": "1"}]}]})
        };
        let read = |shown: &Value| read(shown, "c", &counts);
        assert_eq!(read(&shown(json!(true), "10")), Ok(Compared::Clean { event: 9 }));
        assert!(read(&shown(json!(true), "8")).is_err(), "earlier than the last issue");
        assert!(read(&shown(json!(null), "10")).is_err());
        assert!(matches!(read(&shown(json!(false), "8")), Ok(Compared::Mismatch(_))));
        assert!(read(&json!({"items": [], "coupons": []})).is_err(), "not yet");
        assert!(matches!(read(&json!({"items": []})), Ok(Compared::Unknown(_))));
    }
}
