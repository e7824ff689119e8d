//! The claims: pools taken with their amounts, and refusals beneath.

use plotters::prelude::{BindKeyPoints, ChartBuilder, Circle, IntoLogRange, Rectangle};
use plotters::style::{Color, RGBColor};

use super::{AMBER, BLUE, GRID, HALF, Plot, RED, TEAL, css, float, label, seconds, short, svg, ticks};
use crate::SimulateError;
use crate::answer::Outcome;
use crate::summary::Played;

const COLUMNS: usize = 80;
const COLUMNS_F: f64 = 80.0;
/// Height of the upper part, in pixels.
const AMOUNTS_PX: u32 = 215;

/// Pool takes as points over time and amount; retries as bars beneath.
pub fn plot(played: &Played) -> Result<Plot, SimulateError> {
    let title = "Claims over time";
    let end = played.summary.numbers.elapsed_s;
    let points = points(played);
    let low = points.iter().map(|point| point.1).fold(f64::MAX, f64::min).min(100.0) * 0.7;
    let high = points.iter().map(|point| point.1).fold(100.0, f64::max) * 1.6;
    let retries = retries(played, end);
    let most = retries.iter().copied().fold(1.0, f64::max) * 1.1;
    let svg = svg(HALF, title, |area| {
        let (amounts, refusals) = area.split_vertically(AMOUNTS_PX);
        let mut chart = ChartBuilder::on(&amounts)
            .margin(8)
            .margin_right(18)
            .x_label_area_size(2)
            .y_label_area_size(52)
            .build_cartesian_2d(0.0..end, (low..high).log_scale().with_key_points(ticks(low, high)))?;
        grid!(chart)
            .x_labels(0)
            .y_labels(5)
            .y_label_formatter(&|y| short(*y))
            .draw()?;
        chart.draw_series(
            points
                .iter()
                .map(|&(at, amount, colour)| Circle::new((at, amount), 3, colour.mix(0.75).filled())),
        )?;
        let mut chart = ChartBuilder::on(&refusals)
            .margin(2)
            .margin_left(8)
            .margin_right(18)
            .margin_bottom(8)
            .x_label_area_size(28)
            .y_label_area_size(52)
            .build_cartesian_2d(0.0..end, 0.0..most)?;
        grid!(chart)
            .x_labels(6)
            .y_labels(3)
            .x_label_formatter(&|x| format!("{} s", short(*x)))
            .y_label_formatter(&|y| short(*y))
            .draw()?;
        let width = end / COLUMNS_F;
        chart.draw_series(
            (0_i32..)
                .zip(&retries)
                .filter(|(_, count)| **count > 0.0)
                .map(|(column, count)| {
                    let from = f64::from(column) * width;
                    Rectangle::new(
                        [(from + width * 0.1, 0.0), (from + width * 0.9, *count)],
                        RED.mix(0.7).filled(),
                    )
                }),
        )?;
        Ok(())
    })?;
    let legend = [
        (TEAL, "pool taken"),
        (AMBER, "in a collision"),
        (BLUE, "after a redraw"),
        (RED, "retries (beneath)"),
    ];
    let caption = format!(
        "Amount of each pool taken; {} fixed prizes are not drawn.",
        played.summary.numbers.paid_fixed
    );
    Ok(Plot {
        title,
        caption,
        legend: legend.map(|(colour, text)| (css(colour), text.to_owned())).into(),
        svg,
        wide: false,
    })
}

fn points(played: &Played) -> Vec<(f64, f64, RGBColor)> {
    let mut points = Vec::new();
    for (record, answer) in played.evidence.answers() {
        let Some(payout) = answer.payout.as_deref().filter(|payout| payout.takes_pool) else {
            continue;
        };
        let colour = match (answer.attempts.len() > 1, record.collision) {
            (true, _) => BLUE,
            (false, Some(_)) => AMBER,
            (false, None) => TEAL,
        };
        points.push((seconds(record.answered_us), float(payout.amount), colour));
    }
    points
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "columns of a plot"
)]
fn retries(played: &Played, end: f64) -> [f64; COLUMNS] {
    let mut counts = [0.0; COLUMNS];
    for (record, answer) in played.evidence.answers() {
        let column = (seconds(record.answered_us) / end * COLUMNS_F) as usize;
        counts[column.min(COLUMNS - 1)] += answer
            .attempts
            .iter()
            .filter(|attempt| attempt.result == Outcome::Retry)
            .count() as f64;
    }
    counts
}
