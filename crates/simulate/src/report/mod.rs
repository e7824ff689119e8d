//! The report: one HTML file without anything outside it, and the same as JSON.

mod page;
pub mod plots;

use serde_json::{Value, json};

use super::compare::Way;
use super::overview::Overview;
use plots::Plot;

/// What is reported: a run, a comparison, or both.
#[derive(Debug, Clone, Copy)]
pub struct Page<'p> {
    pub told: Option<&'p Overview<'p>>,
    /// Empty when nothing was compared.
    pub ways: &'p [Way],
}

/// As a page.
pub fn html(page: &Page<'_>, plots: &[Plot]) -> String {
    page::html(page, plots, jiff::Timestamp::now())
}

/// As JSON: `run`, a summary, and `comparison`.
pub fn json(summary: &Value, ways: &[Way]) -> String {
    format!("{:#}\n", json!({ "run": summary, "comparison": ways }))
}
