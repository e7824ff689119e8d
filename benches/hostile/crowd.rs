//! The hostile connections. Each is of one kind, acts from time to time, and reconnects when it was closed. All of them
//! together act at one rate, whatever their target, so that two targets see the same crowd.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio::io::AsyncWriteExt;
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::{MissedTickBehavior, interval_at, timeout};

use super::service::JACKPOT;

/// Most bytes that one act pushes.
const PUSH_BYTES: usize = 64 * 1024;
/// Time after which a stuck act is given up, because nobody reads.
const STUCK: Duration = Duration::from_millis(20);
const CONNECT_LIMIT: Duration = Duration::from_secs(5);

/// The addresses of the crowd.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Origin {
    /// 127.0.0.2 to 127.0.0.9.
    Strangers,
    /// 127.0.0.1, where the keyed client is too. Half of them name an address that they come from, another each time.
    Proxy,
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    ChunksToHealthz,
    ChunksWithoutKey,
    SizedNeverSent,
    ByteNowAndThen,
    PartialHead,
    PartialSecondHead,
    Idle,
    MeterStream,
    PublicReads,
    WrongKeys,
}

const KINDS: [Kind; 10] = [
    Kind::ChunksToHealthz,
    Kind::ChunksWithoutKey,
    Kind::SizedNeverSent,
    Kind::ByteNowAndThen,
    Kind::PartialHead,
    Kind::PartialSecondHead,
    Kind::Idle,
    Kind::MeterStream,
    Kind::PublicReads,
    Kind::WrongKeys,
];

/// What the crowd observed.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) connects: u64,
    pub(crate) refused: u64,
    pub(crate) closed: u64,
    pub(crate) pushed_bytes: u64,
    pub(crate) answers: u64,
}

#[derive(Default)]
struct Shared {
    stopped: AtomicBool,
    came: AtomicU64,
    connects: AtomicU64,
    refused: AtomicU64,
    closed: AtomicU64,
    pushed_bytes: AtomicU64,
    answers: AtomicU64,
}

pub(crate) struct Crowd {
    shared: Arc<Shared>,
    connections: u64,
    thread: JoinHandle<()>,
}

impl Crowd {
    /// Starts the crowd; `acts` are per second, of all connections together.
    pub(crate) fn start(target: SocketAddr, origin: Origin, connections: u32, acts: u32) -> Crowd {
        let shared = Arc::<Shared>::default();
        let theirs = Arc::clone(&shared);
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let runtime = runtime.expect("a runtime can be built");
            let period = Duration::from_secs_f64(f64::from(connections) / f64::from(acts));
            runtime.block_on(async move {
                let mut all = tokio::task::JoinSet::new();
                for number in 0..connections {
                    let first = period.mul_f64(f64::from(number) / f64::from(connections));
                    let one = Hostile {
                        target,
                        origin,
                        number,
                        kind: KINDS[number as usize % KINDS.len()],
                        shared: Arc::clone(&theirs),
                        stream: None,
                        acts: 0,
                    };
                    all.spawn(one.go_on(first, period));
                }
                while all.join_next().await.is_some() {}
            });
        });
        Crowd {
            shared,
            connections: u64::from(connections),
            thread,
        }
    }

    /// Waits until each connection has tried once, or the time is over.
    pub(crate) fn wait_until_all_came(&self, limit: Duration) {
        let begun = Instant::now();
        while self.shared.came.load(Ordering::Relaxed) < self.connections && begun.elapsed() < limit {
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    pub(crate) fn stop(self) -> Counts {
        self.shared.stopped.store(true, Ordering::Relaxed);
        self.thread.join().expect("the crowd does not panic");
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Counts {
            connects: count(&self.shared.connects),
            refused: count(&self.shared.refused),
            closed: count(&self.shared.closed),
            pushed_bytes: count(&self.shared.pushed_bytes),
            answers: count(&self.shared.answers),
        }
    }
}

struct Hostile {
    target: SocketAddr,
    origin: Origin,
    number: u32,
    kind: Kind,
    shared: Arc<Shared>,
    stream: Option<TcpStream>,
    /// Acts on this connection.
    acts: u64,
}

impl Hostile {
    async fn go_on(mut self, first: Duration, period: Duration) {
        let mut ticks = interval_at(tokio::time::Instant::now() + first, period);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
        let mut came = false;
        loop {
            ticks.tick().await;
            if self.shared.stopped.load(Ordering::Relaxed) {
                return;
            }
            self.act().await;
            if !std::mem::replace(&mut came, true) {
                self.shared.came.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    async fn act(&mut self) {
        if !self.is_open() {
            self.acts = 0;
            let connected = timeout(CONNECT_LIMIT, self.connect()).await;
            let Ok(Ok(stream)) = connected else {
                self.shared.refused.fetch_add(1, Ordering::Relaxed);
                return;
            };
            self.stream = Some(stream);
            self.shared.connects.fetch_add(1, Ordering::Relaxed);
        }
        let bytes = self.next_bytes();
        self.acts += 1;
        let Some(stream) = &mut self.stream else { return };
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            match timeout(STUCK, stream.write(rest)).await {
                Ok(Ok(written)) if written > 0 => {
                    self.shared.pushed_bytes.fetch_add(written as u64, Ordering::Relaxed);
                    rest = &rest[written..];
                }
                Err(_) => return,
                Ok(_) => {
                    self.stream = None;
                    self.shared.closed.fetch_add(1, Ordering::Relaxed);
                    return;
                }
            }
        }
    }

    async fn connect(&self) -> std::io::Result<TcpStream> {
        let socket = TcpSocket::new_v4()?;
        if let Origin::Strangers = self.origin {
            let last = 2 + u8::try_from(self.number % 8).unwrap_or_default();
            socket.bind(SocketAddr::new(IpAddr::V4(Ipv4Addr::new(127, 0, 0, last)), 0))?;
        }
        socket.connect(self.target).await
    }

    /// Whether the connection is open; reads and counts what came.
    fn is_open(&mut self) -> bool {
        let Some(stream) = &self.stream else { return false };
        let mut bytes = [0; 16 * 1024];
        loop {
            match stream.try_read(&mut bytes) {
                Ok(read) if read > 0 => {
                    let answers = bytes[..read]
                        .windows(9)
                        .filter(|window| window.starts_with(b"HTTP/1.1 "));
                    self.shared.answers.fetch_add(answers.count() as u64, Ordering::Relaxed);
                }
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => return true,
                _ => {
                    self.stream = None;
                    self.shared.closed.fetch_add(1, Ordering::Relaxed);
                    return false;
                }
            }
        }
    }

    fn head(&self, request: &str, more: &str) -> Vec<u8> {
        let forwarded = match (self.origin, self.number % 20 < 10) {
            (Origin::Proxy, true) => {
                let [_, a, b, c] = self.number.wrapping_mul(2_654_435_761).to_be_bytes();
                format!("x-forwarded-for: 10.{a}.{b}.{c}\r\n")
            }
            _ => String::new(),
        };
        format!("{request} HTTP/1.1\r\nhost: x\r\n{forwarded}{more}").into_bytes()
    }

    fn next_bytes(&self) -> Vec<u8> {
        let entries = format!("POST /v1/jackpots/{JACKPOT}/entries");
        let first = self.acts == 0;
        let chunk = || {
            [
                format!("{PUSH_BYTES:x}\r\n").into_bytes(),
                vec![b'x'; PUSH_BYTES],
                b"\r\n".to_vec(),
            ]
            .concat()
        };
        match self.kind {
            // Nobody waits for the answer: the rest is sent together with the head.
            Kind::ChunksToHealthz if first => {
                [self.head("GET /healthz", "transfer-encoding: chunked\r\n\r\n"), chunk()].concat()
            }
            Kind::ChunksWithoutKey if first => {
                [self.head(&entries, "transfer-encoding: chunked\r\n\r\n"), chunk()].concat()
            }
            Kind::ChunksToHealthz | Kind::ChunksWithoutKey => chunk(),
            Kind::SizedNeverSent if first => self.head(&entries, "content-length: 60000\r\n\r\n"),
            Kind::ByteNowAndThen if first => self.head(&entries, "content-length: 60000\r\n\r\n{"),
            Kind::ByteNowAndThen | Kind::PartialHead | Kind::PartialSecondHead if !first => b"a".to_vec(),
            Kind::PartialHead => self.head("GET /healthz", "a: "),
            Kind::PartialSecondHead => {
                let mut bytes = self.head("GET /healthz", "\r\n");
                bytes.extend(b"GET /hea");
                bytes
            }
            Kind::MeterStream if first => self.head(&format!("GET /v1/jackpots/{JACKPOT}/meter/stream"), "\r\n"),
            Kind::PublicReads if self.acts.is_multiple_of(2) => {
                self.head(&format!("GET /v1/jackpots/{JACKPOT}/fairness"), "\r\n")
            }
            Kind::PublicReads => self.head(&format!("GET /v1/jackpots/made-up-{}/meter", self.acts), "\r\n"),
            Kind::WrongKeys => self.head(
                &format!("GET /v1/jackpots/{JACKPOT}"),
                "authorization: Bearer jk_wrong_0123456789abcdefghijklmnopqrstuvwxyz\r\n\r\n",
            ),
            Kind::SizedNeverSent | Kind::ByteNowAndThen | Kind::MeterStream | Kind::Idle => Vec::new(),
        }
    }
}
