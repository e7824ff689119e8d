//! What this instance last saw of each room: how often somebody is admitted, when something is due, how it is.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use tokio::time::Instant;

use super::alarm::Alarm;
use super::eta::Admissions;
use super::scripts::{Counts, Snapshot, Visited};
use super::status::Status;
use crate::ids::Id;
use crate::telemetry::{Metrics, OneRoom, RoomCounts};

/// A room where somebody waits is looked at at least so often: what another instance promised and did not do is done.
const WITH_WAITERS: Duration = Duration::from_secs(1);
/// And all others.
const WITHOUT: Duration = Duration::from_secs(5);
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
    admissions: Mutex<Admissions>,
    /// When the worker will look at the room; `None`: not at all yet, or now.
    due: Mutex<Option<Instant>>,
    /// As last read for everybody, and when that was asked for. Held while reading, so that one reads for all.
    pub(super) shown: tokio::sync::Mutex<Option<(Instant, Arc<Snapshot>)>>,
    metrics: Arc<OneRoom>,
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
                admissions: Mutex::default(),
                due: Mutex::default(),
                shown: tokio::sync::Mutex::default(),
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
        lock(&self.admissions).hear(now_ms, counts.promoted);
        self.metrics.set(&RoomCounts {
            active: counts.active,
            waiting: counts.waiting,
            admitted: counts.admitted,
            expired: counts.expired,
            abandoned: counts.abandoned,
            left: counts.left,
        });
    }

    /// The worker will look at the room at that time; `None`: it does so now.
    pub(super) fn is_due(&self, at: Option<Instant>) {
        *lock(&self.due) = at;
    }

    /// Seconds until somebody with `ahead` before is admitted, where that is known.
    pub(super) fn eta_s(&self, now_ms: i64, ahead: u64, rate: Option<u64>) -> Option<u64> {
        lock(&self.admissions).eta_s(now_ms, ahead, rate)
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
    let most = if visited.counts.waiting > 0 && visited.status == Status::Open {
        WITH_WAITERS
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
