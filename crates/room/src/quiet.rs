//! Rooms in which nobody is and nothing is due soon. One reading a second asks whether something happened in them, in place
//! of a step each. Pure.

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use std::sync::Arc;
use std::time::Duration;

use jackpot_core::ids::Id;
use jackpot_core::mark::Mark;
use tokio::time::Instant;

use super::scripts::Visited;

/// Rooms of one reading, each second: some 3 ms of Redis' time. With more quiet rooms, each has its turn every few
/// seconds.
const GLANCES: usize = 1_000;
/// Longest time between two steps of a quiet room: a step also reports the counts.
const STEP_WITHIN: Duration = Duration::from_mins(5);
/// Steps a second of quiet rooms. With more rooms than 3,000 the time between two steps is longer.
const STEPS_PER_S: usize = 10;
/// A clock that is further from its place has been set, or its node was replaced.
const SET_MS: i64 = 1_000;

/// The quiet rooms of an instance.
#[derive(Debug, Default)]
pub(super) struct QuietRooms {
    rooms: BTreeMap<Id, Mark>,
    /// The last room of the last reading; `None`: all had their turn.
    glanced_to: Option<Id>,
    /// Each node's clock in ms, and when it was read.
    clocks: HashMap<Arc<str>, (i64, Instant)>,
}

/// How long a room may rest after a step, if it is quiet. `count`: all rooms that wait for their time.
pub(super) fn rest(visited: &Visited, count: usize) -> Option<Duration> {
    let occupied = visited.counts.active + visited.counts.waiting > 0;
    if occupied || visited.more || visited.unpublished || visited.unordered {
        return None;
    }
    let share = Duration::from_secs(u64::try_from(count / STEPS_PER_S).unwrap_or(u64::MAX));
    let most = share.max(STEP_WITHIN);
    let left_ms = visited.next_due_ms.map(|due_ms| due_ms - visited.now_ms);
    let due = left_ms.map(|ms| Duration::from_millis(u64::try_from(ms).unwrap_or(0)));
    Some(due.map_or(most, |due| due.min(most)))
}

impl QuietRooms {
    /// Keeps a room that a step found quiet, at its mark.
    pub(super) fn seen(&mut self, id: &Id, visited: &Visited) {
        if rest(visited, 0).is_some() {
            self.rooms.insert(id.clone(), visited.mark);
        }
    }

    /// Something is to do in this room. Returns whether it was quiet.
    pub(super) fn remove(&mut self, id: &Id) -> bool {
        self.rooms.remove(id).is_some()
    }

    /// The rooms of the next reading.
    pub(super) fn turn(&mut self) -> Vec<(Id, Mark)> {
        let from = self.glanced_to.take().map_or(Bound::Unbounded, Bound::Excluded);
        let mut rest = self.rooms.range((from, Bound::Unbounded));
        let turn: Vec<_> = rest
            .by_ref()
            .take(GLANCES)
            .map(|(id, mark)| (id.clone(), *mark))
            .collect();
        self.glanced_to = turn.last().map(|(id, _)| id.clone()).filter(|_| rest.next().is_some());
        turn
    }

    /// Takes the nodes' clocks, read by `now`. Returns all rooms when one of them was set: something may be due there
    /// earlier than it seemed.
    pub(super) fn clocks(&mut self, clocks: Vec<(Arc<str>, i64)>, now: Instant) -> Vec<Id> {
        let mut set = false;
        for (node, now_ms) in clocks {
            if let Some((then_ms, then)) = self.clocks.insert(node, (now_ms, now)) {
                let passed = i64::try_from(now.duration_since(then).as_millis()).unwrap_or(i64::MAX);
                set |= (now_ms - then_ms - passed).abs() > SET_MS;
            }
        }
        if set {
            self.rooms.keys().cloned().collect()
        } else {
            Vec::new()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_quiet_room_has_its_turn_and_a_set_clock_ends_the_rest() {
        let id = |i: usize| Id::parse(&format!("r{i:05}")).expect("an id");
        let mut quiet = QuietRooms::default();
        for i in 0..=GLANCES {
            quiet.rooms.insert(id(i), Mark::ZERO);
        }
        assert_eq!(
            (quiet.turn().len(), quiet.turn().len(), quiet.turn().len()),
            (GLANCES, 1, GLANCES)
        );
        assert!(quiet.remove(&id(0)) && !quiet.remove(&id(0)));
        let (node, now) = (Arc::<str>::from("one"), Instant::now());
        let at = |ms| vec![(Arc::clone(&node), ms)];
        assert!(quiet.clocks(at(5_000), now).is_empty());
        let later = now + Duration::from_secs(1);
        assert!(quiet.clocks(at(6_200), later).is_empty(), "it goes on");
        assert_eq!(quiet.clocks(at(60_000), later + Duration::from_secs(1)).len(), GLANCES);
        assert_eq!(
            quiet.clocks(at(1_000), later + Duration::from_secs(2)).len(),
            GLANCES,
            "it was set back"
        );
    }
}
