//! The client with a key: entries at a fixed rate, an open loop. The latency of an entry counts from when it was due,
//! also when it waited for a connection. The client has its own thread, so that the crowd does not delay it.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use tokio::task::{JoinSet, LocalSet};
use tokio::time::timeout;

use super::service::JACKPOT;
use crate::Outcome;
use crate::http::{Connection, Target};

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
    target: Target,
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
pub(crate) fn play(target: &Target, rate: u64, time: Duration) -> Outcome<Played> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    LocalSet::new().block_on(&runtime, async {
        let shared = Rc::new(Shared {
            target: target.clone(),
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
        let (healthz_us, ()) = tokio::join!(healthz(target, time), async {
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
        let path = format!("/v1/jackpots/{JACKPOT}/entries");
        let request = shared.target.request("POST", &path, body.as_bytes());
        let sent = timeout(ANSWER_LIMIT, call(&mut connection, &shared.target, &request)).await;
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
async fn call(connection: &mut Option<Connection>, target: &Target, request: &[u8]) -> Outcome<u16> {
    let mut open = match connection.take() {
        Some(open) => open,
        None => target.connect().await?,
    };
    let status = open.send(request).await?.status;
    *connection = Some(open);
    Ok(status)
}

/// The slowest answer in µs; `None` when one failed.
async fn healthz(target: &Target, time: Duration) -> Option<u64> {
    let until = Instant::now() + time;
    let mut ticks = tokio::time::interval(Duration::from_secs(1));
    let mut slowest = Some(0);
    while Instant::now() < until {
        ticks.tick().await;
        let at = Instant::now();
        let request = target.request("GET", "/healthz", b"");
        let answered = timeout(ANSWER_LIMIT, call(&mut None, target, &request)).await;
        let micros = u64::try_from(at.elapsed().as_micros()).unwrap_or(u64::MAX);
        slowest = match answered {
            Ok(Ok(200)) => slowest.map(|slowest| slowest.max(micros)),
            _ => None,
        };
    }
    slowest
}
