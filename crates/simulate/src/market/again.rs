//! Calls that are sent again until what they ask for is done.

use std::time::{Duration, Instant};

use bytes::Bytes;
use reqwest::Method;
use serde_json::Value;

use crate::SimulateError;
use crate::client::{Answered, Api};

const POLL: Duration = Duration::from_millis(20);
/// What is not done after this ends the run.
const LIMIT: Duration = Duration::from_mins(1);

/// `POST`s it until `is_done`. `is_answer`: other statuses than 2xx that are answers too.
pub async fn until(
    api: &Api,
    path: &str,
    body: &Value,
    is_answer: impl Fn(&Answered) -> bool,
    is_done: impl Fn(&Answered) -> bool,
) -> Result<Answered, SimulateError> {
    let (url, body, started) = (api.url(path), Bytes::from(body.to_string()), Instant::now());
    loop {
        let is_answer = |answered: &Answered| answered.status.is_success() || is_answer(answered);
        let answered = api
            .call_until(Method::POST, &url, Some(body.clone()), is_answer)
            .await?;
        if is_done(&answered) {
            return Ok(answered);
        }
        if started.elapsed() > LIMIT {
            return Err(SimulateError::NoAnswer {
                call: format!("POST {path}"),
                seconds: LIMIT.as_secs(),
                last: format!("{} {}", answered.status, String::from_utf8_lossy(&answered.body)),
            });
        }
        tokio::time::sleep(POLL).await;
    }
}

/// The code of a problem.
pub fn code(answered: &Answered) -> Option<String> {
    let body: Value = serde_json::from_slice(&answered.body).ok()?;
    body["code"].as_str().map(str::to_owned)
}
