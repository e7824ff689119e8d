//! The worker of the rooms: ends and admits due tickets without a request.
//!
//! Every instance does this for every room. Due work is done once, by the first instance. The worker looks at a room
//! when its last reply said that something is due, and every second if a user is in it or waits. Of all other rooms it
//! asks each second, in one reading, whether something happened there (`quiet`). So after the death of an
//! instance the others continue within that time.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use jackpot_core::ids::Id;
use tokio::task::{self, JoinSet};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until, timeout};
use tracing::{Instrument, debug, error, info_span, warn};

use super::board::{PUBLISH_EVERY, pause};
use super::quiet::{self, QuietRooms};
use super::rooms::Rooms;
use super::scripts::Visited;
use super::silent::{Node, Silent};
use jackpot_kernel::stopping::Stopping;
use jackpot_kernel::subject::MaybeScript;

/// Between two looks at the index.
const SWEEP_EVERY: Duration = Duration::from_secs(1);
/// Sweeps between two repairs of the index, and between two log lines about it.
const SWEEPS_PER_ROUND: u64 = 10;
/// Rooms looked at in parallel, so that one on a frozen node does not delay the others.
const LOOKED_AT_ONCE: usize = 32;
/// Longest wait for one room.
const LOOK: Duration = Duration::from_secs(1);
/// How long a room that can't be looked at rests.
const REST: Duration = Duration::from_secs(1);

/// The worker of an instance.
#[derive(Debug, Clone)]
pub struct Worker {
    rooms: Rooms,
}

impl Worker {
    pub fn new(rooms: Rooms) -> Self {
        Self { rooms }
    }

    /// Works until the service stops.
    pub async fn run(self, stopping: Stopping) {
        let mut schedule = Schedule::default();
        let mut looks = Looks::default();
        let mut silent = Silent::default();
        let mut resting = QuietRooms::default();
        let mut glancing = JoinSet::new();
        let mut sweeps = interval(SWEEP_EVERY);
        sweeps.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut sweeping = JoinSet::new();
        let mut publishing = JoinSet::new();
        let mut round = 0_u64;
        loop {
            let free = looks.tasks.len() < LOOKED_AT_ONCE;
            let next = schedule.next().filter(|_| free);
            let next_try = silent.next();
            tokio::select! {
                () = stopping.wait() => break,
                // The loop waits for a slow look (a frozen node), but due work is still done.
                _ = sweeps.tick(), if sweeping.is_empty() => {
                    let registry = Arc::clone(&self.rooms.registry);
                    let repair = round.is_multiple_of(SWEEPS_PER_ROUND);
                    sweeping.spawn(async move { registry.all(repair).await });
                    round += 1;
                    if glancing.is_empty() {
                        let (rooms, turn) = (self.rooms.clone(), resting.turn());
                        glancing.spawn(async move { rooms.glance(&turn).await });
                    }
                }
                Some(glanced) = glancing.join_next() => {
                    let (news, clocks) = glanced.unwrap_or_default();
                    let now = Instant::now();
                    for id in news.into_iter().chain(resting.clocks(clocks, now)) {
                        if resting.remove(&id) {
                            schedule.set_earlier(id, now);
                        }
                    }
                }
                Some(found) = sweeping.join_next() => {
                    for id in found.unwrap_or_default().iter() {
                        if !schedule.has(id) && !looks.has(id) && !silent.has(id) {
                            schedule.set(id.clone(), Instant::now());
                        }
                    }
                }
                alarms = self.rooms.boards.alarm.taken() => {
                    for (id, at) in alarms {
                        // Another caller's call was answered, so the node answers.
                        schedule.set_all(silent.answered_of(&id), Instant::now());
                        if !looks.hurry(&id, at) {
                            schedule.set_earlier(id, at);
                        }
                    }
                }
                () = sleep_until(next.unwrap_or_else(Instant::now)), if next.is_some() => {
                    if let Some(id) = schedule.take_due(Instant::now()) {
                        resting.remove(&id);
                        // Reports that arrive during the look count.
                        self.rooms.is_due(&id, None);
                        let node = self.rooms.node_of(&id);
                        if silent.is_silent(&node) {
                            silent.add(&node, id, false, Instant::now());
                        } else {
                            looks.begin(&self, id, (node, false));
                        }
                    }
                }
                () = sleep_until(next_try.unwrap_or_else(Instant::now)), if next_try.is_some() => {
                    // Apart from the others, whose places may all be taken.
                    if let Some((node, id)) = silent.take_due(Instant::now()) {
                        looks.begin(&self, id, (node, true));
                    }
                }
                Some(ended) = looks.tasks.join_next_with_id() => {
                    let Some(Ended { id, node, tried, look, hurry }) = looks.ended(ended) else {
                        continue;
                    };
                    let now = Instant::now();
                    match &look {
                        Look::Late => {
                            silent.add(&node, id, tried, now);
                            continue;
                        }
                        Look::Passed if tried => silent.passed(&node, now),
                        Look::Passed => {}
                        Look::Seen(_) | Look::Gone => schedule.set_all(silent.answered(&node), now),
                    }
                    if let Look::Seen(visited) = &look {
                        self.begin_lists(&id, visited, &mut publishing);
                        resting.seen(&id, visited);
                    }
                    if let Some(rest) = rest(&look, schedule.len()) {
                        let at = hurry.map_or(now + rest, |hurry| hurry.min(now + rest));
                        self.rooms.is_due(&id, Some(at));
                        schedule.set(id, at);
                    }
                }
                Some(_) = publishing.join_next() => {}
            }
        }
        sweeping.abort_all();
        glancing.abort_all();
        publishing.abort_all();
        looks.tasks.shutdown().await;
    }

    /// Begins what a look found to be written: apart from the looks, because a long list takes seconds and the room is
    /// open meanwhile.
    fn begin_lists(&self, id: &Id, visited: &Visited, lists: &mut JoinSet<()>) {
        if visited.unpublished && self.rooms.may_publish(id) {
            lists.spawn(self.clone().publish(id.clone()));
        }
        if visited.unordered {
            lists.spawn(self.clone().reorder(id.clone()));
        }
    }

    /// Publishes the list of tickets from before the opening in the ledger.
    async fn publish(self, id: Id) {
        let span = info_span!("room", room_id = %id);
        async move { self.try_publish(&id).await }.instrument(span).await;
    }

    /// Gives tickets from before a moved opening their new order.
    async fn reorder(self, id: Id) {
        let span = info_span!("room", room_id = %id);
        let work = async {
            if let Err(error) = self.rooms.reorder(&id).await {
                warn!(%error, "tickets from before the opening was moved have no order yet; trying again");
            }
        };
        work.instrument(span).await;
    }

    async fn try_publish(&self, id: &Id) {
        match timeout(PUBLISH_EVERY, self.rooms.opened(id)).await {
            Ok(Ok(_)) => {}
            Ok(Err(error)) => warn!(%error, "the list from before the opening was not published; trying again"),
            Err(_late) => warn!("the list from before the opening was not published in time; trying again"),
        }
    }

    /// Looks at a room once.
    async fn look(&self, id: &Id) -> Look {
        let visited = match timeout(LOOK, self.rooms.tick(id)).await {
            Ok(Ok(visited)) => visited,
            Ok(Err(error)) => {
                // A name without a room, or a lost room. Others report it.
                debug!(%error, "this room was skipped in this round");
                return if error.is_unavailable() {
                    Look::Late
                } else if error.is_unknown() {
                    Look::Gone
                } else {
                    Look::Passed
                };
            }
            Err(_late) => {
                debug!("its node does not answer in time");
                return Look::Late;
            }
        };
        Look::Seen(Box::new(visited))
    }
}

/// When to look at each room.
#[derive(Default)]
struct Schedule {
    by_time: BTreeSet<(Instant, Id)>,
    by_id: HashMap<Id, Instant>,
}

impl Schedule {
    fn len(&self) -> usize {
        self.by_id.len()
    }

    fn has(&self, id: &Id) -> bool {
        self.by_id.contains_key(id)
    }

    fn next(&self) -> Option<Instant> {
        self.by_time.first().map(|(at, _)| *at)
    }

    fn set(&mut self, id: Id, at: Instant) {
        if let Some(before) = self.by_id.insert(id.clone(), at) {
            self.by_time.remove(&(before, id.clone()));
        }
        self.by_time.insert((at, id));
    }

    fn set_all(&mut self, ids: impl IntoIterator<Item = Id>, at: Instant) {
        for id in ids {
            self.set(id, at);
        }
    }

    fn set_earlier(&mut self, id: Id, at: Instant) {
        if self.by_id.get(&id).is_none_or(|before| at < *before) {
            self.set(id, at);
        }
    }

    fn take_due(&mut self, now: Instant) -> Option<Id> {
        let (at, id) = self.by_time.first()?;
        if *at > now {
            return None;
        }
        self.by_id.remove(id);
        self.by_time.pop_first().map(|(_, id)| id)
    }
}

/// The result of a look at a room.
enum Look {
    /// It was looked at.
    Seen(Box<Visited>),
    /// There is no room of this name. When the index has the name again, the worker looks again.
    Gone,
    /// It can't be looked at now.
    Passed,
    /// Its node did not answer.
    Late,
}

/// How long a room rests; `None`: it is forgotten. `count`: rooms that wait for their time.
fn rest(look: &Look, count: usize) -> Option<Duration> {
    match look {
        Look::Seen(visited) => Some(quiet::rest(visited, count).unwrap_or_else(|| pause(visited))),
        Look::Passed | Look::Late => Some(REST),
        Look::Gone => None,
    }
}

/// Rooms that are being looked at.
#[derive(Default)]
struct Looks {
    tasks: JoinSet<Look>,
    /// Each of them, its node, and whether the look only tries the node.
    of_task: HashMap<task::Id, (Id, (Node, bool))>,
    /// When each is due again, from reports during the look.
    due: HashMap<Id, Option<Instant>>,
}

/// A finished look.
struct Ended {
    id: Id,
    node: Node,
    tried: bool,
    look: Look,
    /// When the room is due again, from reports during the look.
    hurry: Option<Instant>,
}

impl Looks {
    fn has(&self, id: &Id) -> bool {
        self.due.contains_key(id)
    }

    /// Whether this room is being looked at. If it is, it is looked at again at that time.
    fn hurry(&mut self, id: &Id, at: Instant) -> bool {
        let Some(due) = self.due.get_mut(id) else {
            return false;
        };
        *due = Some(due.map_or(at, |due| due.min(at)));
        true
    }

    fn begin(&mut self, worker: &Worker, id: Id, node: (Node, bool)) {
        let span = info_span!("room", room_id = %id);
        let (worker, of) = (worker.clone(), id.clone());
        let work = async move { worker.look(&of).await };
        let task = self.tasks.spawn(work.instrument(span));
        self.of_task.insert(task.id(), (id.clone(), node));
        self.due.insert(id, None);
    }

    fn ended(&mut self, ended: Result<(task::Id, Look), task::JoinError>) -> Option<Ended> {
        let (task, look) = match ended {
            Ok(ended) => ended,
            Err(error) => {
                error!(%error, "a step of a room ended with an error");
                (error.id(), Look::Passed)
            }
        };
        let (id, (node, tried)) = self.of_task.remove(&task)?;
        let hurry = self.due.remove(&id).flatten();
        Some(Ended {
            id,
            node,
            tried,
            look,
            hurry,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(name: &str) -> Id {
        Id::parse(name).expect("an id")
    }

    #[test]
    fn rooms_come_in_the_order_of_their_times() {
        let (mut schedule, now) = (Schedule::default(), Instant::now());
        let at = |ms| now + Duration::from_millis(ms);
        for (name, ms) in [("a", 30), ("b", 10), ("c", 20), ("a", 5)] {
            schedule.set(id(name), at(ms));
        }
        schedule.set_earlier(id("c"), at(40));
        schedule.set_earlier(id("b"), at(1));
        assert_eq!((schedule.len(), schedule.next()), (3, Some(at(1))));
        assert_eq!(schedule.take_due(at(0)), None);
        let order = std::iter::from_fn(|| schedule.take_due(at(20))).collect::<Vec<_>>();
        assert_eq!(order, [id("b"), id("a"), id("c")]);
        assert!(!schedule.has(&id("a")) && schedule.next().is_none());
    }
}
