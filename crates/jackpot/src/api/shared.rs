//! Readings that an instance makes once for all callers, and streams of them. The meter, the winners and the history of
//! a jackpot are read so: whatever the number of readers, a reading is made at most every [`PAUSE`].

use std::collections::HashMap;
use std::fmt::{Debug, Display};
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use actix_web::HttpResponse;
use actix_web::web::Bytes;
use arc_swap::ArcSwapOption;
use futures_util::StreamExt;
use jackpot_core::ids::Id;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tracing::debug;

use jackpot_kernel::http::auth::KeyEnd;
use jackpot_kernel::http::{Code, Problem};
use jackpot_kernel::single_flight::SingleFlight;
use jackpot_kernel::stopping::Stopping;

/// Largest age of an answer to a caller without a key, and how long caches may keep it.
pub(super) const SHOWN_FOR: Duration = Duration::from_secs(1);
pub(super) const MAX_AGE_S: u32 = 1;
/// Least time between two readings of one thing: at most 50 a second, whatever the load.
const PAUSE: Duration = Duration::from_millis(20);
/// Least time between two events of one stream.
const EVENT_EVERY: Duration = Duration::from_secs(1);
/// After this silence, a comment keeps proxies from closing the stream.
const COMMENT_AFTER: Duration = Duration::from_secs(15);
/// Things that are kept before old ones are looked for.
const MANY: usize = 1_024;

/// Where readings come from.
pub(super) trait Source: Debug + Send + Sync + 'static {
    /// What is read.
    type Key: Clone + Eq + Hash + Display + Debug + Send + Sync;
    type Value: Clone + Debug + Send + Sync;
    /// How long a reading is kept that nobody asks for.
    const KEPT: Duration;

    /// Reads it.
    fn read(&self, key: &Self::Key) -> impl Future<Output = Result<Self::Value, Problem>> + Send;
    /// What an earlier reading needs beside its age, to be given out again.
    fn still_good(&self, key: &Self::Key) -> Result<impl Fn(&Self::Value) -> bool + Send + Sync, Problem>;
}

/// A source whose readings are sent as events.
pub(super) trait Streamed: Source<Key = Id> {
    /// How often a reading with listeners is made.
    const EVERY: Duration;

    fn shows_the_same(one: &Self::Value, other: &Self::Value) -> bool;
    fn event(value: &Self::Value) -> Bytes;
    /// Whether a caller may see it, who may read what is private (`may_read`).
    fn is_for(value: &Self::Value, may_read: bool) -> bool;
}

/// One thing that is read.
#[derive(Debug)]
struct Flight<V> {
    flight: SingleFlight<Result<V, Problem>>,
    /// The last reading that did not fail, and when it was made.
    last: ArcSwapOption<(Instant, V)>,
}

/// What was used lately, by its key. Old entries are dropped when it has twice as many as after the last time, so that an
/// insertion costs the same however many there are.
#[derive(Debug)]
pub(super) struct Recent<K, V> {
    all: HashMap<K, V>,
    drop_at: usize,
}

impl<K, V> Default for Recent<K, V> {
    fn default() -> Self {
        Self {
            all: HashMap::new(),
            drop_at: MANY,
        }
    }
}

impl<K: Eq + Hash, V> Recent<K, V> {
    pub(super) fn get(&self, key: &K) -> Option<&V> {
        self.all.get(key)
    }

    pub(super) fn insert(&mut self, key: K, value: V, is_used: impl Fn(&V) -> bool) {
        if self.all.len() >= self.drop_at {
            self.all.retain(|_, value| is_used(value));
            self.drop_at = MANY.max(2 * self.all.len());
        }
        self.all.insert(key, value);
    }

    fn remove(&mut self, key: &K) {
        self.all.remove(key);
    }
}

type Flights<S> = Recent<<S as Source>::Key, Arc<Flight<<S as Source>::Value>>>;
type Latest<V> = watch::Receiver<V>;

/// The readings of a source.
#[derive(Debug)]
pub(super) struct Readings<S: Source> {
    pub(super) source: S,
    flights: RwLock<Flights<S>>,
    listened: Mutex<HashMap<S::Key, Latest<S::Value>>>,
}

impl<S: Source> Readings<S> {
    pub(super) fn of(source: S) -> Self {
        Self {
            source,
            flights: RwLock::default(),
            listened: Mutex::default(),
        }
    }

    /// A reading that is at most `max_age` old.
    pub(super) async fn shown(&self, key: &S::Key, max_age: Duration) -> Result<S::Value, Problem> {
        let still_good = self.source.still_good(key)?;
        let flight = self.flight(key);
        let read = async || {
            let (begun, value) = (Instant::now(), self.source.read(key).await);
            if let Ok(value) = &value {
                flight.last.store(Some(Arc::new((begun, value.clone()))));
            }
            value
        };
        let shown = flight
            .flight
            .get(
                PAUSE,
                |last| last.begun.elapsed() < max_age && last.value.as_ref().is_ok_and(&still_good),
                read,
            )
            .await;
        if matches!(&shown.value, Err(problem) if problem.code == Code::JackpotNotFound) {
            // Ids that clients make up are not kept.
            self.flights_mut().remove(key);
        }
        shown.value.clone()
    }

    /// The last reading, however old it is. Asks nobody.
    pub(super) fn last(&self, key: &S::Key) -> Option<S::Value> {
        let flights = self.flights.read().unwrap_or_else(PoisonError::into_inner);
        let last = flights.get(key)?.last.load_full()?;
        Some(last.1.clone())
    }

    fn flight(&self, key: &S::Key) -> Arc<Flight<S::Value>> {
        let flights = self.flights.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(flight) = flights.get(key) {
            return Arc::clone(flight);
        }
        drop(flights);
        let mut flights = self.flights_mut();
        if let Some(flight) = flights.get(key) {
            return Arc::clone(flight);
        }
        let new = Arc::new(Flight {
            flight: SingleFlight::default(),
            last: ArcSwapOption::empty(),
        });
        let is_fresh = |last: &Arc<(Instant, S::Value)>| last.0.elapsed() < S::KEPT;
        flights.insert(key.clone(), Arc::clone(&new), |flight| {
            Arc::strong_count(flight) > 1 || flight.last.load().as_ref().is_some_and(is_fresh)
        });
        new
    }

    fn flights_mut(&self) -> std::sync::RwLockWriteGuard<'_, Flights<S>> {
        self.flights.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S: Streamed> Readings<S> {
    /// Joins the reader of this thing, or starts one.
    fn listen(self: &Arc<Self>, id: &Id, now: &S::Value) -> Latest<S::Value> {
        let mut listened = self.listened.lock().unwrap_or_else(PoisonError::into_inner);
        // A reader whose task has ended has dropped its sender.
        if let Some(latest) = listened.get(id).filter(|latest| latest.has_changed().is_ok()) {
            return latest.clone();
        }
        let (sender, latest) = watch::channel(now.clone());
        listened.insert(id.clone(), latest.clone());
        tokio::spawn(Arc::clone(self).keep_reading(id.clone(), sender));
        latest
    }

    async fn keep_reading(self: Arc<Self>, id: Id, sender: watch::Sender<S::Value>) {
        loop {
            sleep(S::EVERY).await;
            match self.shown(&id, S::EVERY).await {
                Ok(now) => {
                    sender.send_if_modified(|last| {
                        let changed = !S::shows_the_same(last, &now);
                        if changed {
                            *last = now;
                        }
                        changed
                    });
                }
                Err(error) => debug!(jackpot_id = %id, %error, "what is streamed could not be read; its streams wait"),
            }
            let mut listened = self.listened.lock().unwrap_or_else(PoisonError::into_inner);
            // The map itself has one receiver.
            if sender.receiver_count() <= 1 {
                listened.remove(&id);
                return;
            }
        }
    }

    /// The answer that streams it: `now` at once, then what changed, at most once a second, until the key ends, the
    /// service stops, or the caller may no longer see it. `place` is held until then.
    pub(super) fn stream<P: 'static>(
        self: &Arc<Self>,
        id: &Id,
        now: S::Value,
        may_read: bool,
        key_end: KeyEnd,
        stopping: Stopping,
        place: P,
    ) -> HttpResponse {
        let mut latest = self.listen(id, &now);
        let (readings, id) = (Arc::clone(self), id.clone());
        let events = async_stream::stream! {
            let _place = place;
            let mut shown = now;
            yield Ok::<_, Problem>(S::event(&shown));
            let mut next = Instant::now() + EVENT_EVERY;
            loop {
                tokio::select! {
                    () = stopping.wait() => return,
                    () = sleep_until(next) => {}
                }
                let found = tokio::select! {
                    () = stopping.wait() => return,
                    found = timeout(COMMENT_AFTER, latest.wait_for(|now| !S::shows_the_same(now, &shown))) => found.map(|now| now.map(|now| now.clone())),
                };
                match found {
                    Err(_silence) => yield Ok(Bytes::from_static(b":\n\n")),
                    Ok(Err(_ended)) => return,
                    Ok(Ok(now)) => {
                        // The reader's value may be older than this event may be.
                        shown = readings.shown(&id, S::EVERY).await.unwrap_or(now);
                        if !S::is_for(&shown, may_read) {
                            return;
                        }
                        next = Instant::now() + EVENT_EVERY;
                        yield Ok(S::event(&shown));
                    }
                }
            }
        };
        HttpResponse::Ok()
            .content_type("text/event-stream")
            .insert_header(("Cache-Control", "no-store"))
            .streaming(Box::pin(events.take_until(key_end.wait())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_entries_go_when_there_are_many_and_used_ones_stay() {
        let mut recent = Recent::default();
        for nth in 0..10 * MANY {
            recent.insert(nth, nth, |nth| nth % 100 == 0);
        }
        assert!(recent.all.len() <= 2 * MANY, "{}", recent.all.len());
        assert!((0..9 * MANY).step_by(100).all(|nth| recent.get(&nth) == Some(&nth)));
        recent.remove(&0);
        assert_eq!(recent.get(&0), None);
    }
}
