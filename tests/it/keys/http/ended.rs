//! When a key ends, everything that is open under it ends within two seconds.

use std::time::Duration;

use reqwest::Response;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};

use super::support::{Asking, coupon, key, room};
use crate::coupon::http::support::{hold, join, service_and_redis};
use crate::support::given;
use crate::support::prelude::*;

/// Longest time from the end of a key to the end of what it opened.
const SOON: Duration = Duration::from_secs(2);
/// Lifetime of a key that expires: long enough to be honoured, and to open what is to end.
const LIFE: &str = "4s";

/// How a key ends.
#[derive(Clone, Copy, Debug)]
enum End {
    Revoked,
    Expired,
    /// Another key of the same name takes its place.
    Replaced,
}

async fn open(asking: &Asking, path: &str) -> Response {
    let mut answer = asking.request(Method::GET, path).send().await.expect("an answer");
    assert_eq!(answer.status().as_u16(), 200, "{path}");
    answer.chunk().await.expect("readable").expect("a first event");
    answer
}

/// Reads to the end, which must be a proper one.
async fn ends(mut answer: Response) -> Instant {
    while answer.chunk().await.expect("it ends, and is not broken off").is_some() {}
    Instant::now()
}

/// Makes a room with a user who waits; returns the path of that ticket's stream.
async fn waiting(service: &Service) -> String {
    service.put("/v1/rooms/lobby", room()).await.is(201);
    service.post("/v1/rooms/lobby/tickets", json!({"user_id": "u1"})).await;
    let waits = service.post("/v1/rooms/lobby/tickets", json!({"user_id": "u2"})).await;
    let ticket = waits.body["ticket"].as_str().expect("a ticket");
    format!("/v1/rooms/lobby/tickets/{ticket}/stream")
}

/// Each kind of stream under a key of its own role, until it ends in this way.
async fn streams_end(end: End) {
    let (service, redis) = service_and_redis(&[]).await;
    for (id, public) in [("public", true), ("private", false)] {
        let document = given::document(id, &json!({"public_meter": public}));
        service.put(&format!("/v1/jackpots/{id}"), document).await.is(201);
    }
    service.put("/v1/coupons/queue", coupon(9)).await.is(201);
    hold(&redis, "queue").await;
    join(&service, "queue", "q1", "u1").await;
    let ticket = waiting(&service).await;
    let life = if matches!(end, End::Expired) {
        vec!["--expires", LIFE]
    } else {
        Vec::new()
    };
    let reads = [&["--role", "read"][..], &life].concat();
    let plays = [&["--role", "play"][..], &life].concat();
    let (read, play) = tokio::join!(key(&service, "reads", &reads), key(&service, "plays", &plays));
    let streams = [
        open(&read, "/v1/jackpots/public/meter/stream").await,
        open(&read, "/v1/jackpots/private/meter/stream").await,
        open(&read, "/v1/coupons/queue/issues/q1/stream").await,
        open(&play, "/v1/coupons/queue/issues/q1/stream").await,
        open(&play, &ticket).await,
    ];
    let kept = open(
        &key(&service, "kept", &["--role", "read"]).await,
        "/v1/jackpots/public/meter/stream",
    )
    .await;
    let ended = match end {
        End::Expired => expiry(&service, "plays"),
        End::Revoked | End::Replaced => {
            for name in ["reads", "plays"] {
                assert!(service.command(&["key", "revoke", name]).status.success());
                if matches!(end, End::Replaced) {
                    let role = name.trim_end_matches('s');
                    assert!(
                        service
                            .command(&["key", "new", "--role", role, "--name", name])
                            .status
                            .success()
                    );
                }
            }
            Instant::now()
        }
    };
    for (i, stream) in streams.into_iter().enumerate() {
        let at = timeout(Duration::from_secs(10), ends(stream)).await;
        let at = at.unwrap_or_else(|_| panic!("{end:?}: stream {i} goes on\n{}", service.log()));
        assert!(at.saturating_duration_since(ended) < SOON, "{end:?}: stream {i}");
    }
    for asking in [&read, &play] {
        assert_eq!(
            asking.ask(&Method::GET, "/v1/jackpots/private", None).await,
            (401, "unauthorized".to_owned())
        );
    }
    // Streams of other keys go on.
    assert!(
        timeout(Duration::from_millis(600), ends(kept)).await.is_err(),
        "{end:?}"
    );
    let said = if matches!(end, End::Expired) {
        "API key expired"
    } else {
        "API key revoked"
    };
    assert_eq!(service.log().matches(said).count(), 2, "{}", service.log());
}

/// When the last key to expire does so, according to the list.
fn expiry(service: &Service, name: &str) -> Instant {
    let listed = String::from_utf8(service.command(&["key", "list"]).stdout).expect("text");
    let row = listed.lines().find(|line| line.starts_with(name)).expect("a row");
    let at: jiff::Timestamp = row
        .split_whitespace()
        .nth(3)
        .expect("a time")
        .parse()
        .expect("RFC 3339");
    // The list has whole seconds: it may be one later.
    let left = at.duration_since(jiff::Timestamp::now()).as_millis() + 1_000;
    Instant::now() + Duration::from_millis(u64::try_from(left).unwrap_or_default())
}

#[tokio::test]
async fn streams_end_when_their_key_is_revoked() {
    streams_end(End::Revoked).await;
}

#[tokio::test]
async fn streams_end_when_their_key_expires() {
    streams_end(End::Expired).await;
}

#[tokio::test]
async fn streams_end_when_their_name_is_given_to_another_key() {
    streams_end(End::Replaced).await;
}

#[tokio::test]
async fn an_upload_is_told_that_its_key_has_ended() {
    let service = Service::start().await;
    service.put("/v1/coupons/list", coupon(9)).await.is(201);
    let uploader = key(&service, "uploads", &["--role", "operate"]).await;
    let address = service.url("").replace("http://", "");
    let mut connection = TcpStream::connect(&address).await.expect("the service accepts");
    let line = b"{\"request_id\":\"r1\",\"user_id\":\"u1\"}\n";
    let head = format!(
        "POST /v1/coupons/list/bulk-issues HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {}\r\n\
         content-type: application/x-ndjson\r\ntransfer-encoding: chunked\r\n\r\n{:x}\r\n",
        uploader.secret(),
        line.len()
    );
    connection
        .write_all(&[head.as_bytes(), line, b"\r\n"].concat())
        .await
        .expect("sent");
    let mut text = String::new();
    let mut read_until = async |what: &str| {
        let mut bytes = [0; 4096];
        while !text.contains(what) {
            let read = connection.read(&mut bytes).await.expect("readable");
            assert!(read > 0, "no {what} in {text}");
            text.push_str(std::str::from_utf8(&bytes[..read]).expect("UTF-8"));
        }
    };
    read_until("\"result\":\"issued\"").await;
    assert!(service.command(&["key", "revoke", "uploads"]).status.success());
    let ended = Instant::now();
    timeout(Duration::from_secs(10), read_until("\"result\":\"stopped\""))
        .await
        .expect("the last event");
    assert!(ended.elapsed() < SOON);
    text.says("\"line\":2");
    text.says("\"code\":\"unauthorized\"");
    assert_eq!(service.get("/v1/coupons/list").await.body["issued"], 1);
}

#[tokio::test]
async fn an_expired_key_is_refused_by_an_unchanged_file() {
    let service = Service::start().await;
    let brief = key(&service, "brief", &["--role", "read", "--expires", "3s"]).await;
    assert_eq!(brief.ask(&Method::GET, "/v1/jackpots", None).await.0, 200);
    let file = service.data_dir().join("keys.toml");
    let before = std::fs::metadata(&file).expect("a file").modified().expect("a time");
    crate::support::eventually(Duration::from_secs(6), "the key is over", async || {
        (brief.ask(&Method::GET, "/v1/jackpots", None).await.0 == 401).then_some(())
    })
    .await;
    assert_eq!(
        std::fs::metadata(&file).expect("a file").modified().expect("a time"),
        before
    );
    let listed = String::from_utf8(service.command(&["key", "list"]).stdout).expect("text");
    let row = listed.lines().find(|line| line.starts_with("brief")).expect("a row");
    assert!(row.contains("Z expired"), "{listed}");
}
