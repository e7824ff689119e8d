//! What the service shows of the jackpots after a market day.

use serde::Deserialize as _;

use super::evidence::{Meter, Seen, Shown};
use super::plan::Plan;
use crate::SimulateError;
use crate::client::Api;
use crate::jackpot::{pending, published, receipts};

/// Of each jackpot of the plan.
pub async fn shown(api: &Api, plan: &Plan, seen: &Seen) -> Result<Vec<Shown>, SimulateError> {
    let mut all = Vec::new();
    for (index, jackpot) in plan.jackpots().iter().enumerate() {
        let entries = seen.entries.iter().filter(|entry| entry.jackpot == index);
        let wins = entries.filter(|entry| entry.won.is_some()).count();
        let pending = pending(api, jackpot.id()).await;
        all.push(Shown {
            receipts: receipts(api, jackpot.id(), wins).await,
            cycles: published(api, jackpot.id()).await?,
            meters: meters(api, jackpot.id()).await?,
            pending,
        });
    }
    Ok(all)
}

async fn meters(api: &Api, jackpot_id: &str) -> Result<Vec<Meter>, SimulateError> {
    let path = format!("/v1/jackpots/{jackpot_id}");
    let shown = api.get(&path).await?;
    Vec::<Meter>::deserialize(&shown["meters"]).map_err(|error| SimulateError::Unreadable {
        call: path,
        detail: format!("meters: {error}"),
    })
}
