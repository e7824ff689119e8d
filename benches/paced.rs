//! Load of single entries at a fixed rate: an open loop. An entry that waits for a free connection is late. Its latency
//! counts from when it was due, so that all entries that a stall delays show it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use crate::batch::micros;
use crate::http::Target;
use crate::sample::{Load, float, latencies};
use crate::{Outcome, json, wrk};

/// Sends `rate` entries per second over these connections, to so many jackpots in turn.
pub(crate) async fn entries(
    target: &Target,
    route: &str,
    rate: u64,
    jackpots: usize,
    connections: usize,
    time: Duration,
) -> Outcome<Load> {
    let paths = (0..jackpots).map(|number| format!("/v1/jackpots/{}/{route}", json::jackpot(number)));
    let paths: Arc<[String]> = paths.collect();
    let tag = wrk::tag();
    let next = Arc::new(AtomicU64::new(0));
    let all_due = rate * time.as_secs();
    let begun = Instant::now();
    let mut senders = JoinSet::new();
    for _ in 0..connections {
        let mut connection = target.connect().await?;
        let (target, paths, next) = (target.clone(), Arc::clone(&paths), Arc::clone(&next));
        senders.spawn(async move {
            let mut took = latencies();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= all_due {
                    return Outcome::Ok(took);
                }
                let due = begun + Duration::from_secs_f64(float(number) / float(rate));
                let path = &paths[usize::try_from(number)? % paths.len()];
                let request = target.request("POST", path, &json::entry(&json::entry_id(tag, number), number));
                // The timer's lateness, up to a millisecond, is not the service's: on a free connection, time counts
                // from the send.
                let from = if Instant::now() < due {
                    tokio::time::sleep_until(due.into()).await;
                    Instant::now()
                } else {
                    due
                };
                let answer = connection.send(&request).await?;
                took.record(micros(from.elapsed()))?;
                if answer.status != 201 {
                    return Err(answer.refused("an entry at a fixed rate").into());
                }
            }
        });
    }
    let mut all = latencies();
    while let Some(ended) = senders.join_next().await {
        all.add(ended??)?;
    }
    Ok(Load::of(all.len(), begun.elapsed(), &all))
}
