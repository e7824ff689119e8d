//! The receiver of webhooks: checks the signature (Standard Webhooks), keeps the event, then answers. It can be ended in the
//! middle of requests, and started again.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::{Signature, VerifyingKey};
use jiff::Timestamp;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};

use super::got::Got;
use crate::{SimulateError, free_port};

/// An older or younger signature is refused.
const TOLERANCE_S: i64 = 300;
/// A request of the service is shorter: blocks of entries have at most 60 kB.
const REQUEST_LIMIT: usize = 1_000_000;
/// After it ended, its port may be in use for a moment.
const PORT_LIMIT: Duration = Duration::from_secs(10);
const PORT_POLL: Duration = Duration::from_millis(5);
/// The begin of a public key (Standard Webhooks).
const PUBLIC_KEY: &str = "whpk_";
/// The begin of a signature by Ed25519 (Standard Webhooks).
const SIGNATURE: &str = "v1a,";

/// A receiver on a port of its own. Dropping it ends it.
#[derive(Debug)]
pub struct Receiver {
    address: SocketAddr,
    shared: Arc<Shared>,
    server: tokio::sync::Mutex<JoinHandle<()>>,
    kills: AtomicU32,
}

#[derive(Debug, Default)]
struct Shared {
    /// The key of the subscription, once it is made.
    key: OnceLock<VerifyingKey>,
    /// What a receiver would have in its database: it outlives a kill.
    got: Mutex<Got>,
}

impl Receiver {
    /// Starts it on this machine.
    pub async fn start() -> Result<Self, SimulateError> {
        let port = free_port().map_err(no_port)?;
        let listener = TcpListener::bind(("127.0.0.1", port)).await.map_err(no_port)?;
        let shared = Arc::<Shared>::default();
        Ok(Self {
            address: listener.local_addr().map_err(no_port)?,
            server: tokio::sync::Mutex::new(tokio::spawn(serve(listener, Arc::clone(&shared)))),
            shared,
            kills: AtomicU32::new(0),
        })
    }

    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Sets the key, as an answer about the subscription shows it. What came before is sent again.
    pub fn set_key(&self, text: &str) -> Result<(), String> {
        let bytes = text
            .strip_prefix(PUBLIC_KEY)
            .and_then(|text| STANDARD.decode(text).ok());
        let key = bytes.and_then(|bytes| VerifyingKey::from_bytes(&bytes.try_into().ok()?).ok());
        let key = key.ok_or_else(|| format!("verification_key {text} can't be read"))?;
        // It is set once.
        let _first = self.shared.key.set(key);
        Ok(())
    }

    /// What came so far.
    pub fn got(&self) -> MutexGuard<'_, Got> {
        self.shared.got()
    }

    /// How often it was ended.
    pub fn kills(&self) -> u32 {
        self.kills.load(Ordering::Relaxed)
    }

    /// Ends it with all its connections, wherever their requests are, and starts it again on its port.
    pub async fn kill_and_restart(&self) -> Result<(), SimulateError> {
        let mut server = self.server.lock().await;
        server.abort();
        // It was cancelled.
        let _ended = (&mut *server).await;
        self.kills.fetch_add(1, Ordering::Relaxed);
        let begun = Instant::now();
        let listener = loop {
            match TcpListener::bind(self.address).await {
                Ok(listener) => break listener,
                Err(error) if begun.elapsed() > PORT_LIMIT => return Err(no_port(error)),
                Err(_) => tokio::time::sleep(PORT_POLL).await,
            }
        };
        *server = tokio::spawn(serve(listener, Arc::clone(&self.shared)));
        Ok(())
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.server.get_mut().abort();
    }
}

fn no_port(error: std::io::Error) -> SimulateError {
    SimulateError::Process("binding the subscriber's port", error)
}

impl Shared {
    fn got(&self) -> MutexGuard<'_, Got> {
        self.got.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a request. Returns the status of the answer.
    fn take(&self, request: &Request<'_>) -> &'static str {
        let Some(key) = self.key.get() else {
            return "503 Service Unavailable";
        };
        match signed(key, request, Timestamp::now().as_second()) {
            Ok(id) => {
                self.got().take(id, request.body);
                "204 No Content"
            }
            Err(what) => {
                self.got().wrong.push(what);
                "401 Unauthorized"
            }
        }
    }
}

async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        connections.spawn(answer(stream, Arc::clone(&shared)));
        while connections.try_join_next().is_some() {}
    }
}

/// Answers each request on a connection until it closes. An error closes it, and the service sends the event again.
async fn answer(mut stream: TcpStream, shared: Arc<Shared>) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut received = Vec::new();
    loop {
        let status = Request::read(&received).map(|(request, length)| (shared.take(&request), length));
        if let Some((status, length)) = status {
            received.drain(..length);
            let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n");
            stream.write_all(answer.as_bytes()).await?;
        } else if received.len() > REQUEST_LIMIT || stream.read_buf(&mut received).await? == 0 {
            return Ok(());
        }
    }
}

/// A whole request.
struct Request<'r> {
    /// Names in lower case.
    headers: HashMap<String, &'r str>,
    body: &'r [u8],
}

impl<'r> Request<'r> {
    /// The first request of what was received, and its length.
    fn read(received: &'r [u8]) -> Option<(Self, usize)> {
        let head = received.windows(4).position(|four| four == b"\r\n\r\n")?;
        let text = std::str::from_utf8(&received[..head]).unwrap_or_default();
        let headers = text.lines().skip(1).filter_map(|line| line.split_once(':'));
        let headers: HashMap<_, _> = headers
            .map(|(name, value)| (name.to_ascii_lowercase(), value.trim()))
            .collect();
        let length: usize = headers
            .get("content-length")
            .and_then(|text| text.parse().ok())
            .unwrap_or(0);
        let end = head + 4 + length;
        let body = received.get(head + 4..end)?;
        Some((Self { headers, body }, end))
    }

    fn header(&self, name: &str) -> &'r str {
        self.headers.get(name).copied().unwrap_or_default()
    }
}

/// The id of a request that the key signed within the tolerance.
fn signed<'r>(key: &VerifyingKey, request: &Request<'r>, now_s: i64) -> Result<&'r str, String> {
    let (id, at) = (request.header("webhook-id"), request.header("webhook-timestamp"));
    let is_in_time = at
        .parse()
        .is_ok_and(|at: i64| at.abs_diff(now_s) <= TOLERANCE_S.unsigned_abs());
    if !is_in_time {
        return Err(format!("{id}: webhook-timestamp is {at}, the time {now_s}"));
    }
    let text = [format!("{id}.{at}.").as_bytes(), request.body].concat();
    let signatures = request.header("webhook-signature").split(' ');
    let is_signed = |encoded: &str| {
        let bytes = STANDARD.decode(encoded).ok()?;
        let signature = Signature::from_slice(&bytes).ok()?;
        key.verify_strict(&text, &signature).ok()
    };
    let mut signatures = signatures.filter_map(|one| one.strip_prefix(SIGNATURE));
    if signatures.any(|encoded| is_signed(encoded).is_some()) {
        Ok(id)
    } else {
        Err(format!("{id}: the subscription's key did not sign it"))
    }
}

#[cfg(test)]
mod tests {
    use ed25519_dalek::{Signer, SigningKey};
    use serde_json::json;
    use sha2::{Digest, Sha256};

    use super::*;

    const BODY: &str = r#"{"id":"jackpot:a:9f1c0a44d2b7e633:1:0","type":"jackpot.stream.step.v1","subject":"jackpot:a","sequence":"0000000000001.000000","data":{}}"#;

    fn key() -> SigningKey {
        SigningKey::from_bytes(&[7; 32])
    }

    fn request(key: &SigningKey, at: i64) -> String {
        let id = json!(hex::encode(Sha256::digest("jackpot:a:9f1c0a44d2b7e633:1:0")));
        let id = id.as_str().expect("a text");
        let signature = STANDARD.encode(key.sign(format!("{id}.{at}.{BODY}").as_bytes()).to_bytes());
        format!(
            "POST / HTTP/1.1\r\nWebhook-Id: {id}\r\nwebhook-timestamp: {at}\r\nwebhook-signature: v1,x v1a,{signature}\r\n\
             content-length: {}\r\n\r\n{BODY}",
            BODY.len()
        )
    }

    #[test]
    fn only_the_subscriptions_key_signs_and_only_now() {
        let of = |text: &str, now_s: i64| {
            let (request, length) = Request::read(text.as_bytes()).expect("a request");
            assert_eq!(length, text.len());
            signed(&key().verifying_key(), &request, now_s).map(str::len)
        };
        assert_eq!(of(&request(&key(), 1_000), 1_300), Ok(64));
        for (text, named) in [
            (request(&key(), 999), "webhook-timestamp"),
            (request(&SigningKey::from_bytes(&[8; 32]), 1_000), "did not sign"),
            (request(&key(), 1_000).replace("1:0\"", "1:1\""), "did not sign"),
        ] {
            let error = of(&text, 1_300).expect_err(named);
            assert!(error.contains(named), "{error}");
        }
        assert!(Request::read(&request(&key(), 1).as_bytes()[..200]).is_none());
    }

    #[tokio::test]
    async fn it_takes_what_is_signed_and_comes_back_after_a_kill() {
        let receiver = Receiver::start().await.unwrap();
        let send = async |text: String| {
            let mut stream = TcpStream::connect(receiver.address).await.unwrap();
            stream.write_all(text.as_bytes()).await.unwrap();
            let mut answer = vec![0; 12];
            stream.read_exact(&mut answer).await.unwrap();
            String::from_utf8(answer).unwrap()
        };
        let now = Timestamp::now().as_second();
        assert_eq!(
            send(request(&key(), now)).await,
            "HTTP/1.1 503",
            "its key is not known yet"
        );
        assert!(receiver.set_key("whpk_x").is_err());
        let public = format!("whpk_{}", STANDARD.encode(key().verifying_key().to_bytes()));
        receiver.set_key(&public).unwrap();
        assert_eq!(send(request(&key(), now)).await, "HTTP/1.1 204");
        receiver.kill_and_restart().await.unwrap();
        assert_eq!(send(request(&key(), now)).await, "HTTP/1.1 204");
        assert_eq!(
            send(request(&SigningKey::from_bytes(&[8; 32]), now)).await,
            "HTTP/1.1 401"
        );
        let got = receiver.got();
        assert_eq!(
            (got.delivered(), got.repeats, got.wrong.len(), receiver.kills()),
            (1, 1, 1, 1)
        );
    }
}
