//! The plots of the benches, drawn as those of `jackpot simulate`.

use jackpot_simulate::report::plots::chart::{Axis, Chart, Grid, Labels, Mark};
use jackpot_simulate::report::plots::{AMBER, BLUE, INK, Plot, RED, TEAL, THEIRS, WIDE, short, svg};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, RGBColor};

use crate::Outcome;
use crate::report::Point;
use crate::sample::{Spread, float};

/// One colour for each line of a chart.
const COLOURS: [RGBColor; 4] = [TEAL, BLUE, AMBER, RED];
/// Height of one bar.
const BAR: u32 = 24;

/// One line of a chart.
pub(crate) struct Series {
    pub(crate) name: &'static str,
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
    Ok(vec![
        bar_chart("Entries per second: median, least and most", points, |point| {
            point.per_s
        })?,
        bar_chart(
            "99th percentile in microseconds (closed loops, except at a fixed rate)",
            points,
            |point| point.p99_us,
        )?,
    ])
}

fn bar_chart(title: &'static str, points: &[Point], value: fn(&Point) -> Spread) -> Outcome<Plot> {
    let all = || points.iter().map(value);
    let low = all().map(|spread| spread.least).fold(f64::MAX, f64::min) / 2.0;
    let high = all().map(|spread| spread.most).fold(1.0, f64::max) * 3.0;
    let count = points.len();
    let mut marks = Vec::new();
    for (index, (point, spread)) in points.iter().zip(all()).enumerate() {
        let (name, top) = (point.name.replace("**", ""), float((count - index) as u64));
        let colour = if name.starts_with("service") { TEAL } else { THEIRS };
        let bar = |from, to, half: f64, colour| Mark::Bar((from, top - 0.5 - half), (to, top - 0.5 + half), colour);
        marks.push(bar(low, spread.median, 0.3, colour.mix(0.8)));
        marks.push(bar(spread.least, spread.most, 0.03, INK.to_rgba()));
        let right = Pos::new(HPos::Left, VPos::Center);
        marks.push(Mark::Text((spread.most * 1.06, top - 0.5), short(spread.median), right));
        marks.push(Mark::Name(top - 0.5, name));
    }
    let chart = Chart {
        grid: Grid::Upright,
        right: 8,
        left: 390,
        ..Chart::new(
            Axis::logarithmic(low.max(1e-3), high, short),
            Axis::linear(float(count as u64), Some(0), Labels::By(short)),
            marks,
        )
    };
    let size = (WIDE.0, BAR * u32::try_from(count)? + 60);
    let legend = [("service", TEAL), ("peer", THEIRS)];
    plot(title, size, &chart, legend)
}

/// Lines over one axis.
pub(crate) fn line_chart(axes: &Axes, series: &[Series]) -> Outcome<Plot> {
    let points = || series.iter().flat_map(|series| &series.points);
    let scaled = |value: fn(&(f64, f64)) -> f64| {
        let most = points().map(value).fold(f64::MIN_POSITIVE, f64::max) * 1.1;
        let least = points().map(value).fold(f64::MAX, f64::min) / 1.2;
        if axes.logarithmic {
            Axis::logarithmic(least, most, short)
        } else {
            Axis::linear(most, Some(11), Labels::By(short))
        }
    };
    let mut marks = Vec::new();
    let in_colours = || series.iter().zip(COLOURS.into_iter().cycle());
    for (series, colour) in in_colours() {
        marks.push(Mark::Line(series.points.clone(), colour.to_rgba(), 2));
        let dots = series.points.iter().filter(|_| series.points.len() < 30);
        marks.extend(dots.map(|at| Mark::Dot(*at, colour.to_rgba(), 3)));
    }
    let x = Axis {
        name: axes.x,
        ..scaled(|point| point.0)
    };
    let chart = Chart {
        grid: Grid::Both,
        right: 24,
        below: 44,
        left: 62,
        ..Chart::new(x, scaled(|point| point.1), marks)
    };
    let legend = in_colours().map(|(series, colour)| (series.name, colour));
    plot(axes.title, WIDE, &chart, legend)
}

/// At one size, because a phone has no room for it.
fn plot(
    title: &'static str,
    size: (u32, u32),
    chart: &Chart,
    legend: impl IntoIterator<Item = (&'static str, RGBColor)>,
) -> Outcome<Plot> {
    let plot = Plot {
        title,
        caption: String::new(),
        legend: Vec::new(),
        svg: svg(size, "", title, |area| chart.draw(area, area))?,
        wide: true,
    };
    Ok(plot.with_legend(legend.into_iter().map(|(name, colour)| (colour, name.to_owned()))))
}
