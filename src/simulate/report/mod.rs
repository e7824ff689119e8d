//! The report: one HTML file without anything outside it, and the same as JSON.

mod page;
mod plots;

use serde_json::json;

use super::SimulateError;
use super::compare::Way;
use super::game::Played;
use super::summary::Summary;

/// What is reported: a run, a comparison, or both.
#[derive(Debug, Clone, Copy)]
pub struct Page<'p> {
    pub played: Option<&'p Played>,
    /// Empty when nothing was compared.
    pub ways: &'p [Way],
}

impl<'p> Page<'p> {
    fn summary(&self) -> Option<&'p Summary> {
        self.played.map(|played| &played.summary)
    }
}

/// As a page.
pub fn html(page: &Page<'_>) -> Result<String, SimulateError> {
    let plots = page.played.map(plots::all).transpose()?.unwrap_or_default();
    Ok(page::html(page, &plots, jiff::Timestamp::now()))
}

/// As JSON: `run` and `comparison`.
pub fn json(page: &Page<'_>) -> String {
    format!("{:#}\n", json!({ "run": page.summary(), "comparison": page.ways }))
}
