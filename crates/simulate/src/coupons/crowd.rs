//! The crowd: connections that meet at a barrier and then ask for one user after the other; others that look up what
//! became of those in the line; and an operator who takes units back.

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
use crate::course::Course;

/// Connections that look up requests in the line; more would load the service rather than learn sooner.
const LOOKING: u32 = 16;
/// Between two looks at the same request, and of who waits for the run to come on.
const LOOK_EVERY: Duration = Duration::from_millis(5);
/// A request is left in the line when no other was decided for so long either.
const STUCK_AFTER: Duration = Duration::from_mins(1);

/// A call, and when its request joined the line, in ms of the service's clock.
type Joined = (Call, Option<i64>);
/// What became of a request, and when, in ms of the service's clock.
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
    /// Requests that were told to be issued, for the operator.
    issued: Mutex<Vec<Ask>>,
    /// For the progress bar and the killer.
    pub progress: Progress,
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
    /// Calls whose request is in the line.
    pub waiting: AtomicU64,
    /// Looks at requests in the line.
    pub looks: AtomicU64,
}

impl Progress {
    /// For the bar.
    pub fn told(&self) -> (u64, String) {
        let number = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let message = format!(
            "{} issued  {} refused  {} in the line  {} voided",
            number(&self.issued),
            number(&self.refused),
            number(&self.waiting),
            number(&self.voided)
        );
        (number(&self.done), message)
    }
}

/// What they brought home.
#[derive(Debug, Default)]
pub struct Results {
    pub calls: Vec<Call>,
    pub voids: Vec<Void>,
}

impl Crowd {
    pub fn new(plan: Arc<Plan>, target: Target, repeats: Arc<AtomicU64>) -> Result<Self, SimulateError> {
        let api = Api::new(&target, Arc::clone(&repeats))?;
        Ok(Self {
            url: api.url(&format!("/v1/coupons/{}/issues", plan.coupon_id)),
            asks: plan.asks(),
            next: AtomicUsize::new(0),
            barrier: Barrier::new(plan.connections as usize),
            plan,
            target,
            started: Instant::now(),
            repeats,
            issued: Mutex::default(),
            progress: Progress::default(),
        })
    }

    /// How far it has come.
    pub fn course(&self) -> Course<'_> {
        Course {
            done: &self.progress.done,
            all: self.plan.steps(),
            // Joining is half of the steps, and a line is served while others join it: what is left is to look.
            eventful: self.asks.len() as u64,
            started: self.started,
        }
    }

    /// Lets all of them ask until the last request is decided. The first that can't go on ends it for all.
    pub async fn play(self: &Arc<Self>) -> Result<Results, SimulateError> {
        let (joined, line) = mpsc::unbounded_channel();
        let line = Arc::new(AsyncMutex::new(line));
        let mut tasks = JoinSet::new();
        for _ in 0..self.plan.connections {
            tasks.spawn(Arc::clone(self).ask_all(self.api()?, joined.clone()));
        }
        // The line ends when all who ask are done.
        drop(joined);
        for _ in 0..LOOKING.min(self.plan.connections) {
            tasks.spawn(Arc::clone(self).look_up_all(self.api()?, Arc::clone(&line)));
        }
        tasks.spawn(Arc::clone(self).void_all(self.api()?));
        let mut all = Results::default();
        while let Some(ended) = tasks.join_next().await {
            let haul = ended??;
            all.calls.extend(haul.calls);
            all.voids.extend(haul.voids);
        }
        Ok(all)
    }

    fn api(&self) -> Result<Api, SimulateError> {
        let api = Api::new(&self.target, Arc::clone(&self.repeats))?;
        Ok(if self.plan.queued { api.respond_async() } else { api })
    }

    async fn ask_all(
        self: Arc<Self>,
        api: Api,
        joined: mpsc::UnboundedSender<Joined>,
    ) -> Result<Results, SimulateError> {
        // Opens the connection, so that at the barrier nothing is left to do but to ask.
        api.call(Method::GET, &api.url("/healthz"), None).await?;
        self.barrier.wait().await;
        let mut haul = Results::default();
        while let Some(ask) = self.asks.get(self.next.fetch_add(1, Ordering::Relaxed)) {
            let (call, joined_ms) = self.ask(&api, *ask).await?;
            if self.plan.queued {
                self.progress.done.fetch_add(1, Ordering::Relaxed);
            }
            if call.outcome == Ok(Outcome::InLine) {
                self.progress.waiting.fetch_add(1, Ordering::Relaxed);
                // The receiver is kept until all who send have ended.
                let _open = joined.send((call, joined_ms));
            } else {
                self.decided(&call);
                haul.calls.push(call);
            }
        }
        Ok(haul)
    }

    async fn ask(&self, api: &Api, ask: Ask) -> Result<Joined, SimulateError> {
        let body = Bytes::from(self.plan.body(ask).to_string());
        let sent_us = self.course().micros();
        let answered = api
            .call_until(Method::POST, &self.url, Some(body), answer::is_answer)
            .await?;
        let told_us = self.course().micros();
        let call = Call {
            ask,
            sent_us,
            told_us,
            decided_us: told_us,
            in_line_ms: None,
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
        let mut haul = Results::default();
        loop {
            // In the order of joining: who came first is decided first.
            let Some((mut call, joined_ms)) = line.lock().await.recv().await else {
                return Ok(haul);
            };
            let (outcome, decided_ms) = self.decision(&api, call.ask).await?;
            call.outcome = outcome;
            let in_line_ms = decided_ms.zip(joined_ms).map(|(to, from)| to.saturating_sub(from));
            call.in_line_ms = in_line_ms.and_then(|ms| u64::try_from(ms).ok());
            call.decided_us = self.course().micros();
            self.progress.waiting.fetch_sub(1, Ordering::Relaxed);
            self.decided(&call);
            haul.calls.push(call);
        }
    }

    /// What becomes of a request in the line; that it is still there, when the line does not move.
    async fn decision(&self, api: &Api, ask: Ask) -> Result<Decision, SimulateError> {
        let path = format!(
            "/v1/coupons/{}/issues/{}",
            self.plan.coupon_id,
            self.plan.request_id(ask)
        );
        let url = api.url(&path);
        let mut seen = (self.progress.done.load(Ordering::Relaxed), Instant::now());
        loop {
            let answered = api.call(Method::GET, &url, None).await?;
            self.progress.looks.fetch_add(1, Ordering::Relaxed);
            let outcome = answer::read(&self.plan, ask, &answered);
            let done = self.progress.done.load(Ordering::Relaxed);
            if done != seen.0 {
                seen = (done, Instant::now());
            }
            if outcome != Ok(Outcome::InLine) || seen.1.elapsed() > STUCK_AFTER {
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
        let (mut haul, mut taken) = (Results::default(), HashSet::new());
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
                    return Ok(haul);
                }
                tokio::time::sleep(LOOK_EVERY).await;
            };
            taken.insert(ask);
            haul.voids.push(self.void(&api, ask).await?);
            self.progress.voided.fetch_add(1, Ordering::Relaxed);
        }
        Ok(haul)
    }

    /// A request that was told to be issued and was not yet taken back.
    fn choose(&self, rng: &mut StdRng, taken: &HashSet<Ask>) -> Option<Ask> {
        let issued = self.issued.lock().unwrap_or_else(PoisonError::into_inner);
        let left: Vec<Ask> = issued.iter().filter(|ask| !taken.contains(ask)).copied().collect();
        (!left.is_empty()).then(|| left[rng.random_range(0..left.len())])
    }

    async fn void(&self, api: &Api, ask: Ask) -> Result<Void, SimulateError> {
        let path = format!(
            "/v1/coupons/{}/issues/{}",
            self.plan.coupon_id,
            self.plan.request_id(ask)
        );
        let sent_us = self.course().micros();
        let answered = api.call(Method::DELETE, &api.url(&path), None).await?;
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
