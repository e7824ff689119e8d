//! Latency by percentile, and how it is spread.

use plotters::style::Color;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::chart::{Axis, Chart, Labels, Mark};
use super::{BLUE, HALF, Plot, float, seconds};
use crate::SimulateError;
use crate::numbers;
use crate::table::{duration, grouped};

/// Percentiles that are named in the plot.
const NAMED: [(f64, &str); 4] = [(0.5, "p50"), (0.9, "p90"), (0.99, "p99"), (0.999, "p99.9")];
/// Columns of the histogram per tenfold latency.
const COLUMNS_PER_DECADE: f64 = 16.0;

/// Latency against the percentile, stretched towards the slowest.
pub fn percentiles(latencies_us: &[u64], whose: &str) -> Result<Plot, SimulateError> {
    let histogram = numbers::histogram(latencies_us.iter().copied());
    let at = |quantile: f64| millis(histogram.value_at_quantile(quantile));
    let nines = |quantile: f64| -(1.0 - quantile).log10();
    let last = nines(0.9999);
    let point = |step: u32| {
        let x = last * f64::from(step) / 200.0;
        (x, at(1.0 - 10_f64.powf(-x)))
    };
    let mut marks = vec![Mark::Line((0..=200).map(point).collect(), BLUE.to_rgba(), 2)];
    for (index, (quantile, name)) in NAMED.into_iter().enumerate() {
        let (x, y) = (nines(quantile), at(quantile));
        // The last one above the line, where it meets neither the others nor the edge.
        let is_last = index + 1 == NAMED.len();
        let (beside, side) = if is_last {
            ((x + 0.1, y * 1.04), Pos::new(HPos::Right, VPos::Bottom))
        } else {
            ((x + 0.06, y / 1.03), Pos::new(HPos::Left, VPos::Top))
        };
        let text = format!("{name} {}", milliseconds(y));
        marks.extend([Mark::Dot((x, y), BLUE.to_rgba(), 4), Mark::Text(beside, text, side)]);
    }
    let chart = Chart {
        right: 30,
        left: 62,
        ..Chart::new(
            Axis::linear(last, Some(5), Labels::By(percentile)),
            Axis::logarithmic(at(0.0) * 0.8, at(0.9999) * 1.6, milliseconds),
            marks,
        )
    };
    let caption = format!("From {whose} first try to its answer, repeats after a lost answer included.");
    Ok(Plot::new("Latency by percentile", HALF, &chart)?.captioned(caption))
}

/// How many of them took how long. `units` names them.
pub fn histogram(title: &'static str, latencies_us: &[u64], units: &str) -> Result<Plot, SimulateError> {
    let bars = bars(latencies_us);
    let left = bars.iter().map(|bar| bar.0).fold(f64::MAX, f64::min) / 1.2;
    let right = bars.iter().map(|bar| bar.1).fold(f64::MIN, f64::max) * 1.2;
    let top = bars.iter().map(|bar| bar.2).fold(1.0, f64::max) * 1.08;
    // A hairline between bars, on a logarithmic axis.
    let bar = |(from, to, count)| Mark::Bar((from * 1.012, 0.0), (to / 1.012, count), BLUE.mix(0.75));
    let chart = Chart::new(
        Axis::logarithmic(left, right, milliseconds),
        Axis::linear(top, Some(6), Labels::Scale("")),
        bars.into_iter().map(bar).collect(),
    );
    let caption = format!("{} {units}, on a logarithmic axis.", grouped(latencies_us.len() as u64));
    Ok(Plot::new(title, HALF, &chart)?.captioned(caption))
}

/// From, to (both milliseconds) and count of each column that has any.
#[expect(clippy::cast_possible_truncation, reason = "a few dozen columns")]
fn bars(latencies_us: &[u64]) -> Vec<(f64, f64, f64)> {
    let mut counts = std::collections::BTreeMap::<i64, i64>::new();
    for latency_us in latencies_us {
        let column = (millis((*latency_us).max(1)).log10() * COLUMNS_PER_DECADE).floor() as i64;
        *counts.entry(column).or_default() += 1;
    }
    let edge = |column: i64| 10_f64.powf(float(column) / COLUMNS_PER_DECADE);
    counts
        .into_iter()
        .map(|(column, count)| (edge(column), edge(column + 1), float(count)))
        .collect()
}

fn millis(micros: u64) -> f64 {
    seconds(micros) * 1e3
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a latency in microseconds"
)]
fn milliseconds(value: f64) -> String {
    match value {
        ..1.0 => duration((value * 1e3).round() as u64),
        1.0..1e3 => format!("{} ms", super::short(value)),
        _ => format!("{} s", super::short(value / 1e3)),
    }
}

/// The percentile with this many nines.
fn percentile(nines: f64) -> String {
    let value = 100.0 * (1.0 - 10_f64.powf(-nines));
    if nines < 0.5 {
        format!("{value:.0} %")
    } else {
        format!("{value:.*} %", if nines < 2.1 { 0 } else { 2 })
    }
}
