//! The worker of the queues: this instance serves the queues of all coupons whose lease it gets.
//!
//! Any number of instances do this at once. The instance with the lease in Redis serves a queue. If it dies, another
//! one takes over when the lease ends. The worker looks at a queue at once when a request joins it here, and within
//! seconds when the shared reading of marks shows that something happened to its coupon. A queue with requests is looked
//! at every second.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt, stream};
use jackpot_core::ids::Id;
use jackpot_core::mark::Mark;
use tokio::sync::{Mutex, Semaphore};
use tokio::task::{self, JoinSet};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, timeout};
use tracing::{Instrument, debug, error, info_span, warn};

use super::coupons::Coupons;
use super::error::CouponError;
use super::scripts::{Retired, ScriptError};
use super::serving::{Serving, ServingSlot, Turn};
use jackpot_api::coupon::Status;
use jackpot_kernel::random::{self, RandomError};
use jackpot_kernel::settings;
use jackpot_kernel::single_flight::Read;
use jackpot_kernel::stopping::Stopping;
use jackpot_kernel::subject::{Glances, Quiet};

/// Time between two sweeps over all queues.
const SWEEP_EVERY: Duration = Duration::from_secs(1);
/// Sweeps between two full ones. A full sweep repairs the index, and logs a lasting trouble again.
const SWEEPS_PER_ROUND: u64 = 10;
/// Queues looked at in parallel, so that one on a frozen node does not delay the others.
const LOOKED_AT_ONCE: usize = 32;
/// How long a sweep waits for one coupon, because the queues on other nodes wait for a frozen one.
const LOOK: Duration = Duration::from_secs(1);
/// How long a queue whose head can't be read rests.
const REST: Duration = Duration::from_secs(10);
/// The longest time between two tries to retire a coupon that is over: its age counts at most 60 s between two tries.
const RETIRE_WITHIN: Duration = Duration::from_secs(45);
/// The same for a coupon that is not over.
const RETIRE_WITHOUT_END: Duration = Duration::from_mins(10);
/// The shortest such time.
const LEAST: Duration = Duration::from_secs(1);
/// Most tries to retire coupons in one sweep.
const RETIRED_AT_ONCE: usize = 500;
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
    /// One sweep at a time.
    sweeps: Arc<Mutex<Sweeps>>,
}

impl QueueWorker {
    pub fn new(coupons: Coupons, settings: settings::Coupons) -> Result<Self, RandomError> {
        Ok(Self {
            coupons,
            settings,
            token: hex::encode(random::bytes::<8>()?).into(),
            sweeps: Arc::default(),
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

    /// Looks at the queues of coupons in which something happened, and rings for those with requests. Retires coupons
    /// whose time has come.
    async fn sweep(self, number: u64) {
        let full = number.is_multiple_of(SWEEPS_PER_ROUND);
        let mut sweeps = self.sweeps.lock().await;
        let read = self.coupons.registry.glances().await;
        if full {
            self.coupons.registry.all(true).await;
        }
        let due = sweeps.due(&read, Instant::now());
        let look = |(id, retire): (Id, bool)| {
            let this = &self;
            async move {
                let span = info_span!("line", coupon_id = %id);
                let looked = this.look(&id, retire).instrument(span.clone()).await;
                // Logged in every tenth sweep, because a frozen node or a suspended coupon lasts.
                span.in_scope(|| match &looked {
                    Ok(_) | Err(CouponError::Script(ScriptError::Unknown)) => {}
                    Err(error) if full => warn!(%error, "this coupon was skipped in this round"),
                    Err(error) => debug!(%error, "this coupon was skipped in this round"),
                });
                (id, looked)
            }
        };
        let looked = stream::iter(due).map(look).buffer_unordered(LOOKED_AT_ONCE);
        let looked: Vec<_> = looked.collect().await;
        for (id, looked) in looked {
            sweeps.looked(&id, &looked, Instant::now());
        }
    }

    async fn look(&self, id: &Id, retire: bool) -> Result<Looked, CouponError> {
        let Ok(snapshot) = timeout(LOOK, self.coupons.snapshot(id)).await else {
            debug!("its node does not answer in time");
            return Ok(Looked::Late);
        };
        let snapshot = snapshot?;
        if snapshot.status == Status::Ended {
            return Ok(Looked::Over(snapshot.mark));
        }
        if snapshot.queued > 0 {
            self.coupons.bell.ring(id);
            return Ok(Looked::Queued);
        }
        let ends_ms = match snapshot.status {
            // Its end is in the past.
            Status::Closed => Some(0),
            _ => snapshot.held.get("ends").and_then(|ends| ends.parse().ok()),
        };
        let mut retire_in = None;
        if retire {
            let retired = self.coupons.retire(id, self.settings.retention_s).await?;
            if retired == Some(Retired::Done) {
                debug!("its end is long ago: its records are gone");
            }
            retire_in = Some(again(retired.as_ref(), ends_ms.map(|ends| ends - snapshot.now_ms)));
        }
        Ok(Looked::Quiet {
            mark: snapshot.mark,
            ends_ms,
            retire_in,
        })
    }
}

/// What a look at a coupon found.
enum Looked {
    /// Its node did not answer in time.
    Late,
    /// Requests are in its queue.
    Queued,
    /// It is retired.
    Over(Mark),
    /// Nothing is to do at this mark.
    Quiet {
        mark: Mark,
        /// Its end, ms.
        ends_ms: Option<i64>,
        /// When to try again to retire it; `None`: it was not tried.
        retire_in: Option<Duration>,
    },
}

/// When to try again to retire a coupon. `left_ms`: time to its end; `None` without an end.
fn again(retired: Option<&Retired>, left_ms: Option<i64>) -> Duration {
    let ms = |ms| Duration::from_millis(u64::try_from(ms).unwrap_or(0));
    match (retired, left_ms) {
        // A definition that sets an end changes the mark, and then it is tried again.
        (Some(Retired::NotOver { .. }), None) => RETIRE_WITHOUT_END,
        (Some(Retired::NotOver { .. }), Some(left_ms)) if left_ms > 0 => ms(left_ms).clamp(LEAST, RETIRE_WITHOUT_END),
        (Some(Retired::NotOver { left_ms, .. }), _) => {
            Duration::from_millis(left_ms.unwrap_or(0)).clamp(LEAST, RETIRE_WITHIN)
        }
        (Some(Retired::Raised(_)), _) => LEAST,
        _ => REST,
    }
}

/// What the sweeps remember.
#[derive(Debug, Default)]
struct Sweeps {
    quiet: Quiet,
    /// Coupons with requests in the queue, or that could not be read.
    busy: BTreeSet<Id>,
    /// When to try to retire each coupon, and its end then.
    retire: HashMap<Id, (Instant, Option<i64>)>,
    retire_next: BTreeSet<(Instant, Id)>,
}

impl Sweeps {
    /// The coupons to look at, and whether to try to retire each.
    fn due(&mut self, read: &Read<Glances>, now: Instant) -> BTreeMap<Id, bool> {
        let mut due: BTreeMap<Id, bool> = self
            .quiet
            .news(read)
            .into_iter()
            .map(|(id, _)| (id.clone(), false))
            .collect();
        due.extend(self.busy.iter().map(|id| (id.clone(), false)));
        let retire = self.retire_next.iter().take_while(|(at, _)| *at <= now);
        due.extend(retire.take(RETIRED_AT_ONCE).map(|(_, id)| (id.clone(), true)));
        due
    }

    fn looked(&mut self, id: &Id, looked: &Result<Looked, CouponError>, now: Instant) {
        match *looked {
            Ok(Looked::Over(mark)) => {
                self.settle(id, mark);
                self.forget_end(id);
            }
            Ok(Looked::Quiet {
                mark,
                ends_ms,
                retire_in,
            }) => {
                self.settle(id, mark);
                let known = self.retire.get(id).is_some_and(|(_, ends)| *ends == ends_ms);
                if let Some(after) = retire_in.or((!known).then_some(Duration::ZERO)) {
                    self.forget_end(id);
                    self.retire.insert(id.clone(), (now + after, ends_ms));
                    self.retire_next.insert((now + after, id.clone()));
                }
            }
            // A name without a coupon. Its index may have it because a PUT was cut off.
            Err(CouponError::Script(ScriptError::Unknown)) => _ = self.busy.remove(id),
            Ok(Looked::Late | Looked::Queued) | Err(_) => {
                self.quiet.lost(id);
                self.busy.insert(id.clone());
            }
        }
    }

    fn settle(&mut self, id: &Id, mark: Mark) {
        self.quiet.found(id, mark);
        self.busy.remove(id);
    }

    fn forget_end(&mut self, id: &Id) {
        if let Some((at, _)) = self.retire.remove(id) {
            self.retire_next.remove(&(at, id.clone()));
        }
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
