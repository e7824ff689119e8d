//! What the service publishes of its epochs.

use std::collections::BTreeMap;

use super::SimulateError;
use super::client::Api;

/// The nonce of each epoch of a jackpot.
pub async fn nonces(api: &Api, jackpot_id: &str) -> Result<BTreeMap<u64, String>, SimulateError> {
    let path = format!("/v1/jackpots/{jackpot_id}/fairness");
    let (mut nonces, mut cursor) = (BTreeMap::new(), None::<String>);
    loop {
        let page = match &cursor {
            None => path.clone(),
            Some(cursor) => format!("{path}?cursor={cursor}"),
        };
        let shown = api.get(&page).await?;
        let epochs = shown["epochs"].as_array().into_iter().flatten();
        let pairs = epochs.map(|epoch| Some((epoch["epoch"].as_u64()?, epoch["nonce"].as_str()?.to_owned())));
        let pairs = pairs.collect::<Option<Vec<_>>>();
        nonces.extend(pairs.ok_or_else(|| SimulateError::Unreadable {
            call: page,
            detail: format!("an epoch without a number or a nonce in {shown}"),
        })?);
        cursor = shown["next_cursor"].as_str().map(str::to_owned);
        if cursor.is_none() {
            return Ok(nonces);
        }
    }
}
