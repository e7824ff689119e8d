//! Delivers one subject to one subscription, in order, until there is nothing more, a try fails or it must stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::RwLock;
use tokio::time::timeout;
use tracing::{debug, warn};

use super::cloudevent::Message;
use super::deliverer::Shared;
use super::place::Place;
use super::reading::{Position, after};
use super::sink::{Outcome, Sink};
use super::store::Subscription;
use jackpot_kernel::background::Background;
use jackpot_kernel::ledger::outgoing::{Outgoing, TellError, Told};
use jackpot_kernel::random;

/// The wait after the first failed try. It doubles with each further one.
const FIRST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_mins(10);
/// The wait varies by this part of it, so that many subjects do not come back at once.
const JITTER_PCT: u32 = 20;
/// For deliveries under way when a subscription is paused.
const REST: Duration = Duration::from_secs(1);
/// The wait after SQL did not answer.
const AFTER_SQL: Duration = Duration::from_millis(500);
/// A stream needs another thread when it has had events for this time, and its thread got too little of a processor.
const STARVED: Duration = Duration::from_secs(10);
/// Less than one part of a processor in so many is too little.
const STARVED_PART: u32 = 10;

/// A subscription as a stream uses it, until it changes.
pub(super) struct Live {
    pub subscription: Subscription,
    /// Or what this instance lacks for it.
    pub sink: Result<Arc<dyn Sink>, String>,
    is_over: AtomicBool,
    /// Each delivery reads it while it lasts.
    under_way: RwLock<()>,
}

impl Live {
    pub fn new(subscription: Subscription, sink: Result<Arc<dyn Sink>, String>) -> Self {
        Self {
            subscription,
            sink,
            is_over: AtomicBool::new(false),
            under_way: RwLock::new(()),
        }
    }

    /// The subscription has changed: nothing more is sent as this version of it.
    pub fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    /// Waits until no delivery of it is under way, but not long: a target may hang.
    pub async fn rests(&self) {
        // Either way the caller goes on.
        let _ = timeout(REST, self.under_way.write()).await;
    }

    pub fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }
}

/// Why a stream ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    /// All events were delivered.
    Idle,
    /// It must not go on as it was.
    Stopped,
    /// It goes on after this time.
    Waits(Duration),
    /// The target wants no more.
    Gone,
    /// Its thread gets too little of the processors.
    Starved,
}

/// What the thread of a stream got since a moment.
struct Share {
    begun: Instant,
    worked: Duration,
}

impl Share {
    fn begin() -> Self {
        Self {
            begun: Instant::now(),
            worked: Background::worked(),
        }
    }

    /// Whether it was too little. It is asked after each event: a block may be a batch with a thousand payouts, and take
    /// minutes. A slow target needs little as well, and its stream takes no more from the players on another thread.
    fn is_too_little(&mut self) -> bool {
        let elapsed = self.begun.elapsed();
        if elapsed < STARVED {
            return false;
        }
        let got = Background::worked().saturating_sub(self.worked);
        *self = Self::begin();
        got < elapsed / STARVED_PART
    }
}

/// A stream of events to a target.
pub(super) struct Stream {
    pub shared: Arc<Shared>,
    pub live: Arc<Live>,
    pub place: Arc<Place>,
    /// Its thread has the priority of others.
    pub is_urgent: bool,
}

impl Stream {
    pub async fn run(&self) -> Ended {
        let (key, definition) = (&self.place.key, &self.live.subscription.definition);
        let mut share = Share::begin();
        loop {
            let cursor = self.place.cursor();
            let from = Position {
                n: cursor.n,
                i: cursor.i,
            };
            let read = self.shared.outbox.read(key.kind, &key.id, from, definition);
            let block = match read.await {
                Ok(block) => block,
                Err(TellError::Sql(error)) => {
                    debug!(%error, "the events of a subject were not read");
                    return Ended::Waits(AFTER_SQL);
                }
                Err(error @ TellError::Damaged(..)) => {
                    warn!(subscription = %key.subscription, %error, "an event can't be delivered");
                    return self.failed(from, error.to_string());
                }
            };
            let Some(next) = block.next_n() else {
                return Ended::Idle;
            };
            for told in &block.told {
                for (i, event) in &told.events {
                    if let Err(ended) = self.deliver(told, *i, event).await {
                        return ended;
                    }
                    if self.is_starved(&mut share) {
                        return Ended::Starved;
                    }
                }
            }
            self.place.reach(|cursor| (cursor.n, cursor.i) = (next, 0));
            self.shared.cursors.changed(&self.place);
            if self.must_stop() {
                return Ended::Stopped;
            }
            // Of a block without an event for this subscription.
            if self.is_starved(&mut share) {
                return Ended::Starved;
            }
        }
    }

    fn is_starved(&self, share: &mut Share) -> bool {
        !self.is_urgent && share.is_too_little()
    }

    async fn deliver(&self, told: &Told, i: u64, event: &Outgoing) -> Result<(), Ended> {
        let key = &self.place.key;
        self.place.keep_close().await;
        let _under_way = self.live.under_way.read().await;
        if self.must_stop() {
            return Err(Ended::Stopped);
        }
        let message = Message::of(self.shared.ledger_id(), key.kind, &key.id, told, i, event);
        let (at, of) = (Position { n: told.n, i }, self.live.subscription.id.as_str());
        match self.send(&message).await {
            Outcome::Delivered(_) => {
                let next = after(told, i);
                self.place.reach(|cursor| {
                    (cursor.n, cursor.i, cursor.tries) = (next.n, next.i, 0);
                    cursor.last_error.clear();
                    cursor.delivered += 1;
                });
                self.shared.cursors.changed(&self.place);
                self.shared.metrics.subscriptions.delivered(of);
                Ok(())
            }
            Outcome::Gone => {
                self.shared.metrics.subscriptions.failed(of);
                self.place.reach(|cursor| {
                    (cursor.n, cursor.i, cursor.tries) = (at.n, at.i, 0);
                    "the target answered 410 Gone".clone_into(&mut cursor.last_error);
                });
                self.shared.cursors.failed(&self.place);
                Err(Ended::Gone)
            }
            Outcome::Failed { error, .. } => {
                debug!(subscription = of, id = message.id, error, "an event was not delivered");
                self.shared.metrics.subscriptions.failed(of);
                Err(self.failed(at, error))
            }
        }
    }

    async fn send(&self, message: &Message) -> Outcome {
        match &self.live.sink {
            Ok(sink) => sink.send(message).await,
            Err(lacks) => Outcome::failed(lacks.as_str()),
        }
    }

    /// A try failed at this event.
    fn failed(&self, at: Position, error: String) -> Ended {
        let wait = wait(self.place.cursor().tries + 1);
        self.place.reach(|cursor| {
            (cursor.n, cursor.i) = (at.n, at.i);
            cursor.tries += 1;
            cursor.wait_ms = i64::try_from(wait.as_millis()).unwrap_or(i64::MAX);
            cursor.last_error = error;
        });
        self.shared.cursors.failed(&self.place);
        Ended::Waits(wait)
    }

    fn must_stop(&self) -> bool {
        self.live.is_over() || self.place.is_lost() || !self.shared.holds_leases()
    }
}

/// The wait after the last of so many failed tries.
fn wait(tries: u32) -> Duration {
    let doubled = FIRST_WAIT
        .saturating_mul(1 << tries.saturating_sub(1).min(20))
        .min(LONGEST_WAIT);
    let random = random::bytes::<2>().map_or(u16::MAX / 2, u16::from_be_bytes);
    let pct = 100 - JITTER_PCT + u32::from(random) * 2 * JITTER_PCT / u32::from(u16::MAX);
    doubled * pct / 100
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_ten_minutes_and_vary_by_a_fifth() {
        for (tries, seconds) in [(1, 1), (2, 2), (3, 4), (10, 512), (11, 600), (u32::MAX, 600)] {
            let seconds = Duration::from_secs(seconds);
            for _ in 0..50 {
                let wait = wait(tries);
                assert!((seconds * 4 / 5..=seconds * 6 / 5).contains(&wait), "{tries}: {wait:?}");
            }
        }
    }
}
