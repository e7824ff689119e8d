//! The connections of one worker thread: how many there may be, which have used up their time, and which one is closed
//! for a new one.

use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::time::Duration;

use actix_web::rt;
use tokio::net::TcpStream;
use tokio::time::{Instant, MissedTickBehavior, interval};

use super::state::{ConnectionState, Times};
use crate::http::addresses::Connected;
use crate::stopping::Stopping;
use crate::telemetry::Metrics;

/// Time as connections count it, in steps of [`TICK`] since their thread began.
pub(super) type Tick = u32;

/// The step of the clock. It is finer than every limit here, and cheap: a thread wakes for it four times a second.
const TICK: Duration = Duration::from_millis(250);

/// Ticks between two sweeps of all connections.
const SWEEP: Tick = 4;

/// How long a client may take to send the head of a request. Its body has a limit of its own.
pub(super) const HEAD_TIMEOUT: Duration = Duration::from_secs(10);

/// How long an answer may be stuck: longer than a short gap of a mobile network.
const STALLED: Duration = Duration::from_secs(30);

/// How long a connection with unread bytes is kept after its end, and how many bytes are dropped meanwhile.
const LINGER: Duration = Duration::from_secs(2);
const LINGER_BYTES: usize = 256 * 1024;

/// Most lingering connections of one thread; the oldest is closed first.
const MAX_LINGERING: usize = 1_000;

/// What an idle connection of HTTP/2 may send a second, for frames that belong to no request.
const REFILL_BYTES: u64 = 16 * 1024;

/// The common part of a listener's threads.
#[derive(Clone)]
pub(super) struct Shared {
    /// Most connections of one thread.
    pub(super) limit: usize,
    pub(super) keep_alive: Duration,
    pub(super) metrics: Arc<Metrics>,
    pub(super) stopping: Stopping,
}

pub(super) struct Worker {
    pub(super) metrics: Arc<Metrics>,
    limit: usize,
    times: Times,
    stopping: Stopping,
    begun: Instant,
    clock: Rc<Cell<Tick>>,
    swept: Cell<Tick>,
    connections: RefCell<Vec<Rc<ConnectionState>>>,
    lingering: RefCell<VecDeque<Lingering>>,
    /// The next ones to close, the first of them last.
    expendable: RefCell<Vec<Rc<ConnectionState>>>,
    sorted: Cell<Option<Tick>>,
}

fn ticks(time: Duration) -> Tick {
    Tick::try_from(time.as_millis() / TICK.as_millis()).unwrap_or(Tick::MAX)
}

impl Worker {
    /// Makes the empty set of this thread's connections. Call it on the thread: its clock begins.
    pub(super) fn start(shared: &Shared) -> Rc<Worker> {
        let worker = Rc::new(Worker::new(shared));
        rt::spawn(tick(Rc::downgrade(&worker)));
        worker
    }

    fn new(shared: &Shared) -> Worker {
        Worker {
            metrics: Arc::clone(&shared.metrics),
            limit: shared.limit,
            times: Times {
                head: ticks(HEAD_TIMEOUT),
                idle: ticks(shared.keep_alive),
                stalled: ticks(STALLED),
                linger: ticks(LINGER),
            },
            stopping: shared.stopping.clone(),
            begun: Instant::now(),
            clock: Rc::default(),
            swept: Cell::new(0),
            connections: RefCell::default(),
            lingering: RefCell::default(),
            expendable: RefCell::default(),
            sorted: Cell::new(None),
        }
    }

    /// A place for a new connection; `None` when there is none and no other connection can be closed.
    pub(super) fn admit(self: &Rc<Self>, peer: IpAddr, connected: Option<Connected>) -> Option<ConnectionSlot> {
        if self.connections.borrow().len() >= self.limit && !self.make_room() {
            self.metrics.connections.closed("full");
            return None;
        }
        let shared = connected.as_ref().is_some_and(Connected::is_proxy);
        let state = Rc::new(ConnectionState::new(peer, shared, Rc::clone(&self.clock)));
        let mut connections = self.connections.borrow_mut();
        state.index.set(connections.len());
        connections.push(Rc::clone(&state));
        self.metrics.connections.opened();
        Some(ConnectionSlot {
            state,
            worker: Rc::clone(self),
            connected,
        })
    }

    fn leave(&self, state: &ConnectionState) {
        let mut connections = self.connections.borrow_mut();
        let index = state.index.get();
        connections.swap_remove(index);
        if let Some(moved) = connections.get(index) {
            moved.index.set(index);
        }
        self.metrics.connections.ended();
    }

    fn make_room(&self) -> bool {
        let lingering = self.lingering.borrow_mut().pop_front();
        if lingering.is_some() {
            return true;
        }
        loop {
            let next = self.expendable.borrow_mut().pop();
            match next {
                Some(state) if state.expendable().is_some() => {
                    state.kill();
                    self.metrics.connections.closed("evicted");
                    return true;
                }
                Some(_) => {}
                // Within a tick no other connection can have become closable.
                None if self.sorted.get() == Some(self.clock.get()) => return false,
                None => self.sort(),
            }
        }
    }

    /// Orders the connections to close: of the address that holds most, the least wanted class, the oldest.
    fn sort(&self) {
        self.sorted.set(Some(self.clock.get()));
        let connections = self.connections.borrow();
        let mut held = HashMap::<IpAddr, usize>::new();
        for connection in connections.iter().filter(|connection| !connection.shared) {
            *held.entry(connection.peer()).or_default() += 1;
        }
        let held = |connection: &ConnectionState| held.get(&connection.peer()).copied().unwrap_or_default();
        let mut line: Vec<_> = connections
            .iter()
            .filter_map(|connection| connection.expendable().map(|rank| (rank, connection)))
            .map(|((class, age), connection)| ((held(connection), Reverse(class), age), connection))
            .collect();
        line.sort_unstable_by_key(|(rank, _)| *rank);
        let line = line.into_iter().map(|(_, connection)| Rc::clone(connection));
        self.expendable.replace(line.collect());
    }

    fn tick(&self) {
        self.clock.set(ticks(self.begun.elapsed()));
        let now = self.clock.get();
        self.throw_away(now);
        let stopping = self.stopping.has_begun();
        if now.saturating_sub(self.swept.get()) < SWEEP && !stopping {
            return;
        }
        self.swept.set(now);
        for connection in self.connections.borrow().iter() {
            connection.refill(REFILL_BYTES);
            if let Some(reason) = connection.check(&self.times, stopping) {
                self.metrics.connections.closed(reason);
            }
        }
    }

    fn throw_away(&self, now: Tick) {
        let mut lingering = self.lingering.borrow_mut();
        lingering.retain_mut(|one| now.saturating_sub(one.since) < self.times.linger && one.goes_on());
    }
}

async fn tick(worker: Weak<Worker>) {
    let mut ticks = interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        match worker.upgrade() {
            Some(worker) => worker.tick(),
            None => return,
        }
    }
}

/// A place, taken until it is dropped.
pub(super) struct ConnectionSlot {
    pub(super) state: Rc<ConnectionState>,
    pub(super) worker: Rc<Worker>,
    /// Its address counts the connection for the same time.
    pub(super) connected: Option<Connected>,
}

impl ConnectionSlot {
    /// Keeps `stream`, whose write side is closed, until the client has closed it too, or for a moment.
    pub(super) fn linger(self, stream: TcpStream) {
        let worker = Rc::clone(&self.worker);
        let since = worker.clock.get();
        let mut lingering = worker.lingering.borrow_mut();
        let oldest = (lingering.len() >= MAX_LINGERING).then(|| lingering.pop_front());
        lingering.push_back(Lingering {
            stream,
            left: LINGER_BYTES,
            since,
            _place: self,
        });
        drop(lingering);
        drop(oldest);
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.worker.leave(&self.state);
    }
}

/// A connection that has ended here, but not yet at the client.
struct Lingering {
    stream: TcpStream,
    left: usize,
    since: Tick,
    _place: ConnectionSlot,
}

impl Lingering {
    /// Drops the received bytes.
    fn goes_on(&mut self) -> bool {
        let mut bytes = [0; 8 * 1024];
        while self.left > 0 {
            match self.stream.try_read(&mut bytes) {
                Ok(0) => return false,
                Ok(read) => self.left = self.left.saturating_sub(read),
                Err(error) => return error.kind() == std::io::ErrorKind::WouldBlock,
            }
        }
        false
    }
}

#[cfg(test)]
#[path = "worker_tests.rs"]
mod tests;
