//! HTTP/2: the same answers, and the same limits.

use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use h2::client::{ResponseFuture, SendRequest};
use h2::{Reason, RecvStream};
use http::{Method, Request, StatusCode};
use rustls::pki_types::CertificateDer;
use rustls::version;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::support::{MAX_BODY, eventually};
use super::tls::{server, tls};

const DEADLINE: Duration = Duration::from_secs(20);

struct Client {
    requests: SendRequest<Bytes>,
    connection: JoinHandle<Result<(), h2::Error>>,
}

impl Client {
    async fn new(address: SocketAddr, certificate: &CertificateDer<'static>) -> Client {
        let trusted = [certificate.clone()];
        let stream = tls(address, &trusted, &[&version::TLS13], &["h2", "http/1.1"])
            .await
            .unwrap();
        assert_eq!(stream.get_ref().1.alpn_protocol(), Some(b"h2".as_slice()));
        let (requests, connection) = h2::client::Builder::new().handshake(stream).await.unwrap();
        Client {
            requests,
            connection: tokio::spawn(connection),
        }
    }

    /// Status and body of a request with these fields besides those of the request line.
    async fn get_with(&mut self, fields: &[(String, String)]) -> (StatusCode, String) {
        let request = Request::builder().uri("https://localhost/healthz");
        let request = fields
            .iter()
            .fold(request, |request, (name, value)| request.header(name, value));
        self.requests = self.requests.clone().ready().await.unwrap();
        let (answer, _) = self.requests.send_request(request.body(()).unwrap(), true).unwrap();
        let (status, _, body) = read(answer).await;
        (status, body)
    }

    async fn send(&mut self, method: Method, path: &str, body: Option<Bytes>) -> Result<ResponseFuture, h2::Error> {
        let request = Request::builder()
            .method(method)
            .uri(format!("https://localhost{path}"))
            .header("content-type", "application/json")
            .body(())
            .unwrap();
        self.requests = self.requests.clone().ready().await?;
        let (answer, mut stream) = self.requests.send_request(request, body.is_none())?;
        if let Some(body) = body {
            // An answer that is complete by now has closed the stream: the server needs no body (RFC 9113, 8.1).
            // Of any other failure the answer tells.
            let _sent = stream.send_data(body, true);
        }
        Ok(answer)
    }

    async fn get(&mut self, path: &str) -> (StatusCode, String, String) {
        let answer = self.send(Method::GET, path, None).await.unwrap();
        read(answer).await
    }
}

/// Status, request id and body.
async fn read(answer: ResponseFuture) -> (StatusCode, String, String) {
    let answer = timeout(DEADLINE, answer).await.expect("an answer in time").unwrap();
    let id = answer.headers()["x-request-id"].to_str().unwrap().to_owned();
    let status = answer.status();
    (status, id, all(answer.into_body()).await)
}

async fn all(mut body: RecvStream) -> String {
    let mut bytes = Vec::new();
    while let Some(chunk) = timeout(DEADLINE, body.data()).await.expect("in time") {
        // The whole answer is there, and the server does not want the rest of the request (RFC 9113, 8.1).
        let chunk = match chunk {
            Err(error) if error.reason() == Some(Reason::NO_ERROR) => break,
            chunk => chunk.unwrap(),
        };
        body.flow_control().release_capacity(chunk.len()).unwrap();
        bytes.extend(chunk);
    }
    String::from_utf8(bytes).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_and_problems_are_as_over_http_1_1() {
    let (server, certificate) = server().await;
    let mut client = Client::new(server.address(), &certificate).await;
    let (status, id, body) = client.get("/test/id").await;
    assert_eq!((status, &body), (StatusCode::OK, &id));
    let (status, _, body) = client.get("/nowhere").await;
    assert!(status == StatusCode::NOT_FOUND && body.contains("not-found"), "{body}");
    let good = Bytes::from_static(br#"{"name":"a","amount":1}"#);
    let answer = client.send(Method::POST, "/test/echo", Some(good)).await.unwrap();
    assert_eq!(read(answer).await.0, StatusCode::OK);
    let large = Bytes::from(vec![b' '; MAX_BODY + 1]);
    let answer = client.send(Method::POST, "/test/echo", Some(large)).await.unwrap();
    assert_eq!(read(answer).await.0, StatusCode::PAYLOAD_TOO_LARGE);
    let unread = Bytes::from(vec![b' '; 60_000]);
    for _ in 0..50 {
        let answer = client
            .send(Method::POST, "/test/play", Some(unread.clone()))
            .await
            .unwrap();
        let (status, _, body) = read(answer).await;
        assert!(status == StatusCode::UNAUTHORIZED && body.ends_with('}'), "{body}");
    }
    assert_eq!(client.get("/healthz").await.0, StatusCode::OK, "the connection goes on");
}

#[tokio::test(flavor = "multi_thread")]
async fn streams_run_beside_requests_and_a_stop_ends_both_in_order() {
    let (mut server, certificate) = server().await;
    let mut client = Client::new(server.address(), &certificate).await;
    let ticks = client.send(Method::GET, "/test/ticks", None).await.unwrap();
    let mut ticks = ticks.await.unwrap().into_body();
    assert!(ticks.data().await.unwrap().unwrap().starts_with(b"tick"));
    assert_eq!(client.get("/healthz").await.0, StatusCode::OK);
    let slow = client.send(Method::GET, "/test/slow", None).await.unwrap();
    server.slow.reached.notified().await;
    let stop = tokio::spawn(server.running.take().unwrap().stop());
    let rest = all(ticks).await;
    assert!(
        rest.is_empty() || rest.ends_with("tick\n"),
        "the stream ends well: {rest}"
    );
    assert!(!stop.is_finished());
    server.slow.release.notify_one();
    assert_eq!(read(slow).await.2, "at last");
    timeout(Duration::from_secs(6), stop)
        .await
        .expect("the stop ends soon after")
        .unwrap()
        .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_in_flight_on_one_connection_are_bounded() {
    let (server, certificate) = server().await;
    let mut client = Client::new(server.address(), &certificate).await;
    let mut streams = Vec::new();
    for _ in 0..120 {
        let answer = client.send(Method::GET, "/test/ticks", None).await.unwrap();
        streams.push(timeout(DEADLINE, answer).await.unwrap().unwrap());
    }
    let refused = streams
        .iter()
        .filter(|answer| answer.status() == StatusCode::SERVICE_UNAVAILABLE)
        .count();
    // A refused stream ends at once and frees its place.
    assert_eq!(refused, 20, "100 are served");
    drop(streams);
    eventually("the places are free again", async || {
        let mut client = Client::new(server.address(), &certificate).await;
        client.get("/healthz").await.0 == StatusCode::OK
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_that_are_reset_at_once_end_the_connection_or_cost_little() {
    let (server, certificate) = server().await;
    let mut hostile = Client::new(server.address(), &certificate).await;
    for _ in 0..20_000 {
        let Ok(request) = Request::builder().uri("https://localhost/test/ticks").body(()) else {
            unreachable!("it is a request");
        };
        let Ok(ready) = hostile.requests.clone().ready().await else {
            break;
        };
        hostile.requests = ready;
        let Ok((_, mut stream)) = hostile.requests.send_request(request, true) else {
            break;
        };
        stream.send_reset(Reason::CANCEL);
    }
    let mut client = Client::new(server.address(), &certificate).await;
    assert_eq!(client.get("/healthz").await.0, StatusCode::OK);
    drop(hostile.requests);
    hostile.connection.abort();
    eventually("nothing is in flight", async || {
        server.metrics.encode().unwrap().contains("jackpot_http_in_flight 0\n")
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_no_request_asks_for_is_read_slowly() {
    let (server, certificate) = server().await;
    let trusted = [certificate.clone()];
    let mut stream = tls(server.address(), &trusted, &[&version::TLS13], &["h2"])
        .await
        .unwrap();
    // A preface, empty settings, and then pings without end.
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
    stream.write_all(preface).await.unwrap();
    let ping = b"\0\0\x08\x06\x01\0\0\0\0frame---".repeat(1_000);
    let until = tokio::time::Instant::now() + Duration::from_secs(3);
    let mut pushed = 0;
    while let Ok(Ok(written)) = tokio::time::timeout_at(until, stream.write(&ping)).await {
        pushed += written;
        assert!(pushed < 32 * 1024 * 1024, "what nobody asked for is read");
    }
}

fn field(name: &str, length: usize) -> (String, String) {
    (name.to_owned(), "v".repeat(length))
}

#[tokio::test(flavor = "multi_thread")]
async fn heads_have_the_same_limits_as_over_http_1_1() {
    let (server, certificate) = server().await;
    let fields = |count: usize| (0..count).map(|n| field(&format!("x-{n}"), 1)).collect::<Vec<_>>();
    for (fields, fits) in [
        (vec![field("x-large", 31 * 1024)], true),
        (vec![field("x-large", 32 * 1024)], false),
        (vec![field("x-a", 20 * 1024), field("x-b", 20 * 1024)], false),
        (vec![field("x-large", 90 * 1024)], false),
        (fields(96), true),
        (fields(97), false),
    ] {
        let mut client = Client::new(server.address(), &certificate).await;
        let case = format!("{} fields, {} bytes", fields.len(), fields[0].1.len());
        let (status, body) = client.get_with(&fields).await;
        if fits {
            assert_eq!(status, StatusCode::OK, "{case}");
            assert_eq!(
                client.get("/healthz").await.0,
                StatusCode::OK,
                "the connection goes on: {case}"
            );
        } else {
            assert_eq!(status, StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, "{case}");
            assert!(
                body.contains("headers-too-large") && body.ends_with('}'),
                "{case}: {body}"
            );
            drop(client.requests);
            let ended = timeout(DEADLINE, client.connection).await;
            ended.expect("the connection ends").unwrap().unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_client_compresses_is_counted_as_it_was() {
    let (server, certificate) = server().await;
    let mut client = Client::new(server.address(), &certificate).await;
    for nth in 0..300_usize {
        let fields: Vec<_> = (0..nth % 9)
            .map(|n| {
                (
                    format!("x-{}", (nth + n) % 13),
                    format!("{:0>1$}", nth / 7, nth * 7 % 900),
                )
            })
            .collect();
        assert_eq!(client.get_with(&fields).await.0, StatusCode::OK, "{nth}: {fields:?}");
    }
}

/// Frames of heads that refer again and again to one field of 4 kB.
async fn bomb(address: SocketAddr, certificate: CertificateDer<'static>) -> Vec<u8> {
    let mut stream = tls(address, &[certificate], &[&version::TLS13], &["h2"]).await.unwrap();
    let (mut reading, mut writing) = tokio::io::split(&mut stream);
    let frame = |stream: u32, payload: &[u8]| {
        let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
        [&length[1..], &[1, 5], &stream.to_be_bytes(), payload].concat()
    };
    let write = async {
        let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
        writing.write_all(preface).await?;
        let line = [0x82, 0x87, 0x84, 0x01, 1, b'x'];
        let kept = [&line[..], &[0x40, 1, b'a', 0x7f, 0xe0, 0x1e], &[b'b'; 4_063]].concat();
        writing.write_all(&frame(1, &kept)).await?;
        for stream in (3..400).step_by(2) {
            writing
                .write_all(&frame(stream, &[&line[..], &[0xbe; 4_000]].concat()))
                .await?;
        }
        std::io::Result::Ok(())
    };
    let mut answer = Vec::new();
    // A connection that is cut gives errors; what counts is the answer.
    let both = futures_util::future::join(write, reading.read_to_end(&mut answer));
    let _cut = timeout(DEADLINE, both).await.expect("the connection ends");
    answer
}

/// The most memory that this process has had, in KiB.
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn heads_that_grow_when_they_are_decoded_take_no_memory_and_hold_up_nobody() {
    let (server, certificate) = server().await;
    let mut client = Client::new(server.address(), &certificate).await;
    assert_eq!(client.get("/healthz").await.0, StatusCode::OK);
    let before = peak_kib();
    let crowd: Vec<_> = (0..12)
        .map(|_| tokio::spawn(bomb(server.address(), certificate.clone())))
        .collect();
    let mut slowest = Duration::ZERO;
    for _ in 0..50 {
        let begun = tokio::time::Instant::now();
        assert_eq!(client.get("/healthz").await.0, StatusCode::OK);
        slowest = slowest.max(begun.elapsed());
    }
    for hostile in crowd {
        let answer = hostile.await.unwrap();
        let refused = answer.windows(17).any(|part| part == b"headers-too-large");
        assert!(refused, "{:?}", String::from_utf8_lossy(&answer));
    }
    let grown = (peak_kib() - before) / 1024;
    assert!(
        grown < 64 && slowest < Duration::from_secs(2),
        "{grown} MiB, {slowest:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_that_come_at_once_are_bounded_before_they_are_made() {
    let (server, certificate) = server().await;
    let trusted = [certificate];
    let mut stream = tls(server.address(), &trusted, &[&version::TLS13], &["h2"])
        .await
        .unwrap();
    let mut all = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0".to_vec();
    for nth in 0..201_u32 {
        all.extend([0, 0, 6, 1, 5]);
        all.extend((2 * nth + 1).to_be_bytes());
        all.extend([0x82, 0x87, 0x84, 0x01, 1, b'x']);
    }
    stream.write_all(&all).await.unwrap();
    let mut answers = Vec::new();
    let ended = timeout(DEADLINE, stream.read_to_end(&mut answers)).await;
    assert!(ended.is_ok(), "the connection ends");
}
