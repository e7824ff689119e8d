//! The names of all subjects of a kind, read for all workers of an instance together.
//!
//! Names are only added to an index. So its length shows whether it has changed, and the names are read again only then,
//! and now and then.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use jackpot_core::ids::Id;
use tokio::sync::Mutex;
use tokio::time::Instant;
use tracing::warn;

use super::{ScriptError, index};
use crate::store::Store;

/// How long a look at the length answers: workers ask each second.
const LOOKED_FOR: Duration = Duration::from_millis(900);
/// How long a whole reading counts, though the length is the same: an index may lose a name and get another one.
const READ_FOR: Duration = Duration::from_secs(10);

#[derive(Debug, Default)]
pub(super) struct Listed(Mutex<Names>);

#[derive(Debug, Default)]
struct Names {
    /// When all names were read, and how many the index had.
    read: Option<(Instant, usize)>,
    /// When the length was last read.
    looked: Option<Instant>,
    failed: Option<Instant>,
    /// Used names that the index lacks.
    lost: Vec<Id>,
    /// How many subjects this instance had used; `None`: the index has changed since.
    used: Option<usize>,
    indexed: Arc<BTreeSet<Id>>,
    all: Arc<BTreeSet<Id>>,
}

impl Listed {
    /// The names of an index, and the names that an instance has `used`: how many, and which. The index is on one node of
    /// a cluster. If that node is away, the work on subjects of other nodes goes on. `repair`: adds names that the index
    /// has lost, and logs problems.
    pub(super) async fn all<U, F>(&self, store: &Store, key: &str, used: U, repair: bool) -> Arc<BTreeSet<Id>>
    where
        U: Fn() -> (usize, F),
        F: FnOnce() -> Vec<Id>,
    {
        let came = Instant::now();
        let mut names = self.0.lock().await;
        // One that waited meanwhile has the same answer: an index that can't be read costs the limit of a call.
        let failed = names.failed.is_some_and(|at| at >= came);
        let looked = if failed {
            false
        } else {
            names.look(store, key, repair).await
        };
        if !looked {
            let (_, used) = used();
            return Arc::new(used().into_iter().collect());
        }
        let (count, used) = used();
        names.add_used(count, used);
        if repair && !names.lost.is_empty() {
            names.repair(store, key).await;
        }
        Arc::clone(&names.all)
    }
}

impl Names {
    /// Makes the names at most a second old. Returns whether they are.
    async fn look(&mut self, store: &Store, key: &str, loud: bool) -> bool {
        if self.looked.is_some_and(|at| at.elapsed() < LOOKED_FOR) {
            return true;
        }
        let now = Instant::now();
        let done = self.read(store, key, now).await;
        match &done {
            Ok(()) => (self.looked, self.failed) = (Some(now), None),
            Err(error) => {
                (self.looked, self.failed) = (None, Some(Instant::now()));
                if loud {
                    warn!(index = key, %error, "the index can't be read; working on those in use");
                }
            }
        }
        done.is_ok()
    }

    async fn read(&mut self, store: &Store, key: &str, now: Instant) -> Result<(), ScriptError> {
        let count = index::count(store, key).await?;
        if self
            .read
            .is_some_and(|(at, before)| before == count && now.duration_since(at) < READ_FOR)
        {
            return Ok(());
        }
        let whole = index::whole(store, key).await?;
        self.read = Some((now, count));
        if whole != *self.indexed {
            (self.indexed, self.used) = (Arc::new(whole), None);
        }
        Ok(())
    }

    /// Adds the used names, if there are more than before or the index has changed.
    fn add_used(&mut self, count: usize, used: impl FnOnce() -> Vec<Id>) {
        if self.used == Some(count) {
            return;
        }
        let lost: Vec<Id> = used().into_iter().filter(|id| !self.indexed.contains(id)).collect();
        self.all = if lost.is_empty() {
            Arc::clone(&self.indexed)
        } else {
            Arc::new(self.indexed.iter().chain(&lost).cloned().collect())
        };
        (self.lost, self.used) = (lost, Some(count));
    }

    async fn repair(&mut self, store: &Store, key: &str) {
        // What was made since the last reading is not lost.
        match index::whole(store, key).await {
            Ok(whole) => self.lost.retain(|id| !whole.contains(id)),
            Err(error) => return warn!(index = key, %error, "the index was not read again; the next round tries again"),
        }
        (self.read, self.looked) = (None, None);
        if self.lost.is_empty() {
            return;
        }
        warn!(
            index = key,
            count = self.lost.len(),
            "the index has lost names; adding them"
        );
        if let Err(error) = index::add(store, key, &self.lost).await {
            warn!(index = key, %error, "the index was not repaired; the next round tries again");
        }
    }
}
