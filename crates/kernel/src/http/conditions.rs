//! The precondition of a PUT: `If-Match`, `If-None-Match`, and this service's entity tags.

use actix_web::http::header::{ETAG, IF_MATCH, IF_NONE_MATCH};
use actix_web::{HttpRequest, HttpResponse};
use serde::Serialize;

use super::problem::{FieldError, Problem};
use crate::subject::Wanted;
use crate::subject::engine::Put;

/// The entity tag of a version.
fn etag(version: u64) -> String {
    format!("\"{version}\"")
}

/// The answer to a PUT: 201 for a new subject, else 200, with the tag of this PUT's own version. Another PUT may have
/// come between it and the reading of `body`.
pub fn put_answer(put: Put, body: impl Serialize) -> HttpResponse {
    let mut answer = if put.created {
        HttpResponse::Created()
    } else {
        HttpResponse::Ok()
    };
    answer.insert_header((ETAG, etag(put.version))).json(body)
}

/// A subject, with the tag of its definition's last version.
pub fn tagged(version: u64, body: impl Serialize) -> HttpResponse {
    HttpResponse::Ok().insert_header((ETAG, etag(version))).json(body)
}

/// The precondition by RFC 9110, 13.1.1 and 13.1.2, with the strong tags that this service makes.
pub fn wanted(request: &HttpRequest) -> Result<Wanted, Problem> {
    let header = |name| {
        request
            .headers()
            .get(name)
            .map(|value| value.to_str().unwrap_or_default().trim().to_owned())
    };
    let wrong = |header: &str, rule: &str| Problem::invalid_request(vec![FieldError::new(header, rule)]);
    match (header(IF_MATCH), header(IF_NONE_MATCH)) {
        (None, None) => Ok(Wanted::Any),
        (None, Some(star)) if star == "*" => Ok(Wanted::Absent),
        (Some(tag), None) if tag == "*" => Ok(Wanted::Present),
        (Some(tags), None) => {
            let versions = tags
                .split(',')
                .map(|tag| version_of(tag.trim()))
                .collect::<Option<Vec<_>>>();
            let rule = "must be * or tags in quotes, as ETag gives them";
            Ok(Wanted::Versions(versions.ok_or_else(|| wrong("If-Match", rule))?))
        }
        (None, Some(_)) => Err(wrong("If-None-Match", "must be *")),
        (Some(_), Some(_)) => Err(wrong("If-None-Match", "must not stand beside If-Match")),
    }
}

/// The version of an entity tag. 0, which no definition has, for a foreign or weak tag: it matches nothing. `None` for
/// a text that is not a tag.
fn version_of(tag: &str) -> Option<u64> {
    let opaque = |tag: &str| tag.strip_prefix('"')?.strip_suffix('"').map(ToOwned::to_owned);
    match tag.strip_prefix("W/") {
        Some(weak) => opaque(weak).map(|_| 0),
        None => opaque(tag).map(|text| text.parse().unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_strong_tags_of_ours_name_a_version() {
        assert_eq!(version_of("\"7\""), Some(7));
        for nothing in ["W/\"7\"", "\"nonsense\"", "\"\"", "\"-1\""] {
            assert_eq!(version_of(nothing), Some(0), "{nothing}");
        }
        for none in ["7", "", "\"7", "garbage", "*"] {
            assert_eq!(version_of(none), None, "{none}");
        }
    }
}
