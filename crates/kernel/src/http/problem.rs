//! Errors as clients see them: RFC 9457 `application/problem+json`. A capability's `problem.rs` maps its errors to
//! these.

use std::fmt;
use std::time::Duration;

use actix_web::http::StatusCode;
use actix_web::http::header::{ALLOW, RETRY_AFTER, WWW_AUTHENTICATE};
use actix_web::web::Path;
use actix_web::{HttpRequest, HttpResponse, ResponseError};
use jackpot_core::violation::Violation;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::cached::Page;
use super::code::Code;

/// The media type of problems.
pub const CONTENT_TYPE: &str = "application/problem+json";

/// When a client should try again after a 503, in seconds: about the time of a failover of the store.
const UNAVAILABLE_RETRY_S: u32 = 1;
/// When to try again after the emergency stop, in seconds: operators end it, after minutes at least.
const STOPPED_RETRY_S: u32 = 10;

/// Wrong fields that the detail names; `errors` has all.
const MAX_IN_DETAIL: usize = 5;

/// How long a client may cache the meaning of a code, in seconds.
const EXPLAINED_FOR_S: u32 = 3600;

/// A field that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FieldError {
    /// Path of the field, such as `tiers[0].min_payout`; empty for the whole body.
    #[schema(examples("tiers[0].min_payout"))]
    pub field: String,
    /// The rule that it breaks.
    #[serde(rename = "message")]
    #[schema(examples("must be 0 to 9007199254740991"))]
    pub rule: String,
}

impl FieldError {
    /// `rule` should say what is allowed.
    pub fn new(field: impl Into<String>, rule: impl Into<String>) -> FieldError {
        FieldError {
            field: field.into(),
            rule: rule.into(),
        }
    }
}

impl From<Violation> for FieldError {
    fn from(violation: Violation) -> Self {
        Self::new(violation.field, violation.rule)
    }
}

/// An error answer.
#[derive(Debug, Clone)]
pub struct Problem {
    /// Which problem; it has the status.
    pub code: Code,
    /// What is wrong this time, in a sentence.
    pub detail: String,
    /// The wrong fields, if any.
    pub errors: Vec<FieldError>,
    /// When to try again, in seconds.
    pub retry_after_s: Option<u32>,
}

impl Problem {
    pub fn new(code: Code, detail: impl Into<String>) -> Problem {
        Problem {
            code,
            detail: detail.into(),
            errors: Vec::new(),
            retry_after_s: None,
        }
    }

    /// 422: fields are missing, unknown, of another type or out of range.
    pub fn invalid_request(errors: Vec<FieldError>) -> Problem {
        let detail = match errors.as_slice() {
            [one] if one.field.is_empty() => one.rule.clone(),
            [one] => format!("{}: {}", one.field, one.rule),
            more => {
                let named = more.iter().take(MAX_IN_DETAIL).map(|error| error.field.as_str());
                let named = named.filter(|field| !field.is_empty()).collect::<Vec<_>>();
                let rest = if more.len() > MAX_IN_DETAIL { ", …" } else { "" };
                format!("{} fields are wrong: {}{rest}", more.len(), named.join(", "))
            }
        };
        Problem {
            errors,
            ..Problem::new(Code::InvalidRequest, detail)
        }
    }

    /// 400: the body is not JSON.
    pub fn invalid_json(detail: impl Into<String>) -> Problem {
        Problem::new(Code::InvalidJson, detail)
    }

    /// 415: the body has another media type.
    pub fn unsupported_media_type() -> Problem {
        let detail = "send the body as Content-Type: application/json in UTF-8";
        Problem::new(Code::UnsupportedMediaType, detail)
    }

    /// 413: the body has more than `limit_bytes`.
    pub fn too_large(limit_bytes: usize) -> Problem {
        let detail = format!("the body may have at most {limit_bytes} bytes");
        Problem::new(Code::TooLarge, detail)
    }

    /// 408: the body did not arrive within `limit`.
    pub fn request_timeout(limit: Duration) -> Problem {
        let detail = format!("the body did not arrive within {} s", limit.as_secs());
        Problem::new(Code::RequestTimeout, detail)
    }

    /// 404: no such route.
    pub fn not_found() -> Problem {
        Problem::new(Code::NotFound, "no route has this path")
    }

    /// 405, with the methods that the path accepts in `Allow`.
    pub fn method_not_allowed(allow: &str) -> HttpResponse {
        let detail = format!("this path takes {allow}");
        let mut answer = Problem::new(Code::MethodNotAllowed, detail).error_response();
        if let Ok(value) = allow.try_into() {
            answer.headers_mut().insert(ALLOW, value);
        }
        answer
    }

    /// 401: no key, or an unknown one. The answer does not say which of the two.
    pub fn unauthorized() -> Problem {
        let detail = "send a valid key as Authorization: Bearer <key>";
        Problem::new(Code::Unauthorized, detail)
    }

    /// 403: the key is valid, but not for this.
    pub fn forbidden(detail: impl Into<String>) -> Problem {
        Problem::new(Code::Forbidden, detail)
    }

    /// 403: the key is bound to subjects, and the request names another one, or none.
    pub fn wrong_subject(detail: impl Into<String>) -> Problem {
        Problem::new(Code::WrongSubject, detail)
    }

    /// 429: the key or a user sends too many requests. `wait`: the time until the next one is accepted.
    pub fn rate_limited(wait: Duration, detail: &str) -> Problem {
        // Rounded up, so that a client that waits exactly this long is accepted.
        let seconds = u32::try_from(wait.as_millis().div_ceil(1000))
            .unwrap_or(u32::MAX)
            .max(1);
        Problem {
            retry_after_s: Some(seconds),
            ..Problem::new(Code::RateLimited, detail)
        }
    }

    /// 503: the store does not answer in time, or accepts no writes. A retry with the same ids is safe.
    pub fn store_unavailable(detail: impl Into<String>) -> Problem {
        Problem {
            retry_after_s: Some(UNAVAILABLE_RETRY_S),
            ..Problem::new(Code::StoreUnavailable, detail)
        }
    }

    /// 503: the emergency stop holds what the request asks for.
    pub fn stopped(detail: impl Into<String>) -> Problem {
        Problem {
            retry_after_s: Some(STOPPED_RETRY_S),
            ..Problem::new(Code::Stopped, detail)
        }
    }

    /// 503: this instance, or one place, has its limit of streams.
    pub fn too_many_streams(detail: &str) -> Problem {
        Problem {
            retry_after_s: Some(UNAVAILABLE_RETRY_S),
            ..Problem::new(Code::TooManyStreams, detail)
        }
    }

    /// 503: the limit of concurrent uploads is reached. `wait`: the time to wait until some have ended.
    pub fn too_many_uploads(wait: Duration, detail: &str) -> Problem {
        Problem {
            retry_after_s: u32::try_from(wait.as_secs()).ok(),
            ..Problem::new(Code::TooManyUploads, detail)
        }
    }

    /// The body of the answer.
    pub fn body(&self) -> ProblemBody {
        ProblemBody {
            kind: format!("/problems/{}", self.code),
            title: self.code.title().to_owned(),
            status: self.code.status().as_u16(),
            detail: self.detail.clone(),
            code: self.code,
            errors: self.errors.clone(),
        }
    }

    /// The answer itself, for callers that do not return a `Result`.
    pub fn into_response(self) -> HttpResponse {
        self.error_response()
    }

    /// 500: our fault. The cause belongs in the log, not in the answer.
    pub fn internal() -> Problem {
        let detail = "the cause is in the log under this answer's X-Request-Id";
        Problem::new(Code::Internal, detail)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.detail)
    }
}

impl std::error::Error for Problem {}

impl From<sqlx::Error> for Problem {
    fn from(error: sqlx::Error) -> Self {
        tracing::error!(
            error = format!("the ledger's database: {error}"),
            "the ledger's database did not answer"
        );
        Self::store_unavailable("the ledger's database does not answer; try again")
    }
}

/// The body of an error answer.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[schema(as = Problem)]
pub struct ProblemBody {
    /// `/problems/` and the code.
    #[serde(rename = "type")]
    #[schema(examples("/problems/invalid-request"))]
    pub kind: String,
    /// The same for all problems of a code.
    pub title: String,
    /// The status of the answer.
    #[schema(examples(422))]
    pub status: u16,
    /// What is wrong this time.
    pub detail: String,
    /// Stable, for programs.
    #[schema(value_type = String, examples("invalid-request"))]
    pub code: Code,
    /// The fields at fault; empty when it is not about fields.
    pub errors: Vec<FieldError>,
}

impl ResponseError for Problem {
    fn status_code(&self) -> StatusCode {
        self.code.status()
    }

    fn error_response(&self) -> HttpResponse {
        let mut answer = HttpResponse::build(self.code.status());
        answer.content_type(CONTENT_TYPE);
        if let Some(seconds) = self.retry_after_s {
            answer.insert_header((RETRY_AFTER, seconds));
        }
        if self.code == Code::Unauthorized {
            answer.insert_header((WWW_AUTHENTICATE, "Bearer"));
        }
        answer.body(serde_json::to_string(&self.body()).unwrap_or_default())
    }
}

/// What a problem code means.
#[utoipa::path(get, path = "/problems/{code}", tag = "service", params(("code" = String, Path)),
    responses((status = 200, description = "What the code means", content_type = "text/plain", body = String,
            headers(("Cache-Control" = String, description = "`public, max-age=3600`"), ("ETag" = String, description = "Weak"))),
        (status = 304, description = "`If-None-Match` has the tag of the text")),
    extensions(("x-problems" = json!([Code::NotFound]))))]
pub(super) async fn explain(code: Path<String>, request: HttpRequest) -> Result<HttpResponse, Problem> {
    let code = Code::parse(&code).ok_or_else(Problem::not_found)?;
    let text = format!("{code}: {}\n\n{}\n", code.title(), code.about());
    Ok(Page::new(text).answer(&request, "text/plain; charset=utf-8", EXPLAINED_FOR_S))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_is_rounded_up_and_never_nothing() {
        assert_eq!(
            Problem::rate_limited(Duration::from_millis(1001), "x").retry_after_s,
            Some(2)
        );
        assert_eq!(Problem::rate_limited(Duration::ZERO, "x").retry_after_s, Some(1));
    }
}
