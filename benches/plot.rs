//! Plots as SVG text, with the library that the report of `jackpot simulate` uses.

use plotters::coord::Shift;
use plotters::prelude::{
    BindKeyPoints, ChartBuilder, Circle, DrawingArea, IntoDrawingArea, IntoFont, IntoLogRange, LineSeries, RGBColor,
    Rectangle, SVGBackend, Text, TextStyle,
};
use plotters::style::Color;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::Outcome;
use crate::report::Point;
use crate::sample::float;

const INK: RGBColor = RGBColor(31, 41, 55);
const MUTED: RGBColor = RGBColor(107, 119, 133);
const GRID: RGBColor = RGBColor(232, 236, 240);
const OURS: RGBColor = RGBColor(13, 128, 118);
const THEIRS: RGBColor = RGBColor(160, 170, 182);
/// One colour for each line of a chart.
const COLOURS: [RGBColor; 4] = [
    OURS,
    RGBColor(46, 98, 196),
    RGBColor(217, 119, 6),
    RGBColor(200, 48, 48),
];
const WIDTH: u32 = 1_120;
const HEIGHT: u32 = 320;
/// Height of one bar.
const BAR: u32 = 24;
const LABEL: i32 = 13;

type Area<'s> = DrawingArea<SVGBackend<'s>, Shift>;

/// One plot of a page.
pub(crate) struct Plot {
    pub(crate) title: String,
    /// Name and colour.
    pub(crate) legend: Vec<(String, String)>,
    pub(crate) svg: String,
}

/// One line of a chart.
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) points: Vec<(f64, f64)>,
}

/// The axes of a chart.
pub(crate) struct Axes {
    pub(crate) title: &'static str,
    pub(crate) x: &'static str,
    /// Both axes are logarithmic, or both begin at zero.
    pub(crate) logarithmic: bool,
}

/// A plot that can be read on a page of any colour.
pub(crate) fn alone(svg: &str) -> String {
    svg.replacen('>', "><rect width=\"100%\" height=\"100%\" fill=\"#FFFFFF\"/>", 1) + "\n"
}

/// Rates and 99th percentiles of the comparison.
pub(crate) fn peers(points: &[Point]) -> Outcome<Vec<Plot>> {
    let bars = |value: fn(&Point) -> (f64, f64, f64)| {
        let all = points.iter().map(|point| (point.name.replace("**", ""), value(point)));
        all.collect::<Vec<_>>()
    };
    Ok(vec![
        bar_chart(
            "Entries per second: median, least and most",
            &bars(|point| (point.per_s.median, point.per_s.least, point.per_s.most)),
        )?,
        bar_chart(
            "99th percentile in microseconds (closed loops, except at a fixed rate)",
            &bars(|point| (point.p99_us.median, point.p99_us.least, point.p99_us.most)),
        )?,
    ])
}

/// Name, and median, least and most.
fn bar_chart(title: &str, bars: &[(String, (f64, f64, f64))]) -> Outcome<Plot> {
    let low = bars.iter().map(|(_, (_, least, _))| *least).fold(f64::MAX, f64::min) / 2.0;
    let high = bars.iter().map(|(_, (_, _, most))| *most).fold(1.0, f64::max) * 3.0;
    let count = bars.len();
    let height = BAR * u32::try_from(count)? + 60;
    let svg = svg((WIDTH, height), title, |area| {
        let range = (low.max(1e-3)..high).log_scale().with_key_points(decades(low, high));
        let mut chart = ChartBuilder::on(area)
            .margin(8)
            .x_label_area_size(28)
            .y_label_area_size(390)
            .build_cartesian_2d(range, 0.0..float(count as u64))?;
        chart
            .configure_mesh()
            .disable_y_mesh()
            .light_line_style(GRID.mix(0.0))
            .bold_line_style(GRID)
            .axis_style(GRID)
            .label_style(label())
            .y_labels(0)
            .x_label_formatter(&|x| short(*x))
            .draw()?;
        for (index, (name, (median, least, most))) in bars.iter().enumerate() {
            let top = float((count - index) as u64);
            let colour = if name.starts_with("service") { OURS } else { THEIRS };
            chart.draw_series([Rectangle::new(
                [(low, top - 0.8), (*median, top - 0.2)],
                colour.mix(0.8).filled(),
            )])?;
            chart.draw_series([Rectangle::new(
                [(*least, top - 0.53), (*most, top - 0.47)],
                INK.filled(),
            )])?;
            let beside = label().color(&INK).pos(Pos::new(HPos::Left, VPos::Center));
            chart.draw_series([Text::new(short(*median), (*most * 1.06, top - 0.5), beside)])?;
            let (_, y) = chart.backend_coord(&(low, top - 0.5));
            let left = label().color(&INK).pos(Pos::new(HPos::Left, VPos::Center));
            area.draw(&Text::new(name.clone(), (8, y), left))?;
        }
        Ok(())
    })?;
    Ok(Plot {
        title: title.to_owned(),
        legend: vec![("service".to_owned(), css(OURS)), ("peer".to_owned(), css(THEIRS))],
        svg,
    })
}

/// Lines over one axis.
pub(crate) fn line_chart(axes: &Axes, series: &[Series]) -> Outcome<Plot> {
    let all = || series.iter().flat_map(|series| &series.points);
    let most = |value: fn(&(f64, f64)) -> f64| all().map(value).fold(f64::MIN_POSITIVE, f64::max) * 1.1;
    let (x_most, y_most) = (most(|point| point.0), most(|point| point.1));
    let least = |value: fn(&(f64, f64)) -> f64| all().map(value).fold(f64::MAX, f64::min) / 1.2;
    let (x_least, y_least) = (least(|point| point.0), least(|point| point.1));
    // Draws around any chart; a macro, because the types of the axes differ.
    macro_rules! draw {
        ($area:expr, $x:expr, $y:expr) => {{
            let mut chart = ChartBuilder::on($area)
                .margin(8)
                .margin_right(24)
                .x_label_area_size(44)
                .y_label_area_size(62)
                .build_cartesian_2d($x, $y)?;
            chart
                .configure_mesh()
                .light_line_style(GRID.mix(0.0))
                .bold_line_style(GRID)
                .axis_style(GRID)
                .label_style(label())
                .x_desc(axes.x)
                .x_label_formatter(&|x| short(*x))
                .y_label_formatter(&|y| short(*y))
                .draw()?;
            for (series, colour) in series.iter().zip(COLOURS.iter().cycle()) {
                chart.draw_series(LineSeries::new(series.points.iter().copied(), colour.stroke_width(2)))?;
                if series.points.len() < 30 {
                    let dots = series.points.iter();
                    chart.draw_series(dots.map(|point| Circle::new(*point, 3, colour.filled())))?;
                }
            }
            Ok(())
        }};
    }
    let svg = svg((WIDTH, HEIGHT), axes.title, |area| {
        if axes.logarithmic {
            let x = (x_least..x_most).log_scale().with_key_points(decades(x_least, x_most));
            let y = (y_least..y_most).log_scale().with_key_points(decades(y_least, y_most));
            draw!(area, x, y)
        } else {
            draw!(area, 0.0..x_most, 0.0..y_most)
        }
    })?;
    let legend = series.iter().zip(COLOURS.iter().cycle());
    Ok(Plot {
        title: axes.title.to_owned(),
        legend: legend
            .map(|(series, colour)| (series.name.clone(), css(*colour)))
            .collect(),
        svg,
    })
}

fn svg(size: (u32, u32), title: &str, draw: impl FnOnce(&Area<'_>) -> Outcome) -> Outcome<String> {
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, size).into_drawing_area();
        draw(&area)?;
        area.present()?;
    }
    let fixed = format!("<svg width=\"{}\" height=\"{}\"", size.0, size.1);
    Ok(text.replacen(&fixed, &format!("<svg role=\"img\" aria-label=\"{title}\""), 1))
}

fn label() -> TextStyle<'static> {
    ("sans-serif", LABEL).into_font().color(&MUTED)
}

fn css(colour: RGBColor) -> String {
    format!("#{:02x}{:02x}{:02x}", colour.0, colour.1, colour.2)
}

/// 1500 as 1.5k.
fn short(value: f64) -> String {
    let trim = |value: f64, unit: &str| format!("{}{unit}", (value * 10.0).round() / 10.0);
    match value.abs() {
        1e6.. => trim(value / 1e6, "M"),
        1e3.. => trim(value / 1e3, "k"),
        _ => trim(value, ""),
    }
}

/// The ticks of a logarithmic axis.
fn decades(low: f64, high: f64) -> Vec<f64> {
    let steps: &[f64] = if high / low > 2e3 { &[1.0] } else { &[1.0, 2.0, 5.0] };
    let all = (-3..=9_i32).flat_map(|power| steps.iter().map(move |step| step * 10_f64.powi(power)));
    all.filter(|tick| (low..=high).contains(tick)).collect()
}
