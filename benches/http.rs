//! A client that sends prepared bytes and reads answers. A full client would take the cores that are measured.

use std::net::SocketAddr;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::Outcome;

/// Bytes of an answer; this service has no longer one.
const ANSWER_LIMIT: usize = 64 * 1024 * 1024;

/// Address and key of the requests.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) address: SocketAddr,
    pub(crate) key: String,
}

/// One connection, with one request at a time.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: TcpStream,
    received: Vec<u8>,
}

/// The answer to a request.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
}

impl Target {
    pub(crate) async fn connect(&self) -> Outcome<Connection> {
        let stream = TcpStream::connect(self.address).await?;
        stream.set_nodelay(true)?;
        Ok(Connection {
            stream,
            received: Vec::with_capacity(16 * 1024),
        })
    }

    /// The bytes of a request.
    pub(crate) fn request(&self, method: &str, path: &str, body: &[u8]) -> Vec<u8> {
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n",
            self.key,
            body.len()
        );
        [head.as_bytes(), body].concat()
    }

    /// One request on a connection of its own, which must succeed.
    pub(crate) async fn call(&self, method: &str, path: &str, body: &Value) -> Outcome<Value> {
        let body = if body.is_null() {
            Vec::new()
        } else {
            serde_json::to_vec(body)?
        };
        let answer = self.connect().await?.send(&self.request(method, path, &body)).await?;
        if answer.status >= 400 {
            return Err(answer.refused(&format!("{method} {path}")).into());
        }
        Ok(serde_json::from_slice(&answer.body)?)
    }
}

impl Connection {
    pub(crate) async fn send(&mut self, request: &[u8]) -> Outcome<Answer> {
        self.stream.write_all(request).await?;
        self.received.clear();
        let head = loop {
            if let Some(end) = self.received.windows(4).position(|window| window == b"\r\n\r\n") {
                break end + 4;
            }
            self.more().await?;
        };
        let text = std::str::from_utf8(&self.received[..head])?;
        let status = text.split(' ').nth(1).ok_or("an answer without a status")?.parse()?;
        let length = text.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length").then_some(value)
        });
        let length: usize = length.ok_or("an answer without a length")?.trim().parse()?;
        while self.received.len() < head + length {
            self.more().await?;
        }
        Ok(Answer {
            status,
            body: self.received[head..head + length].to_vec(),
        })
    }

    async fn more(&mut self) -> Outcome {
        if self.received.len() > ANSWER_LIMIT || self.stream.read_buf(&mut self.received).await? == 0 {
            return Err("the connection ended within an answer".into());
        }
        Ok(())
    }
}

impl Answer {
    /// The answer as the text of an error.
    pub(crate) fn refused(&self, what: &str) -> String {
        format!("{what}: {} {}", self.status, String::from_utf8_lossy(&self.body))
    }
}
