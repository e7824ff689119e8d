//! What the service shows of the jackpots after a market day, and what its subscriber got.

use super::evidence::{Seen, ShownJackpot};
use super::plan::Plan;
use super::players::Day;
use crate::SimulateError;
use crate::client::Api;
use crate::jackpot::{meters, pending, published, receipts};
use crate::subscriber::{Delivered, Got, Subject};

/// Of each jackpot of the plan.
pub async fn shown(api: &Api, plan: &Plan, seen: &Seen) -> Result<Vec<ShownJackpot>, SimulateError> {
    let mut all = Vec::new();
    for (index, jackpot) in plan.jackpots().iter().enumerate() {
        let entries = seen.entries.iter().filter(|entry| entry.jackpot == index);
        let wins = entries.filter(|entry| entry.won.is_some()).count();
        let pending = pending(api, jackpot.id()).await;
        all.push(ShownJackpot {
            receipts: receipts(api, jackpot.id(), wins).await,
            cycles: published(api, jackpot.id()).await?,
            meters: meters(api, jackpot.id()).await?,
            pending,
        });
    }
    Ok(all)
}

/// Waits until the subscriber has the events of everything that the players and the operator saw.
pub async fn delivered(api: &Api, day: &Day, seen: &Seen) -> Result<Delivered, SimulateError> {
    let subscriber = match &day.subscriber {
        Ok(subscriber) => subscriber,
        Err(why) => return Ok(Err(why.clone())),
    };
    let plan = &day.plan;
    let head = |index: usize| {
        let path = format!("/v1/jackpots/{}/ledger/head", plan.jackpots()[index].id());
        (plan.subject(index), path)
    };
    let heads: Vec<_> = (0..plan.jackpots().len()).map(head).collect();
    let wins = seen.entries.iter().filter(|entry| entry.won.is_some()).count();
    let expected = (seen.entries.len(), wins, seen.reversals.len());
    let has_all = |got: &Got| {
        let sum = |count: fn(&Subject) -> usize| got.subjects.values().map(count).sum::<usize>();
        let came = (
            sum(|of| of.entries.len()),
            sum(|of| of.payouts.len()),
            sum(|of| of.reversed.len()),
        );
        came.0 >= expected.0 && came.1 >= expected.1 && came.2 >= expected.2
    };
    let read = subscriber.close(api, &heads, has_all).await?;
    Ok(Ok(read))
}
