//! Connections of a link, opened at first use: shared by all threads, or the calling thread's own.
//!
//! The task of a thread's own connection runs on that thread's own runtime, so that a call wakes no other thread. A
//! thread that ends closes only its own connections.

use std::cell::RefCell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::Instant;

use arc_swap::ArcSwapOption;
use redis::aio::MultiplexedConnection;
use tokio::sync::Mutex;

use super::cluster::slot_of;
use super::error::Failure;

/// Connections of a thread for commands sent together. A WAIT delays everything after it on its connection, for the way
/// to a replica and back. With one connection, a hundred jackpots would wait for each other.
const TOGETHER: usize = 8;

/// Connections of a thread for long commands, each in its turn. Redis reads at most 16 KiB of a connection before it
/// syncs its file. With one connection each batch of 1,000 entries would wait for a sync of its own.
const LONG: usize = 2;

/// The connection of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Via {
    /// The connection that all threads share.
    Shared,
    /// The calling thread's own connection.
    Own,
    /// One of the calling thread's own connections for long commands. All attempts of a call have the same turn, and so
    /// the same connection.
    Long(usize),
}

impl Via {
    /// The connection for the next long command.
    pub(super) fn next_long() -> Self {
        static TURN: AtomicUsize = AtomicUsize::new(0);
        Self::Long(TURN.fetch_add(1, Ordering::Relaxed))
    }
}

/// One connection, opened when first used.
#[derive(Default)]
pub(super) struct Lane {
    pub(super) current: ArcSwapOption<MultiplexedConnection>,
    /// Held while connecting, so that one caller connects for all. Keeps the last failure for the callers that waited.
    pub(super) connecting: Mutex<Option<(Instant, Failure)>>,
}

impl Lane {
    /// Leaves `used`, unless another caller has opened a newer connection meanwhile.
    pub(super) fn leave(&self, used: &Arc<MultiplexedConnection>) {
        let current = self.current.load();
        if current.as_ref().is_some_and(|current| Arc::ptr_eq(current, used)) {
            self.current.compare_and_swap(&*current, None);
        }
    }
}

/// Identifies a link while it lives.
#[derive(Default)]
pub(super) struct LinkMark(Arc<()>);

/// The connections of one thread to one server.
#[derive(Default)]
pub(super) struct OwnLanes {
    /// For single commands.
    plain: Lane,
    /// For long commands.
    long: [Lane; LONG],
    /// For commands sent together, by the key that decides the slot.
    together: [Lane; TOGETHER],
}

impl OwnLanes {
    /// The calling thread's connections.
    pub(super) fn of(link: &LinkMark) -> Arc<Self> {
        thread_local! {
            // One entry for each of the thread's links. Entries of dropped links go when the next one comes.
            static OWN: RefCell<Vec<(Weak<()>, Arc<OwnLanes>)>> = const { RefCell::new(Vec::new()) };
        }
        OWN.with_borrow_mut(|own| {
            let found = own.iter().find(|(mark, _)| mark.as_ptr() == Arc::as_ptr(&link.0));
            if let Some((_, lanes)) = found {
                return Arc::clone(lanes);
            }
            own.retain(|(mark, _)| mark.strong_count() > 0);
            let lanes = Arc::<Self>::default();
            own.push((Arc::downgrade(&link.0), Arc::clone(&lanes)));
            lanes
        })
    }

    /// The connection for a single command.
    pub(super) fn single(&self, via: Via) -> &Lane {
        match via {
            Via::Long(turn) => &self.long[turn % LONG],
            Via::Shared | Via::Own => &self.plain,
        }
    }

    pub(super) fn together(&self, key: Option<&[u8]>) -> &Lane {
        &self.together[key.map_or(0, |key| usize::from(slot_of(key)) % TOGETHER)]
    }
}
