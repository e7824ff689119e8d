//! What this client alone can do: the same requests against a responder that only reads and answers.
//!
//! A throughput near this ceiling says more about the client than about the service, and the table says so.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use reqwest::Method;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::SimulateError;
use super::client::{Api, Target};

const DURATION: Duration = Duration::from_millis(700);
/// More connections than this change the rate little, and take time to open.
const CONNECTIONS: u32 = 64;
/// About as long as the answer to an entry.
const BODY: [u8; 600] = [b' '; 600];
const REQUEST_LIMIT: usize = 8_192;

/// Requests per second that the client reaches against the responder. Both share this machine's cores, so that
/// the client alone could do somewhat more.
pub async fn measure(players: u32) -> Result<f64, SimulateError> {
    let listener = TcpListener::bind(("127.0.0.1", 0))
        .await
        .map_err(|error| SimulateError::Process("binding the responder of the client's measurement", error))?;
    let port = listener
        .local_addr()
        .map_err(|error| SimulateError::Process("reading the responder's address", error))?
        .port();
    let mut tasks = JoinSet::new();
    tasks.spawn(respond(listener));
    let target = Target {
        url: format!("http://127.0.0.1:{port}"),
        key: "none".to_owned(),
        secret: None,
    };
    let answered = Arc::new(AtomicU64::new(0));
    let apis = (0..players.min(CONNECTIONS)).map(|_| Api::new(&target, Arc::new(AtomicU64::new(0))));
    let apis = apis.collect::<Result<Vec<_>, _>>()?;
    // After the clients are made, which on a busy machine takes longer than the measurement.
    let started = Instant::now();
    let mut players_of_it = JoinSet::new();
    for api in apis {
        let answered = Arc::clone(&answered);
        players_of_it.spawn(async move {
            let url = api.url("/v1/jackpots/ceiling/entries");
            let body =
                Bytes::from_static(br#"{"entry_id":"s1-e123456","player_id":"p123","stake":100,"client_seed":null}"#);
            while started.elapsed() < DURATION {
                api.call(Method::POST, &url, Some(body.clone())).await?;
                answered.fetch_add(1, Ordering::Relaxed);
            }
            Ok::<_, SimulateError>(())
        });
    }
    while let Some(ended) = players_of_it.join_next().await {
        ended??;
    }
    Ok(count(answered.load(Ordering::Relaxed)) / started.elapsed().as_secs_f64())
}

async fn respond(listener: TcpListener) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        connections.spawn(answer(stream));
    }
}

/// Answers each request on a connection until it closes; an error closes it, and the measurement sees that.
async fn answer(mut stream: TcpStream) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let head = format!(
        "HTTP/1.1 201 Created\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        BODY.len()
    );
    let reply = [head.as_bytes(), &BODY].concat();
    let mut received = Vec::with_capacity(REQUEST_LIMIT);
    loop {
        if stream.read_buf(&mut received).await? == 0 || received.len() > REQUEST_LIMIT {
            return Ok(());
        }
        // The client sends one request at a time and its body ends with the only closing brace.
        if received.last() == Some(&b'}') {
            received.clear();
            stream.write_all(&reply).await?;
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "a rate to three digits")]
fn count(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    #[tokio::test]
    async fn the_client_is_measured() {
        let per_second = super::measure(8).await.unwrap();
        assert!(per_second > 100.0, "{per_second}");
    }
}
