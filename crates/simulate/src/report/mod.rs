//! The report: one HTML file without anything outside it, and the same as JSON.

mod page;
pub mod plots;

use serde_json::{Value, json};

use super::overview::Overview;
use plots::Plot;

pub use page::{document, plotted};

/// As a page.
pub fn html(overview: &Overview, plots: &[Plot]) -> String {
    page::html(overview, plots, jiff::Timestamp::now())
}

/// As JSON: `run`, a summary.
pub fn json(summary: &Value) -> String {
    format!("{:#}\n", json!({ "run": summary }))
}
