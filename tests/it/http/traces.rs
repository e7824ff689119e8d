//! A request's trace: on its log lines, and as spans at a collector that takes OTLP over HTTP.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use prost::Message;

use crate::fault::support::{create, lively};
use crate::support::prelude::*;

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT: &str = "00f067aa0ba902b7";
const LINES: (&str, &str) = ("JACKPOT__LOG__LEVEL", "info,jackpot_kernel::http=debug");

/// Takes spans on a port of its own, until the test ends.
struct Collector {
    url: String,
    spans: Arc<Mutex<Vec<Span>>>,
}

impl Collector {
    fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let spans = Arc::<Mutex<Vec<Span>>>::default();
        let taken = Arc::clone(&spans);
        std::thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                let taken = Arc::clone(&taken);
                std::thread::spawn(move || take(&connection, &taken));
            }
        });
        Self { url, spans }
    }

    /// The spans of a trace, once it has as many.
    async fn spans(&self, trace: &str, count: usize) -> Vec<Span> {
        eventually(PATIENCE, "the spans are there", async || {
            let all = self.spans.lock().expect("no thread failed");
            let of = all.iter().filter(|span| hex::encode(&span.trace_id) == trace);
            let of: Vec<Span> = of.cloned().collect();
            (of.len() >= count).then_some(of)
        })
        .await
    }
}

/// Answers the exporter's requests on one connection.
fn take(connection: &TcpStream, taken: &Mutex<Vec<Span>>) {
    let mut reader = BufReader::new(connection);
    loop {
        let mut length = None;
        let mut line = String::new();
        while reader.read_line(&mut line).is_ok_and(|read| read > 0) && line != "\r\n" {
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse::<usize>().ok();
            }
            line.clear();
        }
        let Some(length) = length else {
            return;
        };
        let mut body = vec![0; length];
        reader.read_exact(&mut body).expect("the whole body");
        let request = ExportTraceServiceRequest::decode(&body[..]).expect("a request of OTLP");
        let scopes = request
            .resource_spans
            .into_iter()
            .flat_map(|resource| resource.scope_spans);
        taken
            .lock()
            .expect("no thread failed")
            .extend(scopes.flat_map(|scope| scope.spans));
        let answer = b"HTTP/1.1 200 OK\r\ncontent-type: application/x-protobuf\r\ncontent-length: 0\r\n\r\n";
        let mut connection = connection;
        connection.write_all(answer).expect("the exporter reads the answer");
    }
}

async fn enter(service: &Service, id: &str, traceparent: Option<&str>) {
    let body = json!({"entry_id": id, "player_id": "p1", "stake": 100});
    let mut request = http_client()
        .post(service.url("/v1/jackpots/traced/entries"))
        .json(&body);
    if let Some(traceparent) = traceparent {
        request = request.header("traceparent", traceparent);
    }
    let answer = request
        .bearer_auth(service.operator_key())
        .send()
        .await
        .expect("an answer");
    assert_eq!(answer.status(), StatusCode::CREATED);
}

/// The line that tells that this entry's request was answered.
async fn line(service: &Service, entry: &str) -> Value {
    eventually(PATIENCE, "the request has a line", async || {
        let log = service.log();
        let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        lines
            .filter(|line| line["message"] == "request answered")
            .find(|line| line.to_string().contains(&format!("\"{entry}\"")))
    })
    .await
}

fn named<'a>(line: &'a Value, name: &str) -> &'a Value {
    let spans = line["spans"].as_array().expect("the request's span");
    spans.iter().find_map(|span| span.get(name)).unwrap_or(&Value::Null)
}

#[tokio::test]
async fn a_request_of_a_trace_is_a_span_with_its_calls_below() {
    let collector = Collector::start();
    let service = Service::start_with(&[
        LINES,
        ("JACKPOT__LOG__FORMAT", "json"),
        ("JACKPOT__TRACING__OTLP_ENDPOINT", &collector.url),
        ("JACKPOT__TRACING__SAMPLE_PPM", "0"),
    ])
    .await;
    create(&service, lively("traced")).await;
    enter(&service, "sampled", Some(&format!("00-{TRACE}-{PARENT}-01"))).await;
    let spans = collector.spans(TRACE, 2).await;
    let of = |kind: SpanKind| spans.iter().filter(move |span| span.kind == kind as i32);
    let server = of(SpanKind::Server).next().expect("the request's span");
    assert_eq!(server.name, "POST /v1/jackpots/{id}/entries");
    assert_eq!(hex::encode(&server.parent_span_id), PARENT);
    let calls: Vec<_> = of(SpanKind::Client).collect();
    assert!(calls.iter().any(|call| call.name == "enter"), "{calls:?}");
    for call in calls {
        assert_eq!(call.parent_span_id, server.span_id, "{call:?}");
        assert!(
            call.start_time_unix_nano >= server.start_time_unix_nano - 1_000_000,
            "{call:?}"
        );
        assert!(call.end_time_unix_nano <= server.end_time_unix_nano, "{call:?}");
    }
    let line = line(&service, "sampled").await;
    assert_eq!(named(&line, "trace_id"), TRACE, "{line}");
    assert_eq!(named(&line, "span_id"), hex::encode(&server.span_id).as_str(), "{line}");

    // The caller's flag decides, and so does the setting without a caller's.
    let other = TRACE.replace('4', "5");
    enter(&service, "unsampled", Some(&format!("00-{other}-{PARENT}-00"))).await;
    enter(&service, "alone", None).await;
    enter(&service, "last", Some(&format!("00-{TRACE}-{PARENT}-01"))).await;
    collector.spans(TRACE, spans.len() + 2).await;
    let all = collector.spans.lock().expect("no thread failed");
    let foreign = all.iter().find(|span| hex::encode(&span.trace_id) != TRACE);
    assert!(foreign.is_none(), "{foreign:?}");
}

#[tokio::test]
async fn without_a_collector_lines_have_the_trace_and_play_goes_on() {
    let service = Service::start_with(&[LINES, ("JACKPOT__LOG__FORMAT", "json")]).await;
    create(&service, lively("traced")).await;
    enter(&service, "named", Some(&format!("00-{TRACE}-{PARENT}-01"))).await;
    enter(&service, "wrong", Some(&format!("00-{TRACE}-{PARENT}"))).await;
    enter(&service, "none", None).await;
    assert_eq!(named(&line(&service, "named").await, "trace_id"), TRACE);
    for id in ["wrong", "none"] {
        assert!(named(&line(&service, id).await, "trace_id").is_null(), "{id}");
    }
    drop(service);

    // Nobody listens at this address.
    let nobody = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let url = format!("http://{}", nobody.local_addr().expect("an address"));
    drop(nobody);
    let mut service = Service::start_with(&[("JACKPOT__TRACING__OTLP_ENDPOINT", &url)]).await;
    create(&service, lively("traced")).await;
    enter(&service, "unheard", None).await;
    let began_at = Instant::now();
    assert!(service.stop().await.success());
    assert!(began_at.elapsed() < Duration::from_secs(15), "{:?}", began_at.elapsed());
}
