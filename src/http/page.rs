//! Pages of what is listed by id.

use serde::Deserialize;
use utoipa::IntoParams;

use super::problem::{FieldError, Problem};
use crate::ids::Id;

/// Rows of a page unless it says.
const DEFAULT_PAGE: u32 = 100;
/// Most rows of a page: some hundred kilobytes of answer.
const MAX_PAGE: u32 = 1_000;

/// Which page.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct PageQuery {
    /// 1 to 1,000; 100 unless it says.
    #[param(minimum = 1, maximum = 1000)]
    pub limit: Option<u32>,
    /// `next_cursor` of the page before.
    #[param(value_type = Option<String>)]
    pub cursor: Option<Id>,
}

/// Rows of a page.
///
/// # Errors
/// 422 when it is not 1 to 1,000.
pub fn page_size(limit: Option<u32>) -> Result<usize, Problem> {
    let limit = limit.unwrap_or(DEFAULT_PAGE);
    if (1..=MAX_PAGE).contains(&limit) {
        Ok(limit as usize)
    } else {
        let rule = format!("must be an integer from 1 to {MAX_PAGE}");
        Err(Problem::invalid_request(vec![FieldError::new("limit", rule)]))
    }
}
