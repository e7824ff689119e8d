//! The state of one connection: what it may send, what it waits for, and whether it must end.

use std::cell::{Cell, RefCell};
use std::net::IpAddr;
use std::rc::Rc;
use std::task::{Context, Waker};

use actix_web::HttpRequest;

use super::worker::Tick;

/// Largest head of a request, in bytes. A client may also have sent that much unrequested data.
pub(super) const HEAD_BYTES: u64 = 32 * 1024;
/// What a stream of HTTP/2 may send before the service reads its body: its window.
pub(super) const H2_WINDOW_BYTES: u32 = 64 * 1024;
/// What a request of HTTP/2 adds: its head, and a body that nobody reads.
const H2_REQUEST_BYTES: u64 = HEAD_BYTES + H2_WINDOW_BYTES as u64;
/// Largest allowance of a connection of HTTP/2.
const H2_MOST_BYTES: u64 = 32 * 1024 * 1024;
/// Most requests in flight on a connection of HTTP/2. Further ones are refused, and many more end the connection.
const H2_REQUESTS: u32 = 100;
/// A chunk of one byte takes six on the wire.
const CHUNKED_FACTOR: u64 = 6;

/// The stages of a connection up to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Course {
    /// It stays open.
    Open,
    /// It ends after the answer: the client is still sending an unread body.
    AfterAnswer,
    /// The answer has been sent: reading has ended.
    ReadEnded,
    /// It ends now.
    Killed,
}

/// Why a head is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// Longer than [`HEAD_BYTES`].
    TooLarge,
    /// Not complete in time.
    Slow,
}

/// What the next read does.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Permit {
    /// Takes this many bytes.
    UpTo(u64),
    /// Waits until more is requested.
    Wait,
    /// Lets the read bytes be processed, then asks again.
    Again,
    /// Gives the parser a byte that no head may have, so that it refuses the head.
    Spoil,
    /// Reports that the client sends no more.
    End,
}

/// The state of a connection. It belongs to one worker thread.
pub struct ConnectionState {
    peer: IpAddr,
    /// Whether others share the address: a proxy.
    pub(super) shared: bool,
    clock: Rc<Cell<Tick>>,
    /// Its index in the thread's connections.
    pub(super) index: Cell<usize>,
    http2: Cell<bool>,
    /// No byte has arrived, or the TLS handshake is running.
    opening: Cell<bool>,
    left: Cell<u64>,
    starved: Cell<bool>,
    in_flight: Cell<u32>,
    /// Requests of HTTP/2 that have come and not begun.
    waiting: Cell<u32>,
    /// A request has come.
    used: Cell<bool>,
    receiving: Cell<u32>,
    /// Part of a head has come.
    head: Cell<bool>,
    since: Cell<Tick>,
    stalled: Cell<Option<Tick>>,
    course: Cell<Course>,
    fault: Cell<Option<Fault>>,
    spoiled: Cell<bool>,
    answered_broken_body: Cell<bool>,
    peer_ended: Cell<bool>,
    waker: RefCell<Option<Waker>>,
}

impl ConnectionState {
    pub(super) fn new(peer: IpAddr, shared: bool, clock: Rc<Cell<Tick>>) -> ConnectionState {
        ConnectionState {
            peer,
            shared,
            since: Cell::new(clock.get()),
            clock,
            index: Cell::new(usize::MAX),
            http2: Cell::new(false),
            opening: Cell::new(true),
            left: Cell::new(HEAD_BYTES),
            starved: Cell::new(false),
            in_flight: Cell::new(0),
            waiting: Cell::new(0),
            used: Cell::new(false),
            receiving: Cell::new(0),
            head: Cell::new(false),
            stalled: Cell::new(None),
            course: Cell::new(Course::Open),
            fault: Cell::new(None),
            spoiled: Cell::new(false),
            answered_broken_body: Cell::new(false),
            peer_ended: Cell::new(false),
            waker: RefCell::new(None),
        }
    }

    /// The connection of a request; `None` without one, as in tests of a handler.
    pub fn of(request: &HttpRequest) -> Option<Rc<ConnectionState>> {
        request.conn_data::<Rc<ConnectionState>>().cloned()
    }

    pub(super) fn peer(&self) -> IpAddr {
        self.peer
    }

    pub(super) fn is_http2(&self) -> bool {
        self.http2.get()
    }

    pub(super) fn is_killed(&self) -> bool {
        self.course.get() == Course::Killed
    }

    /// The protocol is known, and some of its bytes have arrived.
    pub(super) fn opened(&self, http2: bool) {
        self.opening.set(false);
        self.http2.set(http2);
        self.since.set(self.clock.get());
        if http2 {
            self.left.set(H2_REQUEST_BYTES);
        }
    }

    // What a client may send.

    /// A request begins; it is in flight until the guard is dropped.
    pub(super) fn begin(self: &Rc<Self>) -> InFlight {
        self.in_flight.set(self.in_flight.get() + 1);
        self.used.set(true);
        self.head.set(false);
        self.since.set(self.clock.get());
        if self.http2.get() {
            let left = self.left.get().saturating_add(H2_REQUEST_BYTES);
            self.left.set(left.min(H2_MOST_BYTES));
            self.waiting.set(self.waiting.get().saturating_sub(1));
            self.end_a_crowd();
        } else {
            self.left.set(HEAD_BYTES);
        }
        self.go_on();
        InFlight(Rc::clone(self))
    }

    /// Requests of HTTP/2 have come, which the framework makes now.
    pub(super) fn requests_came(&self, count: u32) {
        self.waiting.set(self.waiting.get() + count);
        self.end_a_crowd();
    }

    fn end_a_crowd(&self) {
        if self.waiting.get() + self.in_flight.get() > 2 * H2_REQUESTS {
            self.kill();
        }
    }

    fn end(&self) {
        self.in_flight.set(self.in_flight.get().saturating_sub(1));
        self.since.set(self.clock.get());
        if !self.http2.get() {
            self.left.set(HEAD_BYTES);
        }
        self.go_on();
    }

    /// Whether more requests are in flight than one connection may have.
    pub(in crate::http) fn is_crowded(&self) -> bool {
        self.in_flight.get() > H2_REQUESTS
    }

    /// A handler requests a body: the client may send it.
    pub fn ask(&self, body: Asked) {
        let more = match body {
            Asked::Sized(bytes) => bytes,
            Asked::Chunked(bytes) => bytes.saturating_mul(CHUNKED_FACTOR),
        };
        self.left.set(self.left.get().saturating_add(more));
        self.go_on();
    }

    /// The same, and marks that the answer waits for the client until the guard is dropped.
    pub(in crate::http) fn receive(self: &Rc<Self>, body: Asked) -> Receiving {
        self.ask(body);
        self.receiving.set(self.receiving.get() + 1);
        Receiving(Rc::clone(self))
    }

    /// HTTP/2 connections get a little with time, for frames that belong to no request.
    pub(super) fn refill(&self, bytes: u64) {
        // The framework refuses some requests itself. They never begin.
        self.waiting.set(0);
        if self.http2.get() && self.left.get() < H2_REQUEST_BYTES {
            self.left.set(self.left.get() + bytes);
            self.go_on();
        }
    }

    fn go_on(&self) {
        if self.starved.replace(false) {
            self.wake();
        }
    }

    // Reading and writing.

    pub(super) fn permit(&self) -> Permit {
        match self.course.get() {
            Course::ReadEnded | Course::Killed => return Permit::End,
            Course::Open | Course::AfterAnswer => {}
        }
        if self.fault.get().is_some() {
            return if self.spoiled.replace(true) {
                Permit::End
            } else {
                Permit::Spoil
            };
        }
        let left = self.left.get();
        if left > 0 {
            return Permit::UpTo(left);
        }
        let asked = self.starved.replace(true);
        let between_requests = self.in_flight.get() == 0 && self.course.get() == Course::Open;
        match (between_requests && !self.http2.get(), asked) {
            (false, _) => Permit::Wait,
            // The read bytes may be many small requests.
            (true, false) => Permit::Again,
            (true, true) => {
                self.fault.set(Some(Fault::TooLarge));
                self.spoiled.set(true);
                Permit::Spoil
            }
        }
    }

    pub(super) fn has_read(&self, bytes: usize) {
        if bytes == 0 {
            self.peer_ended.set(true);
            return;
        }
        self.left.set(self.left.get().saturating_sub(bytes as u64));
        if self.in_flight.get() == 0 && !self.head.get() && !self.http2.get() {
            self.head.set(true);
            self.since.set(self.clock.get());
        }
    }

    pub(super) fn has_written(&self, some: bool) {
        if some {
            self.stalled.set(None);
            // A long answer is still being sent after the request has ended.
            if self.in_flight.get() == 0 && !self.head.get() {
                self.since.set(self.clock.get());
            }
        } else if self.stalled.get().is_none() {
            self.stalled.set(Some(self.clock.get()));
        }
    }

    /// All output has been written. Returns whether reading ends here.
    pub(super) fn has_flushed(&self) -> bool {
        let ends = self.course.get() == Course::AfterAnswer && self.in_flight.get() == 0;
        if ends {
            self.course.set(Course::ReadEnded);
        }
        ends
    }

    /// Why the current head is refused, if it is not malformed.
    pub(super) fn fault(&self) -> Option<Fault> {
        self.fault.get()
    }

    /// Whether the refused request has its answer already: its head was right, its body was not.
    pub(super) fn is_answered(&self) -> bool {
        self.answered_broken_body.get() || self.course.get() != Course::Open
    }

    /// A chunk of the body was malformed. Its reader reports it, and no second answer may follow.
    pub(super) fn body_broke(&self) {
        self.answered_broken_body.set(true);
    }

    /// Whether the client may have sent unread bytes, so that a close would reset the connection before the client
    /// reads the answer.
    pub(super) fn leaves_unread(&self) -> bool {
        let unread = self.head.get()
            || self.fault.get().is_some()
            || self.answered_broken_body.get()
            || self.course.get() == Course::ReadEnded;
        unread && !self.is_killed() && !self.peer_ended.get() && !self.http2.get()
    }

    // Ending.

    /// The answer leaves a body unread: the connection ends with its last byte.
    pub(super) fn end_after_answer(&self) {
        if self.course.get() == Course::Open && !self.http2.get() {
            self.course.set(Course::AfterAnswer);
        }
    }

    pub(super) fn kill(&self) {
        self.course.set(Course::Killed);
        self.wake();
    }

    fn refuse_head(&self) {
        self.fault.set(Some(Fault::Slow));
        self.wake();
    }

    /// Remembers the task to wake when the connection must go on or end.
    pub(super) fn remember_task(&self, context: &Context<'_>) {
        let mut waker = self.waker.borrow_mut();
        if waker.as_ref().is_none_or(|waker| !waker.will_wake(context.waker())) {
            *waker = Some(context.waker().clone());
        }
    }

    fn wake(&self) {
        let waker = self.waker.borrow().clone();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Ends the connection if its time is used up. Returns why.
    pub(super) fn check(&self, times: &Times, stopping: bool) -> Option<&'static str> {
        let now = self.clock.get();
        let age = now.saturating_sub(self.since.get());
        let stalled = self.stalled.get().map(|since| now.saturating_sub(since));
        let reason = match stalled {
            _ if self.is_killed() => return None,
            Some(time) if time >= times.stalled => "not_read",
            _ if self.in_flight.get() > 0 => return None,
            // The dispatcher of HTTP/1 notices a stop itself.
            _ if stopping && (self.opening.get() || self.http2.get()) => "stopping",
            _ if self.opening.get() && age >= times.head => "silent",
            _ if self.head.get() && self.fault.get().is_none() && age >= times.head => {
                self.refuse_head();
                return None;
            }
            _ if self.head.get() && age >= times.head + times.linger => "slow_head",
            _ if !self.head.get() && !self.opening.get() && age >= times.idle => "idle",
            _ => return None,
        };
        self.kill();
        Some(reason)
    }

    /// The order in which connections are closed for a new one: the class (lower first), and the time in it. `None`:
    /// never.
    pub(super) fn expendable(&self) -> Option<(u8, Tick)> {
        let now = self.clock.get();
        let age = now.saturating_sub(self.since.get());
        let (class, needed) = match (self.in_flight.get(), self.stalled.get()) {
            _ if self.is_killed() => return None,
            (0, Some(since)) => return (now.saturating_sub(since) >= STALLED_TICKS).then_some((0, age)),
            (0, None) if self.head.get() => (0, 4),
            (0, None) if !self.used.get() => (1, 1),
            // A connection that is used every second stays.
            (0, None) => (2, 4),
            (requests, _) if self.receiving.get() >= requests => (3, 8),
            _ => return None,
        };
        (age >= needed).then_some((class, age))
    }
}

/// How long a client may leave its answer unread while others want its place: 5 s.
const STALLED_TICKS: Tick = 20;

/// How long a connection may be in a state, in ticks.
pub(super) struct Times {
    pub(super) head: Tick,
    pub(super) idle: Tick,
    pub(super) stalled: Tick,
    pub(super) linger: Tick,
}

/// The size of a requested body, in bytes.
#[derive(Debug, Clone, Copy)]
pub enum Asked {
    /// The size in the head.
    Sized(u64),
    /// At most this much, in chunks.
    Chunked(u64),
}

impl Asked {
    /// A body of at most `limit` bytes; `length` is the head's.
    pub(crate) fn of(length: Option<u64>, limit: u64) -> Asked {
        length.map_or(Asked::Chunked(limit), |length| Asked::Sized(length.min(limit)))
    }
}

/// A request in flight.
pub(super) struct InFlight(pub(super) Rc<ConnectionState>);

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// A body in transfer.
pub(crate) struct Receiving(Rc<ConnectionState>);

impl Drop for Receiving {
    fn drop(&mut self) {
        self.0.receiving.set(self.0.receiving.get().saturating_sub(1));
    }
}

#[cfg(test)]
#[path = "state_tests.rs"]
mod tests;
