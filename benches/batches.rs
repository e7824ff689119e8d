//! Batches, and single entries beside them. Each point has its own service: a load of millions of entries leaves work
//! for the index of entries, which would slow the next load down for minutes.

use serde_json::json;

use crate::peers::Round;
use crate::plan::Peers;
use crate::sample::{Load, Sample};
use crate::service::{Service, keep};
use crate::{Outcome, batch, paced};

/// Entries of the largest batch that the contract allows.
const LARGEST: usize = 10_000;
/// Single entries per second beside the batches, and their connections.
const BESIDE: (u64, usize) = (1_000, 16);

/// Measures each wanted point in turn.
pub(crate) async fn round(round: &mut Round<'_>) {
    let (plan, number) = (round.plan, round.number);
    for size in [100, 1_000, LARGEST] {
        let point = format!("batch-{size}");
        round.measure(&point, alone(plan, number, &point, size)).await;
    }
    for (point, with_batches) in [("beside-none", false), ("beside-batches", true)] {
        round.measure(point, beside(plan, number, point, with_batches)).await;
    }
}

async fn service(plan: &Peers) -> Outcome<Service> {
    let service = Service::product(&plan.place.directory, json!({})).await?;
    service.define(0, 1).await?;
    Ok(service)
}

async fn alone(plan: &Peers, number: usize, point: &str, size: usize) -> Outcome<Sample> {
    let service = service(plan).await?;
    let load = batch::entries(&service.target, 0, size, plan.batch_connections, plan.time(), u64::MAX);
    service.measure(point, number, 1, 0, load).await
}

/// Single entries at a fixed rate, alone or while one connection sends the largest batches to the same jackpot.
async fn beside(plan: &Peers, number: usize, point: &str, with_batches: bool) -> Outcome<Sample> {
    let (service, time) = (service(plan).await?, plan.time());
    let before = service.before(1).await?;
    let batches = async {
        if with_batches {
            batch::entries(&service.target, 0, LARGEST, 1, time, u64::MAX)
                .await
                .map(Some)
        } else {
            Ok(None)
        }
    };
    let (load, batches) = tokio::join!(
        paced::entries(&service.target, "entries", BESIDE.0, 1, BESIDE.1, time),
        batches
    );
    let (load, batches): (Load, Option<Load>) = (load?, batches?);
    let mut sample = load.sample(point, number);
    let in_batches = batches.as_ref().map_or(0, |batches| batches.entries);
    service
        .settle(&before, load.entries + in_batches, 0, &mut sample)
        .await?;
    if let Some(batches) = batches {
        let more = json!({"in_batches_per_s": batches.per_s(), "batch_p50_us": batches.p50_us, "batch_p99_us": batches.p99_us});
        keep(&mut sample, more);
    }
    Ok(sample)
}
