//! The messages of a lane that are not done: which may begin, and how far all are done.

use std::collections::{HashMap, VecDeque};
use std::rc::Rc;
use std::time::Instant;

use crate::broker::Record;

/// A message, and its number among all that were read since this instance has the lane. The position does not name a
/// message: a topic that is made anew has the same positions again.
pub(super) struct Numbered {
    pub number: usize,
    pub record: Record,
}

/// Messages in the order of their lane. Those of a key are begun one after the other.
#[derive(Default)]
pub(super) struct Order {
    all: VecDeque<Slot>,
    /// May begin.
    ready: VecDeque<Rc<Numbered>>,
    /// Keys with a message that has begun or may begin, and the messages after it.
    waiting: HashMap<String, VecDeque<Rc<Numbered>>>,
    /// Messages that were added.
    added: usize,
    /// Where the next message can be.
    next: Option<i64>,
    /// After a gap: the number of the first message after it, and where that can be.
    begins: (usize, i64),
    bytes: usize,
}

struct Slot {
    message: Rc<Numbered>,
    begun_at: Option<Instant>,
    is_done: bool,
}

impl Order {
    /// A message that comes after all others.
    pub(super) fn add(&mut self, record: Record) {
        self.bytes += record.content.len();
        self.next = Some(record.position.saturating_add(1));
        let message = Rc::new(Numbered {
            number: self.added,
            record,
        });
        self.added += 1;
        self.all.push_back(Slot {
            message: Rc::clone(&message),
            begun_at: None,
            is_done: false,
        });
        let Some(key) = &message.record.key else {
            self.ready.push_back(message);
            return;
        };
        if let Some(after) = self.waiting.get_mut(key) {
            after.push_back(message);
        } else {
            self.waiting.insert(key.clone(), VecDeque::new());
            self.ready.push_back(message);
        }
    }

    /// The broker has no message before this position any more; the next one comes from there. The messages so far are still
    /// taken, in the order of their keys. But they can't be read again, so the position does not wait for them.
    pub(super) fn go_on_at(&mut self, position: i64) {
        self.begins = (self.added, position);
        self.next = Some(position);
    }

    /// The next message that may begin.
    pub(super) fn begin(&mut self) -> Option<Rc<Numbered>> {
        let message = self.ready.pop_front()?;
        if let Some(slot) = self.slot(&message) {
            slot.begun_at = Some(Instant::now());
        }
        Some(message)
    }

    /// The slots have consecutive numbers.
    fn slot(&mut self, message: &Numbered) -> Option<&mut Slot> {
        let first = self.all.front()?.message.number;
        self.all.get_mut(message.number.checked_sub(first)?)
    }

    /// When the first of the messages at and after the position began: its effect may be as old.
    pub(super) fn since(&self) -> Option<Instant> {
        self.all.iter().filter_map(|slot| slot.begun_at).min()
    }

    /// A message is done: the next one of its key may begin. Returns how many messages are done now with all before them.
    pub(super) fn done(&mut self, message: &Numbered) -> usize {
        if let Some(key) = &message.record.key {
            match self.waiting.get_mut(key).and_then(VecDeque::pop_front) {
                Some(next) => self.ready.push_back(next),
                None => drop(self.waiting.remove(key)),
            }
        }
        if let Some(slot) = self.slot(message) {
            slot.is_done = true;
        }
        let mut count = 0;
        while let Some(slot) = self.all.pop_front_if(|slot| slot.is_done) {
            self.bytes -= slot.message.record.content.len();
            count += 1;
        }
        count
    }

    /// The position of the first message that is not done and that the broker has; `None` before the first message.
    pub(super) fn position(&self) -> Option<i64> {
        let (first, begins) = self.begins;
        match self.all.front() {
            Some(slot) if slot.message.number < first => Some(begins),
            Some(slot) => Some(slot.message.record.position),
            None => self.next,
        }
    }

    /// The first message that is not done.
    pub(super) fn oldest(&self) -> Option<&Record> {
        self.all.front().map(|slot| &slot.message.record)
    }

    /// Messages that are not done, and those done that come after one of them.
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// Bytes of their contents.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use bytes::Bytes;
    use proptest::prelude::*;

    use super::*;

    fn record(position: i64, key: Option<&str>) -> Record {
        Record {
            position,
            key: key.map(str::to_owned),
            pass: None,
            at_ms: 0,
            content: Bytes::from_static(b"12345"),
            wrong_headers: None,
            after: 0,
        }
    }

    fn positions(messages: &[Rc<Numbered>]) -> Vec<i64> {
        messages.iter().map(|one| one.record.position).collect()
    }

    #[test]
    fn a_key_waits_for_its_message_and_others_do_not() {
        let mut order = Order::default();
        for (position, key) in [(3, Some("a")), (5, Some("a")), (6, Some("b")), (9, None), (11, None)] {
            order.add(record(position, key));
        }
        let begun: Vec<_> = std::iter::from_fn(|| order.begin()).collect();
        assert_eq!(positions(&begun), [3, 6, 9, 11]);
        assert_eq!(
            (order.done(&begun[2]), order.position(), order.bytes()),
            (0, Some(3), 25)
        );
        assert_eq!(
            (order.done(&begun[0]), order.position(), order.bytes()),
            (1, Some(5), 20)
        );
        let next = order.begin().expect("the next of the key");
        assert_eq!(next.record.position, 5);
        assert_eq!(order.done(&next), 1);
        assert_eq!((order.done(&begun[1]), order.position()), (2, Some(11)));
        assert_eq!(
            (order.done(&begun[3]), order.position(), order.len(), order.bytes()),
            (1, Some(12), 0, 0)
        );
        assert!(order.waiting.is_empty() && order.begin().is_none());
    }

    #[test]
    fn a_topic_that_is_made_anew_has_the_same_positions_again() {
        let mut order = Order::default();
        order.add(record(2, Some("a")));
        order.add(record(99, None));
        order.go_on_at(1);
        for (position, key) in [(1, Some("a")), (2, None), (3, None)] {
            order.add(record(position, key));
        }
        let begun: Vec<_> = std::iter::from_fn(|| order.begin()).collect();
        assert_eq!(positions(&begun), [2, 99, 2, 3]);
        // The new one at 2 is done, the old one is not.
        assert_eq!((order.done(&begun[2]), order.position()), (0, Some(1)));
        assert_eq!((order.done(&begun[1]), order.position()), (0, Some(1)));
        assert_eq!((order.done(&begun[0]), order.position()), (2, Some(1)));
        let next = order.begin().expect("the next of the key");
        assert_eq!((order.done(&next), order.position()), (2, Some(3)));
        assert_eq!((order.done(&begun[3]), order.position()), (1, Some(4)));
        assert_eq!((order.len(), order.bytes()), (0, 0));
        order.go_on_at(1);
        assert_eq!(order.position(), Some(1));
    }

    fn number(place: usize) -> i64 {
        i64::try_from(place).expect("few")
    }

    fn place(position: i64) -> usize {
        usize::try_from(position).expect("few")
    }

    proptest! {
        /// Whatever ends first: keys keep their order, all are done once, and the position is that of the first one left.
        #[test]
        fn any_end_keeps_the_order_of_keys(keys in prop::collection::vec(0_u8..4, 1..60), picks in prop::collection::vec(any::<prop::sample::Index>(), 60)) {
            let mut order = Order::default();
            for (position, key) in keys.iter().enumerate() {
                let name = key.to_string();
                order.add(record(number(position), (*key > 0).then_some(name.as_str())));
            }
            let (mut open, mut done, mut last) = (Vec::new(), vec![false; keys.len()], BTreeMap::new());
            for pick in picks.iter().cycle() {
                while let Some(next) = order.begin() {
                    let Record { key, position, .. } = &next.record;
                    if let Some(key) = key {
                        let before = last.insert(key.clone(), *position);
                        prop_assert!(before.is_none_or(|before| before < *position && done[place(before)]));
                    }
                    open.push(next);
                }
                if open.is_empty() {
                    break;
                }
                let ended = open.swap_remove(pick.index(open.len()));
                done[place(ended.record.position)] = true;
                order.done(&ended);
                let first = done.iter().position(|is_done| !is_done).unwrap_or(done.len());
                prop_assert_eq!(order.position(), Some(number(first)));
            }
            prop_assert!(done.iter().all(|is_done| *is_done));
            prop_assert_eq!(order.len(), 0);
        }
    }
}
