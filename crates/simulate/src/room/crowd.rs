//! The crowd: all early users join, then the room is opened, and the others come while it is drained.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use reqwest::{Method, Url};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::after;
use super::evidence::{Opening, Visit};
use super::monitor::{self, Monitored};
use super::plan::Plan;
use super::pool::Pool;
use super::visitor;
use crate::SimulateError;
use crate::client::{Api, Target};
use crate::scenario::{Course, Players, Scenario};

/// Between two looks at how many users came and went.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// What all of them share.
#[derive(Debug)]
pub struct Crowd {
    pub plan: Arc<Plan>,
    pub pool: Pool,
    /// For streams: each has a connection of its own there.
    pub listening: Api,
    /// For the monitor.
    watching: Api,
    pub progress: Progress,
    /// The private Redis, which the monitor reads.
    redis: Option<monitor::Redis>,
    tickets: Url,
    opened: AtomicBool,
    /// Whether the run gives up, because the queue stands still.
    given_up: watch::Sender<bool>,
    started: Instant,
}

/// What the crowd has seen.
#[derive(Debug)]
pub struct Results {
    pub visits: Vec<Visit>,
    pub opening: Opening,
    /// Seconds for which the queue stood still, if the run gave up waiting.
    pub stood_still_s: Option<u64>,
}

/// Counts while the run goes on.
#[derive(Debug, Default)]
pub struct Progress {
    /// Steps of the plan.
    pub done: AtomicU64,
    pub admitted: AtomicU64,
    /// Users whose last answer said that they are in.
    pub inside: AtomicU64,
    pub looks: AtomicU64,
    joined: AtomicU64,
    early_joined: AtomicU64,
    gone: AtomicU64,
    early_gone: AtomicU64,
}

impl Progress {
    /// What changes while the queue moves.
    fn moved(&self) -> [u64; 2] {
        [&self.done, &self.admitted].map(|counter| counter.load(Ordering::Relaxed))
    }

    pub fn has_joined(&self, early: bool) {
        self.joined.fetch_add(1, Ordering::Relaxed);
        self.early_joined.fetch_add(early.into(), Ordering::Relaxed);
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    pub fn is_gone(&self, early: bool) {
        self.gone.fetch_add(1, Ordering::Relaxed);
        self.early_gone.fetch_add(early.into(), Ordering::Relaxed);
        self.done.fetch_add(1, Ordering::Relaxed);
    }
}

/// A queue that stands still. Its users would poll without end, and the run would have no verdict.
#[derive(Debug)]
struct Standstill {
    patience: Duration,
    moved: [u64; 2],
    since: Instant,
}

impl Standstill {
    fn new(patience: Duration, now: Instant) -> Self {
        Self {
            patience,
            moved: [0; 2],
            since: now,
        }
    }

    /// Whether it lasts for longer than the patience.
    fn lasts(&mut self, moved: [u64; 2], now: Instant) -> bool {
        if moved != self.moved {
            (self.moved, self.since) = (moved, now);
        }
        now - self.since > self.patience
    }
}

impl Players for Crowd {
    type Results = (Results, Monitored);

    fn steps(&self) -> &'static str {
        "joined and gone"
    }

    fn course(&self) -> Course<'_> {
        Course {
            done: &self.progress.done,
            all: self.plan.steps(),
            eventful: self.plan.steps(),
            started: self.started,
        }
    }

    fn message(&self) -> String {
        let number = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let (joined, gone) = (number(&self.progress.joined), number(&self.progress.gone));
        let inside = number(&self.progress.inside);
        format!(
            "{joined} joined  {} waiting  {inside} inside  {} admitted",
            joined.saturating_sub(gone + inside),
            number(&self.progress.admitted)
        )
    }

    /// The monitor watches until the room is empty.
    async fn play(self: &Arc<Self>) -> Result<(Results, Monitored), SimulateError> {
        let (say_over, over) = watch::channel(false);
        let visiting = async {
            let results = self.visit().await;
            say_over.send_replace(true);
            results
        };
        let watching = monitor::watch(&self.watching, &self.plan, self.redis.as_ref(), self.course(), over);
        tokio::try_join!(visiting, watching)
    }
}

impl Crowd {
    /// `redis`: the one of the private service.
    pub fn new(
        plan: Arc<Plan>,
        target: &Target,
        repeats: &Arc<AtomicU64>,
        redis: Option<monitor::Redis>,
    ) -> Result<Self, SimulateError> {
        let listening = Api::new(target, Arc::clone(repeats))?;
        Ok(Self {
            pool: Pool::new(target, plan.crowd.connections, repeats)?,
            tickets: listening.url(&format!("{}/tickets", plan.path())),
            listening,
            watching: Api::new(target, Arc::clone(repeats))?,
            progress: Progress::default(),
            redis,
            opened: AtomicBool::new(false),
            given_up: watch::Sender::new(false),
            started: Instant::now(),
            plan,
        })
    }

    /// Whether the run has a private service.
    pub fn is_private(&self) -> bool {
        self.redis.is_some()
    }

    /// The address of what is below the room's tickets.
    pub fn url(&self, path: &str) -> Url {
        let mut url = self.tickets.clone();
        if !path.is_empty() {
            url.set_path(&format!("{}{path}", self.tickets.path()));
        }
        url
    }

    /// Whether the room admits users.
    pub fn is_open(&self) -> bool {
        self.opened.load(Ordering::Relaxed)
    }

    /// Returns when the run gives up waiting.
    pub async fn given_up(&self) {
        let mut given_up = self.given_up.subscribe();
        // The crowd holds the sender, so that it is open.
        _ = given_up.wait_for(|given_up| *given_up).await;
    }

    /// Lets all of them go their way, and waits until the room is empty.
    async fn visit(self: &Arc<Self>) -> Result<Results, SimulateError> {
        self.pool.open().await?;
        let mut users = JoinSet::new();
        let early = self.plan.early();
        let mut coming = (early..self.plan.crowd.users).zip(self.plan.late_points()).peekable();
        for number in 0..early {
            users.spawn(visitor::live(Arc::clone(self), self.plan.user(number)));
        }
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let mut visits = Vec::with_capacity(self.plan.crowd.users as usize);
        let mut opening = None;
        let mut standstill = Standstill::new(self.plan.patience(), Instant::now());
        while opening.is_none() || coming.peek().is_some() || !users.is_empty() {
            tokio::select! {
                Some(ended) = users.join_next() => visits.push(ended??),
                () = sleep(LOOK_EVERY) => {}
            }
            if opening.is_none() && count(&self.progress.early_joined) == u64::from(early) {
                opening = Some(self.open().await?);
            }
            let gone = count(&self.progress.early_gone);
            while let Some((number, _)) = coming.next_if(|(_, point)| opening.is_some() && *point <= gone) {
                users.spawn(visitor::live(Arc::clone(self), self.plan.user(number)));
            }
            if standstill.lasts(self.progress.moved(), Instant::now()) {
                self.given_up.send_replace(true);
                break;
            }
        }
        let stood_still_s = self.given_up.borrow().then_some(standstill.patience.as_secs());
        while let Some(ended) = users.join_next().await {
            visits.push(ended??);
        }
        visits.sort_unstable_by_key(|visit| visit.user.number);
        if stood_still_s.is_none() {
            after::emptied(&*self.pool.lease().await, &self.plan).await?;
        }
        Ok(Results {
            visits,
            opening: opening.unwrap_or_default(),
            stood_still_s,
        })
    }

    /// Gives the room its capacity.
    async fn open(&self) -> Result<Opening, SimulateError> {
        let definition = self.plan.definition();
        let api = self.pool.lease().await;
        let waiting = after::counts(&api, &self.plan).await?.waiting;
        let sent_us = self.course().micros();
        api.send(Method::PUT, &self.plan.path(), &definition).await?;
        self.opened.store(true, Ordering::Relaxed);
        let answered_us = self.course().micros();
        Ok(Opening {
            waiting,
            sent_us,
            answered_us,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::Standstill;

    #[test]
    fn a_queue_stands_still_when_nothing_moved_for_longer_than_the_patience() {
        let (start, second) = (Instant::now(), Duration::from_secs(1));
        let mut standstill = Standstill::new(3 * second, start);
        for (at, moved, lasts) in [
            (3, [0, 0], false),
            (4, [1, 0], false),
            (7, [1, 0], false),
            (7, [1, 1], false),
            (10, [1, 1], false),
            (11, [1, 1], true),
        ] {
            assert_eq!(standstill.lasts(moved, start + at * second), lasts, "{at} {moved:?}");
        }
    }
}
