//! Query strings and ids in paths, with the same care as bodies.

use std::future::{Ready, ready};

use actix_web::dev::Payload;
use actix_web::web::{Path, Query};
use actix_web::{FromRequest, HttpRequest};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::problem::{FieldError, Problem};
use super::shape::Tracked;

/// Longer query strings are refused; the longest that the contract has is a tenth of it.
const MAX_QUERY_BYTES: usize = 4096;

/// The query string. `T` is a struct with `deny_unknown_fields`.
pub struct QueryOf<T>(pub T);

impl<T: DeserializeOwned> FromRequest for QueryOf<T> {
    type Error = Problem;
    type Future = Ready<Result<QueryOf<T>, Problem>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(query(request.query_string()).map(QueryOf))
    }
}

/// No parameters: one that would be ignored is refused, because its sender believes in it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Nothing {}

fn query<T: DeserializeOwned>(text: &str) -> Result<T, Problem> {
    if text.len() > MAX_QUERY_BYTES {
        return Err(wrong(FieldError::new(
            "",
            format!("a query string has {MAX_QUERY_BYTES} bytes at most"),
        )));
    }
    match Query::<Tracked<T>>::from_query(text) {
        Ok(query) => query.into_inner().0.map_err(wrong),
        Err(error) => Err(wrong(FieldError::new("", error.to_string()))),
    }
}

/// The parameters of the path: a type that parses itself for one, a tuple or struct for more.
pub struct PathOf<T>(pub T);

impl<T: DeserializeOwned> FromRequest for PathOf<T> {
    type Error = Problem;
    type Future = Ready<Result<PathOf<T>, Problem>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let parsed = match Path::<Tracked<T>>::from_request(request, payload).into_inner() {
            Ok(path) => path.into_inner().0,
            Err(error) => Err(FieldError::new("", error.to_string())),
        };
        ready(parsed.map(PathOf).map_err(|mut error| {
            error.field = parameter_name(request, &error.field);
            wrong(error)
        }))
    }
}

/// Tuples know only the place of a parameter, `[1]`, and a lone one not even that.
fn parameter_name(request: &HttpRequest, field: &str) -> String {
    let place = match field {
        "" => Some(0),
        _ => field
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
            .and_then(|digits| digits.parse().ok()),
    };
    let name = place.and_then(|place| request.match_info().iter().nth(place));
    name.map_or_else(|| field.to_owned(), |(name, _)| name.to_owned())
}

fn wrong(error: FieldError) -> Problem {
    Problem::invalid_request(vec![error])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Page {
        limit: Option<u32>,
    }

    fn refused(text: &str) -> String {
        let problem = query::<Page>(text).expect_err(text);
        assert_eq!(problem.status.as_u16(), 422);
        problem.errors[0].field.clone()
    }

    #[test]
    fn queries_are_checked_like_bodies() {
        assert_eq!(query::<Page>("limit=5").unwrap().limit, Some(5));
        assert_eq!(query::<Page>("").unwrap().limit, None);
        for text in ["limit=x", "limit=5.0", "limit=-1", "limit=1&limit=2", "limit="] {
            assert_eq!(refused(text), "limit", "{text}");
        }
        assert_eq!(refused("limits=5"), "limits");
        assert_eq!(refused(&"a".repeat(5000)), "");
    }
}
