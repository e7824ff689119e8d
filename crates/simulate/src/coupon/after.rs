//! What the service shows of the coupon after the run: its counts, the dead letters, the ledger's issues and the
//! reconciliation.

use std::time::{Duration, Instant};

use reqwest::{Method, StatusCode};
use serde::Deserialize;
use serde_json::Value;

use super::answer::Unit;
use super::evidence::{Compared, Counts, Row};
use super::plan::Plan;
use crate::SimulateError;
use crate::client::Api;

/// Limit for the ledger to have all of a run, and for a comparison of it. The default interval of comparisons is 30 s.
const LIMIT: Duration = Duration::from_mins(1);
/// Between two looks.
const POLL: Duration = Duration::from_millis(200);

/// The counts of the coupon.
pub async fn counts(api: &Api, plan: &Plan) -> Result<Counts, SimulateError> {
    let path = format!("/v1/coupons/{}", plan.coupon_id);
    let shown = api.get(&path).await?;
    let whole = |name: &str| shown[name].as_u64();
    let read = || {
        Some(Counts {
            stock: whole("stock")?,
            issued: whole("issued")?,
            voided: whole("voided")?,
            remaining: whole("remaining")?,
            queued: whole("queued")?,
            dead: whole("dead")?,
        })
    };
    read().ok_or_else(|| SimulateError::Unreadable {
        call: path.clone(),
        detail: format!("a count is missing in {shown}"),
    })
}

/// Request ids of the dead letters.
pub async fn dead_letters(api: &Api, plan: &Plan) -> Result<Vec<String>, SimulateError> {
    #[derive(Deserialize)]
    struct Letter {
        request_id: String,
    }
    let path = format!("/v1/coupons/{}/dead-letters", plan.coupon_id);
    let letters: Vec<Letter> = api
        .pages(&path, &[])
        .await
        .map_err(|detail| SimulateError::Unreadable {
            call: path.clone(),
            detail,
        })?;
    Ok(letters.into_iter().map(|letter| letter.request_id).collect())
}

#[derive(Deserialize)]
struct Issue {
    sequence: u64,
    request_id: String,
    user_id: String,
    code: String,
    issued_at: String,
    voided_at: Option<String>,
}

/// Waits until the ledger has as many issues as were made and taken back, then reads them all, in its order.
pub async fn issues(api: &Api, plan: &Plan, issued: u64, voided: u64) -> Result<Vec<Row>, String> {
    let started = Instant::now();
    let path = format!("/v1/coupons/{}/issues", plan.coupon_id);
    loop {
        let rows: Vec<Issue> = api.pages(&path, &[]).await?;
        let taken = rows.iter().filter(|row| row.voided_at.is_some()).count() as u64;
        let has_all = rows.len() as u64 >= issued && taken >= voided;
        if has_all || started.elapsed() > LIMIT {
            let row = |row: Issue| Row {
                request_id: row.request_id,
                user_id: row.user_id,
                unit: Unit {
                    sequence: row.sequence,
                    code: row.code,
                    issued_at: row.issued_at,
                },
                voided: row.voided_at.is_some(),
            };
            return Ok(rows.into_iter().map(row).collect());
        }
        tokio::time::sleep(POLL).await;
    }
}

/// Waits for a comparison of Redis and the ledger that has seen all of the run.
pub async fn compared(api: &Api, plan: &Plan, counts: &Counts) -> Compared {
    let started = Instant::now();
    let url = api.url("/v1/reconciliation");
    loop {
        let answer = api.send_once(Method::GET, &url, None).await;
        let last = match answer {
            Ok(answer) if matches!(answer.status, StatusCode::OK | StatusCode::CONFLICT) => {
                let shown = serde_json::from_slice(&answer.body).unwrap_or(Value::Null);
                match read(&shown, &plan.coupon_id, counts) {
                    Ok(compared) => return compared,
                    Err(why) => why,
                }
            }
            Ok(answer) => format!("it answers {}", answer.status),
            Err(error) => crate::client::chain(&error),
        };
        if started.elapsed() > LIMIT {
            return Compared::Unknown(format!("/v1/reconciliation: {last}"));
        }
        tokio::time::sleep(POLL).await;
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
