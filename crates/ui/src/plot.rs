//! A plot of values over time as SVG, made by the server: its colours are those of the stylesheet, so it follows the
//! reader's scheme. The numbers are under it as a table, for readers who can't see it.

use std::fmt::Write as _;

use maud::{Markup, PreEscaped, html};

/// A value from a time on, in ms since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Point {
    pub at_ms: i64,
    pub value: u64,
}

/// A line that stays at each value until the next one.
pub struct Plot<'a> {
    /// For readers who can't see it.
    pub label: &'a str,
    /// In the order of time.
    pub points: &'a [Point],
    /// Writes a value at the axis.
    pub value: &'a dyn Fn(u64) -> String,
    /// Writes a time at the axis.
    pub time: &'a dyn Fn(i64) -> String,
}

// Not much wider than a phone: texts of 12 units stay readable there, and are not large on a desk.
const WIDTH: f64 = 440.0;
const HEIGHT: f64 = 180.0;
const LEFT: f64 = 4.0;
const RIGHT: f64 = 84.0;
const TOP: f64 = 10.0;
const BOTTOM: f64 = 26.0;
/// Lines across, the axis included.
const ROWS: u64 = 4;
/// The axis spans at least this part of the highest value, so that small changes look small.
const LEAST_SPAN: u64 = 20;

impl Plot<'_> {
    /// The plot; nothing without points.
    #[must_use]
    pub fn svg(&self) -> Markup {
        let (Some(first), Some(last)) = (self.points.first(), self.points.last()) else {
            return html! {};
        };
        let (low, high) = range(self.points);
        let x = |at_ms: i64| LEFT + (WIDTH - LEFT - RIGHT) * ratio(at_ms - first.at_ms, last.at_ms - first.at_ms);
        let y = |value: u64| {
            let of = ratio_u(value.saturating_sub(low), high - low);
            TOP + (HEIGHT - TOP - BOTTOM) * (1.0 - of)
        };
        let mut line = String::new();
        for (index, point) in self.points.iter().enumerate() {
            let (x, y) = (x(point.at_ms), y(point.value));
            // Writing to a text never fails.
            let _ = if index == 0 {
                write!(line, "M{x:.1} {y:.1}")
            } else {
                write!(line, "H{x:.1}V{y:.1}")
            };
        }
        // Until the next step, which a single point would not reach.
        let _ = write!(line, "H{:.1}", WIDTH - RIGHT);
        let bottom = HEIGHT - BOTTOM;
        let area = format!("{line}V{bottom:.1}H{LEFT:.1}Z");
        html! {
            svg class="plot" viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img" aria-label=(self.label) {
                @for row in 0..=ROWS {
                    @let value = low + (high - low) * row / ROWS;
                    @let at = y(value);
                    line class="plot-grid" x1=(LEFT) x2=(WIDTH - RIGHT) y1=(PreEscaped(format!("{at:.1}"))) y2=(PreEscaped(format!("{at:.1}"))) {}
                    text class="plot-text" x=(WIDTH - RIGHT + 8.0) y=(PreEscaped(format!("{:.1}", at + 4.0))) { ((self.value)(value)) }
                }
                path class="plot-area" d=(area) {}
                path class="plot-line" d=(line) {}
                @for (step, label) in self.times(first.at_ms, last.at_ms) {
                    @let end = step == last.at_ms && step != first.at_ms;
                    text class="plot-text" text-anchor=(if end { "end" } else if step == first.at_ms { "start" } else { "middle" })
                        x=(PreEscaped(format!("{:.1}", x(step)))) y=(HEIGHT - 8.0) { (label) }
                }
            }
        }
    }

    /// The times below with their labels, none of which comes twice.
    fn times(&self, first: i64, last: i64) -> Vec<(i64, String)> {
        let mut labels: Vec<(i64, String)> = Vec::new();
        for at in [first, first.midpoint(last), last] {
            let label = (self.time)(at);
            if labels.iter().all(|(_, other)| *other != label) {
                labels.push((at, label));
            }
        }
        labels
    }
}

/// The lowest and highest value at the axis: never the same, and whole steps apart.
fn range(points: &[Point]) -> (u64, u64) {
    let low = points.iter().map(|point| point.value).min().unwrap_or(0);
    let high = points.iter().map(|point| point.value).max().unwrap_or(0);
    // A pool that hardly moves must not look empty or wild.
    let low = if low < high / 2 { 0 } else { low };
    let lacking = (high / LEAST_SPAN).max(ROWS).saturating_sub(high - low);
    let low = low - low.min(lacking / 2);
    let high = high.saturating_add(lacking - lacking / 2);
    (low, high + (ROWS - (high - low) % ROWS) % ROWS)
}

#[expect(clippy::cast_precision_loss, reason = "a pixel needs no more")]
fn ratio(part: i64, whole: i64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

#[expect(clippy::cast_precision_loss, reason = "a pixel needs no more")]
fn ratio_u(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn svg(points: &[Point]) -> String {
        let plot = Plot {
            label: "Pool & <time>",
            points,
            value: &|value| value.to_string(),
            time: &|at| at.to_string(),
        };
        plot.svg().into_string()
    }

    #[test]
    fn a_line_steps_from_value_to_value() {
        let points = [(0, 0), (100, 40), (200, 10)].map(|(at_ms, value)| Point { at_ms, value });
        let svg = svg(&points);
        assert!(svg.contains("aria-label=\"Pool &amp; &lt;time&gt;\""));
        assert!(svg.contains("d=\"M4.0 154.0H180.0V10.0H356.0V118.0H356.0\""), "{svg}");
        for label in [">0<", ">10<", ">40<", ">100<", ">200<"] {
            assert!(svg.contains(label), "{label}");
        }
    }

    #[test]
    fn no_label_comes_twice() {
        let points = [(0, 500), (90_000, 500)].map(|(at_ms, value)| Point { at_ms, value });
        let plot = Plot {
            label: "Pool",
            points: &points,
            value: &|value| value.to_string(),
            time: &|at| format!("minute {}", at / 60_000),
        };
        let svg = plot.svg().into_string();
        for label in ["minute 0", "minute 1", ">488<", ">502<", ">516<"] {
            assert_eq!(svg.matches(label).count(), 1, "{label}: {svg}");
        }
    }

    #[test]
    fn one_point_and_none_are_plots_too() {
        assert_eq!(svg(&[]), "");
        let svg = svg(&[Point {
            at_ms: 5,
            value: u64::MAX / 2,
        }]);
        assert!(svg.contains("<path") && !svg.contains("NaN") && !svg.contains("inf"));
    }

    #[test]
    fn a_range_is_never_empty_and_has_whole_steps() {
        for values in [vec![7], vec![0], vec![100, 101], vec![3, 900]] {
            let points: Vec<_> = values
                .iter()
                .map(|value| Point {
                    at_ms: 0,
                    value: *value,
                })
                .collect();
            let (low, high) = range(&points);
            assert!(high > low && (high - low) % ROWS == 0, "{values:?}");
            assert!(values.iter().all(|value| (low..=high).contains(value)));
        }
    }
}
