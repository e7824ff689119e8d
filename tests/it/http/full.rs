//! More connections than there are places.

use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::time::timeout;

use super::raw::{answer, closes, connect, connect_from};
use super::support::{Options, TestServer, eventually, server_with};

const PLACES: usize = 16;
const REQUEST: &[u8] = b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n";

async fn server(http: &str) -> TestServer {
    server_with(Options {
        http: http.to_owned(),
        ..Options::default()
    })
    .await
}

fn closed(server: &TestServer, reason: &str) -> usize {
    let text = server.metrics.encode().unwrap();
    let name = format!("jackpot_http_connections_closed_total{{reason=\"{reason}\"}} ");
    let line = text.lines().find_map(|line| line.strip_prefix(&name));
    line.map_or(0, |count| count.parse().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_newcomer_takes_the_place_of_an_idle_connection_of_the_crowd() {
    let server = server(&format!("max_connections = {PLACES}")).await;
    let mut lone = connect(server.address()).await;
    lone.write_all(REQUEST).await.unwrap();
    answer(&mut lone).await.is(200);
    let mut crowd = Vec::new();
    for _ in 0..PLACES - 1 {
        crowd.push(connect_from(2, server.address()).await.unwrap());
    }
    // Each answer is on a new connection, and each takes a place of the crowd.
    for _ in 0..5 {
        eventually("a newcomer is answered", async || {
            let mut newcomer = connect_from(3, server.address()).await.unwrap();
            newcomer.write_all(REQUEST).await.is_ok() && {
                let mut first = [0; 12];
                let read = tokio::io::AsyncReadExt::read_exact(&mut newcomer, &mut first);
                matches!(timeout(Duration::from_secs(1), read).await, Ok(Ok(_)))
            }
        })
        .await;
    }
    lone.write_all(REQUEST).await.unwrap();
    answer(&mut lone).await.is(200); // it is alone on its address
    assert!(closed(&server, "evicted") >= 1);
    drop(crowd);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_newcomer_is_closed_when_all_are_served() {
    let server = server(&format!("max_connections = {PLACES}")).await;
    let mut streams = Vec::new();
    for _ in 0..PLACES {
        let mut stream = connect(server.address()).await;
        stream
            .write_all(b"GET /test/ticks HTTP/1.1\r\nhost: x\r\n\r\n")
            .await
            .unwrap();
        let mut first = [0; 12];
        tokio::io::AsyncReadExt::read_exact(&mut stream, &mut first)
            .await
            .unwrap();
        streams.push(stream);
    }
    let mut newcomer = connect(server.address()).await;
    assert!(closes(&mut newcomer).await);
    assert_eq!(closed(&server, "full"), 1);
    streams.pop();
    eventually("a place is free", async || {
        let mut newcomer = connect(server.address()).await;
        newcomer.write_all(REQUEST).await.is_ok() && {
            let mut first = [0; 12];
            tokio::io::AsyncReadExt::read_exact(&mut newcomer, &mut first)
                .await
                .is_ok()
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_has_as_many_connections_as_it_may() {
    let server = server("max_connections_per_address = 3").await;
    let mut held = Vec::new();
    for _ in 0..3 {
        let mut connection = connect_from(2, server.address()).await.unwrap();
        connection.write_all(REQUEST).await.unwrap();
        answer(&mut connection).await.is(200);
        held.push(connection);
    }
    let mut fourth = connect_from(2, server.address()).await.unwrap();
    assert!(closes(&mut fourth).await);
    assert_eq!(closed(&server, "too-many-from-address"), 1);
    let mut other = connect_from(3, server.address()).await.unwrap();
    other.write_all(REQUEST).await.unwrap();
    answer(&mut other).await.is(200);
    for connection in &mut held {
        connection.write_all(REQUEST).await.unwrap();
        answer(connection).await.is(200); // the connections from before go on
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_idle_connection_is_closed_and_a_stream_is_not() {
    let server = server("keep_alive_s = 1").await;
    let mut stream = connect(server.address()).await;
    stream
        .write_all(b"GET /test/ticks HTTP/1.1\r\nhost: x\r\n\r\n")
        .await
        .unwrap();
    let mut idle = connect(server.address()).await;
    idle.write_all(REQUEST).await.unwrap();
    answer(&mut idle).await.is(200);
    assert!(closes(&mut idle).await);
    let mut silent = connect(server.address()).await;
    assert!(closes(&mut silent).await, "one that never said anything");
    let mut bytes = [0; 4096];
    for _ in 0..3 {
        let read = tokio::io::AsyncReadExt::read(&mut stream, &mut bytes).await.unwrap();
        assert!(read > 0, "the stream goes on");
    }
}
