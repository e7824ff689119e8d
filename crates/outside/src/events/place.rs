//! How far a subject of a subscription is: what was reached, and what of it is in SQL.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use jackpot_core::ids::Id;
use tokio::sync::Notify;

use super::store::StreamRow;
use jackpot_kernel::subject::kinds::KindName;

/// Most events that were delivered and are not in the written cursor: a kill repeats them.
const AHEAD: u64 = 64;

/// A subject of a subscription.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    pub subscription: Id,
    pub kind: KindName,
    pub id: Id,
}

/// A cursor, as it is written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cursor {
    /// What is delivered next.
    pub n: u64,
    pub i: u64,
    /// Failed tries of it.
    pub tries: u32,
    /// How long the next try waits, ms.
    pub wait_ms: i64,
    pub last_error: String,
    /// Events that were delivered so far, by this holder.
    pub delivered: u64,
}

/// The place of a subject while this instance holds its lease.
#[derive(Debug)]
pub struct Place {
    pub key: Key,
    /// Of the lease.
    pub token: i64,
    reached: Mutex<Cursor>,
    /// `delivered` of the cursor in SQL.
    written: Mutex<u64>,
    changed: Notify,
    is_lost: AtomicBool,
}

impl Place {
    /// A place that was just taken over.
    pub fn of(subscription: &Id, row: &StreamRow) -> Self {
        Self {
            key: Key {
                subscription: subscription.clone(),
                kind: row.kind,
                id: row.id.clone(),
            },
            token: row.token,
            reached: Mutex::new(Cursor {
                n: row.n,
                i: row.i,
                tries: row.tries,
                wait_ms: 0,
                last_error: row.last_error.clone(),
                delivered: 0,
            }),
            written: Mutex::default(),
            changed: Notify::new(),
            is_lost: AtomicBool::new(false),
        }
    }

    /// The cursor as it was reached.
    pub fn cursor(&self) -> Cursor {
        self.reached.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Changes the cursor. The caller has it written.
    pub fn reach(&self, change: impl FnOnce(&mut Cursor)) {
        change(&mut self.reached.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// The cursor is in SQL.
    pub fn wrote(&self, cursor: &Cursor) {
        *self.written.lock().unwrap_or_else(PoisonError::into_inner) = cursor.delivered;
        self.changed.notify_waiters();
    }

    /// Another holder has it, or its cursor was moved.
    pub fn lose(&self) {
        self.is_lost.store(true, Ordering::Relaxed);
        self.changed.notify_waiters();
    }

    pub fn is_lost(&self) -> bool {
        self.is_lost.load(Ordering::Relaxed)
    }

    /// Waits until few events are ahead of the written cursor, or the place is lost.
    pub async fn keep_close(&self) {
        loop {
            let mut changed = std::pin::pin!(self.changed.notified());
            changed.as_mut().enable();
            let written = *self.written.lock().unwrap_or_else(PoisonError::into_inner);
            if self.is_lost() || self.cursor().delivered < written + AHEAD {
                return;
            }
            changed.await;
        }
    }
}
