//! The crowd. Connections meet at a barrier and then ask for one user after the other. Other connections look up the queued
//! requests. An operator takes units back.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use reqwest::{Method, StatusCode, Url};
use tokio::sync::{Barrier, Mutex as AsyncMutex, mpsc};
use tokio::task::JoinSet;

use super::answer::{self, Outcome};
use super::evidence::{Call, Void};
use super::plan::{Ask, Plan};
use crate::SimulateError;
use crate::client::{Api, Target};
use crate::run::Setup;
use crate::scenario::{Course, Players, Scenario};

/// Connections that look up queued requests. More of them would load the service, and learn nothing sooner.
const LOOKING: u32 = 16;
/// Between two looks at the same request, or at the progress of the run.
const LOOK_EVERY: Duration = Duration::from_millis(5);
/// Limit for a queue in which nothing is decided. Its requests stay undecided.
const STUCK_AFTER: Duration = Duration::from_mins(1);

/// A call, and when its request joined the queue, in ms of the service's clock.
type Joined = (Call, Option<i64>);
/// The outcome of a request, and its time, in ms of the service's clock.
type Decision = (Result<Outcome, String>, Option<i64>);

/// What all of them share.
#[derive(Debug)]
pub struct Crowd {
    plan: Arc<Plan>,
    target: Target,
    url: Url,
    asks: Vec<Ask>,
    next: AtomicUsize,
    barrier: Barrier,
    started: Instant,
    repeats: Arc<AtomicU64>,
    /// Requests with an issued unit, for the operator.
    issued: Mutex<Vec<Ask>>,
    progress: Progress,
}

/// Counts while the run goes on.
#[derive(Debug, Default)]
pub struct Progress {
    /// Steps of the plan.
    pub done: AtomicU64,
    /// Calls answered with a unit, repeats among them.
    pub issued: AtomicU64,
    /// Calls refused.
    pub refused: AtomicU64,
    /// Units taken back.
    pub voided: AtomicU64,
    /// Calls whose request is in the queue.
    pub waiting: AtomicU64,
    /// Looks at requests in the queue.
    pub looks: AtomicU64,
}

/// The results of a task, or of all of them.
#[derive(Debug, Default)]
pub struct Results {
    pub calls: Vec<Call>,
    pub voids: Vec<Void>,
    /// Calls that looked at a request in the queue.
    pub looks: u64,
}

impl Players for Crowd {
    type Results = Results;

    fn steps(&self) -> &'static str {
        if self.plan.options.queued {
            "calls and decisions"
        } else {
            "calls"
        }
    }

    fn course(&self) -> Course<'_> {
        Course {
            done: &self.progress.done,
            all: self.plan.steps(),
            // Joining is half of the steps, and the queue is served meanwhile. The other steps only look.
            eventful: self.asks.len() as u64,
            started: self.started,
        }
    }

    fn message(&self) -> String {
        let number = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        format!(
            "{} issued  {} refused  {} queued  {} voided",
            number(&self.progress.issued),
            number(&self.progress.refused),
            number(&self.progress.waiting),
            number(&self.progress.voided)
        )
    }

    /// They ask until the last request is decided.
    async fn play(self: &Arc<Self>) -> Result<Results, SimulateError> {
        let (joined, line) = mpsc::unbounded_channel();
        let line = Arc::new(AsyncMutex::new(line));
        let mut tasks = JoinSet::new();
        for _ in 0..self.plan.crowd.connections {
            tasks.spawn(Arc::clone(self).ask_all(self.api()?, joined.clone()));
        }
        // The queue ends when all connections that ask are done.
        drop(joined);
        for _ in 0..LOOKING.min(self.plan.crowd.connections) {
            tasks.spawn(Arc::clone(self).look_up_all(self.api()?, Arc::clone(&line)));
        }
        tasks.spawn(Arc::clone(self).void_all(self.api()?));
        let mut all = Results::default();
        while let Some(ended) = tasks.join_next().await {
            let results = ended??;
            all.calls.extend(results.calls);
            all.voids.extend(results.voids);
        }
        all.looks = self.progress.looks.load(Ordering::Relaxed);
        Ok(all)
    }
}

impl Crowd {
    pub fn new(plan: Arc<Plan>, setup: &Setup) -> Self {
        Self {
            url: setup.api.url(&format!("{}/issues", plan.path())),
            asks: plan.asks(),
            next: AtomicUsize::new(0),
            barrier: Barrier::new(plan.crowd.connections as usize),
            plan,
            target: setup.target.clone(),
            started: Instant::now(),
            repeats: Arc::clone(&setup.repeats),
            issued: Mutex::default(),
            progress: Progress::default(),
        }
    }

    fn api(&self) -> Result<Api, SimulateError> {
        let api = Api::new(&self.target, Arc::clone(&self.repeats))?;
        Ok(if self.plan.options.queued {
            api.respond_async()
        } else {
            api
        })
    }

    /// The address of a request.
    fn issue(&self, ask: Ask) -> Url {
        let mut url = self.url.clone();
        url.set_path(&format!("{}/{}", url.path(), self.plan.request_id(ask)));
        url
    }

    async fn ask_all(
        self: Arc<Self>,
        api: Api,
        joined: mpsc::UnboundedSender<Joined>,
    ) -> Result<Results, SimulateError> {
        // Opens the connection before the barrier.
        api.call(Method::GET, &api.url("/healthz"), None).await?;
        self.barrier.wait().await;
        let mut results = Results::default();
        while let Some(ask) = self.asks.get(self.next.fetch_add(1, Ordering::Relaxed)) {
            let (call, joined_ms) = self.ask(&api, *ask).await?;
            if self.plan.options.queued {
                self.progress.done.fetch_add(1, Ordering::Relaxed);
            }
            if call.outcome == Ok(Outcome::Queued) {
                self.progress.waiting.fetch_add(1, Ordering::Relaxed);
                // The receiver is kept until all who send have ended.
                let _open = joined.send((call, joined_ms));
            } else {
                self.decided(&call);
                results.calls.push(call);
            }
        }
        Ok(results)
    }

    async fn ask(&self, api: &Api, ask: Ask) -> Result<Joined, SimulateError> {
        let body = Bytes::from(self.plan.body(ask).to_string());
        let sent_us = self.course().micros();
        let answered = api
            .call_until(Method::POST, &self.url, Some(body), answer::is_answer)
            .await?;
        let answered_us = self.course().micros();
        let call = Call {
            ask,
            sent_us,
            answered_us,
            decided_us: answered_us,
            queued_ms: None,
            status: answered.status.as_u16(),
            replayed: answered.replayed,
            repeats: answered.repeats,
            outcome: answer::read(&self.plan, ask, &answered),
        };
        Ok((call, answer::times_ms(&answered).0))
    }

    async fn look_up_all(
        self: Arc<Self>,
        api: Api,
        line: Arc<AsyncMutex<mpsc::UnboundedReceiver<Joined>>>,
    ) -> Result<Results, SimulateError> {
        let mut results = Results::default();
        loop {
            // In the order of joining, which is the order of the decisions.
            let Some((mut call, joined_ms)) = line.lock().await.recv().await else {
                return Ok(results);
            };
            let (outcome, decided_ms) = self.decision(&api, call.ask).await?;
            call.outcome = outcome;
            let queued_ms = decided_ms.zip(joined_ms).map(|(to, from)| to.saturating_sub(from));
            call.queued_ms = queued_ms.and_then(|ms| u64::try_from(ms).ok());
            call.decided_us = self.course().micros();
            self.progress.waiting.fetch_sub(1, Ordering::Relaxed);
            self.decided(&call);
            results.calls.push(call);
        }
    }

    /// The outcome of a queued request. It is still queued when the queue does not move.
    async fn decision(&self, api: &Api, ask: Ask) -> Result<Decision, SimulateError> {
        let url = self.issue(ask);
        let mut seen = (self.progress.done.load(Ordering::Relaxed), Instant::now());
        loop {
            let answered = api.call(Method::GET, &url, None).await?;
            self.progress.looks.fetch_add(1, Ordering::Relaxed);
            let outcome = answer::read(&self.plan, ask, &answered);
            let done = self.progress.done.load(Ordering::Relaxed);
            if done != seen.0 {
                seen = (done, Instant::now());
            }
            if outcome != Ok(Outcome::Queued) || seen.1.elapsed() > STUCK_AFTER {
                return Ok((outcome, answer::times_ms(&answered).1));
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    fn decided(&self, call: &Call) {
        let progress = &self.progress;
        match &call.outcome {
            Ok(Outcome::Issued(_) | Outcome::Voided(_)) => {
                progress.issued.fetch_add(1, Ordering::Relaxed);
                let mut issued = self.issued.lock().unwrap_or_else(PoisonError::into_inner);
                issued.push(call.ask);
            }
            _ => _ = progress.refused.fetch_add(1, Ordering::Relaxed),
        }
        progress.done.fetch_add(1, Ordering::Relaxed);
    }

    /// Takes units back at their points of the run; fewer than planned when nothing is left to take back at its end.
    async fn void_all(self: Arc<Self>, api: Api) -> Result<Results, SimulateError> {
        let mut rng = StdRng::seed_from_u64(self.plan.seed);
        let (mut results, mut taken) = (Results::default(), HashSet::new());
        let course = self.course();
        for point in self.plan.void_points(course.all) {
            while !course.has_reached(point) {
                tokio::time::sleep(LOOK_EVERY).await;
            }
            let ask = loop {
                // Asked before the choice: what is decided later may still be chosen.
                let over = course.has_reached(course.all);
                if let Some(ask) = self.choose(&mut rng, &taken) {
                    break ask;
                }
                if over {
                    return Ok(results);
                }
                tokio::time::sleep(LOOK_EVERY).await;
            };
            taken.insert(ask);
            results.voids.push(self.void(&api, ask).await?);
            self.progress.voided.fetch_add(1, Ordering::Relaxed);
        }
        Ok(results)
    }

    /// A request whose unit was issued and not taken back.
    fn choose(&self, rng: &mut StdRng, taken: &HashSet<Ask>) -> Option<Ask> {
        let issued = self.issued.lock().unwrap_or_else(PoisonError::into_inner);
        let left: Vec<Ask> = issued.iter().filter(|ask| !taken.contains(ask)).copied().collect();
        (!left.is_empty()).then(|| left[rng.random_range(0..left.len())])
    }

    async fn void(&self, api: &Api, ask: Ask) -> Result<Void, SimulateError> {
        let sent_us = self.course().micros();
        let answered = api.call(Method::DELETE, &self.issue(ask), None).await?;
        let outcome = match answered.status {
            StatusCode::OK => answer::read(&self.plan, ask, &answered),
            other => Err(format!("taking it back was answered {other}")),
        };
        Ok(Void {
            ask,
            sent_us,
            answered_us: self.course().micros(),
            outcome,
        })
    }
}
