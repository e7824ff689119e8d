//! The entries of one jackpot that wait on one thread, and the task that sends them, one call after the other.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Instant;

use tokio::sync::oneshot;

use super::share::{Batch, Waiter};
use super::{Answer, Combiner};
use crate::jackpot::error::PlayError;
use crate::jackpot::known::Known;
use crate::jackpot::scripts::{self, EnterEntry, Entered, MAX_ENTRIES, ScriptError};
use crate::jackpot::view::View;
use crate::store::StoreError;

/// Most entries of one call. What a call costs whatever its size is spread over so many that it hardly counts, and
/// everyone else's calls wait for Redis a few milliseconds at most.
const MAX_BATCH: usize = 256;
const _: () = assert!(MAX_BATCH <= MAX_ENTRIES);

/// Most entries that wait on one thread for one jackpot: sixteen calls, some 2 MB. More come only when the store is far
/// too slow for them, and then waiting longer helps nobody.
const MAX_WAITING: usize = 16 * MAX_BATCH;

/// What waits.
#[derive(Debug)]
pub(super) struct Queue {
    sender: Combiner,
    known: Arc<Known>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<(Arc<View>, EnterEntry, Waiter)>,
    /// Whether a task sends.
    sending: bool,
}

impl Queue {
    pub(super) fn new(sender: &Combiner, known: &Arc<Known>) -> Self {
        Self {
            sender: sender.clone(),
            known: Arc::clone(known),
            state: Mutex::default(),
        }
    }

    /// Puts an entry at the end, and starts the task that sends when there is none.
    pub(super) fn join(
        self: Arc<Self>,
        view: &Arc<View>,
        entry: EnterEntry,
    ) -> Result<oneshot::Receiver<Answer>, PlayError> {
        let (answer, receiver) = oneshot::channel();
        let mut state = self.lock();
        if state.waiting.len() >= MAX_WAITING {
            let waiting = state.waiting.len();
            return Err(PlayError::Crowded { waiting });
        }
        let waiter = Waiter {
            since: Instant::now(),
            answer,
        };
        state.waiting.push_back((Arc::clone(view), entry, waiter));
        let idle = !std::mem::replace(&mut state.sending, true);
        drop(state);
        if idle {
            let sending = Sending {
                queue: self,
                done: false,
            };
            tokio::spawn(sending.run());
        }
        Ok(receiver)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next call's entries, in the order of their arrival; `None`, and nobody sends any longer, when none wait.
    fn next(&self) -> Option<Batch> {
        let limit = self.sender.store.total_limit();
        let mut state = self.lock();
        loop {
            let Some((view, ..)) = state.waiting.front() else {
                state.sending = false;
                return None;
            };
            let mut batch = Batch {
                view: Arc::clone(view),
                entries: Vec::new(),
                waiters: Vec::new(),
            };
            while batch.entries.len() < MAX_BATCH {
                let same = |(view, ..): &mut (Arc<View>, EnterEntry, Waiter)| is_same(&batch.view, view);
                let Some((_, entry, waiter)) = state.waiting.pop_front_if(same) else {
                    break;
                };
                // Who has gone away before it was sent has not entered; and nobody waits longer than a call may take.
                if waiter.answer.is_closed() {
                    continue;
                }
                let age = waiter.since.elapsed();
                if age >= limit {
                    waiter.tell(Err(ScriptError::Store(StoreError::Unavailable {
                        what: "enter".to_owned(),
                        cause: format!("not sent within {} ms", age.as_millis()),
                    })));
                    continue;
                }
                batch.entries.push(entry);
                batch.waiters.push(waiter);
            }
            if !batch.entries.is_empty() {
                return Some(batch);
            }
        }
    }

    async fn call(&self, batch: &Batch) -> Result<Entered, ScriptError> {
        let Combiner { store, metrics } = &self.sender;
        let (known, view) = (&self.known, &batch.view);
        metrics.combined(batch.entries.len());
        let fence = known.fence(view);
        let entering = scripts::enter_here(store, &known.keys, &fence, &view.definition, &batch.entries);
        let entered = known.note(entering.await)?;
        known.saw(entered.mark);
        Ok(entered)
    }

    /// Gives everyone of a call its answer; those that were not tried come first in the next.
    fn tell(&self, batch: Batch, result: Result<Entered, ScriptError>) {
        match result {
            Ok(entered) => {
                let view = Arc::clone(&batch.view);
                let untried = batch.share(entered);
                let mut state = self.lock();
                for (entry, waiter) in untried.into_iter().rev() {
                    state.waiting.push_front((Arc::clone(&view), entry, waiter));
                }
            }
            Err(error) => {
                batch.fail(&error);
                if let ScriptError::Store(StoreError::Unavailable { .. }) = &error {
                    self.fail_waiting(&error);
                }
            }
        }
    }

    /// They wait for the same node that has not answered within the limit: in a call of their own they would have waited
    /// as long in vain, and behind this one longer than the limit.
    fn fail_waiting(&self, error: &ScriptError) {
        let waiting = std::mem::take(&mut self.lock().waiting);
        for (_, _, waiter) in waiting {
            waiter.tell(Err(error.clone()));
        }
    }
}

/// Whether two views draw alike, so that one call can take what was drawn under either.
fn is_same(one: &Arc<View>, other: &Arc<View>) -> bool {
    Arc::ptr_eq(one, other)
        || (one.epoch == other.epoch && one.stamp == other.stamp && one.commitment == other.commitment)
}

/// A call's entries and what became of them.
type Settled = (Batch, Result<Entered, ScriptError>);

/// The task that sends.
struct Sending {
    queue: Arc<Queue>,
    done: bool,
}

impl Sending {
    async fn run(mut self) {
        let mut settled = None;
        while let Some(batch) = self.next(&mut settled) {
            let result = {
                let mut call = pin!(self.queue.call(&batch));
                // It is on its way before those of the last call are woken: Redis would else be idle while this thread
                // writes their answers.
                let begun = poll_fn(|context| Poll::Ready(call.as_mut().poll(context))).await;
                self.tell(settled.take());
                match begun {
                    Poll::Ready(result) => result,
                    Poll::Pending => call.await,
                }
            };
            settled = Some((batch, result));
        }
        self.done = true;
    }

    /// The next call's entries. Who waits for the answers of the last call is told first where there is no next one, or
    /// where the last one says what becomes of those that wait.
    fn next(&self, settled: &mut Option<Settled>) -> Option<Batch> {
        let all_taken = |(_, result): &Settled| result.as_ref().is_ok_and(|entered| entered.refusal.is_none());
        if !settled.as_ref().is_some_and(all_taken) {
            self.tell(settled.take());
        }
        let next = self.queue.next();
        if next.is_none() {
            self.tell(settled.take());
        }
        next
    }

    fn tell(&self, settled: Option<Settled>) {
        if let Some((batch, result)) = settled {
            self.queue.tell(batch, result);
        }
    }
}

impl Drop for Sending {
    /// After an early end, by a panic or with its runtime: those that wait are told by the loss of their senders, and the
    /// next entry starts another task.
    fn drop(&mut self) {
        if !self.done {
            let mut state = self.queue.lock();
            state.sending = false;
            let waiting = std::mem::take(&mut state.waiting);
            drop(state);
            drop(waiting);
        }
    }
}
