//! The client with a key: entries at a fixed rate, an open loop. The latency of an entry counts from when it was due,
//! also when it waited for a connection. The client has its own thread, so that the crowd does not delay it.

use std::cell::{Cell, RefCell};
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::{JoinSet, LocalSet};
use tokio::time::timeout;

use crate::Outcome;
use crate::service::JACKPOT;

const CONNECTIONS: usize = 64;
/// A call that takes longer has failed.
const ANSWER_LIMIT: Duration = Duration::from_secs(10);
/// Longest latency that the histogram records, in µs: an entry may also wait for a connection whose call has failed.
const MOST_US: u64 = 600_000_000;
/// Number of failures that are shown.
const SHOWN: usize = 3;

/// The results of the entries.
pub(crate) struct Played {
    pub(crate) entries: u64,
    pub(crate) failed: u64,
    pub(crate) failures: Vec<String>,
    took_us: Histogram<u64>,
    healthz_us: Option<u64>,
}

impl Played {
    /// A percentile in ms.
    pub(crate) fn ms(&self, percentile: f64) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "at most seconds, for a table")]
        let micros = self.took_us.value_at_percentile(percentile) as f64;
        micros / 1000.0
    }

    /// The slowest answer of `/healthz`.
    pub(crate) fn healthz(&self) -> String {
        self.healthz_us.map_or_else(
            || "failed".to_owned(),
            |micros| format!("{:.1}", Duration::from_micros(micros).as_secs_f64() * 1000.0),
        )
    }
}

struct Shared {
    address: SocketAddr,
    key: String,
    rate: u64,
    all_due: u64,
    begun: Instant,
    run: u64,
    next: Cell<u64>,
    entries: Cell<u64>,
    failed: Cell<u64>,
    failures: RefCell<Vec<String>>,
    took_us: RefCell<Histogram<u64>>,
}

/// Sends `rate` entries per second for `time`, and asks `/healthz` each second on a separate connection.
pub(crate) fn play(address: SocketAddr, key: &str, rate: u64, time: Duration) -> Outcome<Played> {
    let key = key.to_owned();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    LocalSet::new().block_on(&runtime, async {
        let shared = Rc::new(Shared {
            address,
            key,
            rate,
            all_due: rate * time.as_secs(),
            begun: Instant::now(),
            run: u64::from(std::process::id()),
            next: Cell::new(0),
            entries: Cell::new(0),
            failed: Cell::new(0),
            failures: RefCell::default(),
            took_us: RefCell::new(Histogram::new_with_max(MOST_US, 3)?),
        });
        let mut players = JoinSet::new();
        for _ in 0..CONNECTIONS {
            players.spawn_local(player(Rc::clone(&shared)));
        }
        let (healthz_us, ()) = tokio::join!(healthz(address, time), async {
            while players.join_next().await.is_some() {}
        });
        let played = Played {
            entries: shared.entries.get(),
            failed: shared.failed.get(),
            failures: shared.failures.take(),
            took_us: shared.took_us.borrow().clone(),
            healthz_us,
        };
        Ok(played)
    })
}

async fn player(shared: Rc<Shared>) {
    let mut connection = None;
    loop {
        let number = shared.next.replace(shared.next.get() + 1);
        if number >= shared.all_due {
            return;
        }
        let due = shared.begun + Duration::from_nanos(1_000_000_000 / shared.rate * number);
        tokio::time::sleep_until(due.into()).await;
        let body = format!(
            r#"{{"entry_id":"e-{}-{number}","player_id":"p-{}","stake":100}}"#,
            shared.run,
            number % 1000
        );
        let request = format!(
            "POST /v1/jackpots/{JACKPOT}/entries HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            shared.key,
            body.len()
        );
        let sent = timeout(ANSWER_LIMIT, call(&mut connection, shared.address, request.as_bytes())).await;
        let failure = match sent {
            Ok(Ok(201)) => None,
            Ok(Ok(status)) => Some(format!("entry {number}: status {status}")),
            Ok(Err(error)) => Some(format!("entry {number}: {error}")),
            Err(_) => Some(format!("entry {number}: no answer within {ANSWER_LIMIT:?}")),
        };
        shared.entries.set(shared.entries.get() + 1);
        let micros = u64::try_from(due.elapsed().as_micros()).unwrap_or(u64::MAX);
        shared.took_us.borrow_mut().saturating_record(micros);
        if let Some(failure) = failure {
            connection = None;
            shared.failed.set(shared.failed.get() + 1);
            let mut failures = shared.failures.borrow_mut();
            if failures.len() < SHOWN {
                failures.push(failure);
            }
        }
    }
}

/// Sends a request on the connection, which is made if there is none. Returns the status of the answer.
async fn call(connection: &mut Option<TcpStream>, address: SocketAddr, request: &[u8]) -> Outcome<u16> {
    let stream = if let Some(stream) = connection.take() {
        stream
    } else {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        stream
    };
    let stream = connection.insert(stream);
    stream.write_all(request).await?;
    let mut received = Vec::with_capacity(2048);
    loop {
        if stream.read_buf(&mut received).await? == 0 {
            return Err("the connection ended within an answer".into());
        }
        let Some(head) = received.windows(4).position(|window| window == b"\r\n\r\n") else {
            continue;
        };
        let text = std::str::from_utf8(&received[..head])?.to_ascii_lowercase();
        let length = text.lines().find_map(|line| line.strip_prefix("content-length: "));
        let length: usize = length.map_or(Ok(0), str::parse)?;
        if received.len() >= head + 4 + length {
            return Ok(text.get(9..12).ok_or("an answer without a status")?.parse()?);
        }
    }
}

/// The slowest answer in µs; `None` when one failed.
async fn healthz(address: SocketAddr, time: Duration) -> Option<u64> {
    let until = Instant::now() + time;
    let mut ticks = tokio::time::interval(Duration::from_secs(1));
    let mut slowest = Some(0);
    while Instant::now() < until {
        ticks.tick().await;
        let at = Instant::now();
        let request = b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
        let answered = timeout(ANSWER_LIMIT, call(&mut None, address, request)).await;
        let micros = u64::try_from(at.elapsed().as_micros()).unwrap_or(u64::MAX);
        slowest = match answered {
            Ok(Ok(200)) => slowest.map(|slowest| slowest.max(micros)),
            _ => None,
        };
    }
    slowest
}
