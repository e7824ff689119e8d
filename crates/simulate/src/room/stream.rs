//! The event stream of a ticket (server-sent events, WHATWG HTML 9.2), as far as it has data.

use std::time::Duration;

use reqwest::{Response, Url};
use tokio::time::timeout;

use super::answer::{self, Said};
use crate::client::Api;

/// A stream is dead after this time without a byte. A live one sends comments.
const SILENCE: Duration = Duration::from_mins(1);
/// No event is as long as this, in bytes.
const LONGEST: usize = 65_536;

/// An open stream.
#[derive(Debug)]
pub struct Stream {
    response: Response,
    received: Vec<u8>,
}

impl Stream {
    /// None when the service is away or has too many streams: the user then polls.
    pub async fn open(api: &Api, url: &Url) -> Option<Self> {
        let response = api.listen(url).await.ok()?;
        response.status().is_success().then(|| Self {
            response,
            received: Vec::new(),
        })
    }

    /// The next event; none when the stream has ended or is dead.
    pub async fn next(&mut self) -> Option<Result<Said, String>> {
        loop {
            while let Some(event) = take(&mut self.received) {
                if let Some(data) = data(&event) {
                    return Some(answer::read(data.as_bytes()));
                }
            }
            let chunk = timeout(SILENCE, self.response.chunk()).await.ok()?.ok()??;
            self.received.extend_from_slice(&chunk);
            if self.received.len() > LONGEST {
                return Some(Err(format!("it has more than {LONGEST} bytes")));
            }
        }
    }
}

/// The next whole event, up to its empty line.
fn take(received: &mut Vec<u8>) -> Option<String> {
    let end = received.windows(2).position(|pair| pair == b"\n\n")? + 2;
    let event = received.drain(..end).collect::<Vec<u8>>();
    Some(String::from_utf8_lossy(&event).into_owned())
}

/// The data of an event; none of a comment.
fn data(event: &str) -> Option<String> {
    let lines = event.lines().filter_map(|line| line.strip_prefix("data:"));
    let lines: Vec<&str> = lines.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::{data, take};

    #[test]
    fn events_are_read_as_they_come_in_pieces_and_comments_are_none() {
        let mut received = b": hello\n\nevent: ticket\ndata: {\"a\":1,\ndata: \"b\":2}\n\nevent: ti".to_vec();
        assert_eq!(take(&mut received).map(|event| data(&event)), Some(None));
        let event = take(&mut received).expect("a whole event");
        assert_eq!(data(&event).as_deref(), Some("{\"a\":1,\n\"b\":2}"));
        assert_eq!((take(&mut received), received.len()), (None, 9));
    }
}
