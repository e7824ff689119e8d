//! A receiver of webhooks: keeps what is sent to it, and answers what the test wants.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::{JoinHandle, JoinSet};

use crate::support::free_port;
use crate::support::prelude::*;

/// What a receiver answers.
#[derive(Debug, Clone)]
pub enum Reply {
    Status(u16),
    /// 200, once this is notified.
    Held(Arc<Notify>),
    /// 410, once this is notified.
    Gone(Arc<Notify>),
    /// 307 to this URL.
    Redirect(String),
    /// Nothing, for as long as the connection lasts.
    Hang,
    /// A beginning, and then the same again and again, as fast as it is read.
    Endless(&'static str, &'static str),
    /// This, a byte each 100 ms, and then nothing.
    Drip(&'static str),
}

/// One request.
#[derive(Debug, Clone)]
pub struct Got {
    pub id: String,
    /// The type without prefix and version.
    pub kind: String,
    pub body: String,
    pub headers: BTreeMap<String, String>,
    /// Whether it was answered with 2xx.
    pub taken: bool,
}

impl Got {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).expect("a body is JSON")
    }

    /// `n` and `i` of the id.
    pub fn order(&self) -> (u64, u64) {
        let mut parts = self.id.split(':').skip(3).map(|part| part.parse().expect("a number"));
        (parts.next().expect("n"), parts.next().expect("i"))
    }

    /// `kind:id` of the subject.
    pub fn subject(&self) -> String {
        self.id.split(':').take(2).collect::<Vec<_>>().join(":")
    }
}

/// What an endless answer writes at a time.
const BLOCK_BYTES: usize = 256 * 1024;

type Answer = Box<dyn FnMut(&Got) -> Reply + Send>;

/// A receiver on a port of its own. Dropping it closes all its connections.
pub struct Receiver {
    pub port: u16,
    got: Arc<Mutex<Vec<Got>>>,
    answer: Arc<Mutex<Answer>>,
    server: JoinHandle<()>,
}

fn locked<T: ?Sized>(of: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Receiver {
    /// One that takes everything.
    pub async fn start() -> Self {
        Self::answering(|_| Reply::Status(200)).await
    }

    pub async fn answering(answer: impl FnMut(&Got) -> Reply + Send + 'static) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", free_port())).await.expect("a port");
        let answer: Answer = Box::new(answer);
        Self::on(listener, Arc::default(), Arc::new(Mutex::new(answer)))
    }

    fn on(listener: TcpListener, got: Arc<Mutex<Vec<Got>>>, answer: Arc<Mutex<Answer>>) -> Self {
        let port = listener.local_addr().expect("an address").port();
        let (into, by) = (Arc::clone(&got), Arc::clone(&answer));
        let server = tokio::spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((connection, _)) = listener.accept().await {
                connections.spawn(serve(connection, Arc::clone(&into), Arc::clone(&by)));
            }
        });
        Self {
            port,
            got,
            answer,
            server,
        }
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/hook", self.port)
    }

    pub fn answer(&self, answer: impl FnMut(&Got) -> Reply + Send + 'static) {
        *locked(&self.answer) = Box::new(answer);
    }

    /// Ends it, with all connections, and starts it again on its port: it keeps what it got.
    pub async fn crash(&mut self) {
        self.server.abort();
        let _ = (&mut self.server).await;
        let address = ("127.0.0.1", self.port);
        let listener = eventually(Duration::from_secs(10), "the port is free", async || {
            TcpListener::bind(address).await.ok()
        });
        let again = Self::on(listener.await, Arc::clone(&self.got), Arc::clone(&self.answer));
        *self = again;
    }

    pub fn got(&self) -> Vec<Got> {
        locked(&self.got).clone()
    }

    /// What it took, in that order.
    pub fn taken(&self) -> Vec<Got> {
        let mut got = self.got();
        got.retain(|one| one.taken);
        got
    }

    /// What it took, each id once, where it came first.
    pub fn once(&self) -> Vec<Got> {
        let mut seen = BTreeSet::new();
        let mut got = self.taken();
        got.retain(|one| seen.insert(one.id.clone()));
        got
    }

    /// Waits until it took so many events of a type, each counted once. A look must cost little: it holds up the answers.
    pub async fn until(&self, kind: &str, count: usize) -> Vec<Got> {
        let what = format!("{count} events of the type {kind}");
        eventually(Duration::from_mins(1), &what, async || {
            let got = locked(&self.got);
            let own = got.iter().filter(|one| one.taken && one.kind == kind);
            let different: BTreeSet<_> = own.map(|one| one.id.as_str()).collect();
            (different.len() >= count).then_some(())
        })
        .await;
        let mut got = self.once();
        got.retain(|one| one.kind == kind);
        got
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn serve(mut connection: TcpStream, got: Arc<Mutex<Vec<Got>>>, answer: Arc<Mutex<Answer>>) {
    let mut buffer = Vec::new();
    while let Some(mut one) = read(&mut connection, &mut buffer).await {
        let reply = (locked(&answer))(&one);
        let head = match &reply {
            Reply::Status(status) => format!("HTTP/1.1 {status} Status\r\n"),
            Reply::Redirect(url) => format!("HTTP/1.1 307 Elsewhere\r\nLocation: {url}\r\n"),
            Reply::Held(_) => "HTTP/1.1 200 OK\r\n".to_owned(),
            Reply::Gone(_) => "HTTP/1.1 410 Gone\r\n".to_owned(),
            Reply::Hang | Reply::Endless(..) | Reply::Drip(_) => String::new(),
        };
        one.taken = matches!(reply, Reply::Status(200..300) | Reply::Held(_));
        locked(&got).push(one);
        match reply {
            Reply::Hang => std::future::pending::<()>().await,
            Reply::Held(until) | Reply::Gone(until) => until.notified().await,
            Reply::Endless(begin, again) => {
                let block = again.repeat(BLOCK_BYTES / again.len());
                let mut next = begin;
                while connection.write_all(next.as_bytes()).await.is_ok() {
                    next = &block;
                }
                return;
            }
            Reply::Drip(text) => {
                let mut ticks = tokio::time::interval(Duration::from_millis(100));
                for byte in text.as_bytes() {
                    ticks.tick().await;
                    if connection.write_all(&[*byte]).await.is_err() {
                        return;
                    }
                }
                std::future::pending::<()>().await;
            }
            Reply::Status(_) | Reply::Redirect(_) => {}
        }
        let answer = format!("{head}Content-Length: 0\r\n\r\n");
        if connection.write_all(answer.as_bytes()).await.is_err() {
            return;
        }
    }
}

async fn read(connection: &mut TcpStream, buffer: &mut Vec<u8>) -> Option<Got> {
    loop {
        if let Some(end) = buffer.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&buffer[..end]).into_owned();
            let fields = head.lines().skip(1).filter_map(|line| line.split_once(':'));
            let headers: BTreeMap<_, _> = fields
                .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
                .collect();
            let length: usize = headers["content-length"].parse().expect("a length");
            let whole = end + 4 + length;
            if buffer.len() >= whole {
                let body = String::from_utf8(buffer[end + 4..whole].to_vec()).expect("UTF-8");
                buffer.drain(..whole);
                let json: Value = serde_json::from_str(&body).expect("JSON");
                let text = |name: &str| json[name].as_str().expect("a text");
                let kind = text("type").strip_prefix("jackpot.").expect("the prefix");
                return Some(Got {
                    id: text("id").to_owned(),
                    kind: kind.strip_suffix(".v1").expect("the version").to_owned(),
                    body,
                    headers,
                    taken: false,
                });
            }
        }
        if connection.read_buf(buffer).await.ok()? == 0 {
            return None;
        }
    }
}
