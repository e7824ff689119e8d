//! Reads a body line by line, as it arrives. Holds at most one chunk and one line.

use std::rc::Rc;

use actix_web::web::{Bytes, BytesMut, Payload};
use futures_util::StreamExt;

use jackpot_kernel::http::problem::FieldError;
use jackpot_kernel::http::{Asked, ConnectionState, Problem};

/// Longest line, in bytes. The longest form has 1,200; the rest is for spaces and escapes.
const MAX_LINE: usize = 4_096;

/// What a client may send before any of it is read, in bytes.
const AHEAD_BYTES: u64 = 64 * 1024;

/// The next part of a body.
pub(super) enum Next {
    /// A line, without its end.
    Line(Bytes),
    /// A line that is too long to be a request.
    TooLong(Problem),
    /// More bytes have come, but no whole line yet.
    Nothing,
    /// The body has ended.
    End,
    /// The body ended early, or is too long.
    Failed(Problem),
}

/// A body that is read line by line.
pub(super) struct Lines {
    payload: Payload,
    /// As bytes are read, the client may send more.
    connection: Option<Rc<ConnectionState>>,
    held: BytesMut,
    number: u64,
    left: u64,
    limit: u64,
    /// Whether the reader is within a line that was too long.
    skipping: bool,
    ended: bool,
}

impl Lines {
    /// A body of at most `limit` bytes.
    pub(super) fn new(payload: Payload, connection: Option<Rc<ConnectionState>>, limit: u64) -> Self {
        if let Some(connection) = &connection {
            connection.ask(Asked::Chunked(AHEAD_BYTES));
        }
        Self {
            payload,
            connection,
            held: BytesMut::new(),
            number: 0,
            left: limit,
            limit,
            skipping: false,
            ended: false,
        }
    }

    /// Number of the last line returned, from 1.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Bytes read so far.
    pub(super) fn taken(&self) -> u64 {
        self.limit - self.left
    }

    /// Whether the next line needs more bytes.
    pub(super) fn is_empty(&self) -> bool {
        !self.held.contains(&b'\n')
    }

    /// Returns the next line, or another [`Next`].
    pub(super) async fn next(&mut self) -> Next {
        if let Some(end) = self.held.iter().position(|byte| *byte == b'\n') {
            let line = self.held.split_to(end + 1).freeze();
            return self.line(line.slice(..end));
        }
        if self.held.len() > MAX_LINE {
            self.skipping = true;
            self.held.clear();
        }
        if self.ended {
            let rest = self.held.split().freeze();
            return if rest.is_empty() && !self.skipping {
                Next::End
            } else {
                self.line(rest)
            };
        }
        match self.payload.next().await {
            None => self.ended = true,
            Some(Err(error)) => return Next::Failed(Problem::invalid_json(format!("the body ended early: {error}"))),
            Some(Ok(chunk)) => {
                let Some(left) = self.left.checked_sub(chunk.len() as u64) else {
                    let limit = usize::try_from(self.limit).unwrap_or(usize::MAX);
                    return Next::Failed(Problem::too_large(limit));
                };
                self.left = left;
                if let Some(connection) = &self.connection {
                    connection.ask(Asked::Chunked(chunk.len() as u64));
                }
                self.held.extend_from_slice(&chunk);
            }
        }
        Next::Nothing
    }

    fn line(&mut self, line: Bytes) -> Next {
        self.number += 1;
        let skipped = std::mem::take(&mut self.skipping);
        if skipped || line.len() > MAX_LINE {
            let rule = format!("a line may have at most {MAX_LINE} bytes");
            return Next::TooLong(Problem::invalid_request(vec![FieldError::new("", rule)]));
        }
        Next::Line(line)
    }
}
