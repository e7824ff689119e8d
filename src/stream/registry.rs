//! What an instance remembers of all jackpots, coupons or rooms that it has used, by their ids.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Debug;
use std::ops::Deref;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use super::{Heard, Mark, ScriptError, TailWish, index, tail};
use crate::ids::Id;
use crate::single_flight::SingleFlight;
use crate::store::Store;
use crate::store::keys::StreamKeys;

/// How long the names of the index count for strangers: one that another instance has made is found within it.
const NAMES_FOR: Duration = Duration::from_secs(1);
/// Least time between two readings of the index for them, also where it can't be read.
const NAMES_PAUSE: Duration = Duration::from_millis(100);

/// What is remembered of one.
pub trait Subject: Deref<Target = Heard> + Debug + Send + Sync + 'static {
    /// Key of the names of all of them.
    const INDEX: &'static str;

    /// Nothing yet.
    fn new(id: &Id) -> Self;

    /// Where its state and its events are.
    fn stream(&self) -> StreamKeys<'_>;

    /// Drops what was read of it before a restore, which may be of events that are no more. By itself nothing is kept.
    fn forget(&self) {}

    /// Remembers a mark out of a reply, or out of the ledger.
    fn saw(&self, mark: Mark) {
        if self.hear(mark) {
            self.forget();
        }
    }
}

/// What tells how far something has come.
pub trait Marked {
    /// How far.
    fn mark(&self) -> Mark;
}

impl Marked for Mark {
    fn mark(&self) -> Mark {
        *self
    }
}

impl<T> Marked for (Mark, T) {
    fn mark(&self) -> Mark {
        self.0
    }
}

/// All of a kind that this instance has used.
#[derive(Debug)]
pub struct Registry<K> {
    store: Store,
    known: RwLock<HashMap<Id, Arc<K>>>,
    names: SingleFlight<Result<BTreeSet<Id>, ScriptError>>,
}

impl<K: Subject> Registry<K> {
    /// None used yet.
    #[must_use]
    pub fn new(store: Store) -> Self {
        Self {
            store,
            known: RwLock::default(),
            names: SingleFlight::default(),
        }
    }

    /// What is remembered of one; a new, empty one is kept only by [`learn`](Self::learn): a name that a client
    /// sent takes no memory.
    pub fn known(&self, id: &Id) -> Arc<K> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.get(id).cloned().unwrap_or_else(|| Arc::new(K::new(id)))
    }

    /// Remembers how far one has come, out of a reply or out of the ledger: a Redis that lacks it, or has less,
    /// lost events.
    pub fn learn(&self, id: &Id, mark: Mark) -> Arc<K> {
        let known = self.keep(&self.known(id));
        known.saw(mark);
        known
    }

    /// The one that is kept from now on: this, or the one that was kept before.
    fn keep(&self, known: &Arc<K>) -> Arc<K> {
        let of = |all: &HashMap<Id, Arc<K>>| all.get(known.id()).cloned();
        if let Some(kept) = of(&self.known.read().unwrap_or_else(PoisonError::into_inner)) {
            return kept;
        }
        let mut all = self.known.write().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(all.entry(known.id().clone()).or_insert_with(|| Arc::clone(known)))
    }

    /// What is remembered of one, unless this instance has seen that Redis lost some of it.
    pub fn whole(&self, id: &Id) -> Result<Arc<K>, ScriptError> {
        let known = self.known(id);
        known.whole()?;
        Ok(known)
    }

    /// Remembers what a script replied: how far it is, or that Redis lost some of it. What has no event is not there, and
    /// not remembered.
    pub fn heard<T: Marked>(&self, known: &Arc<K>, reply: Result<T, ScriptError>) -> Result<T, ScriptError> {
        let reply = known.note(reply)?;
        if reply.mark() > Mark::ZERO {
            self.keep(known).saw(reply.mark());
        }
        Ok(reply)
    }

    /// Whether it is there, as far as this instance has heard.
    pub fn is_used(&self, id: &Id) -> bool {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.contains_key(id)
    }

    /// Whether it may be there, for who needs no key: used here, or named by the index, which is read at most once a second
    /// however many ids are made up.
    pub async fn may_exist(&self, id: &Id) -> Result<bool, ScriptError> {
        if self.is_used(id) {
            return Ok(true);
        }
        let read = || index::whole(&self.store, K::INDEX);
        let names = self
            .names
            .get(
                NAMES_PAUSE,
                |names| names.value.is_ok() && names.begun.elapsed() < NAMES_FOR,
                read,
            )
            .await;
        match &names.value {
            Ok(names) => Ok(names.contains(id)),
            Err(error) => Err(error.clone()),
        }
    }

    /// How many have been used so far; it never falls.
    pub fn count_used(&self) -> usize {
        self.known.read().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Those used so far.
    pub fn used(&self) -> Vec<Id> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.keys().cloned().collect()
    }

    /// What is remembered of all of them.
    pub fn each(&self) -> Vec<Arc<K>> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.values().cloned().collect()
    }

    /// Redis holds all again of one that this instance saw behind, SQL's last event at `mark`; whether it plays it now.
    pub fn is_whole(&self, id: &Id, lost_at: u64, mark: Mark) -> bool {
        let known = self.known(id);
        let whole = known.found_whole(lost_at, mark);
        if whole {
            // Read of what was there meanwhile.
            known.forget();
            known.saw(mark);
        }
        whole
    }

    /// Ids behind `after` in order, at most `limit`; names of which there is nothing may be among them.
    pub async fn ids(&self, after: Option<&Id>, limit: usize) -> Result<Vec<Id>, ScriptError> {
        index::ids(&self.store, K::INDEX, after, limit).await
    }

    /// Adds names to the index.
    pub async fn add_to_index(&self, ids: &[Id]) -> Result<(), ScriptError> {
        index::add(&self.store, K::INDEX, ids).await
    }

    /// All names of the index.
    pub async fn indexed(&self) -> Result<BTreeSet<Id>, ScriptError> {
        index::whole(&self.store, K::INDEX).await
    }

    /// The names of the index and those used so far; `repair`: see [`index::all`].
    pub async fn all(&self, repair: bool) -> BTreeSet<Id> {
        index::all(&self.store, K::INDEX, self.used(), repair).await
    }

    /// Looks whether one that this instance saw behind has been restored since, and if so works with it again.
    /// Whether it does now.
    pub async fn recheck(&self, id: &Id) -> Result<bool, ScriptError> {
        let known = self.known(id);
        let Some(lost_at) = known.lost_at() else {
            return Ok(true);
        };
        // For its mark: the smallest look that there is.
        let wish = TailWish {
            after: None,
            max_events: 1,
            max_bytes: 1,
            trim_before: None,
        };
        match tail(&self.store, known.stream(), Mark::ZERO, &wish).await {
            Ok(tail) => {
                let before = known.mark().restores();
                let restored = known.restored(lost_at, tail.mark);
                if before < known.mark().restores() {
                    known.forget();
                }
                Ok(restored)
            }
            Err(ScriptError::Unknown) => Ok(false),
            Err(error) => Err(error),
        }
    }
}
