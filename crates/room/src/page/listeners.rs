//! Counts the streams of each place, so that one holder cannot take all streams of an instance.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::ticket::Ticket;

/// Most streams of one place: some tabs, and the streams of pages that were just loaded again.
const MAX_OF_ONE: u8 = 4;

/// The open streams of this instance, by ticket.
#[derive(Debug, Clone, Default)]
pub(super) struct Listeners(Arc<Mutex<HashMap<Ticket, u8>>>);

/// One open stream, until it is dropped.
#[derive(Debug)]
pub(super) struct Listener {
    all: Listeners,
    ticket: Ticket,
}

impl Listeners {
    /// Opens one more; `None` if the place has its limit.
    pub(super) fn open(&self, ticket: Ticket) -> Option<Listener> {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = open.entry(ticket).or_default();
        if *count == MAX_OF_ONE {
            return None;
        }
        *count += 1;
        let all = self.clone();
        Some(Listener { all, ticket })
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let mut open = self.all.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = open.get_mut(&self.ticket) {
            *count -= 1;
            if *count == 0 {
                open.remove(&self.ticket);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_has_a_few_streams_and_those_that_end_make_room() {
        let listeners = Listeners::default();
        let (one, other) = (Ticket::random().unwrap(), Ticket::random().unwrap());
        let mut open: Vec<_> = (0..MAX_OF_ONE).map(|_| listeners.open(one).unwrap()).collect();
        assert!(listeners.open(one).is_none());
        assert!(listeners.open(other).is_some());
        open.pop();
        open.push(listeners.open(one).unwrap());
        assert!(listeners.open(one).is_none());
        drop(open);
        assert!(
            listeners.0.lock().unwrap().is_empty(),
            "nothing is remembered of who has gone"
        );
    }
}
