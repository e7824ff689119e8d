//! Pages of subjects listed by id.

use std::fmt::Display;

use futures_util::{StreamExt, TryStreamExt, stream};
use jackpot_core::ids::Id;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::problem::Problem;
use crate::subject::{MaybeScript, Registry, ScriptError, Subject};

/// Default rows of a page.
const DEFAULT_PAGE: u32 = 100;
/// Most rows of a page: some hundred kilobytes of answer.
const MAX_PAGE: u32 = 1_000;

/// Rows read in parallel.
const READ_AT_ONCE: usize = 16;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct PageQuery {
    /// 1 to 1,000; default 100.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 1000)]
    pub limit: Option<Limit>,
    /// `next_cursor` of the previous page.
    #[param(value_type = Option<String>)]
    pub cursor: Option<Id>,
}

/// A page of a list.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct PageBody<T> {
    pub items: Vec<T>,
    /// Send it as `cursor` for the next page, with the same filters; null at the end. A page may have fewer rows than
    /// `limit`, or none, and still a cursor: rows that fit the filters were rare among those that it looked at.
    pub next_cursor: Option<String>,
}

/// Number of rows, 1 to 1,000.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Limit(pub u32);

impl TryFrom<String> for Limit {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let rows = text.parse().ok().filter(|rows| (1..=MAX_PAGE).contains(rows));
        rows.map(Self).ok_or("must be an integer from 1 to 1000")
    }
}

pub fn page_size(limit: Option<Limit>) -> usize {
    limit.map_or(DEFAULT_PAGE, |Limit(rows)| rows) as usize
}

/// A page of a registry's names, or of the names in `own` (in order, few), each as `read` returns it; and the cursor of
/// the next page.
///
/// # Errors
/// The error of the first subject that Redis can't return now.
pub async fn page_of<K, T, E>(
    registry: &Registry<K>,
    page: &PageQuery,
    only: Option<Vec<Id>>,
    read: impl AsyncFn(&Id) -> Result<T, E>,
) -> Result<(Vec<T>, Option<String>), Problem>
where
    K: Subject,
    E: MaybeScript + Display + From<ScriptError> + Into<Problem>,
{
    let limit = page_size(page.limit);
    if let Some(own) = only {
        let rest = own
            .into_iter()
            .filter(|id| page.cursor.as_ref().is_none_or(|last| id > last));
        return some_of(rest.collect(), limit, read).await;
    }
    let ids = registry.ids(page.cursor.as_ref(), limit + 1).await;
    let mut ids = ids.map_err(|error| E::from(error).into())?;
    let more = ids.len() > limit;
    ids.truncate(limit);
    let next_cursor = ids.last().filter(|_| more).map(ToString::to_string);
    let items = read_all(ids, read).await.map_err(E::into)?;
    Ok((items.into_iter().map(|(_, item)| item).collect(), next_cursor))
}

/// The first of few ids. All are read, so that a page is full even if some do not exist.
async fn some_of<T, E>(
    ids: Vec<Id>,
    limit: usize,
    read: impl AsyncFn(&Id) -> Result<T, E>,
) -> Result<(Vec<T>, Option<String>), Problem>
where
    E: MaybeScript + Display + Into<Problem>,
{
    let mut found = read_all(ids, read).await.map_err(E::into)?;
    let more = found.len() > limit;
    found.truncate(limit);
    let next_cursor = found.last().filter(|_| more).map(|(id, _)| id.to_string());
    Ok((found.into_iter().map(|(_, item)| item).collect(), next_cursor))
}

async fn read_all<T, E>(ids: Vec<Id>, read: impl AsyncFn(&Id) -> Result<T, E>) -> Result<Vec<(Id, T)>, E>
where
    E: MaybeScript + Display,
{
    let one = async |id: Id| match read(&id).await {
        // The name has no subject.
        Err(error) if error.is_unknown() => Ok(None),
        // One that cannot be shown does not hide the others.
        Err(error) if !error.is_unavailable() => {
            tracing::error!(%id, %error, "left out of the list");
            Ok(None)
        }
        other => other.map(|item| Some((id, item))),
    };
    let items = stream::iter(ids).map(one).buffered(READ_AT_ONCE);
    items.try_filter_map(async |found| Ok(found)).try_collect().await
}
