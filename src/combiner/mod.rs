//! Combines requests that arrive on a thread during a call for their subject into the next call.
//!
//! One call is in flight for each thread and subject (a jackpot, a coupon or a room). A lone request goes out at once.
//! A hot subject takes one turn like any other, however many requests wait. The call runs in a task of its own, never
//! in a request's future. So a caller that goes away does not affect the others' answers, and a sent request is settled
//! all the same. Threads share nothing.
//!
//! The subject decides what a call is and what it answers: [`Batchable`]. `queue`: waiting requests. `batch`: the requests
//! of one call.

mod batch;
mod queue;

use std::any::Any;
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use thiserror::Error;

use crate::store::StoreError;
use crate::subject::ScriptError;

pub use batch::{Batch, Waiter};
pub use queue::MAX_BATCH;

use queue::Queue;

/// Requests for one subject that one call can take. It keeps the subject alive, because queues are found by the
/// subject's address.
pub trait Batchable: Sized + Send + Sync + 'static {
    /// The common part of all requests of one call.
    type Under: Clone + Send + Sync;
    /// A request. It comes back with its answer, so nobody copies it.
    type Request: Send + Sync;
    /// The reply of a call.
    type Reply: Send;
    /// The answer to a request.
    type Answer: Send;

    /// Name of the call, for messages.
    const WHAT: &'static str;

    /// Whether one call can take requests of both.
    fn is_same(one: &Self::Under, other: &Self::Under) -> bool;

    /// The longest time of a call, and so of a request's wait.
    fn limit(&self) -> Duration;

    /// Makes the call, of 1 to [`MAX_BATCH`] requests.
    fn call(
        &self,
        under: &Self::Under,
        requests: &[Self::Request],
    ) -> impl Future<Output = Result<Self::Reply, ScriptError>> + Send;

    /// Whether every request of the call was tried. Then the next call can be made before these are answered.
    fn all_tried(reply: &Self::Reply) -> bool;

    /// Sends each request its answer. Returns the requests that were not tried, in order. They come first in the next
    /// call.
    fn share(batch: Batch<Self>, reply: Self::Reply) -> Vec<(Self::Request, Waiter<Self>)>;
}

/// A request with its answer.
pub type Answered<J> = Result<(<J as Batchable>::Request, <J as Batchable>::Answer), ScriptError>;

/// Why a request has no answer.
#[derive(Debug, Error)]
pub enum CombineError {
    /// The largest number of requests already waits; this one was not sent.
    #[error("{waiting} requests wait for Redis")]
    Crowded { waiting: usize },
    /// Its call did nothing, or its result is unknown.
    #[error(transparent)]
    Script(#[from] ScriptError),
}

/// Sends a request, combined with others if there are any, and waits for its answer. `make` makes the [`Batchable`] of
/// `subject`.
pub async fn join<J: Batchable, S>(
    subject: &Arc<S>,
    make: impl FnOnce() -> J,
    under: &J::Under,
    request: J::Request,
) -> Result<(J::Request, J::Answer), CombineError> {
    let queue = Queues::here(Arc::as_ptr(subject).addr(), || Queue::new(make()));
    let answer = queue.join(under, request)?;
    // The sender is lost only if the call's task ended early, with its runtime or by a panic.
    let cut_off = |_| StoreError::Unavailable {
        what: J::WHAT.to_owned(),
        cause: "the call was cut off".to_owned(),
    };
    Ok(answer.await.map_err(cut_off).map_err(ScriptError::from)??)
}

/// Queues that a thread keeps before it drops idle ones.
const QUEUES_BEFORE_TIDYING: usize = 64;

/// A thread's queues, of every kind, by the address of the known subject. A live queue keeps that subject in its place.
/// A queue lives while a call of it is in flight, so idle subjects take no memory.
struct Queues {
    live: HashMap<usize, Weak<dyn Any + Send + Sync>>,
    tidy_at: usize,
}

impl Queues {
    /// The calling thread's queue for a subject.
    fn here<J: Batchable>(address: usize, make: impl FnOnce() -> Queue<J>) -> Arc<Queue<J>> {
        thread_local! {
            static QUEUES: RefCell<Queues> = RefCell::new(Queues {
                live: HashMap::new(),
                tidy_at: QUEUES_BEFORE_TIDYING,
            });
        }
        QUEUES.with_borrow_mut(|queues| queues.of(address, make))
    }

    fn of<J: Batchable>(&mut self, address: usize, make: impl FnOnce() -> Queue<J>) -> Arc<Queue<J>> {
        let live = self.live.get(&address).and_then(Weak::upgrade);
        if let Some(queue) = live.and_then(|queue| queue.downcast().ok()) {
            return queue;
        }
        if self.live.len() >= self.tidy_at {
            self.live.retain(|_, queue| queue.strong_count() > 0);
            self.tidy_at = QUEUES_BEFORE_TIDYING.max(self.live.len() * 2);
        }
        let queue = Arc::new(make());
        let any: Arc<dyn Any + Send + Sync> = queue.clone();
        self.live.insert(address, Arc::downgrade(&any));
        queue
    }
}
