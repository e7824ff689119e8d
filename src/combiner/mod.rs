//! Joins the requests that arrive on a thread while a call for their subject is in flight into the next call.
//!
//! One call is in flight for each thread and subject, a jackpot or a coupon: a lone request goes out at once, and a hot
//! subject, however many requests wait, takes one turn like any other. The call runs in a task of its own, never in a
//! request's future: who goes away leaves the others' answers alone, and what was sent is settled all the same. Nothing
//! is shared between threads.
//!
//! What a call is and what it answers is the subject's: [`Joint`]. `queue`: those that wait. `batch`: those of one call.

mod batch;
mod queue;

use std::any::Any;
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use thiserror::Error;

use crate::store::StoreError;
use crate::stream::ScriptError;

pub use batch::{Batch, Waiter};
pub use queue::MAX_BATCH;

use queue::Queue;

/// Requests for one subject that can go out together. It keeps the subject, by whose address its queues are found, from
/// going away.
pub trait Joint: Sized + Send + Sync + 'static {
    /// What all requests of one call have in common.
    type Under: Clone + Send + Sync;
    /// One of them; it is given back with its answer, so that nobody copies it.
    type Request: Send + Sync;
    /// Of the call.
    type Reply: Send;
    /// Of each.
    type Answer: Send;

    /// Name of the call, for messages.
    const WHAT: &'static str;

    /// Whether one call can take requests of both.
    fn is_same(one: &Self::Under, other: &Self::Under) -> bool;

    /// The longest that a call takes, and so that a request waits.
    fn limit(&self) -> Duration;

    /// Makes the call, of 1 to [`MAX_BATCH`] requests.
    fn call(
        &self,
        under: &Self::Under,
        requests: &[Self::Request],
    ) -> impl Future<Output = Result<Self::Reply, ScriptError>> + Send;

    /// Whether every request of the call was tried, so that the next call can be made before these are told.
    fn all_tried(reply: &Self::Reply) -> bool;

    /// Gives each request its answer. What is given back, in its order, was not tried and comes first in the next call.
    fn share(batch: Batch<Self>, reply: Self::Reply) -> Vec<(Self::Request, Waiter<Self>)>;
}

/// A request as it was given, and what became of it.
pub type Told<J> = Result<(<J as Joint>::Request, <J as Joint>::Answer), ScriptError>;

/// Why a request has no answer.
#[derive(Debug, Error)]
pub enum CombineError {
    /// As many wait as may; it was not sent.
    #[error("{waiting} requests wait for Redis")]
    Crowded {
        /// How many.
        waiting: usize,
    },
    /// Its call did nothing, or it is not known whether it did.
    #[error(transparent)]
    Script(#[from] ScriptError),
}

/// Sends a request, together with others where they come together, and waits for its own answer. `subject`: what `make`
/// puts into the joint.
pub async fn join<J: Joint, S>(
    subject: &Arc<S>,
    make: impl FnOnce() -> J,
    under: &J::Under,
    request: J::Request,
) -> Result<(J::Request, J::Answer), CombineError> {
    let queue = Queues::here(Arc::as_ptr(subject).addr(), || Queue::new(make()));
    let answer = queue.join(under, request)?;
    // Its sender goes unused only when the call's task ended early, with its runtime or by a panic.
    let cut_off = |_| StoreError::Unavailable {
        what: J::WHAT.to_owned(),
        cause: "the call was cut off".to_owned(),
    };
    Ok(answer.await.map_err(cut_off).map_err(ScriptError::from)??)
}

/// Queues that a thread remembers before it looks which of them are done.
const QUEUES_BEFORE_TIDYING: usize = 64;

/// A thread's queues, of every kind, by the address of what is known of the subject: a queue that lives holds that in its
/// place. A queue lives while a call of it is in flight, so that idle subjects take no memory.
struct Queues {
    live: HashMap<usize, Weak<dyn Any + Send + Sync>>,
    tidy_at: usize,
}

impl Queues {
    /// The calling thread's queue for a subject.
    fn here<J: Joint>(address: usize, make: impl FnOnce() -> Queue<J>) -> Arc<Queue<J>> {
        thread_local! {
            static QUEUES: RefCell<Queues> = RefCell::new(Queues {
                live: HashMap::new(),
                tidy_at: QUEUES_BEFORE_TIDYING,
            });
        }
        QUEUES.with_borrow_mut(|queues| queues.of(address, make))
    }

    fn of<J: Joint>(&mut self, address: usize, make: impl FnOnce() -> Queue<J>) -> Arc<Queue<J>> {
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
