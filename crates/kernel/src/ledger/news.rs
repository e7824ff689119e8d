//! Which streams the projectors of this instance have committed, for work that follows the ledger.

use std::collections::BTreeSet;
use std::mem::take;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use jackpot_core::ids::Id;
use tokio::sync::Notify;

use crate::subject::kinds::KindName;

/// The streams with new events since the last look. Nothing is kept before somebody listens.
#[derive(Debug, Default)]
pub struct News {
    is_heard: AtomicBool,
    moved: Mutex<BTreeSet<(KindName, Id)>>,
    notify: Notify,
}

impl News {
    /// From now on commits are kept. There is one listener.
    pub fn listen(&self) {
        self.is_heard.store(true, Ordering::Relaxed);
    }

    /// Events of this stream were committed.
    pub fn committed(&self, kind: KindName, id: &Id) {
        if self.is_heard.load(Ordering::Relaxed) {
            let mut moved = self.moved.lock().unwrap_or_else(PoisonError::into_inner);
            moved.insert((kind, id.clone()));
            drop(moved);
            self.notify.notify_one();
        }
    }

    /// Waits until a stream was committed since the last call. Returns all of them.
    pub async fn next(&self) -> BTreeSet<(KindName, Id)> {
        loop {
            let moved = take(&mut *self.moved.lock().unwrap_or_else(PoisonError::into_inner));
            if !moved.is_empty() {
                return moved;
            }
            self.notify.notified().await;
        }
    }
}
