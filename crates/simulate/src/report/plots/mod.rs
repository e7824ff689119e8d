//! What the plots of all reports share. They are SVG text.

pub mod chart;
pub mod latency;
pub mod over_time;

use plotters::coord::ranged1d::Ranged;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::{IntoDrawingArea, RGBColor, SVGBackend};

use crate::SimulateError;
use chart::{Area, Chart, Drawn};

pub const INK: RGBColor = RGBColor(31, 41, 55);
pub const MUTED: RGBColor = RGBColor(107, 119, 133);
pub const GRID: RGBColor = RGBColor(232, 236, 240);
pub const TEAL: RGBColor = RGBColor(13, 128, 118);
pub const AMBER: RGBColor = RGBColor(217, 119, 6);
pub const RED: RGBColor = RGBColor(200, 48, 48);
pub const BLUE: RGBColor = RGBColor(46, 98, 196);
pub const VIOLET: RGBColor = RGBColor(126, 72, 176);
/// Of what the service is compared with.
pub const THEIRS: RGBColor = RGBColor(160, 170, 182);

/// The colours of plots, and the names of the page's colours in their place, which differ in dark mode.
pub const COLOURS: [(RGBColor, &str); 9] = [
    (INK, "ink"),
    (MUTED, "muted"),
    (GRID, "line"),
    (TEAL, "teal"),
    (AMBER, "amber"),
    (RED, "red"),
    (BLUE, "blue"),
    (VIOLET, "violet"),
    (THEIRS, "theirs"),
];

pub const WIDE: (u32, u32) = (1_120, 320);
pub const HALF: (u32, u32) = (550, 320);
/// On a phone, where the others would have labels too small to read.
const PHONE: (u32, u32) = (380, 320);

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

impl Plot {
    /// A chart at this size, and for a phone. The page shows the one that fits.
    pub fn new(title: &'static str, size: (u32, u32), chart: &Chart) -> Result<Self, SimulateError> {
        Self::drawn(title, size, |area| chart.draw(area, area))
    }

    /// Of several charts.
    pub fn drawn(
        title: &'static str,
        size: (u32, u32),
        draw: impl Fn(&Area<'_>) -> Drawn,
    ) -> Result<Self, SimulateError> {
        let svg = |size, class| svg(size, &format!(" class=\"{class}\""), title, &draw);
        Ok(Self {
            title,
            caption: String::new(),
            legend: Vec::new(),
            svg: svg(size, "at-desk")? + &svg(PHONE, "at-phone")?,
            wide: size == WIDE,
        })
    }

    #[must_use]
    pub fn captioned(self, caption: impl Into<String>) -> Self {
        let caption = caption.into();
        Self { caption, ..self }
    }

    /// Colours and what they stand for.
    #[must_use]
    pub fn with_legend(self, legend: impl IntoIterator<Item = (RGBColor, String)>) -> Self {
        let legend = legend.into_iter().map(|(colour, text)| (css(colour), text)).collect();
        Self { legend, ..self }
    }
}

/// The text of a drawing. `attributes`: those of its element.
pub fn svg(
    size: (u32, u32),
    attributes: &str,
    title: &str,
    draw: impl Fn(&Area<'_>) -> Drawn,
) -> Result<String, SimulateError> {
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, size).into_drawing_area();
        draw(&area)
            .and_then(|()| area.present().map_err(Into::into))
            .map_err(|error| SimulateError::Report(error.to_string()))?;
    }
    let fixed = format!("<svg width=\"{}\" height=\"{}\"", size.0, size.1);
    let named = format!("<svg{attributes} role=\"img\" aria-label=\"{title}\"");
    Ok(text.replacen(&fixed, &named, 1))
}

/// The colour as an attribute of an SVG has it.
pub fn attribute(colour: RGBColor) -> String {
    format!("#{:02X}{:02X}{:02X}", colour.0, colour.1, colour.2)
}

/// The colour as the page has it.
pub fn css(colour: RGBColor) -> String {
    let named = COLOURS.iter().find(|(known, _)| *known == colour);
    named.map_or_else(|| attribute(colour), |(_, name)| format!("var(--{name})"))
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

/// Labels of an axis from 0 to `most` with at most `count` of them: short numbers in one unit, with as many digits as they
/// need to differ.
pub fn scale(most: f64, count: usize) -> impl Fn(f64) -> String {
    let (unit, name) = match most {
        1e6.. => (1e6, "M"),
        1e3.. => (1e3, "k"),
        _ => (1.0, ""),
    };
    // The axis says where its labels are.
    let points = RangedCoordf64::from(0.0..most).key_points(count);
    let step = points.windows(2).map(|pair| pair[1] - pair[0]).fold(most, f64::min);
    let digits = digits_of(step / unit);
    move |value| {
        let name = if value == 0.0 { "" } else { name };
        format!("{:.digits$}{name}", value / unit)
    }
}

/// Digits after the point of numbers that are at least this far apart.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few digits")]
fn digits_of(step: f64) -> usize {
    // A step of 1 may be a little less in binary.
    (-step.log10() - 1e-6).ceil().clamp(0.0, 6.0) as usize
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
    use std::collections::BTreeSet;

    use plotters::coord::ranged1d::Ranged;
    use plotters::coord::types::RangedCoordf64;

    use super::{BLUE, COLOURS, attribute, css, scale, short, ticks};

    #[test]
    fn the_labels_of_an_axis_differ() {
        for most in [
            0.004, 0.3, 0.97, 1.08, 3.2, 7.5, 12.0, 99.0, 540.0, 1_100.0, 54_321.0, 2.4e6, 9.9e9,
        ] {
            for count in [3, 4, 5, 6, 7, 11, 14] {
                let axis: RangedCoordf64 = (0.0..most).into();
                let points = axis.key_points(count);
                let label = scale(most, count);
                let labels: BTreeSet<_> = points.iter().map(|point| label(*point)).collect();
                assert_eq!(
                    labels.len(),
                    points.len(),
                    "{count} to {most}: {points:?} as {labels:?}"
                );
            }
        }
        assert_eq!([0.0, 1_000.0].map(scale(3_000.0, 6)), ["0", "1k"]);
        assert_eq!([0.0, 200.0].map(scale(1_100.0, 6)), ["0.0", "0.2k"]);
    }

    #[test]
    fn a_colour_is_the_pages_by_its_name() {
        assert_eq!(
            (attribute(BLUE).as_str(), css(BLUE).as_str()),
            ("#2E62C4", "var(--blue)")
        );
        let names: BTreeSet<_> = COLOURS.iter().map(|(_, name)| name).collect();
        assert_eq!(names.len(), COLOURS.len());
    }

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
