//! The requests for one subject that wait on one thread, and the task that sends them, one call after the other.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::{Answered, Batch, Batchable, CombineError, Waiter};
use crate::store::StoreError;
use crate::subject::ScriptError;

/// Most requests of one call. They share the fixed cost of a call so that it hardly counts, and delay others' calls by
/// a few milliseconds at most.
pub const MAX_BATCH: usize = 256;

/// Most requests that wait on one thread for one subject: sixteen calls, some 2 MB. More come only when the store is
/// far too slow for them, and a longer queue would not help.
const MAX_WAITING: usize = 16 * MAX_BATCH;

/// The waiting requests.
pub(super) struct Queue<J: Batchable>(Mutex<State<J>>);

struct State<J: Batchable> {
    waiting: VecDeque<(J::Under, J::Request, Waiter<J>)>,
    /// Whether the sending task runs.
    sending: bool,
}

impl<J: Batchable> Default for Queue<J> {
    fn default() -> Self {
        Self(Mutex::new(State {
            waiting: VecDeque::new(),
            sending: false,
        }))
    }
}

impl<J: Batchable> Queue<J> {
    /// Appends a request, and starts the sending task if there is none.
    pub(super) fn join(
        self: &Arc<Self>,
        make: impl FnOnce() -> J,
        under: &J::Under,
        request: J::Request,
    ) -> Result<oneshot::Receiver<Answered<J>>, CombineError> {
        let (caller, receiver) = oneshot::channel();
        let mut state = self.lock();
        if state.waiting.len() >= MAX_WAITING {
            let waiting = state.waiting.len();
            return Err(CombineError::Crowded { waiting });
        }
        let waiter = Waiter {
            since: Instant::now(),
            caller,
        };
        state.waiting.push_back((under.clone(), request, waiter));
        let idle = !std::mem::replace(&mut state.sending, true);
        drop(state);
        if idle {
            let sending = Sending {
                queue: Arc::clone(self),
                subject: make(),
                done: false,
            };
            // A task's future is moved several times before it runs, and this one is large.
            tokio::spawn(Box::pin(sending.run()));
        }
        Ok(receiver)
    }

    fn lock(&self) -> MutexGuard<'_, State<J>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The requests of the next call, in order of arrival. If none wait: `None`, the task has ended, and the queue has
    /// given its memory back. No request waits longer than `limit`.
    fn next(&self, limit: Duration) -> Option<Batch<J>> {
        let mut state = self.lock();
        loop {
            let Some((under, ..)) = state.waiting.front() else {
                state.sending = false;
                state.waiting = VecDeque::new();
                return None;
            };
            let most = state.waiting.len().min(MAX_BATCH);
            let mut batch = Batch {
                under: under.clone(),
                requests: Vec::with_capacity(most),
                waiters: Vec::with_capacity(most),
            };
            while batch.requests.len() < MAX_BATCH {
                let same = |(under, ..): &mut (J::Under, J::Request, Waiter<J>)| J::is_same(&batch.under, under);
                let Some((_, request, waiter)) = state.waiting.pop_front_if(same) else {
                    break;
                };
                // A request whose caller has gone away before it was sent is dropped.
                if waiter.caller.is_closed() {
                    continue;
                }
                let age = waiter.since.elapsed();
                if age >= limit {
                    waiter.answer(Err(ScriptError::Store(StoreError::Unavailable {
                        what: J::WHAT.to_owned(),
                        cause: format!("not sent within {} ms", age.as_millis()),
                    })));
                    continue;
                }
                batch.requests.push(request);
                batch.waiters.push(waiter);
            }
            if !batch.requests.is_empty() {
                return Some(batch);
            }
        }
    }

    /// Sends each answer of a call. Requests that were not tried come first in the next call.
    fn answer(&self, batch: Batch<J>, result: Result<J::Reply, ScriptError>) {
        match result {
            Ok(reply) => {
                let under = batch.under.clone();
                let untried = J::share(batch, reply);
                let mut state = self.lock();
                for (request, waiter) in untried.into_iter().rev() {
                    state.waiting.push_front((under.clone(), request, waiter));
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

    /// The waiting requests need the same node, which has not answered within the limit. Another call would fail too,
    /// and would exceed the limit.
    fn fail_waiting(&self, error: &ScriptError) {
        let waiting = std::mem::take(&mut self.lock().waiting);
        for (_, _, waiter) in waiting {
            waiter.answer(Err(error.clone()));
        }
    }
}

/// The requests and the result of a call.
type Settled<J> = (Batch<J>, Result<<J as Batchable>::Reply, ScriptError>);

/// The sending task.
struct Sending<J: Batchable> {
    queue: Arc<Queue<J>>,
    subject: J,
    done: bool,
}

impl<J: Batchable> Sending<J> {
    async fn run(mut self) {
        let mut settled = None;
        while let Some(batch) = self.next(&mut settled) {
            let result = {
                let mut call = pin!(self.subject.call(&batch.under, &batch.requests));
                // It is sent before the callers of the last call are woken. Otherwise Redis would be idle while this
                // thread writes their answers.
                let begun = poll_fn(|context| Poll::Ready(call.as_mut().poll(context))).await;
                self.answer(settled.take());
                match begun {
                    Poll::Ready(result) => result,
                    Poll::Pending => call.await,
                }
            };
            settled = Some((batch, result));
        }
        self.done = true;
    }

    /// The requests of the next call. The callers of the last call are answered first if there is no next call, or if
    /// the last one decides what happens to the waiting requests.
    fn next(&self, settled: &mut Option<Settled<J>>) -> Option<Batch<J>> {
        let all_tried = |(_, result): &Settled<J>| result.as_ref().is_ok_and(J::all_tried);
        if !settled.as_ref().is_some_and(all_tried) {
            self.answer(settled.take());
        }
        let next = self.queue.next(self.subject.limit());
        if next.is_none() {
            self.answer(settled.take());
        }
        next
    }

    fn answer(&self, settled: Option<Settled<J>>) {
        if let Some((batch, result)) = settled {
            self.queue.answer(batch, result);
        }
    }
}

impl<J: Batchable> Drop for Sending<J> {
    /// After an early end, by a panic or with its runtime: waiting callers see that their senders are dropped, and the
    /// next request starts another task.
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
