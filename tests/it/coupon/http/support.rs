//! What these tests share: requests with headers, and a queue that nobody serves for a while.

use std::fmt::Write;

use reqwest::header::HeaderMap;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::support::local::LocalServer;
use crate::support::prelude::*;

/// A service, and its Redis for the test to look into.
pub async fn service_and_redis(environment: &[(&str, &str)]) -> (Service, LocalServer) {
    let redis = own_redis(&[]).await;
    (service_on(redis.url(), environment).await, redis)
}

/// A definition with this stock, changed by `change`.
pub fn definition(stock: u64, change: &Value) -> Value {
    let mut definition = json!({"name": "A test", "stock": stock, "per_user": 1, "per_user_window_s": null,
        "starts_at": null, "ends_at": null});
    for (field, value) in change.as_object().expect("an object") {
        definition[field] = value.clone();
    }
    definition
}

/// Creates a coupon.
pub async fn create(service: &Service, id: &str, stock: u64, change: &Value) {
    service
        .put(&format!("/v1/coupons/{id}"), definition(stock, change))
        .await
        .is(201);
}

/// Asks for a unit.
pub async fn ask(service: &Service, id: &str, request: &str, user: &str) -> Answer {
    let body = json!({"request_id": request, "user_id": user});
    service.post(&format!("/v1/coupons/{id}/issues"), body).await
}

/// Looks a request up.
pub async fn look(service: &Service, id: &str, request: &str) -> Answer {
    service.get(&format!("/v1/coupons/{id}/issues/{request}")).await
}

/// Voids an issue.
pub async fn void(service: &Service, id: &str, request: &str) -> Answer {
    let path = format!("/v1/coupons/{id}/issues/{request}");
    service.call(Method::DELETE, &path, None).await
}

/// A request with these headers, and a body as it is.
pub async fn send(
    service: &Service,
    method: Method,
    path: &str,
    headers: &[(&str, &str)],
    body: impl Into<reqwest::Body>,
) -> (StatusCode, HeaderMap, String) {
    let request = http_client()
        .request(method, service.url(path))
        .bearer_auth(service.operator_key());
    let request = headers
        .iter()
        .fold(request, |request, (name, value)| request.header(*name, *value));
    let answer = request.body(body).send().await.expect("an answer");
    let (status, headers) = (answer.status(), answer.headers().clone());
    (status, headers, answer.text().await.expect("a body"))
}

/// Sends a `POST` whose body comes in pieces, without a length beforehand, and reads the answer meanwhile. Returns the
/// answer's body.
pub async fn send_in_pieces(
    service: &Service,
    path: &str,
    headers: &[(&str, &str)],
    pieces: impl Iterator<Item = &[u8]>,
) -> String {
    let address = service.url("").replace("http://", "");
    let connection = TcpStream::connect(&address).await.expect("the service accepts");
    let (mut reader, mut writer) = connection.into_split();
    let key = service.operator_key();
    let mut head = format!("POST {path} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {key}\r\n");
    for (name, value) in headers {
        write!(head, "{name}: {value}\r\n").expect("a string takes it");
    }
    head.push_str("transfer-encoding: chunked\r\nconnection: close\r\n\r\n");
    let sending = async {
        writer.write_all(head.as_bytes()).await.expect("sent");
        for piece in pieces {
            let size = format!("{:x}\r\n", piece.len());
            // The service does not read a body to its end when it refuses early.
            if writer
                .write_all(&[size.as_bytes(), piece, b"\r\n"].concat())
                .await
                .is_err()
            {
                return;
            }
        }
        let _ended = writer.write_all(b"0\r\n\r\n").await;
    };
    let mut answer = Vec::new();
    let reading = reader.read_to_end(&mut answer);
    let ((), read) = tokio::join!(sending, reading);
    read.expect("an answer");
    let answer = String::from_utf8(answer).expect("UTF-8");
    let (_, mut chunks) = answer.split_once("\r\n\r\n").expect("a head");
    let mut body = String::new();
    while let Some((size, rest)) = chunks.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).expect("a size");
        body.push_str(&rest[..size]);
        chunks = rest[size..].trim_start_matches("\r\n");
    }
    body
}

/// Joins the queue.
pub async fn join(service: &Service, id: &str, request: &str, user: &str) -> (StatusCode, HeaderMap, Value) {
    let body = json!({"request_id": request, "user_id": user}).to_string();
    let headers = [("content-type", "application/json"), ("prefer", "respond-async")];
    let path = format!("/v1/coupons/{id}/issues");
    let (status, headers, text) = send(service, Method::POST, &path, &headers, body).await;
    (status, headers, serde_json::from_str(&text).expect("JSON"))
}

/// Keeps the queue unserved, as another instance with its lease would.
pub async fn hold(redis: &LocalServer, id: &str) {
    // This does not take the lease from an instance that serves now. The queue must be empty, so that nobody has its
    // lease.
    let state = format!("cp:{{{id}}}:state");
    let mut connection = redis.connection().await;
    eventually(PATIENCE, "nobody serves the queue", async || {
        let set = redis::cmd("HSETNX")
            .arg(&state)
            .arg("consumer")
            .arg("somebody 99999999999999 99999999999999")
            .query_async::<u8>(&mut connection)
            .await;
        (set.expect("HSETNX") == 1).then_some(())
    })
    .await;
}

/// Ends [`hold`].
pub async fn release(redis: &LocalServer, id: &str) {
    redis::cmd("HDEL")
        .arg(format!("cp:{{{id}}}:state"))
        .arg("consumer")
        .exec_async(&mut redis.connection().await)
        .await
        .expect("HDEL");
}

/// Waits until a request has this result; returns the request as it is then.
pub async fn until(service: &Service, id: &str, request: &str, result: &str) -> Value {
    eventually(PATIENCE, &format!("{request} of {id} is {result}"), async || {
        let found = look(service, id, request).await.body;
        (found["result"] == result).then_some(found)
    })
    .await
}
