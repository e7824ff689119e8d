//! The pools over time.

use plotters::prelude::{ChartBuilder, LineSeries, PathElement};
use plotters::style::Color;

use super::{GRID, MUTED, Plot, TIERS, WIDE, collisions, css, float, label, seconds, short, svg};
use crate::SimulateError;
use crate::summary::Played;

/// Columns of the line: each shows the lowest and highest pool of its time.
const COLUMNS: f64 = 900.0;

/// Every tier's pool as entries saw it.
pub fn plot(played: &Played) -> Result<Plot, SimulateError> {
    let evidence = &played.evidence;
    let title = "Pool over time";
    let end = played.summary.numbers.elapsed_s;
    let lines: Vec<Vec<(f64, f64)>> = (0..evidence.plan.tiers.len())
        .map(|tier| line(played, tier, end))
        .collect();
    let top = lines.iter().flatten().map(|point| point.1).fold(1.0, f64::max) * 1.05;
    let marks = collisions(played);
    let svg = svg(WIDE, title, |area| {
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
        chart.draw_series(
            marks
                .iter()
                .map(|at| PathElement::new([(*at, 0.0), (*at, top)], MUTED.mix(0.35).stroke_width(1))),
        )?;
        for (line, colour) in lines.iter().zip(TIERS) {
            chart.draw_series(LineSeries::new(line.iter().copied(), colour.stroke_width(1)))?;
        }
        Ok(())
    })?;
    let mut legend: Vec<(String, String)> = evidence
        .plan
        .tiers
        .iter()
        .zip(TIERS)
        .map(|(tier, colour)| (css(colour), tier.name.to_owned()))
        .collect();
    if !marks.is_empty() {
        legend.push((css(MUTED), "collision".to_owned()));
    }
    let caption =
        "Each entry adds its contribution; each winner takes the whole pool. In minor units, as the answers told it."
            .to_owned();
    Ok(Plot {
        title,
        caption,
        legend,
        svg,
        wide: true,
    })
}

/// The pool after each entry's contribution and after each take, the extremes of each column.
fn line(played: &Played, tier: usize, end: f64) -> Vec<(f64, f64)> {
    let mut points = Vec::new();
    let mut column = 0.0;
    let (mut low, mut high) = (f64::MAX, f64::MIN);
    for (record, answer) in played.evidence.answers() {
        let at = (seconds(record.answered_us) / end * COLUMNS).floor();
        // Sequence order and time of the answer differ by what an answer takes: the column only moves on.
        if at > column && low <= high {
            let x = (column + 0.5) / COLUMNS * end;
            points.extend([(x, high), (x, low)]);
            (low, high, column) = (f64::MAX, f64::MIN, at);
        }
        let pool = float(answer.contributions[tier].pool);
        let taken = answer
            .payout
            .as_deref()
            .filter(|payout| payout.tier == tier && answer.attempts.len() == 1);
        let after = taken.map_or(pool, |payout| pool - float(payout.amount));
        (low, high) = (low.min(after), high.max(pool));
    }
    points
}
