//! Bulk issues whose clients stall: the service ends them, and they delay no other key.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::{interval, timeout};

use super::support::{create, send};
use crate::support::given;
use crate::support::prelude::*;

const NDJSON: (&str, &str) = ("content-type", "application/x-ndjson");
/// Number of uploads of one key that the service works on at a time.
const OF_KEY: usize = 4;
/// Largest body of a batch.
const BATCH_BYTES: usize = 2_560_000;

/// A connection whose client side buffers little that is not read.
async fn connect(service: &Service) -> TcpStream {
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.set_recv_buffer_size(64 * 1024).expect("a small buffer");
    let address = service.url("").replace("http://", "");
    let address = address.parse().expect("an address");
    socket.connect(address).await.expect("the service accepts")
}

/// Opens a connection and sends the head of an upload whose body comes in pieces.
async fn begin(service: &Service, id: &str, key: &str) -> TcpStream {
    let mut connection = connect(service).await;
    let head = format!(
        "POST /v1/coupons/{id}/bulk-issues HTTP/1.1\r\nhost: jackpot\r\nauthorization: Bearer {key}\r\n\
         content-type: application/x-ndjson\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n"
    );
    connection.write_all(head.as_bytes()).await.expect("sent");
    connection
}

async fn piece(connection: &mut TcpStream, text: &str) -> std::io::Result<()> {
    let piece = format!("{:x}\r\n{text}\r\n", text.len());
    connection.write_all(piece.as_bytes()).await
}

fn wish(n: usize) -> String {
    format!(
        "{}\n",
        json!({"request_id": format!("r{n}"), "user_id": format!("u{n}")})
    )
}

/// Reads until the received text contains `part`.
async fn read_until(connection: &mut TcpStream, part: &str) -> String {
    let (mut text, mut bytes) = (String::new(), [0; 4_096]);
    let reading = async {
        while !text.contains(part) {
            let read = connection.read(&mut bytes).await.expect("readable");
            assert!(read > 0, "it ended without {part}: {text}");
            text.push_str(&String::from_utf8_lossy(&bytes[..read]));
        }
    };
    timeout(PATIENCE, reading)
        .await
        .unwrap_or_else(|_| panic!("{part} comes"));
    text
}

/// Reads an answer to its end; returns its last line.
async fn last_line(connection: &mut TcpStream) -> Value {
    let mut answer = Vec::new();
    let read = timeout(PATIENCE, connection.read_to_end(&mut answer)).await;
    read.expect("it ends").expect("readable");
    let answer = String::from_utf8(answer).expect("UTF-8");
    let ended = answer.trim_end().strip_suffix("\r\n0").expect("the answer is whole");
    let last = ended.trim_end().rsplit('\n').next().expect("a line");
    serde_json::from_str(last).unwrap_or_else(|error| panic!("{error}: {last}"))
}

/// Makes a key of this name that may operate.
async fn another_key(service: &Service, name: &str) -> String {
    let made = service.command(&["key", "new", "--role", "operate", "--name", name]);
    made.done();
    let key = String::from_utf8(made.stdout).expect("text").trim().to_owned();
    eventually(PATIENCE, "the key is honoured", async || {
        let answer = http_client().get(service.url("/v1/coupons")).bearer_auth(&key);
        (answer.send().await.expect("an answer").status() == 200).then_some(())
    })
    .await;
    key
}

/// Uploads a short list with this key; returns the status and the answer.
async fn upload(
    service: &Service,
    id: &str,
    key: &str,
    list: &str,
) -> (StatusCode, reqwest::header::HeaderMap, String) {
    let request = http_client().post(service.url(&format!("/v1/coupons/{id}/bulk-issues")));
    let request = request
        .bearer_auth(key)
        .header(NDJSON.0, NDJSON.1)
        .body(list.to_owned());
    let answer = request.send().await.expect("an answer");
    let (status, headers) = (answer.status(), answer.headers().clone());
    (status, headers, answer.text().await.expect("a body"))
}

#[tokio::test]
async fn stalled_uploads_of_one_key_leave_those_of_another_at_work() {
    let service = Service::start().await;
    create(&service, "stalled", 100, &json!({})).await;
    let (one, other) = (service.operator_key().to_owned(), another_key(&service, "other").await);
    let mut stalled = Vec::new();
    for n in 0..OF_KEY {
        let mut connection = begin(&service, "stalled", &one).await;
        piece(&mut connection, &wish(n)).await.expect("sent");
        read_until(&mut connection, "\"result\":\"issued\"").await;
        stalled.push(connection);
    }
    let (status, _, text) = upload(&service, "stalled", &other, &wish(50)).await;
    assert_eq!(status, StatusCode::OK, "{text}");
    text.says("\"result\":\"issued\"");
    let (status, headers, text) = upload(&service, "stalled", &one, &wish(51)).await;
    let problem: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(
        (status.as_u16(), &problem["code"]),
        (429, &json!("rate-limited")),
        "{text}"
    );
    assert_eq!(headers["retry-after"], "15");
    assert!(
        problem["detail"]
            .as_str()
            .is_some_and(|detail| detail.contains("this key has 4")),
        "{text}"
    );
    // A client that leaves frees its place, before the service gives up the others.
    stalled.pop();
    let again = eventually(PATIENCE, "there is a place", async || {
        let (status, _, text) = upload(&service, "stalled", &one, &wish(51)).await;
        (status == StatusCode::OK).then_some(text)
    })
    .await;
    again.says("\"result\":\"issued\"");
    for connection in &stalled {
        let ended = connection.try_read(&mut [0; 64]);
        assert_eq!(ended.expect_err("still at work").kind(), std::io::ErrorKind::WouldBlock);
    }
    // The last line of each answer states that it stopped.
    let stopped = last_line(&mut stalled[0]).await;
    assert_has!(stopped, {"result": "stopped", "code": "request-timeout"});
    assert_eq!(stopped["line"], 2);
}

#[tokio::test]
async fn heavy_a_list_that_drips_is_ended() {
    let service = Service::start().await;
    create(&service, "drips", 100, &json!({})).await;
    let connection = begin(&service, "drips", service.operator_key()).await;
    let (mut reader, mut writer) = connection.into_split();
    let dripping = async {
        writer.write_all(b"1\r\n \r\n").await.expect("sent");
        let mut ticks = interval(Duration::from_millis(500));
        loop {
            ticks.tick().await;
            // The service closes the connection after its answer.
            if writer.write_all(b"1\r\nx\r\n").await.is_err() {
                return;
            }
        }
    };
    let mut answer = String::new();
    let reading = reader.read_to_string(&mut answer);
    let read = tokio::select! {
        read = timeout(PATIENCE, reading) => read.expect("the upload is ended"),
        () = dripping => panic!("closed without an answer"),
    };
    read.expect("readable");
    answer.says("\"result\":\"stopped\"");
    answer.says("slower than");
}

#[tokio::test]
async fn heavy_a_client_that_never_reads_is_ended_and_told_so() {
    let service = Service::start().await;
    create(&service, "unread", 100, &json!({})).await;
    let key = service.operator_key();
    let list = "x\n".repeat(120_000);
    let mut unread = Vec::new();
    for _ in 0..OF_KEY {
        let mut connection = begin(&service, "unread", key).await;
        piece(&mut connection, "x\n").await.expect("sent");
        // It has its place before a request on another connection can take it. It reads nothing after this.
        let head = read_until(&mut connection, "\r\n").await;
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        let (reader, mut writer) = connection.into_split();
        let list = list.clone();
        let sending = tokio::spawn(async move {
            let size = format!("{:x}\r\n", list.len());
            for part in [size.as_str(), &list, "\r\n0\r\n\r\n"] {
                if writer.write_all(part.as_bytes()).await.is_err() {
                    break;
                }
            }
            writer
        });
        unread.push((reader, sending));
    }
    eventually(PATIENCE, "the key has no place left", async || {
        let (status, ..) = upload(&service, "unread", key, "x\n").await;
        (status == StatusCode::TOO_MANY_REQUESTS).then_some(())
    })
    .await;
    // Each upload that is given up frees its place for a newcomer.
    let mut newcomers = Vec::new();
    for n in 0..OF_KEY {
        let newcomer = eventually(PATIENCE, "those that read nothing are given up", async || {
            let mut newcomer = begin(&service, "unread", key).await;
            piece(&mut newcomer, &wish(n)).await.ok()?;
            let head = read_until(&mut newcomer, "\r\n").await;
            head.starts_with("HTTP/1.1 200").then_some(newcomer)
        })
        .await;
        newcomers.push(newcomer);
    }
    let (mut reader, _sending) = unread.pop().expect("an upload");
    let mut answer = Vec::new();
    let read = timeout(PATIENCE, reader.read_to_end(&mut answer)).await;
    // The service does not read the rest of the list, so the connection may end with a reset.
    let _ended = read.expect("it ends");
    let answer = String::from_utf8(answer).expect("UTF-8");
    let end = &answer[answer.len().saturating_sub(300)..];
    let stopped = answer.lines().find(|line| line.contains("\"stopped\""));
    let stopped = stopped.unwrap_or_else(|| panic!("it says that it stopped: {end}"));
    stopped.says("was not read for 15 s");
    let number = |line: &str| serde_json::from_str::<Value>(line).ok()?["line"].as_u64();
    let before = answer
        .lines()
        .filter(|line| line.contains("\"refused\""))
        .filter_map(number)
        .max();
    assert!(
        number(stopped) > before,
        "nothing behind it was answered: {before:?}, {stopped}"
    );
}

#[tokio::test]
async fn batches_that_are_announced_and_not_sent_hold_up_no_other_key() {
    let service = Service::start().await;
    let jackpot = given::document("batches", &json!({}));
    service.put("/v1/jackpots/batches", jackpot).await.is(201);
    let (one, other) = (service.operator_key().to_owned(), another_key(&service, "other").await);
    let mut stalled = Vec::new();
    for _ in 0..110 {
        let mut connection = connect(&service).await;
        let head = format!(
            "POST /v1/jackpots/batches/entry-batches HTTP/1.1\r\nhost: jackpot\r\nauthorization: Bearer {one}\r\n\
             content-type: application/json\r\ncontent-length: {BATCH_BYTES}\r\n\r\n"
        );
        connection.write_all(head.as_bytes()).await.expect("sent");
        stalled.push(connection);
    }
    // The service reads these heads before the next call.
    assert_eq!(send(&service, Method::GET, "/healthz", &[], "").await.0, StatusCode::OK);
    let batch = json!({"batch_id": "b1", "entries": [{"player_id": "p", "stake": 1}]});
    let padded = format!("{batch}{}", " ".repeat(BATCH_BYTES - batch.to_string().len()));
    let request = http_client()
        .post(service.url("/v1/jackpots/batches/entry-batches"))
        .bearer_auth(&other);
    let request = request.header("content-type", "application/json").body(padded);
    let answer = request.send().await.expect("an answer");
    assert_eq!(answer.status(), StatusCode::CREATED);
    for connection in &stalled {
        let answered = connection.try_read(&mut [0; 64]);
        assert_eq!(
            answered.expect_err("they are still waited for").kind(),
            std::io::ErrorKind::WouldBlock
        );
    }
}
