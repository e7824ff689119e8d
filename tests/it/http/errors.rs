//! Every error is a problem, says what is wrong, and has a request id.

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::support::{MAX_BODY, field, problem, server};
use crate::support::prelude::*;

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_there_is_a_problem() {
    let server = server().await;
    problem(server.get("/nowhere").send().await.unwrap(), 404, "not-found").await;
    problem(server.get("/docs/no-such-file").send().await.unwrap(), 404, "not-found").await;
    problem(
        server.get("/problems/no-such-code").send().await.unwrap(),
        404,
        "not-found",
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_method_says_which_are_right() {
    let server = server().await;
    for (method, path, allow) in [
        (Method::GET, "/test/echo", "POST"),
        (Method::DELETE, "/test/items/a", "GET, HEAD"),
        (Method::POST, "/healthz", "GET, HEAD"),
        (Method::PATCH, "/metrics", "GET, HEAD"),
    ] {
        let answer = server.request(method, path).send().await.unwrap();
        assert_eq!(answer.headers()["allow"], allow, "{path}");
        problem(answer, 405, "method-not-allowed").await;
    }
    let head = server.request(Method::HEAD, "/healthz").send().await.unwrap();
    assert_eq!(head.status(), 200);
    assert!(head.bytes().await.unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn bodies_are_bounded() {
    let server = server().await;
    let with = |length: usize| {
        let frame = r#"{"name":"","amount":1}"#.len();
        format!(r#"{{"name":"{}","amount":1}}"#, "x".repeat(length - frame))
    };
    assert_eq!(server.echo(with(MAX_BODY)).await.status(), 200);
    problem(server.echo(with(MAX_BODY + 1)).await, 413, "too-large").await;
    problem(server.echo(with(5_000_000)).await, 413, "too-large").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_without_a_declared_length_is_bounded_too() {
    let server = server().await;
    let address = server.running.as_ref().unwrap().address();
    let mut connection = tokio::net::TcpStream::connect(address).await.unwrap();
    let head =
        "POST /test/echo HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n";
    connection.write_all(head.as_bytes()).await.unwrap();
    for _ in 0..3 {
        connection
            .write_all(format!("200\r\n{}\r\n", " ".repeat(512)).as_bytes())
            .await
            .unwrap();
    }
    let mut answer = [0; 12];
    connection.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"HTTP/1.1 413");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_must_be_json_and_say_so() {
    let server = server().await;
    for body in ["", "{not json", "{\"name\":\"a\",\"amount\":1}}"] {
        problem(server.echo(body).await, 400, "invalid-json").await;
    }
    let good = r#"{"name":"a","amount":1}"#;
    let post = |media: &str| {
        server
            .request(Method::POST, "/test/echo")
            .header("content-type", media)
            .body(good)
    };
    assert_eq!(
        post("application/json; charset=UTF-8").send().await.unwrap().status(),
        200
    );
    for media in ["text/plain", "application/json; charset=latin1", "nonsense"] {
        problem(post(media).send().await.unwrap(), 415, "unsupported-media-type").await;
    }
    for coding in ["gzip", "identity, br", "x"] {
        let coded = post("application/json").header("content-encoding", coding).send();
        let body = problem(coded.await.unwrap(), 415, "unsupported-media-type").await;
        body["detail"].says("Content-Encoding");
    }
    let plain = post("application/json").header("content-encoding", "Identity").send();
    assert_eq!(plain.await.unwrap().status(), 200);
    let undeclared = server
        .request(Method::POST, "/test/echo")
        .body(good)
        .send()
        .await
        .unwrap();
    problem(undeclared, 415, "unsupported-media-type").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_of_the_wrong_shape_names_the_field() {
    let server = server().await;
    for (body, at) in [
        (r#"{"name":"a"}"#, "amount"),
        (r#"{"name":"a","amount":50.5}"#, "amount"),
        (r#"{"name":"a","amount":1.5}"#, "amount"),
        (r#"{"name":"a","amount":true}"#, "amount"),
        (r#"{"name":"a","amount":"1"}"#, "amount"),
        (r#"{"name":"a","amount":18446744073709551616}"#, "amount"),
        (r#"{"name":1,"amount":1}"#, "name"),
        (r#"{"name":"a","amount":1,"more":1}"#, "more"),
        (r#"{"name":"a","name":"b","amount":1}"#, "name"),
        ("[]", ""),
    ] {
        let body = problem(server.echo(body).await, 422, "invalid-request").await;
        assert_eq!(field(&body), at, "{body}");
        assert!(body["errors"][0]["message"].is_string());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn paths_and_queries_are_checked_alike() {
    let server = server().await;
    assert_eq!(
        server
            .get("/test/items/abc?limit=3")
            .send()
            .await
            .unwrap()
            .text()
            .await
            .unwrap(),
        "abc Some(3)"
    );
    for (path, at) in [
        ("/test/items/too-long", "id"),
        ("/test/items/abc?limit=x", "limit"),
        ("/test/items/abc?limits=1", "limits"),
        ("/test/items/abc?limit=1&limit=2", "limit"),
    ] {
        let body = problem(server.get(path).send().await.unwrap(), 422, "invalid-request").await;
        assert_eq!(field(&body), at, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_panic_is_a_problem_and_the_worker_lives_on() {
    let server = server().await;
    // One worker thread: if it died, nothing would answer any more.
    for _ in 0..3 {
        let answer = server
            .get("/test/panic")
            .header("x-request-id", "mine-1")
            .send()
            .await
            .unwrap();
        assert_eq!(answer.headers()["x-request-id"], "mine-1");
        let body = problem(answer, 500, "internal").await;
        body.to_string().hides("gave up");
    }
    assert_eq!(server.get("/healthz").send().await.unwrap().status(), 200);
    let metrics = server.metrics.encode().unwrap();
    metrics.says(r#"jackpot_http_requests_total{route="/test/panic",method="GET",status="500"} 3"#);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_answer_has_a_request_id() {
    let server = server().await;
    let id = async |sent: &str| {
        let answer = server
            .get("/test/id")
            .header("x-request-id", sent)
            .send()
            .await
            .unwrap();
        let header = answer.headers()["x-request-id"].to_str().unwrap().to_owned();
        assert_eq!(answer.text().await.unwrap(), header, "the handler sees the same id");
        header
    };
    assert_eq!(id("a.B_9-").await, "a.B_9-");
    let long = "x".repeat(65);
    let made = [id("with space").await, id(&long).await, id("").await];
    for (i, one) in made.iter().enumerate() {
        assert!((10..=64).contains(&one.len()) && !made[..i].contains(one), "{made:?}");
    }
}
