//! Joins the entries that arrive on a thread while a call of their jackpot is in flight into the next call.
//!
//! One call is in flight for each thread and jackpot: a lone entry goes out at once, and a hot jackpot, however many
//! entries wait, takes one turn like any other. The call runs in a task of its own, never in a request's future: who goes
//! away leaves the others' answers alone, and what was sent is settled all the same. Nothing is shared between threads.

mod queue;
mod share;

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{Arc, Weak};

use crate::store::{Store, StoreError};

use super::error::PlayError;
use super::known::Known;
use super::metrics::PlayMetrics;
use super::record::Record;
use super::scripts::{EnterEntry, Refusal, ScriptError};
use super::view::View;
use queue::Queue;

/// What became of an entry.
#[derive(Debug)]
pub(super) enum Outcome {
    /// Taken by this call.
    Taken(Record),
    /// Seen before.
    Seen(Record),
    /// Not taken; nothing of it was written.
    Refused(Refusal),
}

/// An entry as it was given, so that nobody copies it, and what became of it.
type Answer = Result<(EnterEntry, Outcome), ScriptError>;

/// Sends entries, together where they come together.
#[derive(Debug, Clone)]
pub(super) struct Combiner {
    store: Store,
    metrics: PlayMetrics,
}

impl Combiner {
    pub(super) fn new(store: Store, metrics: PlayMetrics) -> Self {
        Self { store, metrics }
    }

    /// Enters one that was drawn under this view, and waits for its own answer.
    pub(super) async fn enter(
        &self,
        known: &Arc<Known>,
        view: &Arc<View>,
        entry: EnterEntry,
    ) -> Result<(EnterEntry, Outcome), PlayError> {
        let queue = Queues::here(known, || Queue::new(self, known));
        let answer = queue.join(view, entry)?;
        // Its sender goes unused only when the call's task ended early, with its runtime or by a panic.
        let cut_off = |_| StoreError::Unavailable {
            what: "enter".to_owned(),
            cause: "the call was cut off".to_owned(),
        };
        Ok(answer.await.map_err(cut_off)??)
    }
}

/// Queues that a thread remembers before it looks which of them are done.
const QUEUES_BEFORE_TIDYING: usize = 64;

/// A thread's queues, by the address of what is known of the jackpot: a queue that lives holds that in its place. A
/// queue lives while a call of it is in flight, so that idle jackpots take no memory.
struct Queues {
    live: HashMap<usize, Weak<Queue>>,
    tidy_at: usize,
}

impl Queues {
    /// The calling thread's queue for a jackpot.
    fn here(known: &Arc<Known>, make: impl FnOnce() -> Queue) -> Arc<Queue> {
        thread_local! {
            static QUEUES: RefCell<Queues> = RefCell::new(Queues {
                live: HashMap::new(),
                tidy_at: QUEUES_BEFORE_TIDYING,
            });
        }
        QUEUES.with_borrow_mut(|queues| queues.of(known, make))
    }

    fn of(&mut self, known: &Arc<Known>, make: impl FnOnce() -> Queue) -> Arc<Queue> {
        let address = Arc::as_ptr(known).addr();
        if let Some(queue) = self.live.get(&address).and_then(Weak::upgrade) {
            return queue;
        }
        if self.live.len() >= self.tidy_at {
            self.live.retain(|_, queue| queue.strong_count() > 0);
            self.tidy_at = QUEUES_BEFORE_TIDYING.max(self.live.len() * 2);
        }
        let queue = Arc::new(make());
        self.live.insert(address, Arc::downgrade(&queue));
        queue
    }
}
