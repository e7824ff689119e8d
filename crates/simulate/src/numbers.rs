//! The numbers of a run: rates, latencies and counts, from its evidence.

use hdrhistogram::Histogram;
use serde::Serialize;

use super::answer::Outcome;
use super::evidence::Evidence;

/// Latencies up to this are told apart, in microseconds: ten minutes.
const LONGEST_US: u64 = 600_000_000;

/// Latencies in microseconds, from the first try to the answer, repeats after a lost answer included.
#[derive(Debug, Clone, Copy, Default, Serialize)]
#[expect(clippy::struct_field_names, reason = "the unit, which the JSON shows too")]
pub struct Latency {
    pub p50_us: u64,
    pub p90_us: u64,
    pub p99_us: u64,
    pub p999_us: u64,
    pub max_us: u64,
}

/// How busy the client was.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Client {
    /// Requests per second that it reaches against a responder that only answers.
    pub ceiling_per_s: f64,
    /// Its rate in the run, replays included, as a share of that, in percent.
    pub of_ceiling_percent: f64,
    /// Cores that it used, of all there are.
    pub cores_used: Option<f64>,
    /// Cores that the private service and its Redis used; unknown after kills and for a given one.
    pub service_cores_used: Option<f64>,
}

/// All numbers.
#[derive(Debug, Clone, Serialize)]
pub struct Numbers {
    pub elapsed_s: f64,
    pub entries: u64,
    pub entries_per_s: f64,
    pub latency: Latency,
    pub collision_entries: u64,
    /// Among the entries of collisions: paid at their first attempt.
    pub collision_paid: u64,
    pub paid: u64,
    pub paid_pools: u64,
    pub paid_fixed: u64,
    pub paid_after_redraw: u64,
    /// Minor units.
    pub paid_amount: i64,
    pub retries: u64,
    pub redrawn_entries: u64,
    pub replays: u64,
    pub replays_at_once: u64,
    /// Calls repeated because no answer or a 503 came.
    pub repeats: u64,
    pub kills: u32,
    pub client: Client,
}

impl Numbers {
    /// Counts the evidence. `repeats` are all calls sent in vain.
    pub fn of(evidence: &Evidence, elapsed_s: f64, repeats: u64, mut client: Client) -> Self {
        let entries = evidence.records.len() as u64;
        let replays = evidence.repeated.len() as u64;
        client.of_ceiling_percent = 100.0 * per(entries + replays, elapsed_s) / client.ceiling_per_s;
        let mut numbers = Self {
            elapsed_s,
            entries,
            entries_per_s: per(entries, elapsed_s),
            latency: latency(evidence.latencies_us()),
            collision_entries: 0,
            collision_paid: 0,
            paid: 0,
            paid_pools: 0,
            paid_fixed: 0,
            paid_after_redraw: 0,
            paid_amount: 0,
            retries: 0,
            redrawn_entries: 0,
            replays,
            replays_at_once: evidence.repeated.iter().filter(|pair| pair.at_once).count() as u64,
            repeats,
            kills: evidence.kills,
            client,
        };
        for (record, answer) in evidence.answers() {
            let redrawn = answer.attempts.len() > 1;
            numbers.redrawn_entries += u64::from(redrawn);
            numbers.retries += answer
                .attempts
                .iter()
                .filter(|attempt| attempt.result == Outcome::Retry)
                .count() as u64;
            numbers.collision_entries += u64::from(record.collision.is_some());
            if let Some(payout) = &answer.payout {
                numbers.paid += 1;
                numbers.paid_amount += payout.amount;
                numbers.paid_pools += u64::from(payout.takes_pool);
                numbers.paid_fixed += u64::from(!payout.takes_pool);
                numbers.paid_after_redraw += u64::from(redrawn);
                numbers.collision_paid += u64::from(record.collision.is_some() && !redrawn);
            }
        }
        numbers
    }
}

/// Latencies in microseconds, three digits exact.
pub fn histogram(latencies_us: impl IntoIterator<Item = u64>) -> Histogram<u64> {
    let mut histogram = Histogram::new_with_max(LONGEST_US, 3).expect("bounds that hdrhistogram accepts");
    for latency_us in latencies_us {
        histogram.saturating_record(latency_us.max(1));
    }
    histogram
}

/// The percentiles of latencies in microseconds.
pub fn latency(latencies_us: impl IntoIterator<Item = u64>) -> Latency {
    let histogram = histogram(latencies_us);
    Latency {
        p50_us: histogram.value_at_quantile(0.5),
        p90_us: histogram.value_at_quantile(0.9),
        p99_us: histogram.value_at_quantile(0.99),
        p999_us: histogram.value_at_quantile(0.999),
        max_us: histogram.max(),
    }
}

/// So many a second.
#[expect(clippy::cast_precision_loss, reason = "a rate to be shown")]
pub fn per(count: u64, seconds: f64) -> f64 {
    count as f64 / seconds.max(1e-9)
}

#[cfg(test)]
mod tests {
    use super::{Client, Numbers};
    use crate::check::fixture;

    #[test]
    fn a_run_is_counted() {
        let client = Client {
            ceiling_per_s: 4_000.0,
            of_ceiling_percent: 0.0,
            cores_used: None,
            service_cores_used: None,
        };
        let numbers = Numbers::of(&fixture::honest(""), 2.0, 3, client);
        assert_eq!(
            (
                numbers.entries,
                numbers.replays,
                numbers.replays_at_once,
                numbers.repeats
            ),
            (4_000, 2, 1, 3)
        );
        assert_eq!((numbers.latency.p50_us, numbers.latency.max_us), (25, 25));
        assert_eq!(numbers.paid, numbers.paid_pools + numbers.paid_fixed);
        assert!(numbers.paid_after_redraw > 0 && numbers.retries >= numbers.redrawn_entries);
        assert!((numbers.client.of_ceiling_percent - 50.0).abs() < 0.1);
    }
}
