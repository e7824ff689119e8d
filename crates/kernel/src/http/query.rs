//! Query strings and ids in paths, checked like bodies.

use std::future::{Ready, ready};

use actix_web::dev::Payload;
use actix_web::web::{Path, Query};
use actix_web::{FromRequest, HttpRequest};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use url::form_urlencoded;

use super::problem::{FieldError, Problem};
use super::shape::{self, Tracked};
use super::teach;

/// Longest query string. The longest in the contract has a tenth of it.
const MAX_QUERY_BYTES: usize = 4096;
/// Most wrong parameters in an answer.
const MAX_WRONG: usize = 20;

/// The query string. `T` is a struct with `deny_unknown_fields`.
pub struct QueryOf<T>(pub T);

impl<T: DeserializeOwned> FromRequest for QueryOf<T> {
    type Error = Problem;
    type Future = Ready<Result<QueryOf<T>, Problem>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let text = request.query_string();
        ready(
            query(text)
                .map(QueryOf)
                .map_err(|first| all_wrong::<T>(request, text, first)),
        )
    }
}

/// No parameters. An ignored parameter is refused, because its sender relies on it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Nothing {}

fn query<T: DeserializeOwned>(text: &str) -> Result<T, FieldError> {
    if text.len() > MAX_QUERY_BYTES {
        let rule = format!("a query string may have at most {MAX_QUERY_BYTES} bytes");
        return Err(FieldError::new("", rule));
    }
    match Query::<Tracked<T>>::from_query(text) {
        Ok(query) => query.into_inner().0,
        Err(error) => Err(FieldError::new("", error.to_string())),
    }
}

/// All wrong parameters. Each is left out, or added if it is missing, and the rest is read again.
fn all_wrong<T: DeserializeOwned>(request: &HttpRequest, text: &str, first: FieldError) -> Problem {
    let path = request.match_pattern().unwrap_or_default();
    let mut pairs = form_urlencoded::parse(text.as_bytes()).into_owned().collect::<Vec<_>>();
    let (mut errors, mut next) = (Vec::new(), Some(first));
    while let Some(error) = next.take() {
        let (name, missing) = (error.field.clone(), error.rule == shape::MISSING);
        errors.push(teach::parameter(&path, error));
        if missing {
            pairs.push((name.clone(), teach::example_of(&path, &name)));
        } else {
            pairs.retain(|(other, _)| *other != name);
        }
        if name.is_empty() || errors.len() >= MAX_WRONG {
            break;
        }
        let text = form_urlencoded::Serializer::new(String::new())
            .extend_pairs(&pairs)
            .finish();
        next = query::<T>(&text).err();
    }
    Problem::invalid_request(errors)
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
        ready(parsed.map(PathOf).map_err(|first| all_of_path::<T>(request, first)))
    }
}

/// All wrong parameters of the path. Each is replaced by an example, and the rest is read again.
fn all_of_path<T: DeserializeOwned>(request: &HttpRequest, first: FieldError) -> Problem {
    let pattern = request.match_pattern().unwrap_or_default();
    let mut values = request
        .match_info()
        .iter()
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect::<Vec<_>>();
    let (mut errors, mut next) = (Vec::new(), Some(first));
    while let Some(mut error) = next.take() {
        error.field = parameter_name(request, &error.field);
        let name = error.field.clone();
        let known = values.iter_mut().find(|(other, _)| *other == name);
        let Some((_, value)) = known.filter(|_| !errors.iter().any(|other: &FieldError| other.field == name)) else {
            if errors.is_empty() {
                errors.push(error);
            }
            break;
        };
        *value = teach::example_of(&pattern, &name);
        errors.push(teach::parameter(&pattern, error));
        let mut path = actix_web::dev::Path::new(String::new());
        for (name, value) in &values {
            path.add_static(name.clone(), value.clone());
        }
        next = path.load::<Tracked<T>>().ok().and_then(|read| read.0.err());
    }
    Problem::invalid_request(errors)
}

/// A tuple knows only the place of a parameter, `[1]`; a single parameter not even that.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Page {
        limit: Option<u32>,
    }

    fn refused(text: &str) -> String {
        query::<Page>(text).expect_err(text).field
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
