//! Serving one line: each call serves those that the last one took, in order, and takes the next.
//!
//! A call without an answer is repeated as it was: what it did is done once, whoever repeats it. A call that fails for
//! what it found is followed by calls that take one request at a time, so that only the one at fault is tried in vain.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tracing::{debug, error, warn};

use super::asking::is_damage;
use super::code::Code;
use super::coupons::{Coupons, kind_of};
use super::error::CouponError;
use super::known::Known;
use super::record::State;
use super::scripts::{self, Answer, MAX_TAKEN, ScriptError, Serve, Served, Taken};
use crate::ids::Id;
use crate::stopping::Stopping;
use crate::store::StoreError;

/// Pause before a call without an answer is repeated: the store has repeated it itself for some seconds by then.
const REPEAT_AFTER: Duration = Duration::from_millis(200);
/// How long a line may keep its place while others wait for one.
const TURN: Duration = Duration::from_secs(1);
/// Calls in a row that fail for what they find, the first of many requests, the next of one: then the head itself can't
/// be read, and the line is left alone for a while.
const MAX_FAILURES: usize = 2;

/// How serving a line ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// The line is empty, it serves nobody now, or the service stops.
    Over,
    /// Another instance serves it, and sees whoever is in the line before it gives its lease back.
    Held,
    /// Others waited; there is more to do.
    Yielded,
    /// Its head can't be read.
    Damaged,
}

/// The consumer of one line.
pub(super) struct Serving {
    pub(super) place: Place,
    pub(super) coupons: Coupons,
    pub(super) known: Arc<Known>,
    pub(super) id: Id,
    pub(super) token: Arc<str>,
    pub(super) lease_ms: u64,
    pub(super) stopping: Stopping,
}

/// One of the places that an instance has for serving.
pub(super) struct Place {
    places: Arc<Semaphore>,
    held: Option<OwnedSemaphorePermit>,
}

impl Place {
    /// None held yet.
    pub(super) fn of(places: &Arc<Semaphore>) -> Self {
        Self {
            places: Arc::clone(places),
            held: None,
        }
    }

    /// Waits for one, behind those that wait already.
    async fn take(&mut self) {
        self.held = Arc::clone(&self.places).acquire_owned().await.ok();
    }

    fn give_back(&mut self) {
        self.held = None;
    }

    /// Whether other lines wait for one.
    fn is_crowded(&self) -> bool {
        self.places.available_permits() == 0
    }
}

/// What the next call is to do.
struct Step {
    served: Vec<(String, Code)>,
    /// Requests that are still to be taken one at a time.
    careful: usize,
    failures: usize,
    last: bool,
}

impl Serving {
    /// Serves until the line is empty.
    pub(super) async fn run(mut self) -> Turn {
        self.place.take().await;
        match self.serve().await {
            Ok(turn) => turn,
            Err(CouponError::Script(error)) if is_damage(&error) => {
                error!(%error, "the head of the line can't be read; it waits for an operator");
                Turn::Damaged
            }
            Err(error) => {
                debug!(%error, "the line is not served");
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
                    self.coupons.registry.learn(&self.id, mark);
                    self.count(&answers);
                    let joined_meanwhile = waiting > 0 && turn == Turn::Over && !self.stopping.has_begun();
                    if step.last && !joined_meanwhile {
                        return Ok(turn);
                    }
                    step.careful = step.careful.saturating_sub(step.served.len().max(1));
                    step.failures = 0;
                    // Given back at once, so that whichever instance is joined next need not wait for this one.
                    step.last = taken.is_empty() && waiting == 0;
                    step.served = with_codes(taken)?;
                }
                Ok(Served::Held { free_in_ms, .. }) => {
                    debug!(free_in_ms, "another instance serves this line");
                    return Ok(Turn::Held);
                }
                Ok(Served::Stopped { refusal, .. }) => {
                    debug!(?refusal, "nobody is served");
                    return Ok(Turn::Over);
                }
                Err(error) if is_damage(&error) && !step.last && step.failures + 1 < MAX_FAILURES => {
                    warn!(%error, "a call of the line's consumer failed; going on with one request at a time");
                    step.served.clear();
                    step.careful = MAX_TAKEN;
                    step.failures += 1;
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// One call, repeated as it is until there is an answer. Meanwhile the place is others': lines on a node that is away
    /// must not keep those of the other nodes from being served.
    async fn call(&mut self, step: &Step) -> Result<Served, ScriptError> {
        let next = match step.careful {
            _ if step.last => 0,
            0 => MAX_TAKEN,
            // Nobody is served by a call that may fail for the one behind.
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
            match known.note(served) {
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

/// Each of those that were taken with the code of its unit, if it gets one.
fn with_codes(taken: Vec<Taken>) -> Result<Vec<(String, Code)>, CouponError> {
    let one = |taken: Taken| Ok((taken.request_id, Code::random()?));
    taken.into_iter().map(one).collect()
}

/// One for each call, and for its repeats; counted within this process, which the token tells from others.
fn take_id(token: &str) -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    format!("{token}-{}", COUNT.fetch_add(1, Ordering::Relaxed))
}
