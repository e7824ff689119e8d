//! Heads that are refused before the routing: an answer that the framework would send bare is a problem like the
//! others.

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::raw::{RawAnswer, answer, closes, connect};
use super::support::server;
use crate::support::prelude::*;

fn check(answered: &RawAnswer, status: u16, code: &str, case: &str) {
    assert_eq!(answered.status, status, "{case}: {answered:?}");
    assert_eq!(
        answered.header("content-type"),
        Some("application/problem+json"),
        "{case}: {answered:?}"
    );
    assert_eq!(answered.header("connection"), Some("close"), "{case}: {answered:?}");
    assert!(
        answered.header("x-request-id").is_some_and(|id| id.len() >= 10),
        "{case}: {answered:?}"
    );
    let body: Value = serde_json::from_str(&answered.body).expect(case);
    assert_has!(body, {"code": code, "status": status}, "{case}");
    assert!(body["detail"].as_str().is_some_and(|detail| !detail.is_empty()));
}

#[tokio::test(flavor = "multi_thread")]
async fn malformed_heads_are_problems() {
    let server = server().await;
    let address = server.address();
    for head in [
        "nonsense\r\n\r\n",
        "GET / HTTP/1.1\r\n\r\n",
        "GET / HTTP/2.0\r\nhost: x\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "GET /\0 HTTP/1.1\r\nhost: x\r\n\r\n",
        "GET / HTTP/1.1\r\nhost: x\r\nbad header: y\r\n\r\n",
        "GET / HTTP/1.1\r\nhost: x\r\nhost: y\r\n\r\n",
        "GET / HTTP/1.1\r\nhost: x\r\na: \x01\r\n\r\n",
        "POST / HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n",
        "POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n",
        "POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n",
        "POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: gzip\r\n\r\n",
        "POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: identity\r\n\r\n",
        "POST / HTTP/1.0\r\nhost: x\r\n\r\n",
        "\x16\x03\x01\x02\0\x01\0",
    ] {
        let mut connection = connect(address).await;
        connection.write_all(head.as_bytes()).await.unwrap();
        check(&answer(&mut connection).await, 400, "malformed-request", head);
        assert!(closes(&mut connection).await);
    }
    let metrics = server.metrics.encode().unwrap();
    let counted = r#"jackpot_http_requests_total{route="unmatched",method="other",status="400"} 15"#;
    metrics.says(counted);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_head_behind_others_is_answered_last() {
    let server = server().await;
    let address = server.address();
    let mut connection = connect(address).await;
    let heads =
        "GET /test/items/a HTTP/1.1\r\nhost: x\r\n\r\nHEAD /healthz HTTP/1.1\r\nhost: x\r\n\r\nnonsense\r\n\r\n";
    connection.write_all(heads.as_bytes()).await.unwrap();
    assert_eq!(answer(&mut connection).await.body, "a None");
    let mut head = [0; 15];
    tokio::io::AsyncReadExt::read_exact(&mut connection, &mut head)
        .await
        .unwrap();
    assert_eq!(&head, b"HTTP/1.1 200 OK");
    let mut rest = String::new();
    tokio::io::AsyncReadExt::read_to_string(&mut connection, &mut rest)
        .await
        .unwrap();
    let (_, last) = rest.split_once("\r\n\r\n").unwrap();
    assert!(
        last.starts_with("HTTP/1.1 400 Bad Request\r\n") && last.contains("malformed-request"),
        "{rest}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_head_that_is_too_large_is_a_problem() {
    let server = server().await;
    let address = server.address();
    for length in [40_000, 200_000, 1_000_000] {
        let mut connection = connect(address).await;
        let head = format!("GET / HTTP/1.1\r\nhost: x\r\na: {}\r\n\r\n", "x".repeat(length));
        // A client that is refused may be unable to send the rest.
        let _ = connection.write_all(head.as_bytes()).await;
        if length < 250_000 {
            check(
                &answer(&mut connection).await,
                431,
                "headers-too-large",
                &length.to_string(),
            );
        }
        assert!(closes(&mut connection).await);
    }
    let mut connection = connect(address).await;
    let many = (0..97)
        .map(|number| format!("h{number}: x\r\n"))
        .collect::<Vec<_>>()
        .concat();
    connection
        .write_all(format!("GET / HTTP/1.1\r\nhost: x\r\n{many}\r\n").as_bytes())
        .await
        .unwrap();
    check(&answer(&mut connection).await, 431, "headers-too-large", "many headers");
    let mut connection = connect(address).await;
    let fits = format!("GET /healthz HTTP/1.1\r\nhost: x\r\na: {}\r\n\r\n", "x".repeat(30_000));
    connection.write_all(fits.as_bytes()).await.unwrap();
    answer(&mut connection).await.is(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_head_that_does_not_end_is_a_problem_on_the_first_request_and_the_second() {
    let server = server().await;
    let address = server.address();
    let part = "GET /healthz HTTP/1.1\r\nhost: x\r\na: ";
    let mut first = connect(address).await;
    first.write_all(part.as_bytes()).await.unwrap();
    let mut second = connect(address).await;
    let whole = "GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n";
    second.write_all(whole.as_bytes()).await.unwrap();
    answer(&mut second).await.is(200);
    second.write_all(part.as_bytes()).await.unwrap();
    let (first_answer, second_answer) = tokio::join!(answer(&mut first), answer(&mut second));
    check(&first_answer, 408, "request-timeout", "first");
    check(&second_answer, 408, "request-timeout", "second");
    assert!(closes(&mut first).await && closes(&mut second).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn unusual_heads_that_are_right_are_answered() {
    let server = server().await;
    let address = server.address();
    for (head, status) in [
        ("GET /healthz HTTP/1.0\r\n\r\n", 200),
        (
            "GET http://example.com/healthz HTTP/1.1\r\nhost: example.com\r\n\r\n",
            200,
        ),
        ("GET /healthz HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\nxx", 200),
        ("OPTIONS * HTTP/1.1\r\nhost: x\r\n\r\n", 404),
        ("CONNECT example.com:443 HTTP/1.1\r\nhost: x\r\n\r\n", 404),
        (
            "GET /healthz HTTP/1.1\r\nhost: x\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n",
            200,
        ),
    ] {
        let mut connection = connect(address).await;
        connection.write_all(head.as_bytes()).await.unwrap();
        let answered = answer(&mut connection).await;
        assert_eq!(answered.status, status, "{head}: {answered:?}");
        assert!(answered.header("x-request-id").is_some(), "{head}: {answered:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_old_client_gets_a_stream_without_chunks_that_ends_with_its_connection() {
    let mut server = server().await;
    let mut connection = connect(server.address()).await;
    let request = b"GET /test/ticks HTTP/1.0\r\nconnection: keep-alive\r\n\r\n";
    connection.write_all(request).await.unwrap();
    let answered = answer(&mut connection).await;
    assert_eq!(
        (answered.status, answered.header("transfer-encoding")),
        (200, None),
        "{answered:?}"
    );
    assert_eq!(
        answered.header("connection").unwrap_or("close"),
        "close",
        "{answered:?}"
    );
    server.running.take().unwrap().stop().await.unwrap();
    let mut rest = String::new();
    connection.read_to_string(&mut rest).await.unwrap();
    assert!(!rest.is_empty() && rest.lines().all(|line| line == "tick"), "{rest}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_expectation_is_answered_after_it() {
    let server = server().await;
    let address = server.address();
    let mut connection = connect(address).await;
    let head = "POST /test/play HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: 1000000\r\n\r\n";
    connection.write_all(head.as_bytes()).await.unwrap();
    // The interim answer is allowed (RFC 9110, 10.1.1), and the client need not send the body any more.
    answer(&mut connection).await.is(100);
    let answered = answer(&mut connection).await;
    assert_eq!(
        (answered.status, answered.header("connection")),
        (401, Some("close")),
        "{answered:?}"
    );
    assert!(closes(&mut connection).await);
}
