//! The messages of one lane, while this instance holds it.

use std::future::pending;
use std::rc::Rc;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use futures_util::future::LocalBoxFuture;
use futures_util::stream::FuturesUnordered;
use jiff::Timestamp;
use tokio::sync::mpsc;
use tokio::task::{JoinHandle, spawn_local};
use tokio::time::{Interval, MissedTickBehavior, interval};
use tracing::{debug, error, info, warn};

use super::call::Calls;
use super::letter::Place;
use super::order::{Numbered, Order};
use super::positions::Positions;
use crate::broker::{BrokerError, Opened, Read, Record};
use jackpot_kernel::stopping::Stopping;

/// Messages beyond the written position. A kill repeats at most these.
const MOST_AHEAD: usize = 5_000;
/// Messages that are passed on at once. So many may be beyond [`MOST_AHEAD`].
const BATCH: usize = 500;
/// Bytes of their contents.
const MOST_AHEAD_BYTES: usize = 64 << 20;
/// Batches that are read ahead.
const READ_AHEAD: usize = 2;
/// Between two writes of the position.
const SAVE: Duration = Duration::from_millis(100);
/// The same while it does not move: the row tells how old effects after it can be.
const SAVE_ANYWAY: Duration = Duration::from_secs(10);
/// Between two tries to read.
const AFTER_FAILURE: Duration = Duration::from_secs(1);

/// What the lanes of an instance share.
pub(super) struct Shared {
    pub calls: Calls,
    pub positions: Positions,
    /// Topic or subject.
    pub topic: String,
    pub max_in_flight: usize,
}

/// A lane that this instance has taken.
pub(super) struct Lane {
    pub shared: Rc<Shared>,
    pub name: String,
    pub token: i64,
    /// Where to begin; `None`: with the first message.
    pub position: Option<i64>,
    /// Its instance died, and repeats of messages of before this time, in ms since 1970, may not be known any more.
    pub late_before_ms: Option<i64>,
    /// Begins when the lane should be given back.
    pub end: Stopping,
}

/// What is under way.
struct State {
    order: Order,
    calls: FuturesUnordered<LocalBoxFuture<'static, Rc<Numbered>>>,
    /// Messages that are done with all before them, and whose position is not written.
    unsaved: usize,
    saving: Option<LocalBoxFuture<'static, Saved>>,
    saved_at: Instant,
    /// Messages after the last one that was read.
    after: u64,
    /// Since when the broker says that messages wait, while none comes.
    stands_since: Option<Instant>,
}

impl State {
    fn add(&mut self, record: Record) {
        self.after = record.after;
        self.stands_since = None;
        self.order.add(record);
    }

    fn waiting(&mut self, count: u64) {
        self.after = count;
        self.stands_since = (count > 0).then(|| self.stands_since.unwrap_or_else(Instant::now));
    }

    /// Age of the oldest message, in s: at least this, while the broker does not show it.
    fn age(&self) -> i64 {
        let stands = self.stands_since.map_or(0, |since| since.elapsed().as_secs());
        let stands = i64::try_from(stands).unwrap_or(i64::MAX);
        let now_ms = Timestamp::now().as_millisecond();
        let oldest = self.order.oldest();
        oldest.map_or(stands, |record| (now_ms - record.at_ms).max(0) / 1_000)
    }
}

/// What the reader finds, in its order.
enum Found {
    Messages(Vec<Record>),
    /// None came for now; so many wait at the broker.
    Waiting(u64),
    /// The broker has nothing before this position any more.
    Gap(i64),
}

struct Saved {
    count: usize,
    /// Whether the lane is still this instance's.
    result: Result<bool, sqlx::Error>,
}

/// Ends its task when it is dropped.
struct Reading(JoinHandle<()>);

impl Drop for Reading {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Lane {
    /// Takes messages until the lane is lost, or given back.
    pub(super) async fn run(self) {
        let lane = self.name.as_str();
        info!(lane, position = self.position, "takes the messages of this lane");
        let (send, mut found) = mpsc::channel(READ_AHEAD);
        let reading = read(Rc::clone(&self.shared), self.name.clone(), self.position, send);
        let reading = Reading(spawn_local(reading));
        let mut state = State {
            order: Order::default(),
            calls: FuturesUnordered::new(),
            unsaved: 0,
            saving: None,
            saved_at: Instant::now(),
            after: 0,
            stands_since: None,
        };
        let mut ticks = ticks();
        let (mut ends, mut is_lost) = (false, false);
        while !(ends && state.calls.is_empty()) {
            if !ends {
                self.begin(&mut state);
            }
            let has_room = state.order.len() + state.unsaved < MOST_AHEAD && state.order.bytes() < MOST_AHEAD_BYTES;
            tokio::select! {
                Some(found) = found.recv(), if has_room && !ends => match found {
                    Found::Messages(batch) => {
                        for record in batch {
                            state.add(record);
                        }
                    }
                    Found::Waiting(count) => state.waiting(count),
                    Found::Gap(begins) => state.order.go_on_at(begins),
                },
                Some(message) = state.calls.next() => state.unsaved += state.order.done(&message),
                saved = saved(&mut state.saving) => {
                    is_lost = !self.saved(&mut state, saved);
                    if is_lost {
                        break;
                    }
                }
                _ = ticks.tick() => self.tick(&mut state),
                () = self.end.wait(), if !ends => ends = true,
            }
        }
        drop(reading);
        self.shared.calls.metrics.intake.hide(&self.shared.topic, lane);
        if ends && !is_lost {
            self.give_back(state).await;
        }
    }

    fn begin(&self, state: &mut State) {
        while state.calls.len() < self.shared.max_in_flight {
            let Some(message) = state.order.begin() else { return };
            let (shared, lane) = (Rc::clone(&self.shared), self.name.clone());
            let is_old = self.late_before_ms.is_some_and(|before| message.record.at_ms < before);
            // The instance that died had begun none after these.
            let may_repeat = is_old && message.number < MOST_AHEAD + BATCH;
            state.calls.push(Box::pin(async move {
                let place = Place {
                    topic: shared.topic.clone(),
                    lane,
                };
                shared.calls.take(&place, &message.record, may_repeat).await;
                message
            }));
        }
    }

    /// Shows the figures, and writes the position if it has moved.
    fn tick(&self, state: &mut State) {
        let lag = state.after + state.order.len() as u64;
        let metrics = &self.shared.calls.metrics.intake;
        metrics.show(&self.name, lag, state.age());
        let is_due = state.unsaved > 0 || state.saved_at.elapsed() > SAVE_ANYWAY;
        if !is_due || state.saving.is_some() {
            return;
        }
        state.saved_at = Instant::now();
        let (shared, lane, token) = (Rc::clone(&self.shared), self.name.clone(), self.token);
        let count = state.unsaved;
        let age_ms = state.order.since().map_or(0, |at| at.elapsed().as_millis());
        let position = state.order.position().or(self.position);
        let age_ms = i64::try_from(age_ms).unwrap_or(i64::MAX);
        state.saving = Some(Box::pin(async move {
            let result = shared.positions.save(&lane, token, position, age_ms, false).await;
            Saved { count, result }
        }));
    }

    /// Whether the lane is still this instance's.
    fn saved(&self, state: &mut State, Saved { count, result }: Saved) -> bool {
        state.saving = None;
        match result {
            Ok(true) => state.unsaved -= count,
            Ok(false) => {
                info!(lane = self.name, "another instance takes the messages of this lane");
                return false;
            }
            // The next tick tries again. Until then nothing more is read than fits.
            Err(error) => debug!(lane = self.name, %error, "the position of the broker's messages was not written"),
        }
        true
    }

    /// All that has begun is done.
    async fn give_back(&self, state: State) {
        if let Some(saving) = state.saving {
            saving.await;
        }
        let position = state.order.position().or(self.position);
        let given = self
            .shared
            .positions
            .save(&self.name, self.token, position, 0, true)
            .await;
        match given {
            Ok(_) => info!(lane = self.name, position, "gives this lane back"),
            Err(error) => warn!(lane = self.name, %error, "this lane was not given back; its lease expires"),
        }
    }
}

fn ticks() -> Interval {
    let mut ticks = interval(SAVE);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}

async fn saved(saving: &mut Option<LocalBoxFuture<'static, Saved>>) -> Saved {
    match saving {
        Some(saving) => saving.await,
        None => pending().await,
    }
}

/// Reads the lane while someone takes what it sends. After a failure it opens the lane again where it was.
async fn read(shared: Rc<Shared>, lane: String, mut from: Option<i64>, send: mpsc::Sender<Found>) {
    let (metrics, topic) = (&shared.calls.metrics.intake, shared.topic.as_str());
    let mut failures = 0_u64;
    loop {
        let before = from;
        let Err(error) = read_on(&shared, &lane, &mut from, failures > 0, &send).await else {
            return;
        };
        let is_news = metrics.can_read(topic, &lane, false);
        failures = if from == before { failures + 1 } else { 1 };
        if is_news || failures == 1 {
            warn!(topic, lane, %error, "the broker's messages can't be read; tried again each second");
        }
        tokio::time::sleep(AFTER_FAILURE).await;
    }
}

async fn read_on(
    shared: &Shared,
    lane: &str,
    from: &mut Option<i64>,
    after_failure: bool,
    send: &mpsc::Sender<Found>,
) -> Result<(), BrokerError> {
    let (topic, metrics) = (shared.topic.as_str(), &shared.calls.metrics.intake);
    let opened = shared.calls.broker.read(topic, lane, *from, after_failure).await?;
    let Opened {
        mut reader,
        gap,
        waiting,
    } = opened;
    if let Some(gap) = gap {
        metrics.gaps.inc();
        error!(
            topic,
            lane,
            wanted = gap.wanted,
            begins = gap.begins,
            "the broker does not have the next message any more: messages may be lost; reading begins with the first that it has"
        );
        *from = Some(gap.begins);
        if send.send(Found::Gap(gap.begins)).await.is_err() {
            return Ok(());
        }
    }
    if send.send(Found::Waiting(waiting)).await.is_err() {
        return Ok(());
    }
    loop {
        let read = reader.next().await?;
        if metrics.can_read(topic, lane, true) {
            info!(topic, "the broker's messages can be read");
        }
        let mut records = match read {
            Read::Messages(records) => records,
            Read::Waiting(count) if send.send(Found::Waiting(count)).await.is_err() => return Ok(()),
            Read::Waiting(_) => continue,
        };
        while !records.is_empty() {
            let rest = records.split_off(records.len().min(BATCH));
            let next = records.last().map(|last| last.position.saturating_add(1));
            let batch = std::mem::replace(&mut records, rest);
            if send.send(Found::Messages(batch)).await.is_err() {
                return Ok(());
            }
            *from = next.or(*from);
        }
    }
}
