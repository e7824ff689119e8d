//! Counts over time, as lines.

use plotters::prelude::{ChartBuilder, LineSeries, PathElement, RGBColor};
use plotters::style::Color;

use super::{GRID, MUTED, Plot, RED, WIDE, css, label, seconds, short, svg};
use crate::SimulateError;

/// Columns of a line: each shows the last count of its time.
const COLUMNS: f64 = 900.0;

/// A count with the times of its changes, in microseconds of the run.
#[derive(Debug)]
pub struct Line {
    pub name: &'static str,
    pub colour: RGBColor,
    /// When, and by how much.
    pub changes: Vec<(u64, f64)>,
}

/// What is plotted.
#[derive(Debug)]
pub struct Lines<'e> {
    pub title: &'static str,
    pub caption: String,
    pub size: (u32, u32),
    pub lines: Vec<Line>,
    /// A level that is drawn across, and its name.
    pub level: Option<(f64, &'static str)>,
    pub kills_us: &'e [u64],
    pub end_s: f64,
}

/// The lines from the start of the run to its end.
pub fn plot(lines: Lines<'_>) -> Result<Plot, SimulateError> {
    let Lines {
        title,
        caption,
        size,
        lines,
        level,
        kills_us,
        end_s: end,
    } = lines;
    let drawn: Vec<(RGBColor, Vec<(f64, f64)>)> = lines
        .iter()
        .map(|line| (line.colour, points(&line.changes, end)))
        .collect();
    let counts = drawn.iter().flat_map(|(_, points)| points.iter().map(|point| point.1));
    let top = counts.chain(level.map(|level| level.0)).fold(1.0, f64::max) * 1.08;
    let svg = svg(size, title, |area| {
        let mut chart = ChartBuilder::on(area)
            .margin(8)
            .margin_right(18)
            .x_label_area_size(28)
            .y_label_area_size(52)
            .build_cartesian_2d(0.0..end, 0.0..top)?;
        grid!(chart)
            .y_labels(6)
            .x_label_formatter(&|x| format!("{} s", short(*x)))
            .y_label_formatter(&|y| short(*y))
            .draw()?;
        if let Some((level, _)) = level {
            let across = [(0.0, level), (end, level)];
            chart.draw_series([PathElement::new(across, MUTED.stroke_width(1))])?;
        }
        for (colour, points) in drawn {
            chart.draw_series(LineSeries::new(points, colour.stroke_width(2)))?;
        }
        let kills = kills_us.iter().map(|at| seconds(*at));
        chart.draw_series(kills.map(|at| PathElement::new([(at, 0.0), (at, top)], RED.mix(0.8).stroke_width(1))))?;
        Ok(())
    })?;
    let mut legend: Vec<(String, String)> = lines
        .iter()
        .map(|line| (css(line.colour), line.name.to_owned()))
        .collect();
    legend.extend(level.map(|(_, name)| (css(MUTED), name.to_owned())));
    if !kills_us.is_empty() {
        legend.push((css(RED), "kill -9".to_owned()));
    }
    Ok(Plot {
        title,
        caption,
        legend,
        svg,
        wide: size == WIDE,
    })
}

/// The count at the end of each column that changed it, from 0 at the start on.
fn points(changes: &[(u64, f64)], end: f64) -> Vec<(f64, f64)> {
    let mut changes = changes.to_vec();
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

#[cfg(test)]
mod tests {
    use super::points;

    #[test]
    fn a_line_ends_at_its_count_and_is_level_between_changes() {
        let points = points(&[(500_000, 1.0), (100, 1.0), (200, 1.0), (900_000, -1.0)], 1.0);
        assert_eq!(points.first(), Some(&(0.0, 0.0)));
        assert_eq!(points.last(), Some(&(1.0, 2.0)));
        let highest = points.iter().map(|point| point.1).fold(0.0, f64::max);
        assert!((highest - 3.0).abs() < 1e-9);
        assert!(points.is_sorted_by(|one, next| one.0 <= next.0), "{points:?}");
    }
}
