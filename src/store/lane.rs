//! Connections of a link, opened when first used: shared by all threads, or the calling thread's own.
//!
//! The task that drives a thread's own connection runs on that thread's own runtime, so that a call wakes no other
//! thread on its way; a thread that ends takes only its own connections along.

use std::cell::RefCell;
use std::sync::{Arc, Weak};
use std::time::Instant;

use arc_swap::ArcSwapOption;
use redis::aio::MultiplexedConnection;
use tokio::sync::Mutex;

use super::cluster::slot_of;
use super::error::Failure;

/// Connections that a thread has for commands sent together. A WAIT among them holds up what comes behind it on its
/// connection for the way to a replica and back: with one for all, a hundred jackpots would wait for each other.
const TOGETHER: usize = 8;

/// Over which connection a request goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Via {
    /// The one that all threads share.
    Shared,
    /// The calling thread's own.
    Own,
}

/// One connection, opened when first used.
#[derive(Default)]
pub(super) struct Lane {
    pub(super) current: ArcSwapOption<MultiplexedConnection>,
    /// Held while connecting, so that one caller connects for all; keeps the last failure for those that waited.
    pub(super) connecting: Mutex<Option<(Instant, Failure)>>,
}

impl Lane {
    /// Leaves `used` unless another caller has opened a newer connection meanwhile.
    pub(super) fn leave(&self, used: &Arc<MultiplexedConnection>) {
        let current = self.current.load();
        if current.as_ref().is_some_and(|current| Arc::ptr_eq(current, used)) {
            self.current.compare_and_swap(&*current, None);
        }
    }
}

/// Names a link for as long as it lives.
#[derive(Default)]
pub(super) struct LinkMark(Arc<()>);

/// The connections of one thread to one server.
#[derive(Default)]
pub(super) struct OwnLanes {
    /// For single commands.
    plain: Lane,
    /// For commands sent together, by the key that decides the slot.
    together: [Lane; TOGETHER],
}

impl OwnLanes {
    /// Those of the calling thread.
    pub(super) fn of(link: &LinkMark) -> Arc<Self> {
        thread_local! {
            // As many as the thread's links; those of links that are gone go when the next one comes.
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

    pub(super) fn plain(&self) -> &Lane {
        &self.plain
    }

    pub(super) fn together(&self, key: Option<&[u8]>) -> &Lane {
        &self.together[key.map_or(0, |key| usize::from(slot_of(key)) % TOGETHER)]
    }
}
