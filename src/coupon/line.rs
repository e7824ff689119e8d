//! The worker of the lines: this instance serves those of all coupons whose lease it gets.
//!
//! Any number of instances do this at once: each line is served by the one that holds its lease in Redis, and by
//! another one within that time of its death. A line that somebody joins here is looked at at once; all others are
//! looked at every second.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::{StreamExt, stream};
use tokio::sync::Semaphore;
use tokio::task::{self, JoinSet};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, timeout};
use tracing::{Instrument, debug, error, info_span, warn};

use super::coupons::Coupons;
use super::error::CouponError;
use super::scripts::{Retired, ScriptError};
use super::serving::{Place, Serving, Turn};
use super::status::Status;
use crate::ids::Id;
use crate::random::{self, RandomError};
use crate::settings;
use crate::stopping::Stopping;

/// Between two looks at all lines.
const SWEEP_EVERY: Duration = Duration::from_secs(1);
/// Sweeps between two looks at what is over for long enough, at the index, and between two lines of the log about one
/// and the same trouble.
const SWEEPS_PER_ROUND: u64 = 10;
/// Lines looked at at the same time: one on a frozen node must not hold up the others.
const LOOKED_AT_ONCE: usize = 32;
/// How long a sweep waits for one coupon: behind a frozen node the lines of the other nodes wait.
const LOOK: Duration = Duration::from_secs(1);
/// How long a line whose head can't be read is left alone.
const REST: Duration = Duration::from_secs(10);
/// After another instance was found serving a line: however many join it here, it is not asked for more often.
const HELD_PAUSE: Duration = Duration::from_millis(50);
/// Lines served at the same time; with more, those take turns.
const SERVED_AT_ONCE: usize = 64;

/// The worker of an instance.
#[derive(Debug, Clone)]
pub struct Line {
    coupons: Coupons,
    settings: settings::Coupons,
    /// Of this instance, for its leases.
    token: Arc<str>,
    /// Coupons that are over for good, which only grow in number: nobody is in their lines.
    over: Arc<Mutex<HashSet<Id>>>,
}

impl Line {
    /// A worker with a token of its own.
    pub fn new(coupons: Coupons, settings: settings::Coupons) -> Result<Self, RandomError> {
        Ok(Self {
            coupons,
            settings,
            token: hex::encode(random::bytes::<8>()?).into(),
            over: Arc::default(),
        })
    }

    /// Works until the service stops; gives its leases back then.
    pub async fn run(self, stopping: Stopping) {
        let mut all = AllLines::default();
        let mut sweeps = interval(SWEEP_EVERY);
        sweeps.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut sweeping = JoinSet::new();
        let mut round = 0;
        loop {
            tokio::select! {
                () = stopping.wait() => break,
                // One that is slow, because a node is frozen, is waited for; its bell rings all the same.
                _ = sweeps.tick(), if sweeping.is_empty() => {
                    sweeping.spawn(self.clone().sweep(round));
                    round += 1;
                }
                Some(_) = sweeping.join_next() => {}
                rung = self.coupons.bell.rung() => {
                    for id in rung {
                        all.begin(&self, id, &stopping);
                    }
                }
                Some(ended) = all.tasks.join_next_with_id() => {
                    let (task, turn) = match ended {
                        Ok((task, turn)) => (task, turn),
                        Err(error) => {
                            error!(%error, "serving a line ended with an error");
                            (error.id(), Turn::Damaged)
                        }
                    };
                    all.ended(&self, task, turn, &stopping);
                }
            }
        }
        sweeping.abort_all();
        while all.tasks.join_next().await.is_some() {}
    }

    /// Looks at all lines once, and rings for those that somebody is in.
    async fn sweep(self, number: u64) {
        let full = number.is_multiple_of(SWEEPS_PER_ROUND);
        let look = |id: Id| {
            let this = &self;
            async move {
                let span = info_span!("line", coupon_id = %id);
                if let Err(error) = this.look(&id, full).instrument(span.clone()).await {
                    // Said in every tenth round: a frozen node or a suspended coupon lasts.
                    span.in_scope(|| match error {
                        CouponError::Script(ScriptError::Unknown) => {}
                        error if full => warn!(%error, "this coupon was passed over"),
                        error => debug!(%error, "this coupon was passed over"),
                    });
                }
            }
        };
        let mut ids = self.coupons.registry.all(full).await;
        let over = self.over.lock().unwrap_or_else(PoisonError::into_inner).clone();
        ids.retain(|id| !over.contains(id));
        stream::iter(ids).for_each_concurrent(LOOKED_AT_ONCE, look).await;
    }

    async fn look(&self, id: &Id, full: bool) -> Result<(), CouponError> {
        let Ok(snapshot) = timeout(LOOK, self.coupons.snapshot(id)).await else {
            debug!("its node does not answer in time");
            return Ok(());
        };
        let snapshot = snapshot?;
        if snapshot.status == Status::Ended {
            self.over
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .insert(id.clone());
        } else if snapshot.queued > 0 {
            self.coupons.bell.ring(id);
        } else if full && let Some(Retired::Done) = self.coupons.retire(id, self.settings.retention_s).await? {
            debug!("its end is long ago: its records are gone");
        }
        Ok(())
    }
}

/// The lines that are served, each by a task of its own.
struct AllLines {
    tasks: JoinSet<Turn>,
    of_task: HashMap<task::Id, Id>,
    serving: HashSet<Id>,
    /// Rung for again while they were served: their task may have found the line empty before.
    again: HashSet<Id>,
    /// Until when lines that failed are left alone.
    resting: HashMap<Id, Instant>,
    places: Arc<Semaphore>,
}

impl Default for AllLines {
    fn default() -> Self {
        Self {
            tasks: JoinSet::new(),
            of_task: HashMap::new(),
            serving: HashSet::new(),
            again: HashSet::new(),
            resting: HashMap::new(),
            places: Arc::new(Semaphore::new(SERVED_AT_ONCE)),
        }
    }
}

impl AllLines {
    fn begin(&mut self, line: &Line, id: Id, stopping: &Stopping) {
        if self.resting.get(&id).is_some_and(|until| *until > Instant::now()) {
            return;
        }
        self.resting.remove(&id);
        if !self.serving.insert(id.clone()) {
            self.again.insert(id);
            return;
        }
        let serving = Serving {
            place: Place::of(&self.places),
            coupons: line.coupons.clone(),
            known: line.coupons.registry.known(&id),
            id: id.clone(),
            token: Arc::clone(&line.token),
            lease_ms: line.settings.consumer_lease_ms,
            stopping: stopping.clone(),
        };
        let stopping = stopping.clone();
        let span = info_span!("line", coupon_id = %id);
        let work = async move {
            let turn = serving.run().await;
            if turn == Turn::Held {
                tokio::select! {
                    () = sleep(HELD_PAUSE) => {}
                    () = stopping.wait() => {}
                }
            }
            turn
        };
        let task = self.tasks.spawn(work.instrument(span));
        self.of_task.insert(task.id(), id);
    }

    fn ended(&mut self, line: &Line, task: task::Id, turn: Turn, stopping: &Stopping) {
        let Some(id) = self.of_task.remove(&task) else {
            return;
        };
        self.serving.remove(&id);
        let rung = self.again.remove(&id);
        match turn {
            Turn::Over | Turn::Held if rung => self.begin(line, id, stopping),
            Turn::Over | Turn::Held => {}
            // Behind those that wait for a place.
            Turn::Yielded => self.begin(line, id, stopping),
            Turn::Damaged => {
                self.resting.insert(id, Instant::now() + REST);
            }
        }
    }
}
