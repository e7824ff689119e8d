//! Rooms on Redis nodes that do not answer wait until a call to their node is answered. Pure.
//!
//! One room at a time is tried for each such node. So many rooms on a frozen node take no time from rooms on other
//! nodes. All of them continue at the first sign that the node is back.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use jackpot_core::ids::Id;
use tokio::time::Instant;

/// Time between two tries of a node.
const TRY_EVERY: Duration = Duration::from_secs(1);

/// The name of a node; `None` while no node has the slot.
pub(super) type Node = Option<Arc<str>>;

/// The silent nodes, and the rooms that wait for them.
#[derive(Debug, Default)]
pub(super) struct Silent {
    nodes: HashMap<Node, Waiting>,
    of: HashMap<Id, Node>,
}

#[derive(Debug)]
struct Waiting {
    rooms: VecDeque<Id>,
    /// When the next room is tried; `None`: one is being tried.
    at: Option<Instant>,
}

impl Silent {
    /// Whether this room waits.
    pub(super) fn has(&self, id: &Id) -> bool {
        self.of.contains_key(id)
    }

    pub(super) fn is_silent(&self, node: &Node) -> bool {
        self.nodes.contains_key(node)
    }

    /// Makes this room wait for its silent node. `tried`: the node was just found silent, by the room on trial or
    /// another one.
    pub(super) fn add(&mut self, node: &Node, id: Id, tried: bool, now: Instant) {
        let at = Some(now + TRY_EVERY);
        let first = || Waiting {
            rooms: VecDeque::new(),
            at,
        };
        let waiting = self.nodes.entry(node.clone()).or_insert_with(first);
        if tried {
            waiting.at = at;
        }
        waiting.rooms.push_back(id.clone());
        self.of.insert(id, node.clone());
    }

    /// The node answers: returns all rooms that waited for it.
    pub(super) fn answered(&mut self, node: &Node) -> VecDeque<Id> {
        let rooms = self.nodes.remove(node).map(|waiting| waiting.rooms).unwrap_or_default();
        for id in &rooms {
            self.of.remove(id);
        }
        rooms
    }

    /// The same, after another caller's call for one of its rooms was answered.
    pub(super) fn answered_of(&mut self, id: &Id) -> VecDeque<Id> {
        let node = self.of.get(id).cloned();
        node.map(|node| self.answered(&node)).unwrap_or_default()
    }

    /// The room on trial gave no information about its node: the next room is tried at once.
    pub(super) fn passed(&mut self, node: &Node, now: Instant) {
        if let Some(waiting) = self.nodes.get_mut(node) {
            waiting.at = Some(now);
            if waiting.rooms.is_empty() {
                self.nodes.remove(node);
            }
        }
    }

    /// When the next room is tried.
    pub(super) fn next(&self) -> Option<Instant> {
        self.nodes.values().filter_map(|waiting| waiting.at).min()
    }

    /// A room to try now, and its node.
    pub(super) fn take_due(&mut self, now: Instant) -> Option<(Node, Id)> {
        let is_due = |waiting: &Waiting| waiting.at.is_some_and(|at| at <= now);
        let (node, waiting) = self.nodes.iter_mut().find(|(_, waiting)| is_due(waiting))?;
        let id = waiting.rooms.pop_front()?;
        waiting.at = None;
        self.of.remove(&id);
        Some((node.clone(), id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(name: &str) -> Id {
        Id::parse(name).expect("an id")
    }

    #[test]
    fn one_room_of_a_silent_node_is_tried_at_a_time_until_all_go_on() {
        let (mut silent, now) = (Silent::default(), Instant::now());
        let node = |name: &str| Some(Arc::from(name));
        let (one, other) = (node("one"), node("other"));
        for name in ["a", "b", "c"] {
            silent.add(&one, id(name), true, now);
        }
        assert!(silent.is_silent(&one) && !silent.is_silent(&other) && silent.has(&id("b")));
        assert_eq!((silent.next(), silent.take_due(now)), (Some(now + TRY_EVERY), None));
        let later = now + TRY_EVERY;
        assert_eq!(silent.take_due(later), Some((one.clone(), id("a"))));
        assert_eq!(
            (silent.next(), silent.take_due(later)),
            (None, None),
            "one is being tried"
        );
        // Another room finds the same meanwhile, and another node falls silent.
        silent.add(&one, id("d"), false, later);
        silent.add(&other, id("x"), true, later);
        assert_eq!(silent.take_due(later), None);
        silent.add(&one, id("a"), true, later);
        let again = later + TRY_EVERY;
        let mut tried = std::iter::from_fn(|| silent.take_due(again)).collect::<Vec<_>>();
        tried.sort();
        assert_eq!(tried, [(one.clone(), id("b")), (other.clone(), id("x"))], "in turn");
        assert_eq!(silent.answered(&one), [id("c"), id("d"), id("a")]);
        assert!(!silent.is_silent(&one) && !silent.has(&id("a")));
        // A room without information about its node, the last one there, is not waited for.
        silent.passed(&other, again);
        assert!(!silent.is_silent(&other));
        silent.add(&one, id("a"), true, again);
        assert_eq!(silent.answered_of(&id("a")), [id("a")]);
        assert!(silent.answered_of(&id("a")).is_empty() && silent.next().is_none());
    }
}
