//! Plots over the time of a run: series, a level across them, and marks at collisions and kills.

use plotters::prelude::{AreaSeries, ChartBuilder, LineSeries, PathElement, RGBColor};
use plotters::style::Color;

use super::{HALF, MUTED, Plot, RED, TEAL, WIDE, css, labels_across, scale, seconds, svg};
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
    let svg = svg(size, what.title, |area| {
        let mut chart = ChartBuilder::on(area)
            .margin(8)
            .margin_right(18)
            .x_label_area_size(28)
            .y_label_area_size(52)
            .build_cartesian_2d(0.0..end, 0.0..top)?;
        let across = labels_across(area);
        let (time, value) = (scale(end, across), scale(top, UP));
        grid!(chart)
            .x_labels(across)
            .y_labels(UP)
            .x_label_formatter(&|x| format!("{} s", time(*x)))
            .y_label_formatter(&|y| value(*y))
            .draw()?;
        if let Some((level, _)) = level {
            let across = [(0.0, level), (end, level)];
            chart.draw_series([PathElement::new(across, MUTED.stroke_width(1))])?;
        }
        for series in &what.series {
            let points = || series.points.iter().copied();
            if series.is_area {
                chart.draw_series(AreaSeries::new(points(), 0.0, series.colour.mix(0.12)))?;
            }
            chart.draw_series(LineSeries::new(points(), series.colour.stroke_width(series.width)))?;
        }
        let upright = |at: f64| [(at, 0.0), (at, top)];
        let collisions = what.collisions.iter().map(|at| upright(*at));
        chart.draw_series(collisions.map(|line| PathElement::new(line, MUTED.mix(0.35).stroke_width(1))))?;
        let kills = what.kills_us.iter().map(|at| upright(seconds(*at)));
        chart.draw_series(kills.map(|line| PathElement::new(line, RED.mix(0.8).stroke_width(1))))?;
        Ok(())
    })?;
    let series = what
        .series
        .iter()
        .map(|series| (css(series.colour), series.name.clone()));
    let marks = [
        level.map(|(_, name)| (MUTED, name)),
        (!what.collisions.is_empty()).then_some((MUTED, "collision")),
        (!what.kills_us.is_empty()).then_some((RED, "kill -9")),
    ];
    let marks = marks.into_iter().flatten();
    let legend = series.chain(marks.map(|(colour, name)| (css(colour), name.to_owned())));
    Ok(Plot {
        title: what.title,
        caption: what.caption.to_owned(),
        legend: legend.collect(),
        svg,
        wide: size == WIDE,
    })
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
