//! The worker of the queues: this instance serves the queues of all coupons whose lease it gets.
//!
//! Any number of instances do this at once. The instance with the lease in Redis serves a queue. If it dies, another
//! one takes over when the lease ends. The worker looks at a queue at once when a request joins it here, and at all
//! queues every second.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::{StreamExt, stream};
use jackpot_core::ids::Id;
use tokio::sync::Semaphore;
use tokio::task::{self, JoinSet};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, timeout};
use tracing::{Instrument, debug, error, info_span, warn};

use super::coupons::Coupons;
use super::error::CouponError;
use super::scripts::{Retired, ScriptError};
use super::serving::{Serving, ServingSlot, Turn};
use super::status::Status;
use crate::random::{self, RandomError};
use crate::settings;
use crate::stopping::Stopping;

/// Time between two sweeps over all queues.
const SWEEP_EVERY: Duration = Duration::from_secs(1);
/// Sweeps between two full ones. A full sweep retires coupons, reads the index, and logs a lasting trouble again.
const SWEEPS_PER_ROUND: u64 = 10;
/// Queues looked at in parallel, so that one on a frozen node does not delay the others.
const LOOKED_AT_ONCE: usize = 32;
/// How long a sweep waits for one coupon, because the queues on other nodes wait for a frozen one.
const LOOK: Duration = Duration::from_secs(1);
/// How long a queue whose head can't be read rests.
const REST: Duration = Duration::from_secs(10);
/// Pause after another instance was found serving a queue. However many requests join it here, this instance does not
/// ask more often.
const HELD_PAUSE: Duration = Duration::from_millis(50);
/// Queues served at once. If there are more, they take turns.
const SERVED_AT_ONCE: usize = 64;

/// The worker of an instance.
#[derive(Debug, Clone)]
pub struct QueueWorker {
    coupons: Coupons,
    settings: settings::Coupons,
    /// This instance's token, for its leases.
    token: Arc<str>,
    /// Retired coupons. Their queues are empty for good, so the set only grows.
    over: Arc<Mutex<HashSet<Id>>>,
}

impl QueueWorker {
    pub fn new(coupons: Coupons, settings: settings::Coupons) -> Result<Self, RandomError> {
        Ok(Self {
            coupons,
            settings,
            token: hex::encode(random::bytes::<8>()?).into(),
            over: Arc::default(),
        })
    }

    /// Works until the service stops, and then gives its leases back.
    pub async fn run(self, stopping: Stopping) {
        let mut all = AllLines::default();
        let mut sweeps = interval(SWEEP_EVERY);
        sweeps.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut sweeping = JoinSet::new();
        let mut round = 0;
        loop {
            tokio::select! {
                () = stopping.wait() => break,
                // The loop waits for a slow sweep (a frozen node), but the bell still rings.
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
                            error!(%error, "serving a queue ended with an error");
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

    /// Looks at all queues once, and rings for those with requests.
    async fn sweep(self, number: u64) {
        let full = number.is_multiple_of(SWEEPS_PER_ROUND);
        let look = |id: Id| {
            let this = &self;
            async move {
                let span = info_span!("line", coupon_id = %id);
                if let Err(error) = this.look(&id, full).instrument(span.clone()).await {
                    // Logged in every tenth sweep, because a frozen node or a suspended coupon lasts.
                    span.in_scope(|| match error {
                        CouponError::Script(ScriptError::Unknown) => {}
                        error if full => warn!(%error, "this coupon was skipped in this round"),
                        error => debug!(%error, "this coupon was skipped in this round"),
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

/// The queues in service, each with a task of its own.
struct AllLines {
    tasks: JoinSet<Turn>,
    of_task: HashMap<task::Id, Id>,
    serving: HashSet<Id>,
    /// Rung again while in service: the task may have found the queue empty before.
    again: HashSet<Id>,
    /// Until when failed queues rest.
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
    fn begin(&mut self, line: &QueueWorker, id: Id, stopping: &Stopping) {
        if self.resting.get(&id).is_some_and(|until| *until > Instant::now()) {
            return;
        }
        self.resting.remove(&id);
        if !self.serving.insert(id.clone()) {
            self.again.insert(id);
            return;
        }
        let serving = Serving {
            place: ServingSlot::of(&self.places),
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

    fn ended(&mut self, line: &QueueWorker, task: task::Id, turn: Turn, stopping: &Stopping) {
        let Some(id) = self.of_task.remove(&task) else {
            return;
        };
        self.serving.remove(&id);
        let rung = self.again.remove(&id);
        match turn {
            Turn::Over | Turn::Held if rung => self.begin(line, id, stopping),
            Turn::Over | Turn::Held => {}
            // After the queues that wait for a place.
            Turn::Yielded => self.begin(line, id, stopping),
            Turn::Damaged => {
                self.resting.insert(id, Instant::now() + REST);
            }
        }
    }
}
