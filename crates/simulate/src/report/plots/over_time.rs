//! Plots over the time of a run: series, a level across them, and marks at collisions and kills.

use plotters::prelude::RGBColor;
use plotters::style::{Color, RGBAColor};

use super::chart::{Axis, Chart, Labels, Mark};
use super::{HALF, MUTED, Plot, RED, TEAL, seconds};
use crate::SimulateError;

/// Columns of a line: each shows the last count of its time, or the lowest and the highest value.
pub const COLUMNS: f64 = 900.0;
/// Labels of the vertical axis.
const UP: usize = 6;
/// Columns of a rate.
const RATE_COLUMNS: usize = 80;

/// One line.
#[derive(Debug)]
pub struct Series {
    pub name: String,
    pub colour: RGBColor,
    /// Seconds of the run, and the value then.
    pub points: Vec<(f64, f64)>,
    /// In pixels.
    pub width: u32,
    /// The area below the line has its colour too.
    pub is_area: bool,
}

impl Series {
    /// A count, by the times of its changes in microseconds of the run.
    pub fn count(name: &str, colour: RGBColor, changes: Vec<(u64, f64)>, end_s: f64) -> Self {
        Self {
            name: name.to_owned(),
            colour,
            points: points(changes, end_s),
            width: 2,
            is_area: false,
        }
    }
}

/// What is plotted, from the start of the run to its end.
#[derive(Debug)]
pub struct OverTime<'e> {
    pub title: &'static str,
    pub caption: &'static str,
    pub size: (u32, u32),
    pub series: Vec<Series>,
    /// A level that is drawn across, and its name.
    pub level: Option<(f64, &'static str)>,
    /// Seconds of the run at which something collided.
    pub collisions: &'e [f64],
    pub kills_us: &'e [u64],
    pub end_s: f64,
}

pub fn plot(what: &OverTime<'_>) -> Result<Plot, SimulateError> {
    let (end, size, level) = (what.end_s, what.size, what.level);
    let values = what.series.iter().flat_map(|series| &series.points);
    let values = values.map(|point| point.1).chain(level.map(|level| level.0));
    let top = values.fold(1.0, f64::max) * 1.08;
    let mut marks = Vec::new();
    if let Some((level, _)) = level {
        marks.push(Mark::Line(vec![(0.0, level), (end, level)], MUTED.to_rgba(), 1));
    }
    for series in &what.series {
        if series.is_area {
            marks.push(Mark::Area(series.points.clone(), series.colour.mix(0.12)));
        }
        marks.push(Mark::Line(series.points.clone(), series.colour.to_rgba(), series.width));
    }
    let upright = |at: f64, colour: RGBAColor| Mark::Line(vec![(at, 0.0), (at, top)], colour, 1);
    marks.extend(what.collisions.iter().map(|at| upright(*at, MUTED.mix(0.35))));
    marks.extend(what.kills_us.iter().map(|at| upright(seconds(*at), RED.mix(0.8))));
    let chart = Chart::new(
        Axis::linear(end, None, Labels::Scale(" s")),
        Axis::linear(top, Some(UP), Labels::Scale("")),
        marks,
    );
    let series = what.series.iter().map(|series| (series.colour, series.name.clone()));
    let marks = [
        level.map(|(_, name)| (MUTED, name)),
        (!what.collisions.is_empty()).then_some((MUTED, "collision")),
        (!what.kills_us.is_empty()).then_some((RED, "kill -9")),
    ];
    let marks = marks
        .into_iter()
        .flatten()
        .map(|(colour, name)| (colour, name.to_owned()));
    let plot = Plot::new(what.title, size, &chart)?.captioned(what.caption);
    Ok(plot.with_legend(series.chain(marks)))
}

/// What was answered per second, by the times of the answers in microseconds of the run.
pub fn throughput(
    at_us: &[u64],
    units: &str,
    caption: &'static str,
    collisions: &[f64],
    kills_us: &[u64],
    end_s: f64,
) -> Result<Plot, SimulateError> {
    plot(&OverTime {
        title: "Throughput over time",
        caption,
        size: HALF,
        series: vec![Series {
            name: format!("{units}/s"),
            colour: TEAL,
            points: rates(at_us, end_s),
            width: 2,
            is_area: true,
        }],
        level: None,
        collisions,
        kills_us,
        end_s,
    })
}

/// The count at the end of each column that changed it, from 0 at the start.
fn points(mut changes: Vec<(u64, f64)>, end: f64) -> Vec<(f64, f64)> {
    changes.sort_unstable_by_key(|change| change.0);
    let (mut points, mut count, mut column) = (vec![(0.0, 0.0)], 0.0, 0.0);
    for (at_us, by) in changes {
        let at = (seconds(at_us) / end * COLUMNS).floor();
        if at > column {
            // Up to here, and level until now.
            points.extend([((column + 1.0) / COLUMNS * end, count), (at / COLUMNS * end, count)]);
            column = at;
        }
        count += by;
    }
    points.extend([((column + 1.0) / COLUMNS * end, count), (end, count)]);
    points
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "columns of a plot"
)]
fn rates(at_us: &[u64], end: f64) -> Vec<(f64, f64)> {
    let width = end / RATE_COLUMNS as f64;
    let mut counts = [0_u32; RATE_COLUMNS];
    for at in at_us {
        let column = (seconds(*at) / width) as usize;
        counts[column.min(RATE_COLUMNS - 1)] += 1;
    }
    let rates = counts
        .iter()
        .enumerate()
        .map(|(column, count)| ((column as f64 + 0.5) * width, f64::from(*count) / width));
    rates.collect()
}

#[cfg(test)]
mod tests {
    use super::points;

    #[test]
    fn a_line_ends_at_its_count_and_is_level_between_changes() {
        let points = points(vec![(500_000, 1.0), (100, 1.0), (200, 1.0), (900_000, -1.0)], 1.0);
        assert_eq!(points.first(), Some(&(0.0, 0.0)));
        assert_eq!(points.last(), Some(&(1.0, 2.0)));
        let highest = points.iter().map(|point| point.1).fold(0.0, f64::max);
        assert!((highest - 3.0).abs() < 1e-9);
        assert!(points.is_sorted_by(|one, next| one.0 <= next.0), "{points:?}");
    }
}
