//! One measurement, and the summary of many.

use std::time::Duration;

use hdrhistogram::Histogram;
use serde::Serialize;
use serde_json::{Map, Value};

/// One load of one point in one round.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Sample {
    /// The point: `one-64`, `http-64` …
    pub(crate) point: String,
    /// Counted from 1.
    pub(crate) round: usize,
    /// Entries per second, or what a peer has in their place.
    pub(crate) per_s: f64,
    /// Median latency of a request, in microseconds.
    pub(crate) p50_us: f64,
    /// 99th percentile of the latency of a request, in microseconds.
    pub(crate) p99_us: f64,
    /// Further values that are worth keeping.
    pub(crate) more: Map<String, Value>,
}

/// Rate and latencies of one load.
#[derive(Debug, Clone)]
pub(crate) struct Load {
    pub(crate) entries: u64,
    pub(crate) seconds: f64,
    pub(crate) p50_us: f64,
    pub(crate) p99_us: f64,
}

impl Load {
    /// From the histogram of the requests' latencies, in microseconds.
    pub(crate) fn of(entries: u64, elapsed: Duration, latencies: &Histogram<u64>) -> Self {
        Self {
            entries,
            seconds: elapsed.as_secs_f64(),
            p50_us: float(latencies.value_at_quantile(0.5)),
            p99_us: float(latencies.value_at_quantile(0.99)),
        }
    }

    /// Loads at the same time as one: their rates together, the percentiles of the slowest.
    pub(crate) fn together(loads: &[Self]) -> Self {
        let most = |value: fn(&Self) -> f64| loads.iter().map(value).fold(0.0, f64::max);
        Self {
            entries: loads.iter().map(|load| load.entries).sum(),
            seconds: most(|load| load.seconds),
            p50_us: most(|load| load.p50_us),
            p99_us: most(|load| load.p99_us),
        }
    }

    pub(crate) fn per_s(&self) -> f64 {
        float(self.entries) / self.seconds
    }

    pub(crate) fn sample(&self, point: &str, round: usize) -> Sample {
        Sample {
            point: point.to_owned(),
            round,
            per_s: self.per_s(),
            p50_us: self.p50_us,
            p99_us: self.p99_us,
            more: Map::new(),
        }
    }
}

/// Latencies in microseconds, to three digits.
pub(crate) fn latencies() -> Histogram<u64> {
    Histogram::new(3).expect("three digits are allowed")
}

/// Median, least and most over the rounds.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Spread {
    pub(crate) median: f64,
    pub(crate) least: f64,
    pub(crate) most: f64,
}

impl Spread {
    /// `None` when there are no values.
    pub(crate) fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_by(f64::total_cmp);
        let middle = values.len() / 2;
        let median = if values.len().is_multiple_of(2) {
            f64::midpoint(*values.get(middle.checked_sub(1)?)?, values[middle])
        } else {
            values[middle]
        };
        Some(Self {
            median,
            least: values[0],
            most: values[values.len() - 1],
        })
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts and times, for a table")]
pub(crate) fn float(number: u64) -> f64 {
    number as f64
}
