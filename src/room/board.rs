//! What this instance last saw of each room: how often a session ends, when something is due, how it is.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use tokio::time::Instant;

use super::alarm::Alarm;
use super::eta::{CLOCK_BACK_MS, Ends, Line};
use super::scripts::{Counts, Snapshot, Visited};
use crate::ids::Id;
use crate::stream::ScriptError;
use crate::telemetry::{Metrics, OneRoom, RoomNews};

/// A room where somebody is in or waits is looked at at least so often: what another instance promised and did not do is
/// done, a loss is noticed, and the line knows that it was not left alone (`lua/room/step.lua`).
const WITH_SOMEBODY: Duration = Duration::from_secs(1);
/// And all others.
const WITHOUT: Duration = Duration::from_secs(5);
/// Between two tries to publish who joined before the opening, and how long one may take: a million tickets take some
/// seconds.
pub(super) const PUBLISH_EVERY: Duration = Duration::from_secs(10);
/// Replies that are mixed up are not so far apart.
const NEW_COUNT_AFTER_MS: i64 = 1_000;
/// Least time between two looks at a room.
const LEAST: Duration = Duration::from_millis(1);
/// A little earlier is not worth a word to the worker.
const SLACK: Duration = Duration::from_millis(2);

/// All of them. Grows by one for each room that is there and was visited.
#[derive(Default)]
pub(super) struct Boards {
    boards: RwLock<HashMap<Id, Arc<Board>>>,
    pub(super) alarm: Alarm,
}

/// That of one room.
pub(super) struct Board {
    ends: Mutex<Ends>,
    /// When the worker will look at the room; `None`: not at all yet, or now.
    due: Mutex<Option<Instant>>,
    /// Held while reading, so that one reads for all.
    pub(super) shown: tokio::sync::Mutex<Shown>,
    /// Held while those who joined before the opening get another order.
    pub(super) ordering: tokio::sync::Mutex<()>,
    /// When the list of those who joined before the opening was last tried to be published.
    published: Mutex<Option<Instant>>,
    /// Time of Redis' clock and counts, as last told to the metrics.
    counted: Mutex<(i64, Counts)>,
    metrics: Arc<OneRoom>,
}

/// A room as read for everybody, and when that reading began.
#[derive(Default)]
pub(super) enum Shown {
    /// It was not read yet.
    #[default]
    Nothing,
    /// This is how it was.
    Read(Instant, Arc<Snapshot>),
    /// It could not be read.
    Failed(Instant, ScriptError),
}

impl Boards {
    /// The board of a room that is there: a name that a client made up must not take memory.
    pub(super) fn of(&self, id: &Id, metrics: &Metrics) -> Arc<Board> {
        let boards = self.boards.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(board) = boards.get(id) {
            return Arc::clone(board);
        }
        drop(boards);
        let mut boards = self.boards.write().unwrap_or_else(PoisonError::into_inner);
        let make = || {
            Arc::new(Board {
                ends: Mutex::default(),
                due: Mutex::default(),
                shown: tokio::sync::Mutex::default(),
                ordering: tokio::sync::Mutex::default(),
                published: Mutex::default(),
                counted: Mutex::default(),
                metrics: metrics.rooms.room(id.as_str()),
            })
        };
        Arc::clone(boards.entry(id.clone()).or_insert_with(make))
    }

    /// Takes what a visit said of its room, and tells the worker if that is due earlier than it thinks.
    pub(super) fn hear(&self, id: &Id, visited: &Visited, metrics: &Metrics) {
        let board = self.of(id, metrics);
        board.count(visited.now_ms, &visited.counts);
        let at = Instant::now() + pause(visited);
        let mut due = lock(&board.due);
        if due.is_none_or(|due| at + SLACK < due) {
            *due = Some(at);
            drop(due);
            self.alarm.set(id, at);
        }
    }
}

impl Board {
    /// Takes the counts of a room.
    pub(super) fn count(&self, now_ms: i64, counts: &Counts) {
        lock(&self.ends).hear(now_ms, counts.admitted.saturating_sub(counts.active));
        let mut counted = lock(&self.counted);
        let (last_ms, last) = *counted;
        let fell = counts.admitted < last.admitted;
        let went_back = last_ms - now_ms >= CLOCK_BACK_MS;
        // Another call was faster, or, behind a while, Redis lost some and counts from a new beginning.
        if !went_back && (now_ms < last_ms || (fell && now_ms < last_ms + NEW_COUNT_AFTER_MS)) {
            return;
        }
        *counted = (now_ms, *counts);
        let since = |now: u64, last: u64| if fell { now } else { now.saturating_sub(last) };
        self.metrics.see(&RoomNews {
            active: counts.active,
            waiting: counts.waiting,
            admitted: since(counts.admitted, last.admitted),
            expired: since(counts.expired, last.expired),
            abandoned: since(counts.abandoned, last.abandoned),
            left: since(counts.left, last.left),
            waited_ms: since(counts.waited_ms, last.waited_ms),
        });
    }

    /// Whether the list of those who joined before the opening may be tried to be published.
    pub(super) fn may_publish(&self, now: Instant) -> bool {
        let mut tried = lock(&self.published);
        let may = tried.is_none_or(|tried| now - tried >= PUBLISH_EVERY);
        if may {
            *tried = Some(now);
        }
        may
    }

    /// The worker will look at the room at that time; `None`: it does so now.
    pub(super) fn is_due(&self, at: Option<Instant>) {
        *lock(&self.due) = at;
    }

    /// Seconds until somebody at this place is admitted, where that is known.
    pub(super) fn eta_s(&self, now_ms: i64, line: Line) -> Option<u64> {
        lock(&self.ends).eta_s(now_ms, line)
    }

    /// Counts those who joined.
    pub(super) fn metrics(&self) -> &OneRoom {
        &self.metrics
    }
}

/// How long nothing has to be done in a room behind this reply.
pub(super) fn pause(visited: &Visited) -> Duration {
    if visited.more {
        return LEAST;
    }
    let most = if visited.counts.active + visited.counts.waiting > 0 {
        WITH_SOMEBODY
    } else {
        WITHOUT
    };
    let due = visited
        .next_due_ms
        .map(|due_ms| Duration::from_millis(u64::try_from(due_ms - visited.now_ms).unwrap_or(0)));
    due.map_or(most, |due| due.clamp(LEAST, most))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
