//! What the operator of a market day does: stops, pauses and transfers, each once so many plays are answered.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use reqwest::StatusCode;
use serde_json::{Value, json};

use super::again::{self, code};
use super::answer;
use super::evidence::{Seen, Stopped, Transferred};
use super::file::{Event, Transfer, What};
use super::players::Day;
use crate::SimulateError;
use crate::client::{Answered, Api};
use crate::scenario::Players as _;

const POLL: Duration = Duration::from_millis(20);

/// Does all events of the file, in the order of their plays.
pub async fn work(day: Arc<Day>) -> Result<Seen, SimulateError> {
    let (api, mut seen) = (day.api()?, Seen::default());
    let mut events: Vec<&Event> = day.plan.file.events.iter().collect();
    events.sort_by_key(|event| event.at);
    for (index, event) in events.into_iter().enumerate() {
        while day.course().done.load(Ordering::Relaxed) < event.at {
            tokio::time::sleep(POLL).await;
        }
        match &event.what {
            What::EmergencyStop(stop) => {
                let reason = json!({"reason": "an emergency stop of the scenario"});
                let stopped = until(&api, "/v1/emergency-stop", &reason, is_ok).await?;
                let from_us = day.micros(Instant::now());
                tokio::time::sleep(Duration::from_secs(stop.seconds)).await;
                let to_us = day.micros(Instant::now());
                until(&api, "/v1/emergency-start", &reason, is_ok).await?;
                if stopped.json::<Value>("/v1/emergency-stop")?["stopped"] != true {
                    seen.wrong.push("/v1/emergency-stop answers without stopped".to_owned());
                }
                seen.stops.push(Stopped { from_us, to_us });
            }
            What::Pause(pause) => {
                let jackpot = &pause.jackpot;
                status(&api, jackpot, "pause").await?;
                tokio::time::sleep(Duration::from_secs(pause.seconds)).await;
                status(&api, jackpot, "resume").await?;
            }
            What::Transfer(what) => match transfer(&day, &api, what, index).await? {
                Ok(transferred) => seen.transfers.push(transferred),
                Err(what) => seen.wrong.push(what),
            },
        }
    }
    Ok(seen)
}

async fn status(api: &Api, jackpot: &str, action: &str) -> Result<(), SimulateError> {
    let path = format!("/v1/jackpots/{jackpot}/{action}");
    until(api, &path, &json!({"reason": "an event of the scenario"}), is_ok).await?;
    Ok(())
}

/// Pauses the jackpot and moves the money, once its last entries are finished.
async fn transfer(
    day: &Day,
    api: &Api,
    what: &Transfer,
    index: usize,
) -> Result<Result<Transferred, String>, SimulateError> {
    let find = |id: &str| day.plan.jackpots().iter().position(|jackpot| jackpot.id() == id);
    let (Some(from), Some(to)) = (find(&what.from), find(&what.to)) else {
        return Err(SimulateError::Usage(format!(
            "transfer of {} to {}",
            what.from, what.to
        )));
    };
    day.leave(from);
    status(api, &what.from, "pause").await?;
    let path = format!("/v1/jackpots/{}/transfers", what.from);
    let body = json!({"transfer_id": format!("t{index}"), "to": what.to, "tiers": what.tiers, "reason": "an event of the scenario"});
    let is_done = |answered: &Answered| answered.status.is_success() && state(answered) == "done";
    let answered = until(api, &path, &body, is_done).await?;
    let read = answer::transfer(&answered.json(&path)?).map_err(|what| format!("{path}: {what}"));
    Ok(read.map(|parts| Transferred { from, to, parts }))
}

fn state(answered: &Answered) -> String {
    let body: Value = serde_json::from_slice(&answered.body).unwrap_or_default();
    body["state"].as_str().unwrap_or_default().to_owned()
}

fn is_ok(answered: &Answered) -> bool {
    answered.status == StatusCode::OK
}

/// Each of the operator's calls can be repeated. 202 and `entry-pending` mean: not yet.
async fn until(
    api: &Api,
    path: &str,
    body: &Value,
    is_done: impl Fn(&Answered) -> bool,
) -> Result<Answered, SimulateError> {
    let is_pending = |answered: &Answered| code(answered).as_deref() == Some("entry-pending");
    again::until(api, path, body, is_pending, is_done).await
}
