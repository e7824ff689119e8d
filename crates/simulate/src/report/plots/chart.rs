//! A chart as data: two axes and what is drawn between them. All charts of reports and of benches are drawn here.

use std::ops::Range;

use plotters::coord::Shift;
use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::{
    AreaSeries, ChartBuilder, Circle, DrawingArea, IntoFont, LineSeries, Rectangle, SVGBackend, Text, TextStyle,
};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, RGBAColor};

use super::{GRID, INK, MUTED, scale, ticks};

pub type Area<'s> = DrawingArea<SVGBackend<'s>, Shift>;
pub type Drawn = Result<(), Box<dyn std::error::Error + Send + Sync>>;
/// A position by the axes.
pub type At = (f64, f64);

const LABEL_PX: i32 = 13;
/// Least distance of two labels of a horizontal axis.
const APART_PX: u32 = 75;
/// Where names begin that stand beside a chart.
const NAMES_PX: i32 = 8;

/// How the labels of an axis are written.
#[derive(Debug, Clone, Copy)]
pub enum Labels {
    /// Short numbers of one unit with as many digits as they need to differ, and what follows each.
    Scale(&'static str),
    By(fn(f64) -> String),
}

#[derive(Debug, Clone)]
pub struct Axis {
    pub low: f64,
    pub high: f64,
    pub is_logarithmic: bool,
    /// How many labels a linear axis has at most; none for as many as there is room for across.
    pub most: Option<usize>,
    pub labels: Labels,
    /// What it counts, written below a horizontal one.
    pub name: &'static str,
}

impl Axis {
    /// From 0 on.
    pub fn linear(high: f64, most: Option<usize>, labels: Labels) -> Self {
        Self {
            low: 0.0,
            high,
            is_logarithmic: false,
            most,
            labels,
            name: "",
        }
    }

    pub fn logarithmic(low: f64, high: f64, labels: fn(f64) -> String) -> Self {
        Self {
            low,
            high,
            is_logarithmic: true,
            most: None,
            labels: Labels::By(labels),
            name: "",
        }
    }

    /// `room`: how many labels there is room for across.
    fn ruler(&self, room: usize) -> Ruler {
        let place = if self.is_logarithmic { f64::ln } else { |value| value };
        let linear = RangedCoordf64::from(place(self.low)..place(self.high));
        Ruler {
            labels: if self.is_logarithmic {
                ticks(self.low, self.high)
            } else {
                linear.key_points(self.most.unwrap_or(room))
            },
            range: self.low..self.high,
            place,
            linear,
        }
    }

    /// Writes its labels.
    fn writer(&self, room: usize) -> Box<dyn Fn(&f64) -> String> {
        match self.labels {
            Labels::By(text) => Box::new(move |value| text(*value)),
            Labels::Scale(after) => {
                let scale = scale(self.high, self.most.unwrap_or(room));
                Box::new(move |value| scale(*value) + after)
            }
        }
    }
}

/// An axis as the library takes it. Linear and logarithmic ones have one type, so all charts have.
struct Ruler {
    range: Range<f64>,
    place: fn(f64) -> f64,
    linear: RangedCoordf64,
    labels: Vec<f64>,
}

impl Ranged for Ruler {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        self.linear.map(&(self.place)(*value), limit)
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        if hint.weight().allow_light_points() {
            Vec::new()
        } else {
            self.labels.clone()
        }
    }

    fn range(&self) -> Range<f64> {
        self.range.clone()
    }
}

/// What is drawn. Widths and radii are pixels.
#[derive(Clone)]
pub enum Mark {
    Line(Vec<At>, RGBAColor, u32),
    /// From these points down to the axis.
    Area(Vec<At>, RGBAColor),
    Dot(At, RGBAColor, i32),
    /// From corner to corner.
    Bar(At, At, RGBAColor),
    Text(At, String, Pos),
    /// A name at the left edge of the plot, at this height.
    Name(f64, String),
}

/// Which lines of the grid it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grid {
    Across,
    Upright,
    Both,
}

#[derive(Clone)]
pub struct Chart {
    pub x: Axis,
    pub y: Axis,
    /// In the order in which they lie over each other.
    pub marks: Vec<Mark>,
    pub grid: Grid,
    /// Room around it in pixels; below and on the left for labels.
    pub above: u32,
    pub right: u32,
    pub below: u32,
    pub left: u32,
}

impl Chart {
    pub fn new(x: Axis, y: Axis, marks: Vec<Mark>) -> Self {
        Self {
            x,
            y,
            marks,
            grid: Grid::Across,
            above: 8,
            right: 18,
            below: 28,
            left: 52,
        }
    }

    /// `whole`: the plot that it is in.
    pub fn draw(&self, area: &Area<'_>, whole: &Area<'_>) -> Drawn {
        let room = labels_across(whole);
        let mut chart = ChartBuilder::on(area)
            .margin(8)
            .margin_top(self.above)
            .margin_right(self.right)
            .x_label_area_size(self.below)
            .y_label_area_size(self.left)
            .build_cartesian_2d(self.x.ruler(room), self.y.ruler(room))?;
        let (x_label, y_label) = (self.x.writer(room), self.y.writer(room));
        let mut mesh = chart.configure_mesh();
        if self.grid == Grid::Across {
            mesh.disable_x_mesh();
        }
        if self.grid == Grid::Upright {
            mesh.disable_y_mesh();
        }
        if !self.x.name.is_empty() {
            mesh.x_desc(self.x.name);
        }
        mesh.bold_line_style(GRID)
            .axis_style(GRID)
            .label_style(label())
            .x_label_formatter(&x_label)
            .y_label_formatter(&y_label)
            .draw()?;
        let ink = || label().color(&INK);
        for mark in &self.marks {
            match mark {
                Mark::Line(points, colour, width) => {
                    chart.draw_series(LineSeries::new(points.iter().copied(), colour.stroke_width(*width)))?;
                }
                Mark::Area(points, colour) => {
                    chart.draw_series(AreaSeries::new(points.iter().copied(), self.y.low, *colour))?;
                }
                Mark::Dot(at, colour, radius) => {
                    chart.draw_series([Circle::new(*at, *radius, colour.filled())])?;
                }
                Mark::Bar(from, to, colour) => {
                    chart.draw_series([Rectangle::new([*from, *to], colour.filled())])?;
                }
                Mark::Text(at, text, side) => {
                    chart.draw_series([Text::new(text.clone(), *at, ink().pos(*side))])?;
                }
                Mark::Name(y, text) => {
                    let (_, y) = chart.backend_coord(&(self.x.low, *y));
                    let left = ink().pos(Pos::new(HPos::Left, VPos::Center));
                    area.draw(&Text::new(text.clone(), (NAMES_PX, y), left))?;
                }
            }
        }
        Ok(())
    }
}

/// How many labels a horizontal axis has room for.
fn labels_across(area: &Area<'_>) -> usize {
    (area.dim_in_pixel().0 / APART_PX) as usize
}

fn label() -> TextStyle<'static> {
    ("sans-serif", LABEL_PX).into_font().color(&MUTED)
}
