//! The id of a request: on its answer, on its log lines, and in the audit trail.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};

use actix_web::http::header::{HeaderMap, HeaderName, HeaderValue};

use crate::random;

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
        RequestId(numbered(&PROCESS, COUNT.fetch_add(1, Ordering::Relaxed)).into())
    }

    /// The id as text.
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

/// `process-number`, the number in hexadecimal digits. Written without a formatter, because each request gets one.
fn numbered(process: &str, number: u64) -> String {
    let mut id = String::with_capacity(process.len() + 1 + 16);
    id.push_str(process);
    id.push('-');
    let digits = (u64::BITS - (number | 1).leading_zeros()).div_ceil(4);
    for place in (0..digits).rev() {
        let digit = number >> (4 * place) & 0xf;
        id.push(char::from(
            b"0123456789abcdef"[usize::try_from(digit).unwrap_or_default()],
        ));
    }
    id
}

fn sane(text: &str) -> bool {
    (1..=MAX_LENGTH).contains(&text.len())
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_written_in_hexadecimal_digits() {
        for number in [0, 1, 0xf, 0x10, 0xff, 0x100, 0x00ab_cdef, u64::MAX] {
            assert_eq!(numbered("p", number), format!("p-{number:x}"));
        }
    }
}
