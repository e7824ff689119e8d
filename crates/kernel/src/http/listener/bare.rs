//! Answers that the dispatcher makes itself, without a body: to a head that is malformed, too large or too slow. They
//! become problems here, where bytes go out, because no service sees them.

use std::sync::Arc;
use std::time::Duration;

use super::heads::{self, Refused};
use super::state::{ConnectionState, Fault, HEAD_BYTES};
use super::worker::{HEAD_TIMEOUT, Worker};
use crate::http::request_id::RequestId;
use crate::http::{Code, Problem, problem, request_id};

/// The end of a head.
const END: &[u8] = b"\r\n\r\n";
/// The beginning of a head.
const BEGIN: &[u8] = b"HTTP/1.";
/// Longest bare answer: three headers from the dispatcher.
const MAX_LENGTH: usize = 256;
/// The headers that a bare answer has, and no others.
const HEADERS: [&str; 3] = ["content-length: 0", "connection: ", "date: "];
/// Label of requests whose head could not be read.
const UNREAD: &str = "unmatched";

/// A bare answer at the end of the output.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Bare {
    pub(super) at: usize,
    version: u8,
    status: u16,
}

/// Finds a bare answer at the end of `bytes`. No other answer looks like one: each has an `X-Request-Id`.
pub(super) fn find(bytes: &[u8]) -> Option<Bare> {
    if !bytes.ends_with(END) {
        return None;
    }
    let from = bytes.len().saturating_sub(MAX_LENGTH);
    let tail = bytes.get(from..)?;
    let begin = tail.windows(BEGIN.len()).rposition(|window| window == BEGIN)?;
    let text = std::str::from_utf8(tail.get(begin..)?).ok()?;
    let (line, headers) = text.strip_suffix("\r\n\r\n")?.split_once("\r\n")?;
    let own = |header: &str| HEADERS.iter().any(|known| header.starts_with(known));
    if !headers.split("\r\n").all(own) || !headers.contains(HEADERS[0]) {
        return None;
    }
    let (version, rest) = line.strip_prefix("HTTP/1.")?.split_once(' ')?;
    let status: u16 = rest.get(..3)?.parse().ok()?;
    (400..600).contains(&status).then_some(Bare {
        at: from + begin,
        version: version.parse().ok()?,
        status,
    })
}

/// The replacement. Empty if the request has an answer already, from a service that read its body.
pub(super) fn replacement(bare: &Bare, connection: &ConnectionState, worker: &Worker) -> Vec<u8> {
    if connection.is_answered() {
        return Vec::new();
    }
    let problem = explain(bare.status, connection.fault());
    let status = problem.code.status();
    let id = tell(&problem, connection, worker);
    let body = serde_json::to_string(&problem.body()).unwrap_or_default();
    format!(
        "HTTP/1.{} {} {}\r\ncontent-type: {}\r\ncontent-length: {}\r\n{}: {}\r\nconnection: close\r\n\r\n{body}",
        bare.version,
        status.as_u16(),
        status.canonical_reason().unwrap_or_default(),
        problem::CONTENT_TYPE,
        body.len(),
        request_id::HEADER,
        id.as_str(),
    )
    .into_bytes()
}

/// The last frames of a connection of HTTP/2.
pub(super) fn farewell(refused: Refused, connection: &ConnectionState, worker: &Worker) -> Vec<u8> {
    let status = match refused {
        Refused::TooLarge(_) => 431,
        Refused::Malformed => 400,
    };
    let problem = explain(status, None);
    let id = tell(&problem, connection, worker);
    heads::farewell(refused, &problem, &id)
}

/// Counts and logs a request that is refused before it is read. Returns its id.
fn tell(problem: &Problem, connection: &ConnectionState, worker: &Worker) -> RequestId {
    let (id, status) = (RequestId::next(), problem.code.status().as_u16());
    worker.metrics.request(&Arc::from(UNREAD), "", status, Duration::ZERO);
    tracing::debug!(target: "jackpot_kernel::http::envelope", request_id = id.as_str(), peer = %connection.peer(),
        status, cause = %problem, "request refused before it was read");
    id
}

fn explain(status: u16, fault: Option<Fault>) -> Problem {
    let status = match fault {
        Some(Fault::TooLarge) => 431,
        Some(Fault::Slow) => 408,
        None => status,
    };
    match status {
        408 => Problem::new(
            Code::RequestTimeout,
            format!("the head did not arrive within {} s", HEAD_TIMEOUT.as_secs()),
        ),
        431 => Problem::new(
            Code::HeadersTooLarge,
            format!("request line and headers may have {HEAD_BYTES} bytes and 96 fields at most"),
        ),
        400..500 => Problem::new(
            Code::MalformedRequest,
            "request line or headers are not valid HTTP/1.1; send one Host, and one of Content-Length and \
             Transfer-Encoding: chunked",
        ),
        _ => Problem::internal(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BARE: &str = "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\ndate: Thu, 01 Jan 1970 00:00:00 GMT\r\n\r\n";

    #[test]
    fn a_bare_answer_is_found_at_the_end_alone() {
        let found = find(BARE.as_bytes()).unwrap();
        assert_eq!((found.at, found.version, found.status), (0, 1, 400));
        let other = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\nx-request-id: a\r\n\r\n{}";
        assert_eq!(find(format!("{other}{BARE}").as_bytes()).unwrap().at, other.len());
        assert_eq!(find(format!("{BARE}{other}").as_bytes()), None);
    }

    #[test]
    fn answers_of_services_are_left_alone() {
        for other in [
            "HTTP/1.1 204 No Content\r\nx-request-id: a\r\n\r\n",
            "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nx-request-id: a\r\ndate: x\r\n\r\n",
            "HTTP/1.1 200 OK\r\ncontent-length: 0\r\ndate: x\r\n\r\n",
            "0\r\n\r\n",
            "\r\n\r\n",
            "",
            "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n",
            "\"HTTP/1.1 400 is a text\"\r\n\r\n",
        ] {
            assert_eq!(find(other.as_bytes()), None, "{other}");
        }
    }
}
