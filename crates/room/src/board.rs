//! What this instance last saw of each room: how often a session ends, when something is due, its public state.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use jackpot_core::ids::Id;
use tokio::time::Instant;

use super::alarm::Alarm;
use super::eta::{CLOCK_BACK_MS, Ends, QueuePosition};
use super::scripts::{Counts, Snapshot, Visited};
use jackpot_kernel::subject::ScriptError;
use jackpot_kernel::telemetry::{Metrics, OneRoom, RoomNews};

/// Most time between two looks at an occupied room. So work that another instance did not do is done, a loss is
/// noticed, and the queue is not taken for abandoned (`lua/room/step.lua`).
const WITH_SOMEBODY: Duration = Duration::from_secs(1);
/// The same for all other rooms.
const WITHOUT: Duration = Duration::from_secs(5);
/// Between two tries to publish the list of tickets from before the opening, and the longest time of one try. A million
/// tickets take some seconds.
pub(super) const PUBLISH_EVERY: Duration = Duration::from_secs(10);
/// Replies that arrive out of order are closer together than this.
const NEW_COUNT_AFTER_MS: i64 = 1_000;
/// Least time between two looks at a room.
const LEAST: Duration = Duration::from_millis(1);
/// The worker is not woken for less than this.
const SLACK: Duration = Duration::from_millis(2);

/// The boards of all rooms. Grows by one for each existing room that is visited.
#[derive(Default)]
pub(super) struct Boards {
    boards: RwLock<HashMap<Id, Arc<Board>>>,
    pub(super) alarm: Alarm,
}

/// The board of one room.
pub(super) struct Board {
    ends: Mutex<Ends>,
    /// When the worker will look at the room; `None`: not yet planned, or now.
    due: Mutex<Option<Instant>>,
    /// Held while reading, so that one request reads for all.
    pub(super) shown: tokio::sync::Mutex<Shown>,
    /// Held while tickets from before the opening get another order.
    pub(super) ordering: tokio::sync::Mutex<()>,
    /// When publication of the list from before the opening was last tried.
    published: Mutex<Option<Instant>>,
    /// Time of Redis' clock and counts, as last reported to the metrics.
    counted: Mutex<(i64, Counts)>,
    metrics: Arc<OneRoom>,
}

/// A shared reading of a room, and when it began.
#[derive(Default)]
pub(super) enum Shown {
    /// Not read yet.
    #[default]
    Nothing,
    /// The last reading.
    Read(Instant, Arc<Snapshot>),
    /// The reading failed.
    Failed(Instant, ScriptError),
}

impl Boards {
    /// The board of an existing room. A name that a client invented must not take memory.
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

    /// Takes a visit's reply about its room, and wakes the worker if something is due earlier than it has planned.
    pub(super) fn observe(&self, id: &Id, visited: &Visited, metrics: &Metrics) {
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
        lock(&self.ends).observe(now_ms, counts.admitted.saturating_sub(counts.active));
        let mut counted = lock(&self.counted);
        let (last_ms, last) = *counted;
        let fell = counts.admitted < last.admitted;
        let went_back = last_ms - now_ms >= CLOCK_BACK_MS;
        // Drops an older reply, and a lower count soon after the last one: another call was faster. A lower count later
        // means that Redis lost some and counts again.
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

    /// Whether it is time to try to publish the list from before the opening.
    pub(super) fn may_publish(&self, now: Instant) -> bool {
        let mut tried = lock(&self.published);
        let may = tried.is_none_or(|tried| now - tried >= PUBLISH_EVERY);
        if may {
            *tried = Some(now);
        }
        may
    }

    /// The worker will look at the room at that time; `None`: it looks now.
    pub(super) fn is_due(&self, at: Option<Instant>) {
        *lock(&self.due) = at;
    }

    /// Seconds until this place is admitted, if known.
    pub(super) fn eta_s(&self, now_ms: i64, line: QueuePosition) -> Option<u64> {
        lock(&self.ends).eta_s(now_ms, line)
    }

    /// Counts joins.
    pub(super) fn metrics(&self) -> &OneRoom {
        &self.metrics
    }
}

/// How long a room has nothing due after this reply.
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
