//! The id of a request: on its answer, on its log lines, and in the audit trail.

use std::future::{Ready, ready};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};

use actix_web::dev::Payload;
use actix_web::http::header::{HeaderMap, HeaderName, HeaderValue};
use actix_web::{FromRequest, HttpRequest};

use super::problem::Problem;
use crate::random;
use crate::telemetry::request;

/// The header, in requests and answers.
pub const HEADER: HeaderName = HeaderName::from_static("x-request-id");

/// Longer ids from clients are replaced, because every log line repeats the id.
const MAX_LENGTH: usize = 64;

/// Identifies a request; `[A-Za-z0-9._-]{1,64}`.
#[derive(Debug, Clone)]
pub struct RequestId(Arc<str>);

impl RequestId {
    /// The client's id if it is valid, or else a new one.
    pub(super) fn of(headers: &HeaderMap) -> RequestId {
        match headers
            .get(HEADER)
            .and_then(|value| value.to_str().ok())
            .filter(|text| sane(text))
        {
            Some(text) => RequestId(text.into()),
            None => RequestId::next(),
        }
    }

    /// Random for the process, then counted: unique without a system call for each request.
    pub(super) fn next() -> RequestId {
        static PROCESS: LazyLock<String> = LazyLock::new(|| match random::bytes::<8>() {
            Ok(bytes) => hex::encode(bytes),
            // An id need not be secret; the process and its start distinguish instances as well.
            Err(_) => format!("{:x}{:x}", std::process::id(), jiff::Timestamp::now().as_nanosecond()),
        });
        static COUNT: AtomicU64 = AtomicU64::new(0);
        RequestId(format!("{}-{:x}", *PROCESS, COUNT.fetch_add(1, Ordering::Relaxed)).into())
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The id as shared text, for the log too.
    pub(super) fn shared(&self) -> Arc<str> {
        Arc::clone(&self.0)
    }

    pub(super) fn header(&self) -> HeaderValue {
        HeaderValue::from_str(&self.0).unwrap_or_else(|_| HeaderValue::from_static("invalid"))
    }
}

impl FromRequest for RequestId {
    type Error = Problem;
    type Future = Ready<Result<RequestId, Problem>>;

    fn from_request(_: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(request::id().map(RequestId).ok_or_else(Problem::internal))
    }
}

fn sane(text: &str) -> bool {
    (1..=MAX_LENGTH).contains(&text.len())
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'))
}
