//! The plots of a run, as SVG text.

/// The grid that every plot has; what differs is chained on to it. A macro, because the type of a chart has the types
/// of its axes and of its canvas in it.
macro_rules! grid {
    ($chart:expr) => {
        $chart
            .configure_mesh()
            .disable_x_mesh()
            .light_line_style(GRID.mix(0.0))
            .bold_line_style(GRID)
            .axis_style(GRID)
            .label_style(label())
    };
}

mod claims;
mod coupons;
mod latency;
mod lines;
mod pool;
mod rooms;
mod throughput;

use std::error::Error;

use plotters::coord::Shift;
use plotters::prelude::{DrawingArea, IntoDrawingArea, IntoFont, RGBColor, SVGBackend, TextStyle, WHITE};
use plotters::style::Color;

use crate::SimulateError;
use crate::summary::Played;

const INK: RGBColor = RGBColor(31, 41, 55);
const MUTED: RGBColor = RGBColor(107, 119, 133);
const GRID: RGBColor = RGBColor(232, 236, 240);
const TEAL: RGBColor = RGBColor(13, 128, 118);
const AMBER: RGBColor = RGBColor(217, 119, 6);
const RED: RGBColor = RGBColor(200, 48, 48);
const BLUE: RGBColor = RGBColor(46, 98, 196);
/// One per tier.
const TIERS: [RGBColor; 4] = [TEAL, BLUE, AMBER, RGBColor(126, 72, 176)];

const WIDE: (u32, u32) = (1_120, 320);
const HALF: (u32, u32) = (550, 320);
const LABEL_PX: i32 = 13;

type Area<'s> = DrawingArea<SVGBackend<'s>, Shift>;
type Drawn = Result<(), Box<dyn Error + Send + Sync>>;

/// One plot of the page.
#[derive(Debug)]
pub struct Plot {
    pub title: &'static str,
    /// What is to be seen in it.
    pub caption: String,
    /// Colours and what they stand for.
    pub legend: Vec<(String, String)>,
    pub svg: String,
    /// Takes the whole width.
    pub wide: bool,
}

/// All plots of a jackpot's run, in the page's order.
pub fn of_jackpot(played: &Played) -> Result<Vec<Plot>, SimulateError> {
    let evidence = &played.evidence;
    let at_us: Vec<u64> = evidence.records.iter().map(|record| record.answered_us).collect();
    let latencies_us: Vec<u64> = evidence.latencies_us().collect();
    let answered = throughput::Answered {
        at_us: &at_us,
        units: "entries",
        caption: "Entries answered per second, replays not counted.",
        collisions: &collisions(played),
        kills_us: &played.kills_us,
        end_s: played.summary.numbers.elapsed_s,
    };
    Ok(vec![
        pool::plot(played)?,
        throughput::plot(&answered)?,
        claims::plot(played)?,
        latency::percentiles(&latencies_us, "a player's")?,
        latency::histogram("Latency histogram", &latencies_us, "entries")?,
    ])
}

/// All plots of a run of coupons, in the page's order.
pub use coupons::all as of_coupons;

/// All plots of a run of a room, in the page's order.
pub use rooms::all as of_room;

/// Draws into a text; the page sets its width.
fn svg(size: (u32, u32), title: &str, draw: impl FnOnce(&Area<'_>) -> Drawn) -> Result<String, SimulateError> {
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, size).into_drawing_area();
        let drawn = area
            .fill(&WHITE.mix(0.0))
            .map_err(Into::into)
            .and_then(|()| draw(&area));
        drawn
            .and_then(|()| area.present().map_err(Into::into))
            .map_err(|error| SimulateError::Report(error.to_string()))?;
    }
    let fixed = format!("<svg width=\"{}\" height=\"{}\"", size.0, size.1);
    Ok(text.replacen(&fixed, &format!("<svg role=\"img\" aria-label=\"{title}\""), 1))
}

fn label() -> TextStyle<'static> {
    ("sans-serif", LABEL_PX).into_font().color(&MUTED)
}

fn css(colour: RGBColor) -> String {
    format!("#{:02x}{:02x}{:02x}", colour.0, colour.1, colour.2)
}

/// Seconds of the run.
#[expect(clippy::cast_precision_loss, reason = "positions on a plot")]
fn seconds(micros: u64) -> f64 {
    micros as f64 / 1e6
}

/// A number as a position.
#[expect(clippy::cast_precision_loss, reason = "positions on a plot")]
fn float(number: i64) -> f64 {
    number as f64
}

/// A position as a short number: 1500 as 1.5k.
fn short(value: f64) -> String {
    let trim = |value: f64, unit: &str| format!("{}{unit}", (value * 10.0).round() / 10.0);
    match value.abs() {
        1e6.. => trim(value / 1e6, "M"),
        1e3.. => trim(value / 1e3, "k"),
        _ => trim(value, ""),
    }
}

/// The ticks 1, 2 and 5 of every decade of a logarithmic axis; of a long one the decades alone.
fn ticks(low: f64, high: f64) -> Vec<f64> {
    let steps: &[f64] = if high / low > 2e3 { &[1.0] } else { &[1.0, 2.0, 5.0] };
    let decades = (-9..=12_i32).map(|power| 10_f64.powi(power));
    let all = decades.flat_map(|decade| steps.iter().map(move |step| step * decade));
    all.filter(|tick| (low..=high).contains(tick)).collect()
}

/// When each collision was released: the first of its entries.
fn collisions(played: &Played) -> Vec<f64> {
    let count = played.evidence.plan.collisions as usize;
    let mut first = vec![u64::MAX; count];
    for record in &played.evidence.records {
        if let Some(number) = record.collision {
            let first = &mut first[number as usize];
            *first = (*first).min(record.sent_us);
        }
    }
    first.into_iter().filter(|at| *at != u64::MAX).map(seconds).collect()
}

#[cfg(test)]
mod tests {
    use super::{short, ticks};

    #[test]
    fn a_logarithmic_axis_has_ticks_inside_its_range() {
        assert_eq!(ticks(0.9, 20.5), [1.0, 2.0, 5.0, 10.0, 20.0]);
        assert_eq!(ticks(9.0, 100_001.0), [10.0, 100.0, 1_000.0, 10_000.0, 100_000.0]);
    }

    #[test]
    fn axis_labels_are_short() {
        assert_eq!([0.5, 950.0, 1_500.0, 2e6].map(short), ["0.5", "950", "1.5k", "2M"]);
    }
}
