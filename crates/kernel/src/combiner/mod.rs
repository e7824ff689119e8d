//! Combines requests that arrive on a thread during a call for their subject into the next call.
//!
//! One call is in flight for each thread and subject (a jackpot, a coupon or a room). A lone request goes out at once.
//! A hot subject takes one turn like any other, however many requests wait. The call runs in a task of its own, never
//! in a request's future. So a caller that goes away does not affect the others' answers, and a sent request is settled
//! all the same. Threads share nothing.
//!
//! The subject decides what a call is and what it answers: [`Batchable`]. What an instance remembers of the subject owns
//! its [`Queues`], one for each thread. `queue`: waiting requests, and the task that sends them. `batch`: the requests of
//! one call.

mod batch;
mod queue;

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use thiserror::Error;
use thread_local::ThreadLocal;

use crate::store::StoreError;
use crate::subject::ScriptError;
use crate::telemetry::trace;

pub use batch::{Batch, Waiter};
pub use queue::MAX_BATCH;

use queue::Queue;

/// Makes calls for one subject. Requests come in batches that one call can take.
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

/// Whether a call failed because of damaged data, so that a repeat fails too.
pub fn is_damage(error: &ScriptError) -> bool {
    matches!(
        error,
        ScriptError::Store(StoreError::Script { .. } | StoreError::Protocol { .. })
            | ScriptError::Reply { .. }
            | ScriptError::Record(_)
    )
}

/// The requests for one subject that wait, a queue for each thread. They hold no reference to the subject.
///
/// The table of threads takes 520 bytes. It is made for the first request, because an instance knows many subjects that
/// it gets no request for.
pub struct Queues<J: Batchable>(OnceLock<Box<ThreadLocal<Arc<Queue<J>>>>>);

impl<J: Batchable> Queues<J> {
    /// Sends a request, combined with others if there are any, and waits for its answer. `make` makes the
    /// [`Batchable`] that calls while requests of this thread wait.
    pub async fn join(
        &self,
        make: impl FnOnce() -> J,
        under: &J::Under,
        request: J::Request,
    ) -> Result<(J::Request, J::Answer), CombineError> {
        let here = self.0.get_or_init(Box::default).get_or_default();
        let begun = trace::is_exported().then(Instant::now);
        let answer = here.join(make, under, request)?;
        // The sender is lost only if the call's task ended early, with its runtime or by a panic.
        let cut_off = |_| StoreError::Unavailable {
            what: J::WHAT.to_owned(),
            cause: "the call was cut off".to_owned(),
        };
        let answer = answer.await.map_err(cut_off).map_err(ScriptError::from).flatten();
        if let Some(begun) = begun {
            trace::shared(J::WHAT, answer.is_ok(), begun.elapsed());
        }
        Ok(answer?)
    }
}

impl<J: Batchable> Default for Queues<J> {
    fn default() -> Self {
        Self(OnceLock::new())
    }
}

impl<J: Batchable> fmt::Debug for Queues<J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queues").finish_non_exhaustive()
    }
}
