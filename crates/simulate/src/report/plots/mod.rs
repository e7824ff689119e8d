//! What the plots of all runs share. They are SVG text.

/// The grid that every plot has. What differs is chained on to it. It is a macro, because the type of a chart includes the
/// types of its axes.
macro_rules! grid {
    ($chart:expr) => {
        $chart
            .configure_mesh()
            .disable_x_mesh()
            .light_line_style($crate::report::plots::GRID.mix(0.0))
            .bold_line_style($crate::report::plots::GRID)
            .axis_style($crate::report::plots::GRID)
            .label_style($crate::report::plots::label())
    };
}

pub mod latency;
pub mod over_time;

pub(crate) use grid;

use std::error::Error;

use plotters::coord::Shift;
use plotters::prelude::{DrawingArea, IntoDrawingArea, IntoFont, RGBColor, SVGBackend, TextStyle, WHITE};
use plotters::style::Color;

use crate::SimulateError;

pub const INK: RGBColor = RGBColor(31, 41, 55);
pub const MUTED: RGBColor = RGBColor(107, 119, 133);
pub const GRID: RGBColor = RGBColor(232, 236, 240);
pub const TEAL: RGBColor = RGBColor(13, 128, 118);
pub const AMBER: RGBColor = RGBColor(217, 119, 6);
pub const RED: RGBColor = RGBColor(200, 48, 48);
pub const BLUE: RGBColor = RGBColor(46, 98, 196);

pub const WIDE: (u32, u32) = (1_120, 320);
pub const HALF: (u32, u32) = (550, 320);
const LABEL_PX: i32 = 13;

type Area<'s> = DrawingArea<SVGBackend<'s>, Shift>;
type Drawn = Result<(), Box<dyn Error + Send + Sync>>;

/// One plot of the page.
#[derive(Debug)]
pub struct Plot {
    pub title: &'static str,
    /// What a reader sees in it.
    pub caption: String,
    /// Colours and what they stand for.
    pub legend: Vec<(String, String)>,
    pub svg: String,
    /// Takes the whole width.
    pub wide: bool,
}

/// Draws into a text. The page sets its width.
pub fn svg(size: (u32, u32), title: &str, draw: impl FnOnce(&Area<'_>) -> Drawn) -> Result<String, SimulateError> {
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

pub fn label() -> TextStyle<'static> {
    ("sans-serif", LABEL_PX).into_font().color(&MUTED)
}

pub fn css(colour: RGBColor) -> String {
    format!("#{:02x}{:02x}{:02x}", colour.0, colour.1, colour.2)
}

/// Seconds of the run.
#[expect(clippy::cast_precision_loss, reason = "positions on a plot")]
pub fn seconds(micros: u64) -> f64 {
    micros as f64 / 1e6
}

/// A number as a position.
#[expect(clippy::cast_precision_loss, reason = "positions on a plot")]
pub fn float(number: i64) -> f64 {
    number as f64
}

/// A position as a short number: 1500 as 1.5k.
pub fn short(value: f64) -> String {
    let trim = |value: f64, unit: &str| format!("{}{unit}", (value * 10.0).round() / 10.0);
    match value.abs() {
        1e6.. => trim(value / 1e6, "M"),
        1e3.. => trim(value / 1e3, "k"),
        _ => trim(value, ""),
    }
}

/// The ticks 1, 2 and 5 of every decade of a logarithmic axis; of a long one the decades alone.
pub fn ticks(low: f64, high: f64) -> Vec<f64> {
    let steps: &[f64] = if high / low > 2e3 { &[1.0] } else { &[1.0, 2.0, 5.0] };
    let decades = (-9..=12_i32).map(|power| 10_f64.powi(power));
    let all = decades.flat_map(|decade| steps.iter().map(move |step| step * decade));
    all.filter(|tick| (low..=high).contains(tick)).collect()
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
