//! The numbers of a market day, from its evidence.

use serde::Serialize;

use super::evidence::Evidence;
use crate::numbers::{Latency, latency, per};
use crate::subscriber::Read;

/// What a market day counts.
#[derive(Debug, Clone, Serialize)]
pub struct Numbers {
    pub plays: u64,
    pub plays_per_s: f64,
    /// Of a play.
    pub latency: Latency,
    /// Entries of all jackpots.
    pub entries: u64,
    pub refused: u64,
    pub replayed: u64,
    pub cancelled: u64,
    pub payouts: u64,
    /// In minor units, of all currencies.
    pub paid_amount: i64,
    /// Milliseconds during which everything was stopped.
    pub stopped_ms: u64,
    pub transfers: Vec<Moved>,
    pub cycles: Vec<Cycles>,
    pub hits: Vec<HitBy>,
    /// None without a subscriber.
    pub events: Option<Events>,
}

/// What the subscriber got.
#[derive(Debug, Clone, Serialize)]
pub struct Events {
    /// Each once.
    pub delivered: u64,
    pub repeats: u64,
    /// Events per second, from the first play until the last event came.
    pub per_s: f64,
    /// Events that were not delivered when the last play was answered.
    pub lag: u64,
    pub caught_up_ms: u64,
    pub subscriber_kills: u32,
}

impl Events {
    #[expect(clippy::cast_precision_loss, reason = "milliseconds for a rate")]
    fn of(read: &Read, elapsed_s: f64) -> Self {
        let delivered = read.got.delivered();
        Self {
            delivered,
            repeats: read.got.repeats,
            per_s: per(delivered, elapsed_s + read.caught_up_ms as f64 / 1_000.0),
            lag: read.lag,
            caught_up_ms: read.caught_up_ms,
            subscriber_kills: read.kills,
        }
    }
}

/// What a transfer moved, in minor units.
#[derive(Debug, Clone, Serialize)]
pub struct Moved {
    pub from: String,
    pub to: String,
    pub amount: i64,
}

/// The cycles of one tier.
#[derive(Debug, Clone, Serialize)]
pub struct Cycles {
    pub jackpot: String,
    pub tier: String,
    pub ended: usize,
    pub hit: usize,
}

/// One hit.
#[derive(Debug, Clone, Serialize)]
pub struct HitBy {
    pub jackpot: String,
    pub tier: String,
    pub cycle: u64,
    pub by: String,
    /// An amount, or seconds since 1970.
    pub trigger: i64,
    pub entry_id: String,
    /// Minor units.
    pub paid: i64,
}

impl Numbers {
    pub fn of(evidence: &Evidence, elapsed_s: f64) -> Self {
        let seen = &evidence.seen;
        let plays = seen.latencies_us.len() as u64;
        let won = || seen.entries.iter().filter_map(|entry| entry.won.as_ref());
        let hits = seen.entries.iter().filter_map(|entry| {
            let hit = entry.hit.as_ref()?;
            Some(HitBy {
                jackpot: evidence.id(entry.jackpot).to_owned(),
                tier: hit.tier.clone(),
                cycle: hit.cycle,
                by: hit.by.clone(),
                trigger: hit.trigger,
                entry_id: entry.id.clone(),
                paid: entry.won.as_ref().map_or(0, |won| won.amount),
            })
        });
        Self {
            plays,
            plays_per_s: per(plays, elapsed_s),
            latency: latency(seen.latencies_us.iter().copied()),
            entries: seen.entries.len() as u64,
            refused: seen.refused,
            replayed: seen.replayed,
            cancelled: seen.reversals.len() as u64,
            payouts: won().count() as u64,
            paid_amount: won().map(|won| won.amount).sum(),
            stopped_ms: seen.stops.iter().map(|stop| (stop.to_us - stop.from_us) / 1_000).sum(),
            transfers: transfers(evidence),
            cycles: cycles(evidence),
            hits: hits.collect(),
            events: evidence.delivered.as_ref().ok().map(|read| Events::of(read, elapsed_s)),
        }
    }
}

fn transfers(evidence: &Evidence) -> Vec<Moved> {
    let moved = evidence.seen.transfers.iter().map(|transfer| Moved {
        from: evidence.id(transfer.from).to_owned(),
        to: evidence.id(transfer.to).to_owned(),
        amount: transfer.parts.iter().map(|part| part.whole).sum(),
    });
    moved.collect()
}

/// Of the tiers that have any.
fn cycles(evidence: &Evidence) -> Vec<Cycles> {
    let of_tier = |(jackpot, tier, _): (usize, &str, usize)| {
        let cycles = &evidence.shown[jackpot].cycles;
        let ended = || {
            cycles
                .iter()
                .filter(|cycle| cycle.tier == tier && cycle.ended_by.is_some())
        };
        cycles.iter().any(|cycle| cycle.tier == tier).then(|| Cycles {
            jackpot: evidence.id(jackpot).to_owned(),
            tier: tier.to_owned(),
            ended: ended().count(),
            hit: ended()
                .filter(|cycle| cycle.ended_by.as_deref() == Some("must-hit"))
                .count(),
        })
    };
    evidence.tiers().filter_map(of_tier).collect()
}
