//! What a run plays with is made by it: a jackpot, a coupon or a room.

use reqwest::Method;
use serde_json::Value;

use super::SimulateError;
use super::client::Api;

/// Makes it; one that is there already has a history that no check could tell from this run's. `instead` says what to
/// do then.
pub async fn new(api: &Api, path: &str, definition: &Value, instead: &str) -> Result<(), SimulateError> {
    let known = api.send_once(Method::GET, &api.url(path), None).await;
    if known.is_ok_and(|answer| answer.status.is_success()) {
        return Err(SimulateError::Usage(format!("{path} exists already: {instead}")));
    }
    api.send(Method::PUT, path, definition).await?;
    Ok(())
}
