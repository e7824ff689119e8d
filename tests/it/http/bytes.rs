//! A connection takes the bytes that belong to a request, and no more.

use std::time::Duration;

use jackpot::http::auth::Role;
use tokio::io::AsyncWriteExt;

use super::raw::{answer, closes, connect, push};
use super::support::{eventually, server};

/// Bytes that a client can push after its answer: what is discarded before the connection is reset, and the buffers of
/// both systems on the way.
const MOST_BYTES: usize = 32 * 1024 * 1024;

/// A second is enough for a gigabyte.
const TIME: Duration = Duration::from_secs(3);

#[tokio::test(flavor = "multi_thread")]
async fn a_body_in_chunks_that_nobody_reads_has_an_end() {
    let server = server().await;
    let address = server.address();
    let size = 64 * 1024;
    let chunk = format!("{size:x}\r\n{}\r\n", "x".repeat(size));
    for (head, status) in [
        ("GET /healthz", 200),
        ("POST /healthz", 405),
        ("POST /test/play", 401),
        ("POST /nowhere", 404),
        ("GET /test/anyone", 200),
    ] {
        let mut connection = connect(address).await;
        let head = format!("{head} HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n");
        connection.write_all(head.as_bytes()).await.unwrap();
        let answered = answer(&mut connection).await;
        assert_eq!(answered.status, status, "{head}");
        assert_eq!(answered.header("connection"), Some("close"), "{head}");
        let (pushed, closed) = push(&mut connection, chunk.as_bytes(), TIME).await;
        assert!(
            closed && pushed < MOST_BYTES,
            "{head}: {pushed} bytes, closed: {closed}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sized_body_that_nobody_reads_has_an_end() {
    let server = server().await;
    let address = server.address();
    let mut connection = connect(address).await;
    let head = "POST /test/play HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000000000\r\n\r\n";
    connection.write_all(head.as_bytes()).await.unwrap();
    answer(&mut connection).await.is(401);
    let (pushed, closed) = push(&mut connection, &vec![b'x'; 64 * 1024], TIME).await;
    assert!(closed && pushed < MOST_BYTES, "{pushed} bytes, closed: {closed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_writes_first_still_reads_its_answer() {
    let server = server().await;
    let address = server.address();
    // Larger than the read of a head, smaller than what is discarded.
    let body = "x".repeat(150_000);
    for head in [
        format!("content-length: {}\r\n\r\n{body}", body.len()),
        format!(
            "transfer-encoding: chunked\r\n\r\n{:x}\r\n{body}\r\n0\r\n\r\n",
            body.len()
        ),
    ] {
        let mut connection = connect(address).await;
        let request = format!("POST /test/play HTTP/1.1\r\nhost: x\r\n{head}");
        connection.write_all(request.as_bytes()).await.unwrap();
        answer(&mut connection).await.is(401);
        assert!(closes(&mut connection).await);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_is_read_to_its_end_keeps_the_connection() {
    let server = server().await;
    let key = server.honoured_key(Role::Play, "player").await;
    let address = server.address();
    let mut connection = connect(address).await;
    let body = r#"{"name":"a","amount":1}"#;
    for _ in 0..3 {
        let head = format!(
            "POST /test/play HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {key}\r\ncontent-type: application/json\r\n"
        );
        let sized = format!("{head}content-length: {}\r\n\r\n{body}", body.len());
        connection.write_all(sized.as_bytes()).await.unwrap();
        answer(&mut connection).await.is(200);
        connection
            .write_all(format!("{head}transfer-encoding: chunked\r\n\r\n").as_bytes())
            .await
            .unwrap();
        for byte in body.chars() {
            connection
                .write_all(format!("1\r\n{byte}\r\n").as_bytes())
                .await
                .unwrap();
        }
        connection.write_all(b"0\r\n\r\n").await.unwrap();
        let answered = answer(&mut connection).await;
        assert_eq!(
            (answered.status, answered.header("connection")),
            (200, None),
            "{answered:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn many_requests_at_once_are_answered_in_order() {
    let server = server().await;
    let address = server.address();
    let mut connection = connect(address).await;
    // Together these are more bytes than the service reads ahead.
    let padding = "x".repeat(4_000);
    let all = (0..40)
        .map(|number| format!("GET /test/items/{number} HTTP/1.1\r\nhost: x\r\nx-padding: {padding}\r\n\r\n"))
        .collect::<Vec<_>>()
        .concat();
    connection.write_all(all.as_bytes()).await.unwrap();
    for number in 0..40 {
        let answered = answer(&mut connection).await;
        assert_eq!(answered.body, format!("{number} None"), "{answered:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chunk_that_is_malformed_gets_one_answer() {
    let server = server().await;
    let key = server.honoured_key(Role::Play, "player").await;
    let address = server.address();
    for (authorization, status) in [(format!("authorization: Bearer {key}\r\n"), 400), (String::new(), 401)] {
        let mut connection = connect(address).await;
        let head = format!(
            "POST /test/play HTTP/1.1\r\nhost: x\r\n{authorization}content-type: application/json\r\n\
             transfer-encoding: chunked\r\n\r\n2\r\n{{ \r\nnonsense\r\n"
        );
        connection.write_all(head.as_bytes()).await.unwrap();
        let answered = answer(&mut connection).await;
        assert_eq!(answered.status, status);
        assert_eq!(
            answered.header("content-type"),
            Some("application/problem+json"),
            "{answered:?}"
        );
        let mut rest = String::new();
        tokio::io::AsyncReadExt::read_to_string(&mut connection, &mut rest)
            .await
            .unwrap();
        assert_eq!(rest, "", "no second answer");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_are_counted() {
    let server = server().await;
    let address = server.address();
    let connections = [connect(address).await, connect(address).await];
    let open = async |count: usize| {
        let metrics = server.metrics.encode().unwrap();
        metrics.contains(&format!("jackpot_http_connections {count}\n"))
    };
    eventually("two connections", async || open(2).await).await;
    drop(connections);
    eventually("none", async || open(0).await).await;
}
