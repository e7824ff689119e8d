//! Load of batches: each connection sends its next one when it has the answer.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use crate::http::Target;
use crate::sample::{Load, latencies};
use crate::{Outcome, json, wrk};

/// Sends batches of one size to one jackpot, for `time` or until `most` entries were sent. All sent batches are
/// answered.
pub(crate) async fn entries(
    target: &Target,
    jackpot: usize,
    size: usize,
    connections: usize,
    time: Duration,
    most: u64,
) -> Outcome<Load> {
    let path = format!("/v1/jackpots/{}/entry-batches", json::jackpot(jackpot));
    let (body, digits_at) = json::batch(size);
    let request = Arc::new(target.request("POST", &path, &body));
    let digits_at = request.len() - body.len() + digits_at;
    let tag = wrk::tag();
    let begun = Instant::now();
    let mut senders = JoinSet::new();
    let each = (most / (size as u64 * connections as u64)).max(1);
    for sender in 0..connections {
        let mut connection = target.connect().await?;
        let mut request = Vec::clone(&request);
        senders.spawn(async move {
            let (mut sent, mut took) = (0_u64, latencies());
            while begun.elapsed() < time && sent < each {
                sent += 1;
                let id = format!("{tag:06}{sender:04}{sent:010}");
                request[digits_at..digits_at + id.len()].copy_from_slice(id.as_bytes());
                let at = Instant::now();
                let answer = connection.send(&request).await?;
                took.record(micros(at.elapsed()))?;
                if answer.status != 201 {
                    return Err(answer.refused(&format!("a batch of {size}")).into());
                }
            }
            Outcome::Ok((sent, took))
        });
    }
    let (mut batches, mut all) = (0, latencies());
    while let Some(ended) = senders.join_next().await {
        let (sent, took) = ended??;
        batches += sent;
        all.add(took)?;
    }
    Ok(Load::of(batches * size as u64, begun.elapsed(), &all))
}

pub(crate) fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
