//! Serves the queue of one coupon: each call serves the requests that the last call took, in order, and takes the next.
//!
//! A call without an answer is repeated unchanged, and has its effect once. After a call that damage failed, calls take
//! one request at a time, so that only the damaged request uses up its tries.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use jackpot_core::ids::Id;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tracing::{debug, error, warn};

use super::code::Code;
use super::coupons::{Coupons, kind_of};
use super::error::CouponError;
use super::known::Known;
use super::record::State;
use super::scripts::{self, Answer, MAX_TAKEN, ScriptError, Serve, Served, Taken};
use jackpot_kernel::combiner::is_damage;
use jackpot_kernel::stopping::Stopping;
use jackpot_kernel::store::StoreError;

/// Pause before a call without an answer is repeated. The store has repeated it for some seconds by then.
const REPEAT_AFTER: Duration = Duration::from_millis(200);
/// How long a queue may keep its place while other queues wait for one.
const TURN: Duration = Duration::from_secs(1);
/// Calls in a row that damage may fail: the first takes many requests, the next one. Then the head itself can't be
/// read, and the queue rests for a while.
const MAX_FAILURES: usize = 2;

/// How serving a queue ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// The queue is empty, the coupon serves nobody now, or the service stops.
    Over,
    /// Another instance serves the queue, and sees every request in it before it gives its lease back.
    Held,
    /// Other queues waited; this one has more to do.
    Yielded,
    /// Its head can't be read.
    Damaged,
}

/// The consumer of one queue.
pub(super) struct Serving {
    pub(super) place: ServingSlot,
    pub(super) coupons: Coupons,
    pub(super) known: Arc<Known>,
    pub(super) id: Id,
    pub(super) token: Arc<str>,
    pub(super) lease_ms: u64,
    pub(super) stopping: Stopping,
}

/// One of an instance's places for serving queues.
pub(super) struct ServingSlot {
    places: Arc<Semaphore>,
    held: Option<OwnedSemaphorePermit>,
}

impl ServingSlot {
    pub(super) fn of(places: &Arc<Semaphore>) -> Self {
        Self {
            places: Arc::clone(places),
            held: None,
        }
    }

    /// Waits for a place, after earlier waiters.
    async fn take(&mut self) {
        self.held = Arc::clone(&self.places).acquire_owned().await.ok();
    }

    fn give_back(&mut self) {
        self.held = None;
    }

    /// Whether other queues wait for a place.
    fn is_crowded(&self) -> bool {
        self.places.available_permits() == 0
    }
}

/// The next call.
struct Step {
    served: Vec<(String, Code)>,
    /// How many more requests to take one at a time.
    careful: usize,
    failures: usize,
    last: bool,
}

impl Serving {
    /// Serves until the queue is empty.
    pub(super) async fn run(mut self) -> Turn {
        self.place.take().await;
        match self.serve().await {
            Ok(turn) => turn,
            Err(CouponError::Script(error)) if is_damage(&error) => {
                error!(%error, "the head of the queue can't be read; it waits for an operator");
                Turn::Damaged
            }
            Err(error) => {
                debug!(%error, "the queue is not served");
                Turn::Over
            }
        }
    }

    async fn serve(&mut self) -> Result<Turn, CouponError> {
        let begun = Instant::now();
        let mut turn = Turn::Over;
        let mut step = Step {
            served: Vec::new(),
            careful: 0,
            failures: 0,
            last: false,
        };
        loop {
            if begun.elapsed() >= TURN && self.place.is_crowded() {
                (step.last, turn) = (true, Turn::Yielded);
            }
            step.last |= self.stopping.has_begun();
            match self.call(&step).await {
                Ok(Served::Done {
                    mark,
                    answers,
                    taken,
                    waiting,
                }) => {
                    self.coupons.registry.observe(&self.id, mark);
                    self.count(&answers);
                    let joined_meanwhile = waiting > 0 && turn == Turn::Over && !self.stopping.has_begun();
                    if step.last && !joined_meanwhile {
                        return Ok(turn);
                    }
                    step.careful = step.careful.saturating_sub(step.served.len().max(1));
                    step.failures = 0;
                    // Given back at once, so that the instance where the next request joins need not wait for this one.
                    step.last = taken.is_empty() && waiting == 0;
                    step.served = with_codes(taken)?;
                }
                Ok(Served::Held { free_in_ms, .. }) => {
                    debug!(free_in_ms, "another instance serves this queue");
                    return Ok(Turn::Held);
                }
                Ok(Served::Stopped { refusal, .. }) => {
                    debug!(?refusal, "no request of the queue is served");
                    return Ok(Turn::Over);
                }
                Err(error) if is_damage(&error) && !step.last && step.failures + 1 < MAX_FAILURES => {
                    warn!(%error, "a call of the queue's consumer failed; it continues with one request at a time");
                    step.served.clear();
                    step.careful = MAX_TAKEN;
                    step.failures += 1;
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Makes one call, and repeats it unchanged until there is an answer. Meanwhile it gives its place back, so that
    /// queues on an unreachable node do not delay queues on other nodes.
    async fn call(&mut self, step: &Step) -> Result<Served, ScriptError> {
        let next = match step.careful {
            _ if step.last => 0,
            0 => MAX_TAKEN,
            // A call that may fail for the next request must not serve one.
            _ if !step.served.is_empty() => 0,
            _ => 1,
        };
        let wish = Serve {
            token: &self.token,
            lease_ms: if step.last { 0 } else { self.lease_ms },
            take_id: &take_id(&self.token),
            served: &step.served,
            next,
        };
        loop {
            let known = &self.known;
            known.whole()?;
            let served = scripts::serve(&self.coupons.store, &known.keys, known.mark(), &wish).await;
            match known.observe_loss(served) {
                Err(ScriptError::Store(
                    StoreError::Unavailable { .. } | StoreError::Unconfirmed { .. } | StoreError::OutOfMemory,
                )) if !self.stopping.has_begun() => {
                    self.place.give_back();
                    tokio::select! {
                        () = tokio::time::sleep(REPEAT_AFTER) => {}
                        () = self.stopping.wait() => {}
                    }
                    self.place.take().await;
                }
                other => return other,
            }
        }
    }

    fn count(&self, answers: &[Option<Answer>]) {
        let coupon = self.coupons.metrics.coupons.coupon(self.id.as_str());
        for answer in answers.iter().flatten().filter(|answer| answer.fresh) {
            if let Ok(record) = &answer.record
                && !matches!(record.state, State::Queued { .. })
            {
                coupon.issues(kind_of(&record.state), 1);
            }
        }
    }
}

/// Makes a code for each taken request. The script uses it only if it issues a unit.
fn with_codes(taken: Vec<Taken>) -> Result<Vec<(String, Code)>, CouponError> {
    let one = |taken: Taken| Ok((taken.request_id, Code::random()?));
    taken.into_iter().map(one).collect()
}

/// A new id for a call and its repeats. The number is unique in this process, and the token among processes.
fn take_id(token: &str) -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    format!("{token}-{}", COUNT.fetch_add(1, Ordering::Relaxed))
}
