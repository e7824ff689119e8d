//! The other listener. It accepts, reads a little, answers what looks like a request, and closes what looks like a
//! body. It costs the machine about as much as any listener must spend on such a crowd.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

use crate::Outcome;

const HEAD_LIMIT: Duration = Duration::from_secs(10);
const IDLE_LIMIT: Duration = Duration::from_secs(75);
const MOST_BYTES: usize = 8 * 1024;

/// Its process. Dropping it ends it.
pub(crate) struct Yardstick {
    process: Child,
    pub(crate) address: SocketAddr,
}

impl Yardstick {
    pub(crate) fn start() -> Outcome<Yardstick> {
        let mut process = Command::new(std::env::current_exe()?)
            .arg("yardstick")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        let output = process.stdout.take().ok_or("no output")?;
        BufReader::new(output).read_line(&mut line)?;
        let address = line.trim().parse()?;
        Ok(Yardstick { process, address })
    }
}

impl Drop for Yardstick {
    fn drop(&mut self) {
        // It runs until then.
        let _gone = self.process.kill();
        let _ended = self.process.wait();
    }
}

/// Prints its address, then serves until the process is ended.
pub(crate) fn serve() -> Outcome {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        println!("{}", listener.local_addr()?);
        loop {
            let Ok((stream, _)) = listener.accept().await else {
                continue;
            };
            tokio::spawn(hold(stream));
        }
    })
}

async fn hold(mut stream: TcpStream) {
    let mut received = Vec::new();
    loop {
        let limit = if received.is_empty() { IDLE_LIMIT } else { HEAD_LIMIT };
        match timeout(limit, stream.read_buf(&mut received)).await {
            Ok(Ok(read)) if read > 0 && received.len() < MOST_BYTES => {}
            _ => return,
        }
        while let Some(end) = received.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&received[..end]).to_ascii_lowercase();
            let has_body = head.contains("transfer-encoding") || head.contains("content-length");
            let answer = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";
            if stream.write_all(answer.as_bytes()).await.is_err() || has_body {
                return;
            }
            received.drain(..end + 4);
        }
    }
}
