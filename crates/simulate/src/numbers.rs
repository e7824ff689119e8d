//! The numbers that every run has, and how latencies are counted.

use hdrhistogram::Histogram;
use serde::Serialize;

/// Latencies up to this are distinguished, in microseconds: ten minutes.
const LONGEST_US: u64 = 600_000_000;

/// All numbers of a run, with the ones that its kind alone counts.
#[derive(Debug, Clone, Serialize)]
pub struct Numbers<N> {
    pub elapsed_s: f64,
    #[serde(flatten)]
    pub own: N,
    /// Calls that clients sent again because no answer or a 503 came.
    pub repeats: u64,
    pub kills: u32,
    pub client: Client,
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

/// Events per second.
#[expect(clippy::cast_precision_loss, reason = "a rate to be shown")]
pub fn per(count: u64, seconds: f64) -> f64 {
    count as f64 / seconds.max(1e-9)
}
