//! What was answered per second over time, with collisions and kills.

use plotters::prelude::{AreaSeries, ChartBuilder, LineSeries, PathElement};
use plotters::style::Color;

use super::{GRID, HALF, MUTED, Plot, RED, TEAL, css, label, seconds, short, svg};
use crate::SimulateError;

const COLUMNS: usize = 80;

/// What is plotted: times in microseconds of the run.
#[derive(Debug)]
pub struct Answered<'e> {
    pub at_us: &'e [u64],
    /// What was answered.
    pub units: &'static str,
    pub caption: &'static str,
    /// Seconds of the run at which something collided.
    pub collisions: &'e [f64],
    pub kills_us: &'e [u64],
    pub end_s: f64,
}

/// Answers per second, by time of the answer.
pub fn plot(answered: &Answered<'_>) -> Result<Plot, SimulateError> {
    let title = "Throughput over time";
    let end = answered.end_s;
    let rates = rates(answered.at_us, end);
    let top = rates.iter().map(|point| point.1).fold(1.0, f64::max) * 1.1;
    let marks = answered.collisions;
    let svg = svg(HALF, title, |area| {
        let mut chart = ChartBuilder::on(area)
            .margin(8)
            .margin_right(18)
            .x_label_area_size(28)
            .y_label_area_size(52)
            .build_cartesian_2d(0.0..end, 0.0..top)?;
        grid!(chart)
            .x_labels(6)
            .y_labels(6)
            .x_label_formatter(&|x| format!("{} s", short(*x)))
            .y_label_formatter(&|y| short(*y))
            .draw()?;
        chart.draw_series(AreaSeries::new(rates.iter().copied(), 0.0, TEAL.mix(0.12)))?;
        chart.draw_series(LineSeries::new(rates.iter().copied(), TEAL.stroke_width(2)))?;
        chart.draw_series(
            marks
                .iter()
                .map(|at| PathElement::new([(*at, 0.0), (*at, top)], MUTED.mix(0.35).stroke_width(1))),
        )?;
        let kills = answered.kills_us.iter().map(|at| seconds(*at));
        chart.draw_series(kills.map(|at| PathElement::new([(at, 0.0), (at, top)], RED.mix(0.8).stroke_width(1))))?;
        Ok(())
    })?;
    let mut legend = vec![(css(TEAL), format!("{}/s", answered.units))];
    if !marks.is_empty() {
        legend.push((css(MUTED), "collision".to_owned()));
    }
    if !answered.kills_us.is_empty() {
        legend.push((css(RED), "kill -9".to_owned()));
    }
    Ok(Plot {
        title,
        caption: answered.caption.to_owned(),
        legend,
        svg,
        wide: false,
    })
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "columns of a plot"
)]
fn rates(at_us: &[u64], end: f64) -> Vec<(f64, f64)> {
    let width = end / COLUMNS as f64;
    let mut counts = [0_u32; COLUMNS];
    for at in at_us {
        let column = (seconds(*at) / width) as usize;
        counts[column.min(COLUMNS - 1)] += 1;
    }
    let rates = counts
        .iter()
        .enumerate()
        .map(|(column, count)| ((column as f64 + 0.5) * width, f64::from(*count) / width));
    rates.collect()
}
